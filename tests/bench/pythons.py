"""Runs the suite on every Python from 3.11 on that is on the path, each in an environment of its own.

    python -m tests.bench.pythons [PYTEST ARGUMENT ...]

$PYTHONS names further directories with a folder for each Python, as pyenv's `versions` is one.
With arguments pytest runs with them, otherwise the whole suite in four processes. One figure for each Python: tests
that failed, of how many. A Python on which nothing ran counts as one failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.report import Report

ROOT = Path(__file__).parents[2]
FIRST_MINOR, LAST_MINOR = 11, 20
WHOLE_SUITE = ("-n", "4")
_COUNT = re.compile(r"(\d+) (passed|failed|errors?)\b")
_VERSION = "import sys; print(*sys.version_info[:3], sep='.')"


def pythons() -> dict[str, Path]:
    """The interpreters on the path and below $PYTHONS, by version, one for each minor version: the newest."""
    roots = [Path(root) for root in os.environ.get("PYTHONS", "").split(os.pathsep) if root]
    newest: dict[str, Path] = {}
    for minor in range(FIRST_MINOR, LAST_MINOR + 1):
        name = f"python3.{minor}"
        candidates = [Path(interpreter)] if (interpreter := shutil.which(name)) else []
        candidates += [file for root in roots for file in root.glob(f"*/bin/{name}")]
        versions = {version: file for file in candidates if (version := version_of(file))}
        if versions:
            version = max(versions, key=lambda text: tuple(map(int, text.split("."))))
            newest[version] = versions[version]
    return newest


def version_of(interpreter: Path) -> str:
    """Such as 3.12.1; empty where it does not run, as a shim of pyenv whose version is not chosen."""
    done = subprocess.run([interpreter, "-c", _VERSION], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def counts(interpreter: Path, arguments: list[str]) -> dict[str, int]:
    """How many tests passed and failed on an interpreter; what pytest printed goes to standard error."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = Path(scratch) / "environment"
        subprocess.run([interpreter, "-m", "venv", environment], check=True)
        own_python = environment / "bin" / "python"
        pip: list[str | Path] = [own_python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", "tests/constraints.txt", ".[test]"], cwd=ROOT, check=True)
        command: list[str | Path] = [own_python, "-m", "pytest", "-q", *arguments]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(done.stdout)
    last_lines = "\n".join(done.stdout.splitlines()[-1:])
    return {outcome.rstrip("s"): int(count) for count, outcome in _COUNT.findall(last_lines)}


def main() -> int:
    report = Report()
    for version, interpreter in pythons().items():
        outcomes = counts(interpreter, sys.argv[1:] or list(WHOLE_SUITE))
        passed, failed = outcomes.get("passed", 0), outcomes.get("failed", 0) + outcomes.get("error", 0)
        name = f"pythons: CPython {version}, tests that failed of {passed + failed:,}"
        report.count(name, failed if passed + failed else 1, exactly=0)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

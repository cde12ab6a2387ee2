"""Tries an installed tradetui as its user meets it: demo, sandbox, doctor, show, preview, completions, paths.

Exits with 0, or says what did not work.

Run by the interpreter of the environment it is installed in, from a directory that is not the checkout.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

DEPENDENCIES = ("textual", "httpx", "sniffio", "pydantic", "tomli-w", "platformdirs", "uvicorn", "shtab", "plotext")
COMMAND = str(Path(sys.executable).with_name("tradetui"))


def output_of(*arguments: str, **environ: str) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **environ})
    if done.returncode != 0:
        sys.exit(f"tradetui {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def main() -> None:
    home = Path.cwd()
    own = {"HOME": str(home), **{f"XDG_{name}_HOME": str(home) for name in ("CONFIG", "DATA", "STATE", "CACHE")}}
    os.environ.update(own)
    print(output_of("--version").strip(), "with", ", ".join(f"{name} {version(name)}" for name in DEPENDENCIES))
    output_of("demo", "--screenshot", "demo.txt", "--keys", "2,enter,escape")
    if "BTCUSDT" not in Path("demo.txt").read_text(encoding="utf-8"):
        sys.exit("the demo drew no rows")
    for shell in ("bash", "zsh", "fish"):
        output_of("completions", shell)
    output_of("paths")
    pages = [line.split()[0] for line in output_of("help").split("\n\n")[0].splitlines()]
    if "reversal" not in pages or not all(output_of("help", page).startswith("# ") for page in pages):
        sys.exit("the manual is not in the package")
    with subprocess.Popen([COMMAND, "sandbox"], stdout=subprocess.PIPE, text=True) as sandbox:
        assert sandbox.stdout is not None
        try:
            first_line = json.loads(sandbox.stdout.readline())
            account = next(profile for profile in first_line["profiles"] if profile["name"] == "hedge")
            environ = {
                "TRADETUI_BASE_URL": first_line["base_url"],
                "TRADETUI_API_KEY": account["api_key"],
                "TRADETUI_API_SECRET": account["secret"],
                "TRADETUI_PASSPHRASE": account["passphrase"],
            }
            output_of("doctor", **environ)
            if not json.loads(output_of("show", "fills", "--json", **environ)):
                sys.exit("the sandbox showed no fills")
            output_of("preview", "BTCUSDT", "--side", "buy", **environ)
        finally:
            sandbox.terminate()
    print("the installed program works")


main()

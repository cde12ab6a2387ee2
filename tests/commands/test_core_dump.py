"""No command leaves a core behind, in which a secret would be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, importlib, os, resource, sys
from tradetui.cli import main

def state():
    return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE)

imported = importlib.import_module
def spied(name, *more, **options):
    if name.startswith("tradetui.commands."):
        print("before the command is imported", state(), file=sys.stderr)
    return imported(name, *more, **options)

print("at first", state(), file=sys.stderr)
importlib.import_module = spied
code = main(sys.argv[1:])
print("after", code, len(os.listdir("/proc/self/fd")) > 2, file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has prctl, which makes a process not dumpable")
@pytest.mark.parametrize("command", ["keys", "show endpoints", "sandbox --fault x", "demo --profile x"])
def test_it_is_not_dumpable_before_a_command_begins(command: str) -> None:
    program = [sys.executable, "-c", PROGRAM, *command.split()]
    done = subprocess.run(
        program, capture_output=True, text=True, check=False, env={**os.environ, "HOME": "/nonexistent"}
    )
    lines = done.stderr.splitlines()
    assert lines[0].startswith("at first (1, ("), done.stderr
    assert lines[1] == "before the command is imported (0, (0, 0))"
    assert lines[-1].endswith(" True"), "its own files in /proc can still be read"


CRASHES = """
import os, resource
os.chdir({directory!r})
largest = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (largest, largest))
{before}
os.abort()
"""
FORBIDDEN_WITHOUT_A_LIMIT = """
resource.setrlimit = lambda *_: None
from tradetui.commands.process.secrecy import forbid_core_dumps
forbid_core_dumps()
"""


def dumped(directory: Path, before: str) -> bool:
    """Whether the system wrote a core of a program that crashes after these lines."""
    program = [sys.executable, "-c", CRASHES.format(directory=str(directory), before=before)]
    _, status = os.waitpid(os.posix_spawn(program[0], program, os.environ), 0)
    assert os.WIFSIGNALED(status)
    for core in directory.iterdir():
        core.unlink()
    return os.WCOREDUMP(status)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has prctl, which makes a process not dumpable")
def test_not_being_dumpable_alone_keeps_a_crash_from_leaving_a_core(tmp_path: Path) -> None:
    # A core_pattern that pipes ignores the size limit, so the limit is left as large as it may be: do_coredump of the
    # kernel (fs/coredump.c) looks at whether the process is dumpable before it looks at the pattern.
    if not dumped(tmp_path, ""):
        pytest.skip("this machine writes no core of anything")
    assert not dumped(tmp_path, FORBIDDEN_WITHOUT_A_LIMIT)

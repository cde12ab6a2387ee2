"""No command leaves a core behind, in which a secret would be."""

from __future__ import annotations

import os
import subprocess
import sys

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


@pytest.mark.skipif(sys.platform != "linux", reason="what is asked for is Linux's")
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

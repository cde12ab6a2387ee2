"""All threads of the program allocate from one arena."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, sys, threading
from tradetui.commands.process.malloc_arena import share_one_malloc_arena
if sys.argv[1] == "shared":
    share_one_malloc_arena()
threads = [threading.Thread(target=lambda: [bytes(1000) for _ in range(1000)]) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="arenas are glibc's")
@pytest.mark.parametrize(("how", "shared"), [("shared", True), ("usual", False)])
def test_threads_share_one_arena(how: str, shared: bool) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
    assert "Arena 0:" in done.stderr
    assert ("Arena 1:" not in done.stderr) is shared

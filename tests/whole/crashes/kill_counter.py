"""Orders to the counter that is preloaded into a program, and how it is made."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SYMBOL = "BTCUSDT"
ORDERS = 1000
HOWS = ("before", "within", "power")
AT_THE_POST = -1
"""Instead of a call's number: the first byte of the request that may change something."""


def build(folder: Path) -> Path | None:
    """Compile the counter; None where this machine has no C compiler."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return None
    library = folder / "killing.so"
    source = Path(__file__).with_name("kill_counter.c")
    command = [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run([*command, "-ldl", "-lpthread"], check=True)
    return library


def put_ahead(ms: int) -> None:
    """Put this process's wall clock and monotonic clock ahead, as if so long had passed."""
    os.write(ORDERS, f"ahead {ms}".encode())


def run_fast(pace: int, since_ms: int) -> None:
    """Let both clocks run so many times as fast since that moment, in Unix milliseconds of the real wall clock."""
    os.write(ORDERS, f"pace {pace} {since_ms}".encode())


def kill_at(number: int, how: str) -> None:
    """Count from here, and die at that call, or `AT_THE_POST`; 0 only counts."""
    os.write(ORDERS, f"kill {number} {how[0]}".encode())


def counted() -> int:
    """How many calls were counted; counting ends."""
    return os.write(ORDERS, b"told")

"""Prints how long a key takes to the first byte of its paint, in a pseudo-terminal, the cursor moving down and up.

Two programs: five tables of 100 rows that stand still, and the whole `tradetui demo` with its embedded exchange in
the same process, its rows paused so that what is painted is the key's.

Run: python -m tests.bench.key_to_paint [KEYS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.terminal import Terminal

TRADETUI = str(Path(sys.executable).with_name("tradetui"))
SETTLE_S = 3.0
SEEN_S = 1.0


def key_times(command: Sequence[str], ready: bytes, before: bytes, keys: int) -> list[float]:
    """Seconds from each key to its first byte, ascending; keys that paint nothing are left out."""
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as home, Terminal(command, environment={"HOME": home}) as terminal:
        terminal.until_shown(ready)
        terminal.read_for(SETTLE_S)
        terminal.send(before)
        terminal.read_for(SEEN_S)
        for number in range(keys):
            written = len(terminal.output)
            begin = time.perf_counter()
            terminal.send(b"j" if number % 8 < 4 else b"k")
            terminal.read_for(SEEN_S, until=lambda: len(terminal.output) > written)  # noqa: B023
            if len(terminal.output) > written:
                taken.append(time.perf_counter() - begin)
            terminal.read_for(0.05 + (number % 7) / 100)
    return sorted(taken)


def main() -> None:
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    tables = [sys.executable, "-m", "tests.bench.tables_program", "record", "still"]
    for name, command, ready, before in (
        ("five tables", tables, b"SYM001USDT", b"\t"),
        ("tradetui demo, paused", [TRADETUI, "demo"], b"BTCUSDT", b" "),
    ):
        taken = key_times(command, ready, before, keys)
        p95 = taken[int(len(taken) * 0.95)] * 1000
        median = statistics.median(taken) * 1000
        print(f"key to paint, {name}: median {median:.1f} ms, p95 {p95:.1f} ms (at most 8), {len(taken)} keys")


if __name__ == "__main__":
    main()

"""Prints how long a key takes to the first byte of its paint in `tradetui demo`, idle, in a pseudo-terminal.

Run: python -m tests.bench.key_to_paint [KEYS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.terminal import Terminal

TRADETUI = str(Path(sys.executable).with_name("tradetui"))


def main() -> None:
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    taken: list[float] = []
    command = [sys.executable, "-m", "tests.bench.tables_program", "record", "still"]
    with tempfile.TemporaryDirectory() as home, Terminal(command, environment={"HOME": home}) as terminal:
        terminal.until_shown(b"SYM001USDT")
        terminal.read_for(3.0)
        terminal.send(b"\t")
        terminal.read_for(0.5)
        for number in range(keys):
            before = len(terminal.output)
            begin = time.perf_counter()
            terminal.send(b"\t")
            terminal.read_for(1.0, until=lambda: len(terminal.output) > before)  # noqa: B023
            taken.append(time.perf_counter() - begin)
            terminal.read_for(0.05 + (number % 7) / 100)
    taken.sort()
    p95 = taken[int(len(taken) * 0.95)]
    print(f"key to paint: median {statistics.median(taken) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms (at most 8)")


if __name__ == "__main__":
    main()

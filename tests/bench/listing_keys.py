"""Prints how long a key takes to the first byte of its paint in a listing that holds as many rows as it may.

Run: python -m tests.bench.listing_keys
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.terminal import Terminal

AT_MOST_MS = 50
TIMES = 12
READ_ALL_S = 120.0
SETTLE_S = 4.0
SEEN_S = 2.0
PAUSE_S = 0.3
KINDS = {
    "move": (b"", b"jk", b""),
    "to the end and back": (b"", b"Gg", b""),
    "sort and back": (b"", b"ss", b""),
    "open the filter": (b"", b"/", b"\x1b"),
    "letters of a filter": (b"/", b"btc", b"\x1b"),
}
"""The keys before, those that are timed, and those after."""


def taken(terminal: Terminal, key: bytes) -> float | None:
    """Seconds from a key to its first byte; None where it paints nothing."""
    terminal.read_for(PAUSE_S)
    written = len(terminal.output)
    begin = time.perf_counter()
    terminal.send(key)
    terminal.read_for(SEEN_S, until=lambda: len(terminal.output) > written)
    return time.perf_counter() - begin if len(terminal.output) > written else None


def main() -> int:
    command = [sys.executable, "-m", "tests.bench.listing_program"]
    good = True
    with tempfile.TemporaryDirectory() as home:
        where = {"HOME": home, "PYTHONPATH": str(Path(__file__).parents[2])}
        with Terminal(command, environment=where, folder=Path(home)) as terminal:
            terminal.until_shown(b"BTCUSDT")
            terminal.read_for(SETTLE_S)
            terminal.send(b"6")
            terminal.until_shown(b"older ones")
            terminal.send(b"a")
            terminal.read_for(READ_ALL_S, until=lambda: b"as many as fit" in terminal.output)
            assert b"as many as fit" in terminal.output, "the listing never got full"
            terminal.read_for(SETTLE_S)
            for kind, (before, keys, after) in KINDS.items():
                found: list[float | None] = []
                for _ in range(TIMES):
                    terminal.send(before)
                    terminal.read_for(PAUSE_S)
                    found += [taken(terminal, bytes([key])) for key in keys]
                    terminal.send(after)
                    terminal.read_for(PAUSE_S)
                times = sorted(each * 1000 for each in found if each is not None)
                p95 = times[int(len(times) * 0.95)]
                good = good and p95 <= AT_MOST_MS
                print(
                    f"{kind}: median {statistics.median(times):.1f} ms, p95 {p95:.1f} ms "
                    f"(at most {AT_MOST_MS}), {len(times)} keys"
                )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""How long a key takes to the first byte of its paint in a listing that holds as many rows as it may.

The keys are pressed by turns there and in five tables of 100 rows, which they are held to.

Run: python -m tests.bench.listing_keys
"""

from __future__ import annotations

import sys
import tempfile
from itertools import cycle
from pathlib import Path

from tests.bench.anchors import TABLES_KEY, key_seconds, moves, tables
from tests.bench.report import Report
from tests.bench.terminal import Terminal

KEY_TIMES = 10.0
TIMES = 12
READ_ALL_S = 120.0
SETTLE_S = 4.0
PAUSE_S = 0.3
KINDS = {
    "move": (b"", b"jk", b""),
    "to the end and back": (b"", b"Gg", b""),
    "sort and back": (b"", b"ss", b""),
    "open the filter": (b"", b"/", b"\x1b"),
    "letters of a filter": (b"/", b"btc", b"\x1b"),
}
"""The keys before, those that are timed, and those after."""


def main() -> int:
    command = [sys.executable, "-m", "tests.bench.listing_program"]
    report = Report()
    with tempfile.TemporaryDirectory() as home, tables("record", "still") as still:
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
            anchor_keys = cycle(moves(8))
            for kind, (before, keys, after) in KINDS.items():
                taken: dict[str, list[float]] = {"listing": [], TABLES_KEY: []}
                for _ in range(TIMES):
                    terminal.send(before)
                    terminal.read_for(PAUSE_S)
                    for key in keys:
                        taken["listing"].append(key_seconds(terminal, bytes([key]), PAUSE_S))
                        taken[TABLES_KEY].append(key_seconds(still, next(anchor_keys)))
                    terminal.send(after)
                    terminal.read_for(PAUSE_S)
                report.keys(
                    f"listing_keys: {kind}",
                    taken["listing"],
                    TABLES_KEY,
                    taken[TABLES_KEY],
                    median_at_most=KEY_TIMES,
                    p95_at_most=KEY_TIMES,
                )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

"""How long a key takes to the first byte of its paint in a lookup that holds as many rows as it may.

A move of the cursor is held to one in five tables of 100 rows, and what sorts and filters the rows to a fixed loop of
plain Python; each anchor is measured after each key.

Run: python -m tests.bench.lookup_keys
"""

from __future__ import annotations

import sys
import tempfile
from itertools import cycle
from pathlib import Path

from tests.bench.anchors import PLAIN_LOOP, TABLES_KEY, key_seconds, keys_and_anchor, moves, plain_loop, tables
from tests.bench.report import Report
from tests.bench.terminal import Terminal

KEY_TIMES = {TABLES_KEY: 2.0, PLAIN_LOOP: 1.35}
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
    command = [sys.executable, "-m", "tests.bench.lookup_program"]
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
            assert b"as many as fit" in terminal.output, "the lookup never got full"
            terminal.read_for(SETTLE_S)
            anchor_moves = cycle(moves(8))

            def table_key() -> float:
                return key_seconds(still, next(anchor_moves))

            for kind, (before, keys, after) in KINDS.items():
                anchor_name, anchor = (TABLES_KEY, table_key) if kind == "move" else (PLAIN_LOOP, plain_loop)
                taken: list[float] = []
                anchors: list[float] = []
                for _ in range(TIMES):
                    terminal.send(before)
                    terminal.read_for(PAUSE_S)
                    times, anchor_times = keys_and_anchor(terminal, [bytes([key]) for key in keys], anchor, PAUSE_S)
                    taken += times
                    anchors += anchor_times
                    terminal.send(after)
                    terminal.read_for(PAUSE_S)
                report.keys(
                    f"lookup_keys: {kind}",
                    taken,
                    anchor_name,
                    anchors,
                    median_at_most=KEY_TIMES[anchor_name],
                    p95_at_most=2 * KEY_TIMES[anchor_name],
                )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

"""How long a key takes to the first byte of its paint, in a pseudo-terminal, the cursor moving down and up.

Five tables of 100 rows that stand still against five of Textual's DataTable, and the whole `tradetui demo` with its
embedded exchange in the same process, its rows paused so that what is painted is the key's, against the five tables.
The keys are pressed in all three by turns.

Run: python -m tests.bench.key_to_paint [KEYS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.bench.anchors import SEEN_S, SETTLE_S, TABLES_KEY, keys_by_turns, moves, tables
from tests.bench.report import Report
from tests.bench.terminal import Terminal

TRADETUI = str(Path(sys.executable).with_name("tradetui"))
DATA_TABLE_KEY = "key in five DataTables"
DEMO_KEY = "key in tradetui demo, paused"


def main() -> int:
    keys = moves(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    report = Report()
    with (
        tempfile.TemporaryDirectory() as home,
        tables("data", "still") as data_tables,
        tables("record", "still") as record_tables,
        Terminal([TRADETUI, "demo"], environment={"HOME": home}) as demo,
    ):
        demo.until_shown(b"BTCUSDT")
        demo.read_for(SETTLE_S)
        demo.send(b" ")
        demo.read_for(SEEN_S)
        taken = keys_by_turns({DATA_TABLE_KEY: data_tables, TABLES_KEY: record_tables, DEMO_KEY: demo}, keys)
    report.keys(
        f"key to paint: {TABLES_KEY}",
        taken[TABLES_KEY],
        DATA_TABLE_KEY,
        taken[DATA_TABLE_KEY],
        median_at_most=1.0,
        p95_at_most=1.5,
    )
    report.keys(
        f"key to paint: {DEMO_KEY}",
        taken[DEMO_KEY],
        TABLES_KEY,
        taken[TABLES_KEY],
        median_at_most=1.5,
        p95_at_most=2.5,
    )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

"""What five live tables cost: RecordTable against Textual's DataTable, changing and still, measured from outside.

All three run beside each other, over the same seconds. Run: python -m tests.bench.table [SECONDS]
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.bench.anchors import tables
from tests.bench.report import Report
from tests.bench.terminal import measure

ANCHOR = "five DataTables, changing"
CHANGING_TIMES, STILL_TIMES = 0.25, 0.04
STILL_BYTES = 300


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    report = Report()
    with (
        tables("record", "changing") as changing,
        tables("data", "changing") as data_tables,
        tables("record", "still") as still,
        ThreadPoolExecutor(3) as threads,
    ):
        changing_load, data_load, still_load = threads.map(
            partial(measure, seconds=seconds), (changing, data_tables, still)
        )
    for name, load, at_most in (("changing", changing_load, CHANGING_TIMES), ("still", still_load, STILL_TIMES)):
        report.ratio(
            f"table: five RecordTables, {name}",
            load.cpu_percent,
            ANCHOR,
            data_load.cpu_percent,
            unit="% of a core",
            at_most=at_most,
        )
    report.absolute(
        "table: written while still", still_load.bytes_per_second, unit="B/s", at_most=STILL_BYTES, set_on="any machine"
    )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

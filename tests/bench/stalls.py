"""The longest stall of the event loop in each minute: the whole `monitor` against five changing tables, and those
against five of Textual's DataTable, all beside each other.

Run: python -m tests.bench.stalls [MINUTES]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.monitor import sandbox_environment
from tests.bench.report import Report, median_ratio
from tests.bench.terminal import Terminal

SPARE_S = 5.0
TABLES_TIMES, MONITOR_TIMES = 0.2, 1.5


@contextmanager
def watched(kind: str, shown: bytes, environment: Mapping[str, str], file: Path) -> Iterator[Terminal]:
    """A program that writes each minute's longest stall to the file."""
    command = [sys.executable, "-m", "tests.bench.stalls_program", str(file), kind]
    with Terminal(command, environment=environment) as terminal:
        terminal.until_shown(shown)
        yield terminal


def main() -> int:
    minutes = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    report = Report()
    with tempfile.TemporaryDirectory() as folder, sandbox_environment() as environment, ExitStack() as programs:
        started = {
            kind: programs.enter_context(watched(kind, shown, variables, Path(folder) / kind))
            for kind, shown, variables in (
                ("data", b"SYM001USDT", os.environ),
                ("record", b"SYM001USDT", os.environ),
                ("monitor", b"BTCUSDT", environment),
            )
        }
        with ThreadPoolExecutor(len(started)) as threads:
            list(threads.map(lambda program: program.read_for(minutes * 60 + SPARE_S), started.values()))
        stalls = {kind: [float(line) for line in (Path(folder) / kind).read_text().split()] for kind in started}
    for name, figure, anchor, anchor_name, at_most in (
        ("five tables", "record", "data", "five DataTables", TABLES_TIMES),
        ("monitor", "monitor", "record", "five tables", MONITOR_TIMES),
    ):
        report.ratio(
            f"stalls: {name}, longest in a minute",
            statistics.median(stalls[figure]),
            anchor_name,
            statistics.median(stalls[anchor]),
            unit="ms",
            at_most=at_most,
            ratio=median_ratio(stalls[figure], stalls[anchor]),
        )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

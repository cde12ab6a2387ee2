"""How long starting takes: --help and --version against bare Python, first paint and data against empty Textual.

Run: python -m tests.bench.start [RUNS]
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from tests.bench.anchors import BARE_PYTHON, EMPTY_APP, bare_python, command_seconds, empty_app, shown_seconds
from tests.bench.report import Report, by_turns, median_ratio

TRADETUI = str(Path(sys.executable).with_name("tradetui"))
HELP_TIMES, PAINT_TIMES, DATA_TIMES = 3.0, 1.1, 2.7
VERSION_TIMES = 7.0
"""Most of it is the import of `importlib.metadata`, which knows Textual's version; nobody waits for it."""


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    report = Report()
    commands = by_turns(
        runs,
        {
            BARE_PYTHON: bare_python,
            "--help": lambda: command_seconds([TRADETUI, "--help"]),
            "--version": lambda: command_seconds([TRADETUI, "--version"]),
        },
    )
    screens = by_turns(
        runs,
        {
            EMPTY_APP: empty_app,
            "demo, first paint": lambda: shown_seconds([TRADETUI, "demo"], b"SANDBOX"),
            "demo, data": lambda: shown_seconds([TRADETUI, "demo"], b"BTCUSDT"),
        },
    )
    for taken, anchor, figure, at_most in (
        (commands, BARE_PYTHON, "--help", HELP_TIMES),
        (commands, BARE_PYTHON, "--version", VERSION_TIMES),
        (screens, EMPTY_APP, "demo, first paint", PAINT_TIMES),
        (screens, EMPTY_APP, "demo, data", DATA_TIMES),
    ):
        report.ratio(
            f"start: {figure}",
            statistics.median(taken[figure]) * 1000,
            anchor,
            statistics.median(taken[anchor]) * 1000,
            unit="ms",
            at_most=at_most,
            ratio=median_ratio(taken[figure], taken[anchor]),
        )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

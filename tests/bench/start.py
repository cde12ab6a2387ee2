"""Prints how long starting takes: --help and --version against bare Python, first paint and data against empty Textual.

Run: python -m tests.bench.start [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.terminal import Terminal

PYTHON = sys.executable
TRADETUI = str(Path(sys.executable).with_name("tradetui"))
EMPTY_APP = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("empty-app-ready")
Empty().run()
"""


def command_seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def shown_seconds(command: list[str], text: bytes) -> float:
    with tempfile.TemporaryDirectory() as home, Terminal(command, environment={"HOME": home}) as terminal:
        return terminal.until_shown(text)


def interleaved(runs: int, **measures: Callable[[], float]) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for turn in range(runs + 1):
        for name, measure in measures.items():
            seconds = measure()
            if turn:
                taken[name].append(seconds)
    return {name: statistics.median(values) for name, values in taken.items()}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    medians = interleaved(
        runs,
        bare=lambda: command_seconds([PYTHON, "-c", "pass"]),
        help=lambda: command_seconds([TRADETUI, "--help"]),
        version=lambda: command_seconds([TRADETUI, "--version"]),
    )
    for name in ("help", "version"):
        ratio = medians[name] / medians["bare"]
        print(f"--{name}: {medians[name] * 1000:.0f} ms, {ratio:.2f} times python -c pass (at most 3)")
    screens = interleaved(
        runs,
        empty=lambda: shown_seconds([PYTHON, "-c", EMPTY_APP], b"empty-app-ready"),
        paint=lambda: shown_seconds([TRADETUI, "demo"], b"SANDBOX"),
        data=lambda: shown_seconds([TRADETUI, "demo"], b"BTCUSDT"),
    )
    for name, bound in (("paint", 1.2), ("data", 2.8)):
        ratio = screens[name] / screens["empty"]
        print(f"demo {name}: {screens[name] * 1000:.0f} ms, {ratio:.2f} times an empty Textual app (at most {bound})")


if __name__ == "__main__":
    main()

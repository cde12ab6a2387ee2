"""A program whose event loop is watched: each minute's longest stall becomes a line of a file, in milliseconds.

Run: python -m tests.bench.stalls_program FILE record|data|monitor
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.bench.tables_program import Program
from tradetui.cli import main
from tradetui.ui.application.app import TradeApp

EVERY_S = 0.01
MINUTE_S = 60.0


async def watch(file: Path) -> None:
    """Note how much later than asked the loop comes back."""
    while True:
        longest, end = 0.0, time.perf_counter() + MINUTE_S
        while (begin := time.perf_counter()) < end:
            await asyncio.sleep(EVERY_S)
            longest = max(longest, time.perf_counter() - begin - EVERY_S)
        with file.open("a") as stream:
            stream.write(f"{longest * 1000:.1f}\n")


class WatchedProgram(Program):
    """The five tables."""

    def on_ready(self) -> None:
        self.watching = asyncio.create_task(watch(Path(sys.argv[1])))


class WatchedApp(TradeApp):
    """The whole program."""

    def on_ready(self) -> None:
        self.watching: Any = asyncio.create_task(watch(Path(sys.argv[1])))


if __name__ == "__main__":
    if sys.argv[2] == "monitor":
        with patch("tradetui.ui.application.app.TradeApp", WatchedApp):
            sys.exit(main(["monitor"]))
    WatchedProgram(sys.argv[2], changing=True).run()

"""`tradetui monitor` that gives its free memory back when it is sent SIGUSR1; a program to be measured from outside.

Run: python -m tests.bench.monitor_program
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

from tests.bench.resident_memory import give_back_free_memory
from tradetui import cli


def _give_back(_number: int, _frame: FrameType | None) -> None:
    give_back_free_memory()


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _give_back)
    sys.exit(cli.main(["monitor"]))

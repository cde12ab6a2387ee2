"""Whether the screen's memory stays flat: five panels, a fill about every second, for hours.

The monitor with its screen runs in virtual time on the embedded exchange of the same process, which is made to forget
what is old, and writes its archive to a file. At each interval it prints resident memory and the objects of each type,
with what they have grown since the first quarter of an hour, when every cache is full. Then `tradetui monitor` runs in
a terminal for a while in real time, against an exchange in another process, to show that the same holds there. Both
give their free memory back before they are measured: what a heap holds ready comes and goes by more than is asked here.

Run: python -m tests.bench.memory_over_hours [--hours 3] [--every 15] [--real-minutes 35] [--types 12]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.bench.monitor import sandbox_environment
from tests.bench.report import Report
from tests.bench.resident_memory import resident_mib
from tests.bench.simulated_day import forget
from tests.bench.terminal import Terminal
from tests.bench.virtual_loop import run
from tests.ui.fixtures.app_on_sandbox import AppOnSandbox

MOST_MIB_AN_HOUR = 1.0
SETTLED_MINUTES = 15
GIVING_BACK_S = 2.0
FILLS_AN_HOUR = 3_000
"""Fewer would not be what the figure is about: the embedded exchange fills its lively account about every second."""


def live_objects() -> Counter[str]:
    """How many objects of each type the garbage collector knows."""
    return Counter(f"{type(live).__module__}.{type(live).__qualname__}" for live in gc.get_objects())


def grown_most(objects: Counter[str], before: Counter[str], count: int) -> str:
    """The types whose objects have become more, with how many there are and how many of them are new."""
    grown = sorted(objects, key=lambda name: before[name] - objects[name])[:count]
    return ", ".join(
        f"{name.rpartition('.')[2]} {objects[name]} (+{objects[name] - before[name]})"
        for name in grown
        if objects[name] > before[name]
    )


def an_hour(minutes: list[int], mib: list[float]) -> float:
    """MiB an hour: the slope of the straight line that lies nearest to the figures."""
    return statistics.linear_regression(minutes, mib).slope * 60


async def virtual(hours: float, every: int, types: int) -> tuple[float, int]:
    """MiB an hour after the first quarter in virtual time, and the fills an hour that came."""
    with tempfile.TemporaryDirectory() as directory:
        stage = AppOnSandbox("hedge", read_only=True, data_dir=Path(directory))
        async with stage.running():
            settled: Counter[str] = Counter()
            minutes: list[int] = []
            mib: list[float] = []
            first_fill: str | None = None
            fills = 0
            for minute in range(1, round(hours * 60) + 1):
                await asyncio.sleep(60)
                keys = stage.desk.feeds["fills"].snapshot.row_ids
                fills += keys.index(first_fill) if first_fill in keys else 0
                first_fill = keys[0]
                forget(stage.sandbox.exchange_state)
                if minute % every and minute != SETTLED_MINUTES:
                    continue
                minutes.append(minute)
                mib.append(resident_mib())
                objects = live_objects()
                if minute == SETTLED_MINUTES:
                    settled = objects
                grown = grown_most(objects, settled, types) if settled else ""
                print(f"minute {minute:3}: {mib[-1]:6.2f} MiB, {objects.total()} objects; {grown}", flush=True)
            stage.app.exit()
        since = minutes.index(SETTLED_MINUTES)
        return an_hour(minutes[since:], mib[since:]), round(fills / hours)


def real(minutes: int) -> float:
    """MiB an hour after the first quarter of `tradetui monitor` in a terminal, in real time."""
    mib: list[float] = []
    program = [sys.executable, "-m", "tests.bench.monitor_program"]
    with sandbox_environment() as environment, Terminal(program, environment=environment) as terminal:
        terminal.until_shown(b"BTCUSDT")
        for minute in range(1, minutes + 1):
            terminal.read_for(60 - GIVING_BACK_S)
            with_free = terminal.resident_mib()
            terminal.process.send_signal(signal.SIGUSR1)
            terminal.read_for(GIVING_BACK_S)
            terminal.output.clear()
            mib.append(terminal.resident_mib())
            print(f"real minute {minute:3}: {mib[-1]:6.2f} MiB, {with_free:6.2f} with free memory", flush=True)
    return an_hour(list(range(SETTLED_MINUTES, minutes + 1)), mib[SETTLED_MINUTES - 1 :])


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=3.0)
    parser.add_argument("--every", type=int, default=15, help="minutes between two figures; a divisor of 15")
    parser.add_argument("--real-minutes", type=int, default=35, help="0 leaves the run in real time out")
    parser.add_argument("--types", type=int, default=12, help="how many types to print")
    options = parser.parse_args()
    report = Report()
    slope, fills_an_hour = run(virtual(options.hours, options.every, options.types))
    report.absolute(
        "memory over hours: fills in an hour", fills_an_hour, unit="fills", at_least=FILLS_AN_HOUR, set_on="any machine"
    )
    report.absolute("memory over hours: grown in an hour", slope, unit="MiB", at_most=MOST_MIB_AN_HOUR)
    if options.real_minutes:
        report.absolute(
            f"memory over hours: grown in an hour, by {options.real_minutes} real minutes",
            real(options.real_minutes),
            unit="MiB",
            at_most=MOST_MIB_AN_HOUR,
        )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

"""A simulated day of the desk: what it adds in memory, descriptors and tasks.

Run: python -m tests.bench.simulated_day [--hours 24] [--seed 7]. The exchange lives in the same process, so it is made
to forget what is old every minute, as a real one does after its window; the figures are those of the whole process.
Growth is counted from the end of the second hour, when every cache is full.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.bench.report import Report
from tests.bench.resident_memory import resident_mib
from tests.bench.virtual_loop import run
from tests.desk.fixtures.desk_simulation import Simulation
from tradetui.sandbox.books.numbers import Identifiers
from tradetui.sandbox.exchange_state import ExchangeState

MOST_MIB = 5.0
WARM_HOURS = 2
POLL_TASKS = 24
KEPT_BY_THE_EXCHANGE = 150


def descriptors() -> int:
    """Open descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))


def forget(exchange_state: ExchangeState) -> None:
    """Let the exchange drop what is old."""
    for account in exchange_state.accounts.values():
        _forget_ids(account.ids)
        for book in account.futures.values():
            del book.fills[:-KEPT_BY_THE_EXCHANGE]
            del book._bills._rows[:-KEPT_BY_THE_EXCHANGE]
            _forget_ids(book._bills._ids)
            del book.triggers[:-KEPT_BY_THE_EXCHANGE]
            for order_id in list(book.done)[:-KEPT_BY_THE_EXCHANGE]:
                del book.done[order_id]


def _forget_ids(ids: Identifiers) -> None:
    for moment_ms in list(ids._issued_counts)[:-KEPT_BY_THE_EXCHANGE]:
        del ids._issued_counts[moment_ms]


async def day(seed: int, hours: int, directory: Path) -> int:
    """Run it and print each hour's figures; 1 where something grew."""
    simulation = Simulation(seed=seed, data_dir=directory, jitter=False, checked=False)
    simulation.desk.start()
    figures: list[tuple[float, int, int]] = []
    began = perf_counter()
    for hour in range(1, hours + 1):
        await simulation.run(3_600.0, every=60.0, check=lambda: forget(simulation.exchange_state))
        memory, tasks = resident_mib(), len(asyncio.all_tasks())
        figures.append((memory, descriptors(), tasks))
        line = f"hour {hour:2}: {memory:6.1f} MiB, {figures[-1][1]} descriptors, {tasks} tasks"
        print(f"{line}, {perf_counter() - began:.0f} s", flush=True)
    await simulation.desk.stop()
    first, last = figures[min(WARM_HOURS, len(figures)) - 1], figures[-1]
    grown, opened, tasks = last[0] - first[0], last[1] - first[1], last[2] - first[2]
    report = Report()
    report.absolute("simulated day: memory grown", grown, unit="MiB", at_most=MOST_MIB)
    report.count("simulated day: descriptors grown", opened, exactly=0)
    # A poll that happens to be under way has tasks of its own.
    report.absolute("simulated day: tasks grown", tasks, unit="tasks", at_most=POLL_TASKS, set_on="any machine")
    return report.exit_code


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--hours", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        return run(day(options.seed, options.hours, Path(directory)))


if __name__ == "__main__":
    sys.exit(main())

"""What a row of the overview costs beside a full session, for 1, 8 and 50 accounts.

The embedded exchange answers in this process, so that its work is in both figures: a session and a row alike pay for
what they read. Sockets are therefore not measured.

Run: python -m tests.bench.overview [SECONDS]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.bench.report import Report
from tests.bench.resident_memory import resident_mib
from tradetui.commands.session.demo_desk import build_sandbox, open_demo_desk
from tradetui.commands.session.demo_overview import DemoOverview
from tradetui.exchange.clock import SystemClock
from tradetui.sandbox.app import Sandbox

SETTLE_S = 6.0
COUNTS = (1, 8, 50)
SESSION = "a full session"
ROW_OF_SESSION_PROCESSOR, ROW_OF_SESSION_MEMORY = 1 / 20, 1 / 5
CALLS_A_SECOND = 80


class Load(NamedTuple):
    """Processor time in seconds, memory in MiB, the most calls in a second, and how many were refused as too many."""

    processor_s: float
    memory_mib: float
    most_calls: int
    refused: int


async def keep_up(sandbox: Sandbox) -> None:
    """Advance the market at all times, so that its work is in the idle seconds as well and can be taken off."""
    while True:
        sandbox.catch_up()
        await asyncio.sleep(0.25)


async def measured(sandbox: Sandbox, seconds: float, start: Callable[[], Callable[[], Awaitable[None]]]) -> Load:
    """Measure what `start` begins; it returns what stops it."""
    before_mib = resident_mib()
    stop = start()
    await asyncio.sleep(SETTLE_S)
    sandbox.calls.clear()
    begun_s = time.process_time()
    await asyncio.sleep(seconds)
    processor_s = time.process_time() - begun_s
    times = [call.at_ms for call in sandbox.calls]
    most = max((sum(1 for at_ms in times if begin <= at_ms < begin + 1000) for begin in times), default=0)
    load = Load(processor_s, resident_mib() - before_mib, most, sum(call.code == "429" for call in sandbox.calls))
    await stop()
    return load


def main() -> int:
    with TemporaryDirectory() as folder:
        return asyncio.run(run(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, Path(folder)))


async def run(seconds: float, data_dir: Path) -> int:
    clock, report = SystemClock(), Report()
    sandbox = build_sandbox(7, clock, desk_of=max(COUNTS))
    names = [key.name for key in sandbox.exchange_state.keys if key.name != "read-only"]
    for key in sandbox.exchange_state.keys:
        sandbox.exchange_state.account(key.uid)

    def session() -> Callable[[], Awaitable[None]]:
        desk = open_demo_desk(sandbox, names[0], read_only=True, clock=clock)
        desk.start()
        return desk.stop

    def rows(count: int) -> Callable[[], Awaitable[None]]:
        overview = DemoOverview(sandbox, names[:count], "monitor", clock, data_dir).overview()
        overview.start()
        return overview.stop

    async def nothing() -> None: ...

    market = asyncio.create_task(keep_up(sandbox))
    idle = await measured(sandbox, seconds, lambda: nothing)
    whole = await measured(sandbox, seconds, session)
    loads = {count: await measured(sandbox, seconds, partial(rows, count)) for count in COUNTS}
    market.cancel()
    session_s = whole.processor_s - idle.processor_s
    for count, load in loads.items():
        row_s = (load.processor_s - idle.processor_s) / count
        name = f"overview of {count}: a row's"
        report.ratio(f"{name} processor", row_s, SESSION, session_s, unit="s", at_most=ROW_OF_SESSION_PROCESSOR)
        report.absolute(
            f"overview of {count}: calls in a second", load.most_calls, unit="calls", at_most=CALLS_A_SECOND
        )
        report.count(f"overview of {count}: refused as too many", load.refused, exactly=0)
    for fewer, more in pairwise(COUNTS):
        row_mib = (loads[more].memory_mib - loads[fewer].memory_mib) / (more - fewer)
        report.ratio(
            f"overview: a row's memory, {fewer} to {more}",
            row_mib,
            SESSION,
            whole.memory_mib,
            unit="MiB",
            at_most=ROW_OF_SESSION_MEMORY,
        )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

"""What a row of the overview costs beside a full session, for 1, 8 and 50 accounts.

The embedded exchange answers in this process, so that its work is in both figures: a session and a row alike pay for
what they read. Descriptors are counted over loopback, and keys are pressed in `tradetui demo --accounts 50`.

Run: python -m tests.bench.overview [SECONDS]
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.bench.anchors import SETTLE_S, TABLES_KEY, keys_by_turns, moves, tables
from tests.bench.key_to_paint import TRADETUI
from tests.bench.report import Report
from tests.bench.resident_memory import resident_mib
from tests.bench.terminal import Terminal
from tradetui.commands.session.demo_desk import build_sandbox, open_demo_desk
from tradetui.commands.session.demo_overview import DemoOverview
from tradetui.commands.session.overview_profiles import OverviewProfiles
from tradetui.exchange.clock import SystemClock
from tradetui.profiles.load import Flags
from tradetui.sandbox.app import Sandbox

BEGUN_S = 6.0
COUNTS = (1, 8, 50)
SESSION = "a full session"
ROW_OF_SESSION_PROCESSOR, ROW_OF_SESSION_MEMORY = 1 / 20, 1 / 5
CALLS_A_SECOND = 80


ROW_DESCRIPTORS = 2
KEY = "key in an overview of 50"


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
    await asyncio.sleep(BEGUN_S)
    sandbox.calls.clear()
    begun_s = time.process_time()
    await asyncio.sleep(seconds)
    processor_s = time.process_time() - begun_s
    times = [call.at_ms for call in sandbox.calls]
    most = max((sum(1 for at_ms in times if begin <= at_ms < begin + 1000) for begin in times), default=0)
    load = Load(processor_s, resident_mib() - before_mib, most, sum(call.code == "429" for call in sandbox.calls))
    await stop()
    return load


async def descriptors(names: Sequence[str], environ: Mapping[str, str], config: Path) -> int:
    """How many files and sockets of this process an overview of these profiles holds open after each was read."""
    before = len(os.listdir("/proc/self/fd"))
    overview = OverviewProfiles(environ, Flags(config=config), names).overview()
    overview.start()
    await overview.look(30.0)
    opened = len(os.listdir("/proc/self/fd")) - before
    await overview.stop()
    return opened


def report_descriptors(report: Report, folder: Path) -> None:
    """Compare overviews of two and of eight accounts of an exchange on loopback."""
    command = [sys.executable, "-m", "tradetui", "sandbox", "--no-limits"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        serving, profiles = json.loads(server.stdout.readline()), []
        keys = serving["profiles"][:8]
        for key in keys:
            file = folder / f"{key['name']}.toml"
            file.write_text("".join(f'{part} = "{key[part]}"\n' for part in ("api_key", "secret", "passphrase")))
            file.chmod(0o600)
            profiles.append(
                f'[profiles.{key["name"]}]\nbase_url = "{serving["base_url"]}"\ndata_dir = "{folder}"\n'
                f'credentials = {{ source = "file", path = "{file}" }}\n'
            )
        config = folder / "config.toml"
        config.write_text("\n".join(profiles))
        environ = {"TRADETUI_RUNTIME_DIR": str(folder / "run"), "XDG_STATE_HOME": str(folder / "state")}
        names = [key["name"] for key in keys]
        few, many = (asyncio.run(descriptors(names[:count], environ, config)) for count in (2, 8))
        server.terminate()
    report.absolute("overview: a row's descriptors, 2 to 8", (many - few) / 6, unit="files", at_most=ROW_DESCRIPTORS)


def report_keys(report: Report, home: Path) -> None:
    """Press the cursor's keys in an overview of fifty accounts and in five tables, by turns."""
    demo = Terminal([TRADETUI, "demo", "--accounts", "50"], environment={"HOME": str(home)})
    with tables("record", "still") as record_tables, demo:
        demo.until_shown(b"50 of 52 accounts")
        demo.read_for(4 * SETTLE_S)
        taken = keys_by_turns({TABLES_KEY: record_tables, KEY: demo}, moves(100))
    report.keys(f"key to paint: {KEY}", taken[KEY], TABLES_KEY, taken[TABLES_KEY], median_at_most=2.0, p95_at_most=2.0)


def main() -> int:
    report = Report()
    with TemporaryDirectory() as folder:
        asyncio.run(run(report, float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, Path(folder)))
        report_descriptors(report, Path(folder))
        report_keys(report, Path(folder))
    return report.exit_code


async def run(report: Report, seconds: float, data_dir: Path) -> None:
    clock = SystemClock()
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


if __name__ == "__main__":
    sys.exit(main())

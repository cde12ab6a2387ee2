"""What a store that several machines share costs, on a PostgreSQL of this machine that syncs to the disk.

A claimed permit is held to `SELECT 1` over the same library, a begun intent to SQLite's, confirming to a session
without a store, the rate of four processes on two machines to what the limit allows, and a key while the store is
silent to a key before. That nothing costs more without a store is what `start` and `monitor` measure, and
`tests/whole/test_shape.py` says that then the library is not loaded.

Run: python -m tests.bench.store [ROUNDS]
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import psycopg

from tests.bench.anchors import key_seconds, moves
from tests.bench.limiter import MACHINES, measure, permit_server
from tests.bench.report import Report, median_ratio
from tests.bench.reversal import confirming, environment_on, sandbox
from tests.bench.terminal import Terminal
from tests.exchange.limited_endpoints import limited
from tests.postgres import Cluster, running_cluster
from tradetui.desk.intents.journal.journal import Journal
from tradetui.exchange.clock import Moment, SystemClock
from tradetui.exchange.rate_limit.budget import Budget, Priority
from tradetui.storage.disk_thread import ThreadDisk
from tradetui.storage.postgres.server import PostgresServer

TRADETUI = str(Path(sys.executable).with_name("tradetui"))
CLAIM, SELECT_1 = "claim", "SELECT 1"
BEGIN, SQLITE_BEGIN = "begin", "SQLite's begin"
CLAIM_TIMES, BEGIN_TIMES, CONFIRM_TIMES, KEY_TIMES = 5.0, 4.0, 1.3, 1.2
AWAY_S = 2.0
CALLS = 300
SESSIONS = 3
KEYS = 120
SECONDS = 20.0
PAUSE_S = 0.01
"""Until what follows a call, such as writing that a permit was not used, is over."""


async def by_turns(turns: int, measures: Mapping[str, Callable[[], Awaitable[object]]]) -> dict[str, list[float]]:
    """Milliseconds of each measure in each turn; a turn more is made first and thrown away."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for turn in range(turns + 1):
        for name, call in measures.items():
            begin = time.perf_counter()
            await call()
            if turn:
                taken[name].append((time.perf_counter() - begin) * 1000)
            await asyncio.sleep(PAUSE_S)
    return taken


def report_ratio(report: Report, name: str, taken: Mapping[str, list[float]], at_most: float) -> None:
    figure, anchor = taken
    report.ratio(
        f"store: {name}",
        statistics.median(taken[figure]),
        anchor,
        statistics.median(taken[anchor]),
        unit="ms",
        at_most=at_most,
        ratio=median_ratio(taken[figure], taken[anchor]),
    )


async def join(conninfo: str) -> PostgresServer:
    server = PostgresServer(conninfo)
    await server.open()
    for machine in MACHINES:
        await server.call("join_account", "bench", "https://exchange.example", "live", "1", machine, 0.5)
    return server


async def claims(conninfo: str, folder: Path) -> dict[str, list[float]]:
    await (await join(conninfo)).aclose()
    budget = Budget(folder, "bench", host="host", shared=permit_server(conninfo, MACHINES[0]))
    ample, thread = limited(1_000_000), ThreadDisk("select")
    connection = await thread.run(lambda: psycopg.connect(conninfo, autocommit=True))

    async def claim() -> None:
        (await budget.acquire(ample, Priority.INTERACTIVE)).unused()

    def select() -> Awaitable[object]:
        return thread.run(lambda: connection.execute("select 1").fetchall())

    taken = await by_turns(CALLS, {CLAIM: claim, SELECT_1: select})
    await thread.run(connection.close)
    thread.close()
    await budget.aclose()
    return taken


async def begins(conninfo: str, folder: Path) -> dict[str, list[float]]:
    """Begin intents that end at once, each on the disk when it is begun."""
    server, thread, random, clock = await join(conninfo), ThreadDisk("journal"), Random(1), SystemClock()
    journal = await thread.run(Journal, folder / "journal.sqlite")
    scopes = (f"USDT-FUTURES|SYM{number}USDT" for number in range(10 * CALLS))
    details = {"title": "Reverse BTCUSDT LONG 2 and SHORT 0.5 to SHORT 2.5", "request": {"symbol": "BTCUSDT"}}

    async def begin() -> None:
        intent = f"tt-{random.getrandbits(100):025x}"
        await server.call("begin_intent", intent, "bench", next(scopes), "reversal", details, None, MACHINES[0])

    async def begin_in_sqlite() -> None:
        intent = f"tt-{random.getrandbits(100):025x}"
        await thread.run(journal.begin, intent, "bench", next(scopes), "reversal", details, Moment.now(clock))

    taken = await by_turns(CALLS, {BEGIN: begin, SQLITE_BEGIN: begin_in_sqlite})
    await thread.run(journal.close)
    thread.close()
    await server.aclose()
    return taken


def confirmed(cluster: Cluster, folder: Path, rounds: int) -> dict[str, list[float]]:
    """Milliseconds from confirming to the first byte, with a store and without, each on an exchange of its own.

    The two take turns of a session each, because a machine is not equally fast all the time.
    """
    taken: dict[str, list[float]] = {"with a store": [], "without a store": []}
    for session in range(SESSIONS):
        store = f'store = "{cluster.conninfo(cluster.new_database(), "anna")}"\nmachine = "{MACHINES[0]}"'
        for name, line in zip(taken, (store, ""), strict=True):
            with sandbox("--no-limits") as exchange:
                data = folder / f"{name.partition(' ')[0]}-{session}"
                data.mkdir()
                if line:
                    join_with(environment_on(exchange["base_url"], exchange, data, line))
                taken[name] += asyncio.run(confirming(exchange["base_url"], exchange, data, rounds, line))["confirm"]
    return taken


def join_with(environment: Mapping[str, str]) -> None:
    subprocess.run([TRADETUI, "store", "join"], check=True, env=environment, stdout=subprocess.DEVNULL)


def swallowed(cluster: Cluster, folder: Path) -> tuple[float, dict[str, list[float]]]:
    """Seconds until the screen says that a silent store is away, and milliseconds of keys while it is and before."""
    relay = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.relay", str(cluster.port), "0"], stdout=subprocess.PIPE, text=True
    )
    assert relay.stdout is not None
    try:
        port = int(relay.stdout.readline())
        database = cluster.new_database()
        store = f'store = "host=127.0.0.1 port={port} dbname={database} user=anna"\nmachine = "{MACHINES[0]}"'
        with sandbox("--no-limits") as exchange:
            environment = environment_on(exchange["base_url"], exchange, folder, store)
            join_with(environment)
            with Terminal([TRADETUI], environment=environment) as terminal:
                terminal.until_shown(b"BTCUSDT")
                terminal.read_for(15)
                terminal.send(b" ")
                terminal.read_for(3)
                taken = {"away": [], "before": [key_seconds(terminal, key) * 1000 for key in moves(KEYS)]}
                relay.send_signal(signal.SIGSTOP)
                silent = time.perf_counter() - terminal.started
                away_s = terminal.until_shown(b"STORE AWAY") - silent
                taken["away"] = [key_seconds(terminal, key) * 1000 for key in moves(KEYS)]
                return away_s, taken
    finally:
        relay.send_signal(signal.SIGCONT)
        relay.terminate()
        relay.wait()


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    report = Report()
    settings: dict[str, Any] = {"fsync": "on", "full_page_writes": "on"}
    with running_cluster(**settings) as cluster, tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def database() -> str:
            return cluster.conninfo(cluster.new_database(), "anna")

        report_ratio(report, "a permit claimed", asyncio.run(claims(database(), folder / "run")), CLAIM_TIMES)
        report_ratio(report, "an intent begun", asyncio.run(begins(database(), folder)), BEGIN_TIMES)
        conninfo = database()
        asyncio.run(_joined(conninfo))
        measure(4, 120, SECONDS, report, conninfo)
        # There are few sessions, so the ratio is that of the medians of all rounds.
        confirms = [statistics.median(values) for values in confirmed(cluster, folder, rounds).values()]
        report.ratio(
            "store: confirm to the POST's first byte",
            confirms[0],
            "without a store",
            confirms[1],
            unit="ms",
            at_most=CONFIRM_TIMES,
        )
        silent = folder / "silent"
        os.mkdir(silent)
        away_s, keys = swallowed(cluster, silent)
        report.absolute("store: silent until the screen says so", away_s, unit="s", at_most=AWAY_S)
        report.ratio(
            "store: key to paint while it is silent",
            statistics.median(keys["away"]),
            "key before",
            statistics.median(keys["before"]),
            unit="ms",
            at_most=KEY_TIMES,
        )
    return report.exit_code


async def _joined(conninfo: str) -> None:
    await (await join(conninfo)).aclose()


if __name__ == "__main__":
    sys.exit(main())

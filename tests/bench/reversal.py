"""What a reversal costs: confirming, naming the outcome after a restart, opening a large journal.

From confirming to the POST's first byte, everything read again in between, while five panels poll as fast as the
limits let them; on loopback and over a line with a round trip of 80 ms. It is held to a bare GET over the same line
at the same time, and opening the journal to reading every intent of the same file with bare sqlite3.

Run: python -m tests.bench.reversal [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.bench.report import Report, by_turns, median_ratio
from tests.whole.sent_bytes import outgoing_requests
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.desk import Desk
from tradetui.desk.intents.journal.journal import ChainPoint, EventRow, Journal, chained, genesis
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.profiles.load import Flags, load
from tradetui.wire.enums import Side
from tradetui.wire.product_types import ProductType

ACCOUNT = "copy-old"
USDT = ProductType.USDT_FUTURES
ROUND_TRIP_MS = 80
CONFIRM_TIMES = {0: 20.0, ROUND_TRIP_MS: 2.0}
"""By round trip."""
NAMED_TIMES = 60.0
OPENED_TIMES = 0.6
BARE_GET = "bare GET"
READ_ALL = "bare sqlite3, every intent"
SETTLED_S = 15.0
"""By then the shared budget has counted what was read before it was known whose account this is."""
INTENTS = 100_000
CONFIG = """
[profiles.bench]
base_url = "{base_url}"
mode = "trade"
start_locked = false
account_kind = "ordinary"
budget_share = 1.0
{store}
product_types = ["USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES"]
max_reversal_value = 1000000000
[profiles.bench.intervals]
accounts = 0.5
positions = 0.5
orders = 0.5
fills = 0.5
triggers = 0.5
"""


@contextmanager
def sandbox(*flags: str) -> Iterator[dict[str, Any]]:
    """A sandbox in a process of its own, and what its first line tells."""
    command = [sys.executable, "-m", "tradetui", "sandbox", "--seed", "11", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


@contextmanager
def relayed(base_url: str, round_trip_ms: int) -> Iterator[str]:
    """The address of the sandbox behind a slow line."""
    command = [sys.executable, "-m", "tests.bench.relay", base_url.rpartition(":")[2], str(round_trip_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def environment_on(base_url: str, server: dict[str, Any], folder: Path, store: str = "") -> dict[str, str]:
    """The environment of a program on one of the sandbox's accounts that may trade; `store` is that line if any."""
    key = next(profile for profile in server["profiles"] if profile["name"] == ACCOUNT)
    config = folder / "config.toml"
    config.write_text(CONFIG.format(base_url=base_url, store=store))
    return {
        **os.environ,
        "TRADETUI_CONFIG": str(config),
        "TRADETUI_API_KEY": key["api_key"],
        "TRADETUI_API_SECRET": key["secret"],
        "TRADETUI_PASSPHRASE": key["passphrase"],
        "TRADETUI_DATA_DIR": str(folder / "data"),
        "TRADETUI_RUNTIME_DIR": str(folder / "run"),
        "TRADETUI_STATE_DIR": str(folder / "state"),
    }


def desk_on(base_url: str, server: dict[str, Any], folder: Path, store: str = "") -> Desk:
    return OpenProfile(load(environment_on(base_url, server, folder, store), Flags())).desk()


async def ready(desk: Desk) -> Preview:
    """A preview of the first position that may be confirmed."""
    execution = desk.execution
    assert execution is not None
    while not desk.positions.snapshot.rows or execution.intents.trouble:  # noqa: ASYNC110 - as a person looks
        await asyncio.sleep(0.01)
    while True:
        # The panel may still show the leg that was reversed the round before.
        target = execution.target_of(desk.positions.snapshot.rows[0])
        preview = await execution.preview(target)
        if not execution.blocking_reasons(preview, preview.subject):
            return preview
        await asyncio.sleep(0.3)


def bare_get(base_url: str) -> float:
    """Milliseconds of the exchange's time, read over a connection of its own."""
    begin = time.perf_counter()
    with urllib.request.urlopen(f"{base_url}/api/v2/public/time") as reply:
        assert json.load(reply)["code"] == "00000"
    return (time.perf_counter() - begin) * 1000


async def confirming(
    base_url: str, server: dict[str, Any], folder: Path, rounds: int, store: str = ""
) -> dict[str, list[float]]:
    """Milliseconds from confirming to the POST's first byte, and of a bare GET before each."""
    desk = desk_on(base_url, server, folder, store)
    execution = desk.execution
    assert execution is not None
    confirms: list[float] = []
    gets: list[float] = []
    with outgoing_requests() as written:
        desk.start()
        await ready(desk)
        await asyncio.sleep(SETTLED_S)
        for _ in range(rounds):
            await asyncio.sleep(1.3)
            preview = await ready(desk)
            await asyncio.sleep(0.6)
            get_ms = await asyncio.to_thread(bare_get, base_url)
            written.clear()
            begin = time.perf_counter()
            try:
                sent = await execution.confirm(preview, preview.subject)
            except Exception as problem:
                print(f"  not sent: {problem}")
                continue
            confirms.append((next(sent.at for sent in written if sent.data.startswith(b"POST")) - begin) * 1000)
            gets.append(get_ms)
            async for _progress in execution.follow(sent):
                pass
        await desk.stop()
    return {"confirm": confirms, BARE_GET: gets}


async def restarted(server: dict[str, Any], folder: Path) -> float:
    """Seconds from the first good read of a restarted desk until the outcome is named: sent, and then the end."""
    desk = desk_on(server["base_url"], server, folder)
    execution = desk.execution
    assert execution is not None
    desk.start(())
    rows = (await desk.client.futures.positions(product_type=USDT)).rows
    side = Side.BUY if rows[0].hold_side == "long" else Side.SELL
    preview = await execution.preview(Target(rows[0].symbol, USDT, side, Decimal("0.001")))
    while execution.intents.trouble:  # noqa: ASYNC110 - as a person looks
        await asyncio.sleep(0.01)

    async def never(*_: object) -> bool:
        return False

    # The program ends with the POST sent and nothing after it written down.
    execution.intents.note = never  # type: ignore[assignment, method-assign]
    await execution.confirm(preview, preview.subject)
    await desk.stop()
    again = desk_on(server["base_url"], server, folder)
    assert again.execution is not None
    again.start(())
    while again.execution.intents.trouble:  # noqa: ASYNC110 - the account is known with the first good read
        await asyncio.sleep(0.005)
    assert again.execution.intents.unsettled(), "the journal says that it was sent, and not what became of it"
    begin = time.perf_counter()
    while again.execution.intents.unsettled():  # noqa: ASYNC110 - as a person looks
        await asyncio.sleep(0.005)
    taken = time.perf_counter() - begin
    await again.stop()
    return taken


def filled_journal(file: Path) -> None:
    """A journal with a hundred thousand reversals that came to their end."""
    details_of_state = {
        State.INTENDED: {
            "request": {"symbol": "BTCUSDT", "productType": "USDT-FUTURES", "size": "2", "side": "buy"},
            "title": "Reverse BTCUSDT LONG 2 and SHORT 0.5 to SHORT 2.5",
            "before": {"long": "2", "short": "0.5"},
            "after": [{"long": "0", "short": "2.5"}],
        },
        State.SENT: {"stamp_ms": 1_793_491_200_000},
        State.ACKNOWLEDGED: {"reply": {"orderId": "1506792903551221760", "clientOid": "tt-1"}},
        State.SETTLED: {"outcome": "reversed", "held": {"long": "0", "short": "2.5"}, "inferred": False},
    }
    journal = Journal(file)
    rows = [
        (f"tt-{number:025x}", "account", "USDT-FUTURES|BTCUSDT", "reversal", "settled", 0) for number in range(INTENTS)
    ]
    point = genesis(journal.id)
    events = []
    for row in rows:
        for state, details in details_of_state.items():
            event = EventRow(point.number + 1, *row[:4], str(state), 1, "", 0.0, "", json.dumps(details))
            point = ChainPoint(event.number, chained(point.chain, event))
            events.append((event.number, row[0], str(state), 1, "", 0.0, "", event.details, point.chain))
    connection = journal._connection
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO intent VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", events)
    connection.execute("COMMIT")
    journal.close()


def opened(file: Path) -> float:
    """Milliseconds until the newest intents and the open ones are read."""
    begin = time.perf_counter()
    journal = Journal(file)
    journal.open_intents()
    assert len(journal.newest()) == 200
    taken = (time.perf_counter() - begin) * 1000
    journal.close()
    return taken


def read_all(file: Path) -> float:
    """Milliseconds until bare sqlite3 has read every intent."""
    begin = time.perf_counter()
    connection = sqlite3.connect(file)
    assert len(connection.execute("SELECT * FROM intent").fetchall()) == INTENTS
    connection.close()
    return (time.perf_counter() - begin) * 1000


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with sandbox() as server:
            for round_trip, at_most in CONFIRM_TIMES.items():
                data = folder / str(round_trip)
                data.mkdir()
                with relayed(server["base_url"], round_trip) as base_url:
                    taken = asyncio.run(confirming(base_url, server, data, rounds))
                report.ratio(
                    f"reversal: confirm to the POST's first byte, round trip {round_trip} ms",
                    statistics.median(taken["confirm"]),
                    BARE_GET,
                    statistics.median(taken[BARE_GET]),
                    unit="ms",
                    at_most=at_most,
                    ratio=median_ratio(taken["confirm"], taken[BARE_GET]),
                )
        with sandbox("--no-limits") as server:
            named = by_turns(
                5,
                {
                    "named": lambda: asyncio.run(restarted(server, folder)) * 1000,
                    BARE_GET: lambda: bare_get(server["base_url"]),
                },
            )
        report.ratio(
            "reversal: outcome named after a restart",
            statistics.median(named["named"]),
            BARE_GET,
            statistics.median(named[BARE_GET]),
            unit="ms",
            at_most=NAMED_TIMES,
            ratio=median_ratio(named["named"], named[BARE_GET]),
        )
        file = folder / "journal.sqlite"
        filled_journal(file)
        opening = by_turns(7, {"opened": lambda: opened(file), READ_ALL: lambda: read_all(file)})
        report.ratio(
            f"reversal: journal of {INTENTS:,} intents opened",
            statistics.median(opening["opened"]),
            READ_ALL,
            statistics.median(opening[READ_ALL]),
            unit="ms",
            at_most=OPENED_TIMES,
            ratio=median_ratio(opening["opened"], opening[READ_ALL]),
        )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

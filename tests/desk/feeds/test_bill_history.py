"""Bills are read once each, whatever comes late, fails, cannot be decoded or is cut off between two pages."""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.desk.fixtures.bill_rows import bill
from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT, ScriptedClient
from tradetui.desk.archive.bills import bill_coverage, transfers
from tradetui.desk.archive.coverage import BillCoverage, TimeSpan
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.feeds.bills import (
    CLOSED_POSITIONS_EVERY_S,
    NEWEST_EVERY_S,
    REFUSED_AGAIN_S,
    BillHistory,
    BillsReader,
    ClosedPositionHistory,
)
from tradetui.desk.results.sums import result_lines
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused, Unreachable
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import Grouping
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.models.futures_accounts import ClosedPosition, FuturesBill
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.request import Request

BILLS, POSITIONS = "futures.bills", "futures.closed_positions"
DAY_MS = 86_400_000


async def history_of(client: ScriptedClient, archive: Archive) -> BillHistory:
    history = BillHistory(client, USDT, InlineDisk())  # type: ignore[arg-type]
    await history.attach(archive)
    return history


def kept(archive: Archive) -> list[tuple[int, str]]:
    return archive.connection.execute("SELECT time, amount FROM bill ORDER BY time, ordinal").fetchall()


def made_bills(count: int, step_ms: int = 3_600_000) -> list[FuturesBill]:
    """Bills a step apart, the last one a minute ago."""
    business_types = ("open_long", "contract_settle_fee", "close_long", "trans_from_exchange")
    return [
        bill(
            number,
            NOW_MS - 60_000 - (count - number) * step_ms,
            business_types[number % 4],
            str(number),
            symbol="BTCUSDT",
        )
        for number in range(count)
    ]


async def read_all(history: BillHistory, now: float = 0.0) -> None:
    await history.read_newest(now)
    while await history.read_gap(now):
        pass


async def test_ninety_days_are_read_page_by_page_and_a_second_session_reads_only_what_is_new() -> None:
    client, archive = ScriptedClient(), Archive(None)
    client.rows[BILLS, USDT] = [*made_bills(1_000)]
    history = await history_of(client, archive)
    await history.read_newest(0.0)
    assert 0 < len(kept(archive)) < 1_000
    assert history.has_gap(0.0)
    while await history.read_gap(0.0):
        pass
    assert len(kept(archive)) == 1_000
    spans = [request.end_time - request.start_time for _, request in client.requests]  # type: ignore[attr-defined]
    assert max(spans) <= 30 * DAY_MS
    coverage = bill_coverage(archive.connection, USDT)
    assert coverage == BillCoverage(NOW_MS - 90 * DAY_MS, NOW_MS)
    before = len(client.requests)
    client.clock.now_ms += 30_000
    client.rows[BILLS, USDT].append(bill(5_000, NOW_MS + 1_000, "contract_settle_fee", "-1"))
    await read_all(await history_of(client, archive))
    assert len(client.requests) <= before + 2
    assert len(kept(archive)) == 1_001


async def test_a_gap_is_taken_up_where_another_session_stopped() -> None:
    client, archive = ScriptedClient(), Archive(None)
    client.rows[BILLS, USDT] = [*made_bills(900)]
    first = await history_of(client, archive)
    await first.read_newest(0.0)
    stopped_at = len(client.requests)
    second = await history_of(client, archive)
    assert second.coverage == first.coverage
    while await second.read_gap(0.0):
        pass
    assert len(kept(archive)) == 900
    assert len(client.requests) - stopped_at < 11, "pages that are kept are not read again"


async def test_a_bill_that_comes_late_is_met_within_the_overlap() -> None:
    client, archive = ScriptedClient(), Archive(None)
    client.rows[BILLS, USDT] = [*made_bills(3)]
    history = await history_of(client, archive)
    await read_all(history)
    client.clock.now_ms += 20_000
    client.rows[BILLS, USDT].append(bill(900, NOW_MS - 20_000, "contract_settle_fee", "7"))
    await history.read_newest(30.0)
    assert len(kept(archive)) == 4


@pytest.mark.parametrize("error", [EndpointMissing("no such path"), PermissionRefused("no right")])
async def test_a_refusal_is_kept_as_the_reason_until_bills_are_read(error: ExchangeError) -> None:
    client, archive = ScriptedClient(), Archive(None)
    client.rows[BILLS, USDT] = [*made_bills(3)]
    client.failing[BILLS] = error
    history = await history_of(client, archive)
    with pytest.raises(type(error)):
        await history.read_newest(0.0)
    assert bill_coverage(archive.connection, USDT).refusal == error.reason
    assert not history.has_gap(0.0), "what is refused waits"
    client.failing.clear()
    await read_all(history, REFUSED_AGAIN_S)
    assert bill_coverage(archive.connection, USDT) == BillCoverage(NOW_MS - 90 * DAY_MS, NOW_MS)


async def test_a_page_with_a_bill_that_cannot_be_decoded_is_read_again_later() -> None:
    client, archive = ScriptedClient(), Archive(None)
    rows = made_bills(150)
    client.rows[BILLS, USDT] = [row for row in rows if row.bill_id != rows[120].bill_id]
    read = client.read

    async def with_one_undecodable(request: Request[Any]) -> Reply[Any]:
        reply = await read(request)
        broken = (UndecodableRow(1, "cTime", {"billId": rows[120].bill_id}),)
        holds = any(row.bill_id == rows[121].bill_id for row in reply.rows)
        return replace(reply, undecodable_rows=broken) if holds else reply

    client.read = with_one_undecodable  # type: ignore[method-assign]
    history = await history_of(client, archive)
    await read_all(history)
    assert len(kept(archive)) == 149
    (gap,) = bill_coverage(archive.connection, USDT).gaps
    moment = round(rows[120].c_time.timestamp() * 1000)
    assert gap.since <= moment <= gap.until
    client.read, client.rows[BILLS, USDT] = read, [*rows]  # type: ignore[method-assign]
    assert not history.has_gap(REFUSED_AGAIN_S - 1)
    await read_all(history, REFUSED_AGAIN_S)
    assert len(kept(archive)) == 150
    assert bill_coverage(archive.connection, USDT).gaps == ()


async def test_what_the_disk_refuses_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    client, archive = ScriptedClient(), Archive(None)
    client.rows[BILLS, USDT] = [*made_bills(40)]
    history = await history_of(client, archive)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(archive, "add_bills", full)
        await history.read_newest(0.0)
    assert kept(archive) == []
    await read_all(history)
    assert len(kept(archive)) == 40


async def test_what_the_exchange_keeps_no_longer_stays_a_gap() -> None:
    client, archive = ScriptedClient(), Archive(None)
    history = await history_of(client, archive)
    await read_all(history)
    client.clock.now_ms += 200 * DAY_MS
    await read_all(history)
    oldest = client.clock.now_ms - 90 * DAY_MS
    assert history.coverage.gaps == (TimeSpan(NOW_MS - 60_000, oldest),)
    assert not history.has_gap(10**9)


async def test_the_newest_come_twice_a_minute_and_the_past_between() -> None:
    client, archive = ScriptedClient(), Archive(None)
    client.rows[BILLS, USDT] = [*made_bills(900)]
    histories = {kind: BillHistory(client, kind, InlineDisk()) for kind in (USDT, COIN)}  # type: ignore[arg-type]
    reader = BillsReader(client, histories)  # type: ignore[arg-type]
    await reader.read()
    assert client.requests == [], "there is nowhere to keep them yet"
    for history in histories.values():
        await history.attach(archive)
    for _ in range(8):
        await reader.read()
    assert len(kept(archive)) == 900
    before = len(client.requests)
    await reader.read()
    assert len(client.requests) == before
    client.clock.seconds += NEWEST_EVERY_S
    await reader.read()
    assert len(client.requests) == before + 2
    client.failing[BILLS] = Unreachable("no route")
    client.clock.seconds += NEWEST_EVERY_S
    with pytest.raises(Unreachable):
        await reader.read()


def ended_position(number: int, at_ms: int) -> ClosedPosition:
    row = {"positionId": f"{10**18 + number}", "symbol": "BTCUSDT", "holdSide": "long", "totalFunding": "-1"}
    return ClosedPosition.from_row(row | {"ctime": str(at_ms - 5_000), "utime": str(at_ms)})


async def test_positions_that_ended_are_read_of_three_months_and_then_what_is_new() -> None:
    client, archive = ScriptedClient(page=4), Archive(None)
    rows: list[Record] = [ended_position(number, NOW_MS - 60_000 - number * DAY_MS) for number in range(10)]
    client.rows[POSITIONS, USDT] = rows
    history = ClosedPositionHistory(client, USDT, InlineDisk())  # type: ignore[arg-type]
    assert not history.is_due(0.0), "there is nowhere to keep them yet"
    await history.attach(archive)
    client.failing[POSITIONS] = Unreachable("no route")
    with pytest.raises(Unreachable):
        await history.read(0.0)
    assert not history.is_due(1.0)
    client.failing.clear()
    assert history.is_due(CLOSED_POSITIONS_EVERY_S)
    await history.read(CLOSED_POSITIONS_EVERY_S)
    assert archive.connection.execute("SELECT count(*) FROM closed_position").fetchone() == (10,)
    again = ClosedPositionHistory(client, USDT, InlineDisk())  # type: ignore[arg-type]
    await again.attach(archive)
    before = client.count(POSITIONS)
    await again.read(0.0)
    assert client.count(POSITIONS) - before <= 2, "only what is new is read"


def raw_bills(chance: random.Random) -> list[FuturesBill]:
    """Bills of twenty days by chance, some in the same millisecond, in two coins."""
    business_types = ("contract_settle_fee", "trans_from_exchange", "trans_to_contract", "open_long", "cash_gift_issue")
    rows, moment = [], NOW_MS - 20 * DAY_MS
    for number in range(chance.randint(1, 60)):
        moment += chance.choice((0, 0, 1, 900_000, DAY_MS // 3))
        rows.append(
            bill(
                number,
                min(moment, NOW_MS - 1),
                chance.choice(business_types),
                str(chance.randint(-10_000, 10_000) / 1000),
                fee=str(chance.randint(-9, 9) / 100),
                coin=chance.choice(("USDT", "USDC")),
                symbol=chance.choice(("BTCUSDT", "ETHUSDT")),
            )
        )
    return rows


async def check(seed: int) -> None:
    """Read by chance, with failures, restarts and late rows; compare with a sum in fractions from the raw rows."""
    chance = random.Random(seed)
    client, archive = ScriptedClient(page=chance.choice((1, 3, 100))), Archive(None)
    rows = raw_bills(chance)
    late = [row for row in rows if chance.random() < 0.2 and row.c_time.timestamp() * 1000 > NOW_MS - 50_000]
    client.rows[BILLS, USDT] = [row for row in rows if row not in late]

    def fail_sometimes(name: str, request: Request[Any]) -> None:
        client.failing = {BILLS: Unreachable("gone")} if chance.random() < 0.2 else {}

    client.before = fail_sometimes
    history = await history_of(client, archive)
    for _ in range(chance.randint(1, 12)):
        with suppress(Unreachable):
            await (history.read_newest(0.0) if chance.random() < 0.4 else history.read_gap(0.0))
        if chance.random() < 0.2:
            history = await history_of(client, archive)
    client.before = lambda name, request: None
    client.failing = {}
    client.rows[BILLS, USDT] = [*rows]
    client.clock.now_ms += 5_000
    await read_all(history)
    assert history.coverage.gaps == (), f"seed {seed}"
    funding: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    moved: dict[str, Fraction] = defaultdict(Fraction)
    since, until = NOW_MS - 13 * DAY_MS + chance.randrange(DAY_MS), NOW_MS - chance.choice((0, 1, QUARTER_MS, DAY_MS))
    for row in (row.received for row in rows):
        if since <= int(str(row["cTime"])) <= until:
            amount = Fraction(str(row["amount"])) + Fraction(str(row["fee"]))
            if row["businessType"] == "contract_settle_fee":
                funding[str(row["symbol"]), str(row["coin"])] += amount
            elif str(row["businessType"]).startswith("trans_"):
                moved[str(row["coin"])] += amount
    query = ResultQuery(Grouping.SYMBOL, NOW_MS, since, until, product_types=(USDT,))
    figures = {(row.group, row.coin): Fraction(row.funding or 0) for row in result_lines(archive.connection, query)}
    assert figures == dict(funding), f"seed {seed}"
    read: dict[str, Fraction] = defaultdict(Fraction)
    for transfer in transfers(archive.connection, (USDT,), since, until):
        read[transfer.coin] += Fraction(transfer.amount)
    assert read == moved, f"seed {seed}"


async def test_sums_equal_those_of_the_raw_rows_in_fractions() -> None:
    for seed in range(60):
        await check(seed)


@pytest.mark.campaign
async def test_ten_thousand_readings() -> None:
    for seed in range(10_000):
        await check(seed)

"""Append-only rows: no gap and no repetition, whatever comes in or fails between two pages."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT, ScriptedClient, exchange_id
from tradetui.desk.archive.archive_rows import Selection
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger.missing_fills import missing_spans
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import ended_trips
from tradetui.desk.feeds.archive_writing import UndecodableRows
from tradetui.desk.feeds.fills.fill_history import KEPT, FillHistory
from tradetui.desk.feeds.fills.fills_reader import FillsReader
from tradetui.desk.feeds.positions import PositionsReader, _RunningSum
from tradetui.desk.results.sums import result_lines
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first
from tradetui.exchange.errors import EndpointMissing, Rejected, Unreachable
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.results.periods import Grouping
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.requests.request import Request

FILLS, POSITIONS = "futures.fills", "futures.positions"


def history(client: ScriptedClient) -> FillHistory:
    return FillHistory(client, USDT, InlineDisk(), page=client.page)  # type: ignore[arg-type]


def reader(client: ScriptedClient, *histories: FillHistory) -> FillsReader:
    return FillsReader({history.product_type: history for history in histories}, client.clock)


async def archive_of(client: ScriptedClient) -> Archive:
    """An archive into which an earlier session read every fill there is."""
    archive = Archive(None)
    earlier = history(client)
    await earlier.attach(archive)
    await earlier.read_newest(0.0)
    while await earlier.read_gap():
        pass
    return archive


async def test_the_first_read_shows_one_page_and_the_past_follows_page_by_page() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(350)]
    past = history(client)
    fills = reader(client, past)
    first = await fills.read()
    assert first.note == "older fills are being read"
    assert len(first.rows) == 200
    assert client.count(FILLS) == 2
    for _ in range(4):
        last = await fills.read()
    assert past.read_at is not None and not past.gaps
    assert last.note == ""
    assert [row.record.trade_id for row in last.rows] == [fill(number).trade_id for number in reversed(range(350))]


def test_a_row_is_unreadable_once_however_it_came_and_until_it_is_read_well() -> None:
    unreadable, row = UndecodableRows("tradeId", "symbol"), {"tradeId": "7", "symbol": "BTCUSDT"}
    unreadable.add([UndecodableRow(0, "cTime", {**row, "cTime": time}) for time in ("9" * 400, "1e999")])
    unreadable.add([UndecodableRow(1, "not an object", "?")])
    assert len(unreadable) == 2
    unreadable.forget(["7|ETHUSDT", "8|BTCUSDT"])
    assert len(unreadable) == 2, "the trade id is another symbol's"
    unreadable.forget(["7|BTCUSDT"])
    assert len(unreadable) == 1


@pytest.mark.parametrize("keeps", [True, False])
async def test_one_trade_id_under_two_symbols_is_two_fills_and_two_positions(keeps: bool) -> None:
    client, symbols = ScriptedClient(page=10), ("BTCUSDT", "ETHUSDT")
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(number, symbol=symbol) for number in range(45) for symbol in symbols]
    past, archive = history(client), Archive(None)
    if keeps:
        await past.attach(archive)
    fills = reader(client, past)
    for _ in range(12):
        shown = await fills.read()
    assert not past.gaps
    assert sorted(row.record.symbol for row in shown.rows) == ["BTCUSDT"] * 45 + ["ETHUSDT"] * 45
    positions = PositionsReader(client, [USDT], {USDT: past}, InlineDisk())  # type: ignore[arg-type]
    assert {held.symbol: held.size for held in (await positions.read()).rows} == dict.fromkeys(symbols, 45)
    if keeps:
        assert archive.rows.count(Selection(FuturesFill)) == 90
        while archive.advance_ledger():
            pass
        (total,) = result_lines(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS))
        assert total.sums.volume == 90 * 100


async def test_a_quiet_poll_asks_for_what_is_new_only() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(90)]
    past = history(client)
    await past.read_newest(0.0)
    await past.read_gap()
    before = client.count(FILLS)
    await past.read_newest(1.0)
    _, request = client.requests[-1]
    assert client.count(FILLS) == before + 1
    assert request.start_time == NOW_MS - 10_000_000 + 89_000 - 60_000  # type: ignore[attr-defined]


async def test_a_fill_that_comes_late_is_found_within_the_overlap() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(0, 90, 2)]
    past = history(client)
    await past.read_newest(0.0)
    client.rows[FILLS, USDT].append(fill(31))
    client.rows[FILLS, USDT].append(fill(91))
    await past.read_newest(1.0)
    assert f"{USDT}|{fill(31).row_id}" in {row.row_id for row in past.rows}


async def test_of_a_fill_that_comes_again_with_other_figures_the_later_read_counts_everywhere() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(1, baseVolume="19", profit="9"), fill(2)]
    archive = Archive(None)
    past = history(client)
    fills = reader(client, past)
    await past.attach(archive)
    await fills.read()
    assert not archive.advance_ledger(), "the ledger has booked it as it came first"
    client.rows[FILLS, USDT] = [fill(1, baseVolume="18", profit="8"), fill(2)]
    reading = await fills.read()
    assert [row.record.base_volume for row in reading.rows] == [1, 18]
    assert reading.note == f"1 fill corrected by the exchange, last {fill(1).trade_id}"
    assert [row.record.base_volume for row in archive.rows.newest(FuturesFill, USDT, 9)] == [1, 18]
    while archive.advance_ledger():
        pass
    assert archive.connection.execute("SELECT sum(gross) FROM ledger_quarter").fetchone()[0] == 8


async def test_what_was_read_counts_over_what_an_archive_held_before() -> None:
    client = ScriptedClient()
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1, baseVolume="19"))])
    client.rows[FILLS, USDT] = [fill(1, baseVolume="18")]
    past = history(client)
    await past.read_newest(0.0)
    await past.attach(archive)
    assert [row.record.base_volume for row in past.rows] == [18]
    assert [row.record.base_volume for row in archive.rows.newest(FuturesFill, USDT, 9)] == [18]


async def test_a_session_reads_again_what_the_one_before_it_read_last() -> None:
    client = ScriptedClient()
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, row) for row in (fill(1, baseVolume="19"), fill(500))])
    client.rows[FILLS, USDT] = [fill(1, baseVolume="18"), fill(500)]
    past = history(client)
    await past.attach(archive)
    await past.read_newest(0.0)
    assert [row.record.base_volume for row in archive.rows.newest(FuturesFill, USDT, 9)] == [1, 18]
    assert past.read_at is not None and not past.gaps


async def test_a_time_beyond_now_hides_no_fill_that_comes_after_it() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(1, NOW_MS + 10**9)]
    past = history(client)
    await past.read_newest(0.0)
    client.rows[FILLS, USDT] = [fill(1), fill(2)]
    await past.read_newest(1.0)
    assert [row.record for row in newest_first(past.rows)] == [fill(2), fill(1)]


async def test_a_long_absence_is_closed_without_a_gap() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(50)]
    archive = Archive(None)
    past = history(client)
    await past.attach(archive)
    await past.read_newest(0.0)
    client.rows[FILLS, USDT] += [fill(number) for number in range(50, 2_000)]
    again = history(client)
    await again.attach(archive)
    await again.read_newest(1.0)
    while await again.read_gap():
        pass
    assert archive.rows.count(Selection(FuturesFill)) == 2_000
    assert len(list(again.rows)) == KEPT


async def test_a_trail_that_breaks_off_is_taken_up_where_it_broke_even_by_another_session() -> None:
    client = ScriptedClient(page=10)
    client.rows[FILLS, USDT] = [fill(number) for number in range(20)]
    archive = Archive(None)
    past = history(client)
    await past.attach(archive)
    await past.read_newest(0.0)
    client.rows[FILLS, USDT] += [fill(number, NOW_MS - 5_000_000 + number * 1_000) for number in range(20, 75)]
    pages = 0

    def fails_on_the_third(name: str, request: object) -> None:
        nonlocal pages
        pages += 1
        if pages == 3:
            raise Unreachable("gone")

    client.before = fails_on_the_third
    with suppress(Unreachable):
        await past.read_newest(1.0)
    assert past.gaps
    client.before = lambda name, request: None
    another = history(client)
    await another.attach(archive)
    assert another.gaps == past.gaps
    await another.read_newest(2.0)
    while await another.read_gap():
        pass
    assert archive.rows.count(Selection(FuturesFill)) == 75


async def test_two_fills_that_differ_in_their_ids_alone_are_two() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(1)]
    past = history(client)
    await past.read_newest(0.0)
    client.rows[FILLS, USDT].append(fill(1, tradeId=f"{10**18 + 2}"))
    await past.read_newest(1.0)
    assert len(list(past.rows)) == 2
    assert past.correction == ""


@pytest.mark.parametrize("closes_first", [True, False])
async def test_halves_of_one_trade_that_come_on_two_pages_are_two_fills(closes_first: bool) -> None:
    client = ScriptedClient()
    closing, opening = fill(1, tradeSide="close", side="sell"), fill(1)
    first, second = (closing, opening) if closes_first else (opening, closing)
    client.rows[FILLS, USDT] = [first]
    past = history(client)
    await past.read_newest(0.0)
    for row in (second, first, second):
        client.rows[FILLS, USDT] = [row]
        await past.read_newest(1.0)
        fills = {row.record.trade_id: row.record.trade_side for row in past.rows}
        assert fills == {closing.trade_id: "close", f"{closing.trade_id} buy open": "open"}


async def test_a_session_that_reads_before_its_archive_is_there_keeps_what_it_read() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(150)]
    archive = await archive_of(client)
    client.rows[FILLS, USDT] = [fill(number) for number in range(140, 300)]  # the exchange forgets the oldest
    past = history(client)
    await past.read_newest(1.0)
    await past.attach(archive)
    while await past.read_gap():
        pass
    assert archive.rows.count(Selection(FuturesFill)) == 300
    assert past.read_at is not None and not past.gaps


async def test_a_start_before_the_binding_is_given_up_after_one_refusal() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(10)]
    past = history(client)
    await past.read_newest(0.0)
    await past.read_gap()

    def refuses(name: str, request: object) -> None:
        if getattr(request, "start_time", None) is not None:
            raise Rejected("startTime is earlier than the binding time", code="40408")

    client.before = refuses
    with pytest.raises(Rejected):
        await past.read_newest(1.0)
    client.rows[FILLS, USDT].append(fill(11))
    await past.read_newest(2.0)
    assert f"{USDT}|{fill(11).row_id}" in {row.row_id for row in past.rows}


async def test_a_gap_that_is_refused_is_never_taken_for_closed() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(150)]
    past = history(client)
    fills = reader(client, past)
    refuse = True

    def refuses(name: str, request: object) -> None:
        if refuse and getattr(request, "id_less_than", None) is not None:
            raise Rejected("Parameter idLessThan error", code="40020")

    client.before = refuses
    for _ in range(3):
        reading = await fills.read()
        assert reading.note == "older fills wait: The exchange refused the request"
        assert reading.error is None
        assert past.gaps
    refuse = False
    assert len((await fills.read()).rows) == 150
    await fills.read()
    assert past.read_at is not None and not past.gaps


async def test_older_fills_are_missing_where_the_same_page_comes_again() -> None:
    class IgnoresCursor(ScriptedClient):
        async def read(self, request: Request[Any]) -> Reply[Any]:
            return await super().read(request.changed(id_less_than=None))

    client = IgnoresCursor()
    client.rows[FILLS, USDT] = [fill(number) for number in range(150)]
    past = history(client)
    fills = reader(client, past)
    for _ in range(3):
        reading = await fills.read()
        assert reading.note == "older fills wait: The answer cannot be read"
        assert len(reading.rows) == 100
        assert past.gaps


async def test_one_product_type_down_takes_nothing_from_the_others() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(1)]
    client.rows[FILLS, COIN] = [fill(2)]

    def refuses(name: str, request: object) -> None:
        if getattr(request, "product_type", None) == COIN:
            raise Rejected("unknown product type", code="40020")

    client.before = refuses
    coin = FillHistory(client, COIN, InlineDisk())  # type: ignore[arg-type]
    reading = await reader(client, history(client), coin).read()
    assert [row.product_type for row in reading.rows] == [USDT]
    assert isinstance(reading.error, Rejected)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), page=st.integers(2, 9), fault=st.sampled_from([0.0, 0.1, 0.3]))
def test_no_row_is_lost_or_repeated(seed: int, page: int, fault: float) -> None:
    """Rows come in before any page, some of them late, and any page may fail; in the end all are there once."""

    async def scenario() -> None:
        random = Random(seed)
        client = ScriptedClient(page=page)
        rows = client.rows[FILLS, USDT] = [fill(number) for number in range(0, 60, 2)]
        number, weather = 60, fault

        def meanwhile(name: str, request: object) -> None:
            nonlocal number
            for _ in range(random.choice((0, 0, 1, 2, page + 1))):
                number += 2
                rows.append(fill(number))
            if random.random() < 0.1:
                late = fill(number - random.randrange(1, 20, 2))
                if all(row.row_id != late.row_id for row in rows):
                    rows.append(late)
            if random.random() < weather:
                raise Unreachable("no answer")

        archive = Archive(None)
        past = history(client)
        attach_at = random.randrange(0, 4)
        client.before = meanwhile
        for turn in range(12):
            if turn == attach_at:
                await past.attach(archive)
            with suppress(Unreachable):
                await past.read_newest(float(turn))
                await past.read_gap()
            keys = [row.row_id for row in past.rows]
            assert len(keys) == len(set(keys))
        client.before = lambda name, request: None
        await past.read_newest(99.0)
        while await past.read_gap():
            pass
        row_ids = {row.row_id for row in rows}
        kept = {row.record.row_id for _, row in archive.rows.page(Selection(FuturesFill), None, 10_000)}
        assert row_ids == kept
        newest = newest_first(ProductRow(USDT, row) for row in rows)[:KEPT]
        assert {row.record.row_id for row in newest} == {row.record.row_id for row in past.rows}

    asyncio.run(scenario())


class Misspelt(ScriptedClient):
    """Rows whose keys are `misspelt` cannot be decoded."""

    def __init__(self, page: int = 100) -> None:
        super().__init__(page)
        self.misspelt: set[str] = set()

    async def read(self, request: Request[Any]) -> Reply[Any]:
        reply = await super().read(request)
        rows = tuple(row for row in reply.rows if exchange_id(row) not in self.misspelt)
        undecodable = tuple(
            UndecodableRow(index, "price", {"tradeId": exchange_id(row), "symbol": "BTCUSDT"})
            for index, row in enumerate(reply.rows)
            if exchange_id(row) in self.misspelt
        )
        return replace(reply, rows=rows, undecodable_rows=undecodable)


@pytest.mark.parametrize("bad", [[0], [7], [40], [88, 89], [20, 21, 22, 23, 24, 25, 26, 27, 28, 29]])
async def test_a_row_that_could_not_be_decoded_is_read_again_until_it_can(bad: list[int]) -> None:
    client = Misspelt(page=10)
    client.rows[FILLS, USDT] = [fill(number) for number in range(90)]
    client.misspelt = {fill(number).trade_id for number in bad}
    past = history(client)
    await past.read_newest(0.0)
    while await past.read_gap():
        pass
    assert len(past.undecodable_pages.undecodable_rows) == len(bad)
    client.rows[FILLS, USDT] += [fill(number) for number in range(200, 205)]  # a minute and more goes by
    await past.read_newest(10.0)
    assert len(list(past.rows)) == 95 - len(bad)
    client.misspelt.clear()
    await past.read_newest(20.0)
    assert not len(past.undecodable_pages.undecodable_rows)
    assert {row.record.trade_id for row in past.rows} == {exchange_id(row) for row in client.rows[FILLS, USDT]}


async def test_what_is_never_decoded_costs_one_read_a_minute() -> None:
    client = Misspelt()
    client.rows[FILLS, USDT] = [fill(number) for number in range(90)]
    client.misspelt = {fill(4).trade_id}
    past = history(client)
    for second in range(600):
        await past.read_newest(float(second))
    assert client.count(FILLS) - 600 <= 6 + 600 / 60
    assert len(past.undecodable_pages.undecodable_rows) == 1


async def test_what_was_not_decoded_is_read_by_the_next_session() -> None:
    client = Misspelt()
    client.rows[FILLS, USDT] = [fill(number) for number in range(90)]
    client.misspelt = {fill(4).trade_id}
    archive = Archive(None)
    first = history(client)
    await first.attach(archive)
    await first.read_newest(0.0)
    while await first.read_gap():
        pass
    client.misspelt.clear()
    second = history(client)
    await second.attach(archive)
    await second.read_newest(0.0)
    while await second.read_gap():
        pass
    kept = {row.record.trade_id for _, row in archive.rows.page(Selection(FuturesFill), None, 1_000)}
    assert kept == {fill(number).trade_id for number in range(90)}


async def test_only_fills_that_are_shown_stay_in_memory() -> None:
    client = ScriptedClient()
    client.rows[FILLS, USDT] = [fill(number) for number in range(1_000, 1_600)]
    client.rows[FILLS, COIN] = [fill(number) for number in range(600)]
    histories = [FillHistory(client, product_type, InlineDisk()) for product_type in (USDT, COIN)]  # type: ignore[arg-type]
    shown = reader(client, *histories)
    for _ in range(15):
        rows = (await shown.read()).rows
    assert len(rows) == KEPT
    assert all(row.product_type is USDT for row in rows)
    kept = {history.product_type: len(list(history.rows)) for history in histories}
    assert kept[USDT] == KEPT
    assert 0 < kept[COIN] <= 61, "its last minute, which is read again"
    client.rows[FILLS, COIN].append(fill(2_000))
    assert (await shown.read()).rows[0].product_type is COIN


DAY_MS = 86_400_000


class NinetyDays(ScriptedClient):
    """Serves what the exchange keeps: fills of the last ninety days."""

    async def read(self, request: Request[Any]) -> Reply[Any]:
        reply = await super().read(request)
        kept_from = self.clock.now_ms - 90 * DAY_MS
        rows = tuple(row for row in reply.rows if row.c_time.timestamp() * 1000 >= kept_from)
        return replace(reply, rows=rows, cursor=exchange_id(rows[-1]) if rows else None)


async def read_all(client: ScriptedClient, archive: Archive, *, pages: int = 1_000) -> FillHistory:
    """A session that reads the newest fills, and so many pages of what is missing."""
    fills = history(client)
    await fills.attach(archive)
    await fills.read_newest(0.0)
    for _ in range(pages):
        if not await fills.read_gap():
            break
    return fills


def complete(archive: Archive, now_ms: int, since: int | None, until: int | None = None) -> set[bool]:
    while archive.advance_ledger(over_gaps=True):
        pass
    query = ResultQuery(Grouping.TOTAL, now_ms, since, now_ms if until is None else until, None, (USDT,))
    return {row.is_complete for row in result_lines(archive.connection, query)}


async def test_a_gap_of_fills_that_the_exchange_keeps_no_longer_is_never_taken_for_read() -> None:
    client, archive = NinetyDays(page=10), Archive(None)
    client.rows[FILLS, USDT] = [fill(number, NOW_MS - (50 - number) * DAY_MS) for number in range(50)]
    await read_all(client, archive, pages=0)
    first_known = NOW_MS - 10 * DAY_MS
    client.clock.now_ms += 95 * DAY_MS
    later = await read_all(client, archive)
    assert (later.gaps, archive.gaps(USDT)) == ([], []), "nothing is read again and again"
    archive.note_read(USDT, client.clock.now_ms)
    assert complete(archive, client.clock.now_ms, first_known - DAY_MS) == {False}
    read_then = NOW_MS - 2 * DAY_MS
    assert complete(archive, client.clock.now_ms, None, read_then) == {True}, "what is known alone was asked for"
    assert complete(archive, client.clock.now_ms, first_known, read_then) == {True}
    assert complete(archive, client.clock.now_ms, first_known) == {False}, "between the sessions it knows nothing"


async def test_what_was_made_while_no_session_ran_for_longer_than_it_is_kept_is_lost() -> None:
    client, archive = NinetyDays(), Archive(None)
    client.rows[FILLS, USDT] = [
        fill(0, NOW_MS - 2 * DAY_MS),
        fill(1, NOW_MS - DAY_MS, tradeSide="close"),
        fill(2, NOW_MS - 1_000),
    ]
    await read_all(client, archive)
    client.clock.now_ms += 200 * DAY_MS
    now_ms, kept_from = client.clock.now_ms, NOW_MS + 110 * DAY_MS
    client.rows[FILLS, USDT] += [fill(3, NOW_MS + 30 * DAY_MS, tradeSide="close"), fill(4, NOW_MS + 150 * DAY_MS)]
    for _ in range(2):  # the next session knows it too
        later = await read_all(client, archive)
        archive.note_read(USDT, now_ms)
        assert later.gaps == []
        assert complete(archive, now_ms, None) == {False}
        assert complete(archive, now_ms, None, NOW_MS - DAY_MS // 2) == {True}
        assert complete(archive, now_ms, kept_from) == {True}
    (span,) = (span for span in missing_spans(archive.connection, now_ms) if span.is_lost)
    assert NOW_MS - DAY_MS < span.since < NOW_MS and span.until == kept_from - 1
    before, running = ended_trips(archive.connection, ResultQuery(Grouping.TOTAL, now_ms))
    assert [before.trip.ended, running.trip.ended] == [False, True], "nobody knows how the one that ran then ended"
    assert not archive.prove_starts(USDT, {("BTCUSDT", True): Decimal(2)}, now_ms), "the sizes agree by chance"


async def test_positions_are_summed_from_behind_the_fills_that_are_lost() -> None:
    client, archive = NinetyDays(), Archive(None)
    client.rows[FILLS, USDT] = [fill(0, NOW_MS - DAY_MS, baseVolume="7")]
    await read_all(client, archive)
    client.clock.now_ms += 200 * DAY_MS
    client.rows[FILLS, USDT] += [fill(1, NOW_MS + DAY_MS, tradeSide="close", baseVolume="7")]
    client.rows[FILLS, USDT] += [fill(2, NOW_MS + 150 * DAY_MS, baseVolume="2")]
    fills = await read_all(client, archive)
    book = _RunningSum.of_all(fills).book
    assert [position.size for position in book.positions()] == [2]


@pytest.mark.parametrize("reads_first", [0, 1, 2])
async def test_an_account_that_made_nothing_for_months_while_sessions_ran_has_lost_nothing(reads_first: int) -> None:
    client, archive = NinetyDays(), Archive(None)
    client.rows[FILLS, USDT] = [fill(0, NOW_MS - DAY_MS, baseVolume="7")]
    for _ in range(5):
        await read_all(client, archive)
        client.clock.now_ms += 40 * DAY_MS
    client.rows[FILLS, USDT].append(fill(1, client.clock.now_ms - 1_000, baseVolume="2"))
    fills = history(client)
    if reads_first:  # the archive is there later than the first page, or than the second
        await fills.read_newest(0.0)
    if reads_first == 2:
        await fills.read_gap()
    await fills.attach(archive)
    for _ in range(3):
        await fills.read_newest(0.0)
        await fills.read_gap()
    archive.note_read(USDT, client.clock.now_ms)
    assert not [span for span in missing_spans(archive.connection, client.clock.now_ms) if span.is_lost]
    assert [position.size for position in _RunningSum.of_all(fills).book.positions()] == [9]


@pytest.mark.parametrize("reads_first", [0, 1, 2])
async def test_fills_lost_before_an_account_rested_are_lost_also_where_it_was_read_before_the_archive_opened(
    reads_first: int,
) -> None:
    client, archive = NinetyDays(), Archive(None)
    client.rows[FILLS, USDT] = [fill(0, NOW_MS - DAY_MS, baseVolume="7")]
    await read_all(client, archive)
    client.clock.now_ms += 200 * DAY_MS
    fills = history(client)
    for _ in range(reads_first):
        await fills.read_newest(0.0)
    await fills.attach(archive)
    await fills.read_newest(0.0)
    assert [span for span in missing_spans(archive.connection, client.clock.now_ms) if span.is_lost]
    assert not _RunningSum.of_all(fills).book.positions()


@pytest.mark.parametrize("reads_first", [0, 1])
@pytest.mark.parametrize("new_fills", [0, 1])
async def test_positions_of_before_the_fills_that_are_lost_are_never_shown(
    reads_first: int, new_fills: int, tmp_path: Path
) -> None:
    client, archive = NinetyDays(), Archive(tmp_path / "archive.sqlite")
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(0, NOW_MS - DAY_MS, baseVolume="7")]
    await read_all(client, archive)
    client.clock.now_ms += 200 * DAY_MS
    client.rows[FILLS, USDT] += [fill(1, client.clock.now_ms - DAY_MS, baseVolume="2")][:new_fills]
    fills = history(client)
    positions = PositionsReader(client, [USDT], {USDT: fills}, InlineDisk())  # type: ignore[arg-type]
    for _ in range(reads_first):
        await positions.read()
    await fills.attach(archive)
    for _ in range(3):
        client.clock.now_ms += 5_000
        await fills.read_newest(client.clock.monotonic())
        reading = await positions.read()
    assert [position.size for position in reading.rows] == [2][:new_fills]

"""Pending orders, triggers and positions by their row laws."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.desk.fixtures.exchange_rows import fill, order, trigger
from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT, ScriptedClient
from tradetui.desk.archive.archive_rows import Selection
from tradetui.desk.archive.database import Archive
from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.desk.feeds.orders import AccountsReader, OrdersReader
from tradetui.desk.feeds.polling.feed import Feed, Reading, StillReading
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart
from tradetui.desk.feeds.positions import PositionsReader
from tradetui.desk.feeds.triggers import HIDDEN_READS, TriggersReader
from tradetui.desk.reversal.market_state import Held
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.errors import (
    AuthenticationFailed,
    Busy,
    EndpointMissing,
    PermissionRefused,
    RateLimited,
    Unreachable,
    UnreadableReply,
)
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.positions import FromFills, Position
from tradetui.wire.enums import QUERIED_PLAN_TYPES
from tradetui.wire.models.futures import FuturesFill, LiveTriggersRequest, PendingOrder, TriggerOrder
from tradetui.wire.models.futures_accounts import FuturesAccount, ReportedPosition
from tradetui.wire.product_types import ProductType
from tradetui.wire.requests.request import Request

ORDERS, TRIGGERS, LIVE = "futures.pending_orders", "futures.triggers", "futures.live_triggers"
POSITIONS, FILLS = "futures.positions", "futures.fills"


async def test_every_page_of_both_states_is_read_and_what_is_absent_is_gone() -> None:
    client = ScriptedClient()
    client.rows[ORDERS, USDT] = [*(order(number) for number in range(230)), order(500, "partially_filled")]
    client.rows[ORDERS, COIN] = [order(900)]
    orders = OrdersReader(client, [USDT, COIN])  # type: ignore[arg-type]
    reading = await orders.read()
    assert len(reading.rows) == 232
    assert [row.time_order for row in reading.rows] == sorted((row.time_order for row in reading.rows), reverse=True)
    assert reading.rows[0].record.order_id == order(900).order_id
    client.rows[ORDERS, USDT] = client.rows[ORDERS, USDT][3:]
    assert len((await orders.read()).rows) == 229


async def test_what_came_beside_a_part_that_is_still_being_read_stays_when_its_next_read_fails() -> None:
    parts = JoinedReads[ProductRow[PendingOrder]]([USDT, COIN])
    results: dict[ProductType, ProductPart[ProductRow[PendingOrder]] | Exception]
    results = {USDT: ProductPart([ProductRow(USDT, order(1))]), COIN: StillReading("2 pages so far")}

    async def read_one(product_type: ProductType) -> ProductPart[ProductRow[PendingOrder]]:
        result = results[product_type]
        if isinstance(result, Exception):
            raise result
        return result

    with pytest.raises(StillReading):
        await parts.read(read_one)
    results = {USDT: Unreachable(), COIN: ProductPart([ProductRow(COIN, order(2))])}
    assert isinstance(await parts.read(read_one), Unreachable)
    assert [row.product_type for row in parts.rows] == [USDT, COIN]


async def test_a_coins_account_that_comes_twice_is_one() -> None:
    client = ScriptedClient()
    rows = [{"marginCoin": coin, "available": "1", "accountEquity": "1"} for coin in ("USDT", "USDC", "USDT")]
    client.rows["futures.accounts", USDT] = [FuturesAccount.from_row(row) for row in rows]
    reading = await AccountsReader(client, [USDT]).read()  # type: ignore[arg-type]
    assert [row.record.margin_coin for row in reading.rows] == ["USDT", "USDC"]


class Sampler:
    """Keeps the equity that it is given."""

    def __init__(self) -> None:
        self.samples: list[list[FuturesAccount]] = []

    async def take(self, accounts: list[FuturesAccount], _: int) -> None:
        self.samples.append(accounts)


async def test_of_two_rows_of_a_coin_that_differ_none_is_believed_and_no_equity_is_sampled() -> None:
    client, sampler = ScriptedClient(), Sampler()
    rows = [{"marginCoin": coin, "accountEquity": equity} for coin, equity in (("USDC", "1"), ("USDT", "5"))]
    client.rows["futures.accounts", USDT] = [FuturesAccount.from_row(row) for row in rows]
    accounts = AccountsReader(client, [USDT], sampler)  # type: ignore[arg-type]
    await accounts.read()
    assert len(sampler.samples) == 1
    client.rows["futures.accounts", USDT].append(FuturesAccount.from_row({"marginCoin": "USDT", "accountEquity": "6"}))
    reading = await accounts.read()
    assert [row.record.margin_coin for row in reading.rows] == ["USDC"]
    assert reading.undecodable_rows == 1
    assert len(sampler.samples) == 1


async def test_an_order_older_than_any_window_is_found_since_no_time_is_asked_for() -> None:
    client = ScriptedClient()
    client.rows[ORDERS, USDT] = [order(1, cTime=str(NOW_MS - 400 * 86_400_000))]
    reading = await OrdersReader(client, [USDT]).read()  # type: ignore[arg-type]
    assert len(reading.rows) == 1
    assert all(
        getattr(request, "start_time", None) is None and getattr(request, "end_time", None) is None
        for _, request in client.requests
    )


async def test_an_order_that_fills_between_the_two_reads_is_shown_once_as_it_is_now() -> None:
    client = ScriptedClient()
    client.rows[ORDERS, USDT] = [order(1)]

    def fills_in_part(name: str, request: object) -> None:
        if getattr(request, "status", None) == "partially_filled":
            client.rows[ORDERS, USDT] = [order(1, "partially_filled")]

    client.before = fills_in_part
    reading = await OrdersReader(client, [USDT]).read()  # type: ignore[arg-type]
    assert [row.record.status for row in reading.rows] == ["partially_filled"]


async def test_rows_none_of_which_can_be_read_are_an_error_beside_the_last_good_ones() -> None:
    client = ScriptedClient()
    client.rows[ORDERS, USDT] = [order(1), order(2)]
    feed = Feed("orders", OrdersReader(client, [USDT]), 2.0, client.clock)  # type: ignore[arg-type]
    await feed.poll()
    client.unreadable.add(ORDERS)
    client.clock.seconds += 60
    await feed.poll()
    assert len(feed.snapshot.rows) == 2
    assert feed.snapshot.error is not None and "2 rows came, none readable" in feed.snapshot.error.sentence
    assert str(feed.freshness) in ("stale", "dead")


async def test_positions_and_fills_none_of_which_can_be_read_are_not_taken_for_none() -> None:
    client = ScriptedClient()
    client.rows[POSITIONS, USDT] = [ReportedPosition.from_row({"symbol": "BTCUSDT", "holdSide": "long", "total": "1"})]
    client.rows[FILLS, USDT] = [fill(1)]
    client.unreadable |= {POSITIONS, FILLS}
    with pytest.raises(UnreadableReply):
        await PositionsReader(client, [USDT]).read()  # type: ignore[arg-type]
    with pytest.raises(UnreadableReply):
        await FillHistory(client, USDT, InlineDisk()).read_newest(0.0)  # type: ignore[arg-type]


def triggers(client: ScriptedClient) -> TriggersReader:
    return TriggersReader(client, [USDT], InlineDisk())  # type: ignore[arg-type]


async def test_all_three_plan_types_are_merged() -> None:
    client = ScriptedClient()
    client.failing[LIVE] = EndpointMissing("no", code="40404")
    client.rows[TRIGGERS, USDT] = [trigger(1), trigger(2, planType="track_plan"), trigger(3, planType="profit_loss")]
    reader = triggers(client)
    reading = await reader.read()
    assert {row.record.order_id for row in reading.rows} == {trigger(number).order_id for number in (1, 2, 3)}
    assert reader.waiting is None
    assert reading.error is None


@pytest.mark.parametrize("reports_waiting", [True, False])
async def test_a_plan_made_long_ago_and_ended_now_appears_and_comes_first(reports_waiting: bool) -> None:
    client = ScriptedClient()
    old = trigger(1, "live")
    if reports_waiting:
        client.rows[LIVE, USDT] = [old]
    else:
        client.failing[LIVE] = EndpointMissing("no", code="40404")
    client.rows[TRIGGERS, USDT] = [trigger(number) for number in range(10, 460)]
    reader = triggers(client)
    for _ in range(8):
        await reader.read()
    ended = trigger(1, "cancelled", NOW_MS)
    client.rows[LIVE, USDT] = []
    client.rows[TRIGGERS, USDT].append(ended)
    polls = 0
    while True:
        polls += 1
        reading = await reader.read()
        if any(row.record.order_id == ended.order_id for row in reading.rows):
            break
        assert polls < 10
    assert polls == 1 if reports_waiting else polls <= 5
    assert reading.rows[0].record.order_id == ended.order_id
    assert reading.rows[0].record.plan_status == "cancelled"


async def test_a_row_that_changes_is_updated_in_place() -> None:
    client = ScriptedClient()
    client.rows[TRIGGERS, USDT] = [trigger(1, "executing"), trigger(2)]
    reader = triggers(client)
    archive = Archive(None)
    await reader.attach(archive)
    await reader.read()
    client.rows[TRIGGERS, USDT] = [trigger(1, "executed", executeOrderId="7"), trigger(2)]
    reading = await reader.read()
    assert [row.record.execute_order_id for row in reading.rows if row.record.order_id == trigger(1).order_id] == ["7"]
    assert len(reading.rows) == 2
    assert archive.rows.count(Selection(TriggerOrder)) == 2


async def test_while_nobody_looks_the_waiting_ones_are_read_each_time_and_the_history_now_and_then() -> None:
    client = ScriptedClient()
    client.rows[LIVE, USDT] = [trigger(1, "live")]
    client.rows[TRIGGERS, USDT] = [trigger(2)]
    reader = triggers(client)
    await reader.read()
    reader.is_hidden = True
    before = client.count(TRIGGERS)
    for _ in range(2):
        await reader.read()
    assert client.count(TRIGGERS) == before
    client.rows[LIVE, USDT] = []
    client.rows[TRIGGERS, USDT].append(trigger(1, "executed", NOW_MS))
    reading = await reader.read()
    assert reading.rows[0].record.order_id == trigger(1).order_id, "one that ended is asked for at once"
    looked_up = client.count(TRIGGERS)
    for _ in range(HIDDEN_READS):
        await reader.read()
    # A page of each plan type; the next piece of the sweep has another turn.
    assert client.count(TRIGGERS) == looked_up + len(QUERIED_PLAN_TYPES)


async def test_the_first_read_of_all_reads_the_history_though_nobody_looks() -> None:
    client = ScriptedClient()
    client.rows[LIVE, USDT] = [trigger(1, "live")]
    client.rows[TRIGGERS, USDT] = [trigger(2)]
    reader = triggers(client)
    reader.is_hidden = True
    assert [row.record.order_id for row in (await reader.read()).rows] == [trigger(2).order_id]


async def test_waiting_triggers_are_told_beside_the_history() -> None:
    client = ScriptedClient()
    client.rows[LIVE, USDT] = [trigger(1, "live"), trigger(2, "live", planType="track_plan")]
    reader = triggers(client)
    assert (await reader.read()).rows == []
    assert reader.waiting is not None
    assert len(reader.waiting) == 2


async def test_waiting_triggers_none_of_which_can_be_read_are_an_error_beside_the_last_good_ones() -> None:
    client = ScriptedClient()
    client.rows[LIVE, USDT] = [trigger(1, "live")]
    client.rows[TRIGGERS, USDT] = [trigger(2)]
    reader = triggers(client)
    await reader.read()
    client.unreadable.add(LIVE)
    assert isinstance((await reader.read()).error, UnreadableReply)
    assert reader.waiting is not None
    assert [row.record.order_id for row in reader.waiting] == [trigger(1).order_id]


async def test_one_plan_type_that_cannot_be_read_hides_no_waiting_triggers_of_the_others() -> None:
    client = ScriptedClient()
    client.rows[LIVE, USDT] = [trigger(1, "live"), trigger(2, "live", planType="track_plan")]
    client.rows[TRIGGERS, USDT] = [trigger(3)]

    def of_normal_plans(name: str, request: Request[Any]) -> None:
        is_unreadable = isinstance(request, LiveTriggersRequest) and request.plan_type == QUERIED_PLAN_TYPES[0]
        client.unreadable = {LIVE} if is_unreadable else set()

    client.before = of_normal_plans
    reader = triggers(client)
    reading = await reader.read()
    assert isinstance(reading.error, UnreadableReply)
    assert (reading.undecodable_rows, reader.undecodable_waiting) == (1, 1)
    assert [row.record.order_id for row in reader.waiting or ()] == [trigger(2).order_id]


async def test_triggers_seen_before_the_archive_was_there_are_kept_and_earlier_ones_come_back() -> None:
    client = ScriptedClient()
    archive = Archive(None)
    first = triggers(client)
    client.rows[TRIGGERS, USDT] = [trigger(1)]
    await first.read()
    await first.attach(archive)
    client.rows[TRIGGERS, USDT] = [trigger(2)]
    second = triggers(client)
    await second.read()
    await second.attach(archive)
    assert {row.record.order_id for row in (await second.read()).rows} == {trigger(1).order_id, trigger(2).order_id}


def position(symbol: str = "BTCUSDT", total: str = "3") -> ReportedPosition:
    row = {"symbol": symbol, "holdSide": "long", "total": total, "marginCoin": "USDT", "posMode": "hedge_mode"}
    return ReportedPosition.from_row(row)


def positions(client: ScriptedClient) -> PositionsReader:
    return PositionsReader(client, [USDT])  # type: ignore[arg-type]


async def test_reported_positions_are_chosen_where_they_answer() -> None:
    client = ScriptedClient()
    client.rows[POSITIONS, USDT] = [position(), position("ETHUSDT", "0")]
    reader = positions(client)
    reading = await reader.read()
    assert reader.source == "reported"
    assert [(row.symbol, row.size) for row in reading.rows] == [("BTCUSDT", Decimal(3))]
    assert client.count(FILLS) == 0


async def test_fills_of_a_word_that_nobody_knows_are_not_taken_for_nothing_held() -> None:
    client = ScriptedClient()
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(1, tradeSide="merge")]
    reader = positions(client)
    reading = await reader.read()
    assert not reading.rows
    assert reading.note.startswith("the position in BTCUSDT is not certain: tradeSide 'merge' is not known")
    held = Held((), (), doubts=reader.doubts)
    assert held.doubt("btcusdt") == "tradeSide 'merge' is not known"
    assert not held.doubt("ETHUSDT")


@pytest.mark.parametrize("hedge", [True, False])
async def test_what_a_reversal_showed_of_fills_stands_at_what_is_summed_from_them_in_hedge_mode(hedge: bool) -> None:
    client, shown = ScriptedClient(), {"contradiction": "a fill reverses no LONG"}

    async def contradiction() -> str:
        return shown["contradiction"]

    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(1) if hedge else fill(1, posMode="one_way_mode", tradeSide="buy_single")]
    reader = PositionsReader(client, [USDT], contradiction=contradiction)  # type: ignore[arg-type]
    reading = await reader.read()
    remedy = "a fill reverses no LONG; once fills and positions agree again, release it in the journal"
    (source,) = (row.source for row in reading.rows)
    assert isinstance(source, FromFills) and (remedy in reading.note, source.contradicted) == (hedge, hedge)
    assert replace(source, proven_flat=True).proven is not hedge
    shown["contradiction"] = ""
    reading = await reader.read()
    assert "reverses no LONG" not in reading.note
    assert reading.rows[0].source == replace(source, contradicted=False)


async def test_a_position_that_comes_twice_in_a_reply_is_one() -> None:
    client = ScriptedClient()
    client.rows[POSITIONS, USDT] = [position(), position("ETHUSDT"), position()]
    reading = await positions(client).read()
    assert [row.symbol for row in reading.rows] == ["BTCUSDT", "ETHUSDT"]


@pytest.mark.parametrize("refusal", [EndpointMissing("no", code="40404"), PermissionRefused("no", code="40014")])
async def test_only_missing_or_refused_chooses_fills(refusal: EndpointMissing | PermissionRefused) -> None:
    client = ScriptedClient()
    client.failing[POSITIONS] = refusal
    client.rows[FILLS, USDT] = [fill(1), fill(2), fill(3, tradeSide="close")]
    reader = positions(client)
    reading = await reader.read()
    assert reader.source == "fills"
    assert [(row.symbol, row.leg, row.size) for row in reading.rows] == [("BTCUSDT", "long", Decimal(1))]
    client.failing.clear()
    client.rows[POSITIONS, USDT] = [position()]
    assert [row.size for row in (await reader.read()).rows] == [Decimal(1)], "the source is chosen once a session"


@pytest.mark.parametrize(
    "trouble", [Unreachable("x"), Busy("x", code="40725"), RateLimited("x"), AuthenticationFailed("x", code="40006")]
)
async def test_any_other_error_chooses_nothing(trouble: Exception) -> None:
    client = ScriptedClient()
    client.failing[POSITIONS] = trouble
    reader = positions(client)
    with pytest.raises(type(trouble)):
        await reader.read()
    assert reader.source is None
    client.failing.clear()
    client.rows[POSITIONS, USDT] = [position()]
    assert [row.size for row in (await reader.read()).rows] == [Decimal(3)]
    client.failing[POSITIONS] = EndpointMissing("gone", code="40404")
    with pytest.raises(EndpointMissing):
        await reader.read()
    assert reader.source == "reported"


async def test_positions_wait_for_the_whole_history_and_then_each_fill_is_one_step() -> None:
    client = ScriptedClient()
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(number) for number in range(1_250)]
    history = FillHistory(client, USDT, InlineDisk())  # type: ignore[arg-type]
    reader = PositionsReader(client, [USDT], {USDT: history}, InlineDisk())  # type: ignore[arg-type]
    with pytest.raises(StillReading, match="pages so far"):
        await reader.read()
    for _ in range(3):
        client.clock.seconds += 1
        try:
            reading = await reader.read()
        except StillReading:
            continue
    assert [row.size for row in reading.rows] == [Decimal(1_250)]
    before = client.count(FILLS)
    client.rows[FILLS, USDT].append(fill(1_250))
    client.clock.seconds += 1
    assert [row.size for row in (await reader.read()).rows] == [Decimal(1_251)]
    assert client.count(FILLS) == before + 1


async def test_the_archive_begins_the_sum_where_the_exchange_has_forgotten(tmp_path: object) -> None:
    client = ScriptedClient()
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(number) for number in range(30)]
    archive = Archive(tmp_path / "archive.sqlite")  # type: ignore[operator]
    first = FillHistory(client, USDT, InlineDisk())  # type: ignore[arg-type]
    await first.attach(archive)
    await first.read_newest(0.0)
    while await first.read_gap():
        pass
    client.rows[FILLS, USDT] = [fill(number) for number in range(25, 40)]
    history = FillHistory(client, USDT, InlineDisk())  # type: ignore[arg-type]
    reader = PositionsReader(client, [USDT], {USDT: history}, InlineDisk())  # type: ignore[arg-type]
    assert [row.size for row in (await reader.read()).rows] == [Decimal(15)], "all that the exchange tells"
    await history.attach(archive)
    client.clock.seconds += 1
    assert [row.size for row in (await reader.read()).rows] == [Decimal(40)], "all that was ever seen"


async def summing_reader(archive: Archive, *fills: FuturesFill) -> tuple[ScriptedClient, FillHistory, PositionsReader]:
    """A reader where the exchange reports no positions, and the fills that it sums."""
    client = ScriptedClient()
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = list(fills)
    history = FillHistory(client, USDT, InlineDisk())  # type: ignore[arg-type]
    await history.attach(archive)
    reader = PositionsReader(client, [USDT], {USDT: history}, InlineDisk())  # type: ignore[arg-type]
    return client, history, reader


async def read_again(reader: PositionsReader, client: ScriptedClient) -> Reading[Position]:
    """What the reader gives a second later."""
    client.clock.seconds += 1
    return await reader.read()


@pytest.mark.parametrize("with_file", [True, False])
async def test_a_fill_out_of_turn_is_summed_in_its_place(tmp_path: Path, with_file: bool) -> None:
    archive = Archive(tmp_path / "archive.sqlite" if with_file else None)
    client, _, reader = await summing_reader(archive, fill(1), fill(9, tradeSide="close"))
    assert (await reader.read()).rows == []
    client.rows[FILLS, USDT].append(fill(5, price="110"))
    reading = await read_again(reader, client)
    assert [(row.size, row.entry) for row in reading.rows] == [(Decimal(1), Decimal(105))]


@pytest.mark.parametrize("with_file", [True, False])
async def test_a_fill_that_comes_again_with_another_size_corrects_the_sum(tmp_path: Path, with_file: bool) -> None:
    archive = Archive(tmp_path / "archive.sqlite" if with_file else None)
    client, _, reader = await summing_reader(archive, fill(1, side="sell", baseVolume="19"))
    assert [row.size for row in (await reader.read()).rows] == [Decimal(19)]
    client.rows[FILLS, USDT] = [fill(1, side="sell", baseVolume="18")]
    reading = await read_again(reader, client)
    assert [row.size for row in reading.rows] == [Decimal(18)]
    assert "1 fill corrected by the exchange" in reading.note
    assert [row.record.base_volume for row in archive.rows.newest(FuturesFill, USDT, 9)] == [Decimal(18)]


@pytest.mark.parametrize("with_file", [True, False])
async def test_a_fill_that_one_reply_gives_twice_with_other_figures_comes_to_one_sum_at_each_read(
    tmp_path: Path, with_file: bool
) -> None:
    archive = Archive(tmp_path / "archive.sqlite" if with_file else None)
    client, history, reader = await summing_reader(archive, fill(1, baseVolume="19"), fill(1, baseVolume="18"))
    sizes = []
    for _ in range(3):
        client.clock.seconds += 1
        reading = await reader.read()
        sizes += [row.size for row in reading.rows]
    assert (len(sizes), len(set(sizes)), history.changes) == (3, 1, 1)
    assert "1 fill corrected by the exchange" in reading.note


async def test_a_sum_made_anew_counts_fills_that_could_not_be_saved_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive(tmp_path / "archive.sqlite")
    client, _, reader = await summing_reader(archive, fill(1, baseVolume="19"), fill(9))
    await reader.read()

    def full(*row: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(archive, "add", full)
    client.rows[FILLS, USDT] = [fill(1, baseVolume="18"), fill(5), fill(9)]
    client.clock.seconds += 1
    assert [row.size for row in (await reader.read()).rows] == [Decimal(20)]


async def test_the_first_positions_are_read_for_a_person_and_the_later_ones_for_a_feed() -> None:
    polling, first = ScriptedClient(), ScriptedClient()
    polling.rows[POSITIONS, USDT] = first.rows[POSITIONS, USDT] = [position()]
    first.failing[POSITIONS] = Busy("busy")
    reader = PositionsReader(polling, [USDT], first_client=first)  # type: ignore[arg-type]
    with pytest.raises(Busy):
        await reader.read()
    first.failing.clear()
    for _ in range(3):
        assert len((await reader.read()).rows) == 1
    assert (first.count(POSITIONS), polling.count(POSITIONS)) == (2, 2)


@pytest.mark.parametrize("pauses", range(1, 8))
async def test_each_of_several_reads_side_by_side_sums_a_late_fill_in_its_place(pauses: int) -> None:
    client = ScriptedClient()
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(number) for number in (1, 5_000, 9_000)]
    reader = PositionsReader(client, [USDT])  # type: ignore[arg-type]
    await reader.read()
    right, reads = client.read, 0

    async def pausing(request: object) -> object:
        nonlocal reads
        reads += 1
        for _ in range(pauses if reads % 2 else 1):
            await asyncio.sleep(0)
        return await right(request)  # type: ignore[arg-type]

    client.read = pausing  # type: ignore[method-assign, assignment]
    client.rows[FILLS, USDT].append(fill(8_999, symbol="ETHUSDT"))  # a late one, read after newer ones
    for _ in range(3):
        for reading in await asyncio.gather(*(reader.read() for _ in range(4))):
            assert [row.size for row in reading.rows if row.symbol == "BTCUSDT"] == [Decimal(3)]


async def test_a_read_refused_after_another_one_went_over_to_fills_follows_it() -> None:
    client, asking, refused = ScriptedClient(), asyncio.Event(), asyncio.Event()
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    client.rows[FILLS, USDT] = [fill(1)]
    reader = positions(client)
    right = client.read

    async def refused_late(request: object) -> object:
        client.read = right  # type: ignore[method-assign]
        asking.set()
        await refused.wait()
        return await right(request)  # type: ignore[arg-type]

    client.read = refused_late  # type: ignore[method-assign, assignment]
    later = asyncio.ensure_future(reader.read())
    await asking.wait()
    first = await reader.read()
    refused.set()
    assert reader.source == "fills"
    assert [row.size for row in first.rows] == [row.size for row in (await later).rows] == [1]


async def test_a_report_that_comes_after_another_read_went_over_to_fills_leaves_these_the_source() -> None:
    client, asking, answered = ScriptedClient(), asyncio.Event(), asyncio.Event()
    client.rows[FILLS, USDT] = [fill(1)]
    client.rows[POSITIONS, USDT] = []
    reader = positions(client)
    right = client.read

    async def answered_late(request: object) -> object:
        client.read = right  # type: ignore[method-assign]
        reply = await right(request)  # type: ignore[arg-type]
        asking.set()
        await answered.wait()
        return reply

    client.read = answered_late  # type: ignore[method-assign, assignment]
    later = asyncio.ensure_future(reader.read())
    await asking.wait()
    client.failing[POSITIONS] = EndpointMissing("no", code="40404")
    await reader.read()
    answered.set()
    await later
    assert reader.source == "fills"
    assert [row.size for row in (await reader.read()).rows] == [1]


async def test_a_session_without_product_types_reads_nothing_and_fails_at_nothing() -> None:
    reading = await OrdersReader(ScriptedClient(), []).read()  # type: ignore[arg-type]
    assert (list(reading.rows), reading.error) == ([], None)


async def test_rows_from_before_an_account_was_moved_are_never_added_to_those_after() -> None:
    changes = [0]
    parts = JoinedReads[ProductRow[PendingOrder]]([USDT, COIN], lambda: changes[0])

    async def read(product_type: ProductType) -> ProductPart[ProductRow[PendingOrder]]:
        if product_type is COIN and moves:
            changes[0] += 1
        return ProductPart(server_ms=changes[0])

    moves = False
    assert await parts.read(read) is None
    assert [part.server_ms for part in parts.last.values()] == [0, 0]
    moves = True
    with pytest.raises(StillReading, match="moved to another mode"):
        await parts.read(read)
    assert parts.last == {}
    moves = False
    assert await parts.read(read) is None
    assert [part.server_ms for part in parts.last.values()] == [1, 1]

"""The desk as a whole on the embedded exchange: what it knows at once, keeps, tells and never lets grow."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from tests.desk.fixtures.desk_simulation import PRODUCT_TYPES, Simulation
from tests.sandbox.exchange_events import heal, open_position
from tradetui.desk.account.account_storage import account_dir
from tradetui.desk.archive.archive_rows import Selection
from tradetui.desk.archive.equity import samples
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.events.rules import Alert, RuleKind
from tradetui.desk.feeds.fills.fill_history import KEPT
from tradetui.desk.feeds.polling.feed import HEAD_START_S, Feed
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import State
from tradetui.desk.results.sums import result_lines
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.desk.trading_session import journal_location
from tradetui.exchange.clock import Moment
from tradetui.trading.results.periods import Grouping
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.product_types import ProductType

pytestmark = pytest.mark.looptime
USDT = ProductType.USDT_FUTURES


@pytest.mark.parametrize("core_only", [False, True], ids=["reported", "from fills"])
async def test_positions_are_there_before_anything_else(core_only: bool) -> None:
    simulation = Simulation(seed=1, fills=600, core_only=core_only)
    loop, first_read = asyncio.get_running_loop(), dict[str, float]()
    began = loop.time()

    def published(feed: Feed[FeedRow]) -> None:
        if feed.snapshot.read_at is not None:
            first_read.setdefault(feed.name, loop.time() - began)

    end = simulation.desk.subscribe(published)
    simulation.desk.start()
    await asyncio.sleep(10)
    end()
    await simulation.desk.stop()
    assert first_read.keys() == simulation.desk.feeds.keys()
    if core_only:
        assert first_read["positions"] < 3.5, "they are summed from all fills the exchange still tells"
    else:
        assert min(first_read, key=first_read.__getitem__) == "positions"
        assert first_read["positions"] < 0.5 < HEAD_START_S


async def test_five_feeds_come_up_and_the_header_has_its_totals() -> None:
    simulation = Simulation(seed=1, fills=600)
    desk = simulation.desk
    changed: set[str] = set()
    end = desk.subscribe(lambda feed: changed.add(feed.name))
    desk.start()
    await asyncio.sleep(6)
    assert changed == set(desk.feeds)
    end()
    totals = desk.totals()
    equity = sum(
        Decimal(str(row["usdtEquity"]))
        for product_type in PRODUCT_TYPES
        for row in simulation.exchange_state.futures_accounts(simulation.uid, product_type)
    )
    assert totals.equity is not None
    assert abs(totals.equity - equity) < equity / 100
    assert desk.archive is not None
    now_ms = desk.client.server_clock.now_ms
    sampled = [sample.equity for sample in samples(desk.archive.connection, PRODUCT_TYPES, 0, now_ms)]
    assert len(sampled) == 1, "equity is kept from the first minute on"
    assert abs(sampled[0] - equity) < equity / 100
    assert totals.worst_margin_ratio is not None
    assert desk.client.connection_status.latency_ms is not None
    assert desk.account is not None
    assert (desk.account.uid, desk.account.origin) == (simulation.uid, "exchange")
    assert desk.client.budget.account_kind == "ordinary"
    waiting = desk.panel_rows("triggers", other_view=True).count
    assert waiting > 0
    assert desk.panel_rows("triggers").count == waiting + desk.triggers.snapshot.count
    assert sum(len(order.fills) for order in desk.filled_orders.snapshot.rows) == desk.fills.snapshot.count > 0
    assert desk.panel_rows("fills") is desk.filled_orders.snapshot
    assert desk.panel_rows("fills", other_view=True) is desk.fills.snapshot
    assert all(feed.snapshot.server_ms is not None for feed in desk.feeds.values())
    await desk.stop()


async def test_what_was_seen_is_there_at_once_after_a_restart(tmp_path: Path) -> None:
    simulation = Simulation(seed=2, data_dir=tmp_path)
    simulation.desk.start()
    await simulation.run(90, every=10)
    archive = simulation.desk.archive
    assert archive is not None
    fills, triggers = archive.rows.count(Selection(FuturesFill)), archive.rows.count(Selection(TriggerOrder))
    assert fills >= 2_000
    assert triggers >= 300
    await simulation.desk.stop()
    before = simulation.sandbox.counts["GET", "/api/v2/mix/order/fills"]
    desk = simulation.desk = simulation.open_desk()
    desk.start()
    await simulation.run(3, every=3)
    assert desk.fills.snapshot.count == KEPT
    assert desk.fills.snapshot.note == "", "nothing is missing in between"
    assert simulation.sandbox.counts["GET", "/api/v2/mix/order/fills"] - before <= 12
    assert desk.archive is not None
    assert desk.archive.rows.count(Selection(FuturesFill)) >= fills
    await desk.stop()
    assert desk.account is not None
    assert account_dir(tmp_path, desk.account).is_dir()


@pytest.mark.parametrize("name", ["hedge", "one-way"])
async def test_positions_summed_from_fills_are_what_the_exchange_holds(name: str) -> None:
    simulation = Simulation(seed=3, name=name, core_only=True)
    desk = simulation.desk
    desk.start()
    await simulation.run(40, every=10)
    assert desk.positions_reader.source == "fills"
    simulation.exchange_state.stands_still = True
    await simulation.run(10, every=10)
    held = {
        f"{product_type}|{row['symbol']}|{row['holdSide']}": Decimal(str(row["total"]))
        for product_type in PRODUCT_TYPES
        for row in simulation.exchange_state.positions(simulation.uid, product_type)
    }
    assert {row.row_id: row.size for row in desk.positions.snapshot.rows} == held
    assert not desk.has_other_view("triggers")
    assert desk.panel_rows("triggers", other_view=True) is desk.triggers.snapshot
    await desk.stop()


async def test_one_trade_id_under_two_symbols_takes_no_fill_from_rows_archive_results_and_positions(
    tmp_path: Path,
) -> None:
    simulation = Simulation(seed=3, core_only=True, data_dir=tmp_path)
    simulation.exchange_state.stands_still = True
    desk, fills = simulation.desk, simulation.held("fills", USDT)
    # Two in turn, so that no page ends between them: what is older than an id would leave the other one out.
    pairs = [(newer, older) for newer, older in zip(fills[::2], fills[1::2], strict=False)]
    shared = [(newer, older) for newer, older in pairs if newer["symbol"] != older["symbol"]]
    for newer, older in shared:
        newer["tradeId"] = older["tradeId"]
    assert len(shared) > 100
    desk.start()
    await simulation.run(60, every=10)
    shown = [(row.record.trade_id, row.record.symbol) for row in desk.fills.snapshot.rows if row.product_type is USDT]
    assert shown == [(row["tradeId"], row["symbol"]) for row in fills[: len(shown)]] and len(shown) > 100
    assert desk.archive is not None
    assert desk.archive.rows.count(Selection(FuturesFill, product_type=USDT)) == len(fills)
    while desk.archive.advance_ledger():
        pass
    totals = result_lines(desk.archive.connection, ResultQuery(Grouping.TOTAL, simulation.clock.wall_ms()))
    gross = {row.coin: row.sums.gross for row in totals}
    assert gross["USDT"] == sum(Decimal(row["profit"]) for row in fills)
    held = {
        f"{USDT}|{row['symbol']}|{row['holdSide']}": Decimal(str(row["total"]))
        for row in simulation.exchange_state.positions(simulation.uid, USDT)
    }
    summed = desk.positions.snapshot.rows
    assert {row.row_id: row.size for row in summed if row.product_type is USDT} == held
    await desk.stop()


async def test_memory_holds_the_newest_only() -> None:
    simulation = Simulation(seed=4, jitter=False, fills=600)
    simulation.desk.start()
    await simulation.run(45, every=15)
    assert simulation.desk.fills.snapshot.count == KEPT
    assert simulation.desk.triggers.snapshot.count <= 500
    await simulation.desk.stop()


async def test_alerts_for_what_happens_and_not_for_what_was_there() -> None:
    simulation = Simulation(seed=5, jitter=False, fills=600)
    simulation.exchange_state.stands_still = True
    desk = simulation.desk
    heard: list[Alert] = []
    desk.alerts.subscribe(heard.append)
    desk.start()
    await asyncio.sleep(30)
    assert heard == [], "neither history nor what comes of it from page to page is news"
    simulation.exchange_state.advance(simulation.clock.wall_ms())
    open_position(simulation.exchange_state, simulation.uid, "BTCUSDT", "long", Decimal("0.01"))
    await asyncio.sleep(6)
    assert [alert.event.kinds for alert in heard] == [{RuleKind.FILL}]
    assert heard[0].sentence.startswith("BTCUSDT LONG opened: bought 0.01")
    simulation.sandbox.faults.rates["dropped-before"] = 1.0
    await asyncio.sleep(20)
    heal(simulation.sandbox.faults)
    await asyncio.sleep(20)
    assert [alert.event.key for alert in heard[1:]] == ["link|lost", "link|back"]
    await desk.stop()


async def test_no_task_and_no_call_is_left_after_the_end() -> None:
    before = asyncio.all_tasks()
    simulation = Simulation(seed=6, fills=60)
    simulation.desk.start()
    await asyncio.sleep(5.05)
    await simulation.desk.stop()
    calls = sum(simulation.sandbox.counts.values())
    await asyncio.sleep(30)
    assert sum(simulation.sandbox.counts.values()) - calls <= 2
    assert asyncio.all_tasks() == before


async def test_a_session_in_monitor_mode_doubts_positions_that_another_one_has_shown_to_be_wrong(
    tmp_path: Path,
) -> None:
    simulation = Simulation(seed=5, jitter=False, data_dir=tmp_path, core_only=True, fills=60)
    simulation.exchange_state.stands_still = True
    desk = simulation.desk
    desk.start()
    await asyncio.sleep(60)
    assert desk.account is not None and desk.intents is None
    assert desk.positions.snapshot.rows and "not certain" not in desk.positions.snapshot.note
    journal = Journal(journal_location(desk.settings, desk.account).file)
    journal.begin("other", "account", "scope", "reversal", {}, Moment.now(simulation.clock))
    shown = {"contradiction": "a fill reverses no LONG"}
    journal.step("other", State.WITHDRAWN, shown, Moment.now(simulation.clock))
    await asyncio.sleep(30)
    assert "an earlier reversal showed this: a fill reverses no LONG" in desk.positions.snapshot.note
    journal.close()
    await desk.stop()

"""What the market adds to the account's rows, on the embedded exchange in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.desk.fixtures.desk_simulation import Simulation
from tests.desk.fixtures.exchange_rows import fill, order
from tradetui.desk.tables.cells.cell_format import Precision
from tradetui.desk.tables.rows.product_row import MarkedRow, ProductRow
from tradetui.exchange.errors import ExchangeError
from tradetui.trading.positions import StopState
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.product_types import ProductType
from tradetui.wire.requests.request import Request

USDT = ProductType.USDT_FUTURES
BEYOND = {"futures.tickers", "futures.funding_rates", "futures.contracts"}


@pytest.mark.looptime
async def test_positions_carry_their_nearest_stop_and_the_next_funding() -> None:
    simulation = Simulation(11, fills=60)
    desk = simulation.desk
    desk.start()
    await asyncio.sleep(20)
    now = desk.clock.wall_ms()
    positions = desk.positions.snapshot.rows
    assert positions
    for position in positions:
        market = position.market
        assert market.mark_is_live
        assert market.funding_rate == Decimal("0.0001")
        assert market.next_funding is not None
        assert 0 < market.next_funding.timestamp() * 1000 - now <= 8 * 3_600_000
        waiting = {
            row["planType"]
            for row in simulation.held("live-triggers", position.product_type)
            if row["symbol"] == position.symbol and row["posSide"] == position.leg
        }
        trailing_or_none = StopState.TRAILING if "moving_plan" in waiting else StopState.NONE
        assert market.stop_state is (StopState.WAITING if waiting & {"pos_loss", "loss_plan"} else trailing_or_none)
        assert (market.stop is not None) == (market.stop_state is StopState.WAITING)
    assert {position.market.stop_state for position in positions} >= {StopState.WAITING, StopState.NONE}
    assert desk.market.precisions["BTCUSDT"] == Precision(1, 4)
    assert desk.market.coin_places["BTC"] == 7
    assert desk.market.mark_of(USDT, "btcusdt") is not None
    for row in desk.orders.snapshot.rows:
        assert isinstance(row, MarkedRow)
        price, mark = row.record.price, row.mark
        assert mark is not None
        assert row.distance == (None if price is None else (price - mark) / mark)
    await desk.stop()


@pytest.mark.looptime
async def test_without_them_positions_are_shown_all_the_same_and_nothing_is_asked_again_and_again() -> None:
    simulation = Simulation(11, core_only=True, fills=60)
    desk = simulation.desk
    desk.start()
    await asyncio.sleep(60)
    positions = desk.positions.snapshot.rows
    assert positions
    for position in positions:
        market = position.market
        assert (market.funding_rate, market.next_funding, market.mark_is_live) == (None, None, False)
        assert market.stop_state is StopState.UNREADABLE
    assert desk.market.mark_of(USDT, "BTCUSDT") is None
    # The decimals are those of the account's own fills and orders.
    assert desk.market.precisions["BTCUSDT"] == Precision(1, 4)
    for feed in desk.market.feeds:
        assert feed.snapshot.error is not None
    assert {name for name in BEYOND if desk.client.capabilities.refusal(name)} >= BEYOND
    await desk.stop()


@pytest.mark.looptime
async def test_a_mark_that_is_no_longer_fresh_is_none() -> None:
    simulation = Simulation(11, fills=60)
    desk = simulation.desk
    await desk.market.tickers.poll()
    assert desk.market.mark_of(USDT, "BTCUSDT") is not None
    await asyncio.sleep(60)
    assert desk.market.mark_of(USDT, "BTCUSDT") is None
    await desk.stop()


@pytest.mark.looptime
async def test_decimals_are_the_most_seen_until_the_contract_is_known() -> None:
    market = Simulation(11, fills=60).desk.market
    market.see_orders([ProductRow(USDT, order(1, symbol="BTCUSDT", price="84000", size="1.25"))])
    assert market.precisions["BTCUSDT"] == Precision(0, 2)
    market.see_fills([ProductRow(USDT, fill(1, symbol="BTCUSDT", price="84000.25", baseVolume="1"))])
    assert market.precisions["BTCUSDT"] == Precision(2, 2)
    await market.contracts.poll()
    assert market.precisions["BTCUSDT"] == Precision(1, 4)
    known = market.precisions
    market.see_fills([ProductRow(USDT, fill(2, symbol="BTCUSDT", price="84000.12345"))])
    assert market.precisions is known


@pytest.mark.looptime
async def test_stops_that_cannot_be_read_any_more_are_in_doubt_and_not_absent() -> None:
    simulation = Simulation(11, fills=60)
    desk = simulation.desk
    desk.start()
    await asyncio.sleep(20)

    async def refuse() -> None:
        raise ExchangeError("no")

    desk.triggers.reader.read = refuse  # type: ignore[method-assign, assignment]
    await asyncio.sleep(60)
    states = {position.market.stop_state for position in desk.positions.snapshot.rows if position.stop_loss is None}
    assert states == {StopState.UNREADABLE}
    await desk.stop()


@pytest.mark.looptime
async def test_while_a_waiting_stop_cannot_be_read_no_position_is_said_to_have_none() -> None:
    simulation = Simulation(11, fills=60)
    desk = simulation.desk
    pages = desk.triggers_reader._client.pages

    async def with_unreadable_row(request: Request[Any]) -> AsyncIterator[Reply[Any]]:
        async for reply in pages(request):
            unreadable = (UndecodableRow(0, "symbol", {"orderId": "1"}),) if reply.rows else ()
            yield replace(reply, undecodable_rows=unreadable)

    desk.triggers_reader._client.pages = with_unreadable_row  # type: ignore[method-assign, assignment]
    desk.start()
    await asyncio.sleep(20)
    states = {position.market.stop_state for position in desk.positions.snapshot.rows}
    assert states >= {StopState.WAITING, StopState.UNREADABLE}
    assert StopState.NONE not in states
    await desk.stop()

"""The detail view shows every field, marks what is unusual, and follows its row."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from textual.containers import Vertical

from tests.desk.fixtures.exchange_rows import fill
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.wire.model_rows import ROWS
from tests.wire.unified_rows import UNIFIED_FILL
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.table import ORDERS
from tradetui.trading.positions import PositionMarket, StopState, reported
from tradetui.ui.records.detail_screen import (
    AS_REQUESTED,
    DERIVED,
    EXTRA,
    INTERFACE_V3,
    NOT_SENT,
    UNREADABLE,
    DetailScreen,
    fields_of,
)
from tradetui.wire.classic_rows import classic_fill
from tradetui.wire.models.futures import FuturesFill, PendingOrder
from tradetui.wire.models.futures_accounts import FuturesAccount, ReportedPosition
from tradetui.wire.product_types import ProductType

ROW = {
    "symbol": "BTCUSDT",
    "size": "0.10",
    "orderId": "12",
    "cTime": "1785585600123",
    "side": "buy",
    "status": "live",
    "price": "1",
    "presetStopLossPrice": "not a number",
    "fee": "",
    "brandNew": {"a": [1, "x"]},
}


def test_every_field_is_there_with_what_is_unusual() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, PendingOrder.from_row(ROW))
    fields = {field.name: field for field in fields_of(row, UTC)}
    assert (fields["product type"].value, fields["product type"].mark) == ("USDT-FUTURES", AS_REQUESTED)
    assert (fields["size"].value, fields["size"].received, fields["size"].mark) == ("0.10", "0.10", "")
    assert (
        fields["presetStopLossPrice"].value,
        fields["presetStopLossPrice"].received,
        fields["presetStopLossPrice"].mark,
    ) == ("—", "not a number", UNREADABLE)
    assert (fields["fee"].value, fields["fee"].received) == ("—", '""')
    assert fields["brandNew"].mark == EXTRA
    assert '"a"' in fields["brandNew"].received
    assert fields["leverage"].mark == NOT_SENT
    assert fields["cTime"].value == "2026-08-01 12:00:00.123 UTC"
    assert set(PendingOrder.names()) <= set(fields)
    titles = {column.id: column.title for column in ORDERS.columns}
    for name in ("symbol", "cTime", "presetStopLossPrice", "size"):
        assert fields[name].title == titles[name]
    assert (fields["product type"].title, fields["clientOid"].title) == ("Type", "Client id")


def test_a_field_under_another_spelling_is_shown_as_it_came_and_under_which_name() -> None:
    row = {name: value for name, value in ROWS["futures.accounts"].items() if name != "unionTotalMargin"}
    account = FuturesAccount.from_row({**row, "unionTotalMagin": "99415.5"})
    fields = {field.name: field for field in fields_of(account, UTC)}
    margin = fields["unionTotalMargin"]
    assert (margin.value, margin.received, margin.mark) == ("99415.5", "99415.5", "as unionTotalMagin")
    assert "unionTotalMagin" not in fields


def test_of_a_unified_account_each_field_is_received_as_interface_v3_names_it() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, FuturesFill.from_row(classic_fill(UNIFIED_FILL, "hedge_mode", None)))
    fields = list(fields_of(row, UTC))
    read = {field.name: field for field in fields if field.mark != INTERFACE_V3}
    assert (read["tradeSide"].value, read["tradeSide"].received) == ("close", ""), "what is worked out was not received"
    assert (read["enterPointSource"].value, read["enterPointSource"].mark) == ("—", NOT_SENT)
    received = {field.name: field.received for field in fields if field.mark == INTERFACE_V3}
    assert received.keys() == UNIFIED_FILL.keys()
    assert (received["tradeSide"], received["execPrice"], received["side"]) == ("close_short", "181.02", "buy")


def test_times_are_in_the_zone() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, PendingOrder.from_row(ROW))
    fields = {field.name: field for field in fields_of(row, ZoneInfo("Asia/Tokyo"))}
    assert fields["cTime"].value.startswith("2026-08-01 21:00:00.123 ")


@pytest.mark.looptime
async def test_a_position_names_its_source_and_follows() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        await pilot.press("enter")
        detail = stage.app.screen
        assert isinstance(detail, DetailScreen)
        fields = {field.name: field for field in detail.fields}
        assert (fields["source"].value, fields["source"].mark) == ("reported", DERIVED)
        mark = fields["markPrice"].value
        await asyncio.sleep(10)
        await pilot.pause()
        assert {field.name: field for field in detail.fields}["markPrice"].value != mark
        empty = type(stage.desk.positions.snapshot)(read_at=1.0)
        detail.follow("orders", empty)
        assert "gone" not in str(detail.query_one(Vertical).border_title)
        detail.follow("positions", empty)
        assert "gone from the panel" in str(detail.query_one(Vertical).border_title)


def test_an_order_opens_into_its_fills() -> None:
    rows = [
        ProductRow(ProductType.USDT_FUTURES, fill(number, 1_785_585_600_000 + number, orderId="7", price=price))
        for number, price in ((2, "101"), (1, "100"))
    ]
    fields = {field.name: field for field in fields_of(FilledOrder(rows), UTC)}
    assert [(fields[name].value, fields[name].mark) for name in ("base volume", "price", "fills")] == [
        ("2", DERIVED),
        ("100.5", DERIVED),
        ("2", DERIVED),
    ]
    first = fields["fill 1"]
    assert (first.value, first.mark) == ("1 at 101", "taker")
    assert first.received.startswith("2026-08-01 12:00:00.002 UTC, profit 0, fee -0.06 USDT, trade id ")
    assert "fill 2" in fields


def test_a_position_tells_what_it_is_worth_and_a_coin_margined_one_in_both_coins() -> None:
    received = {"symbol": "BTCUSD", "holdSide": "long", "total": "0.5", "markPrice": "84000", "leverage": "10"}
    record = ReportedPosition.from_row({**received, "unrealizedPL": "-0.01"})
    market = PositionMarket(stop_state=StopState.NONE, funding_rate=Decimal("0.0001"))
    position = replace(reported(ProductType.COIN_FUTURES, record), market=market)
    fields = {field.name: field for field in fields_of(position, UTC)}
    assert fields["unrealizedPL"].value == "-0.01"
    assert (fields["unrealised in USDT"].value, fields["unrealised in USDT"].mark) == ("-840.00", DERIVED)
    assert fields["value"].value == "42,000.0"
    titles = [fields[name].title for name in ("openPriceAvg", "holdSide", "return on margin", "unrealised in USDT")]
    assert titles == ["Entry", "Side", "ROI %", "Unrealised in USDT"]
    assert (fields["return on margin"].value, fields["funding rate"].value) == ("-20 %", "0.01 %")
    assert fields["next funding in USDT"].value == "-4.20000"
    assert (fields["nearest stop"].value, fields["next funding"].value) == ("none", "—")
    assert "market" not in fields

"""What rows come to: notes under orders and fills, and the headline of stops."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from tests.desk.fixtures.exchange_rows import fill, order, trigger
from tests.trading.position_fills import position
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Tone
from tradetui.desk.tables.columns.accounts import accounts_headline
from tradetui.desk.tables.columns.fills import fills_footer
from tradetui.desk.tables.columns.orders import orders_footer
from tradetui.desk.tables.columns.positions import positions_headline
from tradetui.desk.tables.columns.triggers import stops_footer, stops_headline
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.table import TABLES
from tradetui.trading.positions import PositionMarket, StopState
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import ProductType

USDT, COIN = ProductType.USDT_FUTURES, ProductType.COIN_FUTURES
TODAY = CellFormat(today=date(2026, 11, 21), summed_day=date(2026, 11, 21))


def filled(day: int, hour: int, product_type: ProductType = USDT, **fields: object) -> ProductRow[FuturesFill]:
    at = int(datetime(2026, 11, day, hour, tzinfo=UTC).timestamp() * 1000)
    return ProductRow(product_type, fill(day * 100 + hour, at, **fields))


def resting(number: int, product_type: ProductType = USDT, **fields: str) -> ProductRow[PendingOrder]:
    return ProductRow(product_type, order(number, **fields))


def stop(number: int, status: str, day: int) -> ProductRow[TriggerOrder]:
    ended = int(datetime(2026, 11, day, 12, tzinfo=UTC).timestamp() * 1000)
    return ProductRow(USDT, trigger(number, status, ended))


def test_profit_and_fees_are_those_of_today_in_the_zone() -> None:
    rows = [filled(21, 9, profit="10.5"), filled(21, 1, profit="-2"), filled(20, 23, profit="1000")]
    assert fills_footer(rows, TODAY).note == "today profit +8.50 fees -0.12"
    west = replace(TODAY, zone=timezone(timedelta(hours=-3)))
    assert fills_footer(rows, west).note == "today profit +10.50 fees -0.06"


def test_without_a_day_all_rows_are_summed() -> None:
    rows = [filled(21, 9, profit="10.5"), filled(20, 23, profit="1000")]
    assert fills_footer(rows, CellFormat()).note == "profit +1,010.50 fees -0.12"


def test_where_every_row_is_of_today_the_note_names_the_time_it_begins() -> None:
    assert fills_footer([filled(21, 9), filled(21, 8)], TODAY).note.startswith("newest fills since 08:00 profit")
    assert fills_footer([filled(20, 9)], TODAY).note == "no fill today"


def test_an_orders_row_sums_as_its_fills_do() -> None:
    rows = [filled(21, 9, orderId="7", profit="3"), filled(21, 8, orderId="7", profit="4"), filled(20, 8)]
    assert fills_footer([FilledOrder(rows[:2]), FilledOrder(rows[2:])], TODAY).note == fills_footer(rows, TODAY).note


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        (
            {
                "symbol": "BTCUSD",
                "price": "80000",
                "profit": "0.001",
                "feeDetail": [{"feeCoin": "BTC", "totalFee": "-0.0001"}],
            },
            "profit ~+80.00 fees ~-8.00",
        ),
        ({"profit": ""}, "profit — fees -0.06"),
        (
            {"profit": "1", "feeDetail": [{"feeCoin": "BGB", "totalFee": "-2"}]},
            "profit +1.00 fees 0.00 and -2.0000 BGB",
        ),
    ],
)
def test_other_coins_are_turned_over_at_the_fills_price_or_stand_beside(fields: dict[str, object], note: str) -> None:
    product_type = COIN if fields.get("symbol") == "BTCUSD" else USDT
    assert fills_footer([filled(21, 9, product_type, **fields)], CellFormat()).note == note


def test_usdc_counts_as_usdt_and_marks_the_sum() -> None:
    fees = [{"feeCoin": "USDC", "totalFee": "-0.5"}]
    rows = [filled(21, 9, ProductType.USDC_FUTURES, symbol="BTCPERP", profit="10", feeDetail=fees), filled(21, 8)]
    assert fills_footer(rows, CellFormat()).note == "profit ~+10.00 fees ~-0.56"
    assert fills_footer(rows[1:], CellFormat()).note == "profit 0.00 fees -0.06"


def test_orders_say_what_they_would_still_buy_and_sell() -> None:
    rows = [
        resting(1, size="3", baseVolume="1", price="100"),  # opens LONG: buys 2
        resting(2, side="sell", posSide="short", tradeSide="close", size="1", price="50.4"),  # closes SHORT: buys
        resting(3, side="sell", posSide="short", size="10", price="200"),  # opens SHORT: sells
    ]
    assert orders_footer(rows, CellFormat()).note == "buys 250 · sells 2,000 USDT"
    assert orders_footer(rows, CellFormat(exact=True)).note == "buys 250.4 · sells 2,000 USDT"
    assert orders_footer([*rows, resting(4, price="")], CellFormat()).note == "buys 250? · sells 2,000? USDT"


def test_stops_say_how_many_wait_and_how_many_failed_in_seven_days() -> None:
    rows = [stop(1, "live", 1), stop(2, "fail_execute", 21), stop(3, "fail_trigger", 15), stop(4, "fail_execute", 14)]
    assert stops_headline([*rows, stop(5, "executed", 21)], TODAY) == "1 waiting · 2 failed this week"
    assert stops_headline([stop(6, "live", 21)], TODAY) == "1 waiting", "past ones were not read"


def test_under_the_stops_stands_why_those_of_the_week_failed() -> None:
    rows = [stop(1, "live", 1), stop(2, "fail_execute", 21), stop(3, "fail_trigger", 15), stop(4, "fail_execute", 14)]
    assert stops_footer(rows, TODAY).note == "1 waiting · 2 failed this week: no reason given"
    rows.append(ProductRow(USDT, TriggerOrder.from_row({**rows[1].record.received, "failReason": "no margin"})))
    assert stops_footer(rows, TODAY).note == "1 waiting · 3 failed this week: 2 no reason given, 1 no margin"
    assert stops_footer(rows[:1], TODAY).note == "1 waiting"


@pytest.mark.parametrize(
    ("table", "has_note"),
    [("accounts", True), ("positions", True), ("orders", True), ("fills", True), ("triggers", True)],
)
def test_each_panel_has_a_headline(table: str, has_note: bool) -> None:
    assert TABLES[table].view.headline is not None
    assert (TABLES[table].view.footer is not None) == has_note


def test_accounts_are_opened_for_the_one_with_the_least_free_margin() -> None:
    accounts = [
        ProductRow(
            USDT, FuturesAccount.from_row({"marginCoin": coin, "accountEquity": "200", "crossedMaxAvailable": free})
        )
        for coin, free in (("USDT", "53.02"), ("USDC", "180"))
    ]
    assert accounts_headline(accounts, CellFormat()) == "26.51 % free USDT"
    assert accounts_headline([], CellFormat()) == ""


def test_positions_are_opened_for_the_worst_and_for_those_without_a_stop() -> None:
    worst, other = (
        replace(position(leg, "1"), unrealised=Decimal(result), market=PositionMarket(stop_state=state))
        for leg, result, state in (("long", "-781.654", StopState.NONE), ("short", "3", StopState.WAITING))
    )
    assert positions_headline([other, worst], CellFormat()) == "worst BTCUSDT LONG -781.65 · 1 without stop"
    coin_margined = replace(worst, product_type=COIN, unrealised=Decimal("-0.01"), mark=Decimal(9000))
    assert positions_headline([coin_margined], CellFormat()).startswith("worst BTCUSDT LONG ~-90.00"), "as in its row"
    assert positions_headline([], CellFormat()) == ""


def test_sums_of_fills_stand_by_the_columns_they_are_of() -> None:
    rows = [filled(21, 9, profit="10.5"), filled(21, 1, profit="-2"), filled(20, 23, profit="1000")]
    assert fills_footer(rows, TODAY).totals == {"profit": ("+8.50", Tone.GAIN), "fee": ("-0.1200", Tone.PLAIN)}
    assert fills_footer(rows, TODAY).short_note == "sums in USDT, today"
    assert fills_footer(rows[:2], TODAY).short_note == "sums in USDT, newest fills since 01:00"
    assert fills_footer(rows, CellFormat()).short_note == "sums in USDT, all rows shown"
    assert fills_footer(rows[2:], TODAY).totals == {}
    assert fills_footer(rows[2:], TODAY).short_note == "no fill today"


def test_a_sum_of_several_coins_stands_in_the_note() -> None:
    rows = [filled(21, 9, profit="1", feeDetail=[{"feeCoin": "BGB", "totalFee": "-2"}])]
    assert fills_footer(rows, CellFormat()).totals == {"profit": ("+1.00", Tone.GAIN)}
    assert fills_footer(rows, CellFormat()).short_note == "sums in USDT, all rows shown · fees 0.00 and -2.0000 BGB"


def test_the_rest_of_all_orders_is_summed_under_its_column() -> None:
    rows = [resting(1, size="3", baseVolume="1", price="100.5"), resting(2, size="10", price="200")]
    assert orders_footer(rows, CellFormat()).totals == {"value": ("2,201.00", Tone.PLAIN)}
    assert orders_footer([*rows, resting(3, price="")], CellFormat()).totals == {"value": ("2,201.00?", Tone.PLAIN)}


def test_where_no_column_says_which_positions_have_no_stop_the_note_says_how_many() -> None:
    unprotected, protected = (
        replace(position(leg, "1"), market=PositionMarket(stop_state=state))
        for leg, state in (("long", StopState.NONE), ("short", StopState.WAITING))
    )
    view = TABLES["positions"].view
    assert view.footer is not None
    footer = view.footer([unprotected, protected], CellFormat())
    assert footer.short_note is not None and footer.short_note.startswith("long ")
    assert footer.note == f"1 without stop · {footer.short_note}"
    of_protected = view.footer([protected], CellFormat())
    assert of_protected.note == of_protected.short_note

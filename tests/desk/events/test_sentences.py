"""The sentence of each event, word by word."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.desk.fixtures.exchange_rows import fill, order, trigger
from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT
from tradetui.desk.events.alerts import RuleRow, rule_columns
from tradetui.desk.events.rules import LONGEST, Condition, RuleKind, one_sentence, rule_of
from tradetui.desk.events.sentences import (
    fills_sentence,
    order_gone_sentence,
    stop_leg,
    trigger_sentence,
)
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, Precision
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first
from tradetui.trading.positions import LONG, SHORT
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

CLOSE_SHORT = {"symbol": "SOLUSDT", "side": "sell", "tradeSide": "close", "orderId": "7"}


def closing(number: int, size: str, price: str, profit: str, fee: str, at_ms: int = NOW_MS) -> FuturesFill:
    fees = [{"feeCoin": "USDT", "totalFee": fee}]
    row = CLOSE_SHORT | {"baseVolume": size, "price": price, "profit": profit}
    return fill(number, at_ms, **row, feeDetail=fees)


def one_order(*fills: FuturesFill, product_type: ProductType = USDT) -> FilledOrder:
    return FilledOrder(newest_first(ProductRow(product_type, row) for row in fills))


TWO_FILLS = one_order(
    closing(1, "100.0", "138.600", "541.0000", "-8.3160"), closing(2, "23.0", "138.600", "124.4300", "-1.9127")
)


def test_a_take_profit_says_what_it_did() -> None:
    order = trigger(
        1, "executed", planType="pos_profit", symbol="SOLUSDT", side="sell", posSide="short", tradeSide="close"
    )
    assert trigger_sentence(order, TWO_FILLS) == (
        "Take-profit on your SOLUSDT SHORT hit: bought 123.0 at 138.600, profit +665.43, fee -10.2287 USDT"
    )


def test_fills_say_what_they_did() -> None:
    assert fills_sentence(TWO_FILLS) == (
        "SOLUSDT SHORT closed: bought 123.0 at 138.600, profit +665.43, fee -10.2287 USDT"
    )
    opened = one_order(fill(1, baseVolume="0.0423", price="84206.9"))
    assert fills_sentence(opened) == "BTCUSDT LONG opened: bought 0.0423 at 84,206.9, fee -0.0600 USDT"
    one_way = one_order(fill(1, side="sell", tradeSide="sell_single", posMode="one_way_mode"))
    assert fills_sentence(one_way) == "BTCUSDT: sold 1 at 100, fee -0.0600 USDT"
    liquidated = one_order(fill(1, side="buy", tradeSide="burst_close_long", profit="-5"))
    assert fills_sentence(liquidated) == "BTCUSDT LONG liquidated: sold 1 at 100, profit -5.00, fee -0.0600 USDT"


def test_a_coin_keeps_its_own_places() -> None:
    fees = [{"feeCoin": "BTC", "totalFee": "-0.00001234"}]
    row = {"symbol": "BTCUSD", "tradeSide": "close", "profit": "0.00123456"}
    fills = one_order(fill(1, **row, feeDetail=fees), product_type=COIN)  # type: ignore[arg-type]
    assert fills_sentence(fills) == "BTCUSD LONG closed: sold 1 at 100, profit +0.00123456, fee -0.00001234 BTC"


def test_the_price_is_the_average_by_size() -> None:
    fills = one_order(fill(1, price="100.10", baseVolume="1"), fill(2, price="100.2", baseVolume="3"))
    assert "bought 4 at 100.18, fee" in fills_sentence(fills)
    assert fills.record.price == Decimal("100.175")


def test_a_word_nobody_knows_is_not_read_as_something_else() -> None:
    strange = one_order(fill(1, tradeSide="sideways"))
    assert fills_sentence(strange).startswith("Fill of BTCUSDT, whose tradeSide 'sideways' is not known: 1 at 100")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            {"planType": "loss_plan", "tradeSide": "close", "planStatus": "fail_execute"},
            "Stop-loss on your BTCUSDT LONG at 110 FAILED: no reason given",
        ),
        (
            {"planType": "moving_plan", "tradeSide": "close", "planStatus": "cancelled"},
            "Trailing stop on your BTCUSDT LONG at 110 was cancelled",
        ),
        ({"planStatus": "executed"}, "Trigger order on BTCUSDT that opens LONG executed at 110"),
        (
            {
                "planType": "pos_loss",
                "side": "buy",
                "posSide": "net",
                "tradeSide": "buy_single",
                "posMode": "one_way_mode",
            },
            "Stop-loss on your BTCUSDT SHORT hit at 110",
        ),
        ({"planStatus": "melted"}, "Trigger order on BTCUSDT that opens LONG at 110 ended: melted"),
    ],
)
def test_how_a_trigger_order_ended(row: dict[str, str], sentence: str) -> None:
    assert trigger_sentence(trigger(1, "executed", None, **row)) == sentence


def test_a_stop_names_its_leg_in_both_modes() -> None:
    hedge = trigger(1, planType="pos_loss", side="sell", posSide="", tradeSide="close")
    one_way = trigger(
        1, planType="pos_loss", side="sell", posSide="net", tradeSide="sell_single", posMode="one_way_mode"
    )
    assert (stop_leg(hedge), stop_leg(one_way)) == (SHORT, LONG)
    assert stop_leg(trigger(1)) is None, "an opening order is no stop"


def test_an_order_that_is_gone_says_how_much_of_it_was_filled() -> None:
    assert order_gone_sentence(order(1), Decimal(0), Precision()) == "Order gone: buy 2 BTCUSDT at 90, nothing filled"
    partly = order_gone_sentence(order(1), Decimal("0.5"), Precision(price=1, size=2))
    assert partly == "Order gone: buy 2.00 BTCUSDT at 90.0, 0.50 of 2.00 filled"


def test_no_sentence_steers_a_terminal_or_is_endless() -> None:
    assert one_sentence("a\x1b]0;b\x07\r\nc\u202e") == "a\ufffd]0;b\ufffd c\ufffd"
    assert len(one_sentence("x" * 10_000)) == LONGEST


def test_numbers_of_any_size_make_a_sentence() -> None:
    small, large = "0.000000000001", "9" * 15
    fills = one_order(fill(1, price="1e-30", baseVolume=large), fill(2, price="9e30", baseVolume=small))
    assert len(one_sentence(fills_sentence(fills))) <= LONGEST


def test_the_list_says_conditions_where_one_is_not_the_name_of_its_rule() -> None:
    condition = Condition(RuleKind.MARGIN_RATIO_ABOVE, level=Decimal(80))
    named, unnamed = rule_of(condition, name="careful"), rule_of(condition)
    rows = [RuleRow(rule, silenced=False, impossible="") for rule in (named, unnamed)]
    *_, when = rule_columns(rows)
    assert [when.text(row, DEFAULT_FORMAT) for row in rows] == ["margin ratio above 80 %"] * 2
    assert unnamed.name == "margin ratio above 80 %"
    assert [column.title for column in rule_columns(rows[1:])] == ["Alert", "State", "To"]

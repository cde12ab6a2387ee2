"""A symbol's orders and stops as they will stand after a reversal: which would add to the wrong side."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.trading.test_reversal import legs, plan
from tradetui.trading.holdings import Net
from tradetui.trading.order_impact import OrderImpact, resting_after
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.models.futures import PendingOrder, TriggerOrder


def order(side: str, trade_side: str = "", *, reduce_only: str = "NO") -> PendingOrder:
    row = {"symbol": "BTCUSDT", "size": "2", "orderId": "7", "side": side, "price": "100.5", "reduceOnly": reduce_only}
    return PendingOrder.from_row({**row, **({"tradeSide": trade_side} if trade_side else {})})


def stop(plan_type: str, side: str, trade_side: str = "") -> TriggerOrder:
    row = {"symbol": "BTCUSDT", "orderId": "8", "planType": plan_type, "side": side, "triggerPrice": "90"}
    return TriggerOrder.from_row({**row, **({"tradeSide": trade_side} if trade_side else {})})


def only(plan: ReversalPlan, resting: PendingOrder | TriggerOrder) -> OrderImpact:
    orders = (resting,) if isinstance(resting, PendingOrder) else ()
    stops = (resting,) if isinstance(resting, TriggerOrder) else ()
    (one,) = resting_after(plan, orders, stops)
    return one


@pytest.mark.parametrize(
    ("side", "trade_side", "wrong", "effect"),
    [
        ("buy", "open", True, "opens a LONG against the new SHORT"),
        ("Buy", "Open", True, "opens a LONG against the new SHORT"),
        ("sell", "open", False, "adds to the new SHORT"),
        ("buy", "close", False, "has no LONG left to close"),
        ("sell", "close", False, "reduces the new SHORT"),
    ],
)
def test_hedge_an_open_on_the_leg_given_up_is_wrong(side: str, trade_side: str, wrong: bool, effect: str) -> None:
    impact = only(plan(legs("10"), "buy"), order(side, trade_side))
    assert (impact.wrong_way, impact.effect) == (wrong, effect)


def test_a_leg_that_was_held_before_is_not_called_new() -> None:
    assert only(plan(legs("10", "3"), "buy"), order("sell", "open")).effect == "adds to the SHORT"


def test_what_an_order_filled_already_does_nothing_more() -> None:
    filled = PendingOrder.from_row({**order("sell").received, "size": "9", "baseVolume": "6"})
    assert only(plan(Net(Decimal(-4))), filled).effect == "reduces the new LONG"


def test_hedge_short_mirrors_it() -> None:
    short = plan(legs("0", "10"), "sell")
    assert only(short, order("sell", "open")).wrong_way
    assert not only(short, order("buy", "open")).wrong_way


@pytest.mark.parametrize(
    ("net", "side", "reduce_only", "wrong", "effect"),
    [
        ("10", "sell", "NO", True, "adds to the new SHORT"),
        ("10", "buy", "NO", False, "reduces the new SHORT"),
        ("10", "sell", "YES", False, "has no LONG left to close"),
        ("10", "buy", "YES", False, "reduces the new SHORT"),
        ("-10", "buy", "NO", True, "adds to the new LONG"),
        ("-10", "sell", "NO", False, "reduces the new LONG"),
    ],
)
def test_one_way_orders_against_the_old_position_add_to_the_new(
    net: str, side: str, reduce_only: str, wrong: bool, effect: str
) -> None:
    impact = only(plan(Net(Decimal(net))), order(side, reduce_only=reduce_only))
    assert (impact.effect, impact.wrong_way) == (effect, wrong)


def test_a_protective_stop_of_the_old_position_is_pointed_out_in_one_way_mode() -> None:
    assert only(plan(Net(Decimal(10))), stop("pos_loss", "sell")).wrong_way
    assert only(plan(legs("10"), "buy"), stop("pos_loss", "sell", "close")).effect == "closes the new SHORT"


@pytest.mark.parametrize(
    ("held", "side", "effect"),
    [
        ("4", "sell", "reduces the LONG"),
        ("2", "sell", "closes the LONG"),
        ("1", "sell", "closes the LONG and opens a SHORT"),
        ("4", "buy", "adds to the LONG"),
        ("-10", "sell", "adds to the new SHORT"),
        ("0", "sell", "opens a SHORT"),
    ],
)
def test_once_it_is_known_what_is_held_counts(held: str, side: str, effect: str) -> None:
    sized = plan(Net(Decimal(10)), size="3")
    (impact,) = resting_after(sized, [order(side)], (), Net(Decimal(held)))
    assert (impact.effect, impact.wrong_way) == (effect, effect == "adds to the new SHORT")


def test_before_that_every_possible_result_is_told() -> None:
    impact = only(plan(Net(Decimal(10)), size="3"), order("sell"))
    assert impact.wrong_way
    assert impact.effect == "reduces the LONG or adds to the new SHORT"


def test_words_name_side_size_and_price() -> None:
    assert only(plan(legs("10"), "buy"), order("buy", "open")).summary == "buy open 2 at 100.5"
    assert only(plan(legs("10"), "buy"), stop("pos_loss", "sell", "close")).summary == "pos_loss sell close when 90"

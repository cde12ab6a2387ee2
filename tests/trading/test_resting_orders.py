"""A symbol's orders and stops as they will stand after a reversal: which would add to the wrong side."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.trading.test_reversal import legs, plan
from tradetui.trading.holdings import Net
from tradetui.trading.order_impact import OrderImpact, resting_after
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

WRONG = "WOULD ADD TO THE WRONG SIDE"


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
    ("side", "trade_side", "wrong"),
    [("buy", "open", True), ("Buy", "Open", True), ("sell", "open", False), ("buy", "close", False)],
)
def test_hedge_an_open_on_the_leg_given_up_is_wrong(side: str, trade_side: str, wrong: bool) -> None:
    found = only(plan(legs("10"), "buy"), order(side, trade_side))
    assert (found.wrong_way, found.effect) == (wrong, WRONG if wrong else "stays")


def test_hedge_short_mirrors_it() -> None:
    short = plan(legs("0", "10"), "sell")
    assert only(short, order("sell", "open")).wrong_way
    assert not only(short, order("buy", "open")).wrong_way


@pytest.mark.parametrize(
    ("net", "side", "reduce_only", "effect"),
    [
        ("10", "sell", "NO", WRONG),
        ("10", "buy", "NO", "would reduce what is held then"),
        ("10", "sell", "YES", "reduce-only: nothing left for it to reduce"),
        ("10", "buy", "YES", "would reduce what is held then"),
        ("-10", "buy", "NO", WRONG),
        ("-10", "sell", "NO", "would reduce what is held then"),
    ],
)
def test_one_way_orders_against_the_old_position_add_to_the_new(
    net: str, side: str, reduce_only: str, effect: str
) -> None:
    found = only(plan(Net(Decimal(net))), order(side, reduce_only=reduce_only))
    assert found.effect == effect
    assert found.wrong_way == (effect == WRONG)


def test_a_protective_stop_of_the_old_position_is_pointed_out_in_one_way_mode() -> None:
    assert only(plan(Net(Decimal(10))), stop("pos_loss", "sell")).wrong_way
    assert only(plan(legs("10"), "buy"), stop("pos_loss", "sell", "close")).effect == "stays"


@pytest.mark.parametrize(
    ("held", "side", "effect"),
    [
        ("4", "sell", "would reduce what is held then"),
        ("4", "buy", "would add to what is held then"),
        ("-10", "sell", WRONG),
        ("0", "sell", "would open a position anew"),
    ],
)
def test_once_it_is_known_what_is_held_counts(held: str, side: str, effect: str) -> None:
    sized = plan(Net(Decimal(10)), size="3")
    (found,) = resting_after(sized, [order(side)], (), Net(Decimal(held)))
    assert found.effect == effect


def test_before_that_every_possible_result_is_told() -> None:
    found = only(plan(Net(Decimal(10)), size="3"), order("sell"))
    assert found.wrong_way
    assert found.effect == f"would reduce what is held then or {WRONG}"


def test_words_name_side_size_and_price() -> None:
    assert only(plan(legs("10"), "buy"), order("buy", "open")).summary == "buy open 2 at 100.5"
    assert only(plan(legs("10"), "buy"), stop("pos_loss", "sell", "close")).summary == "pos_loss sell close when 90"

"""What the terms of a fill or an order say that it does: every word in either position mode, nothing by guessing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.trading.position_fills import fill
from tradetui.trading.fill_terms import (
    FillTerms,
    TradeAction,
    TradeEffect,
    effect_of_order,
    effect_of_trigger,
    terms_of,
)
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.positions_from_fills import holdings_after
from tradetui.wire.enums import PositionMode, PositionSide, TradeSide
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT

TABLE = """
                                      done by      mode not told  one-way mode  hedge mode
open                                  order        +L  +S         b   s         +L  +S
close                                 order        -L  -S         b   s         -L  -S
reduce_close_long                     reduces      -L  -L         -b  -s        -L  -L
reduce_close_short                    reduces      -S  -S         -b  -s        -S  -S
offset_close_long                     offset       -L  -L         -b  -s        -L  -L
offset_close_short                    offset       -S  -S         -b  -s        -S  -S
burst_close_long                      liquidation  -L  -L         -b  -s        -L  -L
burst_close_short                     liquidation  -S  -S         -b  -s        -S  -S
delivery_close_long                   delivery     -L  -L         -b  -s        -L  -L
delivery_close_short                  delivery     -S  -S         -b  -s        -S  -S
dte_sys_adl_close_long                ADL          -L  -L         -b  -s        -L  -L
dte_sys_adl_close_short               ADL          -S  -S         -b  -s        -S  -S
buy_single                            order        b   s          b   s         ?   ?
sell_single                           order        b   s          b   s         ?   ?
reduce_buy_single                     reduces      -b  -s         -b  -s        ?   ?
reduce_sell_single                    reduces      -b  -s         -b  -s        ?   ?
burst_buy_single                      liquidation  -b  -s         -b  -s        ?   ?
burst_sell_single                     liquidation  -b  -s         -b  -s        ?   ?
delivery_buy_single                   delivery     -b  -s         -b  -s        ?   ?
delivery_sell_single                  delivery     -b  -s         -b  -s        ?   ?
dte_sys_adl_buy_in_single_side_mode   ADL          -b  -s         -b  -s        ?   ?
dte_sys_adl_sell_in_single_side_mode  ADL          -b  -s         -b  -s        ?   ?
-                                     order        ?   ?          b   s         ?   ?
sideways                              order        ?   ?          b   s         ?   ?
sideways_single                       order        b   s          b   s         ?   ?
burst_sideways                        liquidation  ?   ?          b   s         ?   ?
"""
"""Each mode has two columns: with the side buy, and sell. `+L` opens the LONG and `-S` closes the SHORT of hedge mode;
`b` buys and `s` sells, which closes or opens as what is held makes it; `-b` and `-s` close by buying and selling; `?`
is not known. Words nobody knows stand below those of the interface."""
MODES = ("", PositionMode.ONE_WAY, PositionMode.HEDGE)
CASES = [line.split(maxsplit=2) for line in TABLE.strip().splitlines()[1:]]


def order(side: str, trade_side: str = "", mode: str = "hedge_mode", **fields: str) -> PendingOrder:
    received = {"symbol": "BTCUSDT", "size": "2", "orderId": "7", "side": side, "tradeSide": trade_side}
    return PendingOrder.from_row({**received, "posMode": mode, **fields})


def effect_in_table(terms: FillTerms) -> str:
    if terms.effect is None:
        return "?"
    direction = ("b" if terms.buys else "s") if terms.leg is PositionSide.NET else terms.leg[0].upper()
    return {True: "+", False: "-", None: ""}[terms.opens] + direction


def test_every_word_of_the_interface_is_a_case() -> None:
    assert {trade_side for trade_side, *_ in CASES} > set(TradeSide)


@pytest.mark.parametrize(("trade_side", "cause", "effects"), CASES)
def test_each_word_is_read_as_one(trade_side: str, cause: str, effects: str) -> None:
    trade_side = trade_side.strip("-")
    terms = [terms_of(fill(side, trade_side, "1", mode=mode)) for mode in MODES for side in ("buy", "sell")]
    assert [effect_in_table(one) for one in terms] == effects.split()
    orders = [effect_of_order(order(side, trade_side, mode)) for mode in MODES for side in ("buy", "sell")]
    assert orders == [one.effect for one in terms], "an order does what its fills do"
    assert {one.forced_by or "order" for one in terms} == {"order" if cause == "reduces" else cause}
    shown_mode = PositionMode.ONE_WAY if "_single" in trade_side else None
    assert [one.mode for one in terms[::2]] == [shown_mode, PositionMode.ONE_WAY, PositionMode.HEDGE]
    assert all((one.effect is None) is bool(one.unknown_word) for one in terms)
    reduces = [one for one in terms if one.effect is not None and one.effect.action is TradeAction.REDUCE]
    assert len(reduces) == (effects.count("-") if cause == "reduces" else 0)


@pytest.mark.parametrize("trade_side", TradeSide)
def test_a_side_or_mode_nobody_knows_leaves_every_word_open(trade_side: TradeSide) -> None:
    unknown = [fill("upwards", trade_side, "1", mode=mode) for mode in MODES]
    terms = [terms_of(one) for one in (*unknown, fill("buy", trade_side, "1", mode="split"))]
    assert [one.unknown_word for one in terms] == [*["side 'upwards'"] * 3, "posMode 'split'"]
    assert all(one.effect is None and one.opens is None for one in terms)


def test_a_mode_that_is_known_better_goes_before_that_of_the_fill() -> None:
    opened = fill("sell", "open", "1", mode="")
    assert terms_of(opened).effect == TradeEffect(TradeAction.OPEN, SHORT)
    assert terms_of(opened, PositionMode.ONE_WAY).effect == TradeEffect(TradeAction.SELL)
    assert terms_of(fill("sell", "sell_single", "1", mode=""), PositionMode.HEDGE).effect is None


@pytest.mark.parametrize(
    ("before", "after"), [(Net(), Net(Decimal(-1))), (Net(Decimal(3)), Net(Decimal(2))), (Legs(Decimal(3)), None)]
)
def test_a_fill_of_one_way_mode_moves_a_net_and_no_leg(before: Holdings, after: Holdings | None) -> None:
    assert holdings_after(before, [fill("sell", "sell_single", "1", mode="one_way_mode")]) == after


def trigger(plan_type: str, side: str, trade_side: str = "", mode: str = "hedge_mode", **fields: str) -> TriggerOrder:
    received = {"symbol": "BTCUSDT", "orderId": "8", "planType": plan_type, "side": side, "tradeSide": trade_side}
    return TriggerOrder.from_row({**received, "posMode": mode, **fields})


@pytest.mark.parametrize(
    ("side", "trade_side", "mode", "present", "past", "buys"),
    [
        ("buy", "open", "hedge_mode", "opens LONG", "opened LONG", True),
        ("Sell", "Close", "hedge_mode", "closes SHORT", "closed SHORT", True),
        ("sell", "sell_single", "one_way_mode", "sells", "sold", False),
        ("buy", "", "one_way_mode", "buys", "bought", True),
        ("sell", "reduce_close_long", "hedge_mode", "reduces LONG", "reduced LONG", False),
        ("buy", "offset_close_long", "hedge_mode", "offsets LONG", "offset LONG", False),
        ("buy", "burst_buy_single", "one_way_mode", "liquidates SHORT", "liquidated SHORT", True),
        ("buy", "delivery_close_short", "hedge_mode", "settles SHORT", "settled SHORT", True),
        ("sell", "dte_sys_adl_sell_in_single_side_mode", "one_way_mode", "deleverages LONG", "deleveraged LONG", False),
    ],
)
def test_an_effect_in_words(side: str, trade_side: str, mode: str, present: str, past: str, buys: bool) -> None:
    effect = terms_of(fill(side, trade_side, "1", mode=mode)).effect
    assert effect is not None
    assert (effect.present, effect.past, effect.buys) == (present, past, buys)


def test_a_reduce_only_order_of_one_way_mode_closes() -> None:
    effects = [effect_of_order(order(side, mode="one_way_mode", reduceOnly="YES")) for side in ("buy", "sell")]
    assert [effect.present for effect in effects if effect is not None] == ["closes SHORT", "closes LONG"]


def test_a_close_of_hedge_mode_is_the_same_with_and_without_reduce_only() -> None:
    assert effect_of_order(order("buy", "close", reduceOnly="YES")) == effect_of_order(order("buy", "close"))


@pytest.mark.parametrize(
    "unclear",
    [
        order("upwards", "open"),
        order("buy", "open", mode="quantum_mode"),
        order("buy", "open", reduceOnly="perhaps"),
        order("buy", "open", posSide="sideways"),
        order("upwards", "buy_single", mode="one_way_mode"),
    ],
)
def test_a_word_nobody_knows_gives_no_effect(unclear: PendingOrder) -> None:
    assert effect_of_order(unclear) is None


def test_the_mode_of_the_account_goes_before_that_of_the_order() -> None:
    assert effect_of_order(order("buy", "", mode=""), PositionMode.ONE_WAY) == TradeEffect(TradeAction.BUY)


def test_a_stop_without_trade_side_closes_by_its_kind_in_hedge_mode() -> None:
    assert effect_of_trigger(trigger("pos_loss", "sell")) == TradeEffect(TradeAction.CLOSE, SHORT)
    assert effect_of_trigger(trigger("normal_plan", "sell")) is None
    assert effect_of_trigger(trigger("pos_loss", "sell", mode="one_way_mode")) == TradeEffect(TradeAction.SELL)


def test_the_leg_that_an_order_names_goes_before_its_side() -> None:
    assert effect_of_trigger(trigger("pos_loss", "sell", "close", posSide="long")) == TradeEffect(
        TradeAction.CLOSE, LONG
    )

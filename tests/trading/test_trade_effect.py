"""What an order or fill does, in words: the leg in hedge mode, the direction in one-way mode, nothing by guessing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.trading.position_fills import fill
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.positions_from_fills import leg_of
from tradetui.trading.trade_effect import (
    Impact,
    ImpactKind,
    TradeAction,
    TradeEffect,
    effect_of_fill,
    effect_of_order,
    effect_of_trigger,
    impact_on,
)
from tradetui.wire.enums import PositionMode, PositionSide, TradeSide
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT


def order(side: str, trade_side: str = "", mode: str = "hedge_mode", **fields: str) -> PendingOrder:
    received = {"symbol": "BTCUSDT", "size": "2", "orderId": "7", "side": side, "tradeSide": trade_side}
    return PendingOrder.from_row({**received, "posMode": mode, **fields})


def trigger(plan_type: str, side: str, trade_side: str = "", mode: str = "hedge_mode", **fields: str) -> TriggerOrder:
    received = {"symbol": "BTCUSDT", "orderId": "8", "planType": plan_type, "side": side, "tradeSide": trade_side}
    return TriggerOrder.from_row({**received, "posMode": mode, **fields})


@pytest.mark.parametrize(
    ("side", "trade_side", "present", "past", "buys"),
    [
        ("buy", "open", "opens LONG", "opened LONG", True),
        ("sell", "open", "opens SHORT", "opened SHORT", False),
        ("buy", "close", "closes LONG", "closed LONG", False),
        ("sell", "close", "closes SHORT", "closed SHORT", True),
        ("Sell", "Close", "closes SHORT", "closed SHORT", True),
        ("buy", "burst_close_short", "liquidates SHORT", "liquidated SHORT", True),
        ("sell", "reduce_close_long", "reduces LONG", "reduced LONG", False),
        ("sell", "dte_sys_adl_close_long", "deleverages LONG", "deleveraged LONG", False),
    ],
)
def test_hedge_mode_names_the_leg_and_not_the_direction(
    side: str, trade_side: str, present: str, past: str, buys: bool
) -> None:
    effect = effect_of_order(order(side, trade_side))
    assert effect is not None
    assert (effect.present, effect.past, effect.buys) == (present, past, buys)
    assert effect_of_fill(fill(side, trade_side, "1")) == effect


@pytest.mark.parametrize(
    ("side", "trade_side", "past"),
    [
        ("buy", "buy_single", "bought"),
        ("sell", "sell_single", "sold"),
        ("sell", "open", "sold"),
        ("buy", "", "bought"),
        ("buy", "burst_buy_single", "liquidated SHORT"),
        ("sell", "dte_sys_adl_sell_in_single_side_mode", "deleveraged LONG"),
    ],
)
def test_one_way_mode_goes_by_the_side_alone(side: str, trade_side: str, past: str) -> None:
    effect = effect_of_fill(fill(side, trade_side, "1", mode="one_way_mode"))
    assert effect is not None
    assert effect.past == past
    assert effect.buys == (side == "buy")


def test_a_reduce_only_order_of_one_way_mode_closes() -> None:
    effects = [effect_of_order(order(side, mode="one_way_mode", reduceOnly="YES")) for side in ("buy", "sell")]
    assert [effect.present for effect in effects if effect is not None] == ["closes SHORT", "closes LONG"]


def test_a_close_of_hedge_mode_is_the_same_with_and_without_reduce_only() -> None:
    assert effect_of_order(order("buy", "close", reduceOnly="YES")) == effect_of_order(order("buy", "close"))


@pytest.mark.parametrize(
    "unclear",
    [
        order("upwards", "open"),
        order("buy", "sideways"),
        order("buy", "open", mode="quantum_mode"),
        order("buy", "buy_single"),
        order("buy", "", mode=""),
        order("buy", "open", reduceOnly="perhaps"),
        order("buy", "open", posSide="sideways"),
        order("upwards", "buy_single", mode="one_way_mode"),
    ],
)
def test_a_word_nobody_knows_gives_no_effect(unclear: PendingOrder) -> None:
    assert effect_of_order(unclear) is None


@pytest.mark.parametrize("trade_side", TradeSide)
def test_every_word_of_the_interface_has_an_effect_without_the_mode(trade_side: TradeSide) -> None:
    received = fill("buy", trade_side, "1", mode="")
    effect = effect_of_fill(received)
    assert effect is not None
    if "single" not in trade_side:
        assert (effect.leg, effect.action is TradeAction.OPEN) == leg_of(received)


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


BUY, SELL = TradeEffect(TradeAction.BUY), TradeEffect(TradeAction.SELL)
CLOSE_LONG, OPEN_LONG = TradeEffect(TradeAction.CLOSE, LONG), TradeEffect(TradeAction.OPEN, LONG)


@pytest.mark.parametrize(
    ("effect", "size", "held", "impact"),
    [
        (OPEN_LONG, "1", Legs(long=Decimal(2)), Impact(ImpactKind.ADDS, LONG)),
        (OPEN_LONG, "1", Legs(short=Decimal(2)), Impact(ImpactKind.OPENS_AGAINST, LONG)),
        (OPEN_LONG, "1", Legs(), Impact(ImpactKind.OPENS, LONG)),
        (CLOSE_LONG, "1", Legs(long=Decimal(2)), Impact(ImpactKind.REDUCES, LONG)),
        (CLOSE_LONG, "2", Legs(long=Decimal(2)), Impact(ImpactKind.CLOSES, LONG)),
        (CLOSE_LONG, None, Legs(long=Decimal(2)), Impact(ImpactKind.CLOSES, LONG)),
        (CLOSE_LONG, "1", Legs(short=Decimal(2)), Impact(ImpactKind.NOTHING, LONG)),
        (BUY, "1", Net(Decimal(2)), Impact(ImpactKind.ADDS, LONG)),
        (BUY, "1", Net(), Impact(ImpactKind.OPENS, LONG)),
        (BUY, "1", Net(Decimal(-2)), Impact(ImpactKind.REDUCES, SHORT)),
        (BUY, "2", Net(Decimal(-2)), Impact(ImpactKind.CLOSES, SHORT)),
        (BUY, "3", Net(Decimal(-2)), Impact(ImpactKind.TURNS, LONG)),
        (SELL, "1", Net(Decimal(-2)), Impact(ImpactKind.ADDS, SHORT)),
        (CLOSE_LONG, "3", Net(Decimal(2)), Impact(ImpactKind.CLOSES, LONG)),
        (CLOSE_LONG, "3", Net(Decimal(-2)), Impact(ImpactKind.NOTHING, LONG)),
        (BUY, "1", Legs(long=Decimal(2)), None),
        (OPEN_LONG, "1", Net(Decimal(2)), None),
    ],
)
def test_what_an_order_does_to_what_is_held(
    effect: TradeEffect, size: str | None, held: Holdings, impact: Impact | None
) -> None:
    assert impact_on(effect, None if size is None else Decimal(size), held) == impact


@pytest.mark.parametrize(
    ("impact", "new", "phrase"),
    [
        (Impact(ImpactKind.ADDS, SHORT), SHORT, "adds to the new SHORT"),
        (Impact(ImpactKind.ADDS, LONG), SHORT, "adds to the LONG"),
        (Impact(ImpactKind.OPENS_AGAINST, SHORT), LONG, "opens a SHORT against the new LONG"),
        (Impact(ImpactKind.OPENS, SHORT), None, "opens a SHORT"),
        (Impact(ImpactKind.REDUCES, LONG), LONG, "reduces the new LONG"),
        (Impact(ImpactKind.CLOSES, LONG), None, "closes the LONG"),
        (Impact(ImpactKind.TURNS, LONG), SHORT, "closes the new SHORT and opens a LONG"),
        (Impact(ImpactKind.NOTHING, LONG), SHORT, "has no LONG left to close"),
    ],
)
def test_an_impact_reads_as_a_sentence_about_the_leg(impact: Impact, new: PositionSide | None, phrase: str) -> None:
    assert impact.phrase(new) == phrase

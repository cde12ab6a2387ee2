"""A symbol's resting orders and stops as they will stand after a reversal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

from tradetui.trading.holdings import Holdings, Legs
from tradetui.trading.money import ZERO, exact_digits
from tradetui.trading.reversal import ReversalPlan
from tradetui.trading.trade_effect import (
    CLOSING_PLANS,
    Impact,
    ImpactKind,
    TradeAction,
    TradeEffect,
    effect_of_order,
    effect_of_trigger,
    impact_on,
)
from tradetui.wire.enums import PlanType, PositionSide, known
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

NOT_KNOWN: Final = "what it does is not known"


class RestingKind(StrEnum):
    """What rests at the exchange; the value is its name on the screen."""

    ORDER = "order"
    STOP_LOSS = "stop-loss"
    TAKE_PROFIT = "take-profit"
    TRAILING_STOP = "trailing stop"
    TRIGGER = "trigger order"


_KIND_OF_PLAN: Final = {
    PlanType.LOSS_PLAN: RestingKind.STOP_LOSS,
    PlanType.POS_LOSS: RestingKind.STOP_LOSS,
    PlanType.PROFIT_PLAN: RestingKind.TAKE_PROFIT,
    PlanType.POS_PROFIT: RestingKind.TAKE_PROFIT,
    PlanType.MOVING_PLAN: RestingKind.TRAILING_STOP,
}


@dataclass(frozen=True, slots=True)
class OrderImpact:
    """One order, what it will do to the new position, and whether that is against the trader's intent.

    `action` is what it trades without its price: `buy 0.1186`, `whole LONG`. `price` is where it fills or fires, None
    at the market. `done` is the filled part of it, a fraction. `assumed` is whether the live exchange may end it.
    """

    order_id: str
    kind: RestingKind
    action: str
    price: Decimal | None
    effect: str
    wrong_way: bool = False
    assumed: bool = False
    done: Decimal = ZERO

    @property
    def summary(self) -> str:
        """Action and price with every digit, and the kind of what is no plain order."""
        at = f"at {exact_digits(self.price)}" if self.price is not None else "at the market"
        kind = "" if self.kind is RestingKind.ORDER else f"{self.kind} "
        return f"{kind}{self.action} {at}"


@dataclass(frozen=True, slots=True)
class StopLoss:
    """A stop-loss that waits: the leg it closes, its trigger price, its size; a size of None is the whole leg."""

    leg: PositionSide
    price: Decimal
    size: Decimal | None


def resting_after(
    plan: ReversalPlan,
    orders: Iterable[PendingOrder],
    stops: Iterable[TriggerOrder],
    held: Holdings | None = None,
) -> tuple[OrderImpact, ...]:
    """Every order and live stop of the symbol; those made for the old side are marked.

    They are seen from what is held, where that is known already, else from all that the plan may lead to.
    """
    afters = (held,) if held is not None else tuple(result.after for result in plan.results)
    outlook = _Outlook(plan, afters, is_known=held is not None)
    return tuple(_order(outlook, order) for order in orders) + tuple(_stop(outlook, stop) for stop in stops)


@dataclass(frozen=True, slots=True)
class _Outlook:
    """What a plan leads to: all that may be held afterwards, or what is held, where that is known."""

    plan: ReversalPlan
    afters: tuple[Holdings, ...]
    is_known: bool

    @property
    def old(self) -> PositionSide:
        """The leg that is given up."""
        return PositionSide.LONG if self.plan.reverses_long else PositionSide.SHORT

    @property
    def new(self) -> PositionSide:
        """The leg that is opened."""
        return PositionSide.SHORT if self.plan.reverses_long else PositionSide.LONG


def nearest_stop_loss(plan: ReversalPlan, stops: Iterable[TriggerOrder], leg: PositionSide) -> StopLoss | None:
    """Of the stop-losses that close a leg the first to fire: the highest of a LONG, the lowest of a SHORT."""
    waiting = [
        stop_loss for stop in stops if (stop_loss := _stop_loss(plan, stop)) is not None and stop_loss.leg is leg
    ]
    if not waiting:
        return None
    return (max if leg is PositionSide.LONG else min)(waiting, key=lambda stop_loss: stop_loss.price)


def trailing_sizes(plan: ReversalPlan, stops: Iterable[TriggerOrder], leg: PositionSide) -> tuple[Decimal | None, ...]:
    """The size of each trailing stop that closes a leg; None is the whole leg."""
    return tuple(
        stop.size or None
        for stop in stops
        if _kind(stop) is RestingKind.TRAILING_STOP
        and (effect := effect_of_trigger(stop, plan.wish.mode)) is not None
        and _closed_leg(effect) is leg
    )


def _stop_loss(plan: ReversalPlan, stop: TriggerOrder) -> StopLoss | None:
    effect = effect_of_trigger(stop, plan.wish.mode)
    if _kind(stop) is not RestingKind.STOP_LOSS or effect is None or not stop.trigger_price:
        return None
    return StopLoss(_closed_leg(effect), stop.trigger_price, stop.size or None)


def _kind(stop: TriggerOrder) -> RestingKind:
    plan_type = known(PlanType, stop.plan_type)
    return _KIND_OF_PLAN.get(plan_type, RestingKind.TRIGGER) if plan_type is not None else RestingKind.TRIGGER


def _closed_leg(effect: TradeEffect) -> PositionSide:
    return effect.leg or (PositionSide.SHORT if effect.buys else PositionSide.LONG)


def _order(outlook: _Outlook, order: PendingOrder) -> OrderImpact:
    effect = effect_of_order(order, outlook.plan.wish.mode)
    filled = order.base_volume or ZERO
    done = filled / order.size if order.size else ZERO
    if effect is None:
        action = " ".join(filter(None, (order.side, order.trade_side, exact_digits(order.size))))
        return OrderImpact(order.order_id, RestingKind.ORDER, action, order.price, NOT_KNOWN, wrong_way=True, done=done)
    action = f"{'buy' if effect.buys else 'sell'} {exact_digits(order.size)}"
    text, wrong, assumed = _effect(outlook, effect, order.size - filled, is_stop=False)
    return OrderImpact(order.order_id, RestingKind.ORDER, action, order.price, text, wrong, assumed, done)


def _stop(outlook: _Outlook, stop: TriggerOrder) -> OrderImpact:
    kind, effect, size = _kind(stop), effect_of_trigger(stop, outlook.plan.wish.mode), stop.size or None
    if effect is None:
        action = " ".join(filter(None, (stop.side, stop.trade_side, exact_digits(size) if size else "")))
        return OrderImpact(stop.order_id, kind, action, stop.trigger_price, NOT_KNOWN, wrong_way=True)
    is_stop = known(PlanType, stop.plan_type) in CLOSING_PLANS
    if is_stop:
        leg = _closed_leg(effect).upper()
        action = f"{exact_digits(size)} of the {leg}" if size else f"whole {leg}"
    else:
        action = f"{'buy' if effect.buys else 'sell'} {exact_digits(size) if size else ''}".strip()
    text, wrong, assumed = _effect(outlook, effect, size, is_stop=is_stop)
    return OrderImpact(stop.order_id, kind, action, stop.trigger_price, text, wrong, assumed)


def _effect(outlook: _Outlook, effect: TradeEffect, size: Decimal | None, *, is_stop: bool) -> tuple[str, bool, bool]:
    """What an order will do in words, whether that is against the trader's intent, and whether it is assumed.

    Hedge mode: an open on the leg that was just given up builds it again; whatever else there is stays with its leg.
    One-way mode: what counts is the net it meets. An order that goes the way of a net that has turned round (a
    protective stop or a take-profit of the old position) adds to it, unless the order itself may only reduce.
    """
    impacts = [impact_on(effect, size, after) for after in outlook.afters]
    met = [impact for impact in impacts if impact is not None]
    if len(met) < len(impacts):
        return NOT_KNOWN, True, False
    wrong = [_is_wrong(outlook, effect, impact) for impact in met]
    texts = [
        _text(outlook, after, effect, impact, size, is_wrong=is_wrong)
        for after, impact, is_wrong in zip(outlook.afters, met, wrong, strict=True)
    ]
    text = " or ".join(dict.fromkeys(texts))
    if outlook.is_known:
        return text, any(wrong), False
    if is_stop and any(wrong) and _closed_leg(effect) is outlook.old:
        return f"ends with the {outlook.old.upper()} (assumed), else {text}", True, True
    assumed = any(impact.kind is ImpactKind.NOTHING and impact.leg is outlook.old for impact in met)
    return text, any(wrong), assumed


def _is_wrong(outlook: _Outlook, effect: TradeEffect, impact: Impact) -> bool:
    if effect.leg is not None:
        return effect.action is TradeAction.OPEN and effect.leg is outlook.old
    return impact.kind is ImpactKind.ADDS and impact.leg is outlook.new


def _text(
    outlook: _Outlook, after: Holdings, effect: TradeEffect, impact: Impact, size: Decimal | None, *, is_wrong: bool
) -> str:
    before = outlook.plan.before
    phrase = impact.phrase(None if _size_of(before, outlook.new) else outlook.new)
    held, then = _size_of(before, impact.leg), _size_of(after, impact.leg)
    if isinstance(before, Legs) and held and not outlook.is_known:
        if impact.kind is ImpactKind.NOTHING:
            return f"ends with the {impact.leg.upper()} (assumed)"
        if impact.kind is ImpactKind.CLOSES and size is None:
            return "stays" if held == then else f"stays, for {exact_digits(then)} instead of {exact_digits(held)}"
        if effect.action is TradeAction.CLOSE:
            return f"stays, {phrase}"
    return _loud(phrase) if is_wrong else phrase


def _size_of(held: Holdings, leg: PositionSide) -> Decimal:
    if isinstance(held, Legs):
        return held.long if leg is PositionSide.LONG else held.short
    return max(held.net if leg is PositionSide.LONG else -held.net, ZERO)


def _loud(phrase: str) -> str:
    head, against, leg = phrase.partition(" against")
    return f"{head.upper()}{against}{leg}"

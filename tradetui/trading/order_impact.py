"""A symbol's resting orders and stops as they will stand after a reversal.

Orders made for the side that is given up may build it again: those are marked as against the trader's intent, and so is
one whose effect is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.trading.contract_math import ZERO, grouped_digits
from tradetui.trading.holdings import Holdings, Legs
from tradetui.trading.reversal import ReversalPlan
from tradetui.trading.trade_effect import (
    CLOSING_PLANS,
    Impact,
    ImpactKind,
    TradeAction,
    TradeEffect,
    effect_of_order,
    effect_of_trigger,
    held_after_fill,
    impact_on,
)
from tradetui.wire.enums import PlanType, known
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

NOT_KNOWN: Final = "what it does is not known"
_AFTER_NEARER: Final = ", once nearer ones fill"


class RestingKind(StrEnum):
    """The kinds of resting orders; the value is the name on the screen."""

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
    """One order, its effect on the new position, and whether that is against the trader's intent.

    `action` is its trade without the price: `buy 0.1186`, `whole LONG`. `price` is where it fills or fires, None at the
    market. `done` is its filled fraction. `assumed` is whether the live exchange may end it.
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
        """Action and price with every digit, and the kind unless it is a plain order."""
        at = f"at {grouped_digits(self.price)}" if self.price is not None else "at the market"
        kind = "" if self.kind is RestingKind.ORDER else f"{self.kind} "
        return f"{kind}{self.action} {at}"


def resting_after(
    plan: ReversalPlan,
    orders: Iterable[PendingOrder],
    stops: Iterable[TriggerOrder],
    held: Holdings | None = None,
    *,
    market: Decimal | None = None,
) -> tuple[OrderImpact, ...]:
    """Every order and live stop of the symbol; those made for the old side are marked.

    Their effect is on what is held, where that is known already, else on every possible result of the plan. With a
    market price (quote coin), orders nearer to it come first; without one, every order is seen as if it were alone.
    """
    afters = (held,) if held is not None else tuple(result.after for result in plan.results)
    resting = (*(_order(order, plan) for order in orders), *(_stop(stop, plan) for stop in stops))
    outlook = _Outlook(plan, afters, is_known=held is not None)
    if market:
        path = [
            PathOrder(row.order_id, row.price, row.effect, row.size, row.is_stop)
            for row in resting
            if row.effect is not None and row.price is not None and outlook.fills(row, row.effect)
        ]
        outlook = replace(outlook, turns=tuple(held_at_turn(path, market, after) for after in afters))
    return tuple(_impact_of(outlook, row) for row in resting)


@dataclass(frozen=True, slots=True)
class _Resting:
    """An order or a stop as it rests. `size` is what it has left, in the base coin; None is all that it can close."""

    order_id: str
    kind: RestingKind
    action: str
    price: Decimal | None
    effect: TradeEffect | None
    size: Decimal | None
    is_stop: bool = False
    done: Decimal = ZERO


@dataclass(frozen=True, slots=True)
class _Outlook:
    """The outcomes of a plan: every possible result, or the actual holdings where they are known.

    `turns` holds, per outcome, the holdings when an order's turn comes, by its id; without them every order is alone.
    """

    plan: ReversalPlan
    afters: tuple[Holdings, ...]
    is_known: bool
    turns: tuple[Mapping[str, Holdings], ...] = ()

    def met_by(self, row: _Resting, index: int) -> Holdings:
        """The holdings when the order's turn comes, in the outcome of this index."""
        return self.turns[index].get(row.order_id, self.afters[index]) if self.turns else self.afters[index]

    def ends(self, row: _Resting, effect: TradeEffect, impacts: Sequence[Impact]) -> bool:
        """Whether the exchange is assumed to end it with the leg that is given up."""
        if self.is_known:
            return False
        protects_old = row.is_stop and effect.closed_leg is self.plan.closed_leg
        return any(
            (impact.kind is ImpactKind.NOTHING and impact.leg is self.plan.closed_leg)
            or (protects_old and _is_wrong(self, effect, impact))
            for impact in impacts
        )

    def fills(self, row: _Resting, effect: TradeEffect) -> bool:
        """Whether it changes the holdings that later orders meet."""
        impacts = [impact_on(effect, row.size, after) for after in self.afters]
        met = [impact for impact in impacts if impact is not None]
        return len(met) == len(impacts) and not self.ends(row, effect, met)


def _kind(stop: TriggerOrder) -> RestingKind:
    plan_type = known(PlanType, stop.plan_type)
    return _KIND_OF_PLAN.get(plan_type, RestingKind.TRIGGER) if plan_type is not None else RestingKind.TRIGGER


def _order(order: PendingOrder, plan: ReversalPlan) -> _Resting:
    effect = effect_of_order(order, plan.params.mode)
    filled = order.base_volume or ZERO
    action = _action(order, effect, plan.size_text(order.size))
    done = filled / order.size if order.size else ZERO
    kind, left = RestingKind.ORDER, order.size - filled
    return _Resting(order.order_id, kind, action, order.price, effect, left, done=done)


def _action(order: PendingOrder | TriggerOrder, effect: TradeEffect | None, digits: str) -> str:
    """The trade of an order, such as `buy 0.1186`; unknown terms stay as received."""
    if effect is None:
        return " ".join(filter(None, (order.side, order.trade_side, digits)))
    return f"{'buy' if effect.buys else 'sell'} {digits}".strip()


def _stop(stop: TriggerOrder, plan: ReversalPlan) -> _Resting:
    effect, size = effect_of_trigger(stop, plan.params.mode), stop.size or None
    digits = plan.size_text(size) if size else ""
    action, is_stop = _action(stop, effect, digits), False
    if effect is not None and known(PlanType, stop.plan_type) in CLOSING_PLANS:
        leg, is_stop = effect.closed_leg.upper(), True
        action = f"{digits} of the {leg}" if size else f"whole {leg}"
    return _Resting(stop.order_id, _kind(stop), action, stop.trigger_price, effect, size, is_stop)


def _impact_of(outlook: _Outlook, row: _Resting) -> OrderImpact:
    text, is_wrong, is_assumed = _effect(outlook, row)
    return OrderImpact(row.order_id, row.kind, row.action, row.price, text, is_wrong, is_assumed, row.done)


class _Effect(NamedTuple):
    """The effect of an order in words, whether it is against the trader's intent, and whether it is assumed."""

    text: str
    is_wrong: bool
    is_assumed: bool = False


_UNKNOWN_EFFECT: Final = _Effect(NOT_KNOWN, is_wrong=True)


def _effect(outlook: _Outlook, row: _Resting) -> _Effect:
    """The effect of an order on every outcome of the plan.

    Hedge mode: an open on the leg that was just given up builds it again; whatever else there is stays with its leg.
    One-way mode: what counts is the net it meets. An order that goes the way of a net that has turned round (a
    protective stop or a take-profit of the old position) adds to it, unless the order itself may only reduce.
    """
    effect, size = row.effect, row.size
    if effect is None:
        return _UNKNOWN_EFFECT
    texts, texts_alone, impacts_alone, is_wrong = [], [], [], False
    for index, after in enumerate(outlook.afters):
        met = outlook.met_by(row, index)
        impact, impact_alone = impact_on(effect, size, met), impact_on(effect, size, after)
        if impact is None or impact_alone is None:
            return _UNKNOWN_EFFECT
        impacts_alone.append(impact_alone)
        texts.append(_text(outlook, met, effect, impact, size))
        texts_alone.append(_text(outlook, after, effect, impact_alone, size))
        is_wrong = is_wrong or _is_wrong(outlook, effect, impact)
    text = f"{' or '.join(dict.fromkeys(texts))}{_AFTER_NEARER if texts != texts_alone else ''}"
    is_assumed = outlook.ends(row, effect, impacts_alone)
    if is_assumed and is_wrong:
        text = f"cancelled with the {outlook.plan.closed_leg.upper()} (assumed), else {text}"
    return _Effect(text, is_wrong, is_assumed)


def _is_wrong(outlook: _Outlook, effect: TradeEffect, impact: Impact) -> bool:
    if effect.leg is not None:
        return effect.action is TradeAction.OPEN and effect.leg is outlook.plan.closed_leg
    return impact.kind is ImpactKind.ADDS and impact.leg is outlook.plan.opened_leg


def _text(outlook: _Outlook, met: Holdings, effect: TradeEffect, impact: Impact, size: Decimal | None) -> str:
    """The effect of an order of a size on the holdings it meets."""
    before, size_text, opened = outlook.plan.before, outlook.plan.size_text, outlook.plan.opened_leg
    phrase = impact.phrase(None if before.size_of(opened) else opened)
    held, then = before.size_of(impact.leg), met.size_of(impact.leg)
    if impact.kind is ImpactKind.CLOSES and size is not None and size > then:
        phrase = f"{phrase}, {size_text(then)} of its {size_text(size)}"
    if isinstance(before, Legs) and held and not outlook.is_known:
        if impact.kind is ImpactKind.NOTHING and impact.leg is outlook.plan.closed_leg:
            return f"cancelled with the {impact.leg.upper()} (assumed)"
        if impact.kind is ImpactKind.CLOSES and size is None:
            return "stays" if held == then else f"stays, for {size_text(then)} instead of {size_text(held)}"
        if effect.action is TradeAction.CLOSE:
            return f"stays, {phrase}"
    return _loud(phrase) if _is_wrong(outlook, effect, impact) else phrase


def _loud(phrase: str) -> str:
    """The phrase in capitals, but for the leg that it names as opposed."""
    head, against, leg = phrase.partition(" against")
    return f"{head.upper()}{against}{leg}"


@dataclass(frozen=True, slots=True)
class PathOrder:
    """An order with the price (quote coin) at which it fills or fires; a size (base coin) of None is all it can close.

    `is_stop` is whether it is a stop-loss, take-profit or trailing stop.
    """

    order_id: str
    price: Decimal
    effect: TradeEffect
    size: Decimal | None
    is_stop: bool = False


def held_at_turn(orders: Iterable[PathOrder], market: Decimal, held: Holdings) -> Mapping[str, Holdings]:
    """The holdings just before an order fills, by its id, should the price go straight to it from the market.

    An order that opens is seen as if no stop had fired before it: stops protect holdings, and the order is examined
    for what it adds to that.
    """
    orders = tuple(orders)
    below = sorted((order for order in orders if order.price < market), key=lambda order: -order.price)
    above = sorted((order for order in orders if order.price >= market), key=lambda order: order.price)
    return _along(below, held) | _along(above, held)


def _along(path: Sequence[PathOrder], held: Holdings) -> dict[str, Holdings]:
    turns: dict[str, Holdings] = {}
    with_stops = without_stops = held
    for order in path:
        turns[order.order_id] = without_stops if order.effect.action is TradeAction.OPEN else with_stops
        with_stops = held_after_fill(order.effect, order.size, with_stops)
        if not order.is_stop:
            without_stops = held_after_fill(order.effect, order.size, without_stops)
    return turns

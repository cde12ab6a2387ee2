"""A symbol's resting orders and stops as they will stand after a reversal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.money import exact_digits
from tradetui.trading.reversal import ReversalPlan
from tradetui.trading.trade_effect import (
    Impact,
    ImpactKind,
    TradeAction,
    TradeEffect,
    effect_of_order,
    effect_of_trigger,
    impact_on,
)
from tradetui.wire.enums import PositionSide
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

_NOT_KNOWN: Final = "what it would do is not known"


@dataclass(frozen=True, slots=True)
class OrderImpact:
    """One order in words, what it would do to the new position, and whether that is against the trader's intent."""

    order_id: str
    summary: str
    wrong_way: bool
    effect: str


def resting_after(
    plan: ReversalPlan,
    orders: Iterable[PendingOrder],
    stops: Iterable[TriggerOrder],
    held: Holdings | None = None,
) -> tuple[OrderImpact, ...]:
    """Every order and live stop of the symbol; those made for the old side are marked.

    They are seen from what is held, where that is known already, else from all that the plan may lead to.
    """
    afters = [held] if held is not None else [result.after for result in plan.results]
    return tuple(_order(plan, afters, order) for order in orders) + tuple(_stop(plan, afters, stop) for stop in stops)


def _order(plan: ReversalPlan, afters: Sequence[Holdings], order: PendingOrder) -> OrderImpact:
    price = exact_digits(order.price) if order.price is not None else "market"
    summary = f"{order.side} {order.trade_side or ''} {exact_digits(order.size)} at {price}".replace("  ", " ")
    unfilled = order.size - (order.base_volume or 0)
    return _resting(plan, afters, order.order_id, summary, effect_of_order(order, plan.wish.mode), unfilled)


def _stop(plan: ReversalPlan, afters: Sequence[Holdings], stop: TriggerOrder) -> OrderImpact:
    at = exact_digits(stop.trigger_price) if stop.trigger_price is not None else "its trigger"
    summary = f"{stop.plan_type or 'trigger'} {stop.side or ''} {stop.trade_side or ''} when {at}".replace("  ", " ")
    return _resting(plan, afters, stop.order_id, summary, effect_of_trigger(stop, plan.wish.mode), stop.size or None)


def _resting(
    plan: ReversalPlan,
    afters: Sequence[Holdings],
    order_id: str,
    summary: str,
    effect: TradeEffect | None,
    size: Decimal | None,
) -> OrderImpact:
    """Name the effect on everything that may be held; of an order with a word that nobody knows only that is said."""
    impacts = [None if effect is None else impact_on(effect, size, after) for after in afters]
    if effect is None or None in impacts:
        return OrderImpact(order_id, summary, True, _NOT_KNOWN)
    given_up, new = (
        (PositionSide.LONG, PositionSide.SHORT) if plan.reverses_long else (PositionSide.SHORT, PositionSide.LONG)
    )
    called_new = None if _size_of(plan.before, new) else new
    phrases = dict.fromkeys(impact.phrase(called_new) for impact in impacts if impact is not None)
    wrong_way = (effect.action is TradeAction.OPEN and effect.leg is given_up) or any(
        impact is not None and _adds_to_turned_net(impact, after, new)
        for impact, after in zip(impacts, afters, strict=True)
    )
    return OrderImpact(order_id, summary, wrong_way, " or ".join(phrases))


def _adds_to_turned_net(impact: Impact, after: Holdings, new: PositionSide) -> bool:
    """Whether an order of one-way mode, such as a stop of the old position, adds to the net that has turned round."""
    return isinstance(after, Net) and impact.kind is ImpactKind.ADDS and impact.leg is new


def _size_of(held: Holdings, leg: PositionSide) -> Decimal:
    if isinstance(held, Legs):
        return held.long if leg is PositionSide.LONG else held.short
    return max(held.net if leg is PositionSide.LONG else -held.net, Decimal(0))

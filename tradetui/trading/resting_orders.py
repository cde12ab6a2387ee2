"""A symbol's resting orders and stops as they will stand after a reversal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tradetui.trading.money import plain
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.futures import PendingOrder, TriggerOrder
from tradetui.wire.vocabulary import PositionMode, same


@dataclass(frozen=True, slots=True)
class Resting:
    """One order in words, what it would do to the new position, and whether that is against the trader's intent."""

    order_id: str
    words: str
    wrong_way: bool
    effect: str


def resting_after(
    plan: ReversalPlan, orders: Iterable[PendingOrder], stops: Iterable[TriggerOrder]
) -> tuple[Resting, ...]:
    """Every order and live stop of the symbol; those made for the old side are marked."""
    return tuple(_order(plan, order) for order in orders) + tuple(_stop(plan, stop) for stop in stops)


def _order(plan: ReversalPlan, order: PendingOrder) -> Resting:
    price = plain(order.price) if order.price is not None else "market"
    words = f"{order.side} {order.trade_side or ''} {plain(order.size)} at {price}".replace("  ", " ")
    return _resting(plan, order.order_id, words, order.side, order.trade_side, reduces=bool(order.is_reduce_only))


def _stop(plan: ReversalPlan, stop: TriggerOrder) -> Resting:
    at = plain(stop.trigger_price) if stop.trigger_price is not None else "its trigger"
    words = f"{stop.plan_type or 'trigger'} {stop.side or ''} {stop.trade_side or ''} when {at}".replace("  ", " ")
    return _resting(plan, stop.order_id, words, stop.side, stop.trade_side, reduces=False)


def _resting(
    plan: ReversalPlan, order_id: str, words: str, side: str | None, trade_side: str | None, *, reduces: bool
) -> Resting:
    """Name the effect on what will be held.

    Hedge mode: an open on the leg that was just given up builds it again; whatever else there is stays with its leg.
    One-way mode: an order against the old position (a protective stop, a take-profit) goes the way of the new one
    and adds to it, unless the order itself may only reduce; one that would have added to the old reduces the new.
    """
    with_old = same(side, "buy") == plan.reverses_long
    if plan.wish.mode is PositionMode.HEDGE:
        wrong = same(trade_side, "open") and with_old
        return Resting(order_id, words, wrong, "WOULD ADD TO THE WRONG SIDE" if wrong else "stays")
    if with_old:
        return Resting(order_id, words, False, "would reduce what is held then")
    if reduces:
        return Resting(order_id, words, False, "reduce-only: nothing left for it to reduce")
    return Resting(order_id, words, True, "WOULD ADD TO THE WRONG SIDE")

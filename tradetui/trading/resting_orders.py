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
    """One order in words, and whether it would add to the side that is opened against the trader's intent."""

    order_id: str
    words: str
    wrong_way: bool


def resting_after(
    plan: ReversalPlan, orders: Iterable[PendingOrder], stops: Iterable[TriggerOrder]
) -> tuple[Resting, ...]:
    """Every order and live stop of the symbol; those made for the old side are marked."""
    return tuple(_order(plan, order) for order in orders) + tuple(_stop(plan, stop) for stop in stops)


def _order(plan: ReversalPlan, order: PendingOrder) -> Resting:
    price = plain(order.price) if order.price is not None else "market"
    words = f"{order.side} {order.trade_side or ''} {plain(order.size)} at {price}".replace("  ", " ")
    return Resting(order.order_id, words, _is_wrong(plan, order.side, order.trade_side, closes=order.is_reduce_only))


def _stop(plan: ReversalPlan, stop: TriggerOrder) -> Resting:
    at = plain(stop.trigger_price) if stop.trigger_price is not None else "its trigger"
    words = f"{stop.plan_type or 'trigger'} {stop.side or ''} {stop.trade_side or ''} when {at}".replace("  ", " ")
    closes = not same(stop.plan_type, "normal_plan") and not same(stop.plan_type, "track_plan")
    return Resting(stop.order_id, words, _is_wrong(plan, stop.side, stop.trade_side, closes=closes))


def _is_wrong(plan: ReversalPlan, side: str | None, trade_side: str | None, *, closes: bool) -> bool:
    """Whether an order made for the old position would add to the wrong side once it is reversed.

    Hedge mode: an open on the leg that was just given up. One-way mode: an order against the old position (a
    protective stop or a take-profit) now goes the way of the new one and adds to it.
    """
    buys = same(side, "buy")
    if plan.wish.mode is PositionMode.HEDGE:
        opens = same(trade_side, "open")
        return opens and buys == plan.reverses_long
    against_old = buys != plan.reverses_long
    return against_old or (closes and against_old)

"""A symbol's resting orders and stops as they will stand after a reversal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.trading.holdings import Holdings, Net
from tradetui.trading.money import exact_digits
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import PositionMode, Side, TradeSide, known
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

WRONG: Final = "WOULD ADD TO THE WRONG SIDE"
_NOT_KNOWN: Final = "what it would do is not known"
_MAY_ONLY_REDUCE: Final = {"yes": True, "true": True, "no": False, "false": False}


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
    nets = [after.net for after in afters if isinstance(after, Net)]
    return tuple(_order(plan, nets, order) for order in orders) + tuple(_stop(plan, nets, stop) for stop in stops)


def _order(plan: ReversalPlan, nets: Sequence[Decimal], order: PendingOrder) -> OrderImpact:
    price = exact_digits(order.price) if order.price is not None else "market"
    description = f"{order.side} {order.trade_side or ''} {exact_digits(order.size)} at {price}".replace("  ", " ")
    return _resting(plan, nets, order.order_id, description, order.side, order.trade_side, order.reduce_only)


def _stop(plan: ReversalPlan, nets: Sequence[Decimal], stop: TriggerOrder) -> OrderImpact:
    at = exact_digits(stop.trigger_price) if stop.trigger_price is not None else "its trigger"
    description = f"{stop.plan_type or 'trigger'} {stop.side or ''} {stop.trade_side or ''} when {at}".replace(
        "  ", " "
    )
    return _resting(plan, nets, stop.order_id, description, stop.side, stop.trade_side, None)


def _resting(
    plan: ReversalPlan,
    nets: Sequence[Decimal],
    order_id: str,
    description: str,
    side: str | None,
    trade_side: str | None,
    reduce_only: str | None,
) -> OrderImpact:
    """Name the effect on what will be held.

    Hedge mode: an open on the leg that was just given up builds it again; whatever else there is stays with its leg.
    One-way mode: what counts is the net it meets. An order that goes the way of a net that has turned round (a
    protective stop or a take-profit of the old position) adds to it, unless the order itself may only reduce.
    Of an order with a word that nobody knows nothing is said but that; it is marked.
    """
    buys = known(Side, side) is Side.BUY
    hedge = plan.wish.mode is PositionMode.HEDGE
    reduces = False if reduce_only is None else _MAY_ONLY_REDUCE.get(reduce_only.lower())
    kind = known(TradeSide, trade_side)
    side_matters = kind is TradeSide.OPEN or not hedge
    if (
        reduces is None
        or (hedge and trade_side is not None and kind is None)
        or (side_matters and known(Side, side) is None)
    ):
        return OrderImpact(order_id, description, True, _NOT_KNOWN)
    if hedge:
        wrong = kind is TradeSide.OPEN and buys == plan.reverses_long
        return OrderImpact(order_id, description, wrong, WRONG if wrong else "stays")
    effects = list(dict.fromkeys(_effect(plan, net, buys=buys, reduces=reduces) for net in nets))
    return OrderImpact(order_id, description, WRONG in effects, " or ".join(effects) or "stays")


def _effect(plan: ReversalPlan, net: Decimal, *, buys: bool, reduces: bool) -> str:
    if net == 0:
        return "reduce-only: nothing left for it to reduce" if reduces else "would open a position anew"
    if buys != (net > 0):
        return "would reduce what is held then"
    if reduces:
        return "reduce-only: nothing left for it to reduce"
    turned = (net > 0) != plan.reverses_long
    return WRONG if turned else "would add to what is held then"

"""What is held when an order's turn comes: those nearer to the market fill before it, on the same way up or down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tradetui.trading.holdings import Holdings
from tradetui.trading.trade_effect import TradeAction, TradeEffect, held_after_fill


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
    """What is held just before each order fills, by its id, should the price go straight to it from the market.

    An order that opens is seen as if no stop had fired before it: stops protect what is held, and the order is asked
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

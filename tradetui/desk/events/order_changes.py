"""What changed between two looks at the pending orders; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tradetui.desk.events.account_event import OrderState
from tradetui.wire.models.futures import PendingOrder

SEEN_EVERY_MS: Final = 10_000
"""Between looks that are further apart an order may have been in states that nobody saw."""


@dataclass(frozen=True, slots=True)
class OrderChange:
    """An order in a state it was not in at the look before; `missed` says that it may have been in others between."""

    order: PendingOrder
    state: OrderState
    missed: bool


def changes_of(
    before: Mapping[str, PendingOrder], now: Mapping[str, PendingOrder], elapsed_ms: int
) -> Iterator[OrderChange]:
    """New and changed orders, those longest known to the exchange first.

    Args:
        before: orders by id at the look before.
        now: orders by id at this look.
        elapsed_ms: milliseconds of the exchange's time between the two.
    """
    gap = elapsed_ms > SEEN_EVERY_MS
    for order_id in sorted(now, key=lambda id_: (len(id_), id_)):
        order, earlier = now[order_id], before.get(order_id)
        if earlier is None:
            yield OrderChange(order, OrderState.NEW, missed=bool(order.base_volume))
        elif _state_of(order) != _state_of(earlier):
            yield OrderChange(order, OrderState.CHANGED, missed=gap)


def _state_of(order: PendingOrder) -> tuple[object, ...]:
    return order.status, order.size, order.price, order.base_volume or 0

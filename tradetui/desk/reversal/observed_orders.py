"""Orders the exchange has shown, by clientOid: one shown once, however shortly, proves that the request was taken."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

_MOST_ORDERS: Final = 500
"""How many orders are remembered, the newest ones; a reversal is found for as long as it is among them."""


@dataclass(frozen=True, slots=True)
class ObservedOrder:
    """An order's id at the exchange, and its size in the base coin where that is known."""

    order_id: str
    size: Decimal | None


class ObservedOrders:
    """Remembers every order as soon as it is read, whatever becomes of the reads around it."""

    def __init__(self) -> None:
        self._orders: dict[str, ObservedOrder] = {}

    def remember(self, client_oid: str | None, order_id: str, size: Decimal | None) -> None:
        """Keep an order that was just read; without a clientOid nobody would ask for it."""
        if not client_oid:
            return
        earlier = self._orders.pop(client_oid, None)
        self._orders[client_oid] = ObservedOrder(order_id, size or (earlier.size if earlier else None))
        if len(self._orders) > _MOST_ORDERS:
            del self._orders[next(iter(self._orders))]

    def get(self, client_oid: str) -> ObservedOrder | None:
        return self._orders.get(client_oid)

"""One observation of a sent reversal: its order by the exchange, the positions, and the fills since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from tradetui.trading.contract_math import ZERO
from tradetui.trading.holdings import Holdings
from tradetui.trading.positions import Position
from tradetui.wire.enums import OrderStatus
from tradetui.wire.models.futures import FuturesFill, OrderDetail, PendingOrder


class OrderAnswer(StrEnum):
    """The exchange's answers to a request for the order of our own clientOid."""

    SHOWN = "shown"
    NO_SUCH_ORDER = "not found"
    NOT_REPORTED = "not reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One look: the order of our own id, its pending part, the positions and the fills, in this order.

    All sizes are in the base coin.
    """

    answer: OrderAnswer
    held: Holdings
    order: OrderDetail | None = None
    pending: tuple[PendingOrder, ...] = ()
    own_fills: tuple[FuturesFill, ...] = ()
    """Fills that carry our order's id."""
    other_fills: tuple[FuturesFill, ...] = ()
    """The symbol's other fills since it was sent."""
    foreign_orders: frozenset[str] = frozenset()
    """Orders known to be somebody else's."""
    kindred_orders: frozenset[str] = frozenset()
    """Orders that a reversal made, as it made ours."""
    kindred_sizes: Mapping[str | None, Decimal] = field(default_factory=dict)
    """The sizes of the kindred orders that are known, by order id."""
    live_orders: frozenset[str] = frozenset()
    """The kindred orders that the exchange says are not over."""
    order_id: str | None = None
    """The id of our order, where it was ever seen."""
    order_size: Decimal | None = None
    """The size of our order, where it was ever seen."""
    waited_s: float = 0.0
    """How long ago the call certainly ended."""
    after_window: bool = False
    """Whether the exchange's own time in what was read is past the last moment at which it takes the request."""
    reaches_back: bool = True
    """Whether the symbol's newest fill of before it was sent is still shown: else it may be another account's."""
    unreadable: str = ""
    """Why what is held is not known from what was read; empty where it is."""
    contradiction: str = ""
    """The same where a fill of our own order says it: then it is so of every fill of the account."""
    proven: bool = True
    """Whether what is held is known to be all, not only the sum of the fills that are known."""
    positions: tuple[Position, ...] = ()
    """The positions of the product type, as they were read."""

    @property
    def own_volume(self) -> Decimal:
        """The size of the fills that carry our order's id."""
        return sum((fill.base_volume for fill in self.own_fills), ZERO)

    @property
    def order_volume(self) -> Decimal | None:
        """The order's own filled size, in the base coin; None where there is no order."""
        if self.order is None:
            return None
        if self.order.status is OrderStatus.FILLED and not self.order.base_volume:
            return self.order.size or ZERO
        return self.order.base_volume or ZERO

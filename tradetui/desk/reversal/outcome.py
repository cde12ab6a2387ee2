"""The outcome of a sent reversal, the stage of the search for it, and the orders that it left against itself.

Alerts and the journal read these values. Decisions use them, never the sentence beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:  # alerts need these values only, and load before the first rows
    from tradetui.trading.holdings import Holdings
    from tradetui.trading.orders_after_reversal import OrderImpact
    from tradetui.trading.reversal import ReversalPlan

LONGEST_READ_S: Final = 5.0
"""Longest duration of a read: if one ends later than this after an order was seen and lacks it, the order is gone."""


class Outcome(StrEnum):
    REVERSED = "reversed"
    SMALLER = "reversed smaller"
    CLOSED_ONLY = "closed only"
    REMAINDER = "remainder left"
    LARGER = "reversed larger"
    UNCHANGED = "unchanged"
    LIQUIDATED = "liquidated"
    MODE_CHANGED = "mode changed"
    NOT_DONE = "not done"
    """The exchange refused it, and no order with its id is seen: other orders made the trades."""
    OTHER = "not as previewed"

    @classmethod
    def _missing_(cls, value: object) -> Outcome:
        """Map a value written by another version to `OTHER`."""
        return cls.OTHER


class SearchStage(StrEnum):
    SEARCHING = "searching"
    """Nothing is known of the order yet, or the replies cannot be used."""
    SO_FAR = "so far"
    """A part of it is seen: some fills, or an effect that may not be complete."""
    LEFT_OPEN = "left open"
    """A while has passed without an end. The search continues in the background, and the symbol stays locked."""
    CORRECTED = "corrected"
    """It was settled, but then its order went on filling: it is locked again and followed to its end."""
    ENDED = "ended"
    """The intent has ended: `state` is how, and `outcome` is set if it was settled."""


def name_outcome(plan: ReversalPlan, held: Holdings, *, liquidated: bool = False) -> Outcome:
    """Name the outcome by the holdings; `liquidated` if a fill shows that the exchange closed the position by force."""
    if liquidated:
        return Outcome.LIQUIDATED
    if type(held) is not type(plan.before):
        return Outcome.MODE_CHANGED
    if any(held == result.after for result in plan.results):
        return Outcome.REVERSED
    if held == plan.before:
        return Outcome.UNCHANGED
    closed, opened = moves(plan, held)
    planned = plan.results[0]
    if closed == planned.closed and opened == 0:
        return Outcome.CLOSED_ONLY
    if closed == planned.closed and 0 < opened < planned.opened:
        return Outcome.SMALLER
    if closed == planned.closed and opened > planned.opened:
        return Outcome.LARGER
    if 0 < closed < planned.closed and opened == 0:
        return Outcome.REMAINDER
    return Outcome.OTHER


def moves(plan: ReversalPlan, held: Holdings) -> tuple[Decimal, Decimal]:
    """Return the decrease of the reversed leg and the increase of the other leg."""
    assert type(held) is type(plan.before)
    gone = plan.held_size - held.size_of(plan.closed_leg)
    return gone, held.size_of(plan.opened_leg) - plan.before.size_of(plan.opened_leg)


def matched_result(plan: ReversalPlan, held: Holdings) -> str | None:
    """Return the description of the possible result that came true; None if none did."""
    return next((result.description for result in plan.results if result.after == held), None)


class _OrderAgainst(NamedTuple):
    """An order in the wrong direction, and when it was seen waiting (monotonic seconds)."""

    order: OrderImpact
    seen_s: float


class OrdersAgainst:
    """Orders in the wrong direction after a reversal, by symbol, until they are gone or the trader has seen them."""

    def __init__(self) -> None:
        self._by_symbol: dict[str, list[_OrderAgainst]] = {}

    def take(self, symbol: str, left: Sequence[OrderImpact], now_s: float) -> None:
        """Take the orders that a reversal of a symbol left; they replace those of an earlier reversal."""
        self._by_symbol[symbol] = [_OrderAgainst(order, now_s) for order in left if order.wrong_way]

    def drop_gone(self, waiting_ids: Iterable[str], read_at: float, *, in_book: bool) -> None:
        """Drop the orders that no longer wait: open orders if `in_book`, else trigger orders."""
        ids = frozenset(waiting_ids)
        for symbol, left in self._by_symbol.items():
            self._by_symbol[symbol] = [
                against
                for against in left
                if against.order.rests_in_book != in_book
                or against.order.order_id in ids
                or read_at - against.seen_s < LONGEST_READ_S
            ]

    def note_seen(self) -> None:
        """Forget all orders, because the trader has seen them."""
        self._by_symbol.clear()

    @property
    def sentence(self) -> str:
        """One order with its effect, a trigger order first, and the number of others; empty if there is none."""
        orders = [(symbol, against.order) for symbol, left in self._by_symbol.items() for against in left]
        if not orders:
            return ""
        symbol, order = min(orders, key=lambda pair: pair[1].rests_in_book)
        more = f", and {len(orders) - 1} more" if len(orders) > 1 else ""
        return f"{symbol} {order.summary}: {order.effect}{more}"

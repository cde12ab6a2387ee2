"""Whether what is seen of a sent reversal settles it, and as what. Absence is no evidence before the window is over."""

from __future__ import annotations

from dataclasses import dataclass

from tradetui.desk.evidence import burst_among, traded_as_planned
from tradetui.desk.outcome import Outcome, name_outcome
from tradetui.trading.holdings import Holdings
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.futures import FuturesFill, OrderDetail

STEADY_S = 10.0
"""What is less or other than was planned may be half of it, as long as it was not so for this long."""
_OTHERS_MAY_CAUSE = frozenset({Outcome.UNCHANGED, Outcome.LIQUIDATED, Outcome.MODE_CHANGED})
_OVER = frozenset({"filled", "canceled", "cancelled", "rejected", "expired"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One look: the order of our own id, what is held and what was filled since, read in this order.

    `order` is False where the exchange says there is none, None where it cannot be asked. `window_over`: so much of
    the exchange's time had passed before the look that a request under way could not be accepted any more.
    """

    order: OrderDetail | bool | None
    held: Holdings
    new_fills: tuple[FuturesFill, ...]
    window_over: bool
    unread: int = 0
    """Rows of positions or fills that could not be read: what is held is in doubt."""
    proven: bool = True
    """Whether what is held is known to be all, not only the sum of the fills that are known."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look amounts to; `taken` where the exchange took the order, `inferred` where only fills say so.

    `possible` is False where what is held cannot be all yet: an order that filled is not among what was read.
    `late`: nothing that was sent can still arrive.
    """

    outcome: Outcome
    taken: bool
    inferred: bool
    absent: bool
    late: bool
    possible: bool = True

    def settles(self, *, steady: bool) -> bool:
        """Whether it is the end; `steady` where nothing has changed for a while."""
        if not self.possible:
            return False
        if not self.taken or self.outcome is Outcome.UNCHANGED:
            return self.absent
        if self.inferred and not self.late:
            return False  # somebody else may have traded as much, while ours is still under way
        return self.outcome is Outcome.REVERSED or steady


def found(plan: ReversalPlan, seen: Seen, *, acknowledged: bool) -> Finding:
    """Name what was seen. What others trade says nothing about an order the exchange does not know by its id."""
    burst = burst_among(seen.new_fills)
    outcome = name_outcome(plan, seen.held, liquidated=burst)
    # After a liquidation a trade of the planned size may open what somebody else wanted as well as close what we did.
    inferred = seen.order is None and not acknowledged and not burst and traded_as_planned(plan, seen.new_fills)
    order = seen.order if isinstance(seen.order, OrderDetail) else None
    taken = acknowledged or inferred or order is not None
    possible = True
    if order is not None and order.base_volume and outcome is Outcome.UNCHANGED:
        # It filled: what is held as before was read too early, or somebody traded it back.
        possible = seen.window_over and any(fill.order_id == order.order_id for fill in seen.new_fills)
        outcome = Outcome.OTHER
    if not taken and outcome not in _OTHERS_MAY_CAUSE:
        outcome = Outcome.OTHER
    if order is not None:
        nothing_came = order.state.lower() in _OVER and not order.base_volume
    else:
        nothing_came = seen.order is False and not acknowledged
    return Finding(outcome, taken, inferred, seen.window_over and nothing_came, seen.window_over, possible)

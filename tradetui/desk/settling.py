"""Whether what is seen of a sent reversal settles it, and as what. Absence is no evidence before the window is over."""

from __future__ import annotations

from dataclasses import dataclass

from tradetui.desk.evidence import burst_among, traded_as_planned
from tradetui.desk.outcome import Outcome, name_outcome
from tradetui.trading.holdings import Holdings
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.futures import FuturesFill, OrderDetail

_OTHERS_MAY_CAUSE = frozenset({Outcome.UNCHANGED, Outcome.LIQUIDATED, Outcome.MODE_CHANGED})


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


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look amounts to; `taken` where the exchange took the order, `inferred` where only fills say so."""

    outcome: Outcome
    taken: bool
    inferred: bool
    absent: bool

    def settles(self, *, steady: bool) -> bool:
        """Whether it is the end; `steady` where nothing has changed for a while."""
        if not self.taken or self.outcome is Outcome.UNCHANGED:
            return self.absent
        return self.outcome is Outcome.REVERSED or steady


def found(plan: ReversalPlan, seen: Seen, *, acknowledged: bool) -> Finding:
    """Name what was seen. What others trade says nothing about an order the exchange does not know by its id."""
    burst = burst_among(seen.new_fills)
    outcome = name_outcome(plan, seen.held, liquidated=burst)
    # After a liquidation a trade of the planned size may open what somebody else wanted as well as close what we did.
    inferred = seen.order is None and not acknowledged and not burst and traded_as_planned(plan, seen.new_fills)
    taken = acknowledged or inferred or isinstance(seen.order, OrderDetail)
    if not taken and outcome not in _OTHERS_MAY_CAUSE:
        outcome = Outcome.OTHER
    told_by_id = seen.order is not None
    return Finding(outcome, taken, inferred, seen.window_over and told_by_id)

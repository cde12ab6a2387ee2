"""How a reversal that was sent ended, or how far the search for its end is.

Alerts and the journal read these words; decisions are made by them, never by the sentence beside them.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # alerts, which read the words alone, are there before the first rows
    from tradetui.trading.holdings import Holdings
    from tradetui.trading.reversal import ReversalPlan


class Outcome(StrEnum):
    REVERSED = "reversed"
    SMALLER = "reversed smaller"
    CLOSED_ONLY = "closed only"
    REMAINDER = "remainder left"
    LARGER = "reversed larger"
    UNCHANGED = "unchanged"
    LIQUIDATED = "liquidated"
    MODE_CHANGED = "mode changed"
    OTHER = "not as previewed"

    @classmethod
    def _missing_(cls, value: object) -> Outcome:
        """A value that other versions wrote into the journal."""
        return cls.OTHER


class SearchStage(StrEnum):
    """How far the search for the outcome is."""

    LOOKING = "looking"
    """Nothing is known of the order yet, or what was read cannot be used."""
    SO_FAR = "so far"
    """Something of it is seen: a part that has filled, or an effect that may not be all of it."""
    LEFT_OPEN = "left open"
    """A while has passed without an end. The search goes on behind, and the symbol stays locked."""
    CORRECTED = "corrected"
    """It was settled, and the order went on filling: it is locked again and followed to its end."""
    ENDED = "ended"
    """The intent has ended: `state` says how, `outcome` as what where it was settled."""


def name_outcome(plan: ReversalPlan, held: Holdings, *, liquidated: bool = False) -> Outcome:
    """The outcome by the holdings; `liquidated` where a fill says the system closed it."""
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
    """The decrease of the reversed leg and the increase of the other side."""
    assert type(held) is type(plan.before)
    gone = plan.held_size - held.size_of(plan.closed_leg)
    return gone, held.size_of(plan.opened_leg) - plan.before.size_of(plan.opened_leg)


def matched_result(plan: ReversalPlan, held: Holdings) -> str | None:
    """The possible result that came true, in words; None where none did."""
    return next((result.description for result in plan.results if result.after == held), None)

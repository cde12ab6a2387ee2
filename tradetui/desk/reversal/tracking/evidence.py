"""Decides what one look at a sent reversal proves: its outcome, if any, and when absence of its order is evidence.

Absence proves nothing until `ABSENCE_S` has passed and the exchange has said that there is no such order. An order
without our id counts as ours only if nothing else can have made it, or by its size, and then the result is `inferred`.

The terms for orders and fills of the symbol since sending:

    own       has our clientOid, or the id that the reply or an earlier look gave to our order
    other     any order that is not own
    foreign   an other order whose source is known, and is not the source of ours: not counted as ours
    kindred   an other order that a reversal made, by the same source as ours if that is known: may be ours
    twin      an other order of exactly our size, when ours is larger than the plan closes and no planned total
    traced    fills of other orders that are counted as a leg of ours
    named     a fill with an order id; an unnamed fill has none, and may be of any order

The reported standing is the first rule that applies (`_reported_standing`). `_too_late` is when nothing can arrive
any more; where a rule waits for it, the standing is unseen until then.

    pending    our order is pending, or its state is not over
    partial    ours was refused, orders cannot be requested, and it is `_too_late` with fills that reach back
    absent     nothing is ours (not `taken`), the exchange denies the order, no other order may be ours, and it is
               `_too_late` with fills that reach back
    partial    ours by sizes alone (`guessed`)
    absent     our order is over without a fill, and it is `_too_late`; it settles once the order has shown this for
               `ABSENCE_S`, because another order may have closed for ours, and its fills may be shown later
    lagging    own fills are less than the order's filled size; partial if a planned result is held
    complete   a planned result is held, by our fills alone (`effect`) or, acknowledged, without any fills shown
    partial    nothing has changed, our order is shown in an unknown state, and it is `_too_late`
    partial    anything else

`_standing` changes it in four cases: the order of a traced fill is live (pending); complete with a doubtful leg
(partial); absent with unexplained holdings (partial); partial while named fills of others explain the holdings, and no
order of ours is shown (unseen).

The outcome is the first that applies (`_outcome`, then `name_outcome` by the holdings):

    not done           refused, and nothing of ours is seen
    liquidated         a fill closed the position by force
    mode changed       the holdings are in the other position mode
    reversed           the holdings are a planned result
    unchanged          the holdings are those before
    closed only        the planned size is closed, and nothing is opened
    smaller            the planned size is closed, and less is opened
    larger             the planned size is closed, and more is opened
    remainder          less is closed, and nothing is opened
    not as previewed   anything else; and where others may have had a part, in place of:
                       all but liquidated, mode changed and unchanged, if nothing is ours;
                       all but liquidated, mode changed and reversed with hidden fills, if `effect` is not held;
                       smaller, closed only and remainder, if our other leg is doubtful;
                       these and larger, if others traded too in one-way mode
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from tradetui.desk.reversal.outcome import Outcome, moves, name_outcome
from tradetui.desk.reversal.tracking.own_legs import (
    Observation,
    OrderAnswer,
    OtherLeg,
    burst_among,
    closing_by_size,
    find_other_leg,
    may_be_among_others,
    traded_as_planned,
)
from tradetui.trading.contract_math import ZERO
from tradetui.trading.holdings import Holdings, Net
from tradetui.trading.positions_from_fills import holdings_after
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.models.futures import FuturesFill

ABSENCE_S = 35.0
"""A request can still be taken for this long after its call ended; before that, absence is no evidence."""
UNCHANGED_S = 60.0
"""A smaller or different result than planned may be incomplete until nothing of ours has changed for this long."""
UNEXPLAINED_S = 180.0
"""The same while the fills that were read do not explain the holdings: positions or fills may lag."""
_OTHERS_MAY_CAUSE = frozenset({Outcome.UNCHANGED, Outcome.LIQUIDATED, Outcome.MODE_CHANGED})
_IN_PART = frozenset({Outcome.SMALLER, Outcome.CLOSED_ONLY, Outcome.REMAINDER})
_BY_SIZE = _IN_PART | {Outcome.LARGER}


class Standing(StrEnum):
    UNSEEN = "unseen"
    """Nothing of ours is seen, and it may still come."""
    ABSENT = "absent"
    """Nothing of ours came, and nothing can come any more."""
    PENDING = "pending"
    """The order is live or partly filled."""
    LAGGING = "lagging"
    """The order has filled, but its fills are not shown yet."""
    PARTIAL = "partial"
    """The order may be over; its effect is not, or not only, the planned one."""
    COMPLETE = "complete"
    """The order is over, and a planned result is held."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of our own order; while it is equal, nothing of ours has changed. Fills are trade ids."""

    seen_as_ours: bool
    order: tuple[str, Decimal | None] | None
    """The order's state and filled size (base coin)."""
    own_fills: frozenset[str]
    pending: frozenset[tuple[str, Decimal | None]]
    """The ids and filled sizes (base coin) of our pending orders."""
    traced_fills: frozenset[str]
    """Fills without our id that are counted as a leg of ours."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The classification of a look; all sizes are in the base coin."""

    plan: ReversalPlan
    """The plan that was sent, with only the results that an order of this size can have."""
    standing: Standing
    outcome: Outcome
    effect: Holdings | None
    """The holdings by our own order alone; None if its fills cannot be separated from others'."""
    filled: Decimal | None
    closed: Decimal | None
    """The size of the leg that our order has closed; None if not known."""
    opened: Decimal | None
    """The size that our order has opened on the other side; None if not known."""
    inferred: bool
    """Whether only sizes show that the order was taken, or which fills are a leg of it: they may be others'."""
    explained: bool
    """Whether all the fills that were read lead from the holdings before to the present ones."""
    evidence: Evidence
    fills: tuple[FuturesFill, ...] = ()
    """All fills of our order; empty if they cannot be separated, or some are missing."""

    def settles(self, unchanged_s: float) -> bool:
        """Whether this is the end, if nothing of ours has changed for `unchanged_s` seconds."""
        if self.standing is Standing.COMPLETE:
            return True
        if self.standing is Standing.ABSENT:
            return self.evidence.order is None or unchanged_s >= ABSENCE_S
        if self.standing is not Standing.PARTIAL:
            return False
        return unchanged_s >= (UNCHANGED_S if self.explained else UNEXPLAINED_S)


@dataclass(frozen=True, slots=True)
class _Attribution:
    """The fills since sending that are counted as our order's."""

    plan: ReversalPlan
    acknowledged: bool
    """Whether the exchange said that it took the order."""
    seen_as_ours: bool
    """Whether the order was acknowledged, or an order or a fill of our id was shown."""
    refused: bool
    """Whether the exchange refused the order, and showed nothing of our id."""
    inferred: bool
    """Whether only the sizes of trades show that the order was taken, and it is too late for it to come."""
    by_size: tuple[FuturesFill, ...]
    """Fills that are the order's closing leg by their size."""
    guessed: bool
    """Whether a part of this is known by sizes alone: another order may have traded as much."""
    other_leg: OtherLeg
    ours: tuple[FuturesFill, ...]
    effect: Holdings | None
    explained: bool
    liquidated: bool

    @property
    def taken(self) -> bool:
        return self.seen_as_ours or self.inferred

    @property
    def traced(self) -> tuple[FuturesFill, ...]:
        return (*self.by_size, *self.other_leg.fills)


def classify(plan: ReversalPlan, look: Observation, *, acknowledged: bool, refused: bool = False) -> Classification:
    """Classify a look. `acknowledged`: the exchange said that it took the order; `refused`: that it did not.

    If the exchange does not know the order by our id, only trades of an order that a reversal made are evidence; they
    are not ours if ours was refused.
    """
    own = _attribute_fills(plan_of_order(plan, look.order_size), look, acknowledged=acknowledged, refused=refused)
    standing = _standing(own, look)
    outcome = _outcome(own, look, standing)
    filled = _filled(look)
    closed, opened = _closed_and_opened(own, look, filled)
    fills = own.ours if _are_all(own.ours, closed, opened) and not own.other_leg.ambiguous else ()
    if own.other_leg.ambiguous:
        opened = None
    if outcome in _BY_SIZE and isinstance(plan.before, Net) and any(fill not in own.ours for fill in look.other_fills):
        # Others traded back and forth: ours may have met another size, of which it closed all and opened as much.
        outcome, closed, opened = Outcome.OTHER, None, None
    evidence = Evidence(
        seen_as_ours=own.seen_as_ours,
        order=None if look.order is None else (look.order.state, look.order.base_volume),
        own_fills=frozenset(fill.trade_id for fill in look.own_fills),
        pending=frozenset((row.order_id, row.base_volume) for row in look.pending),
        traced_fills=frozenset(fill.trade_id for fill in own.traced),
    )
    return Classification(
        plan=own.plan,
        standing=standing,
        outcome=outcome,
        effect=own.effect,
        filled=filled,
        closed=closed,
        opened=opened,
        inferred=own.guessed or own.other_leg.doubtful,
        explained=own.explained,
        evidence=evidence,
        fills=fills,
    )


def _attribute_fills(plan: ReversalPlan, look: Observation, *, acknowledged: bool, refused: bool) -> _Attribution:
    """Find our order's fills: those with its id, and those that only it can have made."""
    liquidated = burst_among(look.other_fills)
    seen_as_ours = acknowledged or look.order is not None or bool(look.own_fills or look.pending)
    looks_traded = not seen_as_ours and not refused and not liquidated and _is_traded(plan, look)
    # Another order may have traded as much while ours is still under way.
    inferred = looks_traded and _too_late(look)
    by_order = acknowledged or look.order is not None
    by_size, known_by_size = closing_by_size(plan, look) if by_order or looks_traded else ((), False)
    if by_size:
        plan = plan_of_order(plan, look.kindred_sizes.get(by_size[0].order_id))
    other_leg = find_other_leg(plan, look, by_size)
    taken = seen_as_ours or inferred
    ours = (*look.own_fills, *by_size, *other_leg.fills) if taken else look.own_fills
    everything = (*look.own_fills, *look.other_fills)
    return _Attribution(
        plan=plan,
        acknowledged=acknowledged,
        seen_as_ours=seen_as_ours,
        refused=refused and not seen_as_ours,
        inferred=inferred,
        by_size=by_size,
        guessed=inferred or known_by_size,
        other_leg=other_leg,
        ours=ours,
        effect=None if taken and other_leg.ambiguous else holdings_after(plan.before, ours),
        explained=type(look.held) is not type(plan.before) or holdings_after(plan.before, everything) == look.held,
        liquidated=liquidated,
    )


def _is_traded(plan: ReversalPlan, look: Observation) -> bool:
    """Whether other orders traded as planned, or a reversal's order closed a part of it."""
    if look.answer is OrderAnswer.NOT_REPORTED:
        return traded_as_planned(plan, look.other_fills)
    closing, _ = closing_by_size(plan, look)
    return any(fill.order_id in look.kindred_orders for fill in closing)


def _are_all(ours: Sequence[FuturesFill], closed: Decimal | None, opened: Decimal | None) -> bool:
    """Whether these fills are all that was closed and opened."""
    if closed is None or opened is None:
        return False
    return sum((fill.base_volume for fill in ours), ZERO) == closed + opened


def plan_of_order(plan: ReversalPlan, order_size: Decimal | None) -> ReversalPlan:
    """Return the plan with only the results that an order of this size can have; all results if no size matches.

    `order_size` is the size that the order closes, or its total, in the base coin; None if not known.
    """
    results = tuple(result for result in plan.results if order_size in (result.closed, result.traded))
    return replace(plan, results=results) if results else plan


def _standing(own: _Attribution, look: Observation) -> Standing:
    """Return the standing by the order's own reports, unless fills and holdings contradict that it has ended."""
    if any(fill.order_id in look.live_orders for fill in own.traced):
        return Standing.PENDING
    reported = _reported_standing(own, look)
    if reported is Standing.COMPLETE:
        return Standing.PARTIAL if own.other_leg.doubtful else Standing.COMPLETE
    # The change of the holdings may be ours: its fills are not shown yet, or cannot be read.
    if reported is Standing.PARTIAL or (reported is Standing.ABSENT and not own.explained):
        # The order was taken, and nothing shows its effect: trades of others do not end it.
        hidden = look.order is None and not (own.refused or own.liquidated) and _only_others_traded(own, look)
        return Standing.UNSEEN if hidden else Standing.PARTIAL
    return reported


def _reported_standing(own: _Attribution, look: Observation) -> Standing:
    """Return the standing by the order's state, its filled size and the holdings."""
    plan, order = own.plan, look.order
    status = order.status if order is not None else None
    came_true = any(look.held == result.after for result in plan.results)
    complete = came_true and (status is not None or not _may_be_part(plan, look.held))
    if look.pending or (status is not None and not status.is_over):
        return Standing.PENDING
    if own.refused and look.answer is OrderAnswer.NOT_REPORTED:
        # Only the refusal contradicts the trades, and orders cannot be requested: a minute without one ends it.
        return Standing.PARTIAL if look.reaches_back and _too_late(look) else Standing.UNSEEN
    if not own.taken:
        may_be_ours = not own.refused and may_be_among_others(plan, look)
        denied = look.answer is OrderAnswer.NO_SUCH_ORDER and not may_be_ours
        return Standing.ABSENT if denied and look.reaches_back and _too_late(look) else Standing.UNSEEN
    if own.guessed:
        return Standing.PARTIAL  # another order may have traded as much while ours is only beginning to
    volume = look.order_volume
    if status is not None and not volume and not look.own_volume:
        return Standing.ABSENT if _too_late(look) else Standing.UNSEEN
    if volume is not None and look.own_volume < volume:
        # If fills have no order ids, the planned result is held nevertheless.
        return Standing.PARTIAL if came_true else Standing.LAGGING
    if complete and own.effect == look.held:
        return Standing.COMPLETE
    # If the exchange denies the order that it acknowledged, the holdings may come from trades of others. If our fills
    # lead to another result, some are missing or one is wrong.
    unasked = look.answer is not OrderAnswer.NO_SUCH_ORDER
    if complete and status is None and own.acknowledged and unasked and not (look.own_fills or look.other_fills):
        return Standing.COMPLETE
    if status is None and not look.own_volume and look.held == plan.before:
        # The order is in an unknown state, not pending, and without effect: a minute without change ends it.
        return Standing.PARTIAL if order is not None and _too_late(look) else Standing.UNSEEN
    return Standing.PARTIAL


def _only_others_traded(own: _Attribution, look: Observation) -> bool:
    """Whether named orders of others explain the present holdings, and nothing is known to be ours."""
    before, named = own.plan.before, all(fill.order_id for fill in look.other_fills)
    return own.effect == before and named and holdings_after(before, look.other_fills) == look.held


def _may_be_part(plan: ReversalPlan, held: Holdings) -> bool:
    """Whether the holdings, though planned, may be a part of a larger result that the interface leaves open."""
    largest = max(result.traded for result in plan.results)
    return any(held == result.after and result.traded < largest for result in plan.results)


def _too_late(look: Observation) -> bool:
    """Whether nothing that was sent can still arrive, by monotonic time and by the exchange's own time."""
    return look.waited_s >= ABSENCE_S and look.after_window


def _outcome(own: _Attribution, look: Observation, standing: Standing) -> Outcome:
    """Name the effect of our order; `OTHER` if other orders may have taken part in it."""
    if own.refused:
        return Outcome.NOT_DONE
    outcome = name_outcome(own.plan, look.held, liquidated=own.liquidated)
    if standing is Standing.ABSENT or not own.taken:
        return outcome if outcome in _OTHERS_MAY_CAUSE else Outcome.OTHER
    if outcome in (Outcome.LIQUIDATED, Outcome.MODE_CHANGED):
        return outcome
    if outcome is Outcome.REVERSED and not own.explained and not _ended_otherwise(own.plan, look):
        return outcome  # the likely reason for unexplained holdings is that fills are not shown yet
    if own.other_leg.doubtful and outcome in _IN_PART:
        return Outcome.OTHER  # this part of the plan may just as well come from another order
    # Trades of others beside ours must not be named as if ours had made them.
    return outcome if own.effect == look.held else Outcome.OTHER


def _ended_otherwise(plan: ReversalPlan, look: Observation) -> bool:
    """Whether our order is over with a filled size that is no planned closing size and no planned total."""
    status = look.order.status if look.order is not None else None
    planned = {size for result in plan.results for size in (result.closed, result.traded)}
    return status is not None and status.is_over and look.order_volume not in planned


def _filled(look: Observation) -> Decimal | None:
    if look.order is not None:
        return max(look.order.base_volume or ZERO, look.own_volume)
    volumes = [row.base_volume for row in look.pending if row.base_volume is not None]
    return max(sum(volumes, ZERO), look.own_volume) if volumes or look.own_volume else None


def _closed_and_opened(
    own: _Attribution, look: Observation, filled: Decimal | None
) -> tuple[Decimal | None, Decimal | None]:
    """Return the sizes that our fills have closed and opened.

    A filled size without fills closes first, then opens.
    """
    plan, held = own.plan, holdings_after(own.plan.before, own.ours)
    if held is None or (filled is None and not own.ours):
        return None, None
    closed, opened = moves(plan, held)
    if closed < ZERO or opened < ZERO:
        return None, None  # the position had already changed side: what ours closed is not the planned leg
    nameless_volume = sum((fill.base_volume for fill in own.ours if not fill.order_id), ZERO)
    not_in_fills = max(ZERO, (filled or ZERO) - look.own_volume - nameless_volume)
    closes = min(not_in_fills, max(ZERO, max(result.closed for result in plan.results) - closed))
    return closed + closes, opened + not_in_fills - closes

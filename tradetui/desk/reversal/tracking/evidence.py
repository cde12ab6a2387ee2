"""Decides what one look at a sent reversal proves: its outcome, if any, and when absence of its order is evidence.

Absence is none at first: `ABSENCE_S` must have passed, and the exchange must have said that there is no such order. An
order without our id is taken for ours only where nothing else can have made it, or by its size, which is said.
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
"""A request can still be taken for so long after its call ended; before that nothing seen is no evidence."""
UNCHANGED_S = 60.0
"""A smaller or other result than planned may be a part of it, unless nothing of ours has changed for so long."""
UNEXPLAINED_S = 180.0
"""The same, while the fills that were read do not explain the holdings: positions or fills may lag."""
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
    """The order has filled, and its fills are not shown yet."""
    PARTIAL = "partial"
    """The order may be over; what it did is not, or not only, what was planned."""
    COMPLETE = "complete"
    """The order is over, and what was planned is held."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known of our own order; while it stays the same, nothing of ours has changed. Fills are trade ids."""

    seen_as_ours: bool
    order: tuple[str, Decimal | None] | None
    """The order's state and filled size (base coin)."""
    own_fills: frozenset[str]
    pending: frozenset[tuple[str, Decimal | None]]
    """The order ids and filled sizes (base coin) of what is pending."""
    traced_fills: frozenset[str]
    """Fills without our id that are taken for a leg of ours."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The classification of a look; all sizes are in the base coin."""

    plan: ReversalPlan
    """The plan that was sent, with those results alone that an order of this size can come to."""
    standing: Standing
    outcome: Outcome
    effect: Holdings | None
    """The holdings by our own order alone; None where its fills cannot be separated from others'."""
    filled: Decimal | None
    closed: Decimal | None
    """How much our order has closed of the leg; None where that is not known."""
    opened: Decimal | None
    """How much it has opened on the other side; None where that is not known."""
    inferred: bool
    """Whether sizes alone show that the order was taken, or which fills are a leg of it: they may be others'."""
    explained: bool
    """Whether the holdings are those of before and all the fills that were read."""
    evidence: Evidence
    fills: tuple[FuturesFill, ...] = ()
    """All fills of our order; empty where they cannot be separated, or are not all there."""

    def settles(self, unchanged_s: float) -> bool:
        """Whether it is the end, where nothing of ours has changed for so many seconds."""
        if self.standing in (Standing.COMPLETE, Standing.ABSENT):
            return True
        if self.standing is not Standing.PARTIAL:
            return False
        return unchanged_s >= (UNCHANGED_S if self.explained else UNEXPLAINED_S)


@dataclass(frozen=True, slots=True)
class _Attribution:
    """Which of the fills since then are taken for our order's."""

    plan: ReversalPlan
    acknowledged: bool
    """Whether the exchange said that it took the order."""
    seen_as_ours: bool
    """Whether it said so, or showed an order or a fill of our id."""
    refused: bool
    """Whether it said that it did not, and showed nothing of our id."""
    inferred: bool
    """Whether trades alone, by their sizes, show that it took the order, and it is too late for it to come."""
    by_size: tuple[FuturesFill, ...]
    """Fills that are its closing leg by what they closed."""
    guessed: bool
    """Whether any of this is known by sizes alone: somebody else may have traded as much."""
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
    """Name what was seen; `acknowledged` is whether the exchange has said that it took the order, `refused` that not.

    Of an order the exchange does not know by its id only another reversal's trades tell; they are not ours where it
    was refused.
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
        # Others have traded there and back: ours may have met another size, of which it closed all and opened as much.
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
    """Find our order's fills: those that carry its id, and those that only it can have made."""
    liquidated = burst_among(look.other_fills)
    seen_as_ours = acknowledged or look.order is not None or bool(look.own_fills or look.pending)
    looks_traded = not seen_as_ours and not refused and not liquidated and _is_traded(plan, look)
    # Somebody else may have traded as much, while ours is still under way.
    inferred = looks_traded and _too_late(look)
    by_order = acknowledged or look.order is not None
    by_size, unnamed = closing_by_size(plan, look) if by_order or looks_traded else ((), False)
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
        guessed=inferred or unnamed,
        other_leg=other_leg,
        ours=ours,
        effect=None if taken and other_leg.ambiguous else holdings_after(plan.before, ours),
        explained=type(look.held) is not type(plan.before) or holdings_after(plan.before, everything) == look.held,
        liquidated=liquidated,
    )


def _is_traded(plan: ReversalPlan, look: Observation) -> bool:
    """Whether it seems to be done by orders without our id: as planned, or in part by what only a reversal makes."""
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
    """The plan with those results alone that an order of this size can come to; all where the size tells nothing.

    `order_size` is in the base coin what the order closes, or all that it trades; None where that is not known.
    """
    results = tuple(result for result in plan.results if order_size in (result.closed, result.traded))
    return replace(plan, results=results) if results else plan


def _standing(own: _Attribution, look: Observation) -> Standing:
    """Where the order stands: what its own reports say, unless fills and holdings forbid to take it for the end."""
    if any(fill.order_id in look.live_orders for fill in own.traced):
        return Standing.PENDING
    reported = _reported_standing(own, look)
    if reported is Standing.COMPLETE:
        return Standing.PARTIAL if own.other_leg.doubtful else Standing.COMPLETE
    # What changed the holdings may be ours: its fills are not shown yet, or cannot be read.
    if reported is Standing.PARTIAL or (reported is Standing.ABSENT and not own.explained):
        # Taken, and nothing shows what it did: what others trade is no end of it.
        hidden = look.order is None and not (own.refused or own.liquidated) and _only_others_traded(own, look)
        return Standing.UNSEEN if hidden else Standing.PARTIAL
    return reported


def _reported_standing(own: _Attribution, look: Observation) -> Standing:
    """Where the order stands by its state, its filled size and what is held."""
    plan, order = own.plan, look.order
    status = order.status if order is not None else None
    came_true = any(look.held == result.after for result in plan.results)
    complete = came_true and (status is not None or not _may_be_part(plan, look.held))
    if look.pending or (status is not None and not status.is_over):
        return Standing.PENDING
    if own.refused and look.answer is OrderAnswer.NOT_REPORTED:
        # The refusal alone speaks against what was traded, and no order can be asked for: a minute without one ends it.
        return Standing.PARTIAL if look.reaches_back and _too_late(look) else Standing.UNSEEN
    if not own.taken:
        may_be_ours = not own.refused and may_be_among_others(plan, look)
        denied = look.answer is OrderAnswer.NO_SUCH_ORDER and not may_be_ours
        return Standing.ABSENT if denied and look.reaches_back and _too_late(look) else Standing.UNSEEN
    if own.guessed:
        return Standing.PARTIAL  # somebody else may have traded as much, while ours is only beginning to
    volume = look.order_volume
    if status is not None and not volume and not look.own_volume:
        return Standing.ABSENT if _too_late(look) else Standing.UNSEEN
    if volume is not None and look.own_volume < volume:
        # Where fills name no order, what was planned is held all the same.
        return Standing.PARTIAL if came_true else Standing.LAGGING
    if complete and own.effect == look.held:
        return Standing.COMPLETE
    # Taken, but not known yet where orders can be asked for: somebody else's trades may be what is held. Fills of ours
    # that came to something else are not all there, or one of them is wrong.
    unasked = look.answer is not OrderAnswer.NO_SUCH_ORDER
    if complete and status is None and own.acknowledged and unasked and not (look.own_fills or look.other_fills):
        return Standing.COMPLETE
    if status is None and not look.own_volume and look.held == plan.before:
        # Shown in a state that nobody knows, not pending, and without effect: a minute without change ends it.
        return Standing.PARTIAL if order is not None and _too_late(look) else Standing.UNSEEN
    return Standing.PARTIAL


def _only_others_traded(own: _Attribution, look: Observation) -> bool:
    """Whether orders of others, all of them named, explain all that is held now, and nothing is known to be ours."""
    before, named = own.plan.before, all(fill.order_id for fill in look.other_fills)
    return own.effect == before and named and holdings_after(before, look.other_fills) == look.held


def _may_be_part(plan: ReversalPlan, held: Holdings) -> bool:
    """Whether the holdings, though planned, may be a part of a larger result that the interface leaves open."""
    largest = max(result.traded for result in plan.results)
    return any(held == result.after and result.traded < largest for result in plan.results)


def _too_late(look: Observation) -> bool:
    """Whether nothing that was sent can arrive any more, by time that never steps and by the exchange's own."""
    return look.waited_s >= ABSENCE_S and look.after_window


def _outcome(own: _Attribution, look: Observation, standing: Standing) -> Outcome:
    """The name of what our order came to; `OTHER` wherever others may have had a part in it."""
    if own.refused:
        return Outcome.NOT_DONE
    outcome = name_outcome(own.plan, look.held, liquidated=own.liquidated)
    if standing is Standing.ABSENT or not own.taken:
        return outcome if outcome in _OTHERS_MAY_CAUSE else Outcome.OTHER
    if outcome in (Outcome.LIQUIDATED, Outcome.MODE_CHANGED):
        return outcome
    if outcome is Outcome.REVERSED and not own.explained and not _ended_otherwise(own.plan, look):
        return outcome  # fills that are not shown yet are the likely reason where it is not explained
    if own.other_leg.doubtful and outcome in _IN_PART:
        return Outcome.OTHER  # a part of the plan may have come from another order just as well
    # What others traded beside ours must not be named as if ours had done it.
    return outcome if own.effect == look.held else Outcome.OTHER


def _ended_otherwise(plan: ReversalPlan, look: Observation) -> bool:
    """Whether our order is over with another size than planned, of what it closes or of all that it trades."""
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
    """The sizes that our fills have closed and opened; the filled size of an order alone closes first, then opens."""
    plan, held = own.plan, holdings_after(own.plan.before, own.ours)
    if held is None or (filled is None and not own.ours):
        return None, None
    closed, opened = moves(plan, held)
    if closed < ZERO or opened < ZERO:
        return None, None  # the position was turned round before: what ours closed is not what was planned
    nameless_volume = sum((fill.base_volume for fill in own.ours if not fill.order_id), ZERO)
    not_in_fills = max(ZERO, (filled or ZERO) - look.own_volume - nameless_volume)
    closes = min(not_in_fills, max(ZERO, max(result.closed for result in plan.results) - closed))
    return closed + closes, opened + not_in_fills - closes

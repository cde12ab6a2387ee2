"""What one look at a sent reversal amounts to, and whether it is the end. Absence is no evidence before its time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from tradetui.desk.reversal.outcome import Outcome, moves, name_outcome
from tradetui.trading.holdings import Holdings
from tradetui.trading.money import ZERO
from tradetui.trading.positions import LONG, SHORT, Position, holdings_after, leg_of
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import OrderStatus, PositionMode
from tradetui.wire.models.futures import FuturesFill, PendingOrder
from tradetui.wire.models.futures_extended import OrderDetail

ABSENCE_S = 35.0
"""A request can still be taken for so long after its call ended; before that nothing seen is no evidence."""
UNCHANGED_S = 60.0
"""What is less or other than was planned may be a part of it, unless nothing of ours has changed for so long."""
UNEXPLAINED_S = 180.0
"""The same, while what is held is not explained by the fills that were read: positions or fills may lag."""
_SOON_AFTER = timedelta(seconds=10)
"""Less than was planned, or more, is taken for our opening leg only where it came so soon after the closing one."""
OWN_FILLS, PENDING, OPENING_FILLS = 2, 3, 4
"""Where in `Classification.evidence` the ids of fills and pending orders of ours stand."""
_THE_SYSTEM = ("burst_", "delivery_", "dte_sys_adl_")
"""What closing words begin with where the exchange closed by itself, whatever anybody ordered."""
_OTHERS_MAY_CAUSE = frozenset({Outcome.UNCHANGED, Outcome.LIQUIDATED, Outcome.MODE_CHANGED})


class OrderAnswer(StrEnum):
    """What the exchange answers when it is asked for the order of our own clientOid."""

    SHOWN = "shown"
    NOT_FOUND = "not found"
    NOT_TOLD = "not reported"


class Standing(StrEnum):
    """What a look amounts to."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One look: the order of our own id, what is pending of it, what is held and what was filled, in this order.

    `own_fills` carry our order's id, `other_fills` are the symbol's others since; `foreign_orders` are those known to
    be somebody else's. `order_id` and `order_size` are our order's, where it was ever seen. `waited_s` is how long ago
    the call certainly ended. `after_window` says that the exchange's own time in what was read is past the last moment
    at which it takes the request.
    """

    answer: OrderAnswer
    held: Holdings
    order: OrderDetail | None = None
    pending: tuple[PendingOrder, ...] = ()
    own_fills: tuple[FuturesFill, ...] = ()
    other_fills: tuple[FuturesFill, ...] = ()
    foreign_orders: frozenset[str] = frozenset()
    order_id: str | None = None
    order_size: Decimal | None = None
    waited_s: float = 0.0
    after_window: bool = False
    unreadable: str = ""
    """Why what is held cannot be told from what was read; empty where it can."""
    proven: bool = True
    """Whether what is held is known to be all, not only the sum of the fills that are known."""
    positions: tuple[Position, ...] = ()
    """What is held of the product type, as it was read."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What a look amounts to.

    `plan` is what was sent, with those results alone that an order of this size can come to. `effect` is what would be
    held by our own order alone, None where fills cannot be told apart; `filled` of `wanted` is how far the order is,
    in the base coin. `closed` and `opened` are what our order has closed of the leg and opened
    on the other side, in the base coin, None where it cannot be told. `inferred`: only what was traded says that the
    order was taken. `explained`: what is held is what was held before and all the fills that were read. `evidence` is
    everything known of our own order; while it stays the same, nothing of ours has changed.
    """

    plan: ReversalPlan
    standing: Standing
    outcome: Outcome
    effect: Holdings | None
    filled: Decimal | None
    wanted: Decimal | None
    closed: Decimal | None
    opened: Decimal | None
    inferred: bool
    explained: bool
    evidence: tuple[object, ...]
    fills: tuple[FuturesFill, ...] = ()
    """All fills of our order; empty where they cannot be told apart, or are not all there."""

    def settles(self, unchanged_s: float) -> bool:
        """Whether it is the end, where nothing of ours has changed for so many seconds."""
        if self.standing in (Standing.COMPLETE, Standing.ABSENT):
            return True
        if self.standing is not Standing.PARTIAL:
            return False
        return unchanged_s >= (UNCHANGED_S if self.explained else UNEXPLAINED_S)


def classify(plan: ReversalPlan, seen: Observation, *, acknowledged: bool) -> Classification:
    """Name what was seen. What others trade says nothing of an order the exchange does not know by its id.

    Args:
        plan: what was sent.
        seen: one look.
        acknowledged: whether the exchange has said that it took the order.
    """
    plan = plan_of_order(plan, seen.order_size)
    order = seen.order
    burst = burst_among(seen.other_fills)
    seen_as_ours = acknowledged or order is not None or bool(seen.own_fills or seen.pending)
    looks_traded = (
        not seen_as_ours
        and seen.answer is OrderAnswer.NOT_TOLD
        and not burst
        and traded_as_planned(plan, seen.other_fills)
    )
    # Somebody else may have traded as much, while ours is still under way.
    inferred = looks_traded and _too_late(seen)
    taken = seen_as_ours or inferred
    closing, unnamed = _closing_by_size(plan, seen) if acknowledged or looks_traded else ((), False)
    other_leg = _opening(plan, seen, closing) if closing or _may_close(plan, seen) else _closing(plan, seen)
    ours = (*seen.own_fills, *closing, *other_leg.fills) if taken else seen.own_fills
    everything = (*seen.own_fills, *seen.other_fills)
    effect = None if taken and other_leg.ambiguous else holdings_after(plan.before, ours)
    if inferred:
        effect = seen.held
    explained = type(seen.held) is not type(plan.before) or holdings_after(plan.before, everything) == seen.held
    own_volume = sum((fill.base_volume for fill in seen.own_fills), ZERO)
    filled = _filled(seen, own_volume)
    closed, opened = _closed_and_opened(plan, ours, filled, own_volume)
    guessed = inferred or unnamed  # by sizes alone
    standing = _standing(plan, seen, effect, own_volume, taken=taken, acknowledged=acknowledged, guessed=guessed)
    if standing is Standing.COMPLETE and other_leg.doubtful:
        standing = Standing.PARTIAL
    outcome = _outcome(plan, seen, effect, standing, taken=taken, burst=burst, explained=explained)
    return Classification(
        plan=plan,
        standing=standing,
        outcome=outcome,
        effect=effect,
        filled=filled,
        wanted=_wanted(seen),
        closed=closed,
        opened=None if other_leg.ambiguous else opened,
        inferred=inferred or unnamed,
        explained=explained,
        evidence=(
            seen_as_ours,
            order and (order.state, order.base_volume),
            frozenset(fill.trade_id for fill in seen.own_fills),
            frozenset((row.order_id, row.base_volume) for row in seen.pending),
            frozenset(fill.trade_id for fill in (*closing, *other_leg.fills)),
        ),
        fills=tuple(ours) if _are_all(ours, closed, opened) and not other_leg.ambiguous else (),
    )


def _are_all(ours: Sequence[FuturesFill], closed: Decimal | None, opened: Decimal | None) -> bool:
    """Whether these fills are all that was closed and opened."""
    if closed is None or opened is None:
        return False
    return sum((fill.base_volume for fill in ours), ZERO) == closed + opened


def plan_of_order(plan: ReversalPlan, order_size: Decimal | None) -> ReversalPlan:
    """The plan with those results alone that an order of this size can come to; all where the size tells nothing.

    Args:
        plan: what was sent.
        order_size: the order's size in the base coin: what it closes, or all that it trades; None where not known.
    """
    results = tuple(result for result in plan.results if order_size in (result.closed, result.traded))
    return replace(plan, results=results) if results else plan


def _standing(
    plan: ReversalPlan,
    seen: Observation,
    effect: Holdings | None,
    own_volume: Decimal,
    *,
    taken: bool,
    acknowledged: bool,
    guessed: bool,
) -> Standing:
    order = seen.order
    status = order.status if order is not None else None
    came_true = any(seen.held == result.after for result in plan.results)
    complete = came_true and (status is not None or not _may_be_part(plan, seen.held))
    if seen.pending or (status is not None and not status.is_over):
        return Standing.PENDING
    if not taken:
        certain = seen.answer is OrderAnswer.NOT_FOUND and _too_late(seen)
        return Standing.ABSENT if certain else Standing.UNSEEN
    if guessed:
        return Standing.PARTIAL  # somebody else may have traded as much, while ours is only beginning to
    volume = _order_volume(order)
    if status is not None and not volume and not own_volume:
        return Standing.ABSENT if _too_late(seen) else Standing.UNSEEN
    if volume is not None and own_volume < volume:
        # Where fills name no order, what was planned is held all the same.
        return Standing.PARTIAL if came_true else Standing.LAGGING
    if complete and effect == seen.held:
        return Standing.COMPLETE
    if complete and status is None and acknowledged and not seen.other_fills:
        return Standing.COMPLETE
    if status is None and not own_volume and seen.held == plan.before:
        # Shown in a state that nobody knows, not pending, and without effect: a minute without change ends it.
        return Standing.PARTIAL if order is not None and _too_late(seen) else Standing.UNSEEN
    return Standing.PARTIAL


def _may_be_part(plan: ReversalPlan, held: Holdings) -> bool:
    """Whether what is held, though planned, may be a part of a larger result that the interface leaves open."""
    largest = max(result.traded for result in plan.results)
    return any(held == result.after and result.traded < largest for result in plan.results)


def _order_volume(order: OrderDetail | None) -> Decimal | None:
    """What the order itself says that it has filled, in the base coin; None where there is no order to say it."""
    if order is None:
        return None
    if order.status is OrderStatus.FILLED and not order.base_volume:
        return order.size or ZERO
    return order.base_volume or ZERO


def _too_late(seen: Observation) -> bool:
    """Whether nothing that was sent can arrive any more, by time that never steps and by the exchange's own."""
    return seen.waited_s >= ABSENCE_S and seen.after_window


def _outcome(
    plan: ReversalPlan,
    seen: Observation,
    effect: Holdings | None,
    standing: Standing,
    *,
    taken: bool,
    burst: bool,
    explained: bool,
) -> Outcome:
    outcome = name_outcome(plan, seen.held, liquidated=burst)
    if standing is Standing.ABSENT or not taken:
        return outcome if outcome in _OTHERS_MAY_CAUSE else Outcome.OTHER
    if outcome in (Outcome.LIQUIDATED, Outcome.MODE_CHANGED):
        return outcome
    if outcome is Outcome.REVERSED and not explained:
        return outcome  # fills that are not shown yet are the likely reason where it is not explained
    # What others traded beside ours must not be named as if ours had done it.
    return outcome if effect == seen.held else Outcome.OTHER


def _filled(seen: Observation, own_volume: Decimal) -> Decimal | None:
    if seen.order is not None:
        return max(seen.order.base_volume or ZERO, own_volume)
    volumes = [row.base_volume for row in seen.pending if row.base_volume is not None]
    return max(sum(volumes, ZERO), own_volume) if volumes or own_volume else None


def _closed_and_opened(
    plan: ReversalPlan, ours: Sequence[FuturesFill], filled: Decimal | None, own_volume: Decimal
) -> tuple[Decimal | None, Decimal | None]:
    """What our fills have closed and opened; what the order alone says it has filled closes first, then opens."""
    held = holdings_after(plan.before, ours)
    if held is None or (filled is None and not ours):
        return None, None
    closed, opened = moves(plan, held)
    not_in_fills = max(ZERO, (filled or ZERO) - own_volume)
    closes = min(not_in_fills, max(ZERO, max(result.closed for result in plan.results) - closed))
    return closed + closes, opened + not_in_fills - closes


def _wanted(seen: Observation) -> Decimal | None:
    return seen.order_size or (sum((row.size for row in seen.pending), ZERO) if seen.pending else None)


@dataclass(frozen=True, slots=True)
class _OtherLeg:
    """The fills that are the leg of ours without our id. `ambiguous`: they cannot be told apart from others'.
    `doubtful`: by their size they are ours, while the exchange says that something else made their order."""

    fills: tuple[FuturesFill, ...] = ()
    ambiguous: bool = False
    doubtful: bool = False


def _may_close(plan: ReversalPlan, seen: Observation) -> bool:
    """Whether our own order may be the one that closes; in one-way mode closing and opening have one direction."""
    if plan.wish.mode is PositionMode.ONE_WAY or not seen.own_fills:
        return True
    return not all(_opens(plan, fill) for fill in seen.own_fills)


def _closing(plan: ReversalPlan, seen: Observation) -> _OtherLeg:
    """The fills of another order that are the closing leg of ours, where the opening order has our id."""
    if _is_one_order(plan, seen):
        return _OtherLeg()
    fills = [fill for fill in seen.other_fills if _closes(plan, fill)]
    return _other_leg(seen, fills, {result.closed for result in plan.results}, seen.own_fills)


def _opening(plan: ReversalPlan, seen: Observation, closing: Sequence[FuturesFill]) -> _OtherLeg:
    """The fills of another order that are the opening leg of ours, where the closing order has our id."""
    if (not seen.own_fills and not closing) or _is_one_order(plan, seen):
        return _OtherLeg()
    already = sum((fill.base_volume for fill in (*seen.own_fills, *closing) if _opens(plan, fill)), ZERO)
    if plan.wish.mode is PositionMode.ONE_WAY:  # closing and opening have one direction
        already = max(ZERO, already - max(result.closed for result in plan.results))
    wanted = {result.opened - already for result in plan.results if result.opened > already}
    fills = [fill for fill in seen.other_fills if fill not in closing and _opens(plan, fill)]
    return _other_leg(seen, fills, wanted, (*seen.own_fills, *closing))


def _is_one_order(plan: ReversalPlan, seen: Observation) -> bool:
    """Whether one order closes and opens: the exchange may carry a reversal out as two, of which one has our id."""
    return seen.order_size is not None and seen.order_size > max(result.closed for result in plan.results)


def _other_leg(
    seen: Observation, fills: Iterable[FuturesFill], wanted: set[Decimal], known: Sequence[FuturesFill]
) -> _OtherLeg:
    """Of the fills of others, newest first, that move what our other leg moves, those that are its own.

    Args:
        seen: one look.
        fills: those that have the other leg's direction.
        wanted: how much it may be, in the base coin.
        known: the fills of the leg that is known.
    """
    groups: dict[str | None, list[FuturesFill]] = {}
    for fill in fills:
        groups.setdefault(fill.order_id, []).append(fill)
    sizes = {order_id: sum((fill.base_volume for fill in group), ZERO) for order_id, group in groups.items()}
    likely = {order_id: size for order_id, size in sizes.items() if order_id not in seen.foreign_orders}
    # Newest first: of several orders of one size, the first that came.
    exact = [order_id for order_id in (*sizes.keys() - likely.keys(), *likely) if sizes[order_id] in wanted]
    if exact:
        return _OtherLeg(tuple(groups[exact[-1]]), doubtful=exact[-1] in seen.foreign_orders)
    if not likely or not wanted:
        return _OtherLeg()
    likely_fills = tuple(fill for order_id in likely for fill in groups[order_id])
    fits = len(likely) == 1 or sum(likely.values(), ZERO) <= max(wanted)
    until = max(fill.c_time for fill in known) + _SOON_AFTER
    if fits and all(fill.c_time <= until for fill in likely_fills):
        return _OtherLeg(likely_fills)
    return _OtherLeg(ambiguous=True)


def _closing_by_size(plan: ReversalPlan, seen: Observation) -> tuple[tuple[FuturesFill, ...], bool]:
    """The fills that closed just what the plan closes, where none is known by the order's id; and whether it is so."""
    if seen.own_fills or seen.order is not None:
        return (), False
    groups = _by_order(plan, seen.other_fills)
    planned = {size for result in plan.results for size in (result.closed, result.traded)}
    for fills in groups.values():
        if sum((fill.base_volume for fill in fills), ZERO) in planned:
            return tuple(fills), True
    return (), False


def burst_among(fills: Iterable[FuturesFill]) -> bool:
    """Whether the system closed something by force."""
    return any((fill.trade_side or "").lower().startswith("burst_") for fill in fills)


def traded_as_planned(plan: ReversalPlan, fills: Sequence[FuturesFill]) -> bool:
    """Whether an order among new fills closed what the plan closes, in direction and size.

    It is all there is to infer from where an order cannot be asked for by its own id. One-way, closing and opening
    may be one order.
    """
    planned = {size for result in plan.results for size in (result.closed, result.traded)}
    groups = _by_order(plan, fills)
    return any(sum((fill.base_volume for fill in group), ZERO) in planned for group in groups.values())


def _by_order(plan: ReversalPlan, fills: Iterable[FuturesFill]) -> dict[str | None, list[FuturesFill]]:
    groups: dict[str | None, list[FuturesFill]] = {}
    for fill in fills:
        if _closes(plan, fill):
            groups.setdefault(fill.order_id, []).append(fill)
    return groups


def _closes(plan: ReversalPlan, fill: FuturesFill) -> bool:
    if fill.unknown_word or (fill.trade_side or "").lower().startswith(_THE_SYSTEM):
        return False
    if plan.wish.mode is PositionMode.HEDGE:
        return leg_of(fill) == (LONG if plan.reverses_long else SHORT, False)
    return fill.is_buy is not plan.reverses_long


def _opens(plan: ReversalPlan, fill: FuturesFill) -> bool:
    if fill.unknown_word or (fill.trade_side or "").lower().startswith(_THE_SYSTEM):
        return False
    if plan.wish.mode is PositionMode.HEDGE:
        return leg_of(fill) == (SHORT if plan.reverses_long else LONG, True)
    return fill.is_buy is not plan.reverses_long

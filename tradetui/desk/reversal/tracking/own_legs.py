"""Finds the fills of a sent reversal's two legs where the exchange's ids alone do not identify them.

One observation of a sent reversal: its order by the exchange, the positions, and the fills since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from tradetui.trading.contract_math import ZERO
from tradetui.trading.fill_terms import terms_of
from tradetui.trading.holdings import Holdings
from tradetui.trading.positions import FromFills, Position
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import OrderStatus, PositionMode, PositionSide, SystemClose
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


_SOON_AFTER = timedelta(seconds=10)
"""Less than was planned, or more, is taken for our other leg only where it came so soon after the known one; as much
as was planned is in doubt where it came later, unless it is known to be a reversal's."""
_UNFILLED_ENDS = tuple(status for status in OrderStatus if status.is_over and status is not OrderStatus.FILLED)


@dataclass(frozen=True, slots=True)
class OtherLeg:
    """The fills that are the leg of ours without our id."""

    fills: tuple[FuturesFill, ...] = ()
    ambiguous: bool = False
    """Whether they cannot be separated from others'."""
    doubtful: bool = False
    """Whether they are ours by size alone: something else made their order, or they came late and nothing says what."""


def find_other_leg(plan: ReversalPlan, look: Observation, closing: Sequence[FuturesFill]) -> OtherLeg:
    """The leg of ours that no id names: the exchange may carry a reversal out as two orders, of which one has our id,
    or give no order with its fills. `closing` are fills taken for our closing leg by their size.
    """
    if twin := _twin(plan, look):
        is_shown = look.own_fills and not closing
        return OtherLeg(tuple(twin), ambiguous=twin[0].order_id not in look.kindred_orders) if is_shown else OtherLeg()
    if not closing and (not look.own_fills or _is_one_order(plan, look)):
        return OtherLeg()
    if closing and _has_ended_unfilled(look):
        return OtherLeg()  # it was to open: whatever opened is not ours
    if plan.params.mode is PositionMode.ONE_WAY and any(fill.is_buy is plan.reverses_long for fill in look.own_fills):
        return OtherLeg(ambiguous=True)  # the position was turned round before: what was planned tells no leg of ours
    return _opening(plan, look, closing) if closing or _may_close(plan, look) else _closing(plan, look)


def _has_ended_unfilled(look: Observation) -> bool:
    return look.order is not None and not look.order.base_volume and look.order.status in _UNFILLED_ENDS


def _may_close(plan: ReversalPlan, look: Observation) -> bool:
    """Whether our own order may be the one that closes; in one-way mode closing and opening have one direction."""
    return plan.params.mode is PositionMode.ONE_WAY or not all(_opens(plan, fill) for fill in look.own_fills)


def _closing(plan: ReversalPlan, look: Observation) -> OtherLeg:
    """The fills of another order that are the closing leg of ours, where the opening order has our id."""
    fills = [fill for fill in look.other_fills if _closes(plan, fill)]
    return _other_leg(look, fills, {result.closed for result in plan.results}, look.own_fills)


def _opening(plan: ReversalPlan, look: Observation, closing: Sequence[FuturesFill]) -> OtherLeg:
    """The fills of another order that are the opening leg of ours, where the closing order has our id."""
    fills = [fill for fill in look.other_fills if fill not in closing and _opens(plan, fill)]
    if _is_one_order(plan, look):
        return _rest_of_order(look, [fill for fill in fills if fill.order_id == closing[0].order_id], closing)
    already = sum((fill.base_volume for fill in (*look.own_fills, *closing) if _opens(plan, fill)), ZERO)
    if plan.params.mode is PositionMode.ONE_WAY:  # closing and opening have one direction
        to_close = max(result.closed for result in plan.results)
        already = max(ZERO, already - to_close)
        closes = any(sum(fill.base_volume for fill in group) == to_close for group in _by_order(fills).values())
        if look.own_fills and already and not closes:  # ours is one order for both, unless what it opened became larger
            return OtherLeg(ambiguous=bool(fills) and any(result.opened > already for result in plan.results))
    possible_sizes = {result.opened - already for result in plan.results if result.opened > already}
    leg = _other_leg(look, fills, possible_sizes, (*look.own_fills, *closing))
    # Ours may have closed alone, and somebody, or the trader by hand, opened as much.
    return OtherLeg(ambiguous=True) if any(fill.order_id in look.foreign_orders for fill in leg.fills) else leg


def _rest_of_order(look: Observation, fills: Sequence[FuturesFill], closing: Sequence[FuturesFill]) -> OtherLeg:
    filled = look.order_size if look.order_volume is None else look.order_volume
    rest = (filled or ZERO) - sum((fill.base_volume for fill in closing), ZERO)
    if rest <= ZERO:
        return OtherLeg()
    is_ours = sum((fill.base_volume for fill in fills), ZERO) <= rest
    return OtherLeg(tuple(fills)) if is_ours else OtherLeg(ambiguous=True)


def _is_one_order(plan: ReversalPlan, look: Observation) -> bool:
    return look.order_size is not None and look.order_size > max(result.closed for result in plan.results)


def _twin(plan: ReversalPlan, look: Observation) -> Sequence[FuturesFill]:
    """The fills of an order as large as ours, where ours is larger than what was to be closed and not what was to be
    traded: somebody had added to it just before, and the exchange closed and opened all of it by two orders.
    """
    if not _is_one_order(plan, look) or any(look.order_size == result.traded for result in plan.results):
        return ()
    fills = (fill for fill in look.other_fills if _closes(plan, fill) or _opens(plan, fill))
    groups = [
        group
        for order_id, group in _by_order(fills).items()
        if order_id not in look.foreign_orders and sum(fill.base_volume for fill in group) == look.order_size
    ]
    return next((group for group in groups if group[0].order_id in look.kindred_orders), groups[-1] if groups else ())


def _other_leg(
    look: Observation, fills: Iterable[FuturesFill], possible_sizes: set[Decimal], known: Sequence[FuturesFill]
) -> OtherLeg:
    """Of the fills of others, newest first, that move what our other leg moves, those that are its own.

    `possible_sizes` are how much it may be, in the base coin; `known` are the fills of the leg that is known.
    """
    groups = _by_order(fills)
    sizes = {order_id: sum((fill.base_volume for fill in group), ZERO) for order_id, group in groups.items()}
    likely = {order_id: size for order_id, size in sizes.items() if order_id not in look.foreign_orders}
    # Newest first: of several orders of one size, the first that came.
    exact = [order_id for order_id in (*sizes.keys() - likely.keys(), *likely) if sizes[order_id] in possible_sizes]
    until = max(fill.c_time for fill in known) + _SOON_AFTER
    if exact:
        exact_fills = tuple(groups[exact[-1]])
        late = exact[-1] not in look.kindred_orders and any(fill.c_time > until for fill in exact_fills)
        return OtherLeg(exact_fills, doubtful=late or exact[-1] in look.foreign_orders)
    if not likely or not possible_sizes:
        return OtherLeg()
    likely_fills = tuple(fill for order_id in likely for fill in groups[order_id])
    # Fills that name no order may be several orders'. Of several orders one at most is ours: not even what they come to
    # together tells which.
    fits = len(likely) == 1 and (None not in likely or likely[None] <= max(possible_sizes))
    if fits and all(fill.c_time <= until for fill in likely_fills):
        return OtherLeg(likely_fills)
    return OtherLeg(ambiguous=True)


def closing_by_size(plan: ReversalPlan, look: Observation) -> tuple[tuple[FuturesFill, ...], bool]:
    """The fills that closed just what the plan closes, where none is known by the order's id; and whether it is so.

    Fills that name no order may be ours. An order of our id that ended without a fill was the opening one
    where another order closed, unless it was to close itself or something else is known to have made the other; what
    only a reversal makes counts whatever it came to, also where ours has no fill in a state nobody knows.
    """
    order, planned = look.order, {size for result in plan.results for size in (result.closed, result.traded)}
    cancelled = _has_ended_unfilled(look)
    unfilled = cancelled or (order is not None and not order.base_volume and order.status is None)
    if look.own_fills or (unfilled and _is_one_order(plan, look) and not _twin(plan, look)):
        return (), False
    for order_id, fills in _by_order(fill for fill in look.other_fills if _closes(plan, fill)).items():
        kindred = order_id in look.kindred_orders and (order is None or unfilled)
        unsaid = order is None or (cancelled and order_id not in look.foreign_orders)
        may_be_ours = kindred or order_id is None or (unsaid and not look.kindred_orders)
        closed = sum((fill.base_volume for fill in fills), ZERO)
        if may_be_ours and (closed in planned or kindred):
            return tuple(fills), True
    return (), False


def contradiction(plan: ReversalPlan, own_fills: Iterable[FuturesFill], positions: Iterable[Position]) -> str:
    """Why positions cannot be summed from readable fills; empty where they can, or are reported.

    A fill of our own order that is neither of its legs shows that `side` does not name the leg in this exchange's
    fills. One-way, `side` is the direction of the trade and names no leg.
    """
    if plan.params.mode is not PositionMode.HEDGE or not any(isinstance(leg.source, FromFills) for leg in positions):
        return ""
    for fill in own_fills:
        terms = terms_of(fill)
        certain = terms.mode is PositionMode.HEDGE and terms.effect is not None and not terms.forced_by
        if certain and not (_closes(plan, fill) or _opens(plan, fill)):
            sides = f"side {fill.side}, tradeSide {fill.trade_side}"
            return f"its order has a fill ({sides}) that reverses no {plan.leg}: fills do not show what is held"
    return ""


def may_be_among_others(plan: ReversalPlan, look: Observation) -> bool:
    """Whether an order of which it is not known what made it moved what ours moves, and none was ever shown as ours."""
    known_orders = look.foreign_orders | look.kindred_orders
    return look.order_id is None and any(
        fill.order_id not in known_orders and (_closes(plan, fill) or _opens(plan, fill)) for fill in look.other_fills
    )


def burst_among(fills: Iterable[FuturesFill]) -> bool:
    """Whether the system closed a position by force."""
    return any(terms_of(fill).forced_by is SystemClose.LIQUIDATION for fill in fills)


def traded_as_planned(plan: ReversalPlan, fills: Sequence[FuturesFill]) -> bool:
    """Whether an order among new fills closed what the plan closes, in direction and size.

    This is the only evidence where an order cannot be requested by its own id. One-way, closing and opening
    may be one order.
    """
    planned = {size for result in plan.results for size in (result.closed, result.traded)}
    groups = _by_order(fill for fill in fills if _closes(plan, fill))
    return any(sum((fill.base_volume for fill in group), ZERO) in planned for group in groups.values())


def _by_order(fills: Iterable[FuturesFill]) -> dict[str | None, list[FuturesFill]]:
    groups: dict[str | None, list[FuturesFill]] = {}
    for fill in fills:
        groups.setdefault(fill.order_id, []).append(fill)
    return groups


def _closes(plan: ReversalPlan, fill: FuturesFill) -> bool:
    return _moves_as_ours(plan, fill, (plan.closed_leg, False))


def _opens(plan: ReversalPlan, fill: FuturesFill) -> bool:
    return _moves_as_ours(plan, fill, (plan.opened_leg, True))


def _moves_as_ours(plan: ReversalPlan, fill: FuturesFill, hedge_leg: tuple[PositionSide, bool]) -> bool:
    """Whether an order moved the same leg as one of ours; in one-way mode closing and opening have one direction.

    `hedge_leg` is the leg in hedge mode, and whether it is opened.
    """
    terms = terms_of(fill, plan.params.mode)
    if terms.effect is None or terms.forced_by:
        return False
    if plan.params.mode is PositionMode.HEDGE:
        return (terms.leg, terms.opens) == hedge_leg
    return terms.buys is not plan.reverses_long

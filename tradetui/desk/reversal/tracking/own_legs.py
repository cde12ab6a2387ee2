"""Finds the fills of a sent reversal's two legs if the exchange's ids alone do not identify them.

Also defines one observation of a sent reversal: its order, the positions, and the fills since sending. `evidence`
defines the terms own, other, foreign, kindred, twin, traced and named.
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
    """One look: the order of our own id, its pending part, the positions and the fills, read in this order.

    All sizes are in the base coin.
    """

    answer: OrderAnswer
    held: Holdings
    order: OrderDetail | None = None
    pending: tuple[PendingOrder, ...] = ()
    own_fills: tuple[FuturesFill, ...] = ()
    """Fills with our order's id."""
    other_fills: tuple[FuturesFill, ...] = ()
    """The symbol's other fills since sending."""
    foreign_orders: frozenset[str] = frozenset()
    """Orders with another source than ours."""
    kindred_orders: frozenset[str] = frozenset()
    """Orders that a reversal made, by the same source as ours if that is known."""
    kindred_sizes: Mapping[str | None, Decimal] = field(default_factory=dict)
    """The known sizes of kindred orders, by order id."""
    live_orders: frozenset[str] = frozenset()
    """Kindred orders that are not over by the exchange's word."""
    order_id: str | None = None
    """The id of our order, if it was ever seen."""
    order_size: Decimal | None = None
    """The size of our order, if it was ever seen."""
    waited_s: float = 0.0
    """Seconds that have certainly passed since the call ended."""
    after_window: bool = False
    """Whether the exchange's time of these replies is past the last moment at which it takes the request."""
    reaches_back: bool = True
    """Whether the symbol's newest fill before sending is still shown; if not, the fills may be another account's."""
    unreadable: str = ""
    """Why the holdings are not known from these rows; empty if they are."""
    contradiction: str = ""
    """The same, if a fill of our own order shows it: then it applies to every fill of the account."""
    proven: bool = True
    """Whether the holdings are known to be complete, and not only the sum of the known fills."""
    positions: tuple[Position, ...] = ()
    """The positions of the product type, as they were read."""
    renumbered: bool = False
    """Whether the account was moved to unified mode after sending, and its fills have other ids than before."""

    @property
    def own_volume(self) -> Decimal:
        """The size of the fills with our order's id."""
        return sum((fill.base_volume for fill in self.own_fills), ZERO)

    @property
    def order_volume(self) -> Decimal | None:
        """The order's filled size by its own report, in the base coin; None without an order."""
        if self.order is None:
            return None
        if self.order.status is OrderStatus.FILLED and not self.order.base_volume:
            return self.order.size or ZERO
        return self.order.base_volume or ZERO


_SOON_AFTER = timedelta(seconds=10)
"""Fills of another size than planned count as our other leg only if they came this soon after the known leg.

Fills of the planned size that came later are doubtful, unless a reversal made their order.
"""
_UNFILLED_ENDS = tuple(status for status in OrderStatus if status.is_over and status is not OrderStatus.FILLED)


@dataclass(frozen=True, slots=True)
class OtherLeg:
    """The fills of our leg that has not our id."""

    fills: tuple[FuturesFill, ...] = ()
    ambiguous: bool = False
    """Whether these fills cannot be separated from others'."""
    doubtful: bool = False
    """Whether they are ours by size alone: their order has another source, or they came late from an unknown source."""


def find_other_leg(plan: ReversalPlan, look: Observation, closing: Sequence[FuturesFill]) -> OtherLeg:
    """Find the second leg of our reversal if its fills carry another order id, or none.

    An exchange may execute a reversal as two orders, of which one has our id, or report fills without orders. `closing`
    are fills counted as our closing leg by their size.
    """
    if twin := _twin(plan, look):
        is_shown = look.own_fills and not closing
        return OtherLeg(tuple(twin), ambiguous=twin[0].order_id not in look.kindred_orders) if is_shown else OtherLeg()
    if not closing and (not look.own_fills or _is_one_order(plan, look)):
        return OtherLeg()
    if closing and _has_ended_unfilled(look):
        return OtherLeg()  # it should have opened, so no opening fill is ours
    if plan.params.mode is PositionMode.ONE_WAY and any(fill.is_buy is plan.reverses_long for fill in look.own_fills):
        return OtherLeg(ambiguous=True)  # the position had already changed side, so the plan identifies no leg of ours
    return _opening(plan, look, closing) if closing or _may_close(plan, look) else _closing(plan, look)


def _has_ended_unfilled(look: Observation) -> bool:
    return look.order is not None and not look.order.base_volume and look.order.status in _UNFILLED_ENDS


def _may_close(plan: ReversalPlan, look: Observation) -> bool:
    """Whether our own order may be the closing one; in one-way mode closing and opening have one direction."""
    return plan.params.mode is PositionMode.ONE_WAY or not all(_opens(plan, fill) for fill in look.own_fills)


def _closing(plan: ReversalPlan, look: Observation) -> OtherLeg:
    """Find our closing leg among fills of other orders, if the opening order has our id."""
    fills = [fill for fill in look.other_fills if _closes(plan, fill)]
    return _other_leg(look, fills, {result.closed for result in plan.results}, look.own_fills)


def _opening(plan: ReversalPlan, look: Observation, closing: Sequence[FuturesFill]) -> OtherLeg:
    """Find our opening leg among fills of other orders, if the closing order has our id."""
    fills = [fill for fill in look.other_fills if fill not in closing and _opens(plan, fill)]
    if _is_one_order(plan, look):
        return _rest_of_order(look, [fill for fill in fills if fill.order_id == closing[0].order_id], closing)
    already = sum((fill.base_volume for fill in (*look.own_fills, *closing) if _opens(plan, fill)), ZERO)
    if plan.params.mode is PositionMode.ONE_WAY:  # closing and opening have one direction
        to_close = max(result.closed for result in plan.results)
        already = max(ZERO, already - to_close)
        closes = any(sum(fill.base_volume for fill in group) == to_close for group in _by_order(fills).values())
        if look.own_fills and already and not closes:  # one order did both, unless it opened more
            return OtherLeg(ambiguous=bool(fills) and any(result.opened > already for result in plan.results))
    possible_sizes = {result.opened - already for result in plan.results if result.opened > already}
    leg = _other_leg(look, fills, possible_sizes, (*look.own_fills, *closing))
    # Ours may have only closed, and another order, or the trader by hand, opened as much.
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
    """Return the fills of a twin: an order as large as ours, which is larger than the plan closes and no planned total.

    The position had grown just before, and the exchange closed and opened all of it by two orders.
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
    """Choose the fills of our other leg among fills of others, newest first, that move the same leg in its direction.

    `possible_sizes` are the sizes that the leg may have, in the base coin; `known` are the fills of the known leg.
    """
    groups = _by_order(fills)
    sizes = {order_id: sum((fill.base_volume for fill in group), ZERO) for order_id, group in groups.items()}
    likely = {order_id: size for order_id, size in sizes.items() if order_id not in look.foreign_orders}
    # Newest first; of several orders of one size the earliest is taken.
    exact = [order_id for order_id in (*sizes.keys() - likely.keys(), *likely) if sizes[order_id] in possible_sizes]
    until = max(fill.c_time for fill in known) + _SOON_AFTER
    if exact:
        exact_fills = tuple(groups[exact[-1]])
        late = exact[-1] not in look.kindred_orders and any(fill.c_time > until for fill in exact_fills)
        return OtherLeg(exact_fills, doubtful=late or exact[-1] in look.foreign_orders)
    if not likely or not possible_sizes:
        return OtherLeg()
    likely_fills = tuple(fill for order_id in likely for fill in groups[order_id])
    # Unnamed fills may be of several orders. Of several orders at most one is ours, and their total does not tell
    # which.
    fits = len(likely) == 1 and (None not in likely or likely[None] <= max(possible_sizes))
    if fits and all(fill.c_time <= until for fill in likely_fills):
        return OtherLeg(likely_fills)
    return OtherLeg(ambiguous=True)


def closing_by_size(plan: ReversalPlan, look: Observation) -> tuple[tuple[FuturesFill, ...], bool]:
    """Find fills of the planned closing size if no fill has our order's id; also return whether there are any.

    Unnamed fills may be ours. If an order of our id ended without a fill, it was the opening one, and another order
    closed, unless ours was to close itself or the other order has another source. A kindred order counts whatever it
    traded, also if ours has no fill and an unknown state.
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
    """Return why positions cannot be summed from readable fills; empty if they can, or are reported.

    A fill of our own order that is neither of its legs shows that `side` does not name the leg in this exchange's
    fills. In one-way mode `side` is the direction of the trade and names no leg.
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
    """Whether an order of unknown source moved a leg as ours would, while no order was ever shown as ours."""
    known_orders = look.foreign_orders | look.kindred_orders
    return look.order_id is None and any(
        fill.order_id not in known_orders and (_closes(plan, fill) or _opens(plan, fill)) for fill in look.other_fills
    )


def burst_among(fills: Iterable[FuturesFill]) -> bool:
    """Whether the exchange closed a position by force."""
    return any(terms_of(fill).forced_by is SystemClose.LIQUIDATION for fill in fills)


def traded_as_planned(plan: ReversalPlan, fills: Sequence[FuturesFill]) -> bool:
    """Whether an order among new fills closed the planned size in the planned direction.

    This is the only evidence if an order cannot be requested by our id. In one-way mode closing and opening may be one
    order.
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
    """Whether a fill moved the same leg as ours would; in one-way mode closing and opening have one direction.

    `hedge_leg` is the leg in hedge mode, and whether it is opened.
    """
    terms = terms_of(fill, plan.params.mode)
    if terms.effect is None or terms.forced_by:
        return False
    if plan.params.mode is PositionMode.HEDGE:
        return (terms.leg, terms.opens) == hedge_leg
    return terms.buys is not plan.reverses_long

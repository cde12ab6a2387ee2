"""The effect of a symbol's open orders and stops after a reversal.

They were placed for the position that ends. An order goes the wrong way if it rebuilds that position, or adds to the
new one instead of protecting the old one. So does an order of unknown effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.trading.contract_math import ZERO, grouped_digits
from tradetui.trading.fill_terms import (
    CLOSING_PLANS,
    TradeAction,
    TradeEffect,
    effect_of_order,
    effect_of_trigger,
    sides_as_received,
)
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import PlanType, PositionSide, known
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT
NOT_KNOWN: Final = "what it does is not known"


class ImpactKind(StrEnum):
    """Possible effects of an order on the holdings."""

    ADDS = "adds"
    OPENS = "opens"
    OPENS_AGAINST = "opens against"
    REDUCES = "reduces"
    CLOSES = "closes"
    TURNS = "turns"
    NOTHING = "nothing"


class Impact(NamedTuple):
    """An order's effect on the holdings: `leg` is the leg it affects, or the one it opens if it turns a net."""

    kind: ImpactKind
    leg: PositionSide

    def phrase(self, new: PositionSide | None = None) -> str:
        """Describe it, such as `adds to the new LONG`; `new` is the leg that a reversal has just opened."""
        other = SHORT if self.leg is LONG else LONG

        def the(leg: PositionSide) -> str:
            return f"the {'new ' if leg is new else ''}{leg.upper()}"

        match self.kind:
            case ImpactKind.ADDS:
                return f"adds to {the(self.leg)}"
            case ImpactKind.OPENS:
                return f"opens a {self.leg.upper()}"
            case ImpactKind.OPENS_AGAINST:
                return f"opens a {self.leg.upper()} against {the(other)}"
            case ImpactKind.REDUCES:
                return f"reduces {the(self.leg)}"
            case ImpactKind.CLOSES:
                return f"closes {the(self.leg)}"
            case ImpactKind.TURNS:
                return f"closes {the(other)} and opens a {self.leg.upper()}"
            case ImpactKind.NOTHING:
                return f"has no {self.leg.upper()} left to close"


def impact_on(effect: TradeEffect, size: Decimal | None, held: Holdings) -> Impact | None:
    """Return the impact of an order of a size (base coin; None is the whole leg) on the holdings.

    None if the effect belongs to the other position mode.
    """
    if _is_of_other_mode(effect, held):
        return None
    closed = effect.closed_leg
    opened, own = SHORT if closed is LONG else LONG, held.size_of(closed)
    if effect.opens:
        kind = ImpactKind.ADDS if own else ImpactKind.OPENS if held == Legs() else ImpactKind.OPENS_AGAINST
        return Impact(kind, closed)
    if not own and effect.opens is None:
        return Impact(ImpactKind.ADDS if held.size_of(opened) else ImpactKind.OPENS, opened)
    if not own:
        return Impact(ImpactKind.NOTHING, closed)
    if size is not None and size < own:
        return Impact(ImpactKind.REDUCES, closed)
    turns = size is not None and size > own and effect.opens is None
    return Impact(ImpactKind.TURNS, opened) if turns else Impact(ImpactKind.CLOSES, closed)


def _is_of_other_mode(effect: TradeEffect, held: Holdings) -> bool:
    """Whether an effect belongs to the other position mode than the holdings.

    One-way mode has no explicit open, and hedge mode no effect without a leg.
    """
    return effect.opens is (True if isinstance(held, Net) else None)


def held_after_fill(effect: TradeEffect, size: Decimal | None, held: Holdings) -> Holdings:
    """Return the holdings after an order of a size (base coin; None is all that it can close) has filled.

    An order that may only close is limited by the holdings. Raises ValueError if the effect belongs to the other
    position mode.
    """
    if _is_of_other_mode(effect, held):
        raise ValueError(f"{effect.present} is of the other position mode than {held}")
    if effect.opens:
        return held.moved(effect.closed_leg, size or ZERO)
    own = held.size_of(effect.closed_leg)
    closes = own if size is None else size if effect.opens is None else min(size, own)
    return held.moved(effect.closed_leg, -closes)


class RestingKind(StrEnum):
    """The kinds of open orders; the value is the name on the screen."""

    ORDER = "order"
    STOP_LOSS = "stop-loss"
    TAKE_PROFIT = "take-profit"
    TRAILING_STOP = "trailing stop"
    TRIGGER = "trigger order"


_KIND_OF_PLAN: Final = {
    PlanType.LOSS_PLAN: RestingKind.STOP_LOSS,
    PlanType.POS_LOSS: RestingKind.STOP_LOSS,
    PlanType.PROFIT_PLAN: RestingKind.TAKE_PROFIT,
    PlanType.POS_PROFIT: RestingKind.TAKE_PROFIT,
    PlanType.MOVING_PLAN: RestingKind.TRAILING_STOP,
}


class Difference(StrEnum):
    """How an order differs from its preview; the value is the text on the screen."""

    STILL_WAITING = "still waiting"
    GONE = "no longer waiting"
    WRONG_WAY = "going the wrong way now"
    NEW = "not in the preview"


@dataclass(frozen=True, slots=True)
class OrderImpact:
    """One order, its effect on the new position, and whether that goes the `wrong_way`.

    `action` is its trade without the price: `buy 0.1186`, `whole LONG`. `price` is where it fills or fires, None at the
    market. `done` is its filled fraction. `assumed` is whether the effect assumes that the exchange cancels the order
    with the reversed leg. `difference` is set for an order compared with its preview.
    """

    order_id: str
    kind: RestingKind
    action: str
    price: Decimal | None
    effect: str
    wrong_way: bool = False
    assumed: bool = False
    done: Decimal = ZERO
    difference: Difference | None = None

    @property
    def rests_in_book(self) -> bool:
        """Whether it is a plain order, and no trigger order that waits for a price."""
        return self.kind is RestingKind.ORDER

    @property
    def summary(self) -> str:
        """Action and price with every digit, and the kind unless it is a plain order."""
        at = f"at {grouped_digits(self.price)}" if self.price is not None else "at the market"
        kind = "" if self.rests_in_book else f"{self.kind} "
        return f"{kind}{self.action} {at}"


def resting_after(
    plan: ReversalPlan,
    orders: Iterable[PendingOrder],
    stops: Iterable[TriggerOrder],
    held: Holdings | None = None,
    *,
    market: Decimal | None = None,
) -> tuple[OrderImpact, ...]:
    """Return every order and live stop of the symbol with its effect on the holdings after the reversal.

    These are `held` if known already, else every possible result of the plan. With a market price (quote coin), orders
    nearer to it fill first; without one, each order is examined as if it were the only one.
    """
    afters = (held,) if held is not None else tuple(result.after for result in plan.results)
    outlook = _Outlook(plan, afters, is_known=held is not None)
    resting = (*(_order(order, plan) for order in orders), *(_stop(stop, plan) for stop in stops))
    path = [order for order in resting if outlook.may_fill(order)]
    turns = [held_at_turn(path, market, after) if market else {} for after in afters]
    return tuple(
        outlook.impact_of(order, [turn.get(order.order_id, after) for turn, after in zip(turns, afters, strict=True)])
        for order in resting
    )


def compared_with_preview(
    previewed: Iterable[OrderImpact],
    waiting: Iterable[OrderImpact],
    *,
    leg_is_gone: bool,
    may_be_unread: Callable[[OrderImpact], bool],
) -> tuple[OrderImpact, ...]:
    """Return the orders that wait after a reversal and those that are gone, each with its difference from the preview.

    `leg_is_gone` is whether nothing is left of the reversed leg, with which its orders should have gone. An order that
    `may_be_unread`, in the preview or afterwards, is neither gone nor new. If its effect is not known, it does not go
    the wrong way either.
    """
    before = {(order.order_id, order.kind): order for order in previewed}
    compared = []
    for order in waiting:
        shown, difference = before.pop((order.order_id, order.kind), None), None
        if shown is None:
            difference = None if may_be_unread(order) else Difference.NEW
        elif shown.assumed and leg_is_gone:
            difference = Difference.STILL_WAITING
        elif order.wrong_way and not shown.wrong_way and not (order.effect == NOT_KNOWN and may_be_unread(order)):
            difference = Difference.WRONG_WAY
        compared.append(replace(order, difference=difference))
    gone = (order for order in before.values() if not (order.assumed or may_be_unread(order)))
    return (*compared, *(replace(order, effect="", wrong_way=False, difference=Difference.GONE) for order in gone))


@dataclass(frozen=True, slots=True)
class RestingOrder:
    """An open order or stop. `size` is its unfilled size in the base coin; None is all that it can close."""

    order_id: str
    kind: RestingKind
    action: str
    price: Decimal | None
    effect: TradeEffect | None
    size: Decimal | None
    is_stop: bool = False
    done: Decimal = ZERO

    def meets(self, holdings: Iterable[Holdings]) -> list[_Meeting] | None:
        """Return its impact on each of these holdings; None if its effect is unknown or of the other position mode."""
        meetings = []
        for held in holdings:
            impact = None if self.effect is None else impact_on(self.effect, self.size, held)
            if self.effect is None or impact is None:
                return None
            meetings.append(_Meeting(self.effect, held, impact))
        return meetings


@dataclass(frozen=True, slots=True)
class _Meeting:
    """The effect of an order, the holdings when it fills, and its impact on them."""

    effect: TradeEffect
    held: Holdings
    impact: Impact


@dataclass(frozen=True, slots=True)
class _Outlook:
    """Judges the effect of orders after a reversal, on the holdings of each possible result or on the known ones."""

    plan: ReversalPlan
    afters: Sequence[Holdings]
    is_known: bool

    def impact_of(self, order: RestingOrder, held_at_turn: Sequence[Holdings]) -> OrderImpact:
        """Return the impact of an order; `held_at_turn` are the holdings just before it fills, for each result."""
        meetings, meetings_alone = order.meets(held_at_turn), order.meets(self.afters)
        effect, is_wrong, is_assumed = NOT_KNOWN, True, False
        if meetings is not None and meetings_alone is not None:
            texts = [self._text(order, meeting) for meeting in meetings]
            effect = " or ".join(dict.fromkeys(texts))
            if texts != [self._text(order, meeting) for meeting in meetings_alone]:
                effect += ", once nearer ones fill"
            is_wrong = any(self._is_wrong(meeting) for meeting in meetings)
            is_assumed = self._may_be_cancelled(order, meetings_alone)
            if is_assumed and is_wrong:
                effect = f"cancelled with the {self.plan.closed_leg.upper()} (assumed), else {effect}"
        return OrderImpact(
            order.order_id, order.kind, order.action, order.price, effect, is_wrong, is_assumed, order.done
        )

    def may_fill(self, order: RestingOrder) -> bool:
        """Whether an order may change the holdings that later ones find."""
        meetings = order.meets(self.afters)
        return meetings is not None and not self._may_be_cancelled(order, meetings)

    def _is_wrong(self, meeting: _Meeting) -> bool:
        """Whether an order goes against the trader's intent.

        Hedge mode: an order that opens the reversed leg rebuilds it; any other order stays with its leg. One-way mode:
        an order in the direction of the new net, such as a protective stop of the old position, adds to it unless it
        may only reduce.
        """
        effect, impact = meeting.effect, meeting.impact
        if effect.leg is not None:
            return effect.opens is True and effect.leg is self.plan.closed_leg
        return impact.kind is ImpactKind.ADDS and impact.leg is self.plan.opened_leg

    def _may_be_cancelled(self, order: RestingOrder, meetings: Iterable[_Meeting]) -> bool:
        """Whether the exchange is assumed to cancel an order with the reversed leg."""
        return not self.is_known and any(
            self._has_nothing_to_close(meeting)
            or (order.is_stop and meeting.effect.closed_leg is self.plan.closed_leg and self._is_wrong(meeting))
            for meeting in meetings
        )

    def _text(self, order: RestingOrder, meeting: _Meeting) -> str:
        """Describe the effect of an order on the holdings when it fills."""
        impact, before = meeting.impact, self.plan.before
        opened, size_text = self.plan.opened_leg, self.plan.size_text
        phrase = impact.phrase(None if before.size_of(opened) else opened)
        held, then = before.size_of(impact.leg), meeting.held.size_of(impact.leg)
        if impact.kind is ImpactKind.CLOSES and order.size is not None and order.size > then:
            phrase = f"{phrase}, {size_text(then)} of its {size_text(order.size)}"
        if self._has_nothing_to_close(meeting) and not self.is_known:
            return f"cancelled with the {impact.leg.upper()} (assumed)"
        if isinstance(before, Legs) and held and not self.is_known:
            if impact.kind is ImpactKind.CLOSES and order.size is None:
                return "stays" if held == then else f"stays, for {size_text(then)} instead of {size_text(held)}"
            if meeting.effect.action is TradeAction.CLOSE:
                return f"stays, {phrase}"
        return _loud(phrase) if self._is_wrong(meeting) else phrase

    def _has_nothing_to_close(self, meeting: _Meeting) -> bool:
        return meeting.impact.kind is ImpactKind.NOTHING and meeting.impact.leg is self.plan.closed_leg


def _order(order: PendingOrder, plan: ReversalPlan) -> RestingOrder:
    effect = effect_of_order(order, plan.params.mode)
    filled = order.base_volume or ZERO
    action = _action(order, effect, plan.size_text(order.size))
    done = filled / order.size if order.size else ZERO
    kind, left = RestingKind.ORDER, order.size - filled
    return RestingOrder(order.order_id, kind, action, order.price, effect, left, done=done)


def _stop(stop: TriggerOrder, plan: ReversalPlan) -> RestingOrder:
    effect, size = effect_of_trigger(stop, plan.params.mode), stop.size or None
    digits = plan.size_text(size) if size else ""
    action, is_stop = _action(stop, effect, digits), False
    if effect is not None and known(PlanType, stop.plan_type) in CLOSING_PLANS:
        leg, is_stop = effect.closed_leg.upper(), True
        action = f"{digits} of the {leg}" if size else f"whole {leg}"
    return RestingOrder(stop.order_id, _kind(stop), action, stop.trigger_price, effect, size, is_stop)


def _kind(stop: TriggerOrder) -> RestingKind:
    plan_type = known(PlanType, stop.plan_type)
    return _KIND_OF_PLAN.get(plan_type, RestingKind.TRIGGER) if plan_type is not None else RestingKind.TRIGGER


def _action(order: PendingOrder | TriggerOrder, effect: TradeEffect | None, digits: str) -> str:
    """Describe the trade of an order, such as `buy 0.1186`; unknown terms stay as received."""
    if effect is None:
        return f"{sides_as_received(order)} {digits}".strip()
    return f"{'buy' if effect.buys else 'sell'} {digits}".strip()


def _loud(phrase: str) -> str:
    """Return the phrase in capitals, except the leg that it names as opposed."""
    head, against, leg = phrase.partition(" against")
    return f"{head.upper()}{against}{leg}"


def held_at_turn(orders: Iterable[RestingOrder], market: Decimal, held: Holdings) -> Mapping[str, Holdings]:
    """Return the holdings just before each order fills, by id, if the price goes straight to it from the market.

    For an order that opens, earlier stops are ignored: stops protect holdings, and such an order is judged by what it
    adds to them.
    """
    priced = [(order.price, order) for order in orders if order.price is not None]
    below = [order for price, order in sorted(priced, key=lambda pair: -pair[0]) if price < market]
    above = [order for price, order in sorted(priced, key=lambda pair: pair[0]) if price >= market]
    return _along(below, held) | _along(above, held)


def _along(path: Sequence[RestingOrder], held: Holdings) -> dict[str, Holdings]:
    turns: dict[str, Holdings] = {}
    with_stops = without_stops = held
    for order in path:
        if order.effect is None:
            continue
        turns[order.order_id] = without_stops if order.effect.opens else with_stops
        with_stops = held_after_fill(order.effect, order.size, with_stops)
        if not order.is_stop:
            without_stops = held_after_fill(order.effect, order.size, without_stops)
    return turns

"""The reversal plan: what is sent, what is held before and afterwards, and every assumption in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from tradetui.trading.contract_math import ZERO, grouped_digits
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.wire.enums import PositionMode, Side
from tradetui.wire.models.futures_extended import Contract
from tradetui.wire.models.futures_requests import ReversalRequest
from tradetui.wire.product_types import ProductType

OneWaySide = Literal["omit", "held", "order"]


class CannotReverse(Exception):
    """There is no plan: `reason` says why, `remedy` what could be done."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}. {remedy}")
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalParams:
    """What a trader asks for. `side` names the leg (buy the long one), in one-way mode the side that must be held.

    `size` None is all of it.
    """

    product_type: ProductType
    symbol: str
    margin_coin: str
    mode: PositionMode
    held: Holdings
    side: Side | None = None
    size: Decimal | None = None
    trade_side: str = "Open"
    one_way_side: OneWaySide = "omit"


@dataclass(frozen=True, slots=True)
class ProjectedPosition:
    """One possible outcome: what is held, how much is closed, how much is opened on the other side."""

    after: Holdings
    closed: Decimal
    opened: Decimal
    description: str

    @property
    def traded(self) -> Decimal:
        """Everything that changes hands, in the base coin."""
        return self.closed + self.opened


@dataclass(frozen=True, slots=True)
class ReversalPlan:
    """A reversal as it would be sent and what it leads to; `results` has two entries where the interface is silent.

    Sizes are written with `size_places` decimals at least, those of the contract's step, where that is known.
    """

    wish: ReversalParams
    request: ReversalRequest
    before: Holdings
    results: tuple[ProjectedPosition, ...]
    assumptions: tuple[str, ...]
    size_places: int = 0

    def size_text(self, amount: Decimal) -> str:
        """A size of the contract for sentences, with every digit; the request has its own exact text."""
        return grouped_digits(amount, self.size_places)

    @property
    def uncertain(self) -> bool:
        """Whether more than one result is possible."""
        return len(self.results) > 1

    @property
    def reverses_long(self) -> bool:
        """Whether the leg that is closed is a long one."""
        if isinstance(self.before, Net):
            return self.before.net > ZERO
        return self.wish.side is Side.BUY

    @property
    def leg(self) -> str:
        """The leg that is reversed, LONG or SHORT; in one-way mode the side that is held."""
        return "LONG" if self.reverses_long else "SHORT"

    @property
    def subject(self) -> str:
        """Symbol and leg, `BTCUSDT SHORT`: what is reversed, and what is typed to confirm it."""
        return f"{self.wish.symbol} {self.leg}"

    @property
    def held_size(self) -> Decimal:
        """How much of the leg is held before, in the base coin."""
        if isinstance(self.before, Net):
            return abs(self.before.net)
        return self.before.long if self.reverses_long else self.before.short

    @property
    def side_meaning(self) -> str:
        """What the request's `side` names, since selling is not what it orders; empty where there is no `side`."""
        side = self.request.side
        if side is None:
            return ""
        if self.wish.mode is PositionMode.HEDGE:
            return f"{side} = the {self.leg.lower()} leg"
        if self.wish.one_way_side == "held":
            return f"{side} = the {self.leg.lower()} position that is held"
        return f"{side} = the order that closes the {self.leg.lower()} position"

    def request_fields(self) -> Mapping[str, Any]:
        """The request's fields exactly as sent."""
        return self.request.values()

    def with_client_oid(self, client_oid: str) -> ReversalPlan:
        """The same plan, its request under this id of ours."""
        return replace(self, request=self.request.changed(client_oid=client_oid))

    @property
    def title(self) -> str:
        """The action in words, for the button and the journal: `Reverse BTCUSDT SHORT 3 of 20 into LONG 8`."""
        return f"{self.short_title} into {' or '.join(self._other_side_of(result) for result in self.results)}"

    @property
    def action(self) -> str:
        """The title without the symbol: `Reverse SHORT 3 of 20 into LONG 8`."""
        return self.title.replace(f"{self.subject} ", f"{self.leg} ", 1)

    @property
    def short_title(self) -> str:
        """The title without what is held afterwards: `Reverse BTCUSDT SHORT 3 of 20`."""
        closed, held = self.results[0].closed, self.size_text(self.held_size)
        size = held if closed == self.held_size else f"{self.size_text(closed)} of {held}"
        return f"Reverse {self.subject} {size}"

    def _other_side_of(self, result: ProjectedPosition) -> str:
        after = result.after
        if isinstance(after, Net):
            return (
                f"{'LONG' if after.net > ZERO else 'SHORT'} {self.size_text(abs(after.net))}" if after.net else "flat"
            )
        return f"SHORT {self.size_text(after.short)}" if self.reverses_long else f"LONG {self.size_text(after.long)}"


def plan_reversal(wish: ReversalParams, client_oid: str | None = None) -> ReversalPlan:
    """Return the plan of a wish; raises CannotReverse where nothing can be sent.

    The rules are those of endpoint 5 (`click-backhand`) of the interface.
    """
    if wish.size is not None and wish.size <= ZERO:
        raise CannotReverse("The size must be above zero", "Give a size, or none for the whole position")
    if wish.mode is PositionMode.HEDGE:
        return _hedge(wish, client_oid)
    return _one_way(wish, client_oid)


def _hedge(wish: ReversalParams, client_oid: str | None) -> ReversalPlan:
    if not isinstance(wish.held, Legs):
        raise CannotReverse("The holdings are of one-way mode", "Read the positions again")
    if wish.side is None:
        if wish.held == Legs():
            raise _nothing_held(wish)
        if wish.held.long and wish.held.short:
            legs = f"{wish.symbol} LONG or {wish.symbol} SHORT"
            raise CannotReverse(f"Both sides of {wish.symbol} are held", f"Name one: {legs}")
        raise CannotReverse("In hedge mode a side is needed", "Give buy to reverse the LONG, sell to reverse the SHORT")
    reverses_long = wish.side is Side.BUY
    leg = wish.held.long if reverses_long else wish.held.short
    name, other = ("LONG", "SHORT") if reverses_long else ("SHORT", "LONG")
    if leg <= ZERO:
        raise _not_held(wish, name)
    size = leg if wish.size is None else wish.size
    part = min(size, leg)
    after = wish.held.moved(long=-part, short=part) if reverses_long else wish.held.moved(long=part, short=-part)
    existing = wish.held.short if reverses_long else wish.held.long
    assumptions = []
    if size > leg:
        assumptions.append(f"size {grouped_digits(size)} is more than is held; only {grouped_digits(leg)} is reversed")
    request = ReversalRequest(
        symbol=wish.symbol,
        margin_coin=wish.margin_coin,
        product_type=wish.product_type,
        size=size,
        side=wish.side,
        trade_side=wish.trade_side,
        client_oid=client_oid,
    )
    request.check(wish.mode)
    sentence = (
        f"{name} {grouped_digits(leg)} becomes {grouped_digits(leg - part)}, "
        f"{other} {grouped_digits(existing)} becomes {grouped_digits(existing + part)}"
    )
    return ReversalPlan(
        wish, request, wish.held, (ProjectedPosition(after, part, part, sentence),), (*assumptions, *_MARKET)
    )


def _one_way(wish: ReversalParams, client_oid: str | None) -> ReversalPlan:
    if not isinstance(wish.held, Net):
        raise CannotReverse("The holdings are of hedge mode", "Read the positions again")
    net = wish.held.net
    if not net:
        raise _nothing_held(wish)
    if wish.side is not None and (wish.side is Side.BUY) != (net > ZERO):
        raise _not_held(wish, "LONG" if wish.side is Side.BUY else "SHORT")
    amount = abs(net)
    whole = ProjectedPosition(
        Net(-net), amount, amount, f"the whole net {grouped_digits(net)} becomes {grouped_digits(-net)}"
    )
    results: tuple[ProjectedPosition, ...] = (whole,)
    assumptions: list[str] = []
    if wish.size is not None:
        part = min(wish.size, amount)
        moved = net - 2 * part if net > 0 else net + 2 * part
        if wish.size > amount:
            assumptions.append(
                f"size {grouped_digits(wish.size)} is more than is held; at most {grouped_digits(amount)} is reversed"
            )
        if part < amount:
            sized = ProjectedPosition(
                Net(moved), part, part, f"the size counts, {grouped_digits(net)} becomes {grouped_digits(moved)}"
            )
            ignored = ProjectedPosition(whole.after, amount, amount, f"the size is ignored, {whole.description}")
            results = (sized, ignored)
            assumptions.append(
                "in one-way mode it is not documented whether a size counts; the live exchange is said to ignore it"
            )
    side = _one_way_side(wish, net)
    request = ReversalRequest(
        symbol=wish.symbol,
        margin_coin=wish.margin_coin,
        product_type=wish.product_type,
        size=wish.size,
        side=side,
        client_oid=client_oid,
    )
    request.check(wish.mode)
    return ReversalPlan(wish, request, wish.held, results, (*assumptions, *_MARKET))


def opening_risks(plan: ReversalPlan, contract: Contract, price: Decimal | None) -> tuple[str, ...]:
    """The limits of the contract that may have the leg closed and the other side not opened, in words.

    Args:
        plan: what is to be sent.
        contract: its limits, in the base coin, and the smallest value in dollars.
        price: at which it would fill, None where it is not known.
    """
    opened = max(result.opened for result in plan.results)
    value, least_value = None if price is None else opened * price, contract.min_trade_usdt
    risks = []
    if contract.min_trade_num is not None and opened < contract.min_trade_num:
        risks.append(f"{grouped_digits(opened)} is below the smallest order, {grouped_digits(contract.min_trade_num)}")
    if value is not None and least_value is not None and value < least_value:
        risks.append(f"its value is below the smallest, {grouped_digits(least_value)} USDT")
    if contract.max_market_order_qty and opened > contract.max_market_order_qty:
        largest = grouped_digits(contract.max_market_order_qty)
        risks.append(f"{grouped_digits(opened)} is above the largest market order, {largest}")
    return tuple(f"{risk}: it may be closed and nothing opened" for risk in risks)


def _nothing_held(wish: ReversalParams) -> CannotReverse:
    return CannotReverse(f"No position of {wish.symbol} is held", "There is nothing to reverse")


def _not_held(wish: ReversalParams, leg: str) -> CannotReverse:
    """The leg that was named is not held: say what is."""
    if wish.held in (Legs(), Net()):
        return CannotReverse(f"No {leg} of {wish.symbol} is held", "There is nothing to reverse")
    return CannotReverse(f"No {leg} of {wish.symbol} is held", f"Held is {wish.held}")


def _one_way_side(wish: ReversalParams, net: Decimal) -> Side | None:
    if wish.one_way_side == "omit":
        return None
    held, order = (Side.BUY, Side.SELL) if net > 0 else (Side.SELL, Side.BUY)
    return held if wish.one_way_side == "held" else order


_MARKET = (
    "two market orders: the price may move in between; without enough margin less is opened, or nothing",
    "the exchange may cancel resting orders first",
)

"""The reversal plan: the request, the holdings before and afterwards, and every assumption in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from tradetui.trading.contract_math import ZERO, grouped_digits
from tradetui.trading.holdings import Holdings, Legs, Net, side_text
from tradetui.wire.enums import PositionMode, PositionSide, Side
from tradetui.wire.models.public import Contract
from tradetui.wire.models.reversal import ReversalRequest
from tradetui.wire.product_types import ProductType

OneWaySide = Literal["omit", "held", "order"]
_ALWAYS_ASSUMED = (
    "two market orders: the price may move in between; without enough margin less is opened, or nothing",
    "the exchange may cancel resting orders first",
)


class CannotReverse(Exception):
    """No plan is possible: `reason` is why, `remedy` what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}. {remedy}")
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalParams:
    """A trader's request. `side` names the leg (buy is the long one), in one-way mode the side that must be held.

    A `size` of None is the whole leg.
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
    """One possible outcome: the holdings, the closed size, and the size opened on the other side."""

    after: Holdings
    closed: Decimal
    opened: Decimal
    description: str

    @property
    def traded(self) -> Decimal:
        """Closed and opened size together, in the base coin."""
        return self.closed + self.opened


@dataclass(frozen=True, slots=True)
class ReversalPlan:
    """A reversal's request and its possible results; `results` has two entries where the interface is silent.

    Sizes are written with at least `size_places` decimals, those of the contract's step if known.
    """

    params: ReversalParams
    request: ReversalRequest
    before: Holdings
    results: tuple[ProjectedPosition, ...]
    assumptions: tuple[str, ...]
    size_places: int = 0

    def size_text(self, amount: Decimal) -> str:
        """Format a size for sentences, with every digit; the request has its own exact text."""
        return grouped_digits(amount, self.size_places)

    @property
    def uncertain(self) -> bool:
        return len(self.results) > 1

    @property
    def reverses_long(self) -> bool:
        if isinstance(self.before, Net):
            return self.before.net > ZERO
        return self.params.side is Side.BUY

    @property
    def closed_leg(self) -> PositionSide:
        """The leg that is reversed; in one-way mode the side that is held."""
        return PositionSide.LONG if self.reverses_long else PositionSide.SHORT

    @property
    def opened_leg(self) -> PositionSide:
        """The leg that is opened; in one-way mode the side that will be held."""
        return PositionSide.SHORT if self.reverses_long else PositionSide.LONG

    @property
    def leg(self) -> str:
        """The name of the leg that is reversed: LONG or SHORT."""
        return self.closed_leg.upper()

    @property
    def subject(self) -> str:
        """Symbol and leg, `BTCUSDT SHORT`, which is also typed to confirm the reversal."""
        return f"{self.params.symbol} {self.leg}"

    @property
    def held_size(self) -> Decimal:
        """The size of the leg before, in the base coin."""
        return self.before.size_of(self.closed_leg)

    @property
    def side_meaning(self) -> str:
        """The meaning of the request's `side`, because it is no direction of a trade; empty without a `side`."""
        side = self.request.side
        if side is None:
            return ""
        if self.params.mode is PositionMode.HEDGE:
            return f"{side} = the {self.leg.lower()} leg"
        if self.params.one_way_side == "held":
            return f"{side} = the {self.leg.lower()} position that is held"
        return f"{side} = the order that closes the {self.leg.lower()} position"

    def request_fields(self) -> Mapping[str, Any]:
        """Return the request's fields exactly as sent."""
        return self.request.values()

    def with_client_oid(self, client_oid: str) -> ReversalPlan:
        """Return the same plan with this clientOid in its request."""
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
        """The title without the holdings afterwards: `Reverse BTCUSDT SHORT 3 of 20`."""
        closed, held = self.results[0].closed, self.size_text(self.held_size)
        size = held if closed == self.held_size else f"{self.size_text(closed)} of {held}"
        return f"Reverse {self.subject} {size}"

    def _other_side_of(self, result: ProjectedPosition) -> str:
        after = result.after
        if isinstance(after, Net):
            return side_text(after.net, self.size_places)
        return side_text(-after.short if self.reverses_long else after.long, self.size_places)


def plan_reversal(params: ReversalParams, client_oid: str | None = None) -> ReversalPlan:
    """Plan a trader's request by the rules of `click-backhand`; raises CannotReverse."""
    if params.size is not None and params.size <= ZERO:
        raise CannotReverse("The size must be above zero", "Give a size, or none for the whole position")
    if params.mode is PositionMode.HEDGE:
        return _hedge(params, client_oid)
    return _one_way(params, client_oid)


def _hedge(params: ReversalParams, client_oid: str | None) -> ReversalPlan:
    if not isinstance(params.held, Legs):
        raise CannotReverse("The holdings are of one-way mode", "Read the positions again")
    if params.side is None:
        if params.held == Legs():
            raise _nothing_held(params)
        if params.held.long and params.held.short:
            legs = f"{params.symbol} LONG or {params.symbol} SHORT"
            raise CannotReverse(f"Both sides of {params.symbol} are held", f"Name one: {legs}")
        raise CannotReverse("In hedge mode a side is needed", "Give buy to reverse the LONG, sell to reverse the SHORT")
    long, short = PositionSide.LONG, PositionSide.SHORT
    closed, opened = (long, short) if params.side is Side.BUY else (short, long)
    held, other = params.held.size_of(closed), params.held.size_of(opened)
    if held <= ZERO:
        raise _not_held(params, closed.upper())
    size = held if params.size is None else params.size
    turned = min(size, held)
    after = params.held.moved(closed, -turned).moved(opened, turned)
    assumptions = []
    if size > held:
        assumptions.append(f"size {grouped_digits(size)} is more than is held; only {grouped_digits(held)} is reversed")
    request = _request(params, size, params.side, params.trade_side, client_oid)
    sentence = (
        f"{closed.upper()} {grouped_digits(held)} becomes {grouped_digits(held - turned)}, "
        f"{opened.upper()} {grouped_digits(other)} becomes {grouped_digits(other + turned)}"
    )
    result = ProjectedPosition(after, turned, turned, sentence)
    return ReversalPlan(params, request, params.held, (result,), (*assumptions, *_ALWAYS_ASSUMED))


def _one_way(params: ReversalParams, client_oid: str | None) -> ReversalPlan:
    if not isinstance(params.held, Net):
        raise CannotReverse("The holdings are of hedge mode", "Read the positions again")
    net = params.held.net
    if not net:
        raise _nothing_held(params)
    if params.side is not None and (params.side is Side.BUY) != (net > ZERO):
        raise _not_held(params, "LONG" if params.side is Side.BUY else "SHORT")
    held = abs(net)
    sentence = f"the whole net {grouped_digits(net)} becomes {grouped_digits(-net)}"
    whole = ProjectedPosition(Net(-net), held, held, sentence)
    results: tuple[ProjectedPosition, ...] = (whole,)
    assumptions: list[str] = []
    if params.size is not None:
        turned = min(params.size, held)
        # The closed size is opened again on the other side, so the net moves by twice that size.
        moved = net - 2 * turned if net > 0 else net + 2 * turned
        if params.size > held:
            size, most = grouped_digits(params.size), grouped_digits(held)
            assumptions.append(f"size {size} is more than is held; at most {most} is reversed")
        if turned < held:
            sentence = f"the size counts, {grouped_digits(net)} becomes {grouped_digits(moved)}"
            sized = ProjectedPosition(Net(moved), turned, turned, sentence)
            results = (sized, replace(whole, description=f"the size is ignored, {whole.description}"))
            assumptions.append(
                "in one-way mode it is not documented whether a size counts; the live exchange is said to ignore it"
            )
    request = _request(params, params.size, _one_way_side(params, net), None, client_oid)
    return ReversalPlan(params, request, params.held, results, (*assumptions, *_ALWAYS_ASSUMED))


def _request(
    params: ReversalParams, size: Decimal | None, side: Side | None, trade_side: str | None, client_oid: str | None
) -> ReversalRequest:
    request = ReversalRequest(
        symbol=params.symbol,
        margin_coin=params.margin_coin,
        product_type=params.product_type,
        size=size,
        side=side,
        trade_side=trade_side,
        client_oid=client_oid,
    )
    request.check_mode(params.mode)
    return request


def opening_risks(plan: ReversalPlan, contract: Contract, price: Decimal | None) -> tuple[str, ...]:
    """Return limits of the contract by which the leg may close but the other side not open, as sentences.

    `price` is the expected fill price (quote coin), None if not known.
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


def _nothing_held(params: ReversalParams) -> CannotReverse:
    return CannotReverse(f"No position of {params.symbol} is held", "There is nothing to reverse")


def _not_held(params: ReversalParams, leg: str) -> CannotReverse:
    """Return the refusal for a named leg that is not held, with the actual position."""
    if params.held in (Legs(), Net()):
        return CannotReverse(f"No {leg} of {params.symbol} is held", "There is nothing to reverse")
    return CannotReverse(f"No {leg} of {params.symbol} is held", f"Held is {params.held}")


def _one_way_side(params: ReversalParams, net: Decimal) -> Side | None:
    if params.one_way_side == "omit":
        return None
    held, order = (Side.BUY, Side.SELL) if net > 0 else (Side.SELL, Side.BUY)
    return held if params.one_way_side == "held" else order

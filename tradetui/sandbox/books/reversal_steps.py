"""What the exchange does on a reversal request: market close, then market open, as the interface's five rules say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.contracts import ContractSpec
from tradetui.sandbox.books.futures_account import FuturesAccount, Holding
from tradetui.sandbox.books.number_format import ZERO
from tradetui.sandbox.books.order import HEDGE, ONE_WAY, Order, order_sides

MODE_MISMATCH = "The order type for unilateral position must also be the unilateral position type."


@dataclass(frozen=True, slots=True)
class RequestedReversal:
    """A reversal as requested; size None where it was omitted."""

    spec: ContractSpec
    side: str | None
    trade_side: str | None
    size: Decimal | None
    client_oid: str


@dataclass(frozen=True, slots=True)
class ReversalSteps:
    """What will be done: close so much of a leg, then open so much of a leg, the other one where all goes well."""

    closing: Holding
    close: Decimal
    open: Decimal
    opens: str


def decide(account: FuturesAccount, wanted: RequestedReversal, *, honours_one_way_size: bool) -> ReversalSteps:
    """The steps of a request, by the interface's rules; raises Refusal."""
    symbol = wanted.spec.symbol
    if account.mode == HEDGE:
        if not wanted.trade_side:
            raise Refusal("40774", MODE_MISMATCH)
        if not wanted.side:
            raise Refusal("40019", "Parameter side cannot be empty")
        if wanted.size is None:
            raise Refusal("40019", "Parameter size cannot be empty")
        held = account.held(symbol, "long" if wanted.side == "buy" else "short")
    else:
        if wanted.trade_side:
            raise Refusal("40774", MODE_MISMATCH)
        held = account.net(symbol)
    if held is None:
        raise Refusal("22002", "No position to close")
    whole = wanted.size is None or (account.mode == ONE_WAY and not honours_one_way_size)
    amount = held.size if whole or wanted.size is None else min(wanted.size, held.size)
    return ReversalSteps(held, amount, amount, "short" if held.leg == "long" else "long")


def perform(
    account: FuturesAccount,
    wanted: RequestedReversal,
    steps: ReversalSteps,
    new_order: Callable[[str, str, Decimal, str], Order],
    fill: Callable[[Order, Decimal], None],
    affordable: Callable[[], Decimal],
) -> Order:
    """Close, then open what margin allows; returns the order whose id the reply names (the closing one)."""
    closing = new_order(*order_sides(account.mode, steps.closing.leg, closes=True), steps.close, wanted.client_oid)
    fill(closing, steps.close)
    opened = wanted.spec.size(min(steps.open, max(ZERO, affordable())))
    if opened > ZERO:
        opening = new_order(*order_sides(account.mode, steps.opens, closes=False), opened, "")
        fill(opening, opened)
    return closing

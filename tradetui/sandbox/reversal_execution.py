"""What the exchange does on a reversal request: market close, then market open, as the interface's five rules say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from tradetui.sandbox.contracts import ContractSpec
from tradetui.sandbox.futures_account import HEDGE, ONE_WAY, ZERO, FuturesAccount, Holding, Order
from tradetui.sandbox.refusals import Refusal

MODE_MISMATCH = "The order type for unilateral position must also be the unilateral position type."
OUTCOMES = (
    "reverse-smaller",
    "closed-only",
    "remainder",
    "larger",
    "unchanged",
    "liquidated",
    "mode-changed",
    "other",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reversal as requested; size None where it was omitted."""

    spec: ContractSpec
    side: str | None
    trade_side: str | None
    size: Decimal | None
    client_oid: str


@dataclass(frozen=True, slots=True)
class Steps:
    """What will be done: close so much of a leg, then open so much of the other."""

    closing: Holding
    close: Decimal
    open: Decimal

    @property
    def opens(self) -> str:
        return "short" if self.closing.leg == "long" else "long"


def decide(account: FuturesAccount, wanted: Wanted, *, honours_one_way_size: bool) -> Steps:
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
    return Steps(held, amount, amount)


def perform(
    account: FuturesAccount,
    wanted: Wanted,
    steps: Steps,
    new_order: Callable[[str, str, Decimal, str], Order],
    fill: Callable[[Order, Decimal], None],
    affordable: Callable[[str], Decimal],
) -> Order:
    """Close, then open what margin allows; returns the order whose id the reply names (the closing one)."""
    leg = steps.closing.leg
    if account.mode == HEDGE:
        close_side, open_side = ("buy", "sell") if leg == "long" else ("sell", "buy")
        closing = new_order(close_side, "close", steps.close, wanted.client_oid)
        opening_words = (open_side, "open")
    else:
        side = "sell" if leg == "long" else "buy"
        closing = new_order(side, f"{side}_single", steps.close, wanted.client_oid)
        opening_words = (side, f"{side}_single")
    fill(closing, steps.close)
    opened = wanted.spec.size(min(steps.open, max(ZERO, affordable(steps.opens))))
    if opened > ZERO:
        opening = new_order(*opening_words, opened, "")
        fill(opening, opened)
    return closing

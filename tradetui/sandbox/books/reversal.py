"""A reversal carried out on an account, as requested or as a fault has it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from tradetui.sandbox.books.futures_account import FuturesAccount
from tradetui.sandbox.books.number_format import ZERO
from tradetui.sandbox.books.order import HEDGE, ONE_WAY, Order, order_sides
from tradetui.sandbox.books.order_execution import Moment, affordable, burst, cancel, fill, market_order
from tradetui.sandbox.books.reversal_faults import changed_steps
from tradetui.sandbox.books.reversal_steps import RequestedReversal, ReversalSteps, perform
from tradetui.sandbox.books.trigger_order import ended


def reverse_as(
    book: FuturesAccount, wanted: RequestedReversal, steps: ReversalSteps, fault: str | None, at: Moment
) -> Order:
    """Take the steps, changed by a fault; returns the order whose id the reply names. Raises Refusal."""
    spec = wanted.spec
    changed = changed_steps(fault, steps)

    def new_order(side: str, trade_side: str, size: Decimal, client_oid: str) -> Order:
        return market_order(book, spec, side, trade_side, size, at, source="reverse", client_oid=client_oid)

    def done(order: Order, size: Decimal) -> None:
        if size > ZERO:
            fill(book, order, size, at)
        else:
            cancel(book, order, at)

    def opens_at_most() -> Decimal:
        # A fault says what comes out; margin must not make something else of it.
        return affordable(book, spec, at) if fault is None else changed.open

    if fault == "liquidated":
        for held in [held for held in book.holdings.values() if held.spec is spec]:
            burst(book, held, at)
    if fault == "mode-changed":
        _switch_mode_by_hand(book, at)
        changed = replace(changed, close=ZERO)
    return perform(book, wanted, changed, new_order, done, opens_at_most)


def _switch_mode_by_hand(book: FuturesAccount, at: Moment) -> None:
    """What the trader does on the exchange's own page: close and cancel everything, then switch the mode."""
    for held in list(book.holdings.values()):
        side, trade_side = order_sides(book.mode, held.leg, closes=True)
        order = market_order(book, held.spec, side, trade_side, held.size, at, source="normal", enter_point="WEB")
        fill(book, order, held.size, at)
    for resting in list(book.orders.values()):
        cancel(book, resting, at)
    book.triggers.extend(ended(row, "cancelled", at.now_ms) for row in book.live_triggers.values())
    book.live_triggers.clear()
    book.mode = ONE_WAY if book.mode == HEDGE else HEDGE

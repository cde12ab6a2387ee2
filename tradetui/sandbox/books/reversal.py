"""A reversal on an account, by the interface's five rules: two market orders, which a fault may change.

The rules are a separate reading of the interface, so that the trader's preview is tested against another's. Also makes,
fills and cancels orders at the prices of one moment, and applies a market step to an account: resting orders fill,
triggers fire, positions short of margin are liquidated. Every change goes through `FuturesBook.execute`, so that the
books balance. Nothing here knows a request.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.margin import free, to_close_by_force
from tradetui.sandbox.books.market import CONTRACTS, ContractSpec, Market
from tradetui.sandbox.books.numbers import ZERO
from tradetui.sandbox.books.orders import (
    HEDGE,
    ONE_WAY,
    PROFIT_LOSS,
    WHOLE_POSITION,
    Order,
    closed_leg,
    ended,
    fires,
    order_sides,
)


class MarketMoment(NamedTuple):
    """The prices at one moment; `now_ms` is the exchange's time."""

    market: Market
    now_ms: int

    def last(self, spec: ContractSpec) -> Decimal:
        return self.market.last(spec.symbol)

    def marks(self) -> dict[str, Decimal]:
        return self.market.marks()


def market_order(
    book: FuturesBook,
    spec: ContractSpec,
    side: str,
    trade_side: str,
    size: Decimal,
    at: MarketMoment,
    *,
    source: str,
    client_oid: str = "",
    enter_point: str = "API",
) -> Order:
    """Put a market order that is about to be filled into the book."""
    order = book.new_order(spec, side, trade_side, size, at.now_ms, source=source, enter_point=enter_point)
    order.client_oid = client_oid or f"s{order.order_id[-15:]}"
    book.orders[order.order_id] = order
    return order


def fill(book: FuturesBook, order: Order, size: Decimal, at: MarketMoment) -> None:
    book.execute(order, size, at.last(order.spec), at.now_ms)


def liquidate(book: FuturesBook, held: Holding, at: MarketMoment) -> None:
    """Liquidate a holding; the order's source is the exchange's system."""
    side, trade_side = order_sides(book.mode, held.leg, closes=True)
    trade_side = f"burst_close_{held.leg}" if book.mode == HEDGE else f"burst_{trade_side}"
    order = market_order(book, held.spec, side, trade_side, held.size, at, source="liquidation", enter_point="SYS")
    fill(book, order, held.size, at)


def affordable(book: FuturesBook, spec: ContractSpec, at: MarketMoment) -> Decimal:
    """Return the size of a contract that the free margin can open, in the base coin."""
    notional = free(book, spec.margin_coin, at.marks()) * book.leverage
    return spec.size(notional if spec.inverse else notional / at.last(spec))


def match_account(account: Account, at: MarketMoment) -> None:
    for book in account.futures.values():
        _match(account, book, at)
        _fire(book, at)
        _liquidate(book, at)


def _match(account: Account, book: FuturesBook, at: MarketMoment) -> None:
    for order in list(book.orders.values()):
        if order.order_id not in book.orders:
            continue  # cancelled with the position that an earlier order closed
        last = at.last(order.spec)
        if order.price is None or (last > order.price if order.buys else last < order.price):
            continue
        left = order.size - order.filled
        part = left if account.rng.random() < 0.3 else max(order.spec.step, order.spec.size(left / 3))
        if order.closes:
            held = book.held(order.spec.symbol, order.leg) if book.mode == HEDGE else book.net(order.spec.symbol)
            # A reduce-only order never adds: if the position is gone or on the other side, the order is cancelled.
            if held is None or order.buys != (held.leg == "short"):
                book.cancel(order, at.now_ms)
                continue
            part = min(part, held.size)
        book.execute(order, min(part, left), order.price, at.now_ms, maker=True)


def _fire(book: FuturesBook, at: MarketMoment) -> None:
    for row in list(book.live_triggers.values()):
        if row["orderId"] in book.live_triggers and fires(row, at.market.last(row["symbol"])):
            del book.live_triggers[row["orderId"]]
            _execute_trigger(book, row, at)


def _execute_trigger(book: FuturesBook, row: dict[str, Any], at: MarketMoment) -> None:
    spec = CONTRACTS[row["symbol"]]
    closes = row["planType"] in PROFIT_LOSS
    held = book.held(row["symbol"], closed_leg(row)) if closes else None
    size = held.size if held and row["planType"] in WHOLE_POSITION else Decimal(row["size"])
    if closes:
        size = min(size, held.size) if held else ZERO
    if size <= 0 or (not closes and size > affordable(book, spec, at)):
        book.triggers.append(ended(row, "fail_execute", at.now_ms))
        return
    order = market_order(book, spec, row["side"], row["tradeSide"], size, at, source="normal", enter_point="SYS")
    fill(book, order, size, at)
    book.triggers.append(ended(row, "executed", at.now_ms, execute_id=order.order_id, price=at.last(spec), size=size))


def _liquidate(book: FuturesBook, at: MarketMoment) -> None:
    if not book.holdings:
        return
    marks = at.marks()
    for coin in book.balances:
        for held in to_close_by_force(book, coin, marks):
            liquidate(book, held, at)


MODE_MISMATCH = "The order type for unilateral position must also be the unilateral position type."


class ReversalFault(StrEnum):
    """How an accepted reversal can differ from the request."""

    REVERSE_SMALLER = "reverse-smaller"
    CLOSED_ONLY = "closed-only"
    REMAINDER = "remainder"
    LARGER = "larger"
    UNCHANGED = "unchanged"
    LIQUIDATED = "liquidated"
    MODE_CHANGED = "mode-changed"
    OTHER = "other"
    ORDERS_STAY = "orders-stay"


class RequestedReversal(NamedTuple):
    """A reversal as requested; `size` is None if omitted."""

    spec: ContractSpec
    side: str | None
    trade_side: str | None
    size: Decimal | None
    client_oid: str


class ReversalSteps(NamedTuple):
    """A size of the held leg to close, then a size to open of the other leg, or with a fault of the same."""

    held: Holding
    close_size: Decimal
    open_size: Decimal
    open_leg: str


def steps_of(book: FuturesBook, requested: RequestedReversal, *, honours_one_way_size: bool) -> ReversalSteps:
    """Return the steps of a request, by the interface's rules; raises Refusal."""
    symbol = requested.spec.symbol
    if book.mode == HEDGE:
        if not requested.trade_side:
            raise Refusal("40774", MODE_MISMATCH)
        if not requested.side:
            raise Refusal("40019", "Parameter side cannot be empty")
        if requested.size is None:
            raise Refusal("40019", "Parameter size cannot be empty")
        held = book.held(symbol, "long" if requested.side == "buy" else "short")
    else:
        if requested.trade_side:
            raise Refusal("40774", MODE_MISMATCH)
        held = book.net(symbol)
    if held is None:
        raise Refusal("22002", "No position to close")
    size = held.size
    if requested.size is not None and (book.mode == HEDGE or honours_one_way_size):
        size = min(requested.size, held.size)
    return ReversalSteps(held, size, size, "short" if held.leg == "long" else "long")


def reverse_as(
    book: FuturesBook,
    requested: RequestedReversal,
    steps: ReversalSteps,
    fault: ReversalFault | None,
    at: MarketMoment,
) -> Order:
    """Close, then open as much as margin allows, changed by a fault; raises Refusal.

    Returns the closing order, whose id the reply names.
    """
    if fault is not None:
        steps = _changed_by(fault, steps)
    if fault is ReversalFault.LIQUIDATED:
        for held in [held for held in book.holdings.values() if held.spec is requested.spec]:
            liquidate(book, held, at)
    if fault is ReversalFault.MODE_CHANGED:
        _switch_mode_by_hand(book, at)
    book.keeps_attached = fault is ReversalFault.ORDERS_STAY
    closing = _order(book, requested, steps.held.leg, steps.close_size, at, closes=True)
    book.keeps_attached = False
    # A fault decides the outcome; margin must not change it.
    most = affordable(book, requested.spec, at) if fault is None else steps.open_size
    opened = requested.spec.size(min(steps.open_size, max(ZERO, most)))
    if opened > ZERO:
        _order(book, requested, steps.open_leg, opened, at, closes=False)
    return closing


def _changed_by(fault: ReversalFault, steps: ReversalSteps) -> ReversalSteps:
    """Return the requested steps changed by a fault; raises Refusal if they are too small to divide."""
    match fault:
        case ReversalFault.REVERSE_SMALLER:
            return steps._replace(open_size=_half(steps, "reverse-smaller at least two steps must be opened"))
        case ReversalFault.CLOSED_ONLY:
            return steps._replace(open_size=ZERO)
        case ReversalFault.REMAINDER:
            half = _half(steps, "remainder at least two steps must be closed")
            return steps._replace(close_size=half, open_size=ZERO)
        case ReversalFault.LARGER:
            return steps._replace(open_size=steps.open_size * 2)
        case ReversalFault.UNCHANGED | ReversalFault.LIQUIDATED:
            return steps._replace(close_size=ZERO, open_size=ZERO)
        case ReversalFault.MODE_CHANGED:
            return steps._replace(close_size=ZERO)
        case ReversalFault.OTHER:
            # The request is taken the wrong way round: the leg that it should have closed grows.
            return steps._replace(close_size=ZERO, open_leg=steps.held.leg)
        case ReversalFault.ORDERS_STAY:
            return steps


def _half(steps: ReversalSteps, need: str) -> Decimal:
    """Return half of the size to close; raises Refusal, naming the need, if that is less than one step."""
    half = steps.held.spec.size(steps.close_size / 2)
    if not half:
        raise Refusal("45111", f"less than the minimum order quantity: for the fault {need}")
    return half


def _order(
    book: FuturesBook, requested: RequestedReversal, leg: str, size: Decimal, at: MarketMoment, *, closes: bool
) -> Order:
    """Make one of two market orders, filled at once or cancelled at size 0; the closing one has the request's id."""
    side, trade_side = order_sides(book.mode, leg, closes=closes)
    client_oid = requested.client_oid if closes else ""
    order = market_order(book, requested.spec, side, trade_side, size, at, source="reverse", client_oid=client_oid)
    if size > ZERO:
        fill(book, order, size, at)
    else:
        book.cancel(order, at.now_ms)
    return order


def _switch_mode_by_hand(book: FuturesBook, at: MarketMoment) -> None:
    """Act like a trader on the exchange's own page: close and cancel everything, then switch the mode."""
    for held in list(book.holdings.values()):
        side, trade_side = order_sides(book.mode, held.leg, closes=True)
        order = market_order(book, held.spec, side, trade_side, held.size, at, source="normal", enter_point="WEB")
        fill(book, order, held.size, at)
    for resting in list(book.orders.values()):
        book.cancel(resting, at.now_ms)
    book.triggers.extend(ended(row, "cancelled", at.now_ms) for row in book.live_triggers.values())
    book.live_triggers.clear()
    book.mode = ONE_WAY if book.mode == HEDGE else HEDGE

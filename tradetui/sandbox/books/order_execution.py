"""Makes, fills and cancels orders at the prices of one moment, and applies a step of the market to an account.

Resting orders fill, triggers fire, short margin liquidates. Every step goes through `FuturesBook.execute`, so that
the books balance; nothing here knows a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.margin import free, to_close_by_force
from tradetui.sandbox.books.market import CONTRACTS, ContractSpec, Market
from tradetui.sandbox.books.numbers import ZERO
from tradetui.sandbox.books.orders import HEDGE, PROFIT_LOSS, WHOLE_POSITION, Order, ended, fires, order_sides


class MarketMoment(NamedTuple):
    """The prices of a moment; `now_ms` is the exchange's time."""

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
    """A market order that is about to be filled, in the book."""
    order = book.new_order(spec, side, trade_side, size, at.now_ms, source=source, enter_point=enter_point)
    order.client_oid = client_oid or f"s{order.order_id[-15:]}"
    book.orders[order.order_id] = order
    return order


def fill(book: FuturesBook, order: Order, size: Decimal, at: MarketMoment) -> None:
    book.execute(order, size, at.last(order.spec), at.now_ms)


def cancel(book: FuturesBook, order: Order, at: MarketMoment) -> None:
    order.state, order.changed_ms = "canceled", at.now_ms
    del book.orders[order.order_id]
    book.done[order.order_id] = order


def liquidate(book: FuturesBook, held: Holding, at: MarketMoment) -> None:
    """Liquidate a holding; the order's source is the exchange's system."""
    side, trade_side = order_sides(book.mode, held.leg, closes=True)
    trade_side = f"burst_close_{held.leg}" if book.mode == HEDGE else f"burst_{trade_side}"
    order = market_order(book, held.spec, side, trade_side, held.size, at, source="liquidation", enter_point="SYS")
    fill(book, order, held.size, at)


def affordable(book: FuturesBook, spec: ContractSpec, at: MarketMoment) -> Decimal:
    """The size of a contract that the free margin opens, in the base coin."""
    notional = free(book, spec.margin_coin, at.marks()) * book.leverage
    return spec.size(notional if spec.inverse else notional / at.last(spec))


def match_account(account: Account, at: MarketMoment) -> None:
    """Apply the prices of a moment to every product type of an account."""
    for book in account.futures.values():
        _match(account, book, at)
        _fire(book, at)
        _liquidate(book, at)


def _match(account: Account, book: FuturesBook, at: MarketMoment) -> None:
    for order in list(book.orders.values()):
        last = at.last(order.spec)
        if order.price is None or (last > order.price if order.buys else last < order.price):
            continue
        left = order.size - order.filled
        part = left if account.rng.random() < 0.3 else max(order.spec.step, order.spec.size(left / 3))
        if order.closes:
            held = book.held(order.spec.symbol, order.leg) if book.mode == HEDGE else book.net(order.spec.symbol)
            # A reduce-only order never adds: once the position is gone or turned round, the order goes too.
            if held is None or order.buys != (held.leg == "short"):
                cancel(book, order, at)
                continue
            part = min(part, held.size)
        book.execute(order, min(part, left), order.price, at.now_ms, maker=True)


def _fire(book: FuturesBook, at: MarketMoment) -> None:
    for row in list(book.live_triggers.values()):
        if fires(row, at.market.last(row["symbol"])):
            del book.live_triggers[row["orderId"]]
            _execute_trigger(book, row, at)


def _execute_trigger(book: FuturesBook, row: dict[str, Any], at: MarketMoment) -> None:
    spec = CONTRACTS[row["symbol"]]
    closes = row["planType"] in PROFIT_LOSS
    held = _closed_by(book, row) if closes else None
    size = held.size if held and row["planType"] in WHOLE_POSITION else Decimal(row["size"])
    if closes:
        size = min(size, held.size) if held else ZERO
    if size <= 0 or (not closes and size > affordable(book, spec, at)):
        book.triggers.append(ended(row, "fail_execute", at.now_ms))
        return
    order = market_order(book, spec, row["side"], row["tradeSide"], size, at, source="normal", enter_point="SYS")
    fill(book, order, size, at)
    book.triggers.append(ended(row, "executed", at.now_ms, execute_id=order.order_id, price=at.last(spec), size=size))


def _closed_by(book: FuturesBook, row: Mapping[str, Any]) -> Holding | None:
    """The holding that a take-profit or stop closes; None if it is gone or, one-way, has changed its side since."""
    if row["posSide"] == "net":
        return book.held(row["symbol"], "long" if row["side"] == "sell" else "short")
    return book.held(row["symbol"], row["posSide"])


def _liquidate(book: FuturesBook, at: MarketMoment) -> None:
    if not book.holdings:
        return
    marks = at.marks()
    for coin in book.balances:
        for held in to_close_by_force(book, coin, marks):
            liquidate(book, held, at)

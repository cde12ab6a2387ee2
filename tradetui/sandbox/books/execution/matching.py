"""What one step of the market does to an account: resting orders fill, triggers fire, short margin liquidates."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tradetui.sandbox.books.accounts.account import Account
from tradetui.sandbox.books.accounts.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.accounts.margin import to_close_by_force
from tradetui.sandbox.books.contracts import CONTRACTS
from tradetui.sandbox.books.execution.order_execution import (
    MarketMoment,
    affordable,
    cancel,
    fill,
    liquidate,
    market_order,
)
from tradetui.sandbox.books.number_format import ZERO
from tradetui.sandbox.books.order import HEDGE
from tradetui.sandbox.books.trigger_order import PROFIT_LOSS, WHOLE_POSITION, ended, fires


def match_account(account: Account, at: MarketMoment) -> None:
    """Let the prices of a moment do their work in every product type of an account."""
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
        part = left if account.chance.random() < 0.3 else max(order.spec.step, order.spec.size(left / 3))
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
        price = at.market.last(row["symbol"])
        if fires(row, price):
            _execute_trigger(book, row, price, at)


def _execute_trigger(book: FuturesBook, row: dict[str, Any], price: Decimal, at: MarketMoment) -> None:
    del book.live_triggers[row["orderId"]]
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
    book.triggers.append(ended(row, "executed", at.now_ms, execute_id=order.order_id, price=price, size=size))


def _closed_by(book: FuturesBook, row: Mapping[str, Any]) -> Holding | None:
    """What a take-profit or stop closes: nothing where the position is gone or, one-way, turned round since."""
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

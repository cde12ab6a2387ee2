"""Makes, fills and cancels orders, and liquidates positions, at the prices of one moment."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from tradetui.sandbox.books.accounts.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.accounts.margin import free
from tradetui.sandbox.books.contracts import CONTRACTS, ContractSpec
from tradetui.sandbox.books.market import Market
from tradetui.sandbox.books.order import HEDGE, Order, order_sides


class MarketMoment(NamedTuple):
    """The prices of a moment; `now_ms` is the exchange's time."""

    market: Market
    now_ms: int

    def last(self, spec: ContractSpec) -> Decimal:
        return self.market.last(spec.symbol)

    def marks(self) -> dict[str, Decimal]:
        return {symbol: self.market.last(symbol) for symbol in CONTRACTS}


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
    """Enter a new market order, of which nothing is filled yet."""
    order = book.new_order(
        spec,
        side,
        trade_side,
        size,
        at.now_ms,
        source=source,
        enter_point=enter_point,
    )
    order.client_oid = client_oid or f"s{order.order_id[-15:]}"
    book.orders[order.order_id] = order
    return order


def fill(book: FuturesBook, order: Order, size: Decimal, at: MarketMoment) -> None:
    """Fill so much of an order at the last price."""
    book.execute(order, size, at.last(order.spec), at.now_ms)


def cancel(book: FuturesBook, order: Order, at: MarketMoment) -> None:
    """End an order; what is filled of it stays filled."""
    order.state, order.changed_ms = "canceled", at.now_ms
    del book.orders[order.order_id]
    book.done[order.order_id] = order


def liquidate(book: FuturesBook, held: Holding, at: MarketMoment) -> None:
    """Close a holding by force; its order says that the exchange's system made it."""
    side, trade_side = order_sides(book.mode, held.leg, closes=True)
    trade_side = f"burst_close_{held.leg}" if book.mode == HEDGE else f"burst_{trade_side}"
    order = market_order(book, held.spec, side, trade_side, held.size, at, source="liquidation", enter_point="SYS")
    fill(book, order, held.size, at)


def affordable(book: FuturesBook, spec: ContractSpec, at: MarketMoment) -> Decimal:
    """How much of a contract the free margin opens, in the base coin."""
    notional = free(book, spec.margin_coin, at.marks()) * book.leverage
    return spec.size(notional if spec.inverse else notional / at.last(spec))

"""What happens at the embedded exchange without a request: orders, another mode, the end of all faults."""

from __future__ import annotations

from decimal import Decimal

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books import reversal
from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.futures_history import TRANSFER_IN, TRANSFER_OUT, Movement
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.orders import order_sides
from tradetui.sandbox.books.reversal import market_order
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.gateway.faults import Faults


def open_position(exchange_state: ExchangeState, uid: str, symbol: str, leg: str, size: Decimal) -> None:
    spec = CONTRACTS[symbol]
    book = exchange_state.book(uid, spec.product_type)
    side, trade_side = order_sides(book.mode, leg, closes=False)
    order = market_order(book, spec, side, trade_side, size, exchange_state.moment, source="normal")
    reversal.fill(book, order, size, exchange_state.moment)


def close_position(exchange_state: ExchangeState, uid: str, symbol: str, leg: str, size: Decimal) -> None:
    spec = CONTRACTS[symbol]
    book = exchange_state.book(uid, spec.product_type)
    side, trade_side = order_sides(book.mode, leg, closes=True)
    order = market_order(book, spec, side, trade_side, size, exchange_state.moment, source="normal")
    reversal.fill(book, order, size, exchange_state.moment)


def place_order(
    exchange_state: ExchangeState,
    uid: str,
    symbol: str,
    side: str,
    trade_side: str,
    size: Decimal,
    price: Decimal,
    *,
    reduce_only: bool = False,
) -> str:
    """Rest a limit order; returns its id."""
    spec = CONTRACTS[symbol]
    book = exchange_state.book(uid, spec.product_type)
    order = market_order(book, spec, side, trade_side, size, exchange_state.moment, source="normal")
    order.price, order.order_type, order.reduce_only = price, "limit", reduce_only
    return order.order_id


def cancel_order(exchange_state: ExchangeState, uid: str, symbol: str, order_id: str) -> None:
    """Take a resting order out of the book."""
    book = exchange_state.book(uid, CONTRACTS[symbol].product_type)
    book.cancel(book.orders[order_id], exchange_state.now_ms)


def liquidate(exchange_state: ExchangeState, book: FuturesBook, held: Holding) -> None:
    """Close a holding by force."""
    reversal.liquidate(book, held, exchange_state.moment)


def set_mode(exchange_state: ExchangeState, uid: str, product_type: str, mode: str) -> None:
    """Switch the position mode; refused while anything is held or rests."""
    book = exchange_state.book(uid, product_type)
    if book.holdings or book.orders:
        raise Refusal("40920", "Position or order exists, the position mode cannot be switched")
    book.mode = mode


def transfer(book: FuturesBook, coin: str, amount: Decimal, now_ms: int) -> None:
    """Move so much into the wallet of a coin from the owner's spot account, or out of it where below zero."""
    book.balances[coin] += amount
    book.movements.append(Movement(now_ms, TRANSFER_IN if amount > 0 else TRANSFER_OUT, coin, amount))


def heal(faults: Faults) -> None:
    """End all faults, planned and random."""
    faults.rates.clear()
    faults._planned.clear()

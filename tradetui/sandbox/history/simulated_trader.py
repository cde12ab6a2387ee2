"""What the owner of a lively account does: about one trade a second, and orders and triggers that come and go."""

from __future__ import annotations

from typing import Final

from tradetui.sandbox.books.accounts.account import HELD_PRODUCT_TYPES, Account
from tradetui.sandbox.books.contracts import CONTRACTS
from tradetui.sandbox.books.execution.order_execution import MarketMoment, cancel
from tradetui.sandbox.books.trigger_order import ended
from tradetui.sandbox.history.backfill import rest_order, trade_once, waiting_trigger

_MOST_ORDERS: Final = 24
MOST_TRIGGERS: Final = 10


def act(account: Account, at: MarketMoment) -> None:
    """Do what the owner does in one step of time, drawn from the account's own random numbers."""
    chance = account.chance
    product_type = chance.choices(HELD_PRODUCT_TYPES, weights=(8, 1, 1))[0]
    book = account.futures[product_type]
    spec = chance.choice([spec for spec in CONTRACTS.values() if spec.product_type == product_type])
    if chance.random() < 0.22:
        trade_once(book, spec, at.last(spec), chance, at.now_ms)
    if chance.random() < 0.03:
        if len(book.orders) > _MOST_ORDERS:
            order = chance.choice(list(book.orders.values()))
            if not order.filled:
                cancel(book, order, at)
        else:
            rest_order(book, chance, at.now_ms)
    if chance.random() < 0.01:
        if len(book.live_triggers) > MOST_TRIGGERS:
            row = chance.choice(list(book.live_triggers.values()))
            del book.live_triggers[row["orderId"]]
            book.triggers.append(ended(row, "cancelled", at.now_ms))
        else:
            waiting_trigger(book, spec, at.last(spec), chance, at.now_ms)

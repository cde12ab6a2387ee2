"""The past of the embedded exchange's accounts made once a process: it takes longer to make than to copy."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.orders import Order
from tradetui.sandbox.exchange_state import ExchangeState


class Past(NamedTuple):
    """What an account's past depends on."""

    seed: int
    start_ms: int
    uid: str
    fills: int | None
    triggers: int | None


class _AccountPickler(pickle.Pickler):
    """Leaves orders that are done out, each as its number."""

    def __init__(self, file: io.BytesIO, done: Sequence[Order]) -> None:
        super().__init__(file)
        self._numbers = {id(order): number for number, order in enumerate(done)}

    def persistent_id(self, part: object) -> int | None:
        return self._numbers.get(id(part))


class _AccountUnpickler(pickle.Unpickler):
    """Puts the same orders in again."""

    def __init__(self, file: io.BytesIO, done: Sequence[Order]) -> None:
        super().__init__(file)
        self._done = done

    def persistent_load(self, number: int) -> Order:
        return self._done[number]


class Born(NamedTuple):
    """An account as it was made; the orders that are done change no more, so all its copies hold the same ones."""

    pickled: bytes
    done: Sequence[Order]

    @classmethod
    def of(cls, account: Account) -> Born:
        """What copies are made of."""
        done = [order for book in account.futures.values() for order in book.done.values()]
        file = io.BytesIO()
        _AccountPickler(file, done).dump(account)
        return cls(file.getvalue(), done)

    def copy(self) -> Account:
        """An account with everything else of its own."""
        copy: Account = _AccountUnpickler(io.BytesIO(self.pickled), self.done).load()
        return copy


_ACCOUNTS: dict[Past, Born] = {}


def born_once(exchange_state: ExchangeState, *, fills: int | None = None, triggers: int | None = None) -> ExchangeState:
    """The exchange, just built, with accounts that are copies of those made earlier.

    `fills` and `triggers` are how many of the newest each keeps where a test is not about the past.
    """
    for uid, born in exchange_state.account_factories.items():
        past = Past(exchange_state.seed, exchange_state.now_ms, uid, fills, triggers)
        exchange_state.account_factories[uid] = partial(_copy, past, born)
    return exchange_state


def _copy(past: Past, born: Callable[[], Account]) -> Account:
    if past not in _ACCOUNTS:
        account = born()
        for book in account.futures.values():
            if past.fills is not None:
                keep_newest_fills(book, past.fills, past.start_ms)
            if past.triggers is not None:
                del book.triggers[: -past.triggers]
        _ACCOUNTS[past] = Born.of(account)
    return _ACCOUNTS[past].copy()


def keep_newest_fills(book: FuturesBook, count: int, now_ms: int) -> None:
    """Forget a book's older fills and the movements before them; all that they left stays as it is."""
    dropped = book.fills[:-count]
    if not dropped:
        return
    book.begun_ms = now_ms
    movements = book.past_movements
    del book.fills[:-count]
    for fill in dropped:
        coin = CONTRACTS[fill["symbol"]].margin_coin
        book.started_with[coin] += Decimal(fill["profit"]) + Decimal(fill["feeDetail"][0]["totalFee"])
    cut_ms = int(dropped[-1]["cTime"])
    older = [movement for movement in movements if movement.time_ms <= cut_ms]
    book.past_movements = movements[len(older) :]
    book.closed = [(mode, held) for mode, held in book.closed if held.changed_ms > cut_ms]
    for holding in (*book.holdings.values(), *(held for _, held in book.closed)):
        leg = holding.spec.symbol, holding.leg
        holding.funding += [
            movement.amount
            for movement in older
            if (movement.symbol, movement.leg) == leg and movement.time_ms >= holding.opened_ms
        ]

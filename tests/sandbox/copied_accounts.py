"""The past of the embedded exchange's accounts made once a process: it takes longer to make than to copy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tradetui.sandbox.books.accounts.account import Account
from tradetui.sandbox.exchange_state import ExchangeState


class Past(NamedTuple):
    """What an account's past depends on."""

    seed: int
    start_ms: int
    uid: str
    fills: int | None


_ACCOUNTS: dict[Past, bytes] = {}


def born_once(exchange_state: ExchangeState, *, fills: int | None = None) -> ExchangeState:
    """The exchange, just built, with accounts that are copies of those made earlier.

    `fills` is how many of the newest each keeps where a test is not about the past.
    """
    for uid, born in exchange_state.unborn.items():
        past = Past(exchange_state.seed, exchange_state.now_ms, uid, fills)
        exchange_state.unborn[uid] = partial(_copy, past, born)
    return exchange_state


def _copy(past: Past, born: Callable[[], Account]) -> Account:
    if past not in _ACCOUNTS:
        account = born()
        if past.fills is not None:
            for book in account.futures.values():
                del book.fills[: -past.fills]
        _ACCOUNTS[past] = pickle.dumps(account)
    copy: Account = pickle.loads(_ACCOUNTS[past])
    return copy

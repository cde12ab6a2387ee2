"""One account (UID) of the embedded exchange: futures by product type, spot history, sub-accounts."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any

from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.numbers import Identifiers

HELD_PRODUCT_TYPES = ("USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES")
_BALANCES = {
    "USDT-FUTURES": {"USDT": "250000"},
    "COIN-FUTURES": {"BTC": "2.5", "ETH": "40"},
    "USDC-FUTURES": {"USDC": "80000"},
}


class AccountMode(StrEnum):
    """The kind of account. Each kind has its own interface; none reads an account that is being moved."""

    CLASSIC = "classic"
    UPGRADING = "upgrading"
    UNIFIED = "unified"
    SWITCHING = "switching"


@dataclass(frozen=True, slots=True)
class SpotHistory:
    """Spot fills and spot bills, newest first."""

    fills: list[dict[str, Any]] = field(default_factory=list)
    bills: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Account:
    """An account: kind ordinary, copy-old, copy-new, broker, managed, demo, virtual or unified.

    A `lively` account keeps trading by itself. Its past ends at `built_ms`. `bound_ms` is when a managed account was
    bound to its trading team; an account that is not `funded` begins with nothing. `make_spot_history` and
    `make_converts` are called at the first read, because they take long and few screens show their rows.
    """

    uid: str
    name: str
    kind: str
    mode: str
    rng: random.Random
    lively: bool = False
    built_ms: int = 0
    bound_ms: int | None = None
    funded: bool = True
    ids: Identifiers = field(default_factory=Identifiers)
    futures: dict[str, FuturesBook] = field(default_factory=dict)
    make_spot_history: Callable[[], SpotHistory] = SpotHistory
    make_converts: Callable[[], list[dict[str, Any]]] = list
    transfers: list[dict[str, Any]] = field(default_factory=list)
    subaccounts: list[dict[str, Any]] = field(default_factory=list)
    virtual_subaccounts: list[dict[str, Any]] = field(default_factory=list)
    has_copy_key: bool = False

    def __post_init__(self) -> None:
        for product_type in HELD_PRODUCT_TYPES:
            balances = {coin: Decimal(amount if self.funded else 0) for coin, amount in _BALANCES[product_type].items()}
            self.futures[product_type] = FuturesBook(product_type, self.mode, balances, self.ids)

    @cached_property
    def converts(self) -> list[dict[str, Any]]:
        return self.make_converts()

    @cached_property
    def spot_history(self) -> SpotHistory:
        return self.make_spot_history()

    @property
    def is_copy_trader(self) -> bool:
        return self.kind.startswith("copy")

"""Permissions of a key: the exchange's four-letter authorities in words.

Source: the exchange's documentation of spot/account/info, whose examples also show the words `readonly` and `trade`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_READ: Final = "read"
_WRITE: Final = "read and write"
_MEANINGS: Final[Mapping[str, tuple[str, str]]] = {
    "coor": ("futures orders", _READ),
    "coow": ("futures orders", _WRITE),
    "cpor": ("futures positions", _READ),
    "cpow": ("futures positions", _WRITE),
    "stor": ("spot trading", _READ),
    "stow": ("spot trading", _WRITE),
    "smor": ("margin trading", _READ),
    "smow": ("margin trading", _WRITE),
    "ttor": ("copy trading", _READ),
    "ttow": ("copy trading", _WRITE),
    "wtor": ("transfers between own wallets", _READ),
    "wtow": ("transfers between own wallets", _WRITE),
    "wwow": ("withdrawals", _WRITE),
    "chor": ("sub-accounts", _READ),
    "chow": ("sub-accounts", _WRITE),
    "taxr": ("tax records", _READ),
    "taxw": ("tax records", _WRITE),
    "p2pr": ("P2P", _READ),
    "p2p": ("P2P", _WRITE),
    "p2pw": ("P2P", _WRITE),
    "pllr": ("pledge loans", _READ),
    "pllw": ("pledge loans", _WRITE),
}
AUTHORITIES: Final = frozenset(_MEANINGS)
"""Every authority the exchange documents."""
FUTURES_WRITE_AUTHORITIES: Final = ("coow", "cpow", "ttow")
"""A key without any of these may not place or reverse a futures order, its own or as a copy trader."""
_WITHDRAWALS: Final = ("wwo", "withdraw")


def permission_texts(authorities: Iterable[str]) -> tuple[str, ...]:
    """The authorities in words, one text for each part of the exchange; an unknown one stands as it came."""
    rights: dict[str, str] = {}
    unknown: list[str] = []
    for authority in authorities:
        area, right = _MEANINGS.get(authority.casefold(), ("", ""))
        if not area:
            unknown.append(f"{authority!r}, which is not documented")
        elif rights.get(area) != _WRITE:
            rights[area] = right
    return (*(f"{area}: {right}" for area, right in rights.items()), *dict.fromkeys(unknown))


def may_withdraw(authorities: Iterable[str]) -> bool:
    """Whether one of the authorities lets the key withdraw."""
    return any(authority.casefold().startswith(_WITHDRAWALS) for authority in authorities)

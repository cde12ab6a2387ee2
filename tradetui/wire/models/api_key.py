"""The owner and the permissions of an API key, with the exchange's four-letter authorities in words.

Source: the exchange's documentation of spot/account/info, whose examples also have the words `readonly` and `trade`.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from tradetui.wire.enums import same
from tradetui.wire.replies.field_types import IdText
from tradetui.wire.replies.record import Record, texts_of
from tradetui.wire.requests.request import Request

_READ: Final = "read"
_WRITE: Final = "read and write"
MEANINGS_OF_AUTHORITIES: Final[Mapping[str, tuple[str, str]]] = {
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
_UNIFIED_PERMISSIONS: Final = {
    "uta_mgt": "unified account",
    "uta_trade": "unified trading",
    "withdraw": "withdrawals",
    "copy_futures_position": "copy trading positions",
    "copy_futures_order": "copy trading orders",
}
"""The permissions of a unified account's key, in which `(read)` follows the word of a key that may only read."""
FUTURES_WRITE_AUTHORITIES: Final = ("coow", "cpow", "ttow")
"""A key without any of these may not place or reverse a futures order, not even as a copy trader."""
_WITHDRAWALS: Final = ("wwo", "withdraw")
READ_ONLY_SUFFIX: Final = " (read)"


class AccountInfo(Record):
    """The owner of the key, its permissions, and whether the owner is a copy trader."""

    identity = ("user_id",)
    normalizers = {"authorities": texts_of, "ips": texts_of}

    user_id: IdText
    ips: tuple[str, ...] = ()
    authorities: tuple[str, ...] = ()
    parent_id: IdText | None = None
    trader_type: str | None = None

    def lacks_all(self, *authorities: str) -> bool:
        """Whether the key certainly has none of these authorities.

        It is certain only if the exchange sent some and all are known: an unknown word might stand for one of these.
        """
        own = {authority.casefold() for authority in self.authorities}
        return bool(own) and own <= MEANINGS_OF_AUTHORITIES.keys() and not own & set(authorities)

    @property
    def is_copy_trader(self) -> bool | None:
        """Whether the account is a copy trader; None if the exchange does not say."""
        if same(self.trader_type, "trader"):
            return True
        return False if same(self.trader_type, "not_trader") else None


class AccountInfoRequest(Request[AccountInfo]):
    """Beyond the interface: the account behind the key."""


def permission_texts(authorities: Iterable[str]) -> tuple[str, ...]:
    """Return the authorities in words, one text for each area; an unknown one is quoted as received."""
    rights: dict[str, str] = {}
    unknown: list[str] = []
    for authority in authorities:
        area, right = _meaning(authority.casefold())
        if not area:
            unknown.append(f"{authority!r}, which is not documented")
        elif rights.get(area) != _WRITE:
            rights[area] = right
    return (*(f"{area}: {right}" for area, right in rights.items()), *dict.fromkeys(unknown))


def _meaning(authority: str) -> tuple[str, str]:
    """Return area and right of an authority in lower case; both empty if it is not known."""
    word = authority.removesuffix(READ_ONLY_SUFFIX)
    if word in _UNIFIED_PERMISSIONS:
        return _UNIFIED_PERMISSIONS[word], _WRITE if word == authority else _READ
    return MEANINGS_OF_AUTHORITIES.get(authority, ("", ""))


def may_withdraw(authorities: Iterable[str]) -> bool:
    return any(word.casefold().startswith(_WITHDRAWALS) and not word.endswith(READ_ONLY_SUFFIX) for word in authorities)

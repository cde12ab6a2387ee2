"""Whose account this is: address, environment and UID, which budget, journal, lock and archive belong to."""

from __future__ import annotations

import hashlib
from typing import Literal, NamedTuple

from tradetui.desk.account.address import former_spellings, normalised_address
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, PermissionRefused, Rejected
from tradetui.wire.key_permissions import FUTURES_WRITE_AUTHORITIES
from tradetui.wire.models.spot import AccountInfo, AccountInfoRequest

IdentityOrigin = Literal["exchange", "remembered", "profile", "key"]


class AccountIdentity(NamedTuple):
    """An account; `origin` says who told the UID: the exchange now, or then (`remembered`), or the profile.

    `key` means that nobody did, and a hash of the API key stands in for it.
    """

    base_url: str
    environment: str
    uid: str
    origin: IdentityOrigin
    info: AccountInfo | None = None

    @property
    def known(self) -> bool:
        """Whether the UID is one."""
        return self.origin != "key"

    @property
    def key_reads_only(self) -> bool:
        """Whether the exchange says that the API key may not trade futures."""
        return self.info is not None and self.info.lacks_all(*FUTURES_WRITE_AUTHORITIES)

    @property
    def name(self) -> str:
        """A name for files and rows that does not tell the key; the same however the address is written."""
        return _name(normalised_address(self.base_url), self.environment, self.uid)

    def aliases(self, key_stand_in: str) -> tuple[str, ...]:
        """Every name under which this account may be known to a process: by its UID, and by the key in use."""
        by_key = _name(normalised_address(self.base_url), self.environment, key_stand_in)
        return tuple(dict.fromkeys((self.name, by_key) if key_stand_in else (self.name,)))

    def former_names(self, key_stand_in: str) -> tuple[str, ...]:
        """Other names that its directory may have: by the key, and by other spellings of the address."""
        spellings = (normalised_address(self.base_url), *former_spellings(self.base_url))
        uids = (self.uid, key_stand_in) if key_stand_in else (self.uid,)
        names = dict.fromkeys(_name(spelling, self.environment, uid) for uid in uids for spelling in spellings)
        return tuple(name for name in names if name != self.name)


def _name(address: str, environment: str, uid: str) -> str:
    return hashlib.sha256(f"{address}|{environment}|{uid}".encode()).hexdigest()[:16]


class AccountKey(NamedTuple):
    """What an account is known by before the exchange tells its UID: address, environment, and a hash of the key."""

    base_url: str
    environment: str
    key_stand_in: str


def stand_in(api_key: str) -> str:
    """What stands in for a UID that nobody told."""
    return f"key-{hashlib.sha256(api_key.encode()).hexdigest()[:16]}"


async def identify(
    client: ExchangeReader, key: AccountKey, uid: str | None, remembered: str | None = None
) -> AccountIdentity:
    """The account by the exchange where it tells, else as it told before, else by the profile, else by the key.

    Only an answer that it will not tell makes the profile's word count; anything else raises `ExchangeError`, since
    two sessions of one account must not take it for two.
    """
    try:
        reply = await client.read(AccountInfoRequest())
    except (EndpointMissing, PermissionRefused, Rejected):
        info = None
    else:
        info = next((row for row in reply.rows if isinstance(row, AccountInfo)), None)
    if info is not None:
        return AccountIdentity(key.base_url, key.environment, info.user_id, "exchange", info)
    return untold(key, uid, remembered)


def untold(key: AccountKey, uid: str | None, remembered: str | None) -> AccountIdentity:
    """The account as far as it is known without the exchange; `uid` is the profile's."""
    if remembered:
        return AccountIdentity(key.base_url, key.environment, remembered, "remembered")
    if uid:
        return AccountIdentity(key.base_url, key.environment, uid, "profile")
    return AccountIdentity(*key, "key")

"""The identity of an account: exchange address, environment and UID; budget, journal, lock and archive depend on it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused, Rejected
from tradetui.storage.atomic_file import write_text
from tradetui.storage.private_directory import make_private_directory
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.wire.models.api_key import FUTURES_WRITE_AUTHORITIES, AccountInfo, AccountInfoRequest

OWNER_S: Final = 1.5
"""How long a send waits for the exchange to name the owner of the API key."""

IdentityOrigin = Literal["exchange", "remembered", "profile", "key"]


class AccountIdentity(NamedTuple):
    """An account; `origin` is the source of its UID: the exchange, now or earlier (`remembered`), or the profile.

    `key` means that there is no UID, and a hash of the API key stands in for it.
    """

    base_url: str
    environment: str
    uid: str
    origin: IdentityOrigin
    info: AccountInfo | None = None

    @property
    def known(self) -> bool:
        """Whether the UID is known; if not, a hash of the key stands in for it."""
        return self.origin != "key"

    @property
    def key_reads_only(self) -> bool:
        """Whether the exchange says that the API key may not trade futures."""
        return self.info is not None and self.info.lacks_all(*FUTURES_WRITE_AUTHORITIES)

    @property
    def name(self) -> str:
        """A name for files and rows that does not reveal the key; the same for every spelling of the address."""
        return self._name_by(self.uid)

    def aliases(self, key_stand_in: str) -> tuple[str, ...]:
        """Return every name by which a process may know this account: by its UID, and by the key in use."""
        return (self.name, *self.former_names(key_stand_in))

    def former_names(self, key_stand_in: str) -> tuple[str, ...]:
        """Return the name that its directory has if it was made by this key before the UID was known."""
        by_key = self._name_by(key_stand_in)
        return (by_key,) if key_stand_in and by_key != self.name else ()

    def _name_by(self, owner: str) -> str:
        identity = f"{normalised_address(self.base_url)}|{self.environment}|{owner}"
        return hashlib.sha256(identity.encode()).hexdigest()[:16]


class AccountKey(NamedTuple):
    """Identifies an account before the exchange names its UID: address, environment, and a hash of the key."""

    base_url: str
    environment: str
    key_stand_in: str


def stand_in(api_key: str) -> str:
    """Return the hash of an API key, which stands in for an unknown UID."""
    return f"key-{hashlib.sha256(api_key.encode()).hexdigest()[:16]}"


async def identify(
    client: ExchangeReader, key: AccountKey, uid: str | None, remembered: str | None = None
) -> AccountIdentity:
    """Return the account by the UID that the exchange names or named before, else by the profile, else by the key.

    The profile's UID counts only after an answer without a UID. Any other failure raises `ExchangeError`, so that two
    sessions never take one account for two.
    """
    try:
        reply = await client.read(AccountInfoRequest())
    except (EndpointMissing, PermissionRefused, Rejected):
        info = None
    else:
        info = next((row for row in reply.rows if isinstance(row, AccountInfo)), None)
    if info is not None:
        return AccountIdentity(key.base_url, key.environment, info.user_id, "exchange", info)
    return identity_without_exchange(key, uid, remembered)


async def current_owner(client: ExchangeReader) -> str | None:
    """Return the UID that the exchange names for the API key now; None if it names none in time."""
    try:
        async with asyncio.timeout(OWNER_S):
            reply = await client.read(AccountInfoRequest())
    except (ExchangeError, TimeoutError):
        return None
    return next((row.user_id for row in reply.rows if isinstance(row, AccountInfo)), None)


def identity_without_exchange(key: AccountKey, uid: str | None, remembered: str | None) -> AccountIdentity:
    """Return the account as known without the exchange; `uid` is the profile's."""
    if remembered:
        return AccountIdentity(key.base_url, key.environment, remembered, "remembered")
    if uid:
        return AccountIdentity(key.base_url, key.environment, uid, "profile")
    return AccountIdentity(*key, "key")


_LOOPBACK: Final = "127.0.0.1"
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


def normalised_address(base_url: str) -> str:
    """Return the canonical spelling of an address: two spellings of one exchange become equal.

    Scheme and host become lower case. Default port, trailing dot, trailing slash, user, query and fragment are left
    out. Every name and number of the loopback interface becomes 127.0.0.1. Text that is no address is returned
    unchanged.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return base_url
    if not host:
        return base_url
    scheme = parts.scheme.lower()
    suffix = "" if port is None or port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    return f"{scheme}://{_host(host)}{suffix}{parts.path.rstrip('/')}"


def _host(host: str) -> str:
    host = host.lower().rstrip(".").partition("%")[0]
    if host == "localhost" or host.endswith(".localhost") or host == "localhost.localdomain":
        return _LOOPBACK
    address = _number(host)
    if address is None:
        try:
            return host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_loopback or address.is_unspecified:  # a connection to the unspecified address reaches this machine
        return _LOOPBACK
    return f"[{address}]" if isinstance(address, IPv6Address) else str(address)


def _number(host: str) -> IPv4Address | IPv6Address | None:
    with suppress(ValueError):
        return ip_address(host)
    if not host or not set(host) <= set("0123456789abcdefx."):
        return None
    try:
        return IPv4Address(socket.inet_aton(host))  # 127.1 and 0x7f000001 too
    except OSError:
        return None


class KnownAccounts:
    """UIDs by address, environment and hash of the key, in a file of mode 0600; without a directory nothing is kept.

    Every call blocks.
    """

    def __init__(self, data_dir: Path | None) -> None:
        self._file = None if data_dir is None else data_dir / "accounts" / "known.json"

    def uid_of(self, key: AccountKey) -> str | None:
        """Return the UID that the exchange named for this key; raises FileUnusable if the file cannot be read."""
        return self._read().get(_row_of(key))

    def remember(self, key: AccountKey, uid: str) -> None:
        """Write the UID that the exchange named, synced; raises FileUnusable or OSError."""
        if self._file is None:
            return
        known, name = self._read(), _row_of(key)
        if known.get(name) == uid:
            return
        make_private_directory(self._file.parent)
        write_text(self._file, json.dumps({**known, name: uid}, indent=1, sort_keys=True))

    def _read(self) -> dict[str, str]:
        if self._file is None:
            return {}
        try:
            stored_uids = json.loads(self._file.read_text(encoding="utf-8"))
            if not isinstance(stored_uids, dict):
                raise ValueError("a list of accounts is an object")
        except FileNotFoundError:
            return {}
        except NotADirectoryError:
            folder = self._file.parent.parent
            raise FileUnusable(str(folder), "it is not a directory", "Set data_dir to one.") from None
        except (OSError, ValueError, RecursionError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else None
            raise FileUnusable(
                str(self._file),
                f"the list of known accounts cannot be read ({reason or 'no JSON object'})",
                "Set uid in the profile, then delete the file.",
            ) from None
        return {name: uid for name, uid in stored_uids.items() if isinstance(uid, str)}


def _row_of(key: AccountKey) -> str:
    return "|".join(key._replace(base_url=normalised_address(key.base_url)))

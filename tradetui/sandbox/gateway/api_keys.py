"""The API keys of the embedded exchange's accounts: who signed a request, and the permission of each endpoint.

Headers, time stamp, signature and passphrase are refused with the live exchange's codes. Calls are counted by UID and
endpoint in any second, by address in any minute, and refused beyond the limits. The limits are in `wire.endpoints`,
where the client reads them too. A refused call is not counted.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.account import AccountMode
from tradetui.sandbox.gateway.request_values import whole_number
from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE, ADDRESS_LOCKOUT_S, Endpoint
from tradetui.wire.signing import prehash, sign_hmac

READ = frozenset({"futures-read", "holdings-read", "spot-read", "broker-read"})
ALL = READ | {"futures-write", "subaccount-write", "copy-write"}
ANYWHERE = ("0.0.0.0/0", "::/0")
_ENDPOINTS_BY_PERMISSION: Final = {
    ("copy-write", "copy trading write"): "copytrading.create_api_key",
    ("subaccount-write", "sub-account manage"): "subaccounts.create_batch broker.create_subaccount",
    ("spot-read", "spot order read or spot order write"): "spot.fills spot.bills convert.history",
    ("broker-read", "broker read"): "broker.transfers broker.subaccount_email",
    ("futures-write", "future order write"): "futures.reverse",
    ("futures-read", "future order read"): (
        "futures.triggers futures.live_triggers futures.pending_orders futures.order_detail futures.fills"
    ),
    ("holdings-read", "future position read"): (
        "futures.accounts futures.account futures.subaccount_assets "
        "futures.positions futures.closed_positions futures.bills"
    ),
    ("holdings-read", "uta_mgt read"): ("unified.assets unified.settings unified.positions unified.closed_positions"),
    ("futures-read", "uta_mgt read"): "unified.orders unified.fills unified.triggers unified.live_triggers",
}
"""A permission and its name in the refusal, to the endpoints that need it."""
PERMISSIONS: Final = {
    endpoint: permission for permission, endpoints in _ENDPOINTS_BY_PERMISSION.items() for endpoint in endpoints.split()
}
_WINDOW_MS = 30_000


@dataclass(frozen=True)
class SandboxKey:
    """One key: its account, its permissions, and the three texts a client needs."""

    name: str
    uid: str
    api_key: str
    secret: str = field(repr=False)
    passphrase: str = field(repr=False)
    permissions: frozenset[str] = ALL
    mode: str = "hedge_mode"
    kind: str = "ordinary"
    ips: tuple[str, ...] = ANYWHERE
    """The addresses from which it may be used (networks in CIDR notation); empty for a key bound to none."""

    def public(self) -> dict[str, Any]:
        """Return the key as `tradetui sandbox` prints it."""
        shown = asdict(self) | {"permissions": sorted(self.permissions)}
        del shown["ips"]
        return shown


def made_key(
    seed: int,
    name: str,
    uid: str,
    permissions: frozenset[str],
    mode: str,
    kind: str,
    *,
    passphrase: str = "",
    ips: tuple[str, ...] = ANYWHERE,
) -> SandboxKey:
    """Make a key whose texts follow from seed and name."""
    digest = hashlib.sha256(f"{seed}/{name}/{uid}".encode()).hexdigest()
    api_key, secret = f"bg_{digest[:32]}", digest[32:] + digest[:32]
    passphrase = passphrase or f"Sandbox{digest[:8]}"
    return SandboxKey(name, uid, api_key, secret, passphrase, permissions, mode, kind, ips)


def check_account_mode(mode: AccountMode, endpoint: Endpoint, *, is_copy_trader: bool) -> None:
    """Raise Refusal if the endpoint's interface does not serve accounts in this mode.

    The settings can be read while an account is moved, since they tell that it is. A unified account of a copy trader
    is refused with another code.
    """
    if endpoint.interface == "v3":
        if mode is AccountMode.CLASSIC:
            raise Refusal("40084", "You are in Classic Account mode, and the Unified Account API is not supported")
        if mode is not AccountMode.UNIFIED and endpoint.name != "unified.settings":
            raise Refusal("25245", "The account is not in unified account mode")
    elif mode is not AccountMode.CLASSIC:
        if is_copy_trader:
            raise Refusal("40731", "This product does not support copy trading")
        raise Refusal(
            "40085", "You are in Unified Account mode, and the Classic Account API is not supported at this time"
        )


def check_permission(key: SandboxKey, endpoint: str, locale: str) -> None:
    """Raise Refusal if the key lacks the endpoint's permission, in the caller's language like the live exchange."""
    if endpoint.startswith("broker.") and key.kind != "broker":
        raise Refusal("40029", "You are not a Broker")
    needed = PERMISSIONS.get(endpoint)
    if needed is not None and needed[0] not in key.permissions:
        chinese = locale.lower().startswith("zh")
        message = (
            f"权限不正确, 需要 {needed[1]} 权限" if chinese else f"Incorrect permissions, need {needed[1]} permissions"
        )
        raise Refusal("40014", message)
    if endpoint == "subaccounts.create_batch" and not key.ips:
        raise Refusal("22010", "Please bind ip whitelist address")


class HttpCall(NamedTuple):
    """A request without a transport: header names in lower case, `query` as on the wire.

    `address` is empty within one process.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = b""
    address: str = ""


def named_key(request: HttpCall, keys: Iterable[SandboxKey]) -> SandboxKey | None:
    """Return the key that a request names, without any proof that its owner sent it; None if there is no such key."""
    return next((key for key in keys if key.api_key == request.headers.get("access-key")), None)


def check_caller(request: HttpCall, key: SandboxKey | None, now_ms: int) -> SandboxKey:
    """Return the key that a request names; raises Refusal if there is none, not proven, or not allowed from there."""
    headers, body = request.headers, request.body
    if not headers.get("access-key"):
        raise Refusal("40001", "ACCESS_KEY cannot be empty")
    if not headers.get("access-sign"):
        raise Refusal("40002", "ACCESS_SIGN cannot be empty")
    if not headers.get("access-passphrase"):
        raise Refusal("40011", "ACCESS_PASSPHRASE cannot be empty")
    stamp = headers.get("access-timestamp", "")
    stamped_ms = whole_number(stamp)
    if stamped_ms is None:
        raise Refusal("40005", "Invalid ACCESS_TIMESTAMP")
    if abs(stamped_ms - now_ms) > _WINDOW_MS:
        raise Refusal("40008", "Request timestamp expired")
    if key is None:
        raise Refusal("40037", "Apikey does not exist")
    # The official SDKs sign the decoded query, other clients the encoded one; the live exchange accepts both.
    signed = {request.query, unquote(request.query)}
    prehashes = (prehash(stamp, request.method, request.path, query, body) for query in signed)
    expected = (sign_hmac(key.secret, message) for message in prehashes)
    if not any(hmac.compare_digest(one.encode(), headers["access-sign"].encode()) for one in expected):
        raise Refusal("40009", "sign signature error")
    if not hmac.compare_digest(headers["access-passphrase"].encode(), key.passphrase.encode()):
        raise Refusal("40012", "apikey/password is incorrect")
    # Public clients omit the header in requests without a body, and the live exchange answers them.
    if body and "application/json" not in headers.get("content-type", ""):
        raise Refusal("40007", "Invalid Content_Type")
    if (headers.get("paptrading") == "1") != (key.kind == "demo"):
        raise Refusal("40099", "exchange environment is incorrect")
    if key.ips and request.address and not _within(request.address, key.ips):
        raise Refusal("40018", "Invalid IP")
    return key


def _within(address: str, networks: Iterable[str]) -> bool:
    """Whether an address is in one of the networks; a name that is not an address (as of a local socket) always is."""
    try:
        here = ipaddress.ip_address(address)
    except ValueError:
        return True
    return any(here in ipaddress.ip_network(network, strict=False) for network in networks)


SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60_000
RECOVERY_MS: Final = ADDRESS_LOCKOUT_S * SECOND_MS
"""Milliseconds for which an address with too many calls is refused (five minutes), even if it keeps calling."""


class ArrivalCounts:
    """Counts the calls of each caller to each endpoint, and those of each address."""

    def __init__(self) -> None:
        self._arrivals: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
        self._refused_until: dict[str, int] = {}

    def _count(self, who: str, endpoint: str, now_ms: int, window_ms: int, allowed: int) -> int | None:
        """Count a call; return how many are left in the window, or None if this one is too many."""
        arrivals = self._arrivals[who, endpoint]
        while arrivals and arrivals[0] <= now_ms - window_ms:
            arrivals.popleft()
        if len(arrivals) >= allowed:
            return None
        arrivals.append(now_ms)
        return allowed - len(arrivals)

    def admit(self, endpoint: Endpoint, who: str, now_ms: int, *, is_copy_trader: bool) -> int | None:
        """Count a call of a UID, or of an address for a public endpoint; return how many are left, None if too many."""
        limit = endpoint.limit
        allowed = limit.copy_trader if is_copy_trader and limit.copy_trader is not None else limit.calls
        return self._count(who, endpoint.name, now_ms, limit.window_s * SECOND_MS, allowed)

    def admit_address(self, address: str, now_ms: int) -> bool:
        """Count a call; True if it is admitted. The first call beyond the limit locks the address out for a while."""
        if now_ms < self._refused_until.get(address, now_ms):
            return False
        if self._count(address, "", now_ms, MINUTE_MS, ADDRESS_CALLS_PER_MINUTE) is None:
            self._refused_until[address] = now_ms + RECOVERY_MS
            del self._arrivals[address, ""]
            return False
        return True

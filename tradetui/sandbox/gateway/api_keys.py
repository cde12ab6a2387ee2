"""The API keys of the embedded exchange's accounts, and which permission of a key each endpoint needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tradetui.sandbox.api_errors import Refusal

READ = frozenset({"futures-read", "holdings-read", "spot-read", "broker-read"})
ALL = READ | {"futures-write", "subaccount-write", "copy-write"}
ANYWHERE = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True)
class SandboxKey:
    """One key: whose it is, what it may do, and the three texts a client needs."""

    name: str
    uid: str
    api_key: str
    secret: str = field(repr=False)
    passphrase: str = field(repr=False)
    permissions: frozenset[str] = ALL
    mode: str = "hedge_mode"
    kind: str = "ordinary"
    ips: tuple[str, ...] = ANYWHERE
    """Addresses it may be used from (networks in CIDR notation); an empty tuple is a key bound to none."""

    def public(self) -> dict[str, Any]:
        """The key as `tradetui sandbox` prints it."""
        return {
            "name": self.name,
            "uid": self.uid,
            "api_key": self.api_key,
            "secret": self.secret,
            "passphrase": self.passphrase,
            "permissions": sorted(self.permissions),
            "mode": self.mode,
            "kind": self.kind,
        }


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
    """A key whose texts follow from seed and name, so that the same seed gives the same keys."""
    digest = hashlib.sha256(f"{seed}/{name}/{uid}".encode()).hexdigest()
    return SandboxKey(
        name,
        uid,
        f"bg_{digest[:32]}",
        digest[32:] + digest[:32],
        passphrase or f"Sandbox{digest[:8]}",
        permissions,
        mode,
        kind,
        ips,
    )


#: Endpoint to permission, and the words the refusal names it by.
PERMISSIONS: Final[Mapping[str, tuple[str, str]]] = {
    "copytrading.create_api_key": ("copy-write", "copy trading write"),
    "subaccounts.create_batch": ("subaccount-write", "sub-account manage"),
    "spot.fills": ("spot-read", "spot order read or spot order write"),
    "spot.bills": ("spot-read", "spot order read or spot order write"),
    "convert.history": ("spot-read", "spot order read or spot order write"),
    "broker.transfers": ("broker-read", "broker read"),
    "broker.create_subaccount": ("subaccount-write", "sub-account manage"),
    "broker.subaccount_email": ("broker-read", "broker read"),
    "futures.reverse": ("futures-write", "future order write"),
    "futures.triggers": ("futures-read", "future order read"),
    "futures.accounts": ("holdings-read", "future position read"),
    "futures.pending_orders": ("futures-read", "future order read"),
    "futures.fills": ("futures-read", "future order read"),
    "futures.positions": ("holdings-read", "future position read"),
    "futures.order_detail": ("futures-read", "future order read"),
    "futures.live_triggers": ("futures-read", "future order read"),
    "futures.account": ("holdings-read", "future position read"),
    "futures.closed_positions": ("holdings-read", "future position read"),
    "futures.bills": ("holdings-read", "future position read"),
}


def check_permission(key: SandboxKey, endpoint: str, locale: str) -> None:
    """Let a key use an endpoint; raises Refusal, its text in the caller's language as the live exchange does."""
    if key.kind == "unified":
        raise Refusal(
            "40085", "You are in Unified Account mode, and the Classic Account API is not supported at this time"
        )
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

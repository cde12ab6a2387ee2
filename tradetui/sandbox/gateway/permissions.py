"""Which permission of a key each endpoint needs, and how its absence is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.gateway.api_keys import SandboxKey

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
}


def permit(key: SandboxKey, endpoint: str, locale: str) -> None:
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

"""Who is calling: headers, time stamp, signature and passphrase, refused under the live exchange's codes."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.gateway.api_keys import SandboxKey
from tradetui.sandbox.gateway.request_values import whole_number
from tradetui.wire.signing import prehash, sign_hmac

_WINDOW_MS = 30_000


def caller(
    headers: Mapping[str, str],
    keys: Iterable[SandboxKey],
    *,
    method: str,
    path: str,
    query: str,
    body: bytes,
    now_ms: int,
    address: str = "",
) -> SandboxKey:
    """The key a request is signed with; header names in lower case, `address` empty where there is none.

    Raises:
        Refusal: who calls is not known, not proven, or not where the key may be used.
    """
    name = headers.get("access-key", "")
    if not name:
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
    key = next((key for key in keys if key.api_key == name), None)
    if key is None:
        raise Refusal("40037", "Apikey does not exist")
    # The official SDKs sign the decoded query, other clients the encoded one; the live exchange takes both.
    signed = {query, unquote(query)}
    expected = (sign_hmac(key.secret, prehash(stamp, method, path, text, body)) for text in signed)
    if not any(hmac.compare_digest(one.encode(), headers["access-sign"].encode()) for one in expected):
        raise Refusal("40009", "sign signature error")
    if not hmac.compare_digest(headers["access-passphrase"].encode(), key.passphrase.encode()):
        raise Refusal("40012", "apikey/password is incorrect")
    # Public clients leave the header out of requests without a body, and the live exchange answers them.
    if body and "application/json" not in headers.get("content-type", ""):
        raise Refusal("40007", "Invalid Content_Type")
    if (headers.get("paptrading") == "1") != (key.kind == "demo"):
        raise Refusal("40099", "exchange environment is incorrect")
    if key.ips and address and not _within(address, key.ips):
        raise Refusal("40018", "Invalid IP")
    return key


def _within(address: str, networks: Iterable[str]) -> bool:
    """Whether an address is in one of the networks; a name that is no address (as of a local socket) is in all."""
    try:
        here = ipaddress.ip_address(address)
    except ValueError:
        return True
    return any(here in ipaddress.ip_network(network, strict=False) for network in networks)

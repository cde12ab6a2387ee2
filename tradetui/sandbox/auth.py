"""Who is calling: headers, time stamp, passphrase and signature, refused under the live exchange's codes."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from tradetui.sandbox.keys import SandboxKey
from tradetui.sandbox.refusals import Refusal
from tradetui.wire.signing import prehash, sign_hmac

WINDOW_MS = 30_000


def caller(
    headers: Mapping[str, str],
    keys: Iterable[SandboxKey],
    *,
    method: str,
    path: str,
    query: str,
    body: bytes,
    now_ms: int,
) -> SandboxKey:
    """The key a request is signed with; raises Refusal."""
    name = headers.get("access-key", "")
    if not name:
        raise Refusal("40001", "ACCESS_KEY cannot be empty")
    if not headers.get("access-sign"):
        raise Refusal("40002", "ACCESS_SIGN cannot be empty")
    if not headers.get("access-passphrase"):
        raise Refusal("40011", "ACCESS_PASSPHRASE cannot be empty")
    stamp = headers.get("access-timestamp", "")
    if not (stamp.isascii() and stamp.isdecimal()):
        raise Refusal("40005", "Invalid ACCESS_TIMESTAMP")
    if abs(int(stamp) - now_ms) > WINDOW_MS:
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
    if headers.get("paptrading") == "1" and key.kind != "demo":
        raise Refusal("40099", "exchange environment is incorrect")
    return key

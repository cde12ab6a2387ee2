"""Signed calls to the embedded exchange without any transport, at a fixed time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.sandbox.copied_accounts import born_once
from tests.sandbox.exchange_events import liquidate, open_position
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.gateway.api_keys import HttpCall, SandboxKey
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.signing import encoded_query, prehash, sign_hmac

NOW_MS = 1_793_491_200_000 + 12 * 3_600_000
DAY_MS = 86_400_000


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    body: dict[str, Any]
    left: int | None

    @property
    def code(self) -> str:
        return str(self.body["code"])

    @property
    def data(self) -> Any:
        return self.body["data"]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The list of the payload, whatever its key; null is empty."""
        if isinstance(self.data, list):
            return self.data
        lists = [value for value in self.data.values() if isinstance(value, list)]
        return lists[0] if lists else []


class Caller:
    """Calls one sandbox as one of its accounts."""

    def __init__(self, *, seed: int = 5, **options: Any) -> None:
        self.now_ms = NOW_MS
        exchange_state = born_once(build_exchange_state(seed, NOW_MS))
        exchange_state.stands_still = True
        options.setdefault("limits", False)
        self.sandbox = Sandbox(exchange_state, lambda: self.now_ms, SandboxOptions(seed=seed, **options))

    def key(self, name: str) -> SandboxKey:
        return next(key for key in self.sandbox.exchange_state.keys if key.name == name)

    def hold(self, account: str, long: str = "0", short: str = "0") -> str:
        """Let an account hold just these legs of BTCUSDT; gives its UID."""
        exchange_state, uid = self.sandbox.exchange_state, self.key(account).uid
        book = exchange_state.book(uid, "USDT-FUTURES")
        for held in [held for held in book.holdings.values() if held.spec.symbol == "BTCUSDT"]:
            liquidate(exchange_state, book, held)
        for leg, size in (("long", long), ("short", short)):
            if Decimal(size):
                open_position(exchange_state, uid, "BTCUSDT", leg, Decimal(size))
        return uid

    def get(self, endpoint: str, account: str = "hedge", **parameters: Any) -> Answered:
        """Read an endpoint of the catalogue."""
        pairs = sorted((name, str(value)) for name, value in parameters.items())
        return self.send("GET", CATALOGUE[endpoint].path, account, query=encoded_query(pairs))

    def post(self, endpoint: str, body: Any, account: str = "hedge") -> Answered:
        """Write to an endpoint of the catalogue."""
        return self.send("POST", CATALOGUE[endpoint].path, account, body=json.dumps(body).encode())

    def send(
        self, method: str, path: str, account: str, *, query: str = "", body: bytes = b"", **changed: str | None
    ) -> Answered:
        """Send a signed request; headers may be changed (underscores for dashes) or left out with None."""
        answer = self.sandbox.answer(self.request(method, path, account, query=query, body=body, **changed))
        return Answered(answer.status, json.loads(answer.body), answer.left)

    def request(
        self, method: str, path: str, account: str, *, query: str = "", body: bytes = b"", **changed: str | None
    ) -> HttpCall:
        """A signed request; an `address` may be said along with the headers."""
        key = self.key(account)
        address = changed.pop("address", None) or ""
        stamp = str(changed.pop("stamp", None) or self.now_ms)
        headers: dict[str, str | None] = {
            "access-key": key.api_key,
            "access-sign": sign_hmac(key.secret, prehash(stamp, method, path, query, body)),
            "access-timestamp": stamp,
            "access-passphrase": key.passphrase,
            "content-type": "application/json",
            "locale": "en-US",
        }
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        kept = {name: value for name, value in headers.items() if value is not None}
        return HttpCall(method, path, query, kept, body, address)

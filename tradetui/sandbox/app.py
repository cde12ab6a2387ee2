"""The embedded exchange as a bare ASGI application: from a signed request to an answer in the envelope."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from tradetui.sandbox import auth
from tradetui.sandbox.dialect import MESSAGE_IN_DOCUMENT, spoken
from tradetui.sandbox.faults import ConnectionDropped, Faults
from tradetui.sandbox.keys import SandboxKey
from tradetui.sandbox.limits import ArrivalCounts
from tradetui.sandbox.options import SandboxOptions
from tradetui.sandbox.readings import read
from tradetui.sandbox.refusals import Refusal
from tradetui.sandbox.world import World
from tradetui.sandbox.writings import write
from tradetui.wire.catalogue import CATALOGUE, Endpoint

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_ROUTES: Final[Mapping[tuple[str, str], Endpoint]] = {
    (endpoint.method, endpoint.path): endpoint for endpoint in CATALOGUE.values()
}
_PATHS: Final = frozenset(endpoint.path for endpoint in CATALOGUE.values())
PERMISSIONS: Final = {
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
REMEMBERED_CALLS: Final = 4096


@dataclass(frozen=True, slots=True)
class Call:
    """One request that arrived."""

    method: str
    path: str
    uid: str | None
    at_ms: int


@dataclass(slots=True)
class Answer:
    """What goes back: status, body, and the calls left in this second."""

    status: int
    body: bytes
    left: int | None = None
    content_type: str = "application/json"


class Sandbox:
    """The exchange. `now` tells its time in milliseconds; `calls` remembers what arrived, `counts` how often."""

    def __init__(self, world: World, now: Callable[[], int], options: SandboxOptions | None = None) -> None:
        self.world = world
        self.options = options or SandboxOptions()
        self.faults = Faults(self.options.faults, self.options.seed)
        self.calls: deque[Call] = deque(maxlen=REMEMBERED_CALLS)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.skew_ms = 0
        self._now = now
        self._arrivals = ArrivalCounts()
        self._stale: dict[tuple[str, str, str], Any] = {}
        world.one_way_size_honoured = self.options.one_way_size == "honour"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        body = await _body(receive)
        path, query = scope["path"], scope.get("query_string", b"").decode("ascii", "replace")
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        endpoint = _ROUTES.get((scope["method"], path))
        fault = self.faults.of_call(endpoint.name) if endpoint is not None else None
        if fault == "dropped-before":
            _drop(scope)
            return
        if fault == "delay":
            await asyncio.sleep(self.options.delay_ms / 1000)
        answer = self.answer(scope["method"], path, query, headers, body, fault)
        if fault == "dropped-after":
            _drop(scope)
            return
        await _respond(send, answer, truncated=fault == "truncated")

    def answer(
        self, method: str, path: str, query: str, headers: dict[str, str], body: bytes, fault: str | None = None
    ) -> Answer:
        """Everything between a request's bytes and its answer's, without any transport."""
        now_ms = self._now()
        self.world.advance(now_ms)
        self.counts[method, path] += 1
        endpoint = _ROUTES.get((method, path))
        key, left, message_name = None, None, "msg"
        try:
            endpoint = self._known(method, path, endpoint)
            if fault == "5xx":
                return Answer(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", None, "text/html")
            if fault == "non-json":
                return Answer(200, b'{"message":"failure to get a peer from the ring-balancer"}')
            if not self.options.core_only or endpoint.core:
                key = self._caller(endpoint, method, path, query, headers, body, now_ms + self._skew(fault))
            self._remember(method, path, key, now_ms)
            left = self._admit(endpoint, key, now_ms, fault)
            payload = self._payload(endpoint, key, query, body, now_ms, fault)
            code, message, status = "00000", "success", 200
            if not self._live and endpoint.name in MESSAGE_IN_DOCUMENT:
                message_name = "message"
        except Refusal as refusal:
            code, message, status, payload = refusal.code, refusal.message, refusal.http_status, None
        if fault == "wrong-types":
            payload = {"entrustedList": 7, "fillList": "none", "list": {}, "dataList": True}
        envelope = {
            "code": code,
            message_name: message,
            "requestTime": now_ms + self._skew(fault),
            "data": payload,
        }
        return Answer(status, json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode(), left)

    @property
    def _live(self) -> bool:
        return self.options.dialect == "live"

    def _skew(self, fault: str | None) -> int:
        return self.options.skew_ms if fault == "clock-skew" else self.skew_ms

    def _known(self, method: str, path: str, endpoint: Endpoint | None) -> Endpoint:
        if path.startswith("/api/v3"):
            raise Refusal("40084", "You are in Classic Account mode, and the Unified Account API is not supported")
        if endpoint is None and path in _PATHS:
            raise Refusal("40405", f"Request method {method} is not supported", 405)
        if endpoint is None or (self.options.core_only and not endpoint.core):
            raise Refusal("40404", "Request URL NOT FOUND", 404)
        return endpoint

    def _caller(
        self, endpoint: Endpoint, method: str, path: str, query: str, headers: dict[str, str], body: bytes, now_ms: int
    ) -> SandboxKey | None:
        if not endpoint.signed:
            return None
        key = auth.caller(headers, self.world.keys, method=method, path=path, query=query, body=body, now_ms=now_ms)
        if key.kind == "unified":
            raise Refusal(
                "40085",
                "You are in Unified Account mode, and the Classic Account API is not supported at this time",
            )
        needed = PERMISSIONS.get(endpoint.name)
        if needed is not None and needed[0] not in key.permissions:
            raise Refusal("40014", f"Incorrect permissions, need {needed[1]} permissions")
        return key

    def _remember(self, method: str, path: str, key: SandboxKey | None, now_ms: int) -> None:
        self.calls.append(Call(method, path, key.uid if key else None, now_ms))

    def _admit(self, endpoint: Endpoint, key: SandboxKey | None, now_ms: int, fault: str | None) -> int | None:
        copy_trader = key is not None and self.world.account(key.uid).is_copy_trader
        left: int | None = 1
        if self.options.limits:
            left = self._arrivals.admit(endpoint, key.uid if key else "", copy_trader, now_ms)
        if left is None or fault == "429":
            raise Refusal("429", "Too Many Requests", 429)
        return left if self.options.limits else None

    def _payload(
        self, endpoint: Endpoint, key: SandboxKey | None, query: str, body: bytes, now_ms: int, fault: str | None
    ) -> Any:
        if endpoint.writes:
            assert key is not None
            return write(self.world, key, endpoint.name, body, self.faults)
        asked = (key.uid if key else "", endpoint.name, query)
        if fault == "stale-reads" and asked in self._stale:
            return self._stale[asked]
        values = dict(parse_qsl(query, keep_blank_values=True))
        payload = spoken(endpoint.name, read(self.world, key, endpoint.name, values, now_ms, self._live), self._live)
        if "stale-reads" in self.faults.rates:
            self._stale[asked] = payload
        return payload


def _drop(scope: Scope) -> None:
    """End the connection without an answer; in process, where there is none, raise what a client would meet."""
    transport = scope.get("state", {}).get("transport")
    if transport is None:
        raise ConnectionDropped("the connection was dropped")
    transport.abort()


async def _respond(send: Send, answer: Answer, *, truncated: bool) -> None:
    headers = [(b"content-type", answer.content_type.encode()), (b"content-length", str(len(answer.body)).encode())]
    if answer.left is not None:
        headers.append((b"x-mbx-used-remain-limit", str(answer.left).encode()))
    body = answer.body
    if truncated:
        body = body[: len(body) // 2]
        headers[1] = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        else:
            await send({"type": "lifespan.shutdown.complete"})
            return

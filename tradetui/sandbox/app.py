"""The embedded exchange as a bare ASGI application: from a signed request to a reply in the envelope.

Every call that reaches the exchange is recorded, even if a fault replaces or drops its reply. The fault
`dropped-before` ends the connection first: such a call has not reached the exchange.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import parse_qsl

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.gateway.api_keys import (
    ArrivalCounts,
    HttpCall,
    SandboxKey,
    check_account_mode,
    check_caller,
    check_permission,
    named_key,
)
from tradetui.sandbox.gateway.faults import CallFault, ConnectionDropped, Faults
from tradetui.sandbox.handlers.reads import read
from tradetui.sandbox.handlers.reply_variants import MESSAGE_IN_DOCUMENT, envelope_bytes, in_dialect
from tradetui.sandbox.handlers.unified import read_unified
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_ROUTES: Final[Mapping[tuple[str, str], Endpoint]] = {
    (endpoint.method, endpoint.path): endpoint for endpoint in CATALOGUE.values()
}
REMEMBERED_CALLS: Final = 4096
REMEMBERED_READS: Final = 32
"""The number of last replies kept, for the fault that repeats one of them."""
LARGEST_BODY: Final = 1 << 18
ELSEWHERE: Final = ("", "elsewhere")
"""The key under which `Sandbox.counts` counts calls of unknown endpoints."""


@dataclass(frozen=True)
class SandboxOptions:
    """The options of one sandbox.

    `faults` maps kinds to probabilities (0 to 1). `delay_ms` is the delay of a delayed reply, `skew_ms` the error of a
    skewed clock. `core_only` offers only the interface's thirteen endpoints. `dialect` is the form of replies where the
    interface document and the live exchange differ. `one_way_size` is whether the size of a reversal counts in one-way
    mode.
    """

    seed: int = 7
    speed: Decimal = Decimal(1)
    faults: Mapping[str, float] = field(default_factory=dict)
    limits: bool = True
    core_only: bool = False
    dialect: Literal["documented", "live"] = "documented"
    one_way_size: Literal["honour", "ignore"] = "honour"
    delay_ms: int = 1_500
    skew_ms: int = 45_000


class Call(NamedTuple):
    """One request that reached the exchange.

    `uid` is the caller's if it was proven; `code` is the reply's, empty if a fault replaced the envelope.
    """

    method: str
    path: str
    uid: str | None
    at_ms: int
    code: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body of a reply, and the calls left in this second."""

    status: int
    body: bytes
    left: int | None = None
    content_type: str = "application/json"


class Sandbox:
    """The exchange. `now` gives its time in milliseconds; `skew_ms` shifts the clock it shows.

    `calls` holds the last requests that reached it, `counts` their number by method and path.
    """

    def __init__(
        self, exchange_state: ExchangeState, now: Callable[[], int], options: SandboxOptions | None = None
    ) -> None:
        self.exchange_state = exchange_state
        self.options = options or SandboxOptions()
        self.faults = Faults(self.options.faults, self.options.seed)
        self.calls: deque[Call] = deque(maxlen=REMEMBERED_CALLS)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.skew_ms = 0
        self._now = now
        self._live = self.options.dialect == "live"
        self._arrivals = ArrivalCounts()
        self._read_before: OrderedDict[tuple[str, str, str], Any] = OrderedDict()
        exchange_state.one_way_size_honoured = self.options.one_way_size == "honour"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"the embedded exchange speaks HTTP, not {scope['type']}")
        request = _request(scope, await _body(receive))
        endpoint = _ROUTES.get((request.method, request.path))
        fault = None if endpoint is None else self.faults.take_for_call(endpoint.name)
        if fault is CallFault.DROPPED_BEFORE:
            _drop(scope)
            return
        if fault is CallFault.DELAY:
            await asyncio.sleep(self.options.delay_ms / 1000)
        answer = self.answer(request, fault)
        if fault is CallFault.DROPPED_AFTER:
            _drop(scope)
            return
        if fault is CallFault.TRUNCATED:
            answer = replace(answer, body=answer.body[: len(answer.body) // 2])
        await _respond(send, answer)

    def catch_up(self) -> None:
        self.exchange_state.advance(self._now())

    def answer(self, request: HttpCall, fault: CallFault | None = None) -> Answer:
        """Answer a request without a transport."""
        now_ms = self._now()
        self.exchange_state.advance(now_ms)
        endpoint = _ROUTES.get((request.method, request.path))
        self.counts[ELSEWHERE if endpoint is None else (request.method, request.path)] += 1
        clock_ms = now_ms + (self.options.skew_ms if fault is CallFault.CLOCK_SKEW else self.skew_ms)
        arrival = _Arrival(request, endpoint, now_ms, clock_ms, fault)
        if fault is not None and fault in _NOT_PASSED_ON:
            self._remember(arrival, "")
            return _NOT_PASSED_ON[fault]
        name, payload = "" if endpoint is None else endpoint.name, None
        status, code, message = 200, "00000", "success"
        message_name = "msg" if self._live or name not in MESSAGE_IN_DOCUMENT else "message"
        try:
            payload = self._carry_out(arrival)
        except Refusal as refusal:
            status, code, message, message_name = refusal.http_status, refusal.code, refusal.message, "msg"
        if fault is CallFault.BAD_GATEWAY_AFTER:
            self._remember(arrival, "")
            return _BAD_GATEWAY
        self._remember(arrival, code)
        if fault is CallFault.WRONG_TYPES:
            payload = _WRONG_TYPES
        envelope = {"code": code, message_name: message, "requestTime": clock_ms, "data": payload}
        return Answer(status, envelope_bytes(name, envelope), arrival.left)

    def _remember(self, arrival: _Arrival, code: str) -> None:
        uid = None if arrival.key is None else arrival.key.uid
        self.calls.append(Call(arrival.request.method, arrival.request.path, uid, arrival.now_ms, code))

    def _carry_out(self, arrival: _Arrival) -> Any:
        """Run the checks of a call in order, then its endpoint; return the reply's data. Raises Refusal."""
        self._admit_address(arrival)
        endpoint = self._known_endpoint(arrival)
        arrival.key = self._signing_key(endpoint, arrival)
        arrival.left = self._admit_caller(endpoint, arrival)
        if not endpoint.writes:
            return self._read(endpoint, arrival)
        assert arrival.key is not None
        from tradetui.sandbox.handlers.writes import write  # not needed for the first rows of a demo

        result = write(self.exchange_state, arrival.key, endpoint.name, arrival.request.body, self.faults)
        return in_dialect(endpoint.name, result, self._live)

    def _admit_address(self, arrival: _Arrival) -> None:
        """Count a call of an address; calls within this process have none. Raises Refusal."""
        address = arrival.request.address
        if self.options.limits and address and not self._arrivals.admit_address(address, arrival.now_ms):
            raise _too_many()

    def _known_endpoint(self, arrival: _Arrival) -> Endpoint:
        """Return the endpoint if this exchange has it; raises Refusal."""
        if arrival.endpoint is None or (self.options.core_only and not arrival.endpoint.core):
            raise Refusal("40404", "Request URL NOT FOUND", 404)
        return arrival.endpoint

    def _signing_key(self, endpoint: Endpoint, arrival: _Arrival) -> SandboxKey | None:
        """Return the key of a signed endpoint's caller; raises Refusal.

        The account's mode is checked before the signature, as on the live exchange.
        """
        if not endpoint.signed:
            return None
        named = named_key(arrival.request, self.exchange_state.keys)
        if named is not None:
            modes = self.exchange_state.account_modes
            move = self.faults.take_for_account(endpoint.name)
            if move is not None:
                modes[named.uid] = move.mode
            check_account_mode(modes[named.uid], endpoint, is_copy_trader=named.kind.startswith("copy"))
        key = check_caller(arrival.request, named, arrival.clock_ms)
        check_permission(key, endpoint.name, arrival.request.headers.get("locale", ""))
        return key

    def _admit_caller(self, endpoint: Endpoint, arrival: _Arrival) -> int | None:
        """Count a call; return the calls left in this second, None without a limit. Raises Refusal."""
        key, left = arrival.key, None
        if self.options.limits:
            is_copy_trader = key is not None and self.exchange_state.account(key.uid).is_copy_trader
            who = key.uid if key else arrival.request.address
            left = self._arrivals.admit(endpoint, who, arrival.now_ms, is_copy_trader=is_copy_trader)
        if arrival.fault is CallFault.TOO_MANY_REQUESTS or (self.options.limits and left is None):
            raise _too_many()
        return left

    def _read(self, endpoint: Endpoint, arrival: _Arrival) -> Any:
        """Return the payload of a read, or the previous payload of the same read if it is stale; raises Refusal."""
        key, query = arrival.key, arrival.request.query
        read_key = (key.uid if key else "", endpoint.name, query)
        if arrival.fault is CallFault.STALE_READS and read_key in self._read_before:
            return self._read_before[read_key]
        values = dict(parse_qsl(query, keep_blank_values=True))
        at_ms = arrival.clock_ms if endpoint.name == "public.time" else arrival.now_ms
        if endpoint.interface == "v3":
            rows = read_unified(self.exchange_state, key, endpoint.name, values, at_ms)
        else:
            rows = read(self.exchange_state, key, endpoint.name, values, at_ms, self._live)
        self._read_before[read_key] = payload = in_dialect(endpoint.name, rows, self._live)
        self._read_before.move_to_end(read_key)
        if len(self._read_before) > REMEMBERED_READS:
            self._read_before.popitem(last=False)
        return payload


_BAD_GATEWAY: Final = Answer(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", None, "text/html")
_NOT_PASSED_ON: Final[Mapping[CallFault, Answer]] = {
    CallFault.BAD_GATEWAY: _BAD_GATEWAY,
    CallFault.NON_JSON: Answer(200, b'{"message":"failure to get a peer from the ring-balancer"}'),
}
"""Replies of a gateway in front of the exchange, to calls that it does not pass on."""
_WRONG_TYPES: Final = {"entrustedList": 7, "fillList": "none", "list": {}, "dataList": True}


@dataclass(slots=True)
class _Arrival:
    """A request as it arrives: its endpoint if it exists, its time, and the time on the exchange's clock.

    The checks add the caller's `key` and the calls `left`, which a later refusal keeps.
    """

    request: HttpCall
    endpoint: Endpoint | None
    now_ms: int
    clock_ms: int
    fault: CallFault | None
    key: SandboxKey | None = None
    left: int | None = None


def _too_many() -> Refusal:
    return Refusal("429", "Too Many Requests", 429)


def _request(scope: Scope, body: bytes) -> HttpCall:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope.get("query_string", b"").decode("ascii", "replace")
    address = (scope.get("client") or ("",))[0]
    return HttpCall(scope["method"], scope["path"], query, headers, body, address)


def _drop(scope: Scope) -> None:
    """End the connection without a reply; in process, raise the error that a client would get."""
    transport = scope.get("state", {}).get("transport")
    if transport is None:
        raise ConnectionDropped("the connection was dropped")
    transport.abort()


async def _respond(send: Send, answer: Answer) -> None:
    headers = [(b"content-type", answer.content_type.encode()), (b"content-length", str(len(answer.body)).encode())]
    if answer.left is not None:
        headers.append((b"x-mbx-used-remain-limit", str(answer.left).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _body(receive: Receive) -> bytes:
    """Read the body up to the largest size: a cut body is not valid JSON, and no signature matches it."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")[: LARGEST_BODY - len(body)]
        if not message.get("more_body"):
            return bytes(body)

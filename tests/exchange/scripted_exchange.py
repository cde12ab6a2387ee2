"""Exchanges that answer as a test tells them to: in process, and over loopback down to the bytes."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from tests.bench.virtual_loop import pass_seconds
from tradetui.exchange import Credentials
from tradetui.exchange.rate_limit.budget import Budget, Permit, Priority
from tradetui.exchange.transport.transport import Timeouts
from tradetui.wire.endpoints.endpoint import Endpoint

KEY, SECRET, PASSPHRASE = "bg_canary_key_0001", "canary-secret-0002", "CanaryPass0003"
CREDENTIALS = Credentials(KEY, SECRET, PASSPHRASE)
START_MS = 1_790_000_000_000

Message = MutableMapping[str, Any]
PATIENT = Timeouts(connect=60, read=60, write=60, order_read=60)
"""For calls whose answer is on its way: longer than any machine stands still."""
T = TypeVar("T")
STEP_S = 1.0
"""Less than any limit of a call, so that of two limits the shorter one ends it."""


class NoBudget(Budget):
    """No limit at all, for an exchange that has none."""

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        return _FREE


class _FreePermit(Permit):
    def __init__(self) -> None:
        self._use = None


_FREE: Final = _FreePermit()


class StillClock:
    """A clock that stands at `START_MS`, so that a call which takes long on a busy machine finds no clock drifted."""

    boot = ""

    def monotonic(self) -> float:
        """No second passes."""
        return 0.0

    def wall_ms(self) -> int:
        """Unix milliseconds: what `envelope` says as well."""
        return START_MS


@dataclass
class ArrivedRequest:
    """A request as it arrived."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def values(self) -> dict[str, str]:
        return dict(parse_qsl(self.query))


@dataclass
class Say:
    """An answer: rows or a code in the envelope, or any body at all."""

    data: Any = None
    code: str = "00000"
    msg: str = "success"
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    after: float = 0.0
    request_time: int | None = None

    def text(self, now_ms: int) -> bytes:
        if self.body is not None:
            return self.body
        time = now_ms if self.request_time is None else self.request_time
        return json.dumps({"code": self.code, "msg": self.msg, "requestTime": time, "data": self.data}).encode()


class Scripted:
    """An ASGI exchange whose answers a function gives; what arrived is kept."""

    def __init__(
        self, script: Callable[[ArrivedRequest], Say | Exception], now: Callable[[], int] = lambda: START_MS
    ) -> None:
        self.script = script
        self.now = now
        self.requests: list[ArrivedRequest] = []

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        message = await receive()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        request = ArrivedRequest(
            scope["method"], scope["path"], scope["query_string"].decode(), headers, message.get("body", b"")
        )
        self.requests.append(request)
        answer = self.script(request)
        if isinstance(answer, Exception):
            raise answer
        await asyncio.sleep(answer.after)
        pairs = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
        await send({"type": "http.response.body", "body": answer.text(self.now())})


def in_turn(*answers: Say | Exception) -> Callable[[ArrivedRequest], Say | Exception]:
    """Answers one after the other, the last one for ever."""
    left = list(answers)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


@dataclass
class Raw:
    """A loopback server that sends bytes as they are; `requests` holds the heads that came, one list a connection."""

    base_url: str = ""
    requests: list[list[bytes]] = field(default_factory=list)
    ends: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def count(self) -> int:
        return sum(len(connection) for connection in self.requests)

    async def wait_for_ends(self, count: int) -> None:
        """Wait until so many connections have ended."""
        while self.ends < count:
            self.ended.clear()
            await self.ended.wait()


@contextlib.asynccontextmanager
async def raw_server(
    answer: Callable[[bytes, asyncio.StreamWriter], Awaitable[None]], *, tls: Any = None
) -> AsyncIterator[Raw]:
    """Serve connections; `answer` is given each request (head and body) and writes, or closes, as it likes."""
    raw = Raw()
    writers: list[asyncio.StreamWriter] = []

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        heads: list[bytes] = []
        raw.requests.append(heads)
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.lower().split(b"\r\n")
                        if line.startswith(b"content-length")
                    ),
                    0,
                )
                body = await reader.readexactly(length)
                heads.append(head)
                await answer(head + body, writer)
        writer.close()
        raw.ends += 1
        raw.ended.set()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    raw.base_url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield raw
    finally:
        server.close()
        for writer in writers:
            writer.close()


async def out_of_time(call: Awaitable[T], silent: asyncio.Event) -> T:
    """Await a call; once its peer is silent for good, time passes at once until one of the call's limits ends it."""
    waiting = asyncio.ensure_future(call)
    silence = asyncio.ensure_future(silent.wait())
    await asyncio.wait({waiting, silence}, return_when=asyncio.FIRST_COMPLETED)
    silence.cancel()
    while not waiting.done():
        pass_seconds(STEP_S)
        await asyncio.sleep(0)
    return await waiting


def http(body: bytes, *, status: str = "200 OK", kind: str = "application/json", length: int | None = None) -> bytes:
    """A whole HTTP answer; `length` may lie."""
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {size}\r\n\r\n".encode() + body


def envelope(data: Any = None, code: str = "00000", msg: str = "success", time: int = START_MS) -> bytes:
    """The body of an answer."""
    return json.dumps({"code": code, "msg": msg, "requestTime": time, "data": data}).encode()


def fill(number: int, **changed: Any) -> dict[str, Any]:
    """A futures fill with an id and a time that follow its number."""
    return {
        "tradeId": str(10**18 + number),
        "symbol": "BTCUSDT",
        "orderId": str(2 * 10**18 + number),
        "price": "83000.5",
        "baseVolume": "0.01",
        "feeDetail": [{"deduction": "no", "feeCoin": "USDT", "totalDeductionFee": None, "totalFee": "-0.4"}],
        "side": "buy",
        "quoteVolume": "830.005",
        "profit": "0",
        "enterPointSource": "api",
        "tradeSide": "open",
        "posMode": "hedge_mode",
        "tradeScope": "taker",
        "cTime": str(START_MS - 10**6 + number),
        **changed,
    }


def pending(number: int, status: str = "live", **changed: Any) -> dict[str, Any]:
    """A pending order with an id and a time that follow its number."""
    return {
        "symbol": "BTCUSDT",
        "size": "0.02",
        "orderId": str(3 * 10**18 + number),
        "clientOid": f"c{number}",
        "baseVolume": "0" if status == "live" else "0.01",
        "price": "82000",
        "status": status,
        "side": "buy",
        "posSide": "long",
        "marginCoin": "USDT",
        "tradeSide": "open",
        "posMode": "hedge_mode",
        "orderType": "limit",
        "cTime": str(START_MS - 10**6 + number),
        **changed,
    }

"""Carries requests to an ASGI application in this process, with time-outs and failures like a network's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import unquote

from tradetui.exchange.transport.transport import (
    BeforeFirstByte,
    HttpRequest,
    HttpResponse,
    Timeouts,
    TransportError,
    TransportErrorKind,
    refuse_write,
)
from tradetui.wire.endpoints.reply import LONGEST_BODY

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[MutableMapping[str, Any], _Receive, _Send], Awaitable[None]]


class InProcessTransport:
    """A transport whose other end is an ASGI application.

    The application runs in a task of its own, like a server: it continues when the caller gives up. If it raises, the
    caller sees a broken connection.
    """

    def __init__(self, app: AsgiApp, *, timeouts: Timeouts | None = None, read_only: bool = False) -> None:
        self.read_only = read_only
        self._app = app
        self._timeouts = timeouts or Timeouts()
        self._running: set[asyncio.Task[None]] = set()

    async def send(self, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None) -> HttpResponse:
        if self.read_only:
            refuse_write(request)
        if before_first_byte is not None:
            await before_first_byte()
        in_flight = _InFlight(request.body)
        task = asyncio.create_task(self._serve(_scope(request), in_flight))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        seconds = self._timeouts.order_read if request.writes else self._timeouts.read
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            raise TransportError(TransportErrorKind.TIME_OUT, f"no answer within {seconds:g} s", sent=True)
        return in_flight.answer()

    async def aclose(self) -> None:
        """Cancel the application's remaining tasks."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _serve(self, scope: dict[str, Any], in_flight: _InFlight) -> None:
        try:
            await self._app(scope, in_flight.receive, in_flight.send)
        except Exception as failure:
            in_flight.failure = type(failure).__name__
        finally:
            in_flight.over.set()


class _InFlight:
    """One request and the part of its response that has come."""

    def __init__(self, body: bytes) -> None:
        self.over = asyncio.Event()
        self.failure: str | None = None
        self._body: bytes | None = body
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []
        self._size = 0
        self._complete = False

    async def receive(self) -> _Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self.over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: _Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            for name, value in message.get("headers", ()):
                self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")
        elif message["type"] == "http.response.body":
            part = message.get("body", b"")
            self._size += len(part)
            if self._size <= LONGEST_BODY:
                self._parts.append(part)
            if not message.get("more_body", False):
                self._complete = True
                self.over.set()

    def answer(self) -> HttpResponse:
        if self._size > LONGEST_BODY:
            raise TransportError(
                TransportErrorKind.UNREADABLE, f"the answer is larger than {LONGEST_BODY >> 20} MiB", sent=True
            )
        length = self._headers.get("content-length", "")
        cut = length.isdigit() and int(length) != self._size
        if self._status is None or not self._complete or cut:
            how = "before answering" if self._status is None else "in the middle of the answer"
            raise TransportError(TransportErrorKind.BROKEN, f"the connection was closed {how}", sent=True)
        return HttpResponse(self._status, self._headers, b"".join(self._parts))


def _scope(request: HttpRequest) -> dict[str, Any]:
    path, _, query = request.target.partition("?")
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.items()]
    headers.append((b"host", b"in-process"))
    if request.body:
        headers.append((b"content-length", str(len(request.body)).encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 0),
        "server": ("in-process", 80),
        "state": {},
    }

"""Carries requests over the network. Only this file and `sockets` import httpcore, so that changing it is small."""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
import zlib
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import certifi
import httpcore

from tradetui.exchange.sockets import Sockets
from tradetui.exchange.transport.base_url import Origin
from tradetui.exchange.transport.transport import (
    MAX_BODY_BYTES,
    MAX_CONCURRENT_READS,
    MAX_CONCURRENT_WRITES,
    HttpRequest,
    HttpResponse,
    Timeouts,
    TransportError,
    TransportErrorKind,
    refuse_write,
)

# httpcore looks for sniffio several times a call; where it is not installed each search costs 50 microseconds.
if find_spec("sniffio") is None:
    sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]

# Loaded with the first call otherwise, which would hold up the event loop.
for _name in ("anyio", "anyio._backends._asyncio"):
    with suppress(ImportError):
        import_module(_name)

_log = logging.getLogger(__name__)


@cache
def shared_tls() -> ssl.SSLContext:
    """Build the one TLS context of this process: certificates verified, TLS 1.2 at least. About 20 ms, off the loop."""
    return ssl.create_default_context(cafile=certifi.where())


class HttpTransport:
    """A transport over HTTP/1.1 with one set of connections to read and another to write.

    Neither follows a redirect, asks the environment for a proxy or a password, or tries anything twice. The one that
    writes keeps no idle connection, so that a connection the server has just closed is never written to.

    httpcore 1.0's connections do not survive a cancelled request. Callers therefore wait for tasks that they cannot
    cancel; where a call has to be cut off all the same, its whole set of connections is replaced.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        timeouts: Timeouts | None = None,
        read_only: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if tls is not None and (tls.verify_mode is not ssl.CERT_REQUIRED or not tls.check_hostname):
            raise ValueError("certificates and host names are always verified")
        self.read_only = read_only
        self._timeouts = timeouts or Timeouts()
        self._origin = origin
        self._host = origin.url.partition("://")[2].encode("ascii")
        # Over http nothing is encrypted.
        self._tls = tls or (shared_tls() if origin.scheme == "https" else None)
        self._connections = {False: _Connections(self._tls, writes=False)}
        if not read_only:
            self._connections[True] = _Connections(self._tls, writes=True)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send once and read the answer to its end; raises `TransportError`."""
        if self.read_only:
            refuse_write(request)
        connections = self._connections[request.writes]
        failure: TransportError
        connections.in_use += 1
        try:
            async with asyncio.timeout(self._timeouts.total(writes=request.writes)):
                return await self._exchange(connections.pool, request)
        except TransportError as known:
            failure = known
        except TimeoutError:
            self._replace(connections)
            failure = TransportError(TransportErrorKind.TIME_OUT, "the answer did not end in time", sent=True)
        except asyncio.CancelledError:
            self._replace(connections)
            raise
        except httpcore.PoolTimeout:
            _log.error("the connections were used up; they are replaced")
            self._replace(connections)
            failure = TransportError(TransportErrorKind.POOL, "all connections of this program are in use", sent=False)
        except Exception as raised:
            failure = _failure_of(raised)
        finally:
            connections.in_use -= 1
            if connections.retired and not connections.in_use:
                await connections.pool.aclose()
        failure.__cause__ = failure.__context__ = None  # the library's own errors hold the request and its headers
        raise failure

    async def aclose(self) -> None:
        """Drop every connection."""
        for connections in self._connections.values():
            await connections.pool.aclose()

    async def _exchange(self, pool: httpcore.AsyncConnectionPool, request: HttpRequest) -> HttpResponse:
        times = self._timeouts
        timeouts = {
            "connect": times.connect,
            "read": times.order_read if request.writes else times.read,
            "write": times.write,
            "pool": times.pool,
        }
        async with pool.stream(
            request.method,
            self._url(request.target),
            headers=self._headers(request),
            content=request.body if request.writes else None,
            extensions={"timeout": timeouts},
        ) as response:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            body = _Body(headers.get("content-encoding", ""))
            async for part in response.aiter_stream():
                body.take(part)
        return HttpResponse(response.status, headers, body.whole())

    def _url(self, target: str) -> httpcore.URL:
        origin = self._origin
        return httpcore.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target)

    def _headers(self, request: HttpRequest) -> list[tuple[bytes, bytes]]:
        given = {"Accept": "application/json", "Accept-Encoding": "gzip", **request.headers}
        try:
            own = [(name.encode("ascii"), value.encode("ascii")) for name, value in given.items()]
        except UnicodeEncodeError:
            raise TransportError(TransportErrorKind.CONNECT, _NOT_HTTP, sent=False) from None
        return [(b"Host", self._host), *own]

    def _replace(self, connections: _Connections) -> None:
        """Put fresh connections in the place of these, which are dropped when their last call has ended."""
        if self._connections[connections.writes] is connections:
            self._connections[connections.writes] = _Connections(self._tls, writes=connections.writes)
        connections.retired = True


class _Connections:
    """One set of connections, how many calls use it, and whether a fresh one has taken its place."""

    def __init__(self, tls: ssl.SSLContext | None, *, writes: bool) -> None:
        self.writes = writes
        self.in_use = 0
        self.retired = False
        self.pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=MAX_CONCURRENT_WRITES if writes else MAX_CONCURRENT_READS,
            max_keepalive_connections=0 if writes else 8,
            keepalive_expiry=30,
            http1=True,
            http2=False,
            retries=0,
            network_backend=Sockets(),
        )


class _Body:
    """The body of an answer as it comes in, unpacked where it was packed; raises `TransportError`."""

    def __init__(self, encoding: str) -> None:
        self._received = bytearray()
        self._packed = None
        match encoding.strip().lower():
            case "gzip" | "x-gzip":
                self._packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            case "" | "identity":
                pass
            case _:
                raise TransportError(TransportErrorKind.UNREADABLE, _NOT_UNPACKED, sent=True)

    def take(self, part: bytes) -> None:
        """Another part."""
        if self._packed is not None:
            try:
                part = self._packed.decompress(part, MAX_BODY_BYTES + 1)
            except zlib.error:
                raise TransportError(TransportErrorKind.UNREADABLE, _NOT_UNPACKED, sent=True) from None
        self._received += part
        if len(self._received) > MAX_BODY_BYTES:
            raise TransportError(TransportErrorKind.UNREADABLE, "the answer is larger than 8 MiB", sent=True)

    def whole(self) -> bytes:
        """All of it, when the last part was taken."""
        if self._packed is not None and self._received and not self._packed.eof:
            raise TransportError(TransportErrorKind.UNREADABLE, _NOT_UNPACKED, sent=True)
        return bytes(self._received)


_NOT_HTTP = "the request cannot be written as HTTP"
_NOT_UNPACKED = "the answer cannot be unpacked"


def _failure_of(raised: Exception) -> TransportError:
    """Say what went wrong in a sentence that holds nothing of the request."""
    match raised:
        case httpcore.ConnectTimeout():
            return TransportError(TransportErrorKind.CONNECT, "no connection in time", sent=False)
        case httpcore.ConnectError():
            if "SSL" in str(raised) or "certificate" in str(raised).lower():
                return TransportError(
                    TransportErrorKind.TLS, "the connection is not secure, its certificate was refused", sent=False
                )
            return TransportError(TransportErrorKind.CONNECT, "no connection (refused, or no such host)", sent=False)
        case httpcore.TimeoutException():
            return TransportError(TransportErrorKind.TIME_OUT, "no answer in time", sent=True)
        case httpcore.LocalProtocolError():
            return TransportError(TransportErrorKind.CONNECT, _NOT_HTTP, sent=False)
        case httpcore.NetworkError() | httpcore.ProtocolError() | OSError():
            return TransportError(
                TransportErrorKind.BROKEN, "the connection was closed before the answer was complete", sent=True
            )
    return TransportError(TransportErrorKind.BROKEN, f"the connection failed ({type(raised).__name__})", sent=True)

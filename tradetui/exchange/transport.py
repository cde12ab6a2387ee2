"""Carries requests over the network. The only file that imports httpx, so that another library is a small change."""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import httpcore

from tradetui.exchange.carrier import (
    LARGEST_BODY,
    READS_AT_ONCE,
    WRITES_AT_ONCE,
    CarryFailure,
    Incoming,
    Origin,
    Outgoing,
    Timeouts,
    Trouble,
    refuse_write,
)
from tradetui.exchange.sockets import Sockets

_CLI = "httpx._main"
_spare_the_cli = _CLI not in sys.modules
if _spare_the_cli:  # httpx offers its command line where rich and click are installed; importing that doubles its cost
    sys.modules[_CLI] = None  # type: ignore[assignment]
try:
    import httpx
finally:
    if _spare_the_cli:
        del sys.modules[_CLI]

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
    return httpx.create_ssl_context(verify=True, trust_env=False)


class HttpTransport:
    """A carrier over HTTP/1.1 with one set of connections to read and another to write.

    Neither follows a redirect, asks the environment for a proxy or a password, or tries anything twice. The one that
    writes keeps no idle connection, so that a connection the server has just closed is never written to.

    httpx 0.28's connections do not survive a cancelled request. Callers therefore wait for tasks that they cannot
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
        self._url = httpx.URL(origin.url)
        # Over http nothing is encrypted and no context is needed; httpx would build one all the same.
        self._tls = tls or (shared_tls() if origin.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        self._connections = {False: _Connections(self._tls, writes=False)}
        if not read_only:
            self._connections[True] = _Connections(self._tls, writes=True)

    async def send(self, outgoing: Outgoing) -> Incoming:
        """Send once and read the answer to its end; raises `CarryFailure`."""
        if self.read_only:
            refuse_write(outgoing)
        connections = self._connections[outgoing.writes]
        failure: CarryFailure
        connections.in_use += 1
        try:
            async with asyncio.timeout(self._timeouts.total(writes=outgoing.writes)):
                return await self._exchange(connections.pool, outgoing)
        except CarryFailure as known:
            failure = known
        except TimeoutError:
            self._replace(connections)
            failure = CarryFailure(Trouble.TIME_OUT, "the answer did not end in time", sent=True)
        except asyncio.CancelledError:
            self._replace(connections)
            raise
        except httpx.PoolTimeout:
            _log.error("the connections were used up; they are replaced")
            self._replace(connections)
            failure = CarryFailure(Trouble.POOL, "all connections of this program are in use", sent=False)
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

    async def _exchange(self, pool: httpx.AsyncHTTPTransport, outgoing: Outgoing) -> Incoming:
        times = self._timeouts
        request = httpx.Request(
            outgoing.method,
            self._url,
            headers={"Accept": "application/json", "Accept-Encoding": "gzip", **outgoing.headers},
            content=outgoing.body or None,
            extensions={
                "target": outgoing.target.encode("ascii"),
                "timeout": {
                    "connect": times.connect,
                    "read": times.order_read if outgoing.writes else times.read,
                    "write": times.write,
                    "pool": times.pool,
                },
            },
        )
        response = await pool.handle_async_request(request)
        try:
            parts: list[bytes] = []
            size = 0
            packed = "content-encoding" in response.headers
            async for part in response.aiter_bytes() if packed else _plain(response):
                size += len(part)
                if size > LARGEST_BODY:
                    raise CarryFailure(Trouble.UNREADABLE, "the answer is larger than 8 MiB", sent=True)
                parts.append(part)
        finally:
            await response.aclose()
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}
        return Incoming(response.status_code, headers, b"".join(parts))

    def _replace(self, connections: _Connections) -> None:
        """Put fresh connections in the place of these, which are dropped when their last call has ended."""
        if self._connections[connections.writes] is connections:
            self._connections[connections.writes] = _Connections(self._tls, writes=connections.writes)
        connections.retired = True


class _Connections:
    """One set of connections, how many calls use it, and whether a fresh one has taken its place."""

    def __init__(self, tls: ssl.SSLContext, *, writes: bool) -> None:
        limits = (
            httpx.Limits(max_connections=WRITES_AT_ONCE, max_keepalive_connections=0)
            if writes
            else httpx.Limits(max_connections=READS_AT_ONCE, max_keepalive_connections=8, keepalive_expiry=30)
        )
        self.writes = writes
        self.in_use = 0
        self.retired = False
        self.pool = httpx.AsyncHTTPTransport(
            verify=tls, http1=True, http2=False, limits=limits, trust_env=False, retries=0
        )
        # httpx does not hand this argument of its pool on.
        pool: httpcore.AsyncConnectionPool = self.pool._pool
        pool._network_backend = Sockets()


def _plain(response: httpx.Response) -> AsyncIterator[bytes]:
    """The parts of an answer that is not packed, without the decoding that would leave them as they are."""
    assert isinstance(response.stream, httpx.AsyncByteStream)
    return response.stream.__aiter__()


def _failure_of(raised: Exception) -> CarryFailure:
    """Say what went wrong in a sentence that holds nothing of the request."""
    match raised:
        case httpx.ConnectTimeout():
            return CarryFailure(Trouble.CONNECT, "no connection in time", sent=False)
        case httpx.ConnectError():
            if "SSL" in str(raised) or "certificate" in str(raised).lower():
                return CarryFailure(
                    Trouble.TLS, "the connection is not secure, its certificate was refused", sent=False
                )
            return CarryFailure(Trouble.CONNECT, "no connection (refused, or no such host)", sent=False)
        case httpx.TimeoutException():
            return CarryFailure(Trouble.TIME_OUT, "no answer in time", sent=True)
        case httpx.DecodingError():
            return CarryFailure(Trouble.UNREADABLE, "the answer cannot be unpacked", sent=True)
        case httpx.LocalProtocolError():
            return CarryFailure(Trouble.CONNECT, "the request cannot be written as HTTP", sent=False)
        case httpx.NetworkError() | httpx.RemoteProtocolError() | httpx.HTTPError() | OSError():
            return CarryFailure(Trouble.BROKEN, "the connection was closed before the answer was complete", sent=True)
    return CarryFailure(Trouble.BROKEN, f"the connection failed ({type(raised).__name__})", sent=True)

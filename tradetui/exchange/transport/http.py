"""The transport over the network. Only this file imports httpx, and nothing loads it before the first call needs it.

What httpx and httpcore log holds whole addresses, so it is kept from the handlers of whoever runs this program.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeAlias

import httpx

from tradetui.exchange.transport.base_url import Origin
from tradetui.exchange.transport.transport import (
    MAX_BODY_BYTES,
    MAX_CONCURRENT_READS,
    MAX_CONCURRENT_WRITES,
    BeforeFirstByte,
    HttpRequest,
    HttpResponse,
    Timeouts,
    TransportError,
    TransportErrorKind,
    refuse_write,
)

HttpxTransportFactory: TypeAlias = Callable[[], httpx.AsyncBaseTransport]
"""Makes one of httpx's transports, a new one each time: clients are replaced while the program runs."""

_log = logging.getLogger(__name__)
for _library in ("httpx", "httpcore"):
    logging.getLogger(_library).propagate = False

_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
"""What RFC 9110 allows, without the bytes beyond ASCII."""
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER, on, zero seconds: closing drops what the kernel has not sent and resets the connection."""
_NOT_HTTP = "the request cannot be written as HTTP"
_NOT_DECODED = "the response cannot be unpacked"


@cache
def shared_tls() -> ssl.SSLContext:
    """Build the one TLS context of this process, which verifies certificates. It takes 20 ms, so not on the loop."""
    return httpx.create_ssl_context(trust_env=False)


class HttpTransport:
    """A transport over HTTP/1.1 with one httpx client to read and another to write.

    Neither follows a redirect, keeps a cookie, asks the environment for a proxy or a password, or tries anything
    twice. A client that has written is replaced, so that no write goes out on a connection that was used before and
    that the server may just have closed.

    httpcore 1.0's connections do not survive a cancelled request. Callers therefore wait for tasks that they cannot
    cancel; where a call has to be cut off all the same, its whole client is replaced.

    `httpx_transport_factory` gives httpx's own transport in place of the one made here, for a proxy for example; it
    then answers for certificates and for trying nothing twice. Raises ValueError for a TLS context that verifies
    neither certificate nor host name.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        timeouts: Timeouts | None = None,
        read_only: bool = False,
        tls: ssl.SSLContext | None = None,
        httpx_transport_factory: HttpxTransportFactory | None = None,
    ) -> None:
        if tls is not None and (tls.verify_mode is not ssl.CERT_REQUIRED or not tls.check_hostname):
            raise ValueError("certificates and host names are always verified")
        if tls is not None and httpx_transport_factory is not None:
            raise ValueError("give the TLS context to the transport that the factory makes")
        self.read_only = read_only
        self._timeouts = timeouts or Timeouts()
        self._origin = origin
        self._host = origin.url.partition("://")[2]
        # Over http nothing is encrypted, and loading the certificates takes 20 ms.
        self._tls = tls or (shared_tls() if origin.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        self._httpx_transport_factory = httpx_transport_factory
        self._clients = {False: self._new_client(writes=False)}
        if not read_only:
            self._clients[True] = self._new_client(writes=True)

    async def send(self, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None) -> HttpResponse:
        """Send once and read the response to its end; see `Transport.send`."""
        if self.read_only:
            refuse_write(request)
        client = self._clients[request.writes]
        failure: TransportError
        client.calls += 1
        try:
            async with asyncio.timeout(self._timeouts.total(writes=request.writes)) as deadline:
                departure = _Departure(request, before_first_byte, deadline)
                return await self._exchange(client, request, departure)
        except TransportError as known:
            failure = known
        except asyncio.CancelledError:
            self._replace(client)
            raise
        except Exception as raised:
            if raised is departure.refusal:
                raise
            if isinstance(raised, (TimeoutError, httpx.PoolTimeout)):
                self._replace(client)
            failure = _failure_of(raised, sent=departure.sent)
        finally:
            if request.writes:
                self._replace(client)
            client.calls -= 1
            if client.replaced and not client.calls:
                await client.httpx.aclose()
        failure.__cause__ = failure.__context__ = None  # the library's own errors hold the request and its headers
        raise failure

    async def aclose(self) -> None:
        """Drop every connection."""
        for client in self._clients.values():
            await client.httpx.aclose()

    async def _exchange(self, client: _Client, request: HttpRequest, departure: _Departure) -> HttpResponse:
        httpx_request = self._httpx_request(request, departure)
        if not client.traces:
            await departure.leave()
        response = await client.httpx.send(httpx_request, stream=True)
        try:
            encodings = response.headers.get_list("content-encoding", split_commas=True)
            if [encoding.lower() for encoding in encodings] not in ([], ["identity"], ["gzip"]):
                raise TransportError(TransportErrorKind.UNREADABLE, _NOT_DECODED, sent=True)
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    raise TransportError(TransportErrorKind.UNREADABLE, "the response is larger than 8 MiB", sent=True)
        finally:
            await response.aclose()
        return HttpResponse(response.status_code, dict(response.headers.items()), bytes(body))

    def _httpx_request(self, request: HttpRequest, departure: _Departure) -> httpx.Request:
        """Build what goes on the wire: nothing but these headers, and the target as it was signed."""
        fields = {"Host": self._host, "Accept": "application/json", "Accept-Encoding": "gzip", **request.headers}
        if request.writes:
            fields["Content-Length"] = str(len(request.body))
        well_formed = all(_FIELD_NAME.fullmatch(name) and _FIELD_VALUE.fullmatch(fields[name]) for name in fields)
        if not well_formed or not _FIELD_VALUE.fullmatch(request.target) or " " in request.target:
            raise TransportError(TransportErrorKind.CONNECT, _NOT_HTTP, sent=False)
        times = self._timeouts
        timeouts = {
            "connect": times.connect,
            "read": times.order_read if request.writes else times.read,
            "write": times.write,
            "pool": times.pool,
        }
        return httpx.Request(
            request.method,
            _url(self._origin, request.target),
            headers=fields,
            stream=departure.body,
            extensions={"timeout": timeouts, "target": request.target.encode("ascii"), "trace": departure.trace},
        )

    def _new_client(self, *, writes: bool) -> _Client:
        if self._httpx_transport_factory is not None:
            return _Client(self._httpx_transport_factory(), writes=writes)
        limits = httpx.Limits(
            max_connections=MAX_CONCURRENT_WRITES if writes else MAX_CONCURRENT_READS,
            max_keepalive_connections=0 if writes else 8,
            keepalive_expiry=30,
        )
        transport = httpx.AsyncHTTPTransport(verify=self._tls, trust_env=False, http2=False, limits=limits, retries=0)
        return _Client(transport, writes=writes)

    def _replace(self, client: _Client) -> None:
        """Put a new client in the place of this one, which is closed when its last call has ended."""
        if self._clients[client.writes] is client:
            self._clients[client.writes] = self._new_client(writes=client.writes)
        client.replaced = True


class _Client:
    """One httpx client, how many calls use it, and whether a new one has taken its place."""

    def __init__(self, transport: httpx.AsyncBaseTransport, *, writes: bool) -> None:
        self.writes = writes
        self.calls = 0
        self.replaced = False
        # Other transports, and those derived from httpx's own, may tell nothing of what they do.
        self.traces = type(transport) is httpx.AsyncHTTPTransport
        refuse_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        self.httpx = httpx.AsyncClient(
            transport=transport, cookies=refuse_cookies, trust_env=False, follow_redirects=False
        )


class _Departure:
    """The moment before a request's first byte, known from what httpcore traces and never from an exception's class.

    A CONNECT to a proxy is traced with the same names; only the request with our own body is the exchange's.
    """

    def __init__(
        self, request: HttpRequest, before_first_byte: BeforeFirstByte | None, deadline: asyncio.Timeout
    ) -> None:
        self.body = httpx.ByteStream(request.body)
        self.sent = False
        self.refusal: BaseException | None = None
        self._writes = request.writes
        self._before_first_byte = before_first_byte
        self._deadline = deadline
        self._socket: Any = None

    async def leave(self) -> None:
        """Await what is to be done before the first byte; where it raises, nothing is sent."""
        if self._before_first_byte is not None:
            # It has limits of its own: cut off here, it would be half done, and nobody would know which half.
            when = self._deadline.when()
            assert when is not None
            time = asyncio.get_running_loop().time
            left_s = when - time()
            self._deadline.reschedule(None)
            try:
                await self._before_first_byte()
            except BaseException as refusal:
                self.refusal = refusal
                raise
            self._deadline.reschedule(time() + left_s)
        self.sent = True

    async def trace(self, event: str, detail: Mapping[str, Any]) -> None:
        """Take one of httpcore's trace events; it goes on when this returns, and not at all when this raises."""
        if event.endswith(".send_request_headers.started"):
            if detail["request"].stream is self.body:
                await self.leave()
        elif event.endswith(".connect_tcp.complete"):
            self._socket = detail["return_value"].get_extra_info("socket")
        elif self._writes and self.sent and self._socket is not None and event.endswith(".failed"):
            # The connection is closed next. What has not left this machine is not to arrive when nobody waits for it.
            with suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)


@lru_cache(maxsize=128)
def _url(origin: Origin, target: str) -> httpx.URL:
    return httpx.URL(origin.url + target)


def _failure_of(raised: Exception, *, sent: bool) -> TransportError:
    """Name what went wrong in a sentence that holds nothing of the request."""
    if sent:
        match raised:
            case TimeoutError():
                return TransportError(TransportErrorKind.TIME_OUT, "the response did not end in time", sent=True)
            case httpx.TimeoutException():
                return TransportError(TransportErrorKind.TIME_OUT, "no answer in time", sent=True)
            case httpx.DecodingError():
                return TransportError(TransportErrorKind.UNREADABLE, _NOT_DECODED, sent=True)
            case httpx.TransportError() | OSError():
                message = "the connection was closed before the answer was complete"
                return TransportError(TransportErrorKind.BROKEN, message, sent=True)
        return TransportError(TransportErrorKind.BROKEN, f"the connection failed ({type(raised).__name__})", sent=True)
    if tls_error := _tls_cause(raised):
        refused = isinstance(tls_error, ssl.SSLCertVerificationError)
        why = "its certificate was refused" if refused else "the handshake failed"
        return TransportError(TransportErrorKind.TLS, f"the connection is not secure, {why}", sent=False)
    match raised:
        case httpx.PoolTimeout():
            _log.error("the connections were used up; they are replaced")
            return TransportError(TransportErrorKind.POOL, "all connections of this program are in use", sent=False)
        case TimeoutError() | httpx.TimeoutException():
            return TransportError(TransportErrorKind.CONNECT, "no connection in time", sent=False)
        case httpx.InvalidURL() | httpx.LocalProtocolError():
            return TransportError(TransportErrorKind.CONNECT, _NOT_HTTP, sent=False)
    return TransportError(TransportErrorKind.CONNECT, "no connection (refused, or no such host)", sent=False)


def _tls_cause(raised: BaseException) -> ssl.SSLError | None:
    cause: BaseException | None = raised
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause

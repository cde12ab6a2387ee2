"""The transport over the network: sends a request once, and always knows whether it may have arrived.

Only this file imports httpx, and only at the first call. The logs of httpx and httpcore hold whole addresses, so they
do not reach the log handlers of this program.
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
from typing import Any, TypeAlias, TypeVar

import httpx

from tradetui.exchange.transport.proxy import Proxy
from tradetui.exchange.transport.transport import (
    MAX_CONCURRENT_READS,
    MAX_CONCURRENT_WRITES,
    BeforeFirstByte,
    HttpRequest,
    HttpResponse,
    Origin,
    Timeouts,
    TransportError,
    TransportErrorKind,
    is_loopback,
    refuse_write,
    verifying_tls,
)
from tradetui.wire.endpoints.reply import LONGEST_BODY

HttpxTransportFactory: TypeAlias = Callable[[], httpx.AsyncBaseTransport]
"""Makes one of httpx's transports, a new one at each call: clients are replaced while the program runs."""

_Kind = TypeVar("_Kind", bound=BaseException)

_log = logging.getLogger(__name__)
for _library in ("httpx", "httpcore"):
    logging.getLogger(_library).propagate = False

_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
"""The characters that RFC 9110 allows, without the bytes beyond ASCII."""
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER on, zero seconds: closing drops what the kernel has not sent and resets the connection."""
_PROXY_WANTS_USER = frozenset({401, 407})
"""407 is the right status; small proxies answer 401."""
_SOCKS_WANTS_USER = ("Invalid username", "Requested ")
"""The first words of httpcore 1.0's error when a SOCKS proxy wants a user; a wrong guess changes only the message."""
_NOT_HTTP = "the request cannot be written as HTTP"
_NOT_DECODED = "the response cannot be unpacked"


@cache
def shared_tls() -> ssl.SSLContext:
    """Build the one verifying TLS context of this process. It takes 20 ms, so never call it on the loop."""
    return verifying_tls(usual_ca_file())


def usual_ca_file() -> str:
    """Return the file of certificate authorities that `shared_tls` trusts: the one that comes with httpx."""
    import certifi

    return certifi.where()


class HttpTransport:
    """A transport over HTTP/1.1 with one httpx client for reads and another for writes.

    Neither follows a redirect, keeps a cookie, takes a proxy or a password from the environment, or retries. A client
    that has written is replaced: a write must not go out on a used connection, which the server may just have closed.

    httpcore 1.0's connections do not survive a cancelled request. Callers therefore wait for tasks that they cannot
    cancel; if a call has to be cut off all the same, its whole client is replaced.

    A `proxy` opens a tunnel. TLS is between this machine and the exchange, and the proxy sees only the exchange's name
    and port. An exchange on loopback is always connected to directly.

    `httpx_transport_factory` makes an httpx transport in place of the one made here; it is then responsible for proxy,
    certificates and not retrying. Raises ValueError for a TLS context that does not verify certificate and host name.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        timeouts: Timeouts | None = None,
        read_only: bool = False,
        tls: ssl.SSLContext | None = None,
        proxy: Proxy | None = None,
        httpx_transport_factory: HttpxTransportFactory | None = None,
    ) -> None:
        if tls is not None and (tls.verify_mode is not ssl.CERT_REQUIRED or not tls.check_hostname):
            raise ValueError("certificates and host names are always verified")
        if httpx_transport_factory is not None and (tls is not None or proxy is not None):
            raise ValueError("give TLS context and proxy to the transport that the factory makes")
        self.read_only = read_only
        self._timeouts = timeouts or Timeouts()
        self._origin = origin
        self._host = origin.url.partition("://")[2]
        self._proxy = None if is_loopback(origin.host) else proxy
        # Over http nothing is encrypted, and loading the certificates takes 20 ms.
        self._tls = tls or (shared_tls() if origin.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        self._httpx_transport_factory = httpx_transport_factory
        self._clients = {False: self._new_client(writes=False)}
        if not read_only:
            self._clients[True] = self._new_client(writes=True)

    async def send(self, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None) -> HttpResponse:
        if self.read_only:
            refuse_write(request)
        client = self._clients[request.writes]
        failure: TransportError
        client.calls += 1
        try:
            async with asyncio.timeout(self._timeouts.total(writes=request.writes)) as deadline:
                departure = _Departure(request, before_first_byte, deadline, through_proxy=self._proxy is not None)
                return await self._send_and_read(client, request, departure)
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
            kind, message = _why_no_answer(raised) if departure.sent else self._why_not_sent(raised, departure)
            failure = TransportError(kind, message, sent=departure.sent)
        finally:
            if request.writes:
                self._replace(client)
            client.calls -= 1
            if client.replaced and not client.calls:
                await client.httpx.aclose()
        failure.__cause__ = failure.__context__ = None  # httpx's own errors hold the request and its headers
        raise failure

    async def aclose(self) -> None:
        for client in self._clients.values():
            await client.httpx.aclose()

    async def _send_and_read(self, client: _Client, request: HttpRequest, departure: _Departure) -> HttpResponse:
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
                if len(body) > LONGEST_BODY:
                    raise TransportError(
                        TransportErrorKind.UNREADABLE,
                        f"the response is larger than {LONGEST_BODY >> 20} MiB",
                        sent=True,
                    )
        finally:
            await response.aclose()
        return HttpResponse(response.status_code, dict(response.headers.items()), bytes(body))

    def _httpx_request(self, request: HttpRequest, departure: _Departure) -> httpx.Request:
        """Build the request as it goes on the wire: only these headers, and the target as it was signed."""
        fields = {"Host": self._host, "Accept": "application/json", "Accept-Encoding": "gzip", **request.headers}
        if request.writes:
            fields["Content-Length"] = str(len(request.body))
        well_formed = all(_FIELD_NAME.fullmatch(name) and _FIELD_VALUE.fullmatch(fields[name]) for name in fields)
        if not well_formed or not _FIELD_VALUE.fullmatch(request.target) or " " in request.target:
            raise TransportError(TransportErrorKind.CONNECT, _NOT_HTTP, sent=False)
        times = self._timeouts
        read = times.order_read if request.writes else times.read
        timeout = httpx.Timeout(connect=times.connect, read=read, write=times.write, pool=times.pool)
        url = _signed_url(self._origin, request.target)
        httpx_request = httpx.Request(
            request.method,
            url,
            headers=fields,
            stream=departure.body,
            extensions={"timeout": timeout.as_dict(), "trace": departure.trace},
        )
        httpx_request.url = url
        return httpx_request

    def _new_client(self, *, writes: bool) -> _Client:
        if self._httpx_transport_factory is not None:
            return _Client(self._httpx_transport_factory(), writes=writes)
        limits = httpx.Limits(
            max_connections=MAX_CONCURRENT_WRITES if writes else MAX_CONCURRENT_READS,
            max_keepalive_connections=0 if writes else 8,
            keepalive_expiry=30,
        )
        transport = httpx.AsyncHTTPTransport(
            verify=self._tls,
            trust_env=False,
            http2=False,
            limits=limits,
            proxy=None if self._proxy is None else _httpx_proxy(self._proxy),
            retries=0,
        )
        return _Client(transport, writes=writes)

    def _why_not_sent(self, raised: Exception, departure: _Departure) -> tuple[TransportErrorKind, str]:
        """Return the part of the way that failed before sending, and a sentence that holds nothing of the request."""
        exchange = f"{self._origin.host}:{self._origin.port}"
        if isinstance(raised, httpx.PoolTimeout):
            _log.error("the connections were used up; they are replaced")
            return TransportErrorKind.POOL, "all connections of this program are in use"
        if isinstance(raised, (httpx.InvalidURL, httpx.LocalProtocolError)):
            return TransportErrorKind.CONNECT, _NOT_HTTP
        late = isinstance(raised, (TimeoutError, httpx.TimeoutException))
        if self._proxy is not None and not departure.handshaking:
            return TransportErrorKind.PROXY, _proxy_sentence(self._proxy, exchange, raised, departure, late=late)
        if departure.handshaking or _first_of_kind(raised, ssl.SSLError):
            why = "the handshake did not end in time" if late else "the handshake failed"
            if _first_of_kind(raised, ssl.SSLCertVerificationError):
                why = "its certificate was refused"
            return TransportErrorKind.TLS, f"the connection to {exchange} is not secure, {why}"
        if late:
            return TransportErrorKind.CONNECT, f"no connection in time to {exchange}"
        if _first_of_kind(raised, socket.gaierror):
            return TransportErrorKind.NAME, f"no such host: {self._origin.host}"
        return TransportErrorKind.CONNECT, f"no connection to {exchange} (refused, or no route)"

    def _replace(self, client: _Client) -> None:
        """Replace this client by a new one; it is closed when its last call has ended."""
        if self._clients[client.writes] is client:
            self._clients[client.writes] = self._new_client(writes=client.writes)
        client.replaced = True


class _Client:
    """One httpx client, the number of calls that use it, and whether a new one has replaced it."""

    def __init__(self, transport: httpx.AsyncBaseTransport, *, writes: bool) -> None:
        self.writes = writes
        self.calls = 0
        self.replaced = False
        # Other transports, and subclasses of httpx's own, may not trace.
        self.traces = type(transport) is httpx.AsyncHTTPTransport
        refuse_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        self.httpx = httpx.AsyncClient(
            transport=transport, cookies=refuse_cookies, trust_env=False, follow_redirects=False
        )


class _Departure:
    """The progress of a request, known from httpcore's trace events and never from the class of an exception.

    A CONNECT to a proxy is traced under the same names; only the request with our own body goes to the exchange.
    """

    def __init__(
        self,
        request: HttpRequest,
        before_first_byte: BeforeFirstByte | None,
        deadline: asyncio.Timeout,
        *,
        through_proxy: bool,
    ) -> None:
        self.body = httpx.ByteStream(request.body)
        self.sent = False
        self.refusal: BaseException | None = None
        self.connected = False
        self.handshaking = False
        self.proxy_status: int | None = None
        self._through_proxy = through_proxy
        self._writes = request.writes
        self._before_first_byte = before_first_byte
        self._deadline = deadline
        self._stream: Any = None

    async def leave(self) -> None:
        """Await `before_first_byte`; if it raises, nothing is sent."""
        if self._before_first_byte is not None:
            # The deadline is suspended: cut off, this step would be half done, and nobody would know which half.
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
        """Handle one of httpcore's trace events; httpcore continues when this returns and stops if it raises."""
        if self.sent and not self._writes:
            return  # once a read has been sent, its events no longer matter
        if event.endswith(".send_request_headers.started"):
            if detail["request"].stream is self.body:
                await self.leave()
        elif event.endswith(".connect_tcp.complete"):
            self.connected = True
            self._stream = detail["return_value"]
        elif self._through_proxy and not self.sent and event.endswith(".receive_response_headers.complete"):
            self.proxy_status = detail["return_value"][1]
        elif event.endswith(".start_tls.started"):
            self.handshaking = True
        elif event.endswith(".setup_socks5_connection.failed"):
            # httpcore drops this stream without closing it.
            await self._stream.aclose()
        elif self._writes and self.sent and self._stream is not None and event.endswith(".failed"):
            # The connection is closed next. Unsent bytes must not arrive later, when nobody waits for the reply.
            with suppress(OSError):
                self._stream.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)


class _SignedUrl(httpx.URL):
    """A URL whose path and query are byte for byte those that were signed.

    httpcore's extension `target` would do the same, but it would also reach the CONNECT to a proxy, which would then be
    asked for this path instead of the exchange's name and port.
    """

    def __init__(self, origin: Origin, target: str) -> None:
        super().__init__(origin.url + target)
        self._target = target.encode("ascii")

    @property
    def raw_path(self) -> bytes:
        return self._target


_signed_url = lru_cache(maxsize=128)(_SignedUrl)


def _httpx_proxy(proxy: Proxy) -> httpx.Proxy:
    auth = None if proxy.user is None and proxy.password is None else (proxy.user or "", proxy.password or "")
    return httpx.Proxy(proxy.address, auth=auth)


def _proxy_sentence(proxy: Proxy, exchange: str, raised: Exception, departure: _Departure, *, late: bool) -> str:
    """Say in which step a proxy failed; its own message is left out, since it may hold anything."""
    if not departure.connected:
        if late:
            return f"no connection in time to the proxy {proxy.address}"
        why = "no such host" if _first_of_kind(raised, socket.gaierror) else "refused, or no route"
        return f"no connection to the proxy {proxy.address} ({why})"
    if departure.proxy_status in _PROXY_WANTS_USER or (proxy.is_socks and str(raised).startswith(_SOCKS_WANTS_USER)):
        return f"the proxy {proxy.address} does not accept the user and password it was given, or wants some"
    if departure.proxy_status is not None:
        return f"the proxy {proxy.address} does not find or reach {exchange} (it answered {departure.proxy_status})"
    if late:
        return f"the proxy {proxy.address} opened no tunnel to {exchange} in time"
    if proxy.is_socks and isinstance(raised, httpx.ProxyError):
        return f"the proxy {proxy.address} does not find or reach {exchange}"
    return f"the proxy {proxy.address} closed the connection instead of opening a tunnel to {exchange}"


def _why_no_answer(raised: Exception) -> tuple[TransportErrorKind, str]:
    """Return the kind of a failure after the first byte, and a sentence that holds nothing of the request."""
    match raised:
        case TimeoutError():
            return TransportErrorKind.TIME_OUT, "the response did not end in time"
        case httpx.TimeoutException():
            return TransportErrorKind.TIME_OUT, "no answer in time"
        case httpx.DecodingError():
            return TransportErrorKind.UNREADABLE, _NOT_DECODED
        case httpx.TransportError() | OSError():
            return TransportErrorKind.BROKEN, "the connection was closed before the answer was complete"
    return TransportErrorKind.BROKEN, f"the connection failed ({type(raised).__name__})"


def _first_of_kind(raised: BaseException, kind: type[_Kind]) -> _Kind | None:
    """Return the first exception of this kind in the chain of causes."""
    cause: BaseException | None = raised
    while cause is not None and not isinstance(cause, kind):
        cause = cause.__cause__ or cause.__context__
    return cause

"""The protocol of a transport, which carries one request to the exchange and its response back.

Also parses the base URL of an exchange.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias
from urllib.parse import urlsplit

from tradetui.exchange.errors import ReadOnly
from tradetui.wire.errors import InvalidRequest

if TYPE_CHECKING:
    import ssl

MAX_CONCURRENT_READS = 16
MAX_CONCURRENT_WRITES = 4
"""Requests under way at the same time, each on a connection of its own."""


BeforeFirstByte: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited once, when the connection is open and only sending is left; if it raises, nothing is sent."""


def verifying_tls(ca_file: str) -> ssl.SSLContext:
    """Make a TLS context that verifies host names, and certificates by the authorities in a file (PEM).

    Unlike `ssl.create_default_context` it ignores SSLKEYLOGFILE, because a reader of that file could read the API key.
    Raises OSError if the file cannot be read or holds no certificates.
    """
    import ssl  # slow to import, and not needed for an exchange in this process

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cafile=ca_file)
    return context


class Timeouts(NamedTuple):
    """Seconds after which a part of a call is given up; `order_read` is the longer wait for the reply to a write."""

    connect: float = 3.0
    read: float = 5.0
    write: float = 3.0
    pool: float = 1.0
    order_read: float = 10.0

    def total(self, *, writes: bool) -> float:
        """Return the longest time in seconds that a whole call may take, even if bytes still arrive."""
        return self.connect + self.write + (self.order_read if writes else self.read) + 2.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it goes on the wire: `target` is path and query; the headers hold signature and passphrase."""

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def writes(self) -> bool:
        return self.method != "GET"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A whole response, whatever its status; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class TransportErrorKind(StrEnum):
    """Why no complete response came."""

    CONNECT = "connect"  # no connection: refused, no route, none in time
    NAME = "name"  # the exchange's name is not found
    PROXY = "proxy"  # the proxy was not reached, or opened no tunnel to the exchange
    TLS = "tls"  # the certificate or the handshake failed
    TIME_OUT = "time-out"
    BROKEN = "broken"  # the connection ended before the response did
    POOL = "pool"  # this program has used up its connections: its own fault
    UNREADABLE = "unreadable"  # too large, or not what its headers say


class TransportError(Exception):
    """No complete response came; `sent` says whether the request may have arrived. The message holds no secret."""

    def __init__(self, kind: TransportErrorKind, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.kind = kind
        self.sent = sent


class Transport(Protocol):
    """Sends requests and reads their responses; never sends one twice."""

    read_only: bool

    async def send(self, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None) -> HttpResponse:
        """Send once and read the whole response, within time-outs that do not run during `before_first_byte`.

        Raises:
            TransportError: no complete response came; its `sent` says whether the request may have arrived.
            ReadOnly: a write, on a transport built to read only.

        An error of `before_first_byte` is raised unchanged; then nothing was sent.
        """

    async def aclose(self) -> None:
        """Close every connection."""


def refuse_write(request: HttpRequest) -> None:
    if request.writes:
        raise ReadOnly("this program was started to read only", remedy="Start it without monitor mode to trade.")


_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.IGNORECASE)


class Origin(NamedTuple):
    """Scheme, host and port of a valid base URL."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The base URL without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        standard = {"https": 443, "http": 80}[self.scheme] == self.port
        return f"{self.scheme}://{host}" + ("" if standard else f":{self.port}")


def parse_base_url(base_url: str) -> Origin:
    """Parse a base URL: https, or http on loopback; nothing but scheme, host and port. Raises `InvalidRequest`."""
    try:
        parts = urlsplit(base_url.strip())
    except ValueError:  # a bad IPv6 address, or a letter that normalises to a separator; its message quotes the address
        shown = "***" if "@" in base_url else base_url
        raise _refused("an https address", shown, "Write it like https://api.example.com.") from None
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.username is not None or parts.password is not None:
        raise _refused("without user name and password", "***", "Leave them out; the API key goes elsewhere.")
    host = _in_ascii(host or "")
    if parts.scheme not in ("https", "http") or not host:
        raise _refused("an https address", base_url, "Write it like https://api.example.com.")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise _refused("scheme, host and port alone", base_url, "Leave out what follows the host.")
    if parts.scheme == "http" and not is_loopback(host):
        raise _refused("https, or http on this machine", base_url, "Write https://; http is for 127.0.0.1 only.")
    return Origin(parts.scheme, host, port or {"https": 443, "http": 80}[parts.scheme])


def _in_ascii(host: str) -> str:
    """Return a host name in ASCII (by RFC 3490 if it has other letters), or an empty string if it is not valid."""
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return ""
    return host if _NAME.fullmatch(host) else ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refused(rule: str, value: str, remedy: str) -> InvalidRequest:
    return InvalidRequest("base_url", rule, value, remedy=remedy)

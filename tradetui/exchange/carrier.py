"""What carries a request to the exchange and its answer back: the contract of network and in-process transport."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

from tradetui.exchange.errors import ReadOnly
from tradetui.wire.requests import InvalidRequest

LARGEST_BODY = 8 * 1024 * 1024
"""No answer of the interface is larger; what is, is not read to its end."""
READS_AT_ONCE = 16
WRITES_AT_ONCE = 4
"""Calls under way at the same time, each on a connection of its own."""


_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds until a part of a call is given up; `order_read` is the longer wait for the answer to a write."""

    connect: float = 3.0
    read: float = 5.0
    write: float = 3.0
    pool: float = 1.0
    order_read: float = 10.0

    def total(self, *, writes: bool) -> float:
        """The longest a call may take as a whole, whatever trickles in."""
        return self.connect + self.write + (self.order_read if writes else self.read) + 2.0


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it goes on the wire: `target` is path and query, the headers hold signature and passphrase."""

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def writes(self) -> bool:
        """Whether it may change anything."""
        return self.method != "GET"


@dataclass(frozen=True, slots=True)
class Incoming:
    """An answer as it came, whatever it says; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Trouble(StrEnum):
    """Why no answer came."""

    CONNECT = "connect"  # no connection: refused, no route, no such host
    TLS = "tls"  # the certificate or the handshake failed
    TIME_OUT = "time-out"
    BROKEN = "broken"  # the connection ended before the answer did
    POOL = "pool"  # the connections of this program are used up: a fault of its own
    UNREADABLE = "unreadable"  # too large, or not what its headers say


class CarryFailure(Exception):
    """No answer: the trouble, a sentence without secrets, and whether the request may have arrived."""

    def __init__(self, trouble: Trouble, sentence: str, *, sent: bool) -> None:
        super().__init__(sentence)
        self.trouble = trouble
        self.sent = sent


class Carrier(Protocol):
    """Carries one request at a time to its end; raises `CarryFailure`. It never sends anything twice."""

    read_only: bool

    async def send(self, outgoing: Outgoing) -> Incoming:
        """Send and wait for the whole answer, within the time-outs."""
        ...

    async def aclose(self) -> None:
        """Drop every connection."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the exchange is: scheme, host and port of a base URL that was checked."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        standard = {"https": 443, "http": 80}[self.scheme] == self.port
        return f"{self.scheme}://{host}" + ("" if standard else f":{self.port}")


def origin_of(base_url: str) -> Origin:
    """Check a base URL: https, or http on loopback; nothing but scheme, host and port. Raises `InvalidRequest`."""
    parts = urlsplit(base_url.strip())
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.username is not None or parts.password is not None:
        raise _refused("no user or password in it", "***", "Leave them out; the API key goes elsewhere.")
    host = _in_ascii(host or "")
    if parts.scheme not in ("https", "http") or not host:
        raise _refused("an https address", base_url, "Write it like https://api.example.com.")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise _refused("scheme, host and port alone", base_url, "Leave out what follows the host.")
    if parts.scheme == "http" and not is_loopback(host):
        raise _refused("https beyond this machine", base_url, "Write https://; http is for 127.0.0.1 only.")
    return Origin(parts.scheme, host, port or {"https": 443, "http": 80}[parts.scheme])


def _in_ascii(host: str) -> str:
    """The name as it is asked for (RFC 3490 where it has other letters), or nothing where it is no name of a host."""
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
    return InvalidRequest("base_url", rule, value, remedy)


def refuse_write(outgoing: Outgoing) -> None:
    """Stop a request that is not a GET in a carrier built to read only."""
    if outgoing.writes:
        raise ReadOnly("this program was started to read only", remedy="Start it without monitor mode to trade.")

"""The protocol of a transport, which carries one request to the exchange and its response back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias

from tradetui.exchange.errors import ReadOnly

MAX_CONCURRENT_READS = 16
MAX_CONCURRENT_WRITES = 4
"""Requests under way at the same time, each on a connection of its own."""


BeforeFirstByte: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited once, when a connection stands and only sending is left to do; if it raises, nothing is sent."""


class Timeouts(NamedTuple):
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
    """Why no whole response came."""

    CONNECT = "connect"  # no connection: refused, no route, none in time
    NAME = "name"  # the exchange's name is not found
    PROXY = "proxy"  # the proxy was not reached, or opened no tunnel to the exchange
    TLS = "tls"  # the certificate or the handshake failed
    TIME_OUT = "time-out"
    BROKEN = "broken"  # the connection ended before the response did
    POOL = "pool"  # the connections of this program are used up: a fault of its own
    UNREADABLE = "unreadable"  # too large, or not what its headers say


class TransportError(Exception):
    """No whole response came; `sent` says whether the request may have arrived. The message holds no secret."""

    def __init__(self, kind: TransportErrorKind, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.kind = kind
        self.sent = sent


class Transport(Protocol):
    """Sends requests and reads their responses. It never sends anything twice."""

    read_only: bool

    async def send(self, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None) -> HttpResponse:
        """Send once and read the whole response, within the time-outs, which `before_first_byte` does not count for.

        Raises:
            TransportError: no whole response came; its `sent` says whether the request may have arrived.
            ReadOnly: a write, on a transport built to read only.

        What `before_first_byte` raises is raised as it is, and nothing was sent.
        """

    async def aclose(self) -> None:
        """Drop every connection."""


def refuse_write(request: HttpRequest) -> None:
    """Stop a request that is not a GET in a transport built to read only."""
    if request.writes:
        raise ReadOnly("this program was started to read only", remedy="Start it without monitor mode to trade.")

"""The clients: `ExchangeReader` reads, `TradingClient` also reverses, `ExchangeClient` also creates accounts and keys.

async with ExchangeClient(Credentials(key, secret, passphrase), "https://api.example.com") as client:
    page = await client.futures.fills(product_type="USDT-FUTURES")
"""

from __future__ import annotations

import asyncio
import copy
import ssl
from collections.abc import AsyncIterator, Callable
from functools import cached_property, partial
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from tradetui.exchange import paging
from tradetui.exchange.calls.reads import Reads
from tradetui.exchange.calls.signed_call import BeforeSend, Connect, SignedCalls, already_open
from tradetui.exchange.calls.writes import Writes
from tradetui.exchange.capabilities import Capabilities
from tradetui.exchange.clock import Clock, ServerClock, SystemClock
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.endpoint_methods import (
    BrokerReading,
    BrokerWriting,
    ConvertReading,
    CopyKeyCreation,
    FuturesReading,
    FuturesTrading,
    PublicReading,
    SpotReading,
    SubaccountCreation,
)
from tradetui.exchange.errors import ReadOnly
from tradetui.exchange.rate_limit.budget import Budget, Priority
from tradetui.exchange.rate_limit.local_budget import LocalBudget
from tradetui.exchange.transport.base_url import parse_base_url
from tradetui.exchange.transport.in_process import AsgiApp, InProcessTransport
from tradetui.exchange.transport.transport import Timeouts, Transport
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Time
from tradetui.wire.requests.request import Request

if TYPE_CHECKING:
    from tradetui.exchange.transport.http import HttpxTransportFactory
    from tradetui.exchange.transport.proxy import Proxy

Row = TypeVar("Row", bound=Record)
Area = TypeVar("Area")

CREATING = frozenset({"subaccounts.create_batch", "broker.create_subaccount", "copytrading.create_api_key"})
"""Endpoints that make accounts or keys, by the catalogue's names."""
DEFAULT_SHARE = 0.5
"""Of every limit, where no budget is given: other programs share the account."""


def _area(kind: Callable[[Any], Area]) -> Area:
    """A property of clients: the endpoints of one area, which call through the client that has it."""
    return cast("Area", property(kind, doc=kind.__doc__))


class ExchangeReader:
    """Reads every reading endpoint; nothing in it can send anything else than a GET."""

    _may_write = False

    def __init__(
        self,
        credentials: Credentials | None,
        base_url: str = "",
        *,
        environment: str = "live",
        locale: str = "en-US",
        priority: Priority = Priority.INTERACTIVE,
        budget: Budget | None = None,
        account_kind: str | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
        timeouts: Timeouts | None = None,
        tls: ssl.SSLContext | None = None,
        proxy: Proxy | None = None,
        app: AsgiApp | None = None,
        transport: Transport | None = None,
        httpx_transport_factory: HttpxTransportFactory | None = None,
    ) -> None:
        """Build a client; nothing is connected or sent before its first call.

        Args:
            credentials: key, secret and passphrase; None where only public endpoints are read.
            base_url: https, or http on loopback; not needed with `app` or `transport`.
            environment: "live" or "demo".
            locale: the language of the exchange's messages, such as "en-US".
            priority: who waits. For a person a read that fails for a passing reason is tried once more.
            budget: counts calls and is closed with the client. By default it counts this process alone and half of
                every limit; `SharedBudget` counts with all processes of the user, `NoBudget` not at all.
            account_kind: "ordinary", "copy_trader" or "broker"; None where it is not known.
            clock: tells the time, in Unix milliseconds and in monotonic seconds.
            random: where chance comes from.
            timeouts: of connecting, sending and reading, in seconds.
            tls: verifies certificates in place of the usual context.
            proxy: the proxy to go through (`parse_proxy`); the environment is never asked for one.
            app: an ASGI application in this process, in place of the network.
            transport: whatever carries requests, in place of the network.
            httpx_transport_factory: makes an httpx transport each time it is called.

        Raises:
            InvalidRequest: the base URL breaks a rule.
            ValueError: a client that only reads was given a transport that can write.
        """
        read_only = not self._may_write
        timeouts = timeouts or Timeouts()
        if app is not None:
            transport = InProcessTransport(app, timeouts=timeouts, read_only=read_only)
        if transport is None:
            origin = parse_base_url(base_url)

            def load() -> Transport:
                from tradetui.exchange.transport.http import HttpTransport  # large, as the TLS context is

                return HttpTransport(
                    origin,
                    timeouts=timeouts,
                    read_only=read_only,
                    tls=tls,
                    proxy=proxy,
                    httpx_transport_factory=httpx_transport_factory,
                )

            connect: Connect = partial(asyncio.to_thread, load)
        elif read_only and not transport.read_only:
            raise ValueError("a reader needs a transport that is read-only itself")
        else:
            connect = already_open(transport)
        random = random or Random()
        self.clock = clock or SystemClock()
        self.server_clock = ServerClock(self.clock)
        self.budget: Budget = budget or LocalBudget(share=DEFAULT_SHARE, clock=self.clock, random=random)
        if account_kind is not None:
            self.budget.account_kind = account_kind
        self.connection_status = ConnectionStatus(self.clock, self.server_clock, self.budget)
        self.capabilities = Capabilities(self.clock)
        self.priority = priority
        self._calls = SignedCalls(
            connect,
            credentials,
            budget=self.budget,
            clock=self.clock,
            server_clock=self.server_clock,
            connection_status=self.connection_status,
            timeouts=timeouts,
            environment=environment,
            locale=locale,
            read_only=read_only,
        )
        self._reads = Reads(self._calls, capabilities=self.capabilities, server_clock=self.server_clock, random=random)

    futures = _area(FuturesReading)
    spot = _area(SpotReading)
    convert = _area(ConvertReading)
    broker = _area(BrokerReading)
    public = _area(PublicReading)

    def with_priority(self, priority: Priority) -> Self:
        """The same client, connections and budget, asking with another priority."""
        other = copy.copy(self)
        other.priority = priority
        return other

    async def prepare(self) -> None:
        """Load the HTTP library and the TLS context in a thread now, rather than with the first call."""
        await self._calls.prepare()

    async def read(self, request: Request[Row]) -> Reply[Row]:
        """Read one page of what the request asks for; raises `ExchangeError`."""
        endpoint = endpoint_of(type(request))
        if endpoint.writes:
            raise ReadOnly(
                "this endpoint changes something and cannot be read",
                endpoint=endpoint.name,
                remedy="Use `write` of an ExchangeClient.",
            )
        return await self._reads.read(endpoint, request, self.priority)

    def pages(
        self, request: Request[Row], *, start_time: Time = None, end_time: Time = None
    ) -> AsyncIterator[Reply[Row]]:
        """Read every page of what the request asks for, each row once; raises `ExchangeError`.

        A stretch given here, and not in the request, may be of any length: it is cut into spans that the exchange
        allows. It ends at `end_time` (now); a `start_time` of 0 goes back as far as the exchange reports, ten years at
        most.
        """
        return aiter(self.walk(request, start_time=start_time, end_time=end_time))

    def walk(self, request: Request[Row], *, start_time: Time = None, end_time: Time = None) -> paging.PageWalk[Row]:
        """The same pages one at a time, to be gone on with after an error or a cancellation."""
        return paging.walk(
            self.read,
            request,
            now_ms=self.server_clock.now_ms,
            start_ms=_milliseconds(request, "startTime", start_time),
            end_ms=_milliseconds(request, "endTime", end_time),
        )

    async def aclose(self) -> None:
        """Close every connection and the budget; a write under way is given two seconds to be answered."""
        await self._calls.aclose()
        await self.budget.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class TradingClient(ExchangeReader):
    """Reads everything and reverses positions; it has nothing that could create an account or a key.

    A write is sent at most once, ever.
    """

    _may_write = True
    _may_create = False

    @cached_property
    def _writes(self) -> Writes:
        return Writes(self._calls, self._reads, self.server_clock)

    futures = _area(FuturesTrading)

    async def write(self, request: Request[Row], *, before_send: BeforeSend | None = None) -> Reply[Row]:
        """Send a write once, ever.

        `before_send` is awaited with the request's time stamp (Unix ms) when only the sending is left to do; if it
        raises, nothing is sent.

        Raises:
            InvalidRequest: the request breaks a rule; nothing was sent.
            NotSent: nothing left this machine.
            AuthenticationFailed, PermissionRefused, RateLimited, Rejected: the exchange refused; nothing was done.
            OutcomeUnknown: it may have been done; also where the reply is about another order than the request.
        """
        endpoint = endpoint_of(type(request))
        if endpoint.name in CREATING and not self._may_create:
            raise ReadOnly(
                "this session may not create accounts or keys",
                endpoint=endpoint.name,
                remedy="Use an ExchangeClient; for a profile set account_admin = true.",
            )
        return await self._writes.write(endpoint, request, before_send)


class ExchangeClient(TradingClient):
    """Reads everything, reverses positions, and creates accounts and keys. A write is sent at most once, ever."""

    _may_create = True

    broker = _area(BrokerWriting)
    subaccounts = _area(SubaccountCreation)
    copytrading = _area(CopyKeyCreation)


def _milliseconds(request: Request[Any], name: str, moment: Time) -> int | None:
    return None if moment is None else int(request.parameters[name].read(moment))

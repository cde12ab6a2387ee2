"""The client: `ExchangeReader` can only read, `ExchangeClient` can also write.

async with ExchangeClient(Credentials(key, secret, passphrase), "https://api.example.com") as client:
    page = await client.futures.fills(product_type="USDT-FUTURES")
"""

from __future__ import annotations

import copy
import ssl
from collections.abc import AsyncIterator
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tradetui.exchange import paging
from tradetui.exchange import signed_call as calling
from tradetui.exchange.capabilities import Capabilities
from tradetui.exchange.clock import Clock, ServerClock, SystemClock
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.endpoints.broker import BrokerReading, BrokerWriting
from tradetui.exchange.endpoints.convert import ConvertReading
from tradetui.exchange.endpoints.creation import CopyKeyCreation, SubaccountCreation
from tradetui.exchange.endpoints.futures import FuturesReading, FuturesTrading
from tradetui.exchange.endpoints.group import Time
from tradetui.exchange.endpoints.public import PublicReading
from tradetui.exchange.endpoints.spot import SpotReading
from tradetui.exchange.errors import ReadOnly
from tradetui.exchange.rate_limit.limiter import Budget, LocalBudget, Priority
from tradetui.exchange.reads import Reads
from tradetui.exchange.transport.base_url import parse_base_url
from tradetui.exchange.transport.in_process import AsgiApp, InProcessTransport
from tradetui.exchange.transport.transport import Timeouts, Transport
from tradetui.exchange.writes import Writes
from tradetui.wire.catalogue import Endpoint
from tradetui.wire.catalogue import endpoint as catalogued
from tradetui.wire.reply import Reply
from tradetui.wire.requests.request import Request

if TYPE_CHECKING:
    from tradetui.exchange.transport.http import HttpxTransportFactory
    from tradetui.exchange.transport.proxy import Proxy

CREATING = frozenset({"subaccounts.create_batch", "broker.create_subaccount", "copytrading.create_api_key"})
"""Endpoints that make accounts or keys, by the catalogue's names."""
DEFAULT_SHARE = 0.5
"""Of every limit, where no budget is given: other programs share the account."""


class ExchangeReader:
    """Reads every reading endpoint; nothing in it can send anything else than a GET.

    `base_url` is https, or http on loopback. `environment` is "live" or "demo". `priority` says who waits: for a person
    a read that fails for a passing reason is tried once more. Clock, chance, budget and transport are arguments; the
    budget, which the client closes, counts this process alone and half of every limit unless another is given
    (`SharedBudget` counts with all processes of the user). Over the network, `tls` verifies certificates in place of
    the usual one and `proxy` is the proxy to go through (`parse_proxy`; the environment's is never asked here), or
    `httpx_transport_factory` makes one of httpx's transports each time it is called; the other end of `transport` is
    whatever it is.
    """

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
        transport: Transport | None = None,
        httpx_transport_factory: HttpxTransportFactory | None = None,
    ) -> None:
        read_only = not self._may_write
        timeouts = timeouts or Timeouts()
        if transport is None:
            connect = calling.network(
                parse_base_url(base_url),
                timeouts,
                read_only=read_only,
                tls=tls,
                proxy=proxy,
                httpx_transport_factory=httpx_transport_factory,
            )
        elif read_only and not transport.read_only:
            raise ValueError("a reader needs a transport that is read-only itself")
        else:
            connect = calling.existing(transport)
        random = random or Random()
        self.clock = clock or SystemClock()
        self.server_clock = ServerClock(self.clock)
        self.budget: Budget = budget or LocalBudget(share=DEFAULT_SHARE, clock=self.clock, random=random)
        if account_kind is not None:
            self.budget.account_kind = account_kind
        self.link = ConnectionStatus(self.clock, self.server_clock, self.budget)
        self.capabilities = Capabilities(self.clock)
        self.priority = priority
        self._credentials = credentials
        self._calls = calling.SignedCalls(
            connect,
            credentials,
            budget=self.budget,
            clock=self.clock,
            server_clock=self.server_clock,
            link=self.link,
            timeouts=timeouts,
            environment=environment,
            locale=locale,
            read_only=read_only,
        )
        self._reads = Reads(
            self._calls,
            credentials=credentials,
            capabilities=self.capabilities,
            server_clock=self.server_clock,
            link=self.link,
            random=random,
        )
        self._furnish()

    @classmethod
    def in_process(
        cls, app: AsgiApp, credentials: Credentials | None, *, timeouts: Timeouts | None = None, **options: Any
    ) -> Self:
        """A client whose exchange is an ASGI application in this process; options as for the constructor."""
        transport = InProcessTransport(app, timeouts=timeouts, read_only=not cls._may_write)
        return cls(credentials, transport=transport, timeouts=timeouts, **options)

    def _furnish(self) -> None:
        self.futures: FuturesReading = FuturesReading(self)
        self.spot = SpotReading(self)
        self.convert = ConvertReading(self)
        self.broker: BrokerReading = BrokerReading(self)
        self.public = PublicReading(self)

    def with_priority(self, priority: Priority) -> Self:
        """The same client, connections and budget, asking with another priority."""
        other = copy.copy(self)
        other.priority = priority
        other._furnish()
        return other

    async def prepare(self) -> None:
        """Load the HTTP library and the TLS context in a thread now, rather than with the first call."""
        await self._calls.prepare()

    async def read(self, endpoint: Endpoint | str, request: Request[Any] | None = None) -> Reply[Any]:
        """Read one page of an endpoint of the catalogue; raises `ExchangeError`."""
        what = catalogued(endpoint) if isinstance(endpoint, str) else endpoint
        if what.writes:
            raise ReadOnly(
                "this endpoint changes something and cannot be read",
                endpoint=what.name,
                remedy="Use `write` of an ExchangeClient.",
            )
        return await self._reads.read(what, request if request is not None else what.request(), self.priority)

    def pages(
        self,
        endpoint: Endpoint | str,
        request: Request[Any] | None = None,
        *,
        all_spans: bool = False,
        start_time: Time = None,
        end_time: Time = None,
    ) -> AsyncIterator[Reply[Any]]:
        """Read all pages, each row once.

        A stretch given here may be of any length, it is cut into spans that the exchange allows; `all_spans` without
        a start goes back as far as the exchange tells.
        """
        walked = self.walk(endpoint, request, all_spans=all_spans, start_time=start_time, end_time=end_time)
        return paging.replies(walked)

    def walk(
        self,
        endpoint: Endpoint | str,
        request: Request[Any] | None = None,
        *,
        all_spans: bool = False,
        start_time: Time = None,
        end_time: Time = None,
    ) -> paging.PageWalk:
        """The same pages one at a time, to be gone on with after an error or a cancellation."""
        what = catalogued(endpoint) if isinstance(endpoint, str) else endpoint
        first_request = request if request is not None else what.request()
        return paging.walk(
            self.read,
            what,
            first_request,
            now_ms=self.server_clock.now_ms,
            start_ms=_milliseconds(what, "startTime", start_time, first_request),
            end_ms=_milliseconds(what, "endTime", end_time, first_request),
            all_spans=all_spans,
        )

    async def aclose(self) -> None:
        """Close every connection and the budget; a write under way is given two seconds to be answered."""
        await self._calls.aclose()
        await self.budget.aclose()

    async def __aenter__(self) -> Self:
        """Enter; nothing is sent yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        await self.aclose()


class ExchangeClient(ExchangeReader):
    """Reads and writes. A write is sent at most once, ever.

    Where it may not create accounts and keys (`may_create`) it has nothing that could, and refuses to.
    """

    _may_write = True

    def __init__(self, *given: Any, may_create: bool = True, **options: Any) -> None:
        self._may_create = may_create
        super().__init__(*given, **options)

    def _furnish(self) -> None:
        super()._furnish()
        self._writes = Writes(
            self._calls,
            self._reads,
            credentials=self._credentials,
            server_clock=self.server_clock,
            link=self.link,
        )
        self.futures: FuturesTrading = FuturesTrading(self, self.write)
        if self._may_create:
            self.broker: BrokerWriting = BrokerWriting(self, self.write)
            self.subaccounts = SubaccountCreation(self.write)
            self.copytrading = CopyKeyCreation(self.write)

    async def write(
        self, endpoint: Endpoint | str, request: Request[Any], *, before_send: calling.BeforeSend | None = None
    ) -> Reply[Any]:
        """Send a write of the catalogue once; see `futures.reverse` for what it raises."""
        what = catalogued(endpoint) if isinstance(endpoint, str) else endpoint
        if what.name in CREATING and not self._may_create:
            raise ReadOnly(
                "this session may not create accounts or keys",
                endpoint=what.name,
                remedy="Set account_admin = true in the profile.",
            )
        return await self._writes.write(what, request, before_send)


def _milliseconds(endpoint: Endpoint, name: str, given: Time, request: Request[Any]) -> int | None:
    if given is None:
        return getattr(request, {"startTime": "start_time", "endTime": "end_time"}[name], None) or None
    milliseconds: int = endpoint.request.parameter(name).read(given)
    return milliseconds

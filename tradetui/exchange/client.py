"""The clients: `ExchangeReader` reads, `TradingClient` also reverses, `ExchangeClient` also creates accounts and keys.

async with ExchangeClient(Credentials(key, secret, passphrase), "https://api.example.com") as client:
    page = await client.futures.fills(product_type="USDT-FUTURES")

The endpoints as methods, area by area: a coroutine for each, and an iterator over pages for each paged one.

A method takes the parameters, rules and rows of its request. An area uses only the client's `read`, `pages` and
`write`. The thirteen endpoints of the interface are enough for the whole program; the live exchange also has the
endpoints "beyond the interface".
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import cached_property, partial
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

from tradetui.exchange import paging
from tradetui.exchange.calls.reads import Reads
from tradetui.exchange.calls.signed_call import BeforeSend, Connect, SignedCalls, already_open
from tradetui.exchange.calls.writes import Writes
from tradetui.exchange.capabilities import Capabilities
from tradetui.exchange.clock import Clock, ServerClock, SystemClock
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.errors import ReadOnly
from tradetui.exchange.rate_limit.budget import Budget, Priority
from tradetui.exchange.transport.in_process import AsgiApp, InProcessTransport
from tradetui.exchange.transport.transport import MAX_CONCURRENT_READS, Timeouts, Transport, parse_base_url
from tradetui.exchange.unified import AccountReads, Interface
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.error_codes import UNIFIED_ACCOUNT_REMEDY
from tradetui.wire.models import api_key, futures, futures_accounts, public, reversal, spot, subaccounts, unified
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Time
from tradetui.wire.requests.request import Request

if TYPE_CHECKING:
    from tradetui.exchange.transport.http import HttpxTransportFactory
    from tradetui.exchange.transport.proxy import Proxy
    from tradetui.wire.endpoints.endpoint import Endpoint

P = ParamSpec("P")
Row = TypeVar("Row", bound=Record)

_ROWS = """rows newest first. Sizes, prices and amounts are Decimal, times aware UTC datetimes, ids text,
        secrets SecretStr, missing fields None. `received` of a row holds every field as it came."""
_READ_ERRORS = """InvalidRequest: a parameter breaks its rule; nothing was sent.
        NotSent: nothing left this machine.
        AuthenticationFailed, PermissionRefused, RateLimited, Rejected, Busy: the exchange refused.
        Unreachable, UnreadableReply: no answer came, or none that can be read."""
_WRITE_ERRORS = """InvalidRequest: a parameter breaks its rule; nothing was sent.
        NotSent: nothing left this machine.
        AuthenticationFailed, PermissionRefused, RateLimited, Rejected: the exchange refused; nothing was done.
        OutcomeUnknown: it may have been done. Look at the exchange before doing it again."""


def one_page(request: Callable[P, Request[Row]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, Reply[Row]]]:
    """Make the method of an endpoint that reads one page."""

    async def method(self: Any, /, *args: P.args, **parameters: P.kwargs) -> Reply[Row]:
        client: ExchangeReader = self._client
        return await client.read(request(*args, **parameters))

    return _described(method, request, summary="Read one page. {purpose}", errors=_READ_ERRORS)


def every_page(request: Callable[P, Request[Row]]) -> Callable[Concatenate[Any, P], AsyncIterator[Reply[Row]]]:
    """Make the method of an endpoint that reads every page."""

    def method(self: Any, /, *args: P.args, **parameters: P.kwargs) -> AsyncIterator[Reply[Row]]:
        client: ExchangeReader = self._client
        start_time = cast("Time", parameters.get("start_time"))
        if start_time is None:
            return client.pages(request(*args, **parameters))
        end_time = cast("Time", parameters.get("end_time"))
        # The stretch may be longer than one request allows: `pages` cuts it, and each piece gets times of its own. The
        # times set here are not used, but some requests cannot be made without times.
        parameters.update(start_time=0, end_time=0)
        return client.pages(request(*args, **parameters), start_time=start_time, end_time=end_time)

    summary = """Read every page, each row once. {purpose}

    With `start_time` the period from there to `end_time` (now) may be of any length: it is read in spans that the
    exchange allows. `start_time=0` goes back as far as the exchange reports, ten years at most."""
    return _described(method, request, summary=summary, errors=_READ_ERRORS, iterates=True)


def sent_once(request: Callable[P, Request[Row]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, Reply[Row]]]:
    """Make the method of an endpoint that sends; it never sends twice."""

    async def method(self: Any, /, *args: P.args, **parameters: P.kwargs) -> Reply[Row]:
        client: TradingClient = self._client
        return await client.write(request(*args, **parameters))

    return _described(method, request, summary="Send at most once. {purpose}", errors=_WRITE_ERRORS)


Method = TypeVar("Method", bound=Callable[..., Any])


def _described(method: Method, request: object, *, summary: str, errors: str, iterates: bool = False) -> Method:
    """Give a method the name, signature and documentation of its endpoint, for `help` and for editors.

    In the summary `{purpose}` stands for the docstring of the request's class.
    """
    request_type = cast("type[Request[Any]]", request)
    endpoint = endpoint_of(request_type)
    name = endpoint.name.partition(".")[2]
    result = f"Reply[{endpoint.row.__name__}]"
    if iterates:
        name, result = f"iter_{name}", f"AsyncIterator[{result}]"
    purpose = (inspect.getdoc(request_type) or "").replace("\n", "\n    ")
    method.__name__ = method.__qualname__ = name
    method.__signature__ = _signature(request_type, result)  # type: ignore[attr-defined]
    method.__doc__ = f"""{summary.format(purpose=purpose)}

    {_call(endpoint)}

    Args:
        {_arguments(request_type)}

    Returns:
        {result}: {_ROWS}

    Raises:
        {errors}
    """
    return method


def _signature(request: type[Request[Any]], result: str) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, field in request.model_fields.items():
        default = inspect.Parameter.empty if field.is_required() else field.default
        parameters.append(inspect.Parameter(name, keyword, default=default, annotation=field.annotation))
    return inspect.Signature(parameters, return_annotation=result)


def _call(endpoint: Endpoint) -> str:
    limit, rule = endpoint.limit, endpoint.time
    whom = "account" if limit.scope == "uid" else "network address"
    window = "a second" if limit.window_s == 1 else f"in {limit.window_s} seconds"
    call = f"{endpoint.method} {endpoint.path}, at most {limit.calls} calls {window} for one {whom}."
    return call if rule is None else f"{call}\n    A call spans at most {rule.span_text.rstrip(',')}."


def _arguments(request: type[Request[Any]]) -> str:
    arguments = [f"{parameter.attribute}: {parameter.explanation}" for parameter in request.parameters.values()]
    return "\n        ".join(arguments) or "none."


class EndpointArea:
    def __init__(self, client: ExchangeReader) -> None:
        self._client = client


class FuturesReading(EndpointArea):
    """Futures: accounts, pending orders, fills and trigger orders; beyond the interface also positions, bills and
    markets.
    """

    accounts = one_page(futures_accounts.AccountListRequest)
    pending_orders = one_page(futures.PendingOrdersRequest)
    iter_pending_orders = every_page(futures.PendingOrdersRequest)
    fills = one_page(futures.FuturesFillsRequest)
    iter_fills = every_page(futures.FuturesFillsRequest)
    triggers = one_page(futures.TriggerHistoryRequest)
    iter_triggers = every_page(futures.TriggerHistoryRequest)
    positions = one_page(futures_accounts.PositionsRequest)
    order_detail = one_page(futures.OrderDetailRequest)
    live_triggers = one_page(futures.LiveTriggersRequest)
    iter_live_triggers = every_page(futures.LiveTriggersRequest)
    account = one_page(futures_accounts.AccountSettingsRequest)
    subaccount_assets = one_page(futures_accounts.SubaccountAssetsRequest)
    bills = one_page(futures_accounts.FuturesBillsRequest)
    iter_bills = every_page(futures_accounts.FuturesBillsRequest)
    closed_positions = one_page(futures_accounts.ClosedPositionsRequest)
    iter_closed_positions = every_page(futures_accounts.ClosedPositionsRequest)
    contracts = one_page(public.ContractsRequest)
    ticker = one_page(public.TickerRequest)
    tickers = one_page(public.TickersRequest)
    funding_rates = one_page(public.FundingRatesRequest)


class SpotReading(EndpointArea):
    """Spot: fills and the ledger; beyond the interface also the owner of the key."""

    fills = one_page(spot.SpotFillsRequest)
    iter_fills = every_page(spot.SpotFillsRequest)
    bills = one_page(spot.SpotBillsRequest)
    iter_bills = every_page(spot.SpotBillsRequest)
    account_info = one_page(api_key.AccountInfoRequest)


class ConvertReading(EndpointArea):
    """Instant swaps of one coin for another."""

    history = one_page(spot.ConvertHistoryRequest)
    iter_history = every_page(spot.ConvertHistoryRequest)


class BrokerReading(EndpointArea):
    """A broker's sub-accounts: their deposits and withdrawals, and their e-mail."""

    transfers = one_page(subaccounts.TransfersRequest)
    iter_transfers = every_page(subaccounts.TransfersRequest)
    subaccount_email = one_page(subaccounts.SubaccountEmailRequest)


class PublicReading(EndpointArea):
    """Public endpoints, which need no key: the exchange's clock."""

    time = one_page(public.ServerTimeRequest)


class UnifiedReading(EndpointArea):
    """Unified accounts (interface v3): assets, settings, positions, orders, fills and strategy orders, as received."""

    assets = one_page(unified.UnifiedAssetsRequest)
    settings = one_page(unified.UnifiedSettingsRequest)
    key = one_page(unified.UnifiedKeyRequest)
    positions = one_page(unified.UnifiedPositionsRequest)
    orders = one_page(unified.UnifiedOrdersRequest)
    iter_orders = every_page(unified.UnifiedOrdersRequest)
    fills = one_page(unified.UnifiedFillsRequest)
    iter_fills = every_page(unified.UnifiedFillsRequest)
    triggers = one_page(unified.UnifiedTriggersRequest)
    iter_triggers = every_page(unified.UnifiedTriggersRequest)
    live_triggers = one_page(unified.UnifiedLiveTriggersRequest)
    closed_positions = one_page(unified.UnifiedClosedPositionsRequest)
    iter_closed_positions = every_page(unified.UnifiedClosedPositionsRequest)


class FuturesTrading(FuturesReading):
    """Futures: accounts, pending orders, fills, trigger orders, and the reversal of a position."""

    reverse = sent_once(reversal.ReversalRequest)


class BrokerWriting(BrokerReading):
    """A broker's sub-accounts: deposits, withdrawals, e-mail, and the creation of one."""

    create_subaccount = sent_once(subaccounts.CreateSubaccountRequest)


class SubaccountCreation(EndpointArea):
    """Virtual sub-accounts, each created with an API key whose secret the reply holds."""

    create_batch = sent_once(subaccounts.CreateBatchRequest)


class CopyKeyCreation(EndpointArea):
    """The API key of a copy trader, whose secret the reply holds."""

    create_api_key = sent_once(subaccounts.CreateCopyKeyRequest)


Area = TypeVar("Area")

CREATING = frozenset({"subaccounts.create_batch", "broker.create_subaccount", "copytrading.create_api_key"})
"""Endpoints that create accounts or keys, by their names in the catalogue."""
DEFAULT_SHARE = 0.5
"""The share of every limit that is used if no budget is given: other programs share the account."""


def _area(kind: Callable[[Any], Area]) -> Area:
    """Make a property of clients: the endpoints of one area, which call through the client."""
    return cast("Area", property(kind, doc=kind.__doc__))


class ExchangeReader:
    """Reads every reading endpoint; it can send nothing but GET requests."""

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
        interface: Interface = Interface.AUTO,
        clock: Clock | None = None,
        random: Random | None = None,
        timeouts: Timeouts | None = None,
        concurrent_reads: int = MAX_CONCURRENT_READS,
        tls: ssl.SSLContext | None = None,
        proxy: Proxy | None = None,
        app: AsgiApp | None = None,
        transport: Transport | None = None,
        httpx_transport_factory: HttpxTransportFactory | None = None,
    ) -> None:
        """Build a client; nothing is connected or sent before its first call.

        Args:
            credentials: key, secret and passphrase; None if only public endpoints are read.
            base_url: https, or http on loopback; not needed with `app` or `transport`.
            environment: "live" or "demo".
            locale: the language of the exchange's messages, such as "en-US".
            priority: whether a person or a feed waits. For a person a passing error of a read is retried once.
            budget: counts calls and is closed with the client. By default it counts this process alone and half of
                every limit; one with a directory counts with all processes of the user.
            account_kind: "ordinary", "copy_trader" or "broker"; None if it is not known.
            interface: whether the account is read as a classic or a unified one; `AUTO` goes by the exchange's answers.
            clock: tells the time, in Unix milliseconds and in monotonic seconds.
            random: the source of random numbers.
            timeouts: of connecting, sending and reading, in seconds.
            concurrent_reads: how many reads may be under way at once, each on a connection of its own.
            tls: verifies certificates in place of the usual context.
            proxy: the proxy to go through (`parse_proxy`); the environment is never asked for one.
            app: an ASGI application in this process, in place of the network.
            transport: carries requests in place of the network.
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
                from tradetui.exchange.transport.http import HttpTransport  # large, and so is the TLS context

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
        self.budget: Budget = budget or Budget(share=DEFAULT_SHARE, clock=self.clock, random=random)
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
            concurrent_reads=concurrent_reads,
        )
        self._reads = Reads(self._calls, capabilities=self.capabilities, server_clock=self.server_clock, random=random)
        self._account_reads = AccountReads(
            self._reads, interface=interface, capabilities=self.capabilities, server_clock=self.server_clock
        )

    futures = _area(FuturesReading)
    spot = _area(SpotReading)
    convert = _area(ConvertReading)
    broker = _area(BrokerReading)
    public = _area(PublicReading)
    unified = _area(UnifiedReading)

    def with_priority(self, priority: Priority) -> Self:
        """Return the same client, with the same connections and budget, but another priority."""
        other = copy.copy(self)
        other.priority = priority
        return other

    async def prepare(self) -> None:
        """Load the HTTP library and the TLS context in a thread now rather than at the first call."""
        await self._calls.prepare()

    async def read(self, request: Request[Row]) -> Reply[Row]:
        """Read one page of a request; raises `ExchangeError`."""
        endpoint = endpoint_of(type(request))
        if endpoint.writes:
            raise ReadOnly(
                "this endpoint changes something and cannot be read",
                endpoint=endpoint.name,
                remedy="Use `write` of an ExchangeClient.",
            )
        return await self._account_reads.read(request, self.priority)

    @property
    def is_unified(self) -> bool:
        """Whether the account is a unified one, as far as is known: it is read by interface v3."""
        return self._account_reads.is_unified

    @property
    def is_classic(self) -> bool:
        """Whether the account is a classic one, as far as is known: for a unified or moving one nothing is sent."""
        return self._account_reads.is_classic

    @property
    def interface_changes(self) -> int:
        """How often the account was moved to the other kind: rows from before are not to be added to those after."""
        return self._account_reads.changes

    def pages(
        self, request: Request[Row], *, start_time: Time = None, end_time: Time = None
    ) -> AsyncIterator[Reply[Row]]:
        """Read every page of a request, each row once; raises `ExchangeError`.

        A stretch given by these arguments, and not in the request, may be of any length: it is cut into spans that the
        exchange allows. `end_time` is now by default. A `start_time` of 0 goes back as far as the exchange reports, ten
        years at most.
        """
        return aiter(self.walk(request, start_time=start_time, end_time=end_time))

    def walk(self, request: Request[Row], *, start_time: Time = None, end_time: Time = None) -> paging.PageWalk[Row]:
        """Return the same pages one at a time; the walk can continue after an error or a cancellation."""
        return paging.walk(
            self.read,
            request,
            now_ms=self.server_clock.now_ms,
            start_ms=_milliseconds(request, "startTime", start_time),
            end_ms=_milliseconds(request, "endTime", end_time),
        )

    async def aclose(self) -> None:
        """Close every connection and the budget; a write under way gets two seconds to be answered."""
        await self._calls.aclose()
        await self.budget.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class TradingClient(ExchangeReader):
    """Reads everything and reverses positions; it cannot create an account or a key.

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
            OutcomeUnknown: it may have been done; also if the reply is about another order than the request.
        """
        endpoint = endpoint_of(type(request))
        if endpoint.name in CREATING and not self._may_create:
            raise ReadOnly(
                "this session may not create accounts or keys",
                endpoint=endpoint.name,
                remedy="Use an ExchangeClient; for a profile set account_admin = true.",
            )
        self._check_is_classic(endpoint)

        async def about_to_send(stamp_ms: int) -> None:
            if before_send is not None:
                await before_send(stamp_ms)
            self._check_is_classic(endpoint)  # a read may have found it moved while this waited

        return await self._writes.write(endpoint, request, about_to_send)

    def _check_is_classic(self, endpoint: Endpoint) -> None:
        """Raise ReadOnly for an account that is unified or being moved."""
        if not self.is_classic:
            raise ReadOnly(
                "the account is a unified one, which is only read",
                endpoint=endpoint.name,
                remedy=UNIFIED_ACCOUNT_REMEDY,
            )


class ExchangeClient(TradingClient):
    """Reads everything, reverses positions, and creates accounts and keys. A write is sent at most once, ever."""

    _may_create = True

    broker = _area(BrokerWriting)
    subaccounts = _area(SubaccountCreation)
    copytrading = _area(CopyKeyCreation)


def _milliseconds(request: Request[Any], name: str, moment: Time) -> int | None:
    return None if moment is None else int(request.parameters[name].read(moment))

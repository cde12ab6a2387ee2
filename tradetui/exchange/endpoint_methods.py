"""The endpoints as methods, area by area: a coroutine for each, and an iterator over pages for each paged one.

A method is made of its request, whose parameters, rules and rows it takes over. An area asks through the client's
`read`, `pages` and `write` alone. The interface has thirteen endpoints, on which everything works; what is "beyond the
interface" the live exchange has as well.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.models import api_key, futures, futures_accounts, public, reversal, spot, subaccounts
from tradetui.wire.replies.record import Record

if TYPE_CHECKING:
    from tradetui.exchange.calls.signed_call import BeforeSend
    from tradetui.wire.endpoints.endpoint import Endpoint
    from tradetui.wire.endpoints.reply import Reply
    from tradetui.wire.requests.parameter import Time
    from tradetui.wire.requests.request import Request

P = ParamSpec("P")
Row = TypeVar("Row", bound=Record)

_ROWS = """rows newest first. Sizes, prices and amounts are Decimal, times aware UTC datetimes, ids text,
        secrets SecretStr; what the exchange left out is None. `received` of a row holds every field as it came."""
_READ_ERRORS = """InvalidRequest: a parameter breaks its rule; nothing was sent.
        NotSent: nothing left this machine.
        AuthenticationFailed, PermissionRefused, RateLimited, Rejected, Busy: the exchange refused.
        Unreachable, UnreadableReply: no answer came, or none that can be read."""
_WRITE_ERRORS = """InvalidRequest: a parameter breaks its rule; nothing was sent.
        NotSent: nothing left this machine.
        AuthenticationFailed, PermissionRefused, RateLimited, Rejected: the exchange refused; nothing was done.
        OutcomeUnknown: it may have been done. Look at the exchange before doing it again."""


class _Client(Protocol):
    """What an area calls. A client that only reads has no `write`, and no area with a method that sends."""

    async def read(self, request: Request[Row]) -> Reply[Row]:
        """Read one page."""

    def pages(
        self, request: Request[Row], *, start_time: Time = None, end_time: Time = None
    ) -> AsyncIterator[Reply[Row]]:
        """Read every page."""

    async def write(self, request: Request[Row], *, before_send: BeforeSend | None = None) -> Reply[Row]:
        """Send once."""


def one_page(request: Callable[P, Request[Row]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, Reply[Row]]]:
    """The method of an endpoint that reads one page."""

    async def method(self: Any, /, *args: P.args, **parameters: P.kwargs) -> Reply[Row]:
        client: _Client = self._client
        return await client.read(request(*args, **parameters))

    return _described(method, request, summary="Read one page. {purpose}", errors=_READ_ERRORS)


def every_page(request: Callable[P, Request[Row]]) -> Callable[Concatenate[Any, P], AsyncIterator[Reply[Row]]]:
    """The method of an endpoint that reads every page."""

    def method(self: Any, /, *args: P.args, **parameters: P.kwargs) -> AsyncIterator[Reply[Row]]:
        client: _Client = self._client
        start_time = cast("Time", parameters.get("start_time"))
        if start_time is None:
            return client.pages(request(*args, **parameters))
        end_time = cast("Time", parameters.get("end_time"))
        # The stretch may be longer than one request may name: `pages` cuts it, and each piece gets times of its own.
        # Those of the request that it is given decide nothing, but some requests cannot be made without times.
        parameters.update(start_time=0, end_time=0)
        return client.pages(request(*args, **parameters), start_time=start_time, end_time=end_time)

    summary = """Read every page, each row once. {purpose}

    With `start_time` the stretch from there to `end_time` (now) may be of any length: it is read in spans that the
    exchange allows. `start_time=0` goes back as far as the exchange reports, ten years at most."""
    return _described(method, request, summary=summary, errors=_READ_ERRORS, iterates=True)


def sent_once(request: Callable[P, Request[Row]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, Reply[Row]]]:
    """The method of an endpoint that sends, which is never done twice."""

    async def method(self: Any, /, *args: P.args, **parameters: P.kwargs) -> Reply[Row]:
        client: _Client = self._client
        return await client.write(request(*args, **parameters))

    return _described(method, request, summary="Send at most once. {purpose}", errors=_WRITE_ERRORS)


Method = TypeVar("Method", bound=Callable[..., Any])


def _described(method: Method, request: object, *, summary: str, errors: str, iterates: bool = False) -> Method:
    """Give a method the name, the signature and the documentation of its endpoint, for `help` and for editors.

    In the summary `{purpose}` stands for what the request's class says it is for.
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
    call = f"{endpoint.method} {endpoint.path}, at most {limit.per_second} calls a second for one {whom}."
    return call if rule is None else f"{call}\n    A call spans at most {rule.span_text.rstrip(',')}."


def _arguments(request: type[Request[Any]]) -> str:
    arguments = [f"{parameter.attribute}: {parameter.explanation}" for parameter in request.parameters.values()]
    return "\n        ".join(arguments) or "none."


class EndpointArea:
    def __init__(self, client: _Client) -> None:
        self._client = client


class FuturesReading(EndpointArea):
    """Futures: accounts, pending orders, fills, trigger orders; beyond the interface positions, bills and markets."""

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
    bills = one_page(futures_accounts.FuturesBillsRequest)
    iter_bills = every_page(futures_accounts.FuturesBillsRequest)
    closed_positions = one_page(futures_accounts.ClosedPositionsRequest)
    iter_closed_positions = every_page(futures_accounts.ClosedPositionsRequest)
    contracts = one_page(public.ContractsRequest)
    ticker = one_page(public.TickerRequest)
    tickers = one_page(public.TickersRequest)
    funding_rates = one_page(public.FundingRatesRequest)


class SpotReading(EndpointArea):
    """Spot: fills and the ledger; beyond the interface also whose key this is."""

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

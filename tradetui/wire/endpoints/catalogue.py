"""Every endpoint, once: name, path, limit, page and time rule, row law, request and row model.

Client, sandbox, budget, `show`, doctor and README read this; none repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from tradetui.wire.endpoints.endpoint import Endpoint, PageRule, RateLimit, RowLaw
from tradetui.wire.models import broker, convert, copytrading, futures_requests, public, spot, subaccounts
from tradetui.wire.requests.request import Request, page_limit


def _pages(
    request: type[Request[Any]],
    cursor: str,
    rows_key: str | None,
    *,
    row_field: str = "orderId",
    first: str | None = None,
) -> PageRule:
    limit = page_limit(request)
    assert limit is not None, f"{request.__name__} takes no limit"
    return PageRule(cursor, rows_key, limit.default, limit.maximum, limit.capped, first, row_field)


_TEN: Final = RateLimit(10)
_ONE: Final = RateLimit(1)

_THIRTEEN: Final = (
    Endpoint(
        name="copytrading.create_api_key",
        number=1,
        title="Create copy API key",
        method="POST",
        path="/api/v2/copy/mix-trader/create-copy-api",
        limit=_ONE,
        law=RowLaw.SINGLE,
        request=copytrading.CreateCopyKeyRequest,
        id_field="apikey",
    ),
    Endpoint(
        name="subaccounts.create_batch",
        number=2,
        title="Batch create virtual sub-account and API key",
        method="POST",
        path="/api/v2/user/batch-create-subaccount-and-apikey",
        limit=_ONE,
        law=RowLaw.SINGLE,
        request=subaccounts.CreateBatchRequest,
        id_field="sub_account_uid",
    ),
    Endpoint(
        name="spot.fills",
        number=3,
        title="Get spot fills",
        method="GET",
        path="/api/v2/spot/trade/fills",
        limit=_TEN,
        law=RowLaw.APPEND,
        request=spot.SpotFillsRequest,
        page=_pages(spot.SpotFillsRequest, "tradeId", None),
        id_field="trade_id",
        time_field="c_time",
    ),
    Endpoint(
        name="broker.transfers",
        number=4,
        title="Get sub-accounts deposit and withdrawal records",
        method="GET",
        path="/api/v2/broker/all-sub-deposit-withdrawal",
        limit=RateLimit(5),
        law=RowLaw.MUTABLE,
        request=broker.TransfersRequest,
        page=_pages(broker.TransfersRequest, "endId", "list", row_field="txId", first="1"),
        id_field="row_id",
        time_field="ts",
    ),
    Endpoint(
        name="futures.reverse",
        number=5,
        title="Reversal",
        method="POST",
        path="/api/v2/mix/order/click-backhand",
        limit=RateLimit(10, copy_trader=1),
        law=RowLaw.SINGLE,
        request=futures_requests.ReversalRequest,
        id_field="order_id",
    ),
    Endpoint(
        name="futures.triggers",
        number=6,
        title="Get history trigger order",
        method="GET",
        path="/api/v2/mix/order/orders-plan-history",
        limit=_TEN,
        law=RowLaw.MUTABLE,
        request=futures_requests.TriggerHistoryRequest,
        page=_pages(futures_requests.TriggerHistoryRequest, "endId", "entrustedList"),
        id_field="order_id",
        time_field="c_time",
    ),
    Endpoint(
        name="futures.accounts",
        number=7,
        title="Get account list",
        method="GET",
        path="/api/v2/mix/account/accounts",
        limit=_TEN,
        law=RowLaw.SINGLE,
        request=futures_requests.AccountListRequest,
        id_field="margin_coin",
    ),
    Endpoint(
        name="broker.create_subaccount",
        number=8,
        title="Create sub-account (broker)",
        method="POST",
        path="/api/v2/broker/account/create-subaccount",
        limit=_ONE,
        law=RowLaw.SINGLE,
        request=broker.CreateSubaccountRequest,
        id_field="sub_uid",
        time_field="c_time",
    ),
    Endpoint(
        name="convert.history",
        number=9,
        title="Get convert history",
        method="GET",
        path="/api/v2/convert/convert-record",
        limit=_TEN,
        law=RowLaw.APPEND,
        request=convert.ConvertHistoryRequest,
        page=_pages(convert.ConvertHistoryRequest, "endId", "dataList", row_field="id"),
        id_field="id",
        time_field="ts",
    ),
    Endpoint(
        name="broker.subaccount_email",
        number=10,
        title="Get sub-account email",
        method="GET",
        path="/api/v2/broker/account/subaccount-email",
        limit=_TEN,
        law=RowLaw.SINGLE,
        request=broker.SubaccountEmailRequest,
        id_field="sub_uid",
        time_field="c_time",
    ),
    Endpoint(
        name="spot.bills",
        number=11,
        title="Get account bills (spot)",
        method="GET",
        path="/api/v2/spot/account/bills",
        limit=_TEN,
        law=RowLaw.APPEND,
        request=spot.SpotBillsRequest,
        page=_pages(spot.SpotBillsRequest, "billId", None),
        id_field="bill_id",
        time_field="c_time",
    ),
    Endpoint(
        name="futures.pending_orders",
        number=12,
        title="Get pending orders (futures)",
        method="GET",
        path="/api/v2/mix/order/orders-pending",
        limit=_TEN,
        law=RowLaw.WHOLE,
        request=futures_requests.PendingOrdersRequest,
        page=_pages(futures_requests.PendingOrdersRequest, "endId", "entrustedList"),
        id_field="order_id",
        time_field="c_time",
    ),
    Endpoint(
        name="futures.fills",
        number=13,
        title="Get order fill details (futures)",
        method="GET",
        path="/api/v2/mix/order/fills",
        limit=_TEN,
        law=RowLaw.APPEND,
        request=futures_requests.FuturesFillsRequest,
        page=_pages(futures_requests.FuturesFillsRequest, "tradeId", "fillList"),
        id_field="trade_id",
        time_field="c_time",
    ),
)

_BEYOND: Final = (
    Endpoint(
        name="futures.positions",
        number=None,
        title="Get all positions",
        method="GET",
        path="/api/v2/mix/position/all-position",
        limit=RateLimit(5),
        law=RowLaw.SINGLE,
        request=futures_requests.PositionsRequest,
        id_field="row_id",
        time_field="c_time",
    ),
    Endpoint(
        name="futures.order_detail",
        number=None,
        title="Get order detail",
        method="GET",
        path="/api/v2/mix/order/detail",
        limit=_TEN,
        law=RowLaw.SINGLE,
        request=futures_requests.OrderDetailRequest,
        id_field="order_id",
        time_field="c_time",
    ),
    Endpoint(
        name="futures.live_triggers",
        number=None,
        title="Get pending trigger orders",
        method="GET",
        path="/api/v2/mix/order/orders-plan-pending",
        limit=_TEN,
        law=RowLaw.WHOLE,
        request=futures_requests.LiveTriggersRequest,
        page=_pages(futures_requests.LiveTriggersRequest, "endId", "entrustedList"),
        id_field="order_id",
        time_field="c_time",
    ),
    Endpoint(
        name="futures.account",
        number=None,
        title="Get one account with its mode and leverage",
        method="GET",
        path="/api/v2/mix/account/account",
        limit=_TEN,
        law=RowLaw.SINGLE,
        request=futures_requests.AccountSettingsRequest,
        id_field="margin_coin",
    ),
    Endpoint(
        name="futures.bills",
        number=None,
        title="Get futures account bills",
        method="GET",
        path="/api/v2/mix/account/bill",
        limit=_TEN,
        law=RowLaw.APPEND,
        request=futures_requests.FuturesBillsRequest,
        page=_pages(futures_requests.FuturesBillsRequest, "endId", "bills", row_field="billId"),
        id_field="bill_id",
        time_field="c_time",
    ),
    Endpoint(
        name="futures.closed_positions",
        number=None,
        title="Get history of positions",
        method="GET",
        path="/api/v2/mix/position/history-position",
        limit=RateLimit(20),
        law=RowLaw.APPEND,
        request=futures_requests.ClosedPositionsRequest,
        page=_pages(futures_requests.ClosedPositionsRequest, "endId", "list", row_field="positionId"),
        id_field="row_id",
        time_field="u_time",
    ),
    Endpoint(
        name="futures.contracts",
        number=None,
        title="Get contract rules",
        method="GET",
        path="/api/v2/mix/market/contracts",
        limit=RateLimit(20, scope="ip"),
        law=RowLaw.SINGLE,
        request=futures_requests.ContractsRequest,
        id_field="symbol",
        signed=False,
    ),
    Endpoint(
        name="futures.ticker",
        number=None,
        title="Get ticker",
        method="GET",
        path="/api/v2/mix/market/ticker",
        limit=RateLimit(20, scope="ip"),
        law=RowLaw.SINGLE,
        request=futures_requests.TickerRequest,
        id_field="symbol",
        time_field="ts",
        signed=False,
    ),
    Endpoint(
        name="futures.tickers",
        number=None,
        title="Get all tickers",
        method="GET",
        path="/api/v2/mix/market/tickers",
        limit=RateLimit(20, scope="ip"),
        law=RowLaw.SINGLE,
        request=futures_requests.TickersRequest,
        id_field="symbol",
        time_field="ts",
        signed=False,
    ),
    Endpoint(
        name="futures.funding_rates",
        number=None,
        title="Get current funding rates",
        method="GET",
        path="/api/v2/mix/market/current-fund-rate",
        limit=RateLimit(20, scope="ip"),
        law=RowLaw.SINGLE,
        request=futures_requests.FundingRatesRequest,
        id_field="symbol",
        time_field="next_update",
        signed=False,
    ),
    Endpoint(
        name="spot.account_info",
        number=None,
        title="Get account information",
        method="GET",
        path="/api/v2/spot/account/info",
        limit=_ONE,
        law=RowLaw.SINGLE,
        request=spot.AccountInfoRequest,
        id_field="user_id",
    ),
    Endpoint(
        name="public.time",
        number=None,
        title="Get server time",
        method="GET",
        path="/api/v2/public/time",
        limit=RateLimit(20, scope="ip"),
        law=RowLaw.SINGLE,
        request=public.ServerTimeRequest,
        id_field="server_time",
        signed=False,
    ),
)

#: Every endpoint by its name, the thirteen of the interface first, in its order.
CATALOGUE: Final[Mapping[str, Endpoint]] = MappingProxyType({entry.name: entry for entry in _THIRTEEN + _BEYOND})

_BY_REQUEST: Final = {entry.request: entry for entry in CATALOGUE.values()}


def endpoint(name: str) -> Endpoint:
    """The endpoint of this name; raises KeyError."""
    return CATALOGUE[name]


def endpoint_of(request: type[Request[Any]]) -> Endpoint:
    """The endpoint that takes this kind of request; raises KeyError."""
    return _BY_REQUEST[request]

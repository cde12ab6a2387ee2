"""The catalogue of all endpoints: name, path, limit, page and time rule, row law, request and row model.

Client, sandbox, budget, `show` and doctor read it; none of them repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from tradetui.wire.endpoints.endpoint import Endpoint, PageRule, RateLimit, RowLaw
from tradetui.wire.models import api_key, futures, futures_accounts, public, reversal, spot, subaccounts, unified
from tradetui.wire.requests.parameter import Count
from tradetui.wire.requests.request import Request

_ONE: Final = RateLimit(1)
_FIVE: Final = RateLimit(5)
_TEN: Final = RateLimit(10)
_TWENTY: Final = RateLimit(20)


def _paged(
    name: str,
    path: str,
    request: type[Request[Any]],
    law: RowLaw,
    cursor: str,
    rows_key: str | None,
    *,
    row_field: str = "orderId",
    first: str | None = None,
    limit: RateLimit = _TEN,
    time_field: str | None = "c_time",
) -> Endpoint:
    """Make an endpoint with pages, whose size is its request's parameter `limit`."""
    count = request.parameters["limit"]
    assert isinstance(count, Count), f"the limit of {request.__name__} is no count of rows"
    parameter: Final = "cursor" if cursor == "cursor" else "idLessThan"
    page = PageRule(cursor, rows_key, count.default, count.maximum, count.capped, first, row_field, parameter)
    return Endpoint(name, path, request, limit=limit, law=law, page=page, time_field=time_field)


_public: Final = partial(Endpoint, limit=RateLimit(20, scope="ip"), signed=False)
_unified: Final = partial(Endpoint, limit=_TWENTY)
_unified_pages: Final = partial(_paged, cursor="cursor", rows_key="list", limit=_TWENTY, time_field=None)
"""Interface v3's pages: the payload names the cursor of the next one."""
_creation: Final = partial(Endpoint, method="POST", limit=_ONE)

# The interface's own endpoints, in its order: the first is its endpoint 1.
_THIRTEEN: Final = (
    _creation(
        "copytrading.create_api_key", "/api/v2/copy/mix-trader/create-copy-api", subaccounts.CreateCopyKeyRequest
    ),
    _creation(
        "subaccounts.create_batch", "/api/v2/user/batch-create-subaccount-and-apikey", subaccounts.CreateBatchRequest
    ),
    _paged("spot.fills", "/api/v2/spot/trade/fills", spot.SpotFillsRequest, RowLaw.APPEND, "tradeId", None),
    _paged(
        "broker.transfers",
        "/api/v2/broker/all-sub-deposit-withdrawal",
        subaccounts.TransfersRequest,
        RowLaw.MUTABLE,
        "endId",
        "list",
        limit=_FIVE,
        time_field="ts",
        row_field="txId",
        first="1",
    ),
    Endpoint(
        "futures.reverse",
        "/api/v2/mix/order/click-backhand",
        reversal.ReversalRequest,
        method="POST",
        limit=RateLimit(10, copy_trader=1),
    ),
    _paged(
        "futures.triggers",
        "/api/v2/mix/order/orders-plan-history",
        futures.TriggerHistoryRequest,
        RowLaw.MUTABLE,
        "endId",
        "entrustedList",
    ),
    Endpoint("futures.accounts", "/api/v2/mix/account/accounts", futures_accounts.AccountListRequest),
    _creation(
        "broker.create_subaccount",
        "/api/v2/broker/account/create-subaccount",
        subaccounts.CreateSubaccountRequest,
        time_field="c_time",
    ),
    _paged(
        "convert.history",
        "/api/v2/convert/convert-record",
        spot.ConvertHistoryRequest,
        RowLaw.APPEND,
        "endId",
        "dataList",
        time_field="ts",
        row_field="id",
    ),
    Endpoint(
        "broker.subaccount_email",
        "/api/v2/broker/account/subaccount-email",
        subaccounts.SubaccountEmailRequest,
        time_field="c_time",
    ),
    _paged("spot.bills", "/api/v2/spot/account/bills", spot.SpotBillsRequest, RowLaw.APPEND, "billId", None),
    _paged(
        "futures.pending_orders",
        "/api/v2/mix/order/orders-pending",
        futures.PendingOrdersRequest,
        RowLaw.WHOLE,
        "endId",
        "entrustedList",
    ),
    _paged(
        "futures.fills", "/api/v2/mix/order/fills", futures.FuturesFillsRequest, RowLaw.APPEND, "tradeId", "fillList"
    ),
)

# Beyond the interface: the live exchange also has these endpoints, and the program works without them.
_BEYOND: Final = (
    Endpoint(
        "futures.positions",
        "/api/v2/mix/position/all-position",
        futures_accounts.PositionsRequest,
        limit=_FIVE,
        time_field="c_time",
    ),
    Endpoint("futures.order_detail", "/api/v2/mix/order/detail", futures.OrderDetailRequest, time_field="c_time"),
    _paged(
        "futures.live_triggers",
        "/api/v2/mix/order/orders-plan-pending",
        futures.LiveTriggersRequest,
        RowLaw.WHOLE,
        "endId",
        "entrustedList",
    ),
    Endpoint("futures.account", "/api/v2/mix/account/account", futures_accounts.AccountSettingsRequest),
    Endpoint(
        "futures.subaccount_assets",
        "/api/v2/mix/account/sub-account-assets",
        futures_accounts.SubaccountAssetsRequest,
        limit=RateLimit(1, window_s=10),
    ),
    _paged(
        "futures.bills",
        "/api/v2/mix/account/bill",
        futures_accounts.FuturesBillsRequest,
        RowLaw.APPEND,
        "endId",
        "bills",
        row_field="billId",
    ),
    _paged(
        "futures.closed_positions",
        "/api/v2/mix/position/history-position",
        futures_accounts.ClosedPositionsRequest,
        RowLaw.APPEND,
        "endId",
        "list",
        limit=_TWENTY,
        time_field="u_time",
        row_field="positionId",
    ),
    _public("futures.contracts", "/api/v2/mix/market/contracts", public.ContractsRequest),
    _public("futures.ticker", "/api/v2/mix/market/ticker", public.TickerRequest, time_field="ts"),
    _public("futures.tickers", "/api/v2/mix/market/tickers", public.TickersRequest, time_field="ts"),
    _public(
        "futures.funding_rates",
        "/api/v2/mix/market/current-fund-rate",
        public.FundingRatesRequest,
        time_field="next_update",
    ),
    Endpoint("spot.account_info", "/api/v2/spot/account/info", api_key.AccountInfoRequest, limit=_ONE),
    _public("public.time", "/api/v2/public/time", public.ServerTimeRequest),
    _unified("unified.assets", "/api/v3/account/assets", unified.UnifiedAssetsRequest),
    _unified("unified.settings", "/api/v3/account/settings", unified.UnifiedSettingsRequest),
    Endpoint("unified.key", "/api/v3/account/info", unified.UnifiedKeyRequest, limit=_FIVE),
    _unified(
        "unified.positions", "/api/v3/position/current-position", unified.UnifiedPositionsRequest, list_key="list"
    ),
    _unified_pages("unified.orders", "/api/v3/trade/unfilled-orders", unified.UnifiedOrdersRequest, RowLaw.WHOLE),
    _unified_pages("unified.fills", "/api/v3/trade/fills", unified.UnifiedFillsRequest, RowLaw.APPEND),
    _unified_pages(
        "unified.triggers", "/api/v3/trade/history-strategy-orders", unified.UnifiedTriggersRequest, RowLaw.MUTABLE
    ),
    _unified(
        "unified.live_triggers",
        "/api/v3/trade/unfilled-strategy-orders",
        unified.UnifiedLiveTriggersRequest,
        law=RowLaw.WHOLE,
    ),
    _unified_pages(
        "unified.closed_positions",
        "/api/v3/position/history-position",
        unified.UnifiedClosedPositionsRequest,
        RowLaw.APPEND,
    ),
)

#: Every endpoint by its name; first the thirteen of the interface, in its order.
CATALOGUE: Final[Mapping[str, Endpoint]] = MappingProxyType(
    {entry.name: entry._replace(number=number) for number, entry in enumerate(_THIRTEEN, 1)}
    | {entry.name: entry for entry in _BEYOND}
)

_BY_REQUEST: Final = {entry.request: entry for entry in CATALOGUE.values()}


def endpoint_of(request: type[Request[Any]]) -> Endpoint:
    """Return the endpoint of a kind of request; raises KeyError."""
    return _BY_REQUEST[request]

"""The catalogue of all endpoints: name, path, limit, page and time rule, row law, request and row model.

Client, sandbox, budget, `show` and doctor read it; none of them repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from tradetui.wire.endpoints.endpoint import Endpoint, PageRule, RateLimit, RowLaw
from tradetui.wire.models import api_key, futures, futures_accounts, public, reversal, spot, subaccounts, unified
from tradetui.wire.requests.parameter import Count
from tradetui.wire.requests.request import Request


def _pages(
    request: type[Request[Any]],
    cursor: str,
    rows_key: str | None,
    *,
    row_field: str = "orderId",
    first: str | None = None,
) -> PageRule:
    """Make the rule of pages whose size is the request's parameter `limit`; the arguments are fields of `PageRule`."""
    limit = request.parameters["limit"]
    assert isinstance(limit, Count), f"the limit of {request.__name__} is no count of rows"
    return PageRule(cursor, rows_key, limit.default, limit.maximum, limit.capped, first, row_field)


def _cursor_pages(request: type[Request[Any]]) -> PageRule:
    """Make the rule of interface v3's pages: the payload names the cursor of the next one."""
    return _pages(request, "cursor", "list")._replace(parameter="cursor")


_PUBLIC: Final = RateLimit(20, scope="ip")
_UNIFIED: Final = RateLimit(20)

# The interface's own endpoints, in its order: the first is its endpoint 1.
_THIRTEEN: Final = (
    Endpoint(
        name="copytrading.create_api_key",
        method="POST",
        path="/api/v2/copy/mix-trader/create-copy-api",
        limit=RateLimit(1),
        request=subaccounts.CreateCopyKeyRequest,
    ),
    Endpoint(
        name="subaccounts.create_batch",
        method="POST",
        path="/api/v2/user/batch-create-subaccount-and-apikey",
        limit=RateLimit(1),
        request=subaccounts.CreateBatchRequest,
    ),
    Endpoint(
        name="spot.fills",
        path="/api/v2/spot/trade/fills",
        law=RowLaw.APPEND,
        request=spot.SpotFillsRequest,
        page=_pages(spot.SpotFillsRequest, "tradeId", None),
        time_field="c_time",
    ),
    Endpoint(
        name="broker.transfers",
        path="/api/v2/broker/all-sub-deposit-withdrawal",
        limit=RateLimit(5),
        law=RowLaw.MUTABLE,
        request=subaccounts.TransfersRequest,
        page=_pages(subaccounts.TransfersRequest, "endId", "list", row_field="txId", first="1"),
        time_field="ts",
    ),
    Endpoint(
        name="futures.reverse",
        method="POST",
        path="/api/v2/mix/order/click-backhand",
        limit=RateLimit(10, copy_trader=1),
        request=reversal.ReversalRequest,
    ),
    Endpoint(
        name="futures.triggers",
        path="/api/v2/mix/order/orders-plan-history",
        law=RowLaw.MUTABLE,
        request=futures.TriggerHistoryRequest,
        page=_pages(futures.TriggerHistoryRequest, "endId", "entrustedList"),
        time_field="c_time",
    ),
    Endpoint(
        name="futures.accounts",
        path="/api/v2/mix/account/accounts",
        request=futures_accounts.AccountListRequest,
    ),
    Endpoint(
        name="broker.create_subaccount",
        method="POST",
        path="/api/v2/broker/account/create-subaccount",
        limit=RateLimit(1),
        request=subaccounts.CreateSubaccountRequest,
        time_field="c_time",
    ),
    Endpoint(
        name="convert.history",
        path="/api/v2/convert/convert-record",
        law=RowLaw.APPEND,
        request=spot.ConvertHistoryRequest,
        page=_pages(spot.ConvertHistoryRequest, "endId", "dataList", row_field="id"),
        time_field="ts",
    ),
    Endpoint(
        name="broker.subaccount_email",
        path="/api/v2/broker/account/subaccount-email",
        request=subaccounts.SubaccountEmailRequest,
        time_field="c_time",
    ),
    Endpoint(
        name="spot.bills",
        path="/api/v2/spot/account/bills",
        law=RowLaw.APPEND,
        request=spot.SpotBillsRequest,
        page=_pages(spot.SpotBillsRequest, "billId", None),
        time_field="c_time",
    ),
    Endpoint(
        name="futures.pending_orders",
        path="/api/v2/mix/order/orders-pending",
        law=RowLaw.WHOLE,
        request=futures.PendingOrdersRequest,
        page=_pages(futures.PendingOrdersRequest, "endId", "entrustedList"),
        time_field="c_time",
    ),
    Endpoint(
        name="futures.fills",
        path="/api/v2/mix/order/fills",
        law=RowLaw.APPEND,
        request=futures.FuturesFillsRequest,
        page=_pages(futures.FuturesFillsRequest, "tradeId", "fillList"),
        time_field="c_time",
    ),
)

# Beyond the interface: the live exchange also has these endpoints, and the program works without them.
_BEYOND: Final = (
    Endpoint(
        name="futures.positions",
        path="/api/v2/mix/position/all-position",
        limit=RateLimit(5),
        request=futures_accounts.PositionsRequest,
        time_field="c_time",
    ),
    Endpoint(
        name="futures.order_detail",
        path="/api/v2/mix/order/detail",
        request=futures.OrderDetailRequest,
        time_field="c_time",
    ),
    Endpoint(
        name="futures.live_triggers",
        path="/api/v2/mix/order/orders-plan-pending",
        law=RowLaw.WHOLE,
        request=futures.LiveTriggersRequest,
        page=_pages(futures.LiveTriggersRequest, "endId", "entrustedList"),
        time_field="c_time",
    ),
    Endpoint(
        name="futures.account",
        path="/api/v2/mix/account/account",
        request=futures_accounts.AccountSettingsRequest,
    ),
    Endpoint(
        name="futures.subaccount_assets",
        path="/api/v2/mix/account/sub-account-assets",
        limit=RateLimit(1, window_s=10),
        request=futures_accounts.SubaccountAssetsRequest,
    ),
    Endpoint(
        name="futures.bills",
        path="/api/v2/mix/account/bill",
        law=RowLaw.APPEND,
        request=futures_accounts.FuturesBillsRequest,
        page=_pages(futures_accounts.FuturesBillsRequest, "endId", "bills", row_field="billId"),
        time_field="c_time",
    ),
    Endpoint(
        name="futures.closed_positions",
        path="/api/v2/mix/position/history-position",
        limit=RateLimit(20),
        law=RowLaw.APPEND,
        request=futures_accounts.ClosedPositionsRequest,
        page=_pages(futures_accounts.ClosedPositionsRequest, "endId", "list", row_field="positionId"),
        time_field="u_time",
    ),
    Endpoint(
        name="futures.contracts",
        path="/api/v2/mix/market/contracts",
        limit=_PUBLIC,
        request=public.ContractsRequest,
        signed=False,
    ),
    Endpoint(
        name="futures.ticker",
        path="/api/v2/mix/market/ticker",
        limit=_PUBLIC,
        request=public.TickerRequest,
        time_field="ts",
        signed=False,
    ),
    Endpoint(
        name="futures.tickers",
        path="/api/v2/mix/market/tickers",
        limit=_PUBLIC,
        request=public.TickersRequest,
        time_field="ts",
        signed=False,
    ),
    Endpoint(
        name="futures.funding_rates",
        path="/api/v2/mix/market/current-fund-rate",
        limit=_PUBLIC,
        request=public.FundingRatesRequest,
        time_field="next_update",
        signed=False,
    ),
    Endpoint(
        name="spot.account_info",
        path="/api/v2/spot/account/info",
        limit=RateLimit(1),
        request=api_key.AccountInfoRequest,
    ),
    Endpoint(
        name="public.time",
        path="/api/v2/public/time",
        limit=_PUBLIC,
        request=public.ServerTimeRequest,
        signed=False,
    ),
    Endpoint(
        name="unified.assets",
        path="/api/v3/account/assets",
        limit=_UNIFIED,
        request=unified.UnifiedAssetsRequest,
    ),
    Endpoint(
        name="unified.settings",
        path="/api/v3/account/settings",
        limit=_UNIFIED,
        request=unified.UnifiedSettingsRequest,
    ),
    Endpoint(
        name="unified.key",
        path="/api/v3/account/info",
        limit=RateLimit(5),
        request=unified.UnifiedKeyRequest,
    ),
    Endpoint(
        name="unified.positions",
        path="/api/v3/position/current-position",
        limit=_UNIFIED,
        request=unified.UnifiedPositionsRequest,
        list_key="list",
    ),
    Endpoint(
        name="unified.orders",
        path="/api/v3/trade/unfilled-orders",
        limit=_UNIFIED,
        law=RowLaw.WHOLE,
        request=unified.UnifiedOrdersRequest,
        page=_cursor_pages(unified.UnifiedOrdersRequest),
        time_field="created_time",
    ),
    Endpoint(
        name="unified.fills",
        path="/api/v3/trade/fills",
        limit=_UNIFIED,
        law=RowLaw.APPEND,
        request=unified.UnifiedFillsRequest,
        page=_cursor_pages(unified.UnifiedFillsRequest),
        time_field="created_time",
    ),
    Endpoint(
        name="unified.triggers",
        path="/api/v3/trade/history-strategy-orders",
        limit=_UNIFIED,
        law=RowLaw.MUTABLE,
        request=unified.UnifiedTriggersRequest,
        page=_cursor_pages(unified.UnifiedTriggersRequest),
        time_field="created_time",
    ),
    Endpoint(
        name="unified.live_triggers",
        path="/api/v3/trade/unfilled-strategy-orders",
        limit=_UNIFIED,
        law=RowLaw.WHOLE,
        request=unified.UnifiedLiveTriggersRequest,
        time_field="created_time",
    ),
    Endpoint(
        name="unified.closed_positions",
        path="/api/v3/position/history-position",
        limit=_UNIFIED,
        law=RowLaw.APPEND,
        request=unified.UnifiedClosedPositionsRequest,
        page=_cursor_pages(unified.UnifiedClosedPositionsRequest),
        time_field="updated_time",
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

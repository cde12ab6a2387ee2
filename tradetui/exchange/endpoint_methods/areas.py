"""The areas of the exchange, and the endpoints of each as methods."""

from __future__ import annotations

from tradetui.exchange.endpoint_methods.methods import (
    ReadingClient,
    WholeClient,
    WritingClient,
    every_page,
    one_page,
    sent_once,
)
from tradetui.wire.models.broker import CreateSubaccountRequest, SubaccountEmailRequest, TransfersRequest
from tradetui.wire.models.convert import ConvertHistoryRequest
from tradetui.wire.models.copytrading import CreateCopyKeyRequest
from tradetui.wire.models.futures_requests import (
    AccountListRequest,
    AccountSettingsRequest,
    ClosedPositionsRequest,
    ContractsRequest,
    FundingRatesRequest,
    FuturesBillsRequest,
    FuturesFillsRequest,
    LiveTriggersRequest,
    OrderDetailRequest,
    PendingOrdersRequest,
    PositionsRequest,
    ReversalRequest,
    TickerRequest,
    TickersRequest,
    TriggerHistoryRequest,
)
from tradetui.wire.models.public import ServerTimeRequest
from tradetui.wire.models.spot import AccountInfoRequest, SpotBillsRequest, SpotFillsRequest
from tradetui.wire.models.subaccounts import CreateBatchRequest


class ReadingArea:
    """Endpoints that only read."""

    def __init__(self, client: ReadingClient) -> None:
        self._client = client


class FuturesReading(ReadingArea):
    """Futures: accounts, pending orders, fills, trigger orders; beyond the interface positions, bills and markets."""

    accounts = one_page(AccountListRequest)
    pending_orders = one_page(PendingOrdersRequest)
    iter_pending_orders = every_page(PendingOrdersRequest)
    fills = one_page(FuturesFillsRequest)
    iter_fills = every_page(FuturesFillsRequest)
    triggers = one_page(TriggerHistoryRequest)
    iter_triggers = every_page(TriggerHistoryRequest)
    positions = one_page(PositionsRequest)
    order_detail = one_page(OrderDetailRequest)
    live_triggers = one_page(LiveTriggersRequest)
    iter_live_triggers = every_page(LiveTriggersRequest)
    account = one_page(AccountSettingsRequest)
    bills = one_page(FuturesBillsRequest)
    iter_bills = every_page(FuturesBillsRequest)
    closed_positions = one_page(ClosedPositionsRequest)
    iter_closed_positions = every_page(ClosedPositionsRequest)
    contracts = one_page(ContractsRequest)
    ticker = one_page(TickerRequest)
    tickers = one_page(TickersRequest)
    funding_rates = one_page(FundingRatesRequest)


class SpotReading(ReadingArea):
    """Spot: fills, the ledger, and beyond the interface whose key this is."""

    fills = one_page(SpotFillsRequest)
    iter_fills = every_page(SpotFillsRequest)
    bills = one_page(SpotBillsRequest)
    iter_bills = every_page(SpotBillsRequest)
    account_info = one_page(AccountInfoRequest)


class ConvertReading(ReadingArea):
    """Instant swaps of one coin for another."""

    history = one_page(ConvertHistoryRequest)
    iter_history = every_page(ConvertHistoryRequest)


class BrokerReading(ReadingArea):
    """A broker's sub-accounts: their deposits and withdrawals, and their e-mail."""

    transfers = one_page(TransfersRequest)
    iter_transfers = every_page(TransfersRequest)
    subaccount_email = one_page(SubaccountEmailRequest)


class PublicReading(ReadingArea):
    """Public endpoints, which need no key: the exchange's clock."""

    time = one_page(ServerTimeRequest)


class FuturesTrading(FuturesReading):
    """Futures with the reversal of a position."""

    def __init__(self, client: WholeClient) -> None:
        super().__init__(client)

    reverse = sent_once(ReversalRequest)


class BrokerWriting(BrokerReading):
    """A broker's sub-accounts, and the creation of one."""

    def __init__(self, client: WholeClient) -> None:
        super().__init__(client)

    create_subaccount = sent_once(CreateSubaccountRequest)


class WritingArea:
    """Endpoints that only write."""

    def __init__(self, client: WritingClient) -> None:
        self._client = client


class SubaccountCreation(WritingArea):
    """Virtual sub-accounts, each created with an API key whose secret the reply holds."""

    create_batch = sent_once(CreateBatchRequest)


class CopyKeyCreation(WritingArea):
    """The API key of a copy trader, whose secret the reply holds."""

    create_api_key = sent_once(CreateCopyKeyRequest)

"""Requests of the futures endpoints (5, 6, 7, 12, 13) and of those beyond the interface that complete them."""

from decimal import Decimal
from typing import Annotated, ClassVar

from tradetui.wire.enums import QUERIED_PLAN_TYPES, OrderStatus, PlanStatus, PositionMode, Side
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, Missing, TimeRule
from tradetui.wire.models.futures import FuturesAccount, FuturesFill, PendingOrder, ReversalResult, TriggerOrder
from tradetui.wire.models.futures_extended import (
    AccountSettings,
    ClosedPosition,
    Contract,
    FundingRate,
    FuturesBill,
    OrderDetail,
    ReportedPosition,
    Ticker,
)
from tradetui.wire.requests.parameter import (
    Amount,
    ClientOid,
    Coin,
    Count,
    OlderThan,
    OrderId,
    Parameter,
    ProductTypeText,
    RequiredCoin,
    RequiredSymbol,
    RowLimit,
    Shaped,
    Symbol,
    Time,
    Word,
)
from tradetui.wire.requests.request import Request, TimedRequest

_THREE_MONTHS = TimeRule(
    span_ms=NINETY_DAYS_MS, missing=Missing.THREE_MONTHS, span_text="three months, taken as 90 days,"
)
_THREE_MONTHS_FROM_BINDING = _THREE_MONTHS._replace(from_binding=True)

_PlanType = Annotated[str, Word(required=True, rule="one of the plan types", choices=QUERIED_PLAN_TYPES)]


class ReversalRequest(Request[ReversalResult]):
    """Endpoint 5: reverse a position.

    Hedge mode needs side (buy reverses the LONG, sell the SHORT), trade_side and size. In one-way mode leave trade_side
    out; without size the whole position is reversed.
    """

    symbol: RequiredSymbol
    margin_coin: RequiredCoin
    product_type: ProductTypeText
    size: Annotated[Decimal | None, Amount()] = None
    side: Annotated[str | None, Word(rule="buy or sell", choices=(Side.BUY, Side.SELL))] = None
    trade_side: Annotated[str | None, Word(rule="Open or Close", choices=("Open", "Close"), keeps_case=True)] = None
    client_oid: Annotated[
        str | None,
        Shaped(
            rule="at most 50 of 0-9 a-z A-Z - + _ #",
            pattern=r"[0-9A-Za-z\-+_#]{1,50}",
            remedy="Use at most 50 letters, digits and - + _ #.",
        ),
    ] = None

    def is_answered_by(self, row: ReversalResult) -> bool:
        """Whether the reply names no other order than this request; one that names none is of this request."""
        return self.client_oid is None or (row.client_oid or self.client_oid) == self.client_oid

    def check(self, mode: PositionMode) -> None:
        """Hold the request to the rules of the account's position mode; raises InvalidRequest.

        Hedge mode needs side, tradeSide and size. One-way mode must not carry tradeSide; without size the whole
        position is reversed.
        """
        if mode is PositionMode.ONE_WAY:
            if self.trade_side is not None:
                raise InvalidRequest("tradeSide", "not given in one-way mode", self.trade_side, "Leave it out.")
            return
        if self.side is None:
            raise InvalidRequest(
                "side", "required in hedge mode", None, "Give buy to reverse the LONG, sell to reverse the SHORT."
            )
        if self.trade_side is None:
            raise InvalidRequest("tradeSide", "required in hedge mode", None, "Give Open.")
        if self.size is None:
            raise InvalidRequest("size", "required in hedge mode", None, "Give the position's size to reverse it all.")


class TriggerHistoryRequest(TimedRequest[TriggerOrder]):
    """Endpoint 6: past trigger orders of one plan type; orderId prevails over clientOid, and neither is needed."""

    time_rule: ClassVar[TimeRule | None] = _THREE_MONTHS_FROM_BINDING

    order_id: OrderId = None
    client_oid: ClientOid = None
    plan_type: _PlanType
    plan_status: Annotated[
        str | None,
        Word(
            rule="one of the past plan states that the exchange lists for a query",
            choices=(PlanStatus.EXECUTED, PlanStatus.FAIL_EXECUTE, PlanStatus.CANCELLED),
        ),
    ] = None
    symbol: Symbol = None
    product_type: ProductTypeText
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: RowLimit = None


class AccountListRequest(Request[FuturesAccount]):
    """Endpoint 7: the futures accounts of a product type."""

    product_type: ProductTypeText


class PendingOrdersRequest(TimedRequest[PendingOrder]):
    """Endpoint 12: pending orders. Without status only live ones come; without times, orders of any age."""

    time_rule: ClassVar[TimeRule | None] = _THREE_MONTHS

    order_id: OrderId = None
    client_oid: ClientOid = None
    symbol: Symbol = None
    product_type: ProductTypeText
    status: Annotated[
        str | None, Word(rule="live or partially_filled", choices=(OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED))
    ] = None
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: RowLimit = None


class FuturesFillsRequest(TimedRequest[FuturesFill]):
    """Endpoint 13: futures fills; pages go by tradeId."""

    time_rule: ClassVar[TimeRule | None] = _THREE_MONTHS_FROM_BINDING

    order_id: OrderId = None
    symbol: Symbol = None
    product_type: ProductTypeText
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: RowLimit = None


class PositionsRequest(Request[ReportedPosition]):
    """Beyond the interface: every open position of a product type."""

    product_type: ProductTypeText
    margin_coin: Coin = None


class OrderDetailRequest(Request[OrderDetail]):
    """Beyond the interface: one order by id, whatever its state; orderId prevails over clientOid."""

    symbol: RequiredSymbol
    product_type: ProductTypeText
    order_id: OrderId = None
    client_oid: ClientOid = None

    def check_together(self) -> None:
        """One of the two ids must be given."""
        if self.order_id is None and self.client_oid is None:
            raise InvalidRequest("orderId", "orderId or clientOid is needed", None, "Give one of them.")


class LiveTriggersRequest(TimedRequest[TriggerOrder]):
    """Beyond the interface: trigger orders that still wait, of one plan type."""

    time_rule: ClassVar[TimeRule | None] = _THREE_MONTHS

    order_id: OrderId = None
    client_oid: ClientOid = None
    symbol: Symbol = None
    plan_type: _PlanType
    product_type: ProductTypeText
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: RowLimit = None


class AccountSettingsRequest(Request[AccountSettings]):
    """Beyond the interface: one account with its position mode and leverage."""

    symbol: RequiredSymbol
    product_type: ProductTypeText
    margin_coin: RequiredCoin


class ContractsRequest(Request[Contract]):
    """Beyond the interface: rules of the contracts of a product type."""

    product_type: ProductTypeText
    symbol: Symbol = None


class TickerRequest(Request[Ticker]):
    """Beyond the interface: the last prices of a symbol."""

    product_type: ProductTypeText
    symbol: RequiredSymbol


class TickersRequest(Request[Ticker]):
    """Beyond the interface: the last prices of every symbol of a product type."""

    product_type: ProductTypeText


class FundingRatesRequest(Request[FundingRate]):
    """Beyond the interface: the current funding rates of a product type, of every symbol unless one is named."""

    product_type: ProductTypeText
    symbol: Symbol = None


class FuturesBillsRequest(TimedRequest[FuturesBill]):
    """Beyond the interface: the movements of a product type's wallets; pages go by billId."""

    time_rule: ClassVar[TimeRule | None] = TimeRule(span_ms=30 * DAY_MS, window_ms=NINETY_DAYS_MS, span_text="30 days")

    product_type: ProductTypeText
    coin: Coin = None
    business_type: Annotated[str | None, Parameter(rule="a business type, such as contract_settle_fee")] = None
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: Annotated[int | None, Count(default=20)] = None


class ClosedPositionsRequest(TimedRequest[ClosedPosition]):
    """Beyond the interface: positions that ended in the last three months; pages go by positionId."""

    time_rule: ClassVar[TimeRule | None] = _THREE_MONTHS

    product_type: ProductTypeText
    symbol: Symbol = None
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: Annotated[int | None, Count(default=20)] = None

"""Futures orders, fills and trigger orders: the rows, each followed by the request that reads them.

"Endpoint 12" is the twelfth of the thirteen in the interface's description. A request "beyond the interface" has no
number there, but the live exchange answers it. Fields have the interface's names in snake case.

Also the fields that several areas share: a fill's fee detail, side, position mode, margin mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

from tradetui.wire.enums import (
    QUERIED_PLAN_TYPES,
    MarginMode,
    OrderStatus,
    PlanStatus,
    PositionMode,
    Side,
    TradeScope,
    TradeSide,
    known,
    same,
)
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import THREE_MONTHS
from tradetui.wire.replies.field_types import DecimalFigure, IdText, SizeFigure, UnsignedSize, UtcTime
from tradetui.wire.replies.record import Record, records_of
from tradetui.wire.requests.parameter import (
    ClientOid,
    OlderThan,
    OrderId,
    ProductTypeText,
    RequiredSymbol,
    RowLimit,
    Symbol,
    Time,
    Word,
)
from tradetui.wire.requests.request import Request, TimedRequest


class FeeDetail(Record):
    """One fee of a fill; a negative fee was paid."""

    deduction: str | None = None
    fee_coin: str | None = None
    total_deduction_fee: DecimalFigure | None = None
    total_fee: DecimalFigure | None = None


class Sided:
    if TYPE_CHECKING:
        side: str | None

    @property
    def is_buy(self) -> bool:
        return same(self.side, Side.BUY)


class InPositionMode:
    """A record with the account's position mode at its time."""

    if TYPE_CHECKING:
        pos_mode: str | None

    @property
    def position_mode(self) -> PositionMode | None:
        return known(PositionMode, self.pos_mode)


class InMarginMode:
    if TYPE_CHECKING:
        margin_mode: str | None

    @property
    def margin(self) -> MarginMode | None:
        return MarginMode.parse(self.margin_mode)


_THREE_MONTHS_FROM_BINDING = THREE_MONTHS._replace(from_binding=True)
_PlanType = Annotated[str, Word(required=True, rule="one of the plan types", choices=QUERIED_PLAN_TYPES)]


class PendingOrder(Record, Sided, InPositionMode, InMarginMode):
    """A futures order that is live or partially filled."""

    identity = ("order_id",)

    symbol: str
    size: UnsignedSize
    order_id: IdText
    client_oid: str | None = None
    base_volume: UnsignedSize | None = None
    fee: DecimalFigure | None = None
    price: DecimalFigure | None = None
    price_avg: DecimalFigure | None = None
    status: str | None = None
    side: str
    force: str | None = None
    total_profits: DecimalFigure | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    quote_volume: DecimalFigure | None = None
    leverage: DecimalFigure | None = None
    margin_mode: str | None = None
    reduce_only: str | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    order_type: str | None = None
    order_source: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None
    preset_stop_surplus_price: DecimalFigure | None = None
    preset_stop_loss_price: DecimalFigure | None = None

    @classmethod
    def may_be(cls, row: Mapping[str, Any]) -> bool:
        return not _is_trigger(row)


class PendingOrdersRequest(TimedRequest[PendingOrder]):
    """Endpoint 12: pending orders. Without a status only live ones are returned; without times, orders of any age."""

    time_rule = THREE_MONTHS

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


class OrderDetail(Record, Sided, InPositionMode):
    """One order, pending or over. Here the exchange names its status `state`."""

    identity = ("order_id",)
    spellings = {"status": "state"}

    symbol: str | None = None
    size: UnsignedSize | None = None
    order_id: IdText
    client_oid: str | None = None
    base_volume: UnsignedSize | None = None
    price_avg: DecimalFigure | None = None
    fee: DecimalFigure | None = None
    price: DecimalFigure | None = None
    state: str
    side: str | None = None
    force: str | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    preset_stop_surplus_price: DecimalFigure | None = None
    preset_stop_loss_price: DecimalFigure | None = None
    quote_volume: DecimalFigure | None = None
    order_type: str | None = None
    leverage: DecimalFigure | None = None
    margin_mode: str | None = None
    reduce_only: str | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    order_source: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None

    @property
    def status(self) -> OrderStatus | None:
        return known(OrderStatus, self.state)


class OrderDetailRequest(Request[OrderDetail]):
    """Beyond the interface: one order by id, in any state; orderId takes precedence over clientOid."""

    symbol: RequiredSymbol
    product_type: ProductTypeText
    order_id: OrderId = None
    client_oid: ClientOid = None

    def check_together(self) -> None:
        if self.order_id is None and self.client_oid is None:
            raise InvalidRequest("orderId", "orderId or clientOid is needed", None, "Give one of them.")


class FuturesFill(Record, Sided):
    """A futures fill. In hedge mode `side` names the leg, and `trade_side` is open or close.

    A trade id is unique within a symbol at best. One trade may close a position and open another: the exchange then
    sends two fills under one trade id. Within one reply `with_distinct_ids` gives the opening fill an id of its own;
    across pages `unique_key` tells them apart.
    """

    identity = ("trade_id", "symbol")
    normalizers = {"feeDetail": records_of(FeeDetail)}

    trade_id: IdText
    symbol: str
    order_id: IdText | None = None
    price: DecimalFigure
    base_volume: UnsignedSize
    fee_detail: tuple[FeeDetail, ...] = ()
    side: str
    quote_volume: DecimalFigure | None = None
    profit: DecimalFigure | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    trade_scope: str | None = None
    c_time: UtcTime

    @classmethod
    def with_distinct_ids(cls, rows: list[Any]) -> list[Any]:
        """Return the rows of one reply; if one trade closed and opened, only the closing fill keeps the trade's id."""
        trades = [
            (str(row.get("tradeId") or ""), str(row.get("symbol")).upper()) if isinstance(row, Mapping) else ("", "")
            for row in rows
        ]
        if len(set(trades)) == len(trades):
            return rows
        keeper_effects: dict[tuple[str, str], _FillEffect] = {}
        for trade, row in zip(trades, rows, strict=True):
            if trade[0]:
                effect = _FillEffect.of(row)
                keeper_effects[trade] = min(effect, keeper_effects.get(trade, effect))
        distinct: list[Any] = []
        for trade, row in zip(trades, rows, strict=True):
            if trade[0] and (effect := _FillEffect.of(row)) != keeper_effects[trade]:
                row = {**row, "tradeId": f"{trade[0]} {effect.side} {effect.trade_side}"}
            distinct.append(row)
        return distinct

    @property
    def row_id(self) -> str:
        return f"{self.trade_id}|{self.symbol.upper()}"

    @property
    def unique_key(self) -> object:
        """The trade id as the exchange sent it, the symbol, the side and the trade side."""
        trade_id = self.trade_id.partition(" ")[0]
        return trade_id, self.symbol.upper(), self.side.lower(), (self.trade_side or "").lower()

    @property
    def effect_key(self) -> tuple[object, ...]:
        """The fields that decide its effect on a position, and when."""
        direction = (self.symbol, self.side, self.trade_side, self.pos_mode)
        return (*direction, self.base_volume, self.price, self.profit, self.c_time)

    @property
    def is_taker(self) -> bool:
        return same(self.trade_scope, TradeScope.TAKER)


class FuturesFillsRequest(TimedRequest[FuturesFill]):
    """Endpoint 13: futures fills; pages go by tradeId."""

    time_rule = _THREE_MONTHS_FROM_BINDING

    order_id: OrderId = None
    symbol: Symbol = None
    product_type: ProductTypeText
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: RowLimit = None


class TriggerOrder(Record, Sided, InPositionMode, InMarginMode):
    """A trigger (plan) order, past or waiting."""

    identity = ("order_id",)

    plan_type: str | None = None
    symbol: str
    size: SizeFigure | None = None
    order_id: IdText
    execute_order_id: IdText | None = None
    client_oid: str | None = None
    plan_status: str | None = None
    price: DecimalFigure | None = None
    execute_price: DecimalFigure | None = None
    price_avg: DecimalFigure | None = None
    base_volume: SizeFigure | None = None
    callback_ratio: DecimalFigure | None = None
    trigger_price: DecimalFigure | None = None
    trigger_type: str | None = None
    side: str | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    margin_mode: str | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    order_type: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None
    stop_surplus_execute_price: DecimalFigure | None = None
    stop_surplus_trigger_price: DecimalFigure | None = None
    stop_surplus_trigger_type: str | None = None
    stop_loss_execute_price: DecimalFigure | None = None
    stop_loss_trigger_price: DecimalFigure | None = None
    stop_loss_trigger_type: str | None = None

    @classmethod
    def may_be(cls, row: Mapping[str, Any]) -> bool:
        return _is_trigger(row)


class TriggerHistoryRequest(TimedRequest[TriggerOrder]):
    """Endpoint 6: past trigger orders of one plan type. orderId takes precedence over clientOid; both are optional."""

    time_rule = _THREE_MONTHS_FROM_BINDING

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


class LiveTriggersRequest(TimedRequest[TriggerOrder]):
    """Beyond the interface: waiting trigger orders of one plan type."""

    time_rule = THREE_MONTHS

    order_id: OrderId = None
    client_oid: ClientOid = None
    symbol: Symbol = None
    plan_type: _PlanType
    product_type: ProductTypeText
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: RowLimit = None


def _is_trigger(row: Mapping[str, Any]) -> bool:
    """Whether a row has a field that only trigger orders have; a mistaken order would be shown as a stop."""
    return bool(row.get("planType") or row.get("planStatus"))


class _FillEffect(NamedTuple):
    """The effect of a fill on a position, from its words in lower case; closing sorts before opening."""

    opens: bool
    side: str
    trade_side: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        side, trade_side = str(row.get("side", "")).lower(), str(row.get("tradeSide", "")).lower()
        return cls(TradeSide.CLOSE not in trade_side, side, trade_side)

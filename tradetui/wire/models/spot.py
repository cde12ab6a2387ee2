"""Spot: fills, the ledger of account bills, and converts of one coin into another."""

from datetime import datetime
from typing import Annotated

from tradetui.wire.enums import LIVE_BUSINESS_TYPES, BusinessType, GroupType, TradeScope, same
from tradetui.wire.exchange_time import NINETY_DAYS_MS, Ends, Missing, TimeRule
from tradetui.wire.models.futures import FeeDetail, Sided
from tradetui.wire.replies.field_types import DecimalFigure, IdText, UtcTime
from tradetui.wire.replies.record import Record, records_of
from tradetui.wire.requests.parameter import Coin, Count, Milliseconds, OlderThan, OrderId, RowLimit, Symbol, Time, Word
from tradetui.wire.requests.request import TimedRequest


class SpotFill(Record, Sided):
    """A spot fill. Its times are documented as seconds and sent as milliseconds; both are read."""

    identity = ("trade_id", "symbol")
    normalizers = {"feeDetail": records_of(FeeDetail)}

    user_id: IdText | None = None
    symbol: str
    order_id: IdText | None = None
    trade_id: IdText
    order_type: str | None = None
    side: str
    price_avg: DecimalFigure
    size: DecimalFigure
    amount: DecimalFigure | None = None
    c_time: UtcTime
    u_time: UtcTime | None = None
    trade_scope: str | None = None
    fee_detail: tuple[FeeDetail, ...] = ()

    @property
    def is_taker(self) -> bool:
        return same(self.trade_scope, TradeScope.TAKER)


class SpotFillsRequest(TimedRequest[SpotFill]):
    """Endpoint 3: spot fills of the last 90 days; pages go by tradeId."""

    time_rule = TimeRule(span_ms=NINETY_DAYS_MS, window_ms=NINETY_DAYS_MS, from_binding=True)

    symbol: Symbol = None
    order_id: OrderId = None
    start_time: Time = None
    end_time: Time = None
    limit: RowLimit = None
    id_less_than: OlderThan = None


class SpotBill(Record):
    """A movement of the spot ledger. Sources differ on whether `balance` is before or after it."""

    identity = ("bill_id",)

    c_time: UtcTime
    coin: str
    group_type: str | None = None
    business_type: str | None = None
    size: DecimalFigure
    balance: DecimalFigure | None = None
    fees: DecimalFigure | None = None
    bill_id: IdText


class SpotBillsRequest(TimedRequest[SpotBill]):
    """Endpoint 11: the spot ledger; pages go by billId."""

    time_rule = TimeRule(span_ms=NINETY_DAYS_MS)

    coin: Coin = None
    group_type: Annotated[str | None, Word(rule="one of the billing types", choices=tuple(GroupType))] = None
    business_type: Annotated[
        str | None,
        Word(
            rule="one of the business types",
            choices=tuple(BusinessType),
            alternatives=LIVE_BUSINESS_TYPES,
            # The live exchange has many more, all written like this.
            open_ended=r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+",
        ),
    ] = None
    start_time: Time = None
    end_time: Time = None
    limit: Annotated[int | None, Count(maximum=500)] = None
    id_less_than: OlderThan = None


class ConvertRecord(Record):
    """One convert: an amount of one coin for an amount of another."""

    identity = ("id",)

    id: IdText
    ts: UtcTime
    cnvt_price: DecimalFigure | None = None
    fee: DecimalFigure | None = None
    from_coin_size: DecimalFigure
    from_coin: str
    to_coin_size: DecimalFigure
    to_coin: str


class ConvertHistoryRequest(TimedRequest[ConvertRecord]):
    """Endpoint 9: converts between two times, both required."""

    time_rule = TimeRule(span_ms=NINETY_DAYS_MS, both=Ends.REQUIRED, missing=Missing.NEVER)

    start_time: Annotated[int | datetime, Milliseconds(required=True)]
    end_time: Annotated[int | datetime, Milliseconds(required=True)]
    limit: Annotated[int | None, Count(default=20)] = None
    id_less_than: OlderThan = None

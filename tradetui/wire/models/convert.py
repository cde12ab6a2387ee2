"""Convert history (endpoint 9)."""

from datetime import datetime
from typing import Annotated, ClassVar

from tradetui.wire.exchange_time import NINETY_DAYS_MS, Ends, Missing, TimeRule
from tradetui.wire.replies.field_types import DecimalFigure, IdText, UtcTime
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Count, Milliseconds, OlderThan
from tradetui.wire.requests.request import TimedRequest


class ConvertRecord(Record):
    """One convert: so much of one coin for so much of another."""

    identity: ClassVar[tuple[str, ...]] = ("id",)

    id: IdText
    ts: UtcTime
    cnvt_price: DecimalFigure | None = None
    fee: DecimalFigure | None = None
    from_coin_size: DecimalFigure
    from_coin: str
    to_coin_size: DecimalFigure
    to_coin: str


class ConvertHistoryRequest(TimedRequest[ConvertRecord]):
    """Endpoint 9: converts between two moments, both required."""

    time_rule: ClassVar[TimeRule | None] = TimeRule(span_ms=NINETY_DAYS_MS, both=Ends.REQUIRED, missing=Missing.NEVER)

    start_time: Annotated[int | datetime, Milliseconds(required=True)]
    end_time: Annotated[int | datetime, Milliseconds(required=True)]
    limit: Annotated[int | None, Count(default=20)] = None
    id_less_than: OlderThan = None

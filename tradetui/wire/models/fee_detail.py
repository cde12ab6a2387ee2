"""The fee detail of a fill: an object on spot, a list of objects on futures."""

from tradetui.wire.replies.field_types import DecimalFigure
from tradetui.wire.replies.record import Record


class FeeDetail(Record):
    """One fee of a fill; a negative fee was paid."""

    deduction: str | None = None
    fee_coin: str | None = None
    total_deduction_fee: DecimalFigure | None = None
    total_fee: DecimalFigure | None = None

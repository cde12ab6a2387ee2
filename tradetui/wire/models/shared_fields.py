"""What records of several areas share: the fee detail of a fill, the side, the position mode, the margin mode."""

from typing import TYPE_CHECKING

from tradetui.wire.enums import MarginMode, PositionMode, Side, known, same
from tradetui.wire.replies.field_types import DecimalFigure
from tradetui.wire.replies.record import Record


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
    """A record that has the account's position mode, as it was then."""

    if TYPE_CHECKING:
        pos_mode: str | None

    @property
    def position_mode(self) -> PositionMode | None:
        """The account's position mode; None when it is neither of the two known."""
        return known(PositionMode, self.pos_mode)


class InMarginMode:
    if TYPE_CHECKING:
        margin_mode: str | None

    @property
    def margin(self) -> MarginMode | None:
        """Crossed or isolated; None when it is neither."""
        return MarginMode.parse(self.margin_mode)

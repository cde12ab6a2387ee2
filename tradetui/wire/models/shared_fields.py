"""What records of several areas share: the fee detail of a fill, the side, the position mode, the margin mode."""

from typing import Protocol

from tradetui.wire.enums import MarginMode, PositionMode, Side, same
from tradetui.wire.replies.field_types import DecimalFigure
from tradetui.wire.replies.record import Record


class FeeDetail(Record):
    """One fee of a fill; a negative fee was paid."""

    deduction: str | None = None
    fee_coin: str | None = None
    total_deduction_fee: DecimalFigure | None = None
    total_fee: DecimalFigure | None = None


class _WithSide(Protocol):
    @property
    def side(self) -> str | None: ...


class _WithPosMode(Protocol):
    @property
    def pos_mode(self) -> str | None: ...


class _WithMarginMode(Protocol):
    @property
    def margin_mode(self) -> str | None: ...


class Sided:
    """A record that has a side."""

    @property
    def is_buy(self: _WithSide) -> bool:
        """Whether `side` says buy, in any case."""
        return same(self.side, Side.BUY)


class InPositionMode:
    """A record that has the account's position mode, as it was then."""

    @property
    def position_mode(self: _WithPosMode) -> PositionMode | None:
        """The account's position mode; None when it is neither of the two known."""
        return PositionMode.parse(self.pos_mode)


class InMarginMode:
    """A record that has a margin mode."""

    @property
    def margin(self: _WithMarginMode) -> MarginMode | None:
        """Crossed or isolated; None when it is neither."""
        return MarginMode.parse(self.margin_mode)

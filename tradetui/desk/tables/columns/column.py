"""What a column is, and how the common kinds are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

from tradetui.desk.tables.number_format import UNKNOWN, instant, moment, number, text_as_given
from tradetui.wire.text.decimal_text import trimmed_digits

UTC_ZONE: Final[tzinfo] = UTC
UNREADABLE_MARK: Final = "?"
LONGEST_DERIVED: Final = 8
"""Places a figure that was worked out is shown with; what was received keeps its own."""


class Tone(StrEnum):
    """What a cell's text means; a theme gives each a colour, and the text alone says it too."""

    PLAIN = "plain"
    MUTED = "muted"
    GAIN = "gain"
    LOSS = "loss"
    LONG = "long"
    SHORT = "short"
    WARN = "warn"


Text = Callable[[Any, tzinfo], str]
Value = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a kind of record.

    `id` is the interface's name of the field where it is one; `value` is what is exported and sorted by (or by
    `order`, where the value itself sorts badly), `text` what is shown; `width` is in cells, and a column of numbers
    gets wider where one does not fit. `unit` says what the figure is in; "" where the row itself says it. A received
    time is exported twice: as it was received, and as a moment that a person can read.
    """

    id: str
    title: str
    value: Value
    text: Text
    width: int
    right: bool = False
    tone: Callable[[Any], Tone] | None = None
    unit: str = ""
    order: Value | None = None
    is_received_time: bool = False

    def cell(self, row: Any, zone: tzinfo) -> tuple[str, Tone]:
        """What is drawn. A field that came and could not be read shows its text as it came, with a question mark."""
        unreadable = getattr(row, "unreadable", None)
        if unreadable and self.id in unreadable:
            return f"{unreadable[self.id]}{UNREADABLE_MARK}", Tone.WARN
        return self.text(row, zone), Tone.PLAIN if self.tone is None else self.tone(row)

    def exact(self, row: Any, zone: tzinfo) -> str:
        """The value without loss, as it is copied: all digits and no thousands marks, moments in ISO 8601."""
        unreadable = getattr(row, "unreadable", None)
        if unreadable and self.id in unreadable:
            return str(unreadable[self.id])
        value = self.value(row)
        if value is None or value == "":
            return UNKNOWN
        if isinstance(value, Decimal):
            return trimmed_digits(value)
        if isinstance(value, datetime):
            return instant(value, zone)
        if isinstance(value, str | int):
            return str(value)
        return self.text(row, zone)

    def sort_key(self, row: Any) -> Any:
        """What rows are ordered by; None sorts last."""
        return (self.order or self.value)(row)


def get(name: str) -> Value:
    """The value of an attribute."""
    return attrgetter(name)


def by_sign(value: Value) -> Callable[[Any], Tone]:
    """Gain above zero, loss below."""

    def tone(row: Any) -> Tone:
        amount = value(row)
        if amount is None or amount == 0:
            return Tone.PLAIN
        return Tone.GAIN if amount > 0 else Tone.LOSS

    return tone


def text_column(id_: str, title: str, width: int, name: str | None = None, *, upper: bool = False) -> Column:
    """Words as received."""
    value = get(name or id_)
    shown: Text = (
        (lambda row, _: text_as_given(value(row)).upper()) if upper else (lambda row, _: text_as_given(value(row)))
    )
    return Column(id_, title, value, shown, width)


def id_column(id_: str, title: str, width: int, name: str) -> Column:
    """An id: text that is ordered like the number it mostly is."""
    value = get(name)

    def order(row: Any) -> tuple[int, str] | None:
        text = value(row)
        return None if text is None else (len(text), text)

    return Column(id_, title, value, lambda row, _: text_as_given(value(row)), width, order=order)


def number_column(
    id_: str,
    title: str,
    width: int,
    name: str | None = None,
    *,
    profit: bool = False,
    derived: bool = False,
    unit: str = "",
) -> Column:
    """A figure with all its digits, or, where some rows' were worked out, with eight places at most."""
    value = get(name or id_)
    at_most = LONGEST_DERIVED if derived else None
    return Column(
        id_,
        title,
        value,
        lambda row, _: number(value(row), signed=profit, at_most=at_most),
        width,
        right=True,
        tone=by_sign(value) if profit else None,
        unit=unit,
    )


def time_column(id_: str, title: str, name: str | None = None) -> Column:
    """A moment to the second; copied and exported with its milliseconds."""
    value = get(name or id_)
    return Column(id_, title, value, lambda row, zone: moment(value(row), zone), 14, is_received_time=True)

"""Columns, the makers of the common kinds, and which of them a table shows with which sums.

Makes columns of figures; rounding is for the eye, and a column's value keeps every digit.

Every field of the interface is a column already (`every_field`). A further one has its field's name where it has one. A
cell is drawn from its row alone, and does not change with time while the row stays the same. Where room is short, the
last column of a list goes first, and those that `ranked` keeps longest go last. A field of a fill that is to be shown
for an order needs a sum in `rows/filled_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, tzinfo
from decimal import Decimal
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, TypeAlias

from tradetui.desk.tables.cells.cell_format import (
    FEE_PLACES,
    FEWEST_COIN_PLACES,
    LONGEST_DERIVED,
    MONEY_PLACES,
    MOST_COIN_PLACES,
    UNKNOWN,
    CellFormat,
    decimals,
    instant,
    number,
    percent_points,
    text_or_unknown,
)
from tradetui.desk.tables.rows.row_source import RowT, RowT_co, RowT_contra
from tradetui.desk.tables.time_format import moment_text, short_moment_text
from tradetui.trading.contract_math import is_dollar
from tradetui.wire.decimal_text import trimmed_digits

UNREADABLE_MARK: Final = "?"
UNRANKED: Final = 1000  # the rank of a column that was given none: it goes before those that have one


class Tone(StrEnum):
    """The meaning of a cell's text; a theme gives each a colour, and the text alone says it too."""

    PLAIN = "plain"
    MUTED = "muted"
    GAIN = "gain"
    LOSS = "loss"
    LONG = "long"
    SHORT = "short"
    WARN = "warn"


class Column(NamedTuple, Generic[RowT_contra]):
    """One column of a kind of row."""

    id: str  # the interface's name of the field, where it is one
    title: str
    width: int  # in cells; a column of numbers gets wider where one does not fit
    value: Callable[[RowT_contra], object]  # what is exported, and sorted by where there is no `order`
    text: Callable[[RowT_contra, CellFormat], str]  # what is shown
    right: bool = False
    tone: Callable[[RowT_contra], Tone] | None = None
    unit: str = ""  # what the figure is in; "" where the row itself says it
    order: Callable[[RowT_contra], object] | None = None  # what is sorted by where the value sorts badly
    is_received_time: bool = False  # such a time is exported twice: as it was received, and as people read it
    rank: int = UNRANKED  # where room is short the column with the greatest goes first, of equal ones the last
    sources: tuple[tuple[str, Callable[[RowT_contra], object]], ...] = ()
    """The interface's fields that the column puts into words, by name: exported too, and matched by a filter."""
    short: Callable[[RowT_contra, CellFormat], str] | None = None
    """What is shown where there is no room for `text`; no wider than the title."""

    def cell(self, row: RowT_contra, cell_format: CellFormat) -> tuple[str, Tone]:
        """The drawn text. A field that came and could not be read shows its text as it came, with a question mark."""
        if (unreadable := unreadable_text(row, self.id)) is not None:
            return f"{unreadable}{UNREADABLE_MARK}", Tone.WARN
        return self.text(row, cell_format), Tone.PLAIN if self.tone is None else self.tone(row)

    def exact(self, row: RowT_contra, cell_format: CellFormat) -> str:
        """The value without loss, as it is copied: all digits and no thousands marks, moments in ISO 8601."""
        if (unreadable := unreadable_text(row, self.id)) is not None:
            return unreadable
        value = self.value(row)
        if value is None or value == "":
            return UNKNOWN
        if isinstance(value, Decimal):
            return trimmed_digits(value)
        if isinstance(value, datetime):
            return instant(value, cell_format.zone)
        if isinstance(value, str | int):
            return str(value)
        return self.text(row, cell_format)

    def sort_key(self, row: RowT_contra) -> object:
        """The key that rows are ordered by; None sorts last."""
        return (self.order or self.value)(row)


def ranked(*columns: Column[RowT], kept_longest: str) -> tuple[Column[RowT], ...]:
    """The columns with ranks from 1 on in the order of `kept_longest`, ids with commas between; others keep theirs.

    Raises ValueError where no column has one of the ids.
    """
    ranks = {id_: rank for rank, id_ in enumerate(kept_longest.split(","), 1)}
    by_rank = tuple(column._replace(rank=ranks.pop(column.id, column.rank)) for column in columns)
    if ranks:
        raise ValueError(f"no column has the id {next(iter(ranks))}")
    return by_rank


def unreadable_text(row: object, field: str) -> str | None:
    """The text of a field, by the interface's name, that came and could not be read; None of every other."""
    unreadable: Mapping[str, str] | None = getattr(row, "unreadable", None)
    return unreadable.get(field) if unreadable else None


def tone_of(amount: Decimal | int | None) -> Tone:
    if amount is None or amount == 0:
        return Tone.PLAIN
    return Tone.GAIN if amount > 0 else Tone.LOSS


def by_sign(value: Callable[[RowT], Decimal | int | None]) -> Callable[[RowT], Tone]:
    return lambda row: tone_of(value(row))


def text_column(
    id_: str, title: str, width: int, value: Callable[[RowT], object], tone: Callable[[RowT], Tone] | None = None
) -> Column[RowT]:
    return Column(id_, title, width, value, lambda row, _: text_or_unknown(value(row)), tone=tone)


def id_column(id_: str, title: str, width: int, value: Callable[[RowT], str | None]) -> Column[RowT]:
    """An id: text that is ordered like the number it mostly is."""

    def order(row: RowT) -> tuple[int, str] | None:
        text = value(row)
        return None if text is None else (len(text), text)

    return Column(id_, title, width, value, lambda row, _: text_or_unknown(value(row)), order=order)


def number_column(
    id_: str, title: str, width: int, value: Callable[[RowT], Decimal | int | None], *, unit: str = ""
) -> Column[RowT]:
    """A figure in a unit that no rule of rounding is made for: it is shown with all its digits."""
    return Column(id_, title, width, value, lambda row, _: number(value(row)), right=True, unit=unit)


def time_column(
    id_: str, title: str, value: Callable[[RowT], datetime | None], *, received: bool = True
) -> Column[RowT]:
    """A moment to the second, from a reply of the exchange if `received`; copied and exported with milliseconds."""

    def shown(row: RowT, cell_format: CellFormat) -> str:
        moment = value(row)
        return UNKNOWN if moment is None else moment_text(moment, cell_format.zone, cell_format.today, seconds=True)

    return Column(id_, title, 15, value, shown, is_received_time=received)


def narrow_time(column: Column[RowT]) -> Column[RowT]:
    """The column of moments, shown to the minute; where room is short, a moment of another day shows its day alone."""

    def shown(as_text: Callable[[datetime, tzinfo, date | None], str], row: RowT, cell_format: CellFormat) -> str:
        moment = column.value(row)
        return as_text(moment, cell_format.zone, cell_format.today) if isinstance(moment, datetime) else UNKNOWN

    return column._replace(text=partial(shown, moment_text), width=6, short=partial(shown, short_moment_text))


TotalTexts: TypeAlias = Mapping[str, tuple[str, Tone]]  # of the row under the rows, by column id


class Footer(NamedTuple):
    """The footer of a table: a row of totals, and a note under that."""

    totals: TotalTexts = MappingProxyType({})
    note: str = ""
    short_note: str | None = None  # in the note's place, where all totals that the note repeats are shown whole
    noted_totals: frozenset[str] | None = None  # column ids of the totals that the note repeats; None: all of them

    @property
    def repeated_totals(self) -> TotalTexts:
        names = self.noted_totals
        return self.totals if names is None else {id_: self.totals[id_] for id_ in self.totals.keys() & names}


class TableView(NamedTuple, Generic[RowT_co]):
    """The columns of one table, and its footer."""

    columns: tuple[Column[RowT_co], ...]
    columns_for: Callable[[Iterable[RowT_co]], tuple[Column[RowT_co], ...]] | None = None  # those that suit these rows
    more_columns: tuple[Column[RowT_co], ...] = ()  # not shown before they are chosen
    footer: Callable[[Iterable[RowT_co], CellFormat], Footer] | None = None
    headline: Callable[[Iterable[RowT_co], CellFormat], str] | None = None  # the one figure of a panel out of sight


def money(amount: Decimal | None, coin: str | None, cell_format: CellFormat, *, signed: bool = False) -> str:
    """An amount of a coin: two decimals in dollar coins, four to eight in others by what the coin is worth."""
    if amount is None or cell_format.exact:
        return number(amount, signed=signed, at_most=LONGEST_DERIVED)
    return number(amount, signed=signed, places=_money_places(amount, coin, cell_format, MONEY_PLACES))


def fee(amount: Decimal | None, coin: str | None, cell_format: CellFormat) -> str:
    """A fee that stands alone: four decimals in dollar coins, since most are a few cents.

    No fee is the result of a division: an exact one is shown with all its digits.
    """
    if amount is None or cell_format.exact:
        return number(amount, signed=True)
    return number(amount, signed=True, places=_money_places(amount, coin, cell_format, FEE_PLACES))


def _money_places(amount: Decimal, coin: str | None, cell_format: CellFormat, in_dollars: int) -> int:
    if coin is not None and is_dollar(coin):
        return in_dollars
    by_worth = cell_format.coin_places.get((coin or "").upper())
    if by_worth is not None:
        return by_worth
    # Nobody knows what the coin is worth: its own digits, without idle zeros.
    return min(MOST_COIN_PLACES, max(FEWEST_COIN_PLACES, decimals(amount.normalize())))


def price(amount: Decimal | None, symbol: str | None, cell_format: CellFormat, *, derived: bool = False) -> str:
    """A price with the places of its contract's step, where they are known; else with its own digits.

    One that is `derived` was worked out, and may have no end.
    """
    places = None if cell_format.exact else cell_format.precision_of(symbol).price
    return number(amount, places=places, at_most=LONGEST_DERIVED if derived else None)


def size(amount: Decimal | None, symbol: str | None, cell_format: CellFormat) -> str:
    """A size with at least the places of its contract's step; it is never rounded."""
    step_places = None if cell_format.exact else cell_format.precision_of(symbol).size
    if amount is None or step_places is None or decimals(amount) >= step_places:
        return number(amount)
    return number(amount, places=step_places)


def price_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    symbol: Callable[[RowT], str | None],
    *,
    derived: bool = False,
) -> Column[RowT]:
    """Prices; `derived` says that some rows' were worked out."""

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return price(value(row), symbol(row), cell_format, derived=derived)

    return Column(id_, title, width, value, shown, right=True, unit="USDT, USDC or USD")


def size_column(
    id_: str, title: str, width: int, value: Callable[[RowT], Decimal | None], symbol: Callable[[RowT], str | None]
) -> Column[RowT]:
    def shown(row: RowT, cell_format: CellFormat) -> str:
        return size(value(row), symbol(row), cell_format)

    return Column(id_, title, width, value, shown, right=True, unit="the contract's coin")


def money_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    coin: Callable[[RowT], str | None],
    *,
    profit: bool = False,
    signed: bool = False,
    unit: str = "margin coin",
) -> Column[RowT]:
    """Money in the coin of each row, `signed` where it may go either way; `profit` gives it the tone of its sign too.

    A deposit is no result: what only moves money has a sign and no tone.
    """

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return money(value(row), coin(row), cell_format, signed=signed or profit)

    return Column(id_, title, width, value, shown, right=True, tone=by_sign(value) if profit else None, unit=unit)


def percent_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    *,
    signed: bool = False,
    tone: Callable[[Decimal], Tone] = lambda _: Tone.PLAIN,
    order: Callable[[RowT], object] | None = None,
    unit: str,
) -> Column[RowT]:
    """A part in per cent, which the title says, in the `tone` of what a known part means."""

    def tone_of_row(row: RowT) -> Tone:
        part = value(row)
        return Tone.PLAIN if part is None else tone(part)

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return percent_points(value(row), signed=signed, exact=cell_format.exact)

    return Column(id_, title, width, value, shown, right=True, tone=tone_of_row, unit=unit, order=order)

"""Columns, the makers of the common kinds, and the view that chooses columns and sums of a table.

Makes columns of figures; only the text is rounded, a column's value keeps every digit.

Every field of the interface is already a column (`every_field`). A further column has its field's name if it has one.
A cell depends on its row alone, and does not change with time while the row stays the same. If room is short, the last
column of a list is dropped first, and the columns that `ranked` keeps longest last. A field of a fill that is shown for
an order needs a sum in `rows/filled_order`.
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
UNRANKED: Final = 1000  # the rank of a column without one: it is dropped before the ranked ones


class Tone(StrEnum):
    """The meaning of a cell's text; a theme gives each a colour, but the text alone is enough."""

    PLAIN = "plain"
    MUTED = "muted"
    GAIN = "gain"
    LOSS = "loss"
    LONG = "long"
    SHORT = "short"
    WARN = "warn"
    MOVED = "moved"


class Column(NamedTuple, Generic[RowT_contra]):
    """One column of a table."""

    id: str  # the interface's name of the field, if it is one
    title: str
    width: int  # in characters; a column of numbers grows if a number does not fit
    value: Callable[[RowT_contra], object]  # exported, and the sort key if there is no `order`
    text: Callable[[RowT_contra, CellFormat], str]  # shown
    right: bool = False
    tone: Callable[[RowT_contra], Tone] | None = None
    unit: str = ""  # of the figure; "" if the row names it
    order: Callable[[RowT_contra], object] | None = None  # the sort key, if the value sorts badly
    is_received_time: bool = False  # such a time is exported twice: as received and in ISO 8601
    rank: int = UNRANKED  # if room is short, the column with the highest rank is dropped first; of equal ones the last
    sources: tuple[tuple[str, Callable[[RowT_contra], object]], ...] = ()
    """The interface's fields that the column rephrases, by name; they are exported too, and matched by a filter."""
    short: Callable[[RowT_contra, CellFormat], str] | None = None
    """The text if there is no room for `text`; no wider than the title."""

    def cell(self, row: RowT_contra, cell_format: CellFormat) -> tuple[str, Tone]:
        """Return the shown text; an unreadable field shows its received text with a question mark."""
        if (unreadable := unreadable_text(row, self.id)) is not None:
            return f"{unreadable}{UNREADABLE_MARK}", Tone.WARN
        return self.text(row, cell_format), Tone.PLAIN if self.tone is None else self.tone(row)

    def exact(self, row: RowT_contra, cell_format: CellFormat) -> str:
        """Return the value without loss, for copying: all digits, no thousands separators, times in ISO 8601."""
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
        """Return the sort key of a row; None sorts last."""
        return (self.order or self.value)(row)


def ranked(*columns: Column[RowT], kept_longest: str) -> tuple[Column[RowT], ...]:
    """Rank the columns from 1 in the order of `kept_longest`, ids separated by commas; others keep their ranks.

    Raises ValueError if no column has one of the ids.
    """
    ranks = {id_: rank for rank, id_ in enumerate(kept_longest.split(","), 1)}
    by_rank = tuple(column._replace(rank=ranks.pop(column.id, column.rank)) for column in columns)
    if ranks:
        raise ValueError(f"no column has the id {next(iter(ranks))}")
    return by_rank


def unreadable_text(row: object, field: str) -> str | None:
    """Return the received text of a field (by the interface's name) that could not be read; else None."""
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
    """Make a column of ids, sorted like the numbers they mostly are."""

    def order(row: RowT) -> tuple[int, str] | None:
        text = value(row)
        return None if text is None else (len(text), text)

    return Column(id_, title, width, value, lambda row, _: text_or_unknown(value(row)), order=order)


def number_column(
    id_: str, title: str, width: int, value: Callable[[RowT], Decimal | int | None], *, unit: str = ""
) -> Column[RowT]:
    """Make a column of figures in a unit without a rule of rounding: all digits are shown."""
    return Column(id_, title, width, value, lambda row, _: number(value(row)), right=True, unit=unit)


def time_column(
    id_: str, title: str, value: Callable[[RowT], datetime | None], *, received: bool = True
) -> Column[RowT]:
    """Make a column of times to the second, from the exchange if `received`; copied and exported with milliseconds."""

    def shown(row: RowT, cell_format: CellFormat) -> str:
        moment = value(row)
        return UNKNOWN if moment is None else moment_text(moment, cell_format.zone, cell_format.today, seconds=True)

    return Column(id_, title, 15, value, shown, is_received_time=received)


def narrow_time(column: Column[RowT]) -> Column[RowT]:
    """Show a column of times to the minute; if room is short, only the date for other days."""

    def shown(as_text: Callable[[datetime, tzinfo, date | None], str], row: RowT, cell_format: CellFormat) -> str:
        moment = column.value(row)
        return as_text(moment, cell_format.zone, cell_format.today) if isinstance(moment, datetime) else UNKNOWN

    return column._replace(text=partial(shown, moment_text), width=6, short=partial(shown, short_moment_text))


TotalTexts: TypeAlias = Mapping[str, tuple[str, Tone]]  # of the row below the rows, by column id


class Footer(NamedTuple):
    """The footer of a table: a row of totals, and a note below it."""

    totals: TotalTexts = MappingProxyType({})
    note: str = ""
    short_note: str | None = None  # replaces the note if all totals that the note repeats are visible
    noted_totals: frozenset[str] | None = None  # column ids of the totals that the note repeats; None: all

    @property
    def repeated_totals(self) -> TotalTexts:
        names = self.noted_totals
        return self.totals if names is None else {id_: self.totals[id_] for id_ in self.totals.keys() & names}


class TableView(NamedTuple, Generic[RowT_co]):
    """The columns of a table, and its footer."""

    columns: tuple[Column[RowT_co], ...]
    columns_for: Callable[[Iterable[RowT_co]], tuple[Column[RowT_co], ...]] | None = None  # suit these rows
    more_columns: tuple[Column[RowT_co], ...] = ()  # hidden until chosen
    footer: Callable[[Iterable[RowT_co], CellFormat], Footer] | None = None
    headline: Callable[[Iterable[RowT_co], CellFormat], str] | None = None  # the one figure of a hidden panel


def money(amount: Decimal | None, coin: str | None, cell_format: CellFormat, *, signed: bool = False) -> str:
    """Write an amount of a coin: two decimals in dollar coins, four to eight in others by the coin's price."""
    if amount is None or cell_format.exact:
        return number(amount, signed=signed, at_most=LONGEST_DERIVED)
    return number(amount, signed=signed, places=_money_places(amount, coin, cell_format, MONEY_PLACES))


def fee(amount: Decimal | None, coin: str | None, cell_format: CellFormat) -> str:
    """Write a single fee: four decimals in dollar coins, since most fees are a few cents.

    No fee is the result of a division, so an exact one is shown with all its digits.
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
    # The coin's price is unknown: show its own digits without trailing zeros.
    return min(MOST_COIN_PLACES, max(FEWEST_COIN_PLACES, decimals(amount.normalize())))


def price(amount: Decimal | None, symbol: str | None, cell_format: CellFormat, *, derived: bool = False) -> str:
    """Write a price with the decimals of its contract's step if known, else with its own digits.

    A `derived` price was computed, and may have endless decimals.
    """
    places = None if cell_format.exact else cell_format.precision_of(symbol).price
    return number(amount, places=places, at_most=LONGEST_DERIVED if derived else None)


def size(amount: Decimal | None, symbol: str | None, cell_format: CellFormat) -> str:
    """Write a size with at least the decimals of its contract's step; it is never rounded."""
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
    """Make a column of prices; `derived` means that some were computed."""

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
    """Make a column of money in each row's coin; `signed` writes a plus, `profit` also sets the tone by the sign.

    A deposit is not a result: an amount that was only moved has a sign and no tone.
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
    """Make a column of fractions in per cent, as its title says; `tone` gives a known fraction its tone."""

    def tone_of_row(row: RowT) -> Tone:
        part = value(row)
        return Tone.PLAIN if part is None else tone(part)

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return percent_points(value(row), signed=signed, exact=cell_format.exact)

    return Column(id_, title, width, value, shown, right=True, tone=tone_of_row, unit=unit, order=order)

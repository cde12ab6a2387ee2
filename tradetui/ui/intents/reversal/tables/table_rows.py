"""The parts of all tables of the reversal dialog: rows in aligned columns, figures as text, notes, and marks.

A mark shows the value of a figure when the trader last looked, so that no change stays unnoticed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from textual.content import Content

from tradetui.desk.reversal.preview import Change, ChangedFact, Preview
from tradetui.desk.tables.cells.cell_format import MONEY_PLACES, UNKNOWN, decimals, number
from tradetui.trading.contract_math import exact_digits, is_dollar
from tradetui.wire.text import scrub

_PLACES_OF_COINS: Final = 6
_LIQUIDATION_FIGURES: Final = 4
WARNING: Final = "bold $warn"
DIFFERENT: Final = "DIFFERENT"  # marks a row whose outcome is not as previewed
_GAP: Final = 3
_WIDE_FROM: Final = 98  # cells from which notes are behind their rows
_AIRY_FROM: Final = 30  # lines from which blank lines part the tables
_MANY_ORDERS_FROM: Final = 44  # lines from which many orders are listed
_LABEL: Final = 18


@dataclass(frozen=True, slots=True)
class Room:
    """The cells and lines for the preview and the pinned part below it."""

    width: int
    height: int

    @property
    def is_wide(self) -> bool:
        return self.width >= _WIDE_FROM

    @property
    def is_airy(self) -> bool:
        return self.height >= _AIRY_FROM

    @property
    def most_orders(self) -> int:
        """The most orders and stops listed one by one, before unchanged ones become one row."""
        return 20 if self.height >= _MANY_ORDERS_FROM else 5


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: its name, its cells, a note behind them, its style, and a mark of its changes.

    The note is quiet, except in a row with a warning, which has the warning's style as a whole.
    """

    name: str
    cells: Sequence[str]
    note: str = ""
    style: str = ""
    changed: str | None = None
    cell_styles: Sequence[str] = ()
    """The cells' own styles, where they are not the row's."""
    keeps_note: bool = False
    """Whether a note that does not fit has a line of its own; else it makes room for the mark."""


def table(rows: Sequence[TableRow], widths: Sequence[int], room: Room) -> Iterator[Content]:
    """Yield the rows in columns of at least these widths: names left-aligned, cells right-aligned."""
    name_width = max(widths[0], *(len(row.name) for row in rows))
    columns = [
        max(width, *(len(row.cells[index]) + 1 for row in rows if index < len(row.cells)))
        for index, width in enumerate(widths[1:])
    ]
    for row in rows:
        cells = [f"{scrub(cell):>{width}}" for cell, width in zip(row.cells, columns, strict=False)]
        styles = row.cell_styles or (row.style,) * len(cells)
        parts = [(f"{scrub(row.name):<{name_width}}", row.style or "$quiet"), *zip(cells, styles, strict=True)]
        remarks = _remarks(row, room, used=name_width + sum(map(len, cells)))
        yield Content.assemble(*parts, *remarks.behind)
        if remarks.below:
            yield Content.assemble(*remarks.below)


class _Remarks(NamedTuple):
    """The styled texts that follow a row's cells: `behind` them on their line, and on a line of their own `below`."""

    behind: Sequence[tuple[str, str]]
    below: Sequence[tuple[str, str]]


def _remarks(row: TableRow, room: Room, *, used: int) -> _Remarks:
    """Return the note and the mark of a row whose cells use `used` cells; the note may be left out, the mark never."""
    mark = "" if row.changed is None else f" ◂ {scrub(row.changed)}"
    note = f"{' ' * _GAP}{scrub(row.note)}" if row.note else ""
    mark_fits, both_fit = used + len(mark) <= room.width, used + len(note) + len(mark) <= room.width
    shows_note = note and (row.keeps_note or (room.is_wide and (both_fit or not mark)))
    behind: list[tuple[str, str]] = []
    below: list[tuple[str, str]] = []
    if shows_note:
        (behind if both_fit else below).append((note, row.style if row.style.endswith("$warn") else "$quiet"))
    if mark:
        (behind if mark_fits else below).append((mark, WARNING))
    return _Remarks(behind, below)


def line(label: str, text: str, style: str = "", *, width: int | None = None) -> Content:
    """A label in a column of its own, then text, wrapped under itself at `width` cells, or else by the dialog."""
    text = scrub(text)
    if width is not None:
        text = f"\n{' ' * _LABEL}".join(textwrap.wrap(text, max(_LABEL, width - _LABEL)))
    return Content.assemble((f"{label:<{_LABEL - 1}} ", "$quiet"), (text, style))


class Marks:
    """The values of changed rows when the trader last looked at them."""

    def __init__(self, changed: Iterable[Change] = ()) -> None:
        self._before = {(change.fact, change.row): change.before for change in changed}

    def before(self, fact: ChangedFact, row: str = "") -> str | None:
        """Return the earlier value; None if it has not changed."""
        return self._before.get((fact, row))

    def was(self, fact: ChangedFact, row: str = "") -> str | None:
        """Describe a change, `size was 0.2934`; None if there is none."""
        before = self.before(fact, row)
        return None if before is None else f"{row or fact} was {before}"

    def were(self, *facts: ChangedFact) -> str | None:
        """Describe changes of these facts in all rows: `leverage was 10x, leverage SHORT was 5x`; None without any."""
        changed = ((fact, row, before) for (fact, row), before in self._before.items() if fact in facts)
        return ", ".join(f"{fact} {row}".rstrip() + f" was {before}" for fact, row, before in changed) or None


@dataclass(frozen=True, slots=True)
class Figures:
    """Writes prices with `price_places` decimals, or their own where None; sizes with at least theirs; money."""

    price_places: int | None
    margin_coin: str
    size_places: int = 0

    def size(self, amount: Decimal, *, signed: bool = False) -> str:
        """A size with every digit, and with the zeros of the contract's step."""
        exact = Decimal(exact_digits(amount))
        return number(exact, signed=signed, places=max(self.size_places, decimals(exact)) if exact else None)

    def price(self, price: Decimal | None) -> str:
        return number(price, places=self.price_places)

    def money(self, amount: Decimal | None, *, signed: bool = False) -> str:
        places = MONEY_PLACES if is_dollar(self.margin_coin) else _PLACES_OF_COINS
        return number(amount, signed=signed, places=places)

    def money_title(self, title: str) -> str:
        """Return the title of an amount, with the margin coin if neighbouring amounts are in dollars."""
        return title if is_dollar(self.margin_coin) else f"{title} {self.margin_coin}"


def figures_of(preview: Preview) -> Figures:
    """The figures of a preview's contract; without decimals of its own, with the most of the preview's prices."""
    places = preview.contract.price_place if preview.contract is not None else None
    if places is None:
        prices = [order.price for order in preview.resting]
        prices += [leg.mark for leg in preview.positions if leg.symbol == preview.target.symbol]
        if preview.estimates is not None:
            prices.append(preview.estimates.costs.price)
        places = max((decimals(price.normalize()) for price in prices if price is not None), default=None)
    size_places = (preview.contract.volume_place if preview.contract is not None else None) or 0
    return Figures(places, preview.plan.params.margin_coin if preview.plan is not None else "", size_places)


def per_cent(part: Decimal | None, *, signed: bool = False, places: int = 2) -> str:
    return UNKNOWN if part is None else f"{number(part * 100, signed=signed, places=places)} %"


def liquidation(price: Decimal) -> str:
    """A liquidation price of ours, with as many digits as are meaningful."""
    exponent = price.adjusted() - _LIQUIDATION_FIGURES + 1
    rounded = price.quantize(Decimal((0, (1,), exponent)))
    return number(Decimal(f"{rounded:f}"))


def estimate(text: str) -> str:
    """The figure marked as an estimate; an unknown one is unchanged."""
    return text if text == UNKNOWN else f"~{text}"

"""What stands under a table's rows and does not scroll: a rule and the totals, and a note."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import TotalTexts
from tradetui.desk.tables.rows.row_source import RowSource, RowT
from tradetui.wire.text.sanitize import scrub

FEWEST_ROWS: Final = 3
"""Rows that are rather shown than anything under them."""
FEWEST_ABOVE_TOTALS: Final = 8
"""Rows that are rather shown than totals, which the note says in short."""


class Footer(Generic[RowT]):
    """The totals and the note of the rows a table shows; `totals` are texts and tones by the column's id."""

    def __init__(
        self,
        totals: Callable[[Iterable[RowT], CellFormat], TotalTexts] | None = None,
        note: Callable[[Iterable[RowT], CellFormat], str] | None = None,
        short_note: Callable[[Iterable[RowT], CellFormat], str] | None = None,
    ) -> None:
        self._totals_of = totals
        self._note_of = note
        self._short_note_of = short_note
        self._count = 0
        self.totals: TotalTexts = {}
        self.note = ""
        self.short_note = ""
        """What stands in the note's place where every total stands under its column."""

    def bring_up(self, rows: RowSource[RowT], cell_format: CellFormat) -> bool:
        """Work out totals and note of these rows; whether either reads otherwise than before."""
        before = (self.totals, self.note, self.short_note)
        self._count = rows.count
        has_rows = rows.count > 0
        self.totals = self._totals_of(_rows_of(rows), cell_format) if has_rows and self._totals_of else {}
        self.note = scrub(self._note_of(_rows_of(rows), cell_format)) if has_rows and self._note_of else ""
        self.short_note = self.note
        if has_rows and self._short_note_of is not None:
            self.short_note = scrub(self._short_note_of(_rows_of(rows), cell_format))
        return before != (self.totals, self.note, self.short_note)

    @property
    def lines(self) -> int:
        return 2 * bool(self.totals) + bool(self.note)

    def parts(self, room: int) -> tuple[bool, bool, bool]:
        """Whether rule, totals and note are shown in so many lines under the header; the note goes last."""
        spare = room - FEWEST_ROWS
        has_note = bool(self.note) and spare >= 1
        # A note that has a short form says what the totals say, and takes one line instead of three.
        if self._short_note_of is not None:
            spare = room - max(FEWEST_ROWS, min(self._count, FEWEST_ABOVE_TOTALS))
        has_totals = bool(self.totals) and spare >= 1 + has_note
        has_rule = has_totals and spare >= 2 + has_note
        return has_rule, has_totals, has_note


def _rows_of(rows: RowSource[RowT]) -> Iterator[RowT]:
    for index in range(rows.count):
        row = rows.row(index)
        if row is not None:
            yield row

"""Cells as they are drawn: exactly as wide as their column, made once for as long as their row stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, NamedTuple

from rich.cells import cell_len, set_cell_size

from tradetui.desk.tables.columns import UNREADABLE_MARK, CellFormat, Column, Tone
from tradetui.desk.tables.row_source import RowSource, RowT
from tradetui.wire.text.sanitize import scrub

GAP: Final = 1
ELLIPSIS: Final = "…"
WIDEST_NUMBER: Final = 28
ROWS_KEPT: Final = 512
"""Rows whose cells are remembered, more than any screen shows: each keeps its record alive."""


class Drawn(NamedTuple):
    """A row's cells. Where texts and tones of two of these are equal, they look the same."""

    record: object
    texts: tuple[str, ...]
    tones: tuple[Tone, ...]


class Cells(Generic[RowT]):
    """The cells of a table's rows, and the widths of its columns.

    A column is as wide as it says until a number does not fit in it; then it gets wider and stays so.
    """

    def __init__(self, columns: Sequence[Column[RowT]], cell_format: CellFormat) -> None:
        self.columns = tuple(columns)
        self.cell_format = cell_format
        self.widths = [column.width for column in self.columns]
        self._wanted = list(self.widths)
        self._rows: dict[str, Drawn] = {}

    @property
    def width(self) -> int:
        """Cells that a whole row takes."""
        return sum(self.widths) + GAP * len(self.widths)

    def start(self, column_index: int) -> int:
        """Where a column begins."""
        return sum(self.widths[:column_index]) + GAP * column_index

    def at(self, x: int) -> int | None:
        """The column at so many cells from the left; None right of the last."""
        for column_index, width in enumerate(self.widths):
            if x < width + GAP:
                return column_index
            x -= width + GAP
        return None

    def uncut(self, left: int, width: int) -> tuple[int, int]:
        """From where to where a window may be drawn without cutting a number, which would be another number then."""
        first, last, start = left, left + width, 0
        for column, wide in zip(self.columns, self.widths, strict=True):
            end = start + wide
            if column.right and wide < width:
                first = end if start < left < end else first
                last = start if start < left + width < end else last
            start = end + GAP
        return first, last

    def of(self, key: str, record: RowT) -> Drawn:
        """The cells of a row, made anew only where the row is another than under this key before."""
        known = self._rows.get(key)
        if known is not None and known.record is record:
            return known
        if known is not None and known.record == record:
            # The record that is newer lives on as a row of its feed; the one before is not to live on here.
            self._rows[key] = known = known._replace(record=record)
            return known
        drawn = self._rows[key] = self._made(record)
        if len(self._rows) > ROWS_KEPT:
            del self._rows[next(iter(self._rows))]
        return drawn

    def forget_gone(self, rows: RowSource[RowT]) -> None:
        """Let go of the cells, and with them the records, of rows that are not there any more."""
        gone = [key for key in self._rows if rows.index_of(key) is None]
        for key in gone:
            del self._rows[key]

    def use_format(self, cell_format: CellFormat) -> None:
        """Write every cell in another format."""
        self.cell_format = cell_format
        self._rows.clear()

    @property
    def too_narrow(self) -> bool:
        """Whether a number did not fit."""
        return self._wanted != self.widths

    def widen(self) -> bool:
        """Make room for the numbers that did not fit; whether there were any."""
        if not self.too_narrow:
            return False
        self.widths = list(self._wanted)
        self._rows.clear()
        return True

    def _made(self, record: RowT) -> Drawn:
        texts: list[str] = []
        tones: list[Tone] = []
        for column_index, column in enumerate(self.columns):
            text, tone = column.cell(record, self.cell_format)
            text = scrub(text)
            width = self.widths[column_index]
            length = cells_of(text)
            # What could not be read is no number: it gets no room of its own, and may be cut anywhere.
            is_number = column.right and not text.endswith(UNREADABLE_MARK)
            if is_number and length > self._wanted[column_index]:
                self._wanted[column_index] = max(width, min(length, WIDEST_NUMBER))
            texts.append(fitted(text, width, right=is_number))
            tones.append(tone)
        return Drawn(record, tuple(texts), tuple(tones))


def cells_of(text: str) -> int:
    """How many cells a text without control characters takes."""
    # Rich keeps thousands of the texts it measures, and most of ours need no measuring.
    return len(text) if text.isascii() else cell_len(text)


def fitted(text: str, width: int, *, right: bool) -> str:
    """The text in exactly so many cells, cut with an ellipsis; wide characters count as two.

    A number that would lose digits before its point is not shown at all, since what is left of it would be another.
    """
    length = cells_of(text)
    if length == width:
        return text
    if length > width:
        cut = set_cell_size(text, width - 1) + ELLIPSIS
        if right and len(cut) - 1 < len(text.partition(".")[0]):
            return ELLIPSIS.rjust(width)
        return cut
    return " " * (width - length) + text if right else text + " " * (width - length)

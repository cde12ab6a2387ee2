"""The cursor of a table and the rows in sight: both stay while rows come and go around them."""

from __future__ import annotations

from typing import Generic, NamedTuple

from tradetui.desk.tables.rows.row_source import NO_ROWS, RowSource, RowT_co


class TableCursor(Generic[RowT_co]):
    """The chosen row and column, by their index in the shown rows and columns.

    `row_id` is None where there is no row. Until a person has placed the cursor it stays on the first row.
    """

    def __init__(self) -> None:
        self.row_index = 0
        self.row_id: str | None = None
        self.column_index = 0
        self.is_placed = False
        """Whether a person has moved the cursor or focused the table."""
        self.vanished: RowT_co | None = None
        """The record that left the cursor by itself; whoever reads it sets it back to None."""
        self._rows: RowSource[RowT_co] = NO_ROWS

    @property
    def record(self) -> RowT_co | None:
        """The row under the cursor, None where there is none or where it is not loaded yet."""
        return self._rows.row(self.row_index) if self.row_index < self._rows.count else None

    def go_to(self, row_index: int) -> None:
        self.is_placed = True
        self._stand_on(row_index)

    def follow(self, rows: RowSource[RowT_co], *, by_choice: bool, newest_first: bool = False) -> None:
        """Stay on the same row in changed rows, or near its index if it is gone.

        `by_choice` says that a person rearranged the rows: then the cursor keeps its row though nobody placed it. With
        `newest_first` the first row stays under the cursor, so that the next new row is seen.
        """
        stays_first = not self.is_placed or (newest_first and self.row_index == 0)
        row_index = rows.index_of(self.row_id) if self.row_id is not None else None
        if row_index is None:
            row_index = self.row_index
            if self.row_id is not None and self.is_placed and self.vanished is None:
                self.vanished = self.record
        self._rows = rows
        self._stand_on(0 if stays_first and not by_choice else row_index)

    def begin(self, rows: RowSource[RowT_co], *, anew: bool) -> None:
        """Go to the first row of another view of an archive, or unless `anew` stay on the same row if it is near."""
        row_index = None if anew or self.row_id is None else rows.index_of(self.row_id)
        self._rows = rows
        self._stand_on(row_index or 0)

    def _stand_on(self, row_index: int) -> None:
        self.row_index = max(0, min(row_index, self._rows.count - 1))
        self.row_id = self._rows.row_id(self.row_index) if self._rows.count else None


class ScrollAnchor(NamedTuple):
    """The row that is to keep its line; where `row_id` is None the first visible row stays `top`."""

    top: int
    row_id: str | None = None
    line: int = 0

    def top_in(self, rows: RowSource[object]) -> int:
        """The first visible row in changed rows that keeps the anchor's row on its line."""
        row_index = rows.index_of(self.row_id) if self.row_id is not None else None
        return self.top if row_index is None else row_index - self.line


class Viewport(NamedTuple):
    """The visible rows: `top` is the index of the first one, `room` how many fit."""

    top: int
    room: int

    def shows(self, row_index: int) -> bool:
        return self.top <= row_index < self.top + self.room

    def nearest_top(self, row_index: int) -> int:
        """The first visible row after scrolling as little as possible to show a row."""
        return min(max(self.top, row_index - self.room + 1), row_index)

    def anchor(self, rows: RowSource[object], cursor_row: int, cursor_row_id: str | None) -> ScrollAnchor:
        """The row that keeps its line: the cursor's, else the first visible one; at the top none, to show new rows."""
        if self.top == 0:
            return ScrollAnchor(0)
        if self.shows(cursor_row):
            return ScrollAnchor(self.top, cursor_row_id, cursor_row - self.top)
        return ScrollAnchor(self.top, rows.row_id(self.top) if self.top < rows.count else None)

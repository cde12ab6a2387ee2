"""Which rows of a table are in sight, and which of them keeps its line while rows come and go around it."""

from __future__ import annotations

from typing import NamedTuple

from tradetui.desk.tables.rows.row_source import RowSource


class ScrollAnchor(NamedTuple):
    """The row that is to keep its line; where `row_id` is None the first row in sight stays `top`."""

    top: int
    row_id: str | None = None
    line: int = 0

    def top_in(self, rows: RowSource[object]) -> int:
        """Which row is first among other rows, so that the row which is to keep its line does."""
        row_index = rows.index_of(self.row_id) if self.row_id is not None else None
        return self.top if row_index is None else row_index - self.line


class Viewport(NamedTuple):
    """The rows in sight: `top` is the index of the first one, `room` how many fit."""

    top: int
    room: int

    def shows(self, row_index: int) -> bool:
        return self.top <= row_index < self.top + self.room

    def nearest_top(self, row_index: int) -> int:
        """The first row to be shown so that a row is in sight, as near as can be to the one that is first now."""
        return min(max(self.top, row_index - self.room + 1), row_index)

    def anchor(self, rows: RowSource[object], cursor_row: int, cursor_row_id: str | None) -> ScrollAnchor:
        """The row that keeps its line: the cursor's, else the first in sight; at the top none, to see what comes in."""
        if self.top == 0:
            return ScrollAnchor(0)
        if self.shows(cursor_row):
            return ScrollAnchor(self.top, cursor_row_id, cursor_row - self.top)
        return ScrollAnchor(self.top, rows.key(self.top) if self.top < rows.count else None)

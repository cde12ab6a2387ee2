"""How the screen stands over a table's rows: which one is first, and which keeps its line while others come and go."""

from __future__ import annotations

from typing import NamedTuple

from tradetui.desk.tables.rows.row_source import RowSource


class TableStanding(NamedTuple):
    """The first row shown, the row that is to keep its line with that line, and whether the cursor was in sight."""

    top: int
    key: str | None
    line: int
    in_sight: bool

    def top_in(self, rows: RowSource[object]) -> int:
        """Which row is first among other rows, so that the row which is to keep its line does."""
        row_index = rows.index_of(self.key) if self.key is not None else None
        return self.top if row_index is None else row_index - self.line


def standing_of(rows: RowSource[object], top: int, cursor: int, cursor_key: str | None, room: int) -> TableStanding:
    """How it stands with so many rows in sight; at the top one wants to see what comes in there."""
    in_sight = top <= cursor < top + room
    if top == 0:
        return TableStanding(0, None, 0, in_sight)
    if in_sight:
        return TableStanding(top, cursor_key, cursor - top, True)
    return TableStanding(top, rows.key(top) if top < rows.count else None, 0, False)


def nearest_top(top: int, cursor: int, room: int) -> int:
    """The first row to be shown so that the cursor is in sight, as near as can be to the one asked for."""
    return min(max(top, cursor - room + 1), cursor)

"""A position that has just closed under the cursor: it keeps `R` from reversing the row that took its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradetui.trading.positions import Position
    from tradetui.ui.table.record_table import RecordTable


class VanishedPosition:
    """The position that closed under the cursor since the key before this one; keys of one burst count as one key."""

    def __init__(self, table: RecordTable[Position]) -> None:
        self._table = table
        self._position: Position | None = None

    def note_key(self, *, in_burst: bool) -> None:
        vanished = self._table.cursor.take_vanished()
        if vanished is not None or not in_burst:
            self._position = vanished

    @property
    def sentence(self) -> str:
        """Why the key that was pressed acts on no row; empty where no position has closed."""
        if self._position is None:
            return ""
        name = f"{self._position.symbol} {self._position.shown_leg.upper()}"
        return f"{name} has just closed; press the key again for the row under the cursor now."

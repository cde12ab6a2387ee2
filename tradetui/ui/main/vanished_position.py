"""The position that has gone from under the cursor just before a key that is meant for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradetui.trading.positions import Position
    from tradetui.ui.table.record_table import RecordTable


class VanishedPosition:
    """The position that has gone from under the cursor since the key before; keys of one burst are one key."""

    def __init__(self, table: RecordTable[Position]) -> None:
        self._table = table
        self._position: Position | None = None

    def note_key(self, *, in_burst: bool) -> None:
        if self._table.cursor.vanished is not None or not in_burst:
            self._position, self._table.cursor.vanished = self._table.cursor.vanished, None

    @property
    def sentence(self) -> str:
        """That it has gone; empty where none has."""
        if self._position is None:
            return ""
        leg = "LONG" if self._position.is_long else "SHORT"
        return f"{self._position.symbol} {leg} has just closed; press the key again for the row under the cursor now."

"""What the reverse key means: the position under the cursor, unless it went away, or the symbol that is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradetui.ui.app_protocols.messages import OpenReversal
from tradetui.ui.intents.reversal.symbol_dialog import SymbolDialog

if TYPE_CHECKING:
    from textual.screen import Screen

    from tradetui.desk.desk import Desk
    from tradetui.desk.reversal.execution import Execution
    from tradetui.desk.reversal.preview import Target
    from tradetui.trading.positions import Position
    from tradetui.ui.table.record_table import RecordTable


class VanishedPosition:
    """The position that has gone from under the cursor since the key before; keys of one burst are one key."""

    def __init__(self, table: RecordTable[Position]) -> None:
        self._table = table
        self._position: Position | None = None

    def note_key(self, *, in_burst: bool) -> None:
        """A key was pressed."""
        if self._table.cursor.vanished is not None or not in_burst:
            self._position, self._table.cursor.vanished = self._table.cursor.vanished, None

    @property
    def sentence(self) -> str:
        """That it has gone; empty where none has."""
        if self._position is None:
            return ""
        leg = "LONG" if self._position.is_long else "SHORT"
        return f"{self._position.symbol} {leg} has just closed; press R again for the row under the cursor now."


def leg_to_name(target: Target, positions: tuple[Position, ...]) -> str:
    """What is to be typed where both legs of a symbol are held and only the symbol was; else empty."""
    legs = {position.is_long for position in positions if position.symbol == target.symbol}
    if target.side is not None or not legs >= {True, False}:
        return ""
    return f"Both sides are held: type {target.symbol} LONG or {target.symbol} SHORT."


def ask_for_leg(screen: Screen[None], desk: Desk, execution: Execution) -> None:
    """Ask over a screen which symbol is to be reversed, and of two legs which."""

    def objection(name: str) -> str:
        return leg_to_name(execution.target_named(name), desk.positions.snapshot.rows)

    def open_named(name: str | None) -> None:
        if name:
            screen.post_message(OpenReversal(execution.target_named(name)))

    screen.app.push_screen(SymbolDialog(objection), open_named)

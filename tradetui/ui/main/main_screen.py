"""The main screen: the five panels, what their keys do, and the two keys of trading."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from tradetui.desk.tables.table import POSITIONS
from tradetui.ui.keys.bindings import bindings
from tradetui.ui.main.row_actions import RowActions
from tradetui.ui.messages import OpenReversal
from tradetui.ui.reversal.symbol_dialog import SymbolDialog
from tradetui.ui.sanitize import notify

if TYPE_CHECKING:
    from tradetui.trading.positions import Position
    from tradetui.ui.keys.key_order import TypedInput
    from tradetui.ui.settings import UiSettings


class MainScreen(RowActions):
    """Every binding of the registry that belongs to `main` is an action here."""

    where = "main"
    BINDINGS: ClassVar[list[BindingType]] = bindings("main")

    def __init__(self, settings: UiSettings) -> None:
        super().__init__(settings)
        self._vanished: Position | None = None

    def before_key(self, event: TypedInput) -> bool:
        """Note which position has gone from under the cursor since the key before; keys of one burst are one key."""
        table = self.positions_panel.table
        if table.vanished is not None or not self.trade_app.key_order.in_burst:
            self._vanished, table.vanished = table.vanished, None
        return True

    def action_reverse(self) -> None:
        """Open the reversal of the position under the cursor, or say why there is none."""
        # Numbers that stand still must not be traded on.
        self.resume()
        if not self.able("reverse") or self.desk is None or self.desk.execution is None:
            return
        if self.focused_panel == POSITIONS.name and (gone := self._vanished) is not None:
            leg = "LONG" if gone.is_long else "SHORT"
            sentence = f"{gone.symbol} {leg} has gone since the key before; R again takes the row that is there now."
            notify(self.app, sentence, severity="warning", seconds=10)
            return
        execution = self.desk.execution
        record = self.positions_panel.table.cursor_record if self.focused_panel == POSITIONS.name else None
        if record is not None:
            self.post_message(OpenReversal(execution.target_of(record)))
            return

        def ask(symbol: str | None) -> None:
            if symbol:
                self.post_message(OpenReversal(execution.target_named(symbol)))

        self.app.push_screen(SymbolDialog(self._leg_to_name), ask)

    def _leg_to_name(self, name: str) -> str:
        """What is to be typed where both legs of a symbol are held and only the symbol was; else empty."""
        if self.desk is None or self.desk.execution is None:
            return ""
        target = self.desk.execution.target_named(name)
        legs = {row.is_long for row in self.desk.positions.snapshot.rows if row.symbol == target.symbol}
        if target.side is not None or not legs >= {True, False}:
            return ""
        return f"Both legs are held: type {target.symbol} LONG or {target.symbol} SHORT."

    def action_lock(self) -> None:
        """Lock trading at once; unlocking asks first."""
        if self.able("lock"):
            self.trade_app.lock_or_unlock()

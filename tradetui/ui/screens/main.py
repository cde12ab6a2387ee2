"""The main screen: the five panels, what their keys do, and the two keys of trading."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import BindingType

from tradetui.ui.bindings import bindings
from tradetui.ui.screens.rows import RowActions

if TYPE_CHECKING:
    from tradetui.ui.app import TradeApp


class MainScreen(RowActions):
    """Every binding of the registry that belongs to `main` is an action here."""

    where = "main"
    BINDINGS: ClassVar[list[BindingType]] = bindings("main")

    def action_reverse(self) -> None:
        """Open the reversal of the position under the cursor, or say why there is none."""
        # Numbers that stand still must not be traded on.
        self.resume()
        if not self.able("reverse") or self.desk is None or self.desk.execution is None:
            return
        from tradetui.ui.dialogs.reversal import ReversalDialog
        from tradetui.ui.dialogs.symbol import SymbolDialog

        execution, read_anew = self.desk.execution, self.desk.poll_now
        record = self.table.cursor_record if self.focused_panel == "positions" else None
        if record is not None:
            self.app.push_screen(ReversalDialog(execution, execution.target_of(record), read_anew))
            return

        def ask(symbol: str | None) -> None:
            if symbol:
                self.app.push_screen(ReversalDialog(execution, execution.target_named(symbol), read_anew))

        self.app.push_screen(SymbolDialog(), ask)

    def action_lock(self) -> None:
        """Lock trading at once; unlocking asks first."""
        if self.able("lock"):
            cast("TradeApp", self.app).lock_or_unlock()

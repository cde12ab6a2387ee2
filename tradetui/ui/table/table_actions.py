"""The columns of a table as somebody chose them: asking for them, showing and remembering them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tradetui.desk.tables.choosable_columns import choosable_columns
from tradetui.ui.app_protocols.application import trading_app
from tradetui.ui.dialogs.columns_dialog import ColumnsDialog
from tradetui.ui.settings.preferences import TableChoice, chosen_columns

if TYPE_CHECKING:
    from textual.screen import Screen

    from tradetui.desk.tables.rows.row_source import RowT
    from tradetui.desk.tables.table import Table
    from tradetui.ui.table.record_table import RecordTable


def choose_columns(
    screen: Screen[None], table: RecordTable[RowT], kind: Table[RowT], title: str, done: Callable[[], None]
) -> None:
    """Ask which columns are shown, show them, and remember them."""
    app = trading_app(screen)

    def chosen(choice: TableChoice | None) -> None:
        if choice is None:
            return
        app.remember_table(kind.name, choice)
        show_choice(table, kind, choice)
        done()

    every = choosable_columns(kind)
    screen.app.push_screen(ColumnsDialog(title, every, kind.columns, app.preferences.table(kind.name)), chosen)


def show_choice(table: RecordTable[RowT], kind: Table[RowT], choice: TableChoice) -> None:
    """Show a table as it was chosen."""
    columns = (chosen_columns(choosable_columns(kind), choice) if choice.columns else None) or kind.columns
    if columns != table.columns:
        table.set_columns(columns)
    if choice.sort in {column.id for column in columns}:
        table.sort_by(choice.sort, choice.reverse)

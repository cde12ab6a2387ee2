"""The columns of a table as somebody chose them: asking for them, showing and remembering them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tradetui.desk.tables.columns import Column
from tradetui.desk.tables.columns.every_field import every_column
from tradetui.ui.app_protocol import trading_app
from tradetui.ui.dialogs.columns import ColumnsDialog
from tradetui.ui.preferences import TableChoice, chosen_columns

if TYPE_CHECKING:
    from textual.screen import Screen

    from tradetui.desk.tables.row_source import RowT
    from tradetui.ui.table.record_table import RecordTable


def choose_columns(
    screen: Screen[None],
    table: RecordTable[RowT],
    name: str,
    title: str,
    default: Sequence[Column[RowT]],
    done: Callable[[], None] = lambda: None,
) -> None:
    """Ask which columns are shown, show them, and remember them."""
    app = trading_app(screen)
    every = every_column(name)

    def chosen(choice: TableChoice | None) -> None:
        if choice is None:
            return
        app.remember_table(name, choice)
        show_choice(table, choice, every, default)
        done()

    screen.app.push_screen(ColumnsDialog(title, every, default, app.preferences.table(name)), chosen)


def show_choice(
    table: RecordTable[RowT], choice: TableChoice, every: Sequence[Column[RowT]], default: Sequence[Column[RowT]]
) -> None:
    """Show a table as it was chosen."""
    columns = chosen_columns(every, choice) or tuple(default)
    if columns != table.columns:
        table.set_columns(columns)
    if choice.sort in {column.id for column in columns}:
        table.sort_by(choice.sort, choice.reverse)

"""What any screen with a table offers for it: columns to choose, and a file of what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tradetui.desk.tables.columns import Column
from tradetui.ui.preferences import TableChoice, chosen_columns
from tradetui.ui.sanitize import notify

if TYPE_CHECKING:
    from tradetui.desk.tables.export import Format
    from tradetui.ui.app import TradeApp
    from tradetui.ui.table.record_table import RecordTable


def export_table(app: TradeApp, table: RecordTable, name: str, title: str) -> None:
    """Ask where to, and write the rows as they are shown now: filter, order and columns; later changes do not count."""
    from tradetui.desk.tables.export import Format, default_name, save_rows
    from tradetui.desk.tables.row_source import SelfOrdering
    from tradetui.ui.dialogs.export import ExportDialog

    rows, columns = table.rows, table.columns
    if isinstance(rows, SelfOrdering):
        rows = rows.whole()
    desk = app.desk
    now = datetime.now(UTC) if desk is None else datetime.fromtimestamp(desk.clock.wall_ms() / 1000, UTC)
    account = "" if desk is None else desk.settings.name

    def save(path: Path, form: Format, replace: bool) -> int:
        return save_rows(path, rows, columns, form, replace=replace)

    def notify_saved(sentence: str | None) -> None:
        if sentence is not None:
            notify(app, f"{sentence}.", seconds=8)

    app.push_screen(ExportDialog(title, default_name(name, account, now, Format.CSV), save), notify_saved)


def choose_columns(
    app: TradeApp,
    table: RecordTable,
    name: str,
    title: str,
    default: Sequence[Column],
    done: Callable[[], None] = lambda: None,
) -> None:
    """Ask which columns are shown, show them, and remember them."""
    from tradetui.desk.tables.columns.every_field import every_column
    from tradetui.ui.dialogs.columns import ColumnsDialog

    every = every_column(name)

    def chosen(choice: TableChoice | None) -> None:
        if choice is None:
            return
        app.remember_table(name, choice)
        show_choice(table, choice, every, default)
        done()

    app.push_screen(ColumnsDialog(title, every, default, app.preferences.table(name)), chosen)


def show_choice(table: RecordTable, choice: TableChoice, every: Sequence[Column], default: Sequence[Column]) -> None:
    """Show a table as it was chosen."""
    columns = chosen_columns(every, choice) or tuple(default)
    if columns != table.columns:
        table.set_columns(columns)
    if choice.sort in {column.id for column in columns}:
        table.sort_by(choice.sort, choice.reverse)

"""Shows a table as somebody chose it: its columns, their widths, and the order of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradetui.ui.settings.preferences import chosen_columns

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.row_source import RowT
    from tradetui.desk.tables.table import Table
    from tradetui.ui.settings.preferences import TableChoice
    from tradetui.ui.table.record_table import RecordTable


def show_choice(table: RecordTable[RowT], kind: Table[RowT], choice: TableChoice) -> None:
    """Show a table as it was chosen; its default columns where none were."""
    columns = (chosen_columns(kind.every_column, choice) if choice.columns else None) or table.default_columns
    if columns != table.columns:
        table.set_columns(columns, also_searched=kind.columns)
    if choice.sort in {column.id for column in columns}:
        table.sort_by(choice.sort, choice.reverse)

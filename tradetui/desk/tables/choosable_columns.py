"""The columns that may be chosen for a table; the models they are made of are loaded when somebody asks for them."""

from __future__ import annotations

from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.row_source import RowT
from tradetui.desk.tables.table import Table


def choosable_columns(table: Table[RowT]) -> tuple[Column[RowT], ...]:
    """The table's own columns, then one for each field of its records that has none yet."""
    from tradetui.desk.tables.every_field import every_column

    return every_column(table)

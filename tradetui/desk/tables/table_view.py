"""What a table shows of its rows: columns, sums, and the figure that it would be opened for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeAlias

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column, Tone
from tradetui.desk.tables.rows.row_source import RowT_co

TotalTexts: TypeAlias = Mapping[str, tuple[str, Tone]]
"""Texts and tones of the row under the rows, by column id."""


class TableView(NamedTuple, Generic[RowT_co]):
    """The columns of one table, and what stands under its rows.

    `columns_for` gives the columns of some rows, where `columns` do not suit all; `more_columns` are not shown before
    they are chosen. `totals` gives the texts of the row under the rows, by column id; `note` the line under that, ""
    for none. `short_note` takes the note's place where every total stands under its column and the note would say the
    same once more. `headline` is the one figure that a panel which is not on the screen would be opened for.
    """

    columns: tuple[Column[RowT_co], ...]
    columns_for: Callable[[Iterable[RowT_co]], tuple[Column[RowT_co], ...]] | None = None
    more_columns: tuple[Column[RowT_co], ...] = ()
    totals: Callable[[Iterable[RowT_co], CellFormat], TotalTexts] | None = None
    note: Callable[[Iterable[RowT_co], CellFormat], str] | None = None
    short_note: Callable[[Iterable[RowT_co], CellFormat], str] | None = None
    headline: Callable[[Iterable[RowT_co], CellFormat], str] | None = None

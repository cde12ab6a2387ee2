"""Sums of the fills in the history, computed in the background: they are too many for each paint."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from tradetui.desk.archive.archive_rows import ArchiveRows
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.row_sums import FillTotals
from tradetui.desk.tables.rows.row_source import FeedRow, RowSource
from tradetui.ui.table.record_table import RecordTable
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.text.counted import counted

MOST_SUMMED: Final = 100_000
"""The most fills that are summed, some seconds of reading."""


class HistorySums:
    """The sums of a table's fills, known until its rows or their number change."""

    def __init__(self, table: RecordTable[FeedRow]) -> None:
        self._table = table
        self._totals: FillTotals | None = None
        self._summed: tuple[RowSource[object], int] | None = None

    @property
    def known(self) -> FillTotals | None:
        """The sums of the fills that are shown now; None while they are being computed, or if they are too many."""
        return self._totals if self._summed == (self._table.rows, self._table.rows.count) else None

    def begin(self) -> ArchiveRows[FuturesFill] | None:
        """The fills to sum now; None if that has begun, they are too many, or they cannot be read."""
        rows = self._table.rows
        if not isinstance(rows, ArchiveRows) or rows.error or self._summed == (rows, rows.count):
            return None
        self._summed, self._totals = (rows, rows.count), None
        return rows if rows.count <= MOST_SUMMED else None

    async def add_up(self, rows: ArchiveRows[FuturesFill]) -> None:
        """Sum fills, or store in `rows.error` why they cannot be read; dropped if others are shown by then."""
        totals, summed = FillTotals(), (rows, rows.count)
        try:
            async for fills in rows.chunks():
                for fill in fills:
                    totals.add(fill)
        except (sqlite3.Error, OSError) as problem:
            rows.error, self._summed = str(problem), None
        else:
            if self._summed == summed:
                self._totals = totals

    def note(self, cell_format: CellFormat, key_named: Callable[[str], str]) -> str:
        if self._table.rows.count > MOST_SUMMED:
            narrows = f"{key_named('dates')} narrows them by dates"
            return f"profit and fees are summed of {MOST_SUMMED:,} fills at most; {narrows}"
        return "profit and fees are being summed …" if self.known is None else self.known.text(cell_format)

    def short_note(self, cell_format: CellFormat, key_named: Callable[[str], str]) -> str:
        if self.known is None:
            return self.note(cell_format, key_named)
        parts = (f"sums in USDT of {counted(self._table.rows.count, 'fill')}", self.known.outside_cells(cell_format))
        return " · ".join(filter(None, parts))

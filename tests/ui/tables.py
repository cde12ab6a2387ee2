"""A table of three columns on a screen of its own, and rows for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region

from tradetui.desk.tables.cells import Column, number_column, text_column
from tradetui.desk.tables.rows.row_source import MemoryRows, RowSource
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_footer import Footer
from tradetui.ui.table.table_lines import MARGIN


@dataclass(frozen=True)
class Row:
    """A row whose name is its key."""

    name: str
    profit: Decimal | None = Decimal(1)
    note: str = ""

    @property
    def key(self) -> str:
        """The name."""
        return self.name


COLUMNS: tuple[Column[Row], ...] = (
    text_column("name", "Name", 8, lambda row: row.name),
    number_column("profit", "Profit", 10, lambda row: row.profit, profit=True),
    text_column("note", "Note", 12, lambda row: row.note),
)


def source(names: Sequence[str], generation: int = 1, **profits: str) -> RowSource[Row]:
    """Rows of these names, each with a profit of 1 unless told."""
    return MemoryRows([Row(name, Decimal(profits.get(name, "1"))) for name in names], list(names), generation)


class TableApp(App[None]):
    """The table alone, and what it said."""

    CSS = "RecordTable { height: 1fr; }"
    AUTO_FOCUS = None

    def __init__(
        self,
        rows: RowSource[object],
        *,
        focus: bool = True,
        columns: Sequence[Column[Any]] = COLUMNS,
        footer: Footer[Any] | None = None,
    ) -> None:
        super().__init__()
        self.table: RecordTable[Any] = RecordTable(columns, footer=footer)
        self._rows = rows
        self._focus = focus
        self.posted: list[Any] = []

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.set_source(self._rows)
        if self._focus:
            self.table.focus()

    def on_record_table_row_highlighted(self, event: RecordTable.RowHighlighted) -> None:
        self.posted.append(("highlighted", event.key))

    def on_record_table_row_selected(self, event: RecordTable.RowSelected) -> None:
        self.posted.append(("selected", event.key))

    def on_record_table_header_selected(self, event: RecordTable.HeaderSelected) -> None:
        self.posted.append(("header", event.column.id))


def lines(app: TableApp) -> list[str]:
    """What stands on the table's lines, without the margin that the cursor's mark stands in."""
    return [app.table.render_line(y).text[MARGIN:].rstrip() for y in range(app.table.size.height)]


def shown(app: TableApp) -> list[str]:
    """The names of the rows on the screen."""
    return [line.split()[0] for line in lines(app)[1:] if line]


def keys(app: TableApp) -> list[str | None]:
    """The keys of all rows, as ordered and filtered."""
    return [app.table.rows.key(index) for index in range(app.table.shown)]


class Repaints:
    """Lines the table asks to be painted again from now on; -1 stands for all of them."""

    def __init__(self, app: TableApp, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: list[int] = []

        def refresh(*regions: Region, **options: object) -> RecordTable[Any]:
            self.lines.extend([region.y for region in regions] or [-1])
            return app.table

        monkeypatch.setattr(app.table, "refresh", refresh)

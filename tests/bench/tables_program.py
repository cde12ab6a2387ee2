"""Five tables of 100 rows at 200x60, fed from memory once a second; a program to be measured from outside.

Run: python -m tests.bench.tables_program record|data changing|still
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter

from textual.app import App, ComposeResult
from textual.containers import Grid
from textual.widgets import DataTable

from tradetui.desk.tables.cells.column import Column, number_column, text_column
from tradetui.desk.tables.rows.row_source import MemoryRows, Sort
from tradetui.ui.application.textual_app import _tidy_up
from tradetui.ui.key_bindings.actions import Move
from tradetui.ui.settings.themes import THEMES
from tradetui.ui.table.record_table import RecordTable

ROWS = 100
WIDTH = 10
TIDIED_S = 1.0
NAMES = ("symbol", "a", "b", "c", "d", "e", "f", "g")


@dataclass(frozen=True, slots=True)
class Row:
    """One record of eight fields."""

    symbol: str
    a: Decimal
    b: Decimal
    c: Decimal
    d: Decimal
    e: Decimal
    f: Decimal
    g: Decimal


COLUMNS: Sequence[Column[Row]] = (
    text_column("symbol", "Symbol", WIDTH, lambda row: row.symbol),
    *(number_column(name, name.upper(), WIDTH, attrgetter(name)) for name in NAMES[1:]),
)


def rows_at(second: int) -> list[Row]:
    """A hundred rows; every number differs from the second before."""
    return [
        Row(f"SYM{row_index:03d}USDT", *(Decimal(10_000 + row_index * 7 + second * 13 + at) / 100 for at in range(7)))
        for row_index in range(ROWS)
    ]


class Program(App[None]):
    """Five tables, changing once a second or standing still."""

    CSS = "Grid { grid-size: 2 3; } RecordTable, DataTable { height: 1fr; }"

    BINDINGS = [
        ("j", "move('down')", "Down"),
        ("k", "move('up')", "Up"),
        ("f", "move('page_down')", "Page down"),
        ("b", "move('page_up')", "Page up"),
        ("G", "move('last')", "Last"),
        ("g", "move('first')", "First"),
        ("s", "turn", "Turn the order"),
        ("e", "narrow('[05]USDT')", "Filter a fifth"),
        ("a", "narrow('')", "All"),
    ]

    def __init__(self, kind: str, changing: bool) -> None:
        super().__init__()
        self._kind = kind
        self._changing = changing
        self._second = 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(THEMES[0].variables)

    def compose(self) -> ComposeResult:
        with Grid():
            for _ in range(5):
                yield RecordTable(COLUMNS) if self._kind == "record" else DataTable(cell_padding=0)

    def on_mount(self) -> None:
        for table in self.query(DataTable):
            for name in NAMES:
                table.add_column(name, key=name, width=WIDTH)
            for row in rows_at(0):
                table.add_row(*(str(getattr(row, name)) for name in NAMES), key=row.symbol)
        self._feed()
        if self._changing:
            self.set_interval(1.0, self._feed)
        self.set_timer(TIDIED_S, _tidy_up)  # as the program does once it stands

    def action_move(self, way: str) -> None:
        if isinstance(table := self.focused, RecordTable):
            table.move(Move(way))
        elif table is not None:
            getattr(table, f"action_cursor_{way}")()

    def action_turn(self) -> None:
        if isinstance(table := self.focused, RecordTable):
            table.sort_by(Sort("symbol", reverse=True) if table.sort_filter.sort is None else None)

    def action_narrow(self, pattern: str) -> None:
        if isinstance(table := self.focused, RecordTable):
            table.filter(pattern)

    def _feed(self) -> None:
        rows = rows_at(self._second)
        keys = [row.symbol for row in rows]
        self._second += 1
        for table in self.query(RecordTable):
            table.set_source(MemoryRows(rows, keys, self._second))
        for data_table in self.query(DataTable):
            for row in rows:
                for name in NAMES[1:]:
                    data_table.update_cell(row.symbol, name, str(getattr(row, name)))


if __name__ == "__main__":
    Program(sys.argv[1], sys.argv[2] == "changing").run()

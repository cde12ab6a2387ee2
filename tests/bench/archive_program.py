"""The table of a long archive at 200x60; a program to be measured from outside.

Run: python -m tests.bench.archive_program FILE, where FILE was made by `tests.bench.archive`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType

from tests.bench.tables_program import TIDIED_S
from tradetui.desk.archive.archive_rows import ArchiveRows, Selection
from tradetui.desk.archive.database import Archive
from tradetui.desk.tables.rows.row_source import Sort
from tradetui.desk.tables.table import TABLES
from tradetui.storage.disk_thread import ThreadDisk
from tradetui.ui.application.textual_app import _tidy_up
from tradetui.ui.key_bindings.actions import Move
from tradetui.ui.settings.themes import THEMES
from tradetui.ui.table.record_table import RecordTable
from tradetui.wire.models.futures import FuturesFill


class Program(App[None]):
    """The same table over the same rows as the screen of everything seen, without a desk around it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("j", "move('down')", "Down"),
        ("k", "move('up')", "Up"),
        ("f", "move('page_down')", "Page down"),
        ("G", "move('last')", "Last"),
        ("g", "move('first')", "First"),
        ("s", "turn", "Turn the order"),
        ("e", "narrow('ETH')", "Filter"),
        ("a", "narrow('')", "All"),
    ]

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._disk = ThreadDisk()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(THEMES[0].variables)

    def compose(self) -> ComposeResult:
        yield RecordTable(TABLES["fills"].columns)

    async def on_mount(self) -> None:
        archive = await self._disk.run(Archive, self._file)
        self._rows = ArchiveRows(archive.rows, self._disk, Selection(FuturesFill), changed=self._show)
        await self._rows.refresh()
        self._table.focus()
        self.set_timer(TIDIED_S, _tidy_up)  # as the program does once it stands

    @property
    def _table(self) -> RecordTable[object]:
        return self.query_one(RecordTable)

    def _show(self) -> None:
        self._table.set_source(self._rows)

    def action_move(self, way: str) -> None:
        self._table.move(Move(way))

    def action_turn(self) -> None:
        self._table.sort_by(Sort("cTime") if self._table.sort_filter.sort is None else None)

    def action_narrow(self, pattern: str) -> None:
        self._table.filter(pattern)


if __name__ == "__main__":
    Program(Path(sys.argv[1])).run()

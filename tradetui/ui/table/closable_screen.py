"""A screen of records over the main screen: back and `q` close it."""

from __future__ import annotations

from typing import ClassVar, Generic

from textual.app import ComposeResult

from tradetui.desk.tables.rows.row_source import RowT
from tradetui.ui.header.newest_alert import NewestAlert
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame
from tradetui.ui.table.table_screen import TableScreen


class ClosableScreen(TableScreen):
    """`where` is its name in the registry of keys and among the screens."""

    @property
    def screen_name(self) -> str:
        """None of the panels of the main screen."""
        return self.where

    async def action_back(self) -> None:
        """Clear the filter, then leave."""
        if not await self.drop_filter():
            self.dismiss()

    def action_leave(self) -> None:
        """`q` closes what is in front."""
        self.dismiss()


class RecordsScreen(ClosableScreen, Generic[RowT]):
    """One whose records are one table, `_table`, which the class made of this gives; the keys stand beneath it."""

    AUTO_FOCUS = "RecordTable"
    names_columns: ClassVar[bool] = False
    """Whether the border names the columns that did not fit, rather than count them."""
    _table: RecordTable[RowT]

    def compose(self) -> ComposeResult:
        yield RecordsFrame(self._table, names_columns=self.names_columns)
        yield NewestAlert()
        yield Hints()

    @property
    def table(self) -> RecordTable[object]:
        return self._table

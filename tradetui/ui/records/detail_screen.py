"""The detail view: every field of one row, read and as received."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import ClassVar, Final

from textual import getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tradetui.desk.tables.cells.column import Column, Tone
from tradetui.desk.tables.rows.row_source import MemoryRows, RowSource
from tradetui.ui.app_protocols.application import trading_app
from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.key_bindings.textual_bindings import bindings
from tradetui.ui.records.detail_fields import EXTRA, UNREADABLE, Field, fields_of
from tradetui.ui.safe_text import sanitized
from tradetui.ui.settings.time_zones import MachineZone
from tradetui.ui.table.record_table import RecordTable


def _mark_tone(field: Field) -> Tone:
    return Tone.WARN if field.mark in (UNREADABLE, EXTRA) else Tone.MUTED


_COLUMNS: Final[tuple[Column[Field], ...]] = (
    Column("name", "Field", lambda field: field.name, lambda field, _: field.name, 22),
    Column("value", "Read as", lambda field: field.value, lambda field, _: field.value, 29),
    Column("mark", "Note", lambda field: field.mark, lambda field, _: field.mark, 20, tone=_mark_tone),
    Column("received", "As received", lambda field: field.received, lambda field, _: field.received, 40),
)


_DEEDS: Final = (("copy_cell", "copy value"), ("copy_row", "copy line"), ("zone", "UTC/local"), ("back", "back"))


class DetailScreen(DimmingScreen[None]):
    """One row's fields as a table of their own; it follows the row while the feed goes on."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("detail")
    _frame = getters.query_one(Vertical)

    def __init__(self, title: str, key: str, record: object, zone: tzinfo, feed_name: str = "") -> None:
        super().__init__(classes="dialog -tall")
        self.feed_name = feed_name
        self._gone = False
        self._heading = title
        self._key = key
        self._record = record
        self._zone = zone
        self._generation = 0
        self.table = RecordTable(_COLUMNS, id="detail")

    def compose(self) -> ComposeResult:
        keys = (f"{trading_app(self).key_named(id_)} {deed}" for id_, deed in _DEEDS)
        with self.framed(self._heading_now, " · ".join(keys)):
            yield self.table

    def on_mount(self) -> None:
        self._fill()
        self.table.move_column(1)
        self.table.focus()

    @property
    def fields(self) -> tuple[Field, ...]:
        return fields_of(self._record, self._zone)

    def follow(self, feed_name: str, snapshot: RowSource[object]) -> None:
        """Show the row as it is now, or say that its panel no longer has it."""
        if feed_name != self.feed_name or not self.is_mounted:
            return
        index = snapshot.index_of(self._key)
        gone = index is None
        if gone != self._gone:
            self._gone = gone
            self._frame.border_title = sanitized(self._heading_now)
        record = snapshot.row(index) if index is not None else None
        if record is not None and record != self._record:
            self._record = record
            self._fill()

    @property
    def _heading_now(self) -> str:
        gone = " · gone from the panel, as last seen" if self._gone else ""
        return f"{self._heading}: every field{gone}"

    def _fill(self) -> None:
        fields = self.fields
        self._generation += 1
        self.table.set_source(MemoryRows(fields, [field.name for field in fields], self._generation))

    def action_table(self, name: str) -> None:
        getattr(self.table, f"action_{name}")()

    def action_copy_cell(self) -> None:
        field = self.table.cursor.record
        trading_app(self).copy(self.table.cell_text(), field.name if field is not None else "")

    def action_copy_row(self) -> None:
        """Copy the field's name and values."""
        trading_app(self).copy(self.table.row_text(), "line")

    def action_zone(self) -> None:
        """Times in UTC, or in this machine's."""
        self._zone = UTC if self._zone is not UTC else MachineZone()
        self._fill()

    def action_back(self) -> None:
        self.dismiss()

    def action_leave(self) -> None:
        self.dismiss()

    def action_help(self) -> None:
        trading_app(self).action_help()

"""All archived fills, or stops that ended: any number of rows, a few pages of them in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from textual import work

from tradetui.desk.archive.archive_rows import READ_TO_SEARCH, ArchiveRows
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Footer
from tradetui.desk.tables.columns.fills import FillTotals
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.desk.tables.rows.row_source import FeedRow, RowSource, Sort
from tradetui.desk.tables.table import FILLS, PANELS
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame
from tradetui.ui.table.table_screen import RecordsScreen, show_choice
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record
from tradetui.wire.text import counted

MOST_SUMMED: Final = 100_000  # the most fills that are summed, some seconds of reading
LEFT_OUT: Final = "{:,} unreadable and left out: use the newer tradetui that wrote them"
ORDER: Final = "by time; {sort} turns the order round; the filter finds {searched}"


class HistoryScreen(RecordsScreen[FeedRow]):
    """The rows at the moment it was opened; `u` looks for newer ones."""

    where = "history"

    def __init__(
        self,
        table: str,
        dates: DateFilter | None = None,
        beyond_rows: str = "",
        product: str | None = None,
    ) -> None:
        """`beyond_rows` is the rest of the opened figure, such as funding."""
        super().__init__()
        self._product = product
        self._dates = dates
        self._beyond_rows, self._opened_dates = beyond_rows, dates
        self._kind = PANELS[table]
        self._finds_every_word = self._kind.endpoint.row in READ_TO_SEARCH
        if not self._finds_every_word:
            self.filter_prompt = "Symbol or regular expression, ! first inverts; or five digits or more of an ID"
        self.filter_limit = f": {self._searched}"
        self._table = RecordTable(self._kind.columns, id=f"table-{table}", footer=self._footer)
        self._sums = None if self._kind.name != FILLS.name else HistorySums(self._table)
        self._rows: ArchiveRows[Record] | None = None

    def on_mount(self) -> None:
        self.show_zone()
        if (choice := self.trade_app.preferences.tables.get(self._kind.name)) is not None:
            show_choice(self._table, self._kind, choice)
            self._table.sort_by(None)
        self._open_rows(self._dates)

    def on_unmount(self) -> None:
        if self._rows is not None:
            self._rows.close()

    def _open_rows(self, dates: DateFilter | None) -> None:
        assert self.desk is not None
        if self._rows is not None:
            self._rows.close()
        self._dates = dates
        self._rows = self.desk.history(self._kind.endpoint.row, self.paint_soon, dates)
        if self._rows is not None and self._product is not None:
            self._rows.selection = replace(self._rows.selection, product_type=ProductType(self._product))
        self.action_poll_now()
        self.refresh_states()

    def action_dates(self) -> None:
        self.ask_for_dates(self._dates, self._open_rows)

    def action_poll_now(self) -> None:
        shown = self._table.rows if self._table.model.source is self._rows else None
        for rows in {self._rows, shown}:
            if isinstance(rows, ArchiveRows):
                self.run_worker(rows.refresh(), exit_on_error=False)

    @work(group="sum", exclusive=True, exit_on_error=False)
    async def _sum_up(self, sums: HistorySums, rows: ArchiveRows[FuturesFill]) -> None:
        await sums.add_up(rows)
        self.paint_soon()

    @property
    def _beyond_shown_rows(self) -> str:
        """The rest of the opened figure, which applies neither to other dates nor to a filter."""
        return self._beyond_rows if self._dates is self._opened_dates and not self._table.sort_filter.pattern else ""

    def _footer(self, _: Iterable[FeedRow], cell_format: CellFormat) -> Footer:
        known = None if self._sums is None else self._sums.known
        note = short_note = ""
        if self._error:
            note = short_note = (
                f"the archive cannot be read: {self._error}; {self.key_named(Action.POLL_NOW)} tries again"
            )
        elif self._sums is not None:
            note = self._sums.note(cell_format, self.key_named)
            short_note = self._sums.short_note(cell_format, self.key_named)
        cells = {} if known is None else known.cells(cell_format)
        return Footer(cells, self._with_remarks(note), self._with_remarks(short_note))

    def _with_remarks(self, note: str) -> str:
        beyond_rows, unreadable = self._beyond_shown_rows, ""
        if isinstance(self._table.rows, ArchiveRows) and self._table.rows.unreadable_count:
            unreadable = LEFT_OUT.format(self._table.rows.unreadable_count)
        return " · ".join(filter(None, (unreadable, note, beyond_rows and f"{beyond_rows} not included")))

    def paint(self) -> None:
        if self._rows is not None:
            self._table.set_source(self._rows)
        self.refresh_states()

    @property
    def _searched(self) -> str:
        return "every word and ID of a row" if self._finds_every_word else "symbols and IDs"

    @property
    def subject(self) -> str:
        return self._kind.history_title or self._kind.title

    @property
    def screen_name(self) -> str:
        return self._kind.name

    def refresh_states(self) -> None:
        if self._sums is not None and (rows := self._sums.begin_summing()) is not None:
            self._sum_up(self._sums, rows)
        dates = "" if self._dates is None else f" · {self._dates.title(self.zone, self.today)}"
        unknown = "?" if self._error else "…"
        count = unknown if self._is_reading else f"{self._table.rows.count:,}"
        product = "" if self._product is None else f" {self._product.removesuffix('-FUTURES')}"
        title = f"{self.subject} {count}{product}{dates} {self._table.sort_filter.pattern_title}".strip()
        order = ORDER.format(sort=self.key_named(Action.SORT), searched=self._searched)
        self.query_one(RecordsFrame).say(title, self.nothing, order)
        hints = (action for action in Action if action.hint or action in (Action.BACK, Action.POLL_NOW))
        self.show_hints(hints, zone_label(self.zone))

    @property
    def _shown_rows(self) -> RowSource[FeedRow] | None:
        """Return the rows that pass the filter; for newly chosen dates those rows, before the table has them."""
        return self._table.rows if self._table.model.source is self._rows else self._rows

    @property
    def _is_reading(self) -> bool:
        rows = self._shown_rows
        return isinstance(rows, ArchiveRows) and not rows.count and not rows.generation

    @property
    def _error(self) -> str:
        rows = self._shown_rows
        return rows.error if isinstance(rows, ArchiveRows) else ""

    @property
    def nothing(self) -> str:
        if self._error:
            remedy = f"Check the disk and its free space; {self.key_named(Action.POLL_NOW)} tries again."
            return f"The archive cannot be read: {self._error}.\n{remedy}"
        pattern = self._table.sort_filter.pattern
        if self._is_reading:
            return f"Looking for {pattern} …" if pattern else "Reading the archive …"
        if pattern:
            key, panel, limit = self.key_named(Action.FILTER), self.key_named(Action(self._kind.name)), ""
            if not self._finds_every_word:
                limit = f"It finds symbols, and five digits or more of an ID; {key} in panel {panel} finds every word. "
            return f"Nothing matches {pattern}.\n{limit}{self.key_named(Action.BACK)} clears the filter."
        if self._dates is not None:
            remedy = f"{self.key_named(Action.BACK)} {'clears them' if self._has_typed_dates else 'goes back'}."
            but = f" but {self._beyond_shown_rows}" if self._beyond_shown_rows else ""
            return f"Nothing was seen of these dates and symbols{but}.\n{remedy}"
        return "There are no rows yet."

    @property
    def _has_typed_dates(self) -> bool:
        """Whether a person typed the dates; the dates of an opened figure end with the screen."""
        return self._dates is not None and bool(self._dates.texts)

    def reason(self, action: Action) -> str | None:
        """Why an action can do nothing now: rows in order of time can always be reversed."""
        return None if action is Action.SORT_REVERSE else super().reason(action)

    def action_sort(self) -> None:
        """Reverse the order: the archive's index knows no other one than by time."""
        sort = self._table.sort_filter.sort
        time = "cTime" if self._kind.name == FILLS.name else "uTime"  # stops are ordered by their last change
        self._table.sort_by(Sort(time) if sort is None else None)
        self.refresh_states()

    action_sort_reverse = action_sort

    def remember_sort(self) -> None:
        """Nothing is remembered: this order is the screen's own, not the panel's."""

    async def action_back(self) -> None:
        if await self.drop_filter():
            return
        if self._has_typed_dates:
            self._open_rows(None)
        else:
            self.dismiss()


class HistorySums:
    """The sums of a table's fills, known until its rows or their number change: too many for each paint."""

    def __init__(self, table: RecordTable[FeedRow]) -> None:
        self._table = table
        self._totals: FillTotals | None = None
        self._summed: tuple[RowSource[object], int] | None = None
        """The rows, with their number, that the sums are or will be of."""

    @property
    def known(self) -> FillTotals | None:
        """The sums of the fills that are shown now; None while they are being computed, or if they are too many."""
        return self._totals if self._summed == (self._table.rows, self._table.rows.count) else None

    def begin_summing(self) -> ArchiveRows[FuturesFill] | None:
        """Begin for the rows shown now; returns those to add up, None if that has begun or they cannot be summed."""
        rows = self._table.rows
        if not isinstance(rows, ArchiveRows) or rows.error or self._summed == (rows, rows.count):
            return None
        self._summed, self._totals = (rows, rows.count), None
        return rows if rows.count <= MOST_SUMMED else None

    async def add_up(self, rows: ArchiveRows[FuturesFill]) -> None:
        """Sum fills, or store in `rows.error` why they cannot be read; drop the sum if other rows are shown by then."""
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

    def note(self, cell_format: CellFormat, key_named: Callable[[Action], str]) -> str:
        if self._table.rows.count > MOST_SUMMED:
            narrows = f"{key_named(Action.DATES)} narrows them by dates"
            return f"profit and fees are summed of {MOST_SUMMED:,} fills at most; {narrows}"
        return "profit and fees are being summed …" if self.known is None else self.known.text(cell_format)

    def short_note(self, cell_format: CellFormat, key_named: Callable[[Action], str]) -> str:
        if self.known is None:
            return self.note(cell_format, key_named)
        parts = (f"sums in USDT of {counted(self._table.rows.count, 'fill')}", self.known.outside_cells(cell_format))
        return " · ".join(filter(None, parts))

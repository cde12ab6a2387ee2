"""The open round trips and those that ended in a period, newest first; Enter opens the fills of one."""

from __future__ import annotations

import sqlite3
from typing import Final

from textual import work

from tradetui.desk.archive.trip_queries import TripRow
from tradetui.desk.results.period_query import Period, PeriodQuery
from tradetui.desk.results.result_columns import TRIP_COLUMNS, trips_footer
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.table import FILLS
from tradetui.desk.tables.time_format import date_text
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.app_protocols import HISTORY_SCREEN
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.safe_text import notify
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame, nothing_matches
from tradetui.ui.table.table_screen import RecordsScreen

MOST_TRIPS: Final = 2_000  # the most round trips listed; a shorter period shows the others
_HINTS: Final = (Action.HELP, Action.ROWS, Action.FILTER, Action.SORT, Action.EXPORT, Action.BACK)


class TripsScreen(RecordsScreen[TripRow]):
    """The trips at the moment it was opened."""

    where = "trips"
    names_columns = True

    def __init__(self, period: Period, symbols: tuple[str, ...] | None) -> None:
        super().__init__()
        self._period = period
        self._symbols = symbols
        self._table = RecordTable(TRIP_COLUMNS, id="table-trips", footer=trips_footer)
        self._nothing = "reading …"
        self._has_more = False

    def on_mount(self) -> None:
        self.show_zone()
        self.refresh_states()
        self._read()

    @work(exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        desk = self.desk
        reader = None if desk is None else desk.results()
        if desk is None or reader is None:
            return
        query = PeriodQuery(self._period, desk.client.server_clock.now_ms, desk.settings.product_types, self._symbols)
        try:
            lines = await reader.trips(query, MOST_TRIPS + 1, desk.positions.snapshot.rows)
        except (sqlite3.Error, OSError) as problem:
            self._nothing = f"The archive cannot be read: {problem}"
        else:
            self._nothing = "No round trip ended in this period."
            self._has_more = len(lines) > MOST_TRIPS
            shown = lines[:MOST_TRIPS]
            self._table.set_source(MemoryRows(shown, [line.row_id for line in shown]))
        self.refresh_states()

    @property
    def subject(self) -> str:
        return "Round trips"

    def refresh_states(self) -> None:
        period = self._period
        first, last = period.first_day, date_text(period.last_day, self.today)
        days = last if first == period.last_day else f"{date_text(first, self.today)} to {last}" if first else ""
        newest = f"the newest {MOST_TRIPS:,}, there are more" if self._has_more else f"{self._table.rows.count:,}"
        symbols, pattern = ", ".join(self._symbols or ()), self._table.sort_filter.pattern_title
        title = " · ".join(filter(None, (f"{self.subject} {newest}", days, symbols, pattern)))
        nothing = nothing_matches(self._table, self.key_named) if self._table.model.source.count else self._nothing
        self.query_one(RecordsFrame).say(title, nothing)
        self.show_hints(_HINTS, zone_label(self.zone))

    def open_row(self, row_id: str, record: object) -> None:
        if isinstance(record, TripRow):
            self._open_fills(record)

    @work(group="fills", exclusive=True, exit_on_error=False)
    async def _open_fills(self, row: TripRow) -> None:
        reader = None if self.desk is None else self.desk.results()
        if reader is None:
            return
        try:
            fill_ids = await reader.trip_fill_ids(row)
        except (sqlite3.Error, OSError) as problem:
            notify(self.app, f"The archive cannot be read: {problem}", severity="error")
            return
        opened_ms, last_ms = row.trip.opened_ms, row.trip.last_ms
        dates = DateFilter(opened_ms, last_ms, (row.symbol,), whole_symbols=True, archive_ids=fill_ids)
        self.app.push_screen(HISTORY_SCREEN(FILLS.name, dates, "", None))

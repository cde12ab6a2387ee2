"""The screen `m`, which shows a trader whether the account makes money: when it reads, and what its keys do.

`PeriodReading` holds the chosen period and its figures, `MoneyPanels` shows them.
"""

from __future__ import annotations

from datetime import date
from typing import Final, cast

from rich.cells import cell_len
from textual import getters, on, work
from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Static

from tradetui.desk.results.period_query import Period
from tradetui.desk.results.period_results import PeriodResults
from tradetui.desk.results.sums import ResultLine
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.desk.tables.table import FILLS
from tradetui.trading.results.periods import Grouping
from tradetui.ui.app_protocols import DRAW_CHART, HISTORY_SCREEN, TRIPS_SCREEN
from tradetui.ui.header.header_bar import HeaderBar, header_lines
from tradetui.ui.header.header_content import show_session
from tradetui.ui.key_bindings.actions import Action, Move
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.money import result_panel
from tradetui.ui.money.calendar_panel import CalendarPanel
from tradetui.ui.money.chart_panel import ChartPanel, DrawChart
from tradetui.ui.money.money_panels import MoneyPanel, MoneyPanels, PeriodBar
from tradetui.ui.money.result_panel import Opens, PeriodReading, ResultPanel
from tradetui.ui.safe_text import Notice, sanitized
from tradetui.ui.table.desk_screen import ACCOUNT_UNKNOWN, NEWEST_ALERT
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_screen import NO_FILLS, NO_ROW, TableScreen

_LINES_AROUND: Final = 4
"""Lines of the period, the sentence on the wallet, the newest alert, which may be none, and the keys."""
_NOTE_MARGINS: Final = 2
_HINTS: Final = (
    *(Action.HELP, Action.NEXT_PANEL, Action.PERIOD_BEFORE, Action.GROUP, Action.CHART, Action.ROWS, Action.TRIPS),
    *(Action.DATES, Action.FILTER, Action.SORT, Action.EXPORT, Action.BACK),
)


class MoneyScreen(TableScreen):
    """Figures are read off the loop, when it opens, when another period is chosen, and while fills come in."""

    where = "money"
    AUTO_FOCUS = "#result-lines"
    _header = getters.query_one(HeaderBar)
    _bar = getters.query_one(PeriodBar)
    _note = getters.query_one("#money-note", Static)

    def __init__(self, now_ms: int) -> None:
        super().__init__()
        self._reading = PeriodReading(self.zone, now_ms)
        chart_panel = ChartPanel(cast(DrawChart, DRAW_CHART), has_utf8=self.settings.terminal.has_utf8)
        self._panels = MoneyPanels(self._reading, chart_panel, self.key_named)
        self._is_reading = False

    def compose(self) -> ComposeResult:
        yield HeaderBar(self.settings, self.trade_app.chosen)
        yield PeriodBar(has_utf8=self.settings.terminal.has_utf8)
        yield self._panels
        yield Static(id="money-note", markup=False)
        yield Notice(NEWEST_ALERT)
        yield Hints()

    def on_mount(self) -> None:
        self.show_zone()
        self._arrange()
        self.set_interval(1.0, self._read_if_due)
        self.desk_changed()
        self._read_anew()

    def on_resize(self) -> None:
        self._arrange()
        self.refresh_states()

    # Content

    @property
    def table(self) -> RecordTable[object]:
        return self._panels.table

    @property
    def subject(self) -> str:
        return f"Results by {self._panels.grouping}"

    @property
    def screen_name(self) -> str:
        return "results"

    @property
    def export_name(self) -> str:
        return f"results-by-{self._panels.grouping}"

    def desk_changed(self) -> None:
        """Update the header; the figures follow when they are read again."""
        if self.desk is not None:
            show_session(self._header, self.desk, self.key_named)

    def _show_all(self) -> None:
        if self.is_attached:
            self.show_zone()
            self._panels.show(self.cell_format)
            self.refresh_states()

    def refresh_states(self) -> None:
        reading = self._reading
        first_known = reading.results.days[0].day if reading.results is not None and reading.results.days else None
        sentences = result_panel.period_sentences(reading.period, first_known, reading.symbols, self.today)
        self._bar.show(reading.choice, sentences)
        self._panels.show_titles()
        self._note.update(sanitized(self._note_sentence))
        self._show_hints()

    @property
    def _note_sentence(self) -> str:
        reading = self._reading
        if reading.trouble:
            return reading.trouble
        if reading.fills_to_book is not None:
            return f"Results are being worked out from the stored fills: {reading.fills_to_book:,} fills to go …"
        if reading.results is not None:
            whole = self._results_sentence(reading.results, is_short=False)
            fits = cell_len(whole) <= self.app.size.width - _NOTE_MARGINS
            return whole if fits else self._results_sentence(reading.results, is_short=True)
        return "reading …" if self.desk is not None and self.desk.archive is not None else "still starting …"

    def _results_sentence(self, results: PeriodResults, *, is_short: bool) -> str:
        reading = self._reading
        wallet = result_panel.wallet_sentence(results, self.cell_format, reading.bills_refused, is_short=is_short)
        if self.desk is None:
            return wallet
        today, unknown_because = self.desk.today(), self.desk.today_unknown_because
        reason = result_panel.today_reason(today, unknown_because, self.desk.zone, is_short=is_short)
        return " · ".join(filter(None, (wallet, reason)))

    def _show_hints(self) -> None:
        panels = self._panels
        descriptions = {
            Action.GROUP: f"By {panels.following_grouping}",
            Action.CHART: "Equity" if panels.shows_bars else "Result",
            Action.PERIOD_BEFORE: "Period",
            Action.NEXT_PANEL: str(panels.panel_after(1)).capitalize(),
        }
        hinted = [action for action in _HINTS if action is not Action.NEXT_PANEL or panels.hides_some]
        self.show_hints(hinted, "", descriptions)

    def keys_of(self, action: Action) -> str:
        """Both keys of the periods stand in one hint."""
        first = super().keys_of(action)
        return f"{first} {self.key_named(Action.PERIOD_AFTER)}" if action is Action.PERIOD_BEFORE else first

    # Reading

    def _read_if_due(self) -> None:
        if self.desk is not None and not self._is_reading and self._reading.is_due(self.desk):
            self._read_anew()

    def _read_anew(self) -> None:
        self._is_reading = True
        self._read()
        self.refresh_states()

    @work(group="results", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        if self.desk is not None:
            await self._reading.read(self.desk, self._panels.calendar.month, self.refresh_states)
        self._is_reading = False
        self._show_all()

    # Panels

    def _arrange(self) -> None:
        width, height = self.app.size
        self._panels.show_what_fits(Size(width, height - header_lines(height) - _LINES_AROUND))

    def _go_to(self, panel: MoneyPanel) -> None:
        self._panels.focused_panel = panel
        self._arrange()
        self._panels.focused_widget.focus()
        self.refresh_states()

    def on_descendant_focus(self) -> None:
        self.refresh_states()

    def action_next_panel(self, by: int) -> None:
        self._go_to(self._panels.panel_after(by))

    def action_zoom(self) -> None:
        self._panels.is_zoomed = not self._panels.is_zoomed
        self._arrange()
        self.refresh_states()

    # Key actions

    def reason(self, action: Action) -> str | None:
        panel = self._panels.focused_panel
        on_row = {
            MoneyPanel.RESULT: self._panels.result_panel.cursor_row is not None,
            MoneyPanel.CHART: False,
            MoneyPanel.GROUPS: self._panels.table.cursor.row_id is not None,
            MoneyPanel.CALENDAR: True,
        }[panel]
        has_archive = self.desk is not None and self.desk.archive is not None
        match action:
            case Action.COPY_CELL | Action.COPY_ROW:
                return None if on_row and panel is not MoneyPanel.CALENDAR else NO_ROW
            case Action.ROWS:
                return None if on_row and has_archive else NO_FILLS
            case Action.TRIPS if not has_archive:
                return ACCOUNT_UNKNOWN
        return super().reason(action)

    def action_move(self, way: str) -> None:
        if not isinstance(widget := self._panels.focused_widget, ChartPanel):
            widget.move(Move(way))

    def action_detail(self) -> None:
        if not isinstance(widget := self._panels.focused_widget, ChartPanel):
            widget.action_select()

    def action_copy_cell(self) -> None:
        row = self._panels.result_panel.cursor_row
        if self._panels.focused_panel is not MoneyPanel.RESULT or row is None:
            super().action_copy_cell()
        else:
            self.trade_app.copy(row.exact, row.name.strip())

    def action_copy_row(self) -> None:
        row = self._panels.result_panel.cursor_row
        if self._panels.focused_panel is not MoneyPanel.RESULT or row is None:
            super().action_copy_row()
        else:
            self.trade_app.copy(f"{row.name.strip()}\t{row.exact}", "row")

    def action_period(self, by: int) -> None:
        if self._reading.step(by):
            self._read_anew()

    @on(PeriodBar.Chosen)
    def _period_chosen(self, event: PeriodBar.Chosen) -> None:
        self._reading.choose(event.choice)
        self._read_anew()

    def action_dates(self) -> None:
        self.ask_for_dates(self._reading.dates, self._use_dates, days_of=self._reading.zone)

    def _use_dates(self, dates: DateFilter | None) -> None:
        self._reading.choose_dates(dates)
        self._read_anew()

    def action_group(self) -> None:
        self._group_by(self._panels.following_grouping)

    def _group_by(self, grouping: Grouping) -> None:
        self._panels.group_by(grouping)
        self._show_all()
        self._reading.audits_days = grouping is Grouping.DAY
        if self._reading.audits_days:
            self._read_anew()

    def action_chart(self) -> None:
        self._panels.choose_chart(self.cell_format, by_day=not self._panels.shows_bars)
        self.refresh_states()

    def action_month(self, by: int) -> None:
        self._panels.calendar.go_to_month(by)

    @on(CalendarPanel.MonthChanged)
    def _month_changed(self) -> None:
        self._panels.show_calendar(self.cell_format)
        self._read_anew()

    def action_trips(self) -> None:
        period, symbols = self._reading.period, self._reading.symbols or None
        self.app.push_screen(TRIPS_SCREEN(period, symbols))

    # The rows behind figures

    @on(ResultPanel.Opened)
    def _figure_opened(self, event: ResultPanel.Opened) -> None:
        if self.refuses(Action.ROWS.textual_action):
            return
        opens = event.row.opens
        if opens is Opens.FILLS:
            self._open_fills(self._reading.period, self._reading.symbols, self._reading.total_line())
        elif opens is Opens.DAY and event.row.day is not None:
            self._open_day(event.row.day)
        elif opens is Opens.EQUITY:
            self._panels.choose_chart(self.cell_format, by_day=False)
            self._go_to(MoneyPanel.CHART)
        else:
            self._group_by(Grouping.COIN if opens is Opens.COINS else Grouping.DAY)
            self._go_to(MoneyPanel.GROUPS)

    @on(CalendarPanel.Opened)
    def _calendar_day_opened(self, event: CalendarPanel.Opened) -> None:
        if not self.refuses(Action.ROWS.textual_action):
            self._open_day(event.day)

    def open_row(self, row_id: str, record: object) -> None:
        if not isinstance(record, ResultLine) or self.refuses(Action.ROWS.textual_action):
            return
        if record.day is not None:
            self._open_day(record.day)
        else:
            symbols = (record.group,) if self._panels.grouping is Grouping.SYMBOL else record.symbols
            self._open_fills(self._reading.period, symbols, record)

    def _open_day(self, day: date) -> None:
        line = self._reading.day_line(day)
        self._open_fills(Period(day, day, self._reading.zone), self._reading.symbols, line)

    def _open_fills(self, period: Period, symbols: tuple[str, ...], line: ResultLine | None) -> None:
        dates = DateFilter(period.since, period.until, symbols, whole_symbols=True)
        beyond_rows = result_panel.funding_beyond_fills(line, self.cell_format)
        self.app.push_screen(HISTORY_SCREEN(FILLS.name, dates, beyond_rows, None))

    async def action_back(self) -> None:
        """Clear the filter, leave zoom, leave typed dates, then leave."""
        if await self.drop_filter():
            return
        if self._panels.is_zoomed:
            self.action_zoom()
        elif self._reading.dates is not None:
            self._use_dates(None)
        else:
            self.dismiss()

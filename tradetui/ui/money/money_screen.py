"""The screen `m`: what a period brought in, as figures, as a chart, by symbol, day or coin, and on a calendar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, ClassVar, Final

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tradetui.desk.results.figures import ResultLine
from tradetui.desk.results.period import Period
from tradetui.desk.results.period_results import PeriodResults
from tradetui.desk.results.result_columns import amount_text, result_columns, result_totals
from tradetui.desk.tables.columns import CellFormat
from tradetui.desk.tables.date_filter import DateFilter
from tradetui.desk.tables.row_source import MemoryRows
from tradetui.desk.tables.table import FILLS
from tradetui.desk.tables.table_view import TotalTexts
from tradetui.trading.results.periods import Grouping
from tradetui.ui.header.bar import HeaderBar, has_two_lines
from tradetui.ui.header.newest_alert import NewestAlert
from tradetui.ui.header.session import show_session
from tradetui.ui.keys.bindings import bindings
from tradetui.ui.keys.footer import Hints
from tradetui.ui.keys.registry import BINDINGS, KeyBinding
from tradetui.ui.messages import OpenHistory, OpenTrips
from tradetui.ui.money import sentences
from tradetui.ui.money.calendar.calendar_panel import CalendarPanel
from tradetui.ui.money.calendar.month_grid import DayNet, MonthGrid, month_of
from tradetui.ui.money.charts import charts_of_period
from tradetui.ui.money.charts.chart_panel import ChartPanel, DrawChart
from tradetui.ui.money.money_layout import RESULT_WIDTH, MoneyPanel, arrange
from tradetui.ui.money.period_bar import PeriodBar
from tradetui.ui.money.period_reading import PeriodReading
from tradetui.ui.money.result_lines import Opens, result_rows
from tradetui.ui.money.result_panel import ResultPanel
from tradetui.ui.sanitize import sanitized
from tradetui.ui.table.footer import Footer
from tradetui.ui.table.frame import AsideFrame, TableFrame
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_screen import TableScreen
from tradetui.ui.time_zones import zone_label, zone_named

if TYPE_CHECKING:
    from tradetui.ui.settings import UiSettings

_TICK_S: Final = 1.0
_GROUPINGS: Final = (Grouping.SYMBOL, Grouping.DAY, Grouping.COIN)
_HINT_ORDER: Final = (
    "help",
    "period_before",
    "group",
    "chart",
    "rows",
    "trips",
    "dates",
    "filter",
    "sort",
    "export",
    "zoom",
    "back",
)


class MoneyScreen(TableScreen):
    """Figures are read off the loop, when it opens, when another period is chosen, and while fills come in."""

    where = "money"
    AUTO_FOCUS = "#result-lines"
    BINDINGS: ClassVar[list[BindingType]] = bindings("money")
    _header = getters.query_one(HeaderBar)
    _bar = getters.query_one(PeriodBar)
    _result_panel = getters.query_one(ResultPanel)
    _chart_panel = getters.query_one(ChartPanel)
    _calendar = getters.query_one(CalendarPanel)
    _newest_alert = getters.query_one(NewestAlert)
    _note = getters.query_one("#money-note", Static)

    def __init__(self, settings: UiSettings, draw: DrawChart, now_ms: int) -> None:
        """`now_ms` is the time (Unix) by which today is known when it opens."""
        super().__init__(settings)
        self._draw = draw
        self._reading = PeriodReading(zone_named(settings.timezone), now_ms)
        self._grouping = Grouping.SYMBOL
        self._by_day: bool | None = None
        self._focused = MoneyPanel.RESULT
        self._is_zoomed = False
        self._is_reading = False
        self._generation = 0
        footer = Footer[ResultLine](totals=self._totals, note=self._groups_note)
        self._table = RecordTable(result_columns(self._grouping), id="table-results", footer=footer)
        self._table.sort_by("net", reverse=True)

    def compose(self) -> ComposeResult:
        """The header, the period, the four panels, what the wallet did, and the keys."""
        profile = self._settings.profiles[self.trade_app.chosen]
        has_utf8, in_place = self._settings.terminal.has_utf8, self._settings.inline_start
        yield HeaderBar(self._settings.environment, self._settings.access, profile.name)
        yield PeriodBar(has_utf8=has_utf8)
        with Container(id="money-panels"):
            with Container(id="money-upper"):
                with AsideFrame(id="money-result", classes="panel"):
                    yield ResultPanel()
                with AsideFrame(id="money-chart", classes="panel"):
                    yield ChartPanel(self._draw, has_utf8=has_utf8, in_place=in_place)
            with Container(id="money-lower"):
                with TableFrame(table=self._table, id="money-groups", classes="panel -empty", names_columns=True):
                    yield self._table
                    with Container(classes="nothing"):
                        yield Static(sanitized("reading …"), classes="words", id="money-nothing", markup=False)
                with AsideFrame(id="money-calendar", classes="panel"):
                    yield CalendarPanel(self._reading.period.last_day)
        yield Static(id="money-note", markup=False)
        yield NewestAlert()
        yield Hints()

    def on_mount(self) -> None:
        """Read, and go on looking."""
        self.show_zone()
        self._arrange()
        self.set_interval(_TICK_S, self._tick)
        self.desk_changed()
        self._read_anew()

    def on_resize(self) -> None:
        """Arrange anew, live."""
        self._arrange()

    # What is shown

    @property
    def table(self) -> RecordTable[object]:
        """Results by symbol, day or coin."""
        return self._table

    @property
    def subject(self) -> str:
        """What its rows are."""
        return f"Results by {self._grouping}"

    @property
    def screen_name(self) -> str:
        """None of the panels of the main screen."""
        return "results"

    @property
    def export_name(self) -> str:
        """How the proposed name of a file of the rows begins."""
        return f"results-by-{self._grouping}"

    def desk_changed(self) -> None:
        """The desk has published something: the header shows it, the figures follow with the next tick."""
        if self.desk is not None and self.is_mounted:
            show_session(self._header, self.desk)

    def show_alert(self) -> None:
        """Show the newest alert above the keys."""
        self._newest_alert.show_newest(self.desk, self.zone)

    def on_screen_resume(self) -> None:
        """The list of alerts may have been looked at meanwhile."""
        self.show_alert()

    # Reading

    def _tick(self) -> None:
        desk = self.desk
        if desk is not None and not self._is_reading and self._reading.is_due(desk):
            self._read_anew()

    def _read_anew(self) -> None:
        self._is_reading = True
        self._read()

    @work(group="results", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        if self.desk is not None:
            await self._reading.read(self.desk, self._calendar.month, self.refresh_states)
        self._is_reading = False
        self._show_all()

    # Drawing

    def _show_all(self) -> None:
        if not self.is_attached:
            return
        self.show_zone()
        results = self._reading.results
        if results is not None:
            self._generation += 1
            lines = self._lines(results)
            keys = [f"{line.group}|{line.coin}" for line in lines]
            self._table.set_source(MemoryRows(lines, keys, self._generation))
            self._result_panel.show(result_rows(results, self.cell_format))
        self._show_chart()
        self._show_calendar()
        self.refresh_states()

    def _lines(self, results: PeriodResults) -> tuple[ResultLine, ...]:
        if self._grouping is Grouping.DAY:
            return results.days
        return results.symbols if self._grouping is Grouping.SYMBOL else results.coins

    @property
    def _shows_bars(self) -> bool:
        if self._by_day is not None or self._reading.results is None:
            return bool(self._by_day)
        return not charts_of_period.shows_equity_first(self._reading.results)

    def _show_chart(self) -> None:
        box = self.query_one("#money-chart", AsideFrame)
        if self._reading.results is None:
            self._chart_panel.show(None, "reading …")
            return
        if self._shows_bars:
            titled = charts_of_period.result_chart(self._reading.results)
        else:
            titled = charts_of_period.equity_chart(self._reading.results, self.cell_format)
        self._chart_panel.show(titled.chart, titled.nothing)
        other = "equity" if self._shows_bars else "result"
        box.entitle(sanitized(titled.title), f"{self.key_named('chart')} {other}")
        box.border_subtitle = sanitized(titled.below)

    def _show_calendar(self) -> None:
        month, results = self._calendar.month, self._reading.month
        box = self.query_one("#money-calendar", AsideFrame)
        keys = f"{self.key_named('month_before')} {self.key_named('month_after')} month"
        box.entitle(sanitized(f"{month:%B %Y}, net realised"), keys)
        if results is None or results.period.first_day != month:
            self._calendar.show(MonthGrid(month, {}), (Content.styled("reading …", "$quiet"),))
            return
        nets = {
            line.day: DayNet(line.figures.net, line.figures.is_complete)
            for line in results.days
            if line.day is not None and month_of(line.day) == month
        }
        grid = MonthGrid(month, nets)
        self._calendar.show(grid, sentences.calendar_notes(grid, self.cell_format))

    def _totals(self, lines: Iterable[ResultLine], cell_format: CellFormat) -> TotalTexts:
        return result_totals(lines, cell_format, str(self._grouping))

    def _groups_note(self, _: Iterable[ResultLine], cell_format: CellFormat) -> str:
        others = self._reading.results.other_coins if self._reading.results is not None else ()
        if not others or self._grouping is Grouping.COIN:
            return ""
        amounts = ", ".join(
            f"{amount_text(line.figures.net, line.coin, line.figures, cell_format)} {line.coin}" for line in others
        )
        return f"beside it: {amounts}"

    def refresh_states(self) -> None:
        """Bring titles, sentences and keys up to date."""
        results, cell_format = self._reading.results, self.cell_format
        first_known = results.days[0].day if results is not None and results.days else None
        symbols = self._reading.symbols or ()
        self._bar.show(
            self._reading.choice,
            sentences.period_sentence(self._reading.period, first_known, symbols, is_short=False),
            sentences.period_sentence(self._reading.period, first_known, symbols, is_short=True),
        )
        self.query_one("#money-result", AsideFrame).entitle(sanitized("Result"))
        frame = self.query_one("#money-groups", TableFrame)
        pattern = f" /{self._table.pattern}" if self._table.pattern else ""
        frame.entitle(sanitized(f"By {self._grouping}{pattern}"))
        frame.set_class(not self._table.shown, "-empty")
        self.query_one("#money-nothing", Static).update(sanitized(self._nothing))
        self._note.update(sanitized(self._note_sentence(results, cell_format)))
        note = f"days in {zone_label(self._reading.zone)}" if self.size.width >= 100 else ""
        self.show_hints(self._hinted_bindings(), note)

    @property
    def _nothing(self) -> str:
        if self._table.pattern:
            return "Nothing matches.\nEsc clears the filter."
        if self._reading.results is None:
            return "reading …"
        return sentences.nothing_sentence(self._reading.choice, has_any=self._reading.has_any)

    def _note_sentence(self, results: PeriodResults | None, cell_format: CellFormat) -> str:
        if self._reading.trouble:
            return self._reading.trouble
        if self._reading.fills_to_book is not None:
            return f"The archive is brought forward: {self._reading.fills_to_book:,} fills to go …"
        if results is None:
            return "reading …" if self.desk is not None and self.desk.archive is not None else "still starting …"
        return sentences.wallet_sentence(results, cell_format)

    def _hinted_bindings(self) -> list[KeyBinding]:
        following = _GROUPINGS[(_GROUPINGS.index(self._grouping) + 1) % len(_GROUPINGS)]
        descriptions = {
            "group": f"By {following}",
            "chart": "Equity" if self._shows_bars else "Result",
            "period_before": "Period",
        }
        rank = {id_: rank for rank, id_ in enumerate(_HINT_ORDER)}
        chosen = sorted((binding for binding in BINDINGS if binding.id in rank), key=lambda binding: rank[binding.id])
        return [replace(binding, description=descriptions.get(binding.id, binding.description)) for binding in chosen]

    def keys_of(self, binding: KeyBinding) -> str:
        """Both keys of the periods stand in one hint."""
        first = super().keys_of(binding)
        return f"{first} {self.key_named('period_after')}" if binding.id == "period_before" else first

    # Layout

    def _arrange(self) -> None:
        width, height = self.app.size
        self.set_class(has_two_lines(height), "-narrow")
        around = 3 + (2 if has_two_lines(height) else 1)
        shown = arrange(width, height - around, self._focused, is_zoomed=self._is_zoomed)
        for panel, box in self._boxes.items():
            box.display = panel in shown
            if panel in shown:
                box.styles.width = shown[panel].width or "1fr"
        upper, lower = self.query_one("#money-upper"), self.query_one("#money-lower")
        upper.display = MoneyPanel.RESULT in shown or MoneyPanel.CHART in shown
        lower.display = MoneyPanel.GROUPS in shown or MoneyPanel.CALENDAR in shown
        has_two_rows = len(shown) == len(MoneyPanel)
        self.query_one("#money-panels").set_class(not has_two_rows, "-one-row")
        upper.styles.height = shown[MoneyPanel.RESULT].height if has_two_rows else "1fr"
        upper.styles.width = RESULT_WIDTH if lower.display and not has_two_rows else "1fr"

    @property
    def _boxes(self) -> Mapping[MoneyPanel, Widget]:
        return {panel: self.query_one(f"#money-{panel}") for panel in MoneyPanel}

    @property
    def _focused_widget(self) -> ResultPanel | ChartPanel | CalendarPanel | RecordTable[ResultLine]:
        if self._focused is MoneyPanel.RESULT:
            return self._result_panel
        if self._focused is MoneyPanel.CHART:
            return self._chart_panel
        return self._calendar if self._focused is MoneyPanel.CALENDAR else self._table

    def _go_to(self, panel: MoneyPanel) -> None:
        self._focused = panel
        self._arrange()
        self._focused_widget.focus()
        self.refresh_states()

    def on_descendant_focus(self) -> None:
        """Follow the focus, which the mouse moves too."""
        for panel, box in self._boxes.items():
            if box.has_focus_within:
                self._focused = panel
        self.refresh_states()

    def action_next_panel(self, by: int) -> None:
        """The next panel or the one before."""
        panels = tuple(MoneyPanel)
        self._go_to(panels[(panels.index(self._focused) + by) % len(panels)])

    def action_zoom(self) -> None:
        """One panel over the whole screen, and back."""
        self._is_zoomed = not self._is_zoomed
        self._arrange()

    # What the keys do

    def possible(self) -> dict[str, bool]:
        """Whether a binding can do something now, by id."""
        on_row = {
            MoneyPanel.RESULT: self._result_panel.cursor_row is not None,
            MoneyPanel.CHART: False,
            MoneyPanel.GROUPS: self._table.cursor_key is not None,
            MoneyPanel.CALENDAR: True,
        }[self._focused]
        has_archive = self.desk is not None and self.desk.archive is not None
        copies = on_row and self._focused in (MoneyPanel.RESULT, MoneyPanel.GROUPS)
        return {
            **super().possible(),
            "rows": on_row and has_archive,
            "trips": has_archive,
            "copy_cell": copies,
            "copy_row": copies,
        }

    def action_table(self, name: str) -> None:
        """Move the cursor of the panel that has the focus."""
        getattr(self._focused_widget, f"action_{name}")()

    def action_detail(self) -> None:
        """Open what is under the cursor."""
        if self.able("rows"):
            self._focused_widget.action_select()

    def action_copy_cell(self) -> None:
        """Copy the figure or cell under the cursor."""
        row = self._result_panel.cursor_row
        if self._focused is not MoneyPanel.RESULT or row is None:
            super().action_copy_cell()
        elif self.able("copy_cell"):
            self.trade_app.copy(row.exact, row.name.strip())

    def action_copy_row(self) -> None:
        """Copy the line or row under the cursor."""
        row = self._result_panel.cursor_row
        if self._focused is not MoneyPanel.RESULT or row is None:
            super().action_copy_row()
        elif self.able("copy_row"):
            self.trade_app.copy(f"{row.name.strip()}\t{row.exact}", "row")

    def action_period(self, by: int) -> None:
        """The next longer period, or the next shorter one."""
        if self._reading.step(by):
            self._read_anew()
            self.refresh_states()

    @on(PeriodBar.Chosen)
    def _period_chosen(self, event: PeriodBar.Chosen) -> None:
        self._reading.choose(event.choice)
        self._read_anew()
        self.refresh_states()

    def action_dates(self) -> None:
        """Choose from which day to which, and of which symbols."""
        self.ask_for_dates(self._reading.dates, self._use_dates)

    def _use_dates(self, dates: DateFilter | None) -> None:
        self._reading.choose_dates(dates)
        self._read_anew()
        self.refresh_states()

    def action_group(self) -> None:
        """Results by the next of symbol, day and coin."""
        self._group_by(_GROUPINGS[(_GROUPINGS.index(self._grouping) + 1) % len(_GROUPINGS)])

    def _group_by(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._table.set_columns(result_columns(grouping))
        # Days are looked for from today back, symbols and coins by what they brought in.
        self._table.sort_by("day" if grouping is Grouping.DAY else "net", reverse=True)
        self._show_all()

    def action_chart(self) -> None:
        """Equity, or the result by day."""
        self._by_day = not self._shows_bars
        self._show_chart()
        self.refresh_states()

    def action_month(self, by: int) -> None:
        """The calendar's next month, or the one before."""
        self._calendar.go_to_month(by)

    @on(CalendarPanel.MonthChanged)
    def _month_changed(self) -> None:
        self._show_calendar()
        self._read_anew()

    def action_trips(self) -> None:
        """The round trips that ended in the period."""
        if self.able("trips"):
            self.post_message(OpenTrips(self._reading.period, self._reading.symbols or None))

    # The rows that figures are made of

    @on(ResultPanel.Opened)
    def _figure_opened(self, event: ResultPanel.Opened) -> None:
        if not self.able("rows"):
            return
        opens = event.row.opens
        if opens is Opens.FILLS:
            self._open_fills(self._reading.period, self._reading.symbols)
        elif opens is Opens.DAY and event.row.day is not None:
            self._open_day(event.row.day)
        elif opens is Opens.EQUITY:
            self._by_day = False
            self._show_chart()
            self._go_to(MoneyPanel.CHART)
        else:
            self._group_by(Grouping.COIN if opens is Opens.COINS else Grouping.DAY)
            self._go_to(MoneyPanel.GROUPS)

    @on(CalendarPanel.Opened)
    def _calendar_day_opened(self, event: CalendarPanel.Opened) -> None:
        if self.able("rows"):
            self._open_day(event.day)

    @on(RecordTable.RowSelected)
    def _selected(self, event: RecordTable.RowSelected) -> None:
        event.prevent_default()
        line = event.record
        if not isinstance(line, ResultLine) or not self.able("rows"):
            return
        if line.day is not None:
            self._open_day(line.day)
        elif self._grouping is Grouping.SYMBOL:
            self._open_fills(self._reading.period, (line.group,))
        else:
            self._open_fills(self._reading.period, line.symbols)

    def _open_day(self, day: date) -> None:
        self._open_fills(Period(day, day, self._reading.zone), self._reading.symbols)

    def _open_fills(self, period: Period, symbols: tuple[str, ...]) -> None:
        dates = DateFilter(period.since, period.until, symbols, whole_symbols=True)
        self.post_message(OpenHistory(FILLS.name, dates))

    async def action_back(self) -> None:
        """Clear the filter, leave zoom, leave dates of one's own, then leave."""
        if await self.drop_filter():
            return
        if self._is_zoomed:
            self.action_zoom()
        elif self._reading.dates is not None:
            self._use_dates(None)
        else:
            self.dismiss()

    def action_leave(self) -> None:
        """`q` closes what is in front."""
        self.dismiss()

"""The line of periods, and the four panels below it: result, chart, groups and calendar of the chosen period.

They show what a `PeriodReading` read. The size of the screen decides how many of them are visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from tradetui.desk.results.period_query import PeriodChoice
from tradetui.desk.results.result_columns import amount_text, are_all_converted, result_columns, result_totals
from tradetui.desk.results.sums import ResultLine
from tradetui.desk.tables.cells.cell_format import CONVERTED, CellFormat
from tradetui.desk.tables.cells.column import Footer
from tradetui.desk.tables.rows.row_source import MemoryRows, Sort
from tradetui.trading.results.periods import Grouping, month_of
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.money import result_panel
from tradetui.ui.money.calendar_panel import DAYS_A_WEEK, LARGEST_CELL, SMALLEST_CELL, CalendarPanel, DayNet, MonthGrid
from tradetui.ui.money.chart_panel import ChartPanel, equity_chart, result_chart, shows_equity_first
from tradetui.ui.money.result_panel import INNER_WIDTH, PeriodReading, ResultPanel, result_rows
from tradetui.ui.safe_text import sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame, TitledFrame, nothing_matches

_BAR_NAME: Final = "MONEY"
_BAR_GAP: Final = 3
FRAME: Final = 2  # lines or columns of a panel beside its content
RESULT_WIDTH: Final = INNER_WIDTH + FRAME
RESULT_HEIGHT: Final = 15 + FRAME
CALENDAR_WIDTH: Final = (DAYS_A_WEEK + 1) * SMALLEST_CELL + FRAME
_WIDEST_CALENDAR: Final = (DAYS_A_WEEK + 1) * LARGEST_CELL + FRAME
_NARROWEST_GROUPS: Final = 31
_LOWEST_BELOW: Final = 12  # lines of the lower row of panels: six weeks, their heading, three sentences, the frame
CONVERTED_TITLE: Final = f", {CONVERTED} converted"
"""After the title of a panel whose amounts were partly converted from other coins."""
GROUPINGS: Final = (Grouping.SYMBOL, Grouping.DAY, Grouping.COIN)


class PeriodBar(Widget):
    """Periods by name; a click chooses one."""

    @dataclass(eq=False)
    class Chosen(Message):
        choice: PeriodChoice

    def __init__(self, *, has_utf8: bool) -> None:
        super().__init__(id="money-period")
        self._around = ("▐", "▌") if has_utf8 else ("[", "]")
        self._choice: PeriodChoice | None = None
        self._sentences: tuple[str, ...] = ("",)

    def show(self, choice: PeriodChoice | None, sentences: tuple[str, ...]) -> None:
        """Mark a period as chosen, None for typed dates, with the first of the sentences that fits."""
        if (choice, sentences) != (self._choice, self._sentences):
            self._choice, self._sentences = choice, sentences
            self.refresh()

    def render(self) -> Content:
        parts: list[Content] = [Content.styled(f"{_BAR_NAME}  ", "bold $primary")]
        for choice in PeriodChoice:
            if choice is self._choice:
                begin, end = self._around
                chosen = (str(choice), "reverse bold $primary")
                parts.append(Content.assemble((begin, "$primary"), chosen, (end, "$primary")))
            else:
                parts.append(Content.styled(f" {choice} ", "$foreground"))
        left = Content(" ").join(parts)
        width = self.content_size.width
        room = width - left.cell_length - _BAR_GAP
        sentence = next((sentence for sentence in self._sentences if len(sentence) <= room), self._sentences[-1])
        return Content.assemble(left, " " * _BAR_GAP, (sentence, "$quiet")).truncate(width, ellipsis=True)

    def on_click(self, event: events.Click) -> None:
        end = self.styles.padding.left + len(_BAR_NAME) + 3
        for choice in PeriodChoice:
            end += len(choice) + 3
            if event.x < end:
                self.post_message(self.Chosen(choice))
                return


class MoneyPanel(StrEnum):
    """The panels of the screen, in the order of Tab."""

    RESULT = "result"
    CHART = "chart"
    GROUPS = "groups"
    CALENDAR = "calendar"


class PanelSize(NamedTuple):
    """Width and height of a panel; 0 is the rest."""

    width: int
    height: int


def arrange(
    width: int, height: int, focused: MoneyPanel, *, is_zoomed: bool, group_lines: int = 0, group_cells: int = 92
) -> dict[MoneyPanel, PanelSize]:
    """Return the visible panels in a width and height, left to right and top to bottom.

    All four if two rows of them fit. With less room the result and the groups are side by side, or only the chart or
    the calendar while it has the focus. A narrow screen shows only the focused panel.

    `group_lines` and `group_cells` are the size of all groups and their columns, with the frame: the chart gets the
    height that the groups leave, and the calendar the width.
    """
    alone = {focused: PanelSize(0, 0)}
    if is_zoomed:
        return alone
    if width >= CALENDAR_WIDTH + _NARROWEST_GROUPS and height >= RESULT_HEIGHT + _LOWEST_BELOW:
        top = max(RESULT_HEIGHT, height - max(_LOWEST_BELOW, group_lines))
        spare = width - CALENDAR_WIDTH - _NARROWEST_GROUPS
        groups = min(group_cells, max(_NARROWEST_GROUPS + spare, width - _WIDEST_CALENDAR))
        return {
            MoneyPanel.RESULT: PanelSize(RESULT_WIDTH, top),
            MoneyPanel.CHART: PanelSize(0, top),
            MoneyPanel.GROUPS: PanelSize(groups, 0),
            MoneyPanel.CALENDAR: PanelSize(0, 0),
        }
    if focused in (MoneyPanel.CHART, MoneyPanel.CALENDAR) or width < RESULT_WIDTH + _NARROWEST_GROUPS:
        return alone
    return {MoneyPanel.RESULT: PanelSize(RESULT_WIDTH, 0), MoneyPanel.GROUPS: PanelSize(0, 0)}


class MoneyPanels(Container):
    """Shows the results of a `PeriodReading`; `key_named` gives the key of a binding, for the titles."""

    result_panel = getters.query_one(ResultPanel)
    calendar = getters.query_one(CalendarPanel)
    _groups_frame = getters.query_one("#money-groups", RecordsFrame)

    def __init__(self, reading: PeriodReading, chart_panel: ChartPanel, key_named: Callable[[Action], str]) -> None:
        super().__init__(id="money-panels")
        self._reading = reading
        self._chart_panel = chart_panel
        self._key_named = key_named
        self._by_day: bool | None = None
        """The chart that was chosen: results by day, or equity; None before anybody chose."""
        self._room = Size(0, 0)
        self.grouping = Grouping.SYMBOL
        self._all_converted = False
        """Whether the title of the groups marks them as converted, so that no cell does."""
        self.focused_panel = MoneyPanel.RESULT
        """The panel that has the focus, or had it before a dialog or the filter's box took it."""
        self.is_zoomed = False
        self.table = RecordTable(result_columns(self.grouping), id="table-results", footer=self._groups_footer)
        self.table.sort_by(Sort("net", reverse=True))

    def compose(self) -> ComposeResult:
        with Container(id="money-upper"):
            with TitledFrame(id="money-result"):
                yield ResultPanel()
            with TitledFrame(id="money-chart"):
                yield self._chart_panel
        with Container(id="money-lower"):
            yield RecordsFrame(self.table, id="money-groups", names_columns=True)
            with TitledFrame(id="money-calendar"):
                yield CalendarPanel(self._reading.period.last_day)

    # Content

    def show(self, cell_format: CellFormat) -> None:
        results = self._reading.results
        if results is not None:
            by_group = {Grouping.DAY: results.days, Grouping.SYMBOL: results.symbols}
            lines = by_group.get(self.grouping, results.coins)
            self._all_converted = are_all_converted(lines)
            if self._all_converted:
                lines = tuple(replace(line, marks_conversion=False) for line in lines)
            keys = [f"{line.group}|{line.coin}" for line in lines]
            self.table.set_source(MemoryRows(lines, keys))
            self.result_panel.show(result_rows(results, cell_format))
            self.show_what_fits(self._room)
        self.show_chart(cell_format)
        self.show_calendar(cell_format)
        self.show_titles()

    def show_titles(self) -> None:
        reading, result_frame = self._reading, self.query_one("#money-result", TitledFrame)
        is_converted = reading.results is not None and reading.results.total.is_converted
        result_frame.entitle(sanitized("Result" + (CONVERTED_TITLE if is_converted else "")))
        reason = "" if reading.results is None else result_panel.open_change_reason(reading.results, reading.symbols)
        result_frame.border_subtitle = sanitized(reason)
        if self.table.sort_filter.pattern and self.table.model.source.count:
            nothing = nothing_matches(self.table, self._key_named)
        elif reading.results is None:
            nothing = "reading …"
        else:
            nothing = result_panel.nothing_sentence(reading, reading.results, self._key_named)
        grouped = f"By {self.grouping}{CONVERTED_TITLE if self._all_converted else ''}"
        self._groups_frame.say(f"{grouped} {self.table.sort_filter.pattern_title}".strip(), nothing)

    def group_by(self, grouping: Grouping) -> None:
        self.grouping = grouping
        self.table.set_columns(result_columns(grouping))
        # Days are sorted from today back, symbols and coins by their result.
        self.table.sort_by(Sort("day" if grouping is Grouping.DAY else "net", reverse=True))

    @property
    def following_grouping(self) -> Grouping:
        return GROUPINGS[(GROUPINGS.index(self.grouping) + 1) % len(GROUPINGS)]

    @property
    def shows_bars(self) -> bool:
        """Whether the chart is of results by day; by default, if equity is known for too little."""
        if self._by_day is not None or self._reading.results is None:
            return bool(self._by_day)
        return not shows_equity_first(self._reading.results)

    def choose_chart(self, cell_format: CellFormat, *, by_day: bool) -> None:
        self._by_day = by_day
        self.show_chart(cell_format)

    def show_chart(self, cell_format: CellFormat) -> None:
        box, results = self.query_one("#money-chart", TitledFrame), self._reading.results
        if results is None:
            self._chart_panel.show("reading …")
            return
        titled = result_chart(results) if self.shows_bars else equity_chart(results, cell_format, self._reading.symbols)
        self._chart_panel.show(titled.content)
        box.entitle(
            sanitized(titled.title), f"{self._key_named(Action.CHART)} {'equity' if self.shows_bars else 'result'}"
        )
        box.border_subtitle = sanitized(titled.below)

    def show_calendar(self, cell_format: CellFormat) -> None:
        month, results = self.calendar.month, self._reading.month
        keys = f"{self._key_named(Action.MONTH_BEFORE)} {self._key_named(Action.MONTH_AFTER)} month"
        self.query_one("#money-calendar", TitledFrame).entitle(sanitized(f"{month:%B %Y}, net realised"), keys)
        if results is None or results.period.first_day != month:
            self.calendar.show(MonthGrid(month, {}), (Content.styled("reading …", "$quiet"),))
            return
        nets = {
            line.day: DayNet(line.net, line.is_complete)
            for line in results.days
            if line.day is not None and month_of(line.day) == month
        }
        grid = MonthGrid(month, nets)
        self.calendar.show(grid, result_panel.calendar_notes(grid, cell_format, self._key_named(Action.ROWS)))

    def _groups_footer(self, lines: Iterable[ResultLine], cell_format: CellFormat) -> Footer:
        totals = result_totals(lines, cell_format, str(self.grouping))
        results = self._reading.results
        if results is None:
            return Footer(totals)
        parts = [] if results.orders_complete else ["orders wait for older fills"]
        if results.other_coins and self.grouping is not Grouping.COIN:
            amounts = (f"{amount_text(line.net, line, cell_format)} {line.coin}" for line in results.other_coins)
            parts.append(f"not included: {', '.join(amounts)}")
        return Footer(totals, " · ".join(parts))

    # Layout

    def show_what_fits(self, room: Size) -> None:
        self._room = room
        lines = self.table.model.full_lines + FRAME
        cells = max(self.table.model.full_cells + FRAME, _NARROWEST_GROUPS)
        shown = arrange(*room, self.focused_panel, is_zoomed=self.is_zoomed, group_lines=lines, group_cells=cells)
        for panel, box in self._boxes.items():
            box.display = panel in shown
            if panel in shown:
                box.styles.width = shown[panel].width or "1fr"
        upper, lower = self.query_one("#money-upper"), self.query_one("#money-lower")
        upper.display = MoneyPanel.RESULT in shown or MoneyPanel.CHART in shown
        lower.display = MoneyPanel.GROUPS in shown or MoneyPanel.CALENDAR in shown
        has_two_rows = len(shown) == len(MoneyPanel)
        self.set_class(not has_two_rows, "-one-row")
        upper.styles.height = shown[MoneyPanel.RESULT].height if has_two_rows else "1fr"
        upper.styles.width = RESULT_WIDTH if lower.display and not has_two_rows else "1fr"

    @property
    def _boxes(self) -> Mapping[MoneyPanel, Widget]:
        return {panel: self.query_one(f"#money-{panel}") for panel in MoneyPanel}

    @property
    def hides_some(self) -> bool:
        return not all(box.display for box in self._boxes.values())

    @property
    def focused_widget(self) -> ResultPanel | ChartPanel | CalendarPanel | RecordTable[ResultLine]:
        if self.focused_panel is MoneyPanel.RESULT:
            return self.result_panel
        if self.focused_panel is MoneyPanel.CHART:
            return self._chart_panel
        return self.calendar if self.focused_panel is MoneyPanel.CALENDAR else self.table

    def panel_after(self, by: int) -> MoneyPanel:
        panels = tuple(MoneyPanel)
        return panels[(panels.index(self.focused_panel) + by) % len(panels)]

    def on_descendant_focus(self) -> None:
        for panel, box in self._boxes.items():
            if box.has_focus_within:
                self.focused_panel = panel

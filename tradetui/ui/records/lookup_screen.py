"""The screen of one kind of record to look up: the query, its rows while they are loaded, and their totals by coin.

It requests only the pages of rows that a person looks at, unless a whole range was requested.

Also the form of the query, and the sentences that describe it. The form has a line for each parameter of the endpoint,
and shows each broken rule at its field while one types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, tzinfo
from typing import Final

from textual import events, getters, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tradetui.desk.lookup.lookup import Lookup, LookupState
from tradetui.desk.lookup.query import Checked, Query, check_query, filter_fields
from tradetui.desk.parameter_form import FormField
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.columns.shared_columns import totals_columns
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.table import LOOKUPS, Table, TableName
from tradetui.desk.tables.time_format import dated_text
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.header.header_bar import HeaderBar
from tradetui.ui.header.header_content import show_session
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.safe_text import Notice, notify, sanitized
from tradetui.ui.table.desk_screen import NEWEST_ALERT
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame, TableFrame, nothing_matches
from tradetui.ui.table.table_screen import TableScreen, show_choice
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import counted, shown_of

AROUND_THE_FIELDS = 11
"""Lines of the box's border, the words below the fields, the buttons, and the screen around the box."""
_ROOMY_HEIGHT = 30  # lines of a form in which every problem is shown whole
_TIMES: Final = ("startTime", "endTime")
_TITLES: Final[Mapping[str, str]] = {
    "startTime": "From",
    "endTime": "To",
    "orderId": "Order ID",
    "groupType": "Group",
    "businessType": "Business",
    "subUid": "Sub-account",
}
_NAMES: Final = re.compile(rf"\b(?:{'|'.join(_TITLES)})\b")


class FilterForm(ParameterForm[Query | None]):
    """Returns the typed query, None if it was left. Enter shows it once nothing is wrong."""

    def __init__(
        self,
        title: str,
        fields: tuple[FormField, ...],
        texts: Mapping[str, str],
        check: Callable[[Mapping[str, str]], Checked],
        zone: tzinfo,
        today: date | None,
    ) -> None:
        super().__init__(classes="dialog -form")
        self._heading = title
        self._fields = {field.name: field for field in fields}
        self._texts = dict(texts)
        self._check_texts = check
        self._zone = zone
        self._today = today

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, "Tab next · Enter shows · Esc back"):
            with VerticalScroll(can_focus=False):
                for field in self._fields.values():
                    title, text = _field_title(field.name), self._texts.get(field.name, "")
                    yield from self.field_lines(field, title, text, self._hint(field))
            yield from self.buttons("Show", harmless=True)

    def _hint(self, field: FormField) -> str:
        if field.is_time:
            return f"last week, 7d or 2026-11-20 15:30 {zone_label(self._zone)}"
        if field.choices:
            return "any, suggested as you type" if len(field.choices) > 4 else " or ".join(field.choices)
        return "needed" if field.required else "any"

    def on_resize(self, event: events.Resize) -> None:
        """Scroll the fields where they do not fit; the summary and the buttons stay visible."""
        self.query_one(VerticalScroll).styles.max_height = max(3, event.size.height - AROUND_THE_FIELDS)
        self.check()

    def check(self) -> None:
        texts = self.texts
        result = self._check_texts(texts)
        for name, field in self._fields.items():
            # The empty box itself says that it is required.
            is_unfinished = self.is_typed_in(f"field-{name}") or (field.required and not texts[name].strip())
            problem = "" if is_unfinished else _in_titles(result.problems.get(name, ""))
            line = self.show_problem(f"problem-{name}", sanitized(problem))
            # With little room only the focused field's problem is shown whole; the others have one line.
            whole = self.size.height >= _ROOMY_HEIGHT or self.query_one(f"#field-{name}").has_focus
            line.set_class(whole, "-whole")
        self.show_result(acceptable=result.query is not None, about=self._about(result))

    def _about(self, result: Checked) -> list[str]:
        field = self._fields.get(self.focused_id("field-"))
        choices_line = ""
        # The problem under a box with a wrong word names the choices already.
        if field and field.choices and not self.query_one(f"#problem-{field.name}").display:
            choices_line = f"{_field_title(field.name)}: {', '.join(field.choices)}"
        if result.query is None:
            return [choices_line, self.to_correct(map(_field_title, result.problems))]
        span = _span_text(result.query, self._zone, self._today)
        return [choices_line, f"Reads {span}." if span else ""]

    def confirm(self) -> None:
        query = self._check_texts(self.texts).query
        if query is not None:
            self.dismiss(query)


def query_text(query: Query, zone: tzinfo, today: date | None) -> str:
    filters = [f"{_field_title(name)} {text}" for name, text in query.texts.items() if name not in _TIMES]
    return " · ".join(filter(None, (*filters, _span_text(query, zone, today))))


def _span_text(query: Query, zone: tzinfo, today: date | None) -> str:
    """Describe the time span, and whether a person chose it; empty for a query without one."""
    start, end, assumed = query.stretch.start_ms, query.stretch.end_ms, query.stretch.assumed
    if query.endpoint.time is None:
        return ""
    if start is None and (assumed or end is None):
        return "as far back as the exchange reports"
    begin, last = _moment(start, zone, today), _moment(end, zone, today)
    if start is None:
        stretch = f"until {last} {zone_label(zone)}"
    elif end is None:
        stretch = f"from {begin} {zone_label(zone)} to now"
    else:
        stretch = f"{begin} to {last} {zone_label(zone)}"
    if assumed:
        stretch += ", since no time is given"
    return f"{stretch}, in {query.pieces} requests" if query.pieces > 1 else stretch


def _moment(at_ms: int | None, zone: tzinfo, today: date | None) -> str:
    return "" if at_ms is None else dated_text(utc_moment(at_ms).astimezone(zone), today)


def _field_title(name: str) -> str:
    return _TITLES.get(name, name.capitalize())


def _in_titles(problem: str) -> str:
    """A sentence that begins with a parameter's name, with the titles of all parameters it names."""
    name, colon, sentence = problem.partition(":")
    return f"{_field_title(name)}{colon}{_NAMES.sub(lambda other: _field_title(other[0]), sentence)}"


_HINTS: Final = (
    *(Action.HELP, Action.BACK, Action.QUERY, Action.READ_ALL, Action.POLL_NOW),
    *(Action.DETAIL, Action.FILTER, Action.SORT, Action.ZOOM, Action.SCREENS),
)
TOTALS_TALL = 20  # lines of a terminal that has room for the totals
READY_AT_A_TIME = 100
_BAR_WIDTH = 24
NEEDS_QUERY = "This needs a query first."


class LookupScreen(TableScreen):
    """Renders one lookup; pages are requested when the cursor or the scroll comes near the end of the rows."""

    where = "lookup"
    AUTO_FOCUS = ""
    _totals_box = getters.query_one("#totals", TableFrame)
    _records_frame = getters.query_one(RecordsFrame)

    def __init__(self, table: str, texts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.kind = LOOKUPS[table]
        self._texts = dict(texts or {})  # the texts for the form when it opens next, instead of the query's
        self.rows_table = RecordTable(self.kind.columns, id=f"table-{table}")
        self.totals_table = RecordTable(totals_columns(()), id="table-totals")
        self.lookup: Lookup | None = None
        self._focused: RecordTable[object] = self.rows_table
        self._unsubscribe: Callable[[], None] = lambda: None
        self._shown_generation = -1
        self._zoomed = False

    def compose(self) -> ComposeResult:
        yield HeaderBar(self.settings, self.trade_app.chosen)
        yield Static("", id="lookup-query", markup=False)
        yield RecordsFrame(self.rows_table, nothing=NEEDS_QUERY)
        yield Static("", id="progress", markup=False)
        yield TableFrame(self.totals_table, table=self.totals_table, id="totals", classes="panel", names_columns=True)
        yield Notice(NEWEST_ALERT)
        yield Hints()

    def on_mount(self) -> None:
        """Show earlier rows, or begin; open the form if a parameter is required."""
        self._totals_box.entitle(sanitized("Totals of the rows loaded"))
        self.show_zone()
        if (choice := self.trade_app.preferences.tables.get(self.kind.name)) is not None:
            show_choice(self.rows_table, self.kind, choice)
        # The table has no size before it is laid out, and so no screenful to fill.
        self.screen_layout_refresh_signal.subscribe(self, lambda _: self._fill_screen())
        self.watch(self.rows_table, "scroll_y", self._more_near_the_end, init=False)
        self._arrange()
        self.rows_table.focus()
        self.desk_changed()
        begun = self.desk.lookups.begun(self.kind.name) if self.desk is not None else None
        first = self._checked({}).query
        if begun is not None:
            self._show_lookup(begun)
            if begun.rows.count == 0 and begun.error is None:
                begun.go_on()
        elif first is not None:
            self._begin(first)
        else:
            self.paint()
        if self._texts or (begun is None and first is None):
            self.call_after_refresh(self.action_query)

    def on_unmount(self) -> None:
        self._unsubscribe()
        if self.lookup is not None:
            self.lookup.stop()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()
        if self.lookup is not None:
            self._show_progress(self.lookup)
        self.call_after_refresh(self._fill_screen)

    # The table of the keys

    @property
    def table(self) -> RecordTable[object]:
        return self._focused

    @property
    def subject(self) -> str:
        return self.kind.title if self._focused is self.rows_table else f"Totals of {self.kind.title.lower()}"

    @property
    def screen_name(self) -> str:
        return self.kind.name

    @property
    def choosable(self) -> Table[object] | None:
        """The kind's table; the totals' columns are fixed."""
        return self.kind if self._focused is self.rows_table else None

    def on_descendant_focus(self) -> None:
        for table in (self.rows_table, self.totals_table):
            if table.has_focus:
                self._focused = table
        self._show_hints()

    def show_zone(self) -> None:
        for table in (self.rows_table, self.totals_table):
            table.set_format(self.cell_format)

    @property
    def cell_format(self) -> CellFormat:
        """Spot pairs have steps of their own, which only their rows show."""
        precisions = {} if self.lookup is None else self.lookup.seen_precisions.by_symbol
        return replace(super().cell_format, precisions=precisions)

    def reason(self, action: Action) -> str | None:
        match action:
            case Action.COLUMNS if self.choosable is None:
                return "the columns of these rows are fixed"
            case Action.READ_ALL if self.lookup is None:
                return f"nothing has been read yet: {self.key_named(Action.QUERY)} opens the query"
            case Action.READ_ALL if self.lookup is not None and self.lookup.at_the_end:
                return "every row is loaded, or as many as fit"
        return super().reason(action)

    # Requests

    @work
    async def action_query(self) -> None:
        if self.desk is None:
            return
        texts = self._texts or (self.lookup.query.texts if self.lookup is not None else {})
        self._texts = {}
        fields = filter_fields(self.kind.endpoint)
        form = FilterForm(self.kind.title, fields, texts, self._checked, self.zone, self.today)
        if (query := await self.app.push_screen_wait(form)) is not None:
            self._begin(query)

    def _checked(self, texts: Mapping[str, str]) -> Checked:
        if self.desk is None:
            return Checked(None, {})
        return check_query(self.kind.endpoint, texts, self.desk.lookups.now_ms, self.zone)

    def _begin(self, query: Query) -> None:
        if self.desk is None:
            return
        lookup = self.desk.lookups.begin(self.kind.name, query)
        # A range that takes several requests was chosen to get all of it.
        lookup.go_on(everything=query.pieces > 1)
        self._show_lookup(lookup)

    def _show_lookup(self, lookup: Lookup) -> None:
        self._unsubscribe()
        self.lookup = lookup
        self._unsubscribe = lookup.subscribe(self.paint_soon)
        self.paint()

    def action_poll_now(self) -> None:
        """Resume where it stopped or failed, else read again from the newest."""
        lookup = self.lookup
        if lookup is None:
            self.action_query()
        elif lookup.state in (LookupState.STOPPED, LookupState.FAILED):
            lookup.go_on(everything=lookup.everything)
        elif not lookup.loading and (again := self._checked(lookup.query.texts).query) is not None:
            self._begin(again)

    def action_read_all(self) -> None:
        if self.lookup is not None:
            self.lookup.go_on(everything=True)

    def action_move(self, way: str) -> None:
        super().action_move(way)
        self._more_near_the_end()

    def _more_near_the_end(self) -> None:
        table, lookup = self.rows_table, self.lookup
        if lookup is None or not table.size:
            return
        last_in_sight = max(int(table.scroll_offset.y) + table.size.height, table.cursor.row_index + 1)
        if table.rows.count - last_in_sight < table.size.height:
            lookup.more()

    def _fill_screen(self) -> None:
        """Request more if the rows end above the bottom; rows hidden by a filter do not count as missing."""
        table = self.rows_table
        if table.sort_filter.pattern:
            return
        # With a sort by column older rows may belong anywhere, so no more are read than fill the screen.
        if table.sort_filter.sort is None or table.rows.count < table.size.height:
            self._more_near_the_end()

    # Painting

    def desk_changed(self) -> None:
        if self.desk is not None:
            show_session(self.query_one(HeaderBar), self.desk, self.key_named)
            self._make_ready()

    def paint(self) -> None:
        lookup = self.lookup
        if lookup is not None and (
            self.rows_table.model.source is not lookup.rows or lookup.rows.generation != self._shown_generation
        ):
            self._shown_generation = lookup.rows.generation
            self.show_zone()
            self.rows_table.set_source(lookup.rows)
            self.call_later(self._make_ready)
            self._show_totals(lookup)
        self.refresh_states()
        self._fill_screen()

    def _make_ready(self) -> None:
        """Make a few rows ready at a time, so that no key has to wait."""
        model = self.rows_table.model
        if self.is_attached and model.sort_filter.texts.make_ready(model.source, READY_AT_A_TIME):
            self.call_later(self._make_ready)

    def _show_totals(self, lookup: Lookup) -> None:
        totals = sorted(lookup.totals.values(), key=lambda total: -total.rows)
        columns = totals_columns(totals)
        if [column.id for column in columns] != [column.id for column in self.totals_table.columns]:
            self.totals_table.set_columns(columns)
        self.totals_table.set_source(MemoryRows(totals, [total.coin for total in totals]))
        self._arrange()

    def refresh_states(self) -> None:
        lookup = self.lookup
        if lookup is not None:
            self.query_one("#lookup-query", Static).update(sanitized(query_text(lookup.query, self.zone, self.today)))
            self._show_progress(lookup)
        self._records_frame.say(self._caption(lookup), self._nothing(lookup))
        self._show_hints()

    def _show_progress(self, lookup: Lookup) -> None:
        failed = lookup.state is LookupState.FAILED
        report, bar = _progress_text(lookup, self.key_named), "" if failed else _progress_bar(lookup.part)
        room = self.size.width - 2 - len(report) - len(bar)
        # The sentence is complete by itself; the bar is left out if there is no room for it.
        line = f"{report}{' ' * room}{bar}" if bar and room > 0 else report
        progress = self.query_one("#progress", Static)
        progress.update(Content.styled(sanitized(line).plain, "$warn" if failed else "$quiet"))

    def _caption(self, lookup: Lookup | None) -> str:
        table, count = self.rows_table, ""
        if lookup is not None and lookup.pages:
            count = shown_of(table.rows.count, lookup.rows.count)
        parts = (self.key_named(Action(self.kind.name)), self.kind.title, count, table.sort_filter.pattern_title)
        return " ".join(filter(None, parts))

    def _nothing(self, lookup: Lookup | None) -> str:
        if lookup is None:
            return f"{NEEDS_QUERY}\n{self.key_named(Action.QUERY)} opens the query."
        if lookup.rows.count and self.rows_table.sort_filter.pattern:
            older = "" if lookup.at_the_end else f"Older ones may: {self.key_named(Action.READ_ALL)} reads all."
            return nothing_matches(self.rows_table, self.key_named, older)
        if lookup.error is not None:
            return "\n".join(filter(None, (lookup.error.sentence, lookup.error.remedy)))
        if lookup.state is LookupState.LOADING:
            return "reading …"
        if lookup.state is LookupState.STOPPED:
            return f"Stopped before anything was read.\n{self.key_named(Action.POLL_NOW)} goes on."
        return f"{self.kind.nothing}\n{self.key_named(Action.QUERY)} changes the query."

    def _show_hints(self) -> None:
        if not self.is_attached:
            return
        self.show_hints(_HINTS, "" if self.has_filter_box else zone_label(self.zone))

    # Layout

    def _arrange(self) -> None:
        if not self.is_attached:
            return
        height = self.app.size.height
        count = self.totals_table.rows.count
        totals = self._totals_box
        totals.display = count > 0 and height >= TOTALS_TALL and not self._zoomed
        totals.styles.height = min(count, max(2, height // 6)) + 3
        if not totals.display and self._focused is self.totals_table:
            self.rows_table.focus()

    def action_zoom(self) -> None:
        self._zoomed = not self._zoomed
        self._arrange()

    def action_next_panel(self, by: int) -> None:
        there = self.totals_table if self._focused is self.rows_table else self.rows_table
        (there if self._totals_box.display else self.rows_table).focus()

    # Other screens

    async def action_panel(self, name: str) -> None:
        await self.trade_app.open_panel(name)

    def action_lookup(self, table: str) -> None:
        """Open another kind of record, with the e-mail of the sub-account under the cursor, if any."""
        uid = getattr(self.rows_table.cursor.record, "uid", None)
        if table != self.kind.name:
            self.trade_app.open_lookup(table, {"subUid": uid} if uid and table == TableName.EMAIL else None)

    async def action_back(self) -> None:
        """Close the filter's box, stop reading, clear the filter, leave zoom, or go back: the innermost first."""
        if not self.has_filter_box and self.lookup is not None and self.lookup.loading:
            self.lookup.stop()
            notify(self.app, "Stopped; the rows read so far stay.", seconds=2)
        elif await self.drop_filter():
            return
        elif self._zoomed:
            self.action_zoom()
        else:
            await self.trade_app.leave_lookup()

    async def action_leave(self) -> None:  # type: ignore[override]
        await self.trade_app.leave_lookup()


def _progress_text(lookup: Lookup, key_named: Callable[[Action], str]) -> str:
    rows, state = lookup.rows.count, lookup.state
    read = counted(rows, "row")
    if lookup.undecodable_rows:
        read += f", {lookup.undecodable_rows:,} unreadable"
    if state is LookupState.FULL:
        return f"{read}, as many as fit here · {key_named(Action.QUERY)} narrows the query, `tradetui show` prints all"
    why = f" · {lookup.error.sentence}" if lookup.error is not None and rows else ""
    stages = {
        LookupState.LOADING: f"reading … · {key_named(Action.BACK)} stops",
        LookupState.STOPPED: f"stopped · {key_named(Action.POLL_NOW)} goes on",
        LookupState.FAILED: f"failed, {key_named(Action.POLL_NOW)} tries again{why}",
        LookupState.COMPLETE: "all there are",
    }
    older = f"scroll for older ones, if any · {key_named(Action.READ_ALL)} reads all"
    return f"{read} · {stages.get(state, older)}"


def _progress_bar(part: float | None) -> str:
    if part is None:
        return ""
    full = round(part * _BAR_WIDTH)
    return f"{'━' * full}{'╌' * (_BAR_WIDTH - full)} {int(part * 100):3d} %"

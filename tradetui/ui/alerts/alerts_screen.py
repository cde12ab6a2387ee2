"""The screen `A`: the profile's alerts, which can be tested and silenced here, and the log of alerts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from tradetui.desk.events.alerts import LOG_COLUMNS, RuleRow, channel_names, logged_at, rule_columns
from tradetui.desk.events.delivery import LoggedAlert
from tradetui.desk.events.rules import impossible
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.time_format import exact_moment_text
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.app_protocols import NEW_ALERT_DIALOG
from tradetui.ui.dialogs.deliberate_dialog import LinesDialog
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.safe_text import notify, sanitized
from tradetui.ui.table.desk_screen import STARTING
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame, nothing_matches
from tradetui.ui.table.table_screen import TableScreen
from tradetui.wire.text import counted

LOG_READ_EVERY_S = 1.0
_LINES_BESIDE_ROWS = 3  # lines of a panel besides its rows: its border and the titles of the columns
_HINTS: Final = (
    *(Action.BACK, Action.HELP, Action.NEW_ALERT, Action.TEST_ALERT, Action.SILENCE),
    *(Action.DETAIL, Action.FILTER, Action.NEXT_PANEL, Action.DELETE_ALERT),
)


class AlertsScreen(TableScreen):
    """Two tables, the alerts above their log, which is read again every second because other sessions write it too."""

    where = "alerts"
    AUTO_FOCUS = "#table-rules"

    def __init__(self) -> None:
        super().__init__()
        self._rules_table = RecordTable(rule_columns(()), id="table-rules")
        self._log_table = RecordTable(LOG_COLUMNS, id="table-log")
        self._on_log = False
        self._rules: Sequence[RuleRow] = ()
        self._unreadable: Sequence[object] = ()
        self._log: Sequence[LoggedAlert] = ()

    def compose(self) -> ComposeResult:
        yield RecordsFrame(self._rules_table, id="alert-rules", nothing="")
        yield RecordsFrame(self._log_table, id="alert-log", nothing="")
        yield Hints()

    def on_mount(self) -> None:
        self.show_zone()
        self._show_rules()
        self.query_one("#alert-rules").styles.height = min(
            len(self._rules) + _LINES_BESIDE_ROWS, self.app.size.height // 2
        )
        self.set_interval(LOG_READ_EVERY_S, self._read_again)
        self.run_worker(self._read_again(), exit_on_error=False)

    def _show_rules(self) -> None:
        desk = self.desk
        if desk is None:
            return
        why_not = partial(
            impossible,
            product_types=desk.settings.product_types,
            sends=desk.intents is not None,
            no_equity_because=desk.totals().no_equity_because,
        )
        alerts = desk.alerts
        silenced, made, self._unreadable = alerts.choices
        rules = [RuleRow(rule, rule.name in silenced, why_not(rule), rule in made) for rule in alerts.rules]
        if rules != self._rules:
            self._rules = rules
            self._rules_table.set_columns(rule_columns(rules))
            self._rules_table.set_source(MemoryRows(rules, [row.row_id for row in rules]))
        self.refresh_states()

    async def _read_again(self) -> None:
        desk = self.desk
        if desk is None:
            return
        await desk.alerts.read_choices()
        self._show_rules()
        log = await desk.alerts.delivery.newest()
        if log != self._log:
            self._log = log
            self._log_table.set_source(MemoryRows(log, [row.row_id for row in log]))
            self.refresh_states()
        if self.app.screen is self:
            desk.alerts.unseen = 0

    def show_alert(self) -> None:
        self.run_worker(self._read_again(), exit_on_error=False)

    @property
    def table(self) -> RecordTable[object]:
        return self._log_table if self._on_log else self._rules_table

    @property
    def subject(self) -> str:
        return "Alert log" if self._on_log else "Alerts"

    def show_zone(self) -> None:
        for table in (self._rules_table, self._log_table):
            table.set_format(self.cell_format)

    def refresh_states(self) -> None:
        self._say_of_rules()
        self._say_of_log()
        self.show_hints(_HINTS, zone_label(self.zone))

    def _say_of_rules(self) -> None:
        table, box = self._rules_table, self.query_one("#alert-rules", RecordsFrame)
        silenced = sum(row.silenced for row in self._rules)
        counts = f"{len(self._rules)}{f' · {silenced} silenced' if silenced else ''}"
        note = (
            "" if self._rules else f"alerts_defaults = false and no alert; {self.key_named(Action.NEW_ALERT)} makes one"
        )
        if self._unreadable:
            note = f"{counted(len(self._unreadable), 'alert')} in state.toml cannot be read, and does nothing"
        title = f"Alerts {counts} {table.sort_filter.pattern_title}".strip()
        box.say(title, nothing_matches(table, self.key_named), note)
        box.set_class(bool(self._rules) and not table.rows.count, "-empty")

    def _say_of_log(self) -> None:
        table = self._log_table
        nothing = f"No alert has fired yet.\n{self.key_named(Action.TEST_ALERT)} sends a test."
        if self._log:
            nothing = nothing_matches(table, self.key_named)
        title = " ".join(filter(None, ("Log", str(table.rows.count or ""), table.sort_filter.pattern_title)))
        self.query_one("#alert-log", RecordsFrame).say(title, nothing)

    def reason(self, action: Action) -> str | None:
        match action:
            case Action.TEST_ALERT | Action.SILENCE if self._rule is None:
                return "put the cursor on an alert of the list first"
            case Action.DELETE_ALERT if self._rule is None or not self._rule.made_here:
                return "only an alert that was made on the screen; the others stand in the configuration"
            case Action.NEW_ALERT if self.desk is None:
                return STARTING
        return super().reason(action)

    @property
    def _rule(self) -> RuleRow | None:
        """The alert under the cursor; None while the log has the focus."""
        return None if self._on_log else self._rules_table.cursor.record

    @on(RecordTable.RowHighlighted)
    def _moved(self) -> None:
        self.refresh_states()

    def on_descendant_focus(self) -> None:
        if self._log_table.has_focus or self._rules_table.has_focus:
            self._on_log = self._log_table.has_focus
        self.refresh_states()

    def action_next_panel(self, by: int) -> None:
        self._on_log = not self._on_log
        self.table.focus()

    def open_row(self, row_id: str, record: object) -> None:
        if isinstance(record, RuleRow):
            rule = record.rule
            origin = "the screen" if record.made_here else "the configuration, or a default"
            lines = [("when", rule.condition.sentence), ("to", channel_names(rule)), ("state", record.state)]
            lines.append(("from", origin))
            self.app.push_screen(LinesDialog(f"Alert {rule.name}", _labelled(lines)))
        elif isinstance(record, LoggedAlert):
            lines = [("what", record.sentence), ("alert", record.rules), ("to", record.delivery)]
            self.app.push_screen(LinesDialog(exact_moment_text(logged_at(record), self.zone), _labelled(lines)))

    def action_test_alert(self) -> None:
        if self.desk is not None and self._rule is not None:
            self.desk.alerts.test(self._rule.rule)

    def action_new_alert(self) -> None:
        if self.desk is not None:
            self.app.push_screen(NEW_ALERT_DIALOG(self.desk, ""))

    def action_delete_alert(self) -> None:
        if self._rule is not None:
            self.run_worker(self._delete(self._rule), exit_on_error=False)

    async def _delete(self, row: RuleRow) -> None:
        assert self.desk is not None
        try:
            await self.desk.alerts.delete(row.row_id)
        except OSError as problem:
            notify(self.app, f"The alert could not be deleted: {problem}", severity="error", seconds=8)
        else:
            notify(self.app, f"{row.row_id} is deleted.")
        self._show_rules()

    def action_silence(self) -> None:
        if self._rule is not None:
            self.run_worker(self._silence(self._rule), exit_on_error=False)

    async def _silence(self, row: RuleRow) -> None:
        assert self.desk is not None
        try:
            await self.desk.alerts.silence(row.row_id, on=not row.silenced)
        except OSError as problem:
            notify(self.app, f"The silence could not be saved: {problem}", severity="error", seconds=8)
        else:
            now = (
                "sounds again" if row.silenced else f"is silenced; {self.key_named(Action.SILENCE)} lets it sound again"
            )
            notify(self.app, f"{row.row_id} {now}.")
        self._show_rules()


def _labelled(lines: Sequence[tuple[str, str]]) -> Iterator[Content]:
    for label, text in lines:
        yield Content.assemble((f"{label:<10}", "$quiet"), sanitized(text))

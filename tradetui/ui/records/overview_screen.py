"""The overview: a row for each account, sums below, and beside them what the account under the cursor holds.

It shows an overview and no desk, so that no key, click or palette entry here can send. Locking is its only action.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from tradetui.desk.overview.account_row import AccountRow, sums_by_environment
from tradetui.desk.overview.overview import Overview
from tradetui.desk.overview.overview_table import OVERVIEW, sum_line
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.table import FILLS, POSITIONS, Table
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.dialogs.deliberate_dialog import LinesDialog
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.key_bindings.key_queue import TypedInput
from tradetui.ui.safe_text import notify, sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame, nothing_matches
from tradetui.ui.table.table_screen import RecordsScreen, show_choice
from tradetui.wire.text import counted

BESIDE_FROM: Final = 170
"""Cells of a terminal from which the account under the cursor is shown beside the table."""
AGES_EVERY_S: Final = 1.0
PAINT_EVERY_S: Final = 0.25
"""Fifty accounts change many times in a second, and a key must not wait for each to be painted."""
FLASH_S: Final = 0.6
LOOKED_AT_S: Final = 1.0
"""Before the first key, an account that has been the first row for so long is the one that a person saw."""
_FLASHING: Final = frozenset({"equity", "unrealised", "marginRatio", "today", "positions", "orders", "unknownOutcomes"})
_HINTS: Final = (
    *(Action.HELP, Action.ENTER_ACCOUNT, Action.FILTER, Action.SORT, Action.ACCOUNT_DETAIL),
    *(Action.LOCK_ALL, Action.COLUMNS, Action.EXPORT, Action.ZOOM, Action.BACK, Action.QUIT),
)


def _figure_of(column: Column[AccountRow], row: AccountRow, exact: CellFormat) -> str:
    """Return the text of the table with every digit; a time is written out."""
    return column.exact(row, exact) if isinstance(column.value(row), datetime) else column.text(row, exact)


class OverviewScreen(RecordsScreen[AccountRow]):
    """Follows the rows; `entered` is the account that was open last, under whose row the cursor begins."""

    where = "overview"
    CSS_PATH = Path(__file__).with_name("overview.tcss")
    AUTO_FOCUS = "#table-overview"
    names_columns = True

    def __init__(self, overview: Overview, entered: str = "") -> None:
        super().__init__()
        self._overview = overview
        self._entered = entered
        self._table = RecordTable(OVERVIEW.columns, id="table-overview")
        self._positions = RecordTable(POSITIONS.columns, id="beside-positions")
        self._fills = RecordTable(FILLS.columns, id="beside-fills")
        self._positions.can_focus = self._fills.can_focus = False
        self._texts: dict[str, dict[str, str]] = {}
        self._replaced, self._replaced_at = "", 0.0  # the account that was under the cursor before, and until when
        self._was_used = bool(
            entered
        )  # whether a key or the mouse was used: until then the cursor stays on the first row
        self._is_zoomed = False
        self._rows: list[AccountRow] = []
        self._sums = self._unknown = ""
        self._has_changed, self._painted_at = False, 0.0

    def compose(self) -> ComposeResult:
        with Container(id="rows"):
            yield RecordsFrame(self._table, names_columns=True)
            with Container(id="beside"):
                yield Static(id="outcomes", markup=False)
                yield RecordsFrame(self._positions, id="held", nothing="no open position")
                yield RecordsFrame(self._fills, id="filled", nothing="no fill is read")
        yield Static(id="sums", markup=False)
        yield Hints()

    def on_mount(self) -> None:
        self.show_zone()
        if (choice := self.trade_app.preferences.tables.get(OVERVIEW.name)) is not None:
            show_choice(self._table, OVERVIEW, choice)
        self._arrange()
        self.paint()
        if self._entered and (index := self._table.rows.index_of(self._entered)) is not None:
            self._table.move_to(index)
        self._unsubscribe = self._overview.subscribe(self._note_change)
        self.set_interval(PAINT_EVERY_S, self._paint_changes)

    def on_unmount(self) -> None:
        self._unsubscribe()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    def _arrange(self) -> None:
        self.set_class(self.app.size.width >= BESIDE_FROM and not self._is_zoomed, "-beside")

    @property
    def desk(self) -> None:
        """No desk: whichever is open, this screen neither shows nor uses it."""
        return None

    @property
    def subject(self) -> str:
        return OVERVIEW.title

    @property
    def choosable(self) -> Table[object]:
        return OVERVIEW

    # Painting

    def _note_change(self) -> None:
        self._has_changed = True

    def _paint_changes(self) -> None:
        if self._has_changed or self._overview.clock.monotonic() - self._painted_at >= AGES_EVERY_S:
            self.paint()

    def paint(self) -> None:
        self._has_changed, self._painted_at = False, self._overview.clock.monotonic()
        rows = self._rows = self._overview.rows
        before = self._table.cursor.record
        flashing = self._flashing(rows)
        self._table.set_source(MemoryRows(flashing, [row.row_id for row in flashing]))
        if not self._was_used and self._table.cursor.row_index:
            self._table.move_to(0)
        if isinstance(before, AccountRow) and self._table.cursor.row_id != before.row_id:
            self._replaced, self._replaced_at = before.name, self._overview.clock.monotonic()
        if any(row.moved for row in flashing):
            self.set_timer(FLASH_S, self._end_flash)
        self._show_beside()
        self.refresh_states()

    def _flashing(self, rows: list[AccountRow]) -> list[AccountRow]:
        """Return the rows, in which the figures that have changed since the last paint are marked as moved."""
        if self.settings.reduced_motion:
            return rows
        shown = [column for column in OVERVIEW.columns if column.id in _FLASHING]
        flashing, texts = [], {}
        for row in rows:
            texts[row.row_id] = {column.id: column.text(row, DEFAULT_FORMAT) for column in shown}
            before = self._texts.get(row.row_id, texts[row.row_id])
            moved = frozenset(id_ for id_, text in texts[row.row_id].items() if before[id_] != text)
            flashing.append(replace(row, moved=moved))
        self._texts = texts
        return flashing

    def _end_flash(self) -> None:
        rows = self._rows
        self._table.set_source(MemoryRows(rows, [row.row_id for row in rows]))

    @on(RecordTable.RowHighlighted)
    def _show_beside(self) -> None:
        row = self._row
        if row is None or not self.has_class("-beside"):
            return
        positions, fills = row.positions or (), row.fills
        unknown = ", ".join(row.unknown_outcomes or ())
        outcomes = self.query_one("#outcomes", Static)
        if unknown != self._unknown:
            self._unknown = unknown
            outcomes.update(sanitized(f"UNKNOWN OUTCOME: {unknown}"))
        outcomes.display = bool(unknown)
        self._positions.set_source(MemoryRows(positions, [position.row_id for position in positions]))
        self._fills.set_source(MemoryRows(fills, [fill.row_id for fill in fills]))
        account = " ".join(filter(None, (row.name, row.uid_tail)))
        nothing = "No open position." if row.positions is not None else "The exchange reports no positions."
        self.query_one("#held", RecordsFrame).say(f"{account} · positions {len(positions)}", nothing)
        self.query_one("#filled", RecordsFrame).say(f"{account} · newest fills", "No fill was read.")

    def refresh_states(self) -> None:
        rows = self._rows
        lines = (sum_line(total, self.cell_format) for total in sums_by_environment(rows))
        before, self._sums = self._sums, "\n".join(lines)
        # A layout of the whole screen takes longer than everything else: only where the lines may break otherwise.
        if self._sums != before:
            self.query_one("#sums", Static).update(sanitized(self._sums), layout=len(self._sums) != len(before))
        nothing = nothing_matches(self._table, self.key_named) if rows else OVERVIEW.nothing
        title = f"{self.subject} {len(rows)} {self._table.sort_filter.pattern_title}".strip()
        problem = "" if self._row is None else self._row.problem
        self.query_one("#records", RecordsFrame).say(title, nothing, problem)
        can_go_back = self.reason(Action.BACK) is None
        hints = [action for action in _HINTS if action is not Action.BACK or can_go_back]
        self.show_hints(hints, zone_label(self.zone))

    # Keys

    @property
    def _row(self) -> AccountRow | None:
        record = self._table.cursor.record
        return record if isinstance(record, AccountRow) else None

    def before_key(self, event: TypedInput) -> bool:
        """Note that another row came under the cursor since the last key, unless this key only moves the cursor."""
        is_enter = isinstance(event, events.Key) and event.key == "enter"
        is_old = not self._was_used and self._overview.clock.monotonic() - self._replaced_at > LOOKED_AT_S
        if not is_enter or is_old:
            self._replaced = ""
        self._was_used = True
        return True

    def on_mouse_down(self) -> None:
        """Leave the cursor where a click puts it."""
        self._was_used, self._replaced = True, ""

    def open_row(self, row_id: str, record: object) -> None:
        if self._replaced:
            sentence = f"{self._replaced} was here until just now; press the key again for the account here now."
            self._replaced = ""
            notify(self.app, sentence, severity="warning", seconds=10)
        elif isinstance(record, AccountRow):
            self.trade_app.enter_account(record)

    def reason(self, action: Action) -> str | None:
        if action in (Action.ENTER_ACCOUNT, Action.ACCOUNT_DETAIL) and self._row is None:
            return "no account under the cursor"
        if action is Action.BACK and self.trade_app.desk is None and not self._table.sort_filter.pattern:
            return None if self.has_filter_box or self._is_zoomed else "no account is open to go back to"
        return super().reason(action)

    async def action_back(self) -> None:
        """Drop the filter, leave the zoom, or go back to the account that is open."""
        if await self.drop_filter():
            return
        if self._is_zoomed:
            self.action_zoom()
        else:
            self.dismiss()

    def action_leave(self) -> None:
        self.trade_app.action_leave()

    def action_zoom(self) -> None:
        self._is_zoomed = not self._is_zoomed
        self._arrange()
        self._show_beside()
        self.refresh_states()

    def action_account_detail(self) -> None:
        if (row := self._row) is not None:
            exact = replace(self.cell_format, exact=True)
            figures = [(column.title, sanitized(_figure_of(column, row, exact))) for column in OVERVIEW.columns]
            width = max(len(title) for title, _ in figures)
            lines = [Content.assemble((f"{title:<{width}}  ", "$quiet"), figure) for title, figure in figures]
            self.app.push_screen(LinesDialog(sanitized(row.name).plain, lines, is_tall=True))

    @work(exclusive=True, group="lock", exit_on_error=False)
    async def action_lock_all(self) -> None:
        if (desk := self.trade_app.desk) is not None and desk.intents is not None:
            self.trade_app.action_lock_at_once()
        result = await self._overview.lock_trading()
        for failure in result.failed:
            sentence = f"{failure}. Trading there is not locked by this key; lock it in its own session."
            notify(self.app, sentence, severity="error", seconds=600)
        if result.locked:
            accounts = f"{counted(len(result.locked), 'account')}: {', '.join(result.locked)}"
            notify(self.app, f"Trading is locked in {accounts}.", seconds=8)
        elif not result.failed:
            notify(self.app, "There is nothing to lock: no profile here keeps a journal of what it sends.")

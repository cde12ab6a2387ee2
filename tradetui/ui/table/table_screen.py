"""A screen with a table of records: the keys that sort, filter, copy and export its rows, of any kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Generic

from textual import on, work
from textual.app import ComposeResult
from textual.widgets import Input

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.rows.row_source import RowT, Sort
from tradetui.desk.tables.table import TABLES, Table
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.app_protocols import COLUMNS_DIALOG, DATES_DIALOG, DETAIL_SCREEN, EXPORT_DIALOG, SORT_DIALOG
from tradetui.ui.key_bindings.actions import Action, Move, bound_keys
from tradetui.ui.key_bindings.key_footer import Hint, Hints
from tradetui.ui.key_bindings.key_queue import LineBox
from tradetui.ui.safe_text import Notice, notify, sanitized
from tradetui.ui.settings.ui_settings import chosen_columns
from tradetui.ui.table.desk_screen import NEWEST_ALERT, DeskScreen
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.date_filter import DateFilter
    from tradetui.desk.tables.rows.row_source import RowSource
    from tradetui.ui.settings.ui_settings import TableChoice


NO_ROW: Final = "no row under the cursor"
NO_FILLS: Final = "no fills stand behind this"


def show_choice(table: RecordTable[RowT], kind: Table[RowT], choice: TableChoice) -> None:
    """Show a table as chosen, or with its default columns."""
    columns = (chosen_columns(kind.every_column, choice) if choice.columns else None) or table.default_columns
    if columns != table.columns:
        table.set_columns(columns, also_searched=kind.columns)
    if choice.sort is not None and choice.sort in {column.id for column in columns}:
        table.sort_by(Sort(choice.sort, choice.reverse))


class TableScreen(DeskScreen):
    """`table` is the one that keys act on; subclasses define it and its surroundings.

    `filter_prompt` is shown in the empty filter box, `filter_limit` in the box's title, after the filtered rows' name.
    """

    filter_prompt = "text or regular expression; ! first inverts it"
    filter_limit = ""

    def __init__(self) -> None:
        super().__init__()
        self._sorts_before: dict[str | None, Sort | None] = {}
        self._paint_is_due = False

    @property
    @abstractmethod
    def table(self) -> RecordTable[object]:
        """The table that has the focus, or had it before a dialog or the filter's box took it."""

    @property
    @abstractmethod
    def subject(self) -> str: ...
    @property
    def cell_format(self) -> CellFormat:
        exact, today = self.settings.exact_figures, self.today
        if self.desk is None:
            return CellFormat(self.zone, exact=exact, today=today, summed_day=today)
        market = self.desk.market
        return CellFormat(self.zone, market.precisions, exact, market.coin_places, today=today, summed_day=today)

    @property
    def feed_name(self) -> str:
        """The feed its rows come from; empty if they do not change."""
        return ""

    def reason(self, action: Action) -> str | None:
        match action:
            case Action.DETAIL | Action.COPY_CELL | Action.COPY_ROW if self.table.cursor.row_id is None:
                return NO_ROW
            case Action.ROWS if self.table.cursor.row_id is None:
                return NO_FILLS
            case Action.SORT_REVERSE if self.table.sort_filter.sort is None:
                return "no column is sorted"
            case Action.SORT_UNDO if self.table.id not in self._sorts_before:
                return "there is no change of order to undo"
            case Action.EXPORT if self.table.rows.count == 0:
                return "there are no rows"
        return super().reason(action)

    # Keys as they are shown

    def keys_of(self, action: Action) -> str:
        return self.key_named(action)

    def show_hints(
        self, actions: Iterable[Action], note: str, descriptions: Mapping[Action, str] = MappingProxyType({})
    ) -> None:
        """Show those of the actions that belong to this screen; `descriptions` take the place of their own."""
        if self.has_filter_box:
            hints = [
                Hint("Enter", "keep the filter", "keep_filter"),
                Hint(self.key_named(Action.BACK), "clear it", "back"),
                Hint("↑ ↓", "move in the table", "focus_table"),
            ]
        else:
            hints = [
                Hint(
                    self.keys_of(action),
                    descriptions.get(action, action.description),
                    action.textual_action,
                    off=self.reason(action) is not None,
                )
                for action in actions
                if self.where in action.where
            ]
        self.query_one(Hints).show(hints, note)

    # Painting

    def paint_soon(self) -> None:
        """Call `paint` once for all changes of the same moment."""
        if not self._paint_is_due and self.is_attached:
            self._paint_is_due = True
            self.call_later(self._paint_if_attached)

    def _paint_if_attached(self) -> None:
        self._paint_is_due = False
        if self.is_attached:
            self.paint()

    def paint(self) -> None:
        """Show changes, on screens whose rows update by themselves."""

    # Rows

    def action_move(self, way: str) -> None:
        self.table.move(Move(way))

    def action_focus_table(self) -> None:
        self.table.focus()

    def action_detail(self) -> None:
        self.table.action_select()

    @on(RecordTable.RowSelected)
    def _row_selected(self, event: RecordTable.RowSelected) -> None:
        self.open_row(event.row_id, event.record)

    def open_row(self, row_id: str, record: object) -> None:
        """Open the rows behind a row: by default all of its fields."""
        self.app.push_screen(DETAIL_SCREEN(self.subject, row_id, record, self.zone, self.feed_name))

    def action_sort(self) -> None:
        self._ask_for_sort(self.table)

    @work
    async def _ask_for_sort(self, table: RecordTable[object]) -> None:
        """Ask which column to sort by; the sorted one is reversed."""
        keys, under_cursor = bound_keys(Action.SORT, self.settings.keys), table.model.cursor_column.id
        dialog = SORT_DIALOG(self.subject, table.columns, under_cursor, table.sort_filter.sort, keys)
        column = await self.app.push_screen_wait(dialog)
        if column is not None:
            self._sort_table(table, table.sort_filter.next_sort(column) if column else None)

    def action_sort_reverse(self) -> None:
        sort = self.table.sort_filter.sort
        if sort is not None:
            self._sort_table(self.table, sort._replace(reverse=not sort.reverse))

    def action_sort_undo(self) -> None:
        """Go back to the order before its last change, by key or by mouse; only once, because it is no toggle."""
        self._sort_table(self.table, self._sorts_before[self.table.id])
        del self._sorts_before[self.table.id]
        notify(self.app, "The last change of order is undone.", seconds=2)

    def _sort_table(self, table: RecordTable[object], sort: Sort | None) -> None:
        self._sorts_before[table.id] = table.sort_filter.sort
        table.sort_by(sort)
        self.remember_sort()
        self.refresh_states()

    @on(RecordTable.HeaderSelected)
    def _sorted_by_click(self, event: RecordTable.HeaderSelected) -> None:
        self._sorts_before[event.table.id] = event.before
        self.remember_sort()
        self.refresh_states()

    def remember_sort(self) -> None:
        sort, preferences = self.table.sort_filter.sort, self.trade_app.preferences
        if self.choosable is not None:
            choice = preferences.table(self.screen_name)._replace(
                sort=None if sort is None else sort.column, reverse=sort is not None and sort.reverse
            )
            self.trade_app.remember_table(self.screen_name, choice)

    @property
    def choosable(self) -> Table[object] | None:
        """The table whose columns and order are chosen and remembered; None if neither is."""
        return TABLES.get(self.screen_name)

    @work
    async def action_columns(self) -> None:
        table, kind = self.table, self.choosable
        if kind is None:
            return
        before = self.trade_app.preferences.table(kind.name)
        dialog = COLUMNS_DIALOG(self.subject, kind.every_column, table.default_columns, before)
        choice = await self.app.push_screen_wait(dialog)
        if choice is not None:
            self.trade_app.remember_table(kind.name, choice)
            show_choice(table, kind, choice)
            self.refresh_states()

    @property
    def export_name(self) -> str:
        return self.screen_name

    @work
    async def ask_for_dates(
        self, before: DateFilter | None, show: Callable[[DateFilter | None], None], *, days_of: tzinfo | None = None
    ) -> None:
        """Ask for dates and symbols of the rows, and show them, None for all; `days_of` refuses times of its days."""
        zone, whole_days = days_of or self.zone, days_of is not None
        dialog = DATES_DIALOG(self.subject.lower(), before, self.now_ms, zone, whole_days)
        dates = await self.app.push_screen_wait(dialog)
        if dates is not None:
            show(dates if dates.texts else None)

    @property
    def exported_rows(self) -> RowSource[object]:
        return self.table.rows

    @work
    async def action_export(self) -> None:
        rows, columns = self.exported_rows, self.table.columns
        dialog = EXPORT_DIALOG(self.desk, rows, columns, self.export_name, self.subject.lower())
        if (sentence := await self.app.push_screen_wait(dialog)) is not None:
            notify(self.app, f"{sentence}.", seconds=8)

    def action_copy_cell(self) -> None:
        self.trade_app.copy(self.table.model.cell_text(), self.table.model.cursor_column.title)

    def action_copy_row(self) -> None:
        self.trade_app.copy(self.table.model.row_text(), "row")

    # Filter

    @property
    def has_filter_box(self) -> bool:
        return any(child.id == "filter" for child in self.children)

    def action_filter(self) -> None:
        """Open the filter's box for the table that has the focus; it filters as one types."""
        if self.has_filter_box:
            self.query_one("#filter", Input).focus()
            return
        box = LineBox(self.table.sort_filter.pattern, id="filter", placeholder=self.filter_prompt)
        box.border_title = sanitized(f"filter {self.subject.lower()}{self.filter_limit}")
        self.mount(box, before="#hints")
        self.add_class("-filtering")
        box.focus()
        self.call_after_refresh(self.refresh_states)

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self.table.filter(event.value)
        self.refresh_states()

    @on(Input.Submitted, "#filter")
    async def action_keep_filter(self) -> None:
        await self.close_filter()

    async def close_filter(self) -> None:
        # Focus the table first: a removed box would hand the focus to whichever table comes next.
        self.set_focus(self.table)
        await self.query("#filter").remove()
        self.remove_class("-filtering")
        self.refresh_states()

    async def drop_filter(self) -> bool:
        """Close the filter's box and clear the filter; returns whether there was either."""
        if not self.has_filter_box and not self.table.sort_filter.pattern:
            return False
        self.table.filter("")
        if self.has_filter_box:
            await self.close_filter()
        self.refresh_states()
        return True

    # View

    async def action_back(self) -> None:
        """Drop the filter, or close the screen."""
        if not await self.drop_filter():
            self.dismiss()

    def action_leave(self) -> None:
        self.dismiss()

    def action_zone(self) -> None:
        self.zone = UTC if self.zone is not UTC else self._home_zone
        self.show_zone()
        self.refresh_states()
        notify(self.app, f"Times are in {zone_label(self.zone)}.", seconds=2)

    def show_zone(self) -> None:
        self.table.set_format(self.cell_format)


class RecordsScreen(TableScreen, Generic[RowT]):
    """A screen whose records are one table, `_table`, which the subclass defines; the keys are shown below it."""

    AUTO_FOCUS = "RecordTable"
    names_columns: ClassVar[bool] = False
    """Whether the border names the columns that did not fit, rather than count them."""
    _table: RecordTable[RowT]

    def compose(self) -> ComposeResult:
        yield RecordsFrame(self._table, names_columns=self.names_columns)
        yield Notice(NEWEST_ALERT)
        yield Hints()

    @property
    def table(self) -> RecordTable[object]:
        return self._table

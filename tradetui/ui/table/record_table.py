"""A table of live records on Textual's line API: cells are formatted when drawn, and only changed lines are repainted.

It shows the `RowSource` given to `set_source`, and a placeholder for a row that is not loaded. Columns, format, order
and filter outlive every refresh. The cursor follows its row while rows come and go, and the scroll follows the cursor.
The application has the keys: it calls `move` and `action_select`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Never

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column, Footer
from tradetui.desk.tables.rows.row_source import RowSource, RowT_co, SelfOrdering, Sort
from tradetui.ui.key_bindings.actions import Move
from tradetui.ui.table.table_lines import CURSOR, HEADER, MARGIN, FooterParts, Line, TableLines, footer_parts
from tradetui.ui.table.table_model import ScrollAnchor, TableModel, Viewport
from tradetui.ui.terminal.drawn_once import LinewiseScrollView, TrueColours


class RecordTable(TrueColours, LinewiseScrollView, Generic[RowT_co], can_focus=True, inherit_bindings=False):
    """A table of records that can be sorted, filtered and exported; `RecordTable[object]` is one of any rows.

    Its creator sets rows and columns, both of one kind. `default_columns` apply until a person chooses columns.
    """

    DEFAULT_CSS = """
    RecordTable { background: $surface; color: $foreground; overflow-x: hidden; overflow-y: auto;
        scrollbar-size-vertical: 1; }
    """

    @dataclass(eq=False)
    class RowHighlighted(Message):
        """The cursor is on another row; `row_id` is None if there is none."""

        row_id: str | None

    @dataclass(eq=False)
    class RowSelected(Message):
        """Enter, or a double click on a row."""

        row_id: str
        record: object

    @dataclass(eq=False)
    class HeaderSelected(Message):
        """A click on a column's title, which has sorted by it; `before` is the earlier order."""

        table: RecordTable[object]
        column: Column[Never]
        before: Sort | None

    class Rearranged(Message):
        """The order of the rows, or the visible columns, have changed."""

    def __init__(
        self,
        columns: Sequence[Column[RowT_co]],
        *,
        id: str | None = None,
        footer: Callable[[Iterable[RowT_co], CellFormat], Footer] | None = None,
        newest_first: bool = False,
    ) -> None:
        super().__init__(id=id)
        self.default_columns = tuple(columns)
        self.model = TableModel(columns, footer, newest_first=newest_first)
        self.cursor, self.sort_filter = self.model.cursor, self.model.sort_filter
        self._drawn: dict[int, Line] = {}  # what each line of the screen showed when it was last drawn
        self._lines = TableLines(self)
        self._drawn_note = ""  # what the footer's note said when it was last drawn
        self._header: Strip | None = None  # None if the titles have changed since they were drawn
        self._laid_out_room = 0  # the cells that the columns were laid out in; 0 makes them be measured again
        self._laying_out = False  # whether drawing has requested another layout that is still to be made

    # Content

    @property
    def rows(self) -> RowSource[RowT_co]:
        return self.model.rows

    @property
    def columns(self) -> tuple[Column[RowT_co], ...]:
        return self.model.cells.columns

    def set_source(self, source: RowSource[RowT_co]) -> None:
        """Show other rows; lines that look the same are not repainted."""
        self.model.source = source
        self._show_anew()

    def set_columns(self, columns: Sequence[Column[RowT_co]], also_searched: Sequence[Column[RowT_co]] = ()) -> None:
        """Show other columns; the cursor stays on its column if that is still there.

        The filter also finds texts of the hidden columns `also_searched`.
        """
        self.model.use_columns(columns, also_searched)
        self._show_anew(repaint=True, measure=True)

    def set_live(self, is_live: bool) -> None:
        """Draw the rows in their colours, or without any if they are not live."""
        if is_live != self._lines.is_live:
            self._lines.is_live = is_live
            self.refresh()

    def set_format(self, cell_format: CellFormat) -> None:
        if cell_format != self.model.cells.cell_format:
            self.model.use_format(cell_format)
            # Nothing is measured without rows: the first row has it done in any case.
            if self.model.source.count:
                self._show_anew(measure=True)

    def sort_by(self, sort: Sort | None) -> None:
        self.sort_filter.sort = sort
        self._show_anew(repaint=True, by_choice=True)
        self._lay_out_columns()
        self.post_message(self.Rearranged())

    def filter(self, pattern: str) -> None:
        """Keep rows one of whose cells matches: a regular expression without case, `!` inverts it."""
        self.sort_filter.pattern = pattern
        self._show_anew(by_choice=True)

    def keep_only(self, keep: Callable[[RowT_co], bool] | None) -> None:
        self.sort_filter.keep = keep
        self._show_anew(by_choice=True)

    # Cursor and visible rows

    def move_to(self, row_index: int) -> None:
        index_before, row_id_before = self.cursor.row_index, self.cursor.row_id
        self.cursor.go_to(row_index)
        if index_before != self.cursor.row_index:
            self._repaint_row(index_before)
            self._repaint_row(self.cursor.row_index)
        self._into_sight()
        self._post_if_other_row(row_id_before)

    def move_to_column(self, column_index: int) -> None:
        self.cursor.column_index = column_index
        self._header = None
        if self.model.cells.scroll_to(column_index):
            self.refresh()
            self.post_message(self.Rearranged())
        else:
            self.repaint_line(0)
            self._repaint_row(self.cursor.row_index)

    def _post_if_other_row(self, row_id_before: str | None) -> None:
        if self.cursor.row_id != row_id_before:
            self.post_message(self.RowHighlighted(self.cursor.row_id))

    @property
    def _footer_parts(self) -> FooterParts:
        return footer_parts(self.model.footer, self.rows.count, self.size.height - 1)

    @property
    def viewport(self) -> Viewport:
        return Viewport(int(self.scroll_offset.y), max(1, self.size.height - 1 - sum(self._footer_parts)))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """After the visible rows are painted, prepare those that the next key may need."""
        super().watch_scroll_y(old_value, new_value)
        if isinstance(self.rows, SelfOrdering):
            self.call_after_refresh(self._make_ahead)

    def _into_sight(self) -> None:
        if (nearest := self.viewport.nearest_top(self.cursor.row_index)) != self.viewport.top:
            self.scroll_to(y=nearest, animate=False)

    # Keys and mouse; the bindings are the application's

    def move(self, way: Move) -> None:
        row_index, page = self.cursor.row_index, self.viewport.room
        rows = {Move.UP: row_index - 1, Move.DOWN: row_index + 1, Move.FIRST: 0, Move.LAST: self.rows.count - 1}
        rows |= {Move.PAGE_UP: row_index - page, Move.PAGE_DOWN: row_index + page}
        if way in rows:
            self.move_to(rows[way])
        else:
            by = -1 if way is Move.LEFT else 1
            self.move_to_column(self.model.cells.layout.neighbour(self.cursor.column_index, by))

    def action_select(self) -> None:
        record = self.cursor.record
        if record is not None and self.cursor.row_id is not None:
            self.post_message(self.RowSelected(self.cursor.row_id, record))

    def on_focus(self) -> None:
        self.cursor.is_placed = True
        self._into_sight()

    def on_resize(self) -> None:
        self._fit_width()
        self._resize_virtual()
        if self.cursor.is_placed:
            self._into_sight()

    def on_click(self, event: events.Click) -> None:
        """Choose a row and cell, or sort by a title; a double click selects."""
        column_index = self.model.cells.layout.at(event.x - MARGIN)
        if event.y == 0:
            if column_index is not None:
                column, before = self.columns[column_index], self.sort_filter.sort
                self.sort_by(self.sort_filter.next_sort(column.id))
                self.post_message(self.HeaderSelected(self, column, before))
            return
        viewport = self.viewport
        row_index = viewport.top + event.y - 1
        if row_index >= self.rows.count or not viewport.shows(row_index):
            return
        again = row_index == self.cursor.row_index
        self.move_to(row_index)
        if column_index is not None:
            self.move_to_column(column_index)
        if again and event.chain > 1:
            self.action_select()

    # Drawing

    def notify_style_update(self) -> None:
        if self._lines.forget_styles():
            self.refresh()
        self._header = None
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the header, a row, nothing, or a part of the footer."""
        width = self.size.width
        self._fit_width()
        if y == 0:
            if self._header is None:
                self._header = self._lines.header(self.model.cells, self.sort_filter.sort, self.cursor.column_index)
            return self._header.adjust_cell_length(width, self._lines.style(HEADER))
        viewport = self.viewport
        if y > viewport.room and any(self._footer_parts):
            return self._footer_line(y - viewport.room - 1).adjust_cell_length(width, self._lines.style(""))
        row_index = viewport.top + y - 1
        self._drawn[y] = line = self.model.line(row_index)
        if self.model.cells.outgrown and not self._laying_out:
            self._laying_out = True
            self.call_later(self._lay_out_columns)
        if not line.is_row:
            return Strip.blank(width, self._lines.style(""))
        marked = self.cursor.column_index if line.has_cursor and self.has_focus else None
        strip = self._lines.row(line, marked, self.model.cells.layout)
        return strip.adjust_cell_length(width, self._lines.style("" if marked is None else CURSOR))

    def _footer_line(self, slot: int) -> Strip:
        parts = self._footer_parts
        self._drawn_note = self._note()
        if slot == 0 and parts.has_rule:
            return self._lines.rule(self._column_room, "" if parts.has_note else self._drawn_note)
        if slot == parts.has_rule and parts.has_totals:
            return self._lines.totals(self.model.cells.drawn_totals(self.model.footer.totals), self.model.cells.layout)
        return self._lines.note(self._drawn_note, self._column_room)

    def _note(self) -> str:
        return self.model.note(self.viewport, has_totals=self._footer_parts.has_totals)

    # Change

    def _show_anew(self, *, repaint: bool = False, by_choice: bool = False, measure: bool = False) -> None:
        """Filter and sort the source again, restore cursor and scroll, repaint changed lines.

        `by_choice` means that the trader rearranged the rows: then the table scrolls to the cursor.
        """
        viewport, row_id_before = self.viewport, self.cursor.row_id
        anchor = viewport.anchor(self.rows, self.cursor.row_index, row_id_before)
        into_sight = by_choice or (self.has_focus and viewport.shows(self.cursor.row_index))
        had_rows, footer_height = self.rows.count > 0, sum(self._footer_parts)
        change = self.model.update_rows(by_choice=by_choice)
        if measure or (self.rows.count > 0 and not had_rows):
            self._laid_out_room = 0
            self._fit_width()
        self._post_if_other_row(row_id_before)
        self._resize_virtual()
        self._scroll_after(anchor, into_sight=into_sight or change.is_other_view)
        if repaint or sum(self._footer_parts) != footer_height or self._repaint_changed():
            self._header = None
            self.refresh()
        elif change.has_other_footer or self._note() != self._drawn_note:
            for line in range(1 + self.viewport.room, self.size.height):
                self.repaint_line(line)
        if isinstance(self.model.source, SelfOrdering):
            self.call_after_refresh(self._make_ahead)

    def _make_ahead(self) -> None:
        top, room = self.viewport
        if isinstance(self.rows, SelfOrdering):
            self.rows.read_ahead(top)
        for row_index in (*range(top + room, top + 2 * room), *range(top - room, top)):
            if 0 <= row_index < self.rows.count:
                self.model.line(row_index)
        if self.model.cells.outgrown:
            self._lay_out_columns()

    def _scroll_after(self, anchor: ScrollAnchor, *, into_sight: bool) -> None:
        if not self.size:
            return
        viewport = self.viewport._replace(top=anchor.top_in(self.rows))
        top = viewport.nearest_top(self.cursor.row_index) if into_sight else viewport.top
        top = max(0, min(top, self.rows.count - viewport.room))
        if top != anchor.top:
            self.show_from(top)

    def _resize_virtual(self) -> None:
        self.resize_contents(Size(self.size.width, self.rows.count + 1 + sum(self._footer_parts)))

    def _repaint_changed(self) -> bool:
        """Repaint the changed lines; returns whether to repaint all instead, since most changed or a column grew."""
        if not self.is_attached or not self.size:
            return False
        top, room = self.viewport
        changed = [line for line in range(1, 1 + room) if self._drawn.get(line) != self.model.line(top + line - 1)]
        if self.model.cells.outgrown:
            self._lay_out_columns()
            return True
        if len(changed) * 2 > self.size.height:
            return True
        for line in changed:
            self.repaint_line(line)
        return False

    @property
    def _column_room(self) -> int:
        """Cells for the columns: between the margins, and apart from the scroll bar if there is one."""
        return max(0, self.size.width - 2 * MARGIN - self.show_vertical_scrollbar)

    def _fit_width(self) -> None:
        """Measure and lay out the columns if the table's width changed; it is drawn before its resize event."""
        if self._column_room != self._laid_out_room:
            # If only the header is visible no row can be measured: the next size decides.
            self._laid_out_room = self._column_room if self.size.height > 1 else 0
            self._lay_out_columns(measure=True)

    def _lay_out_columns(self, *, measure: bool = False) -> None:
        self._laying_out = False
        before = (self.model.cells.layout.scrolled, self.model.cells.layout.hidden_after)
        if measure:
            self.model.measure(self.viewport)
        self.model.cells.sorted_by = None if self.sort_filter.sort is None else self.sort_filter.sort.column
        if self.model.cells.lay_out(self._column_room, spare=int(self.show_vertical_scrollbar)):
            self._header = None
            self.refresh()
        if before != (self.model.cells.layout.scrolled, self.model.cells.layout.hidden_after):
            self.post_message(self.Rearranged())

    def _repaint_row(self, row_index: int) -> None:
        line = row_index - self.viewport.top + 1
        if 0 < line < self.size.height:
            self.repaint_line(line)

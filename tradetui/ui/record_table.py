"""A table of live records on Textual's line API: cells are formatted when drawn, and only changed lines are repainted.

`RecordTable(columns)` shows a `RowSource` given by `set_source`. The cursor follows the row's key while rows come
and go around it. Sorting and filtering make a view of the source and survive every refresh. `cell_text()` and
`row_text()` give what is under the cursor; messages: `RowHighlighted`, `RowSelected`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tradetui.desk.columns import UTC_ZONE, Column, Tone
from tradetui.desk.rows import NO_ROWS, RowSource, Sort, matcher, view
from tradetui.wire.scrub import scrub

GAP = 1
ELLIPSIS = "…"


class RecordTable(ScrollView, can_focus=True, inherit_bindings=False):
    """A table of records; see the module."""

    DEFAULT_CSS = """
    RecordTable { background: $surface; color: $foreground; overflow-x: auto; overflow-y: auto;
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--header",
        "table--cursor",
        "table--cursor-cell",
        "table--even",
        "table--muted",
        "table--gain",
        "table--loss",
        "table--long",
        "table--short",
        "table--warn",
    }

    class RowHighlighted(Message):
        """The cursor is on another row; `key` is None where there is none."""

        def __init__(self, table: RecordTable, key: str | None) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> RecordTable:
            return self.table

    class RowSelected(Message):
        """Enter, or a click on the row under the cursor."""

        def __init__(self, table: RecordTable, key: str, record: Any) -> None:
            super().__init__()
            self.table = table
            self.key = key
            self.record = record

        @property
        def control(self) -> RecordTable:
            return self.table

    def __init__(self, columns: Sequence[Column], *, id: str | None = None, zone: tzinfo = UTC_ZONE) -> None:
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._zone = zone
        self._source: RowSource = NO_ROWS
        self._view: RowSource = NO_ROWS
        self._sort: Sort | None = None
        self._pattern = ""
        self._keep: Callable[[Any], bool] | None = None
        self._cursor = 0
        self._cursor_key: str | None = None
        self._column = 0
        self._texts: dict[str, tuple[Any, tuple[str, ...]]] = {}
        self._drawn: dict[int, tuple[Any, ...]] = {}
        self._styles: dict[str, Style] = {}
        self._paused = False
        self._header: Strip | None = None

    # What is shown

    @property
    def source(self) -> RowSource:
        """Everything there is, before filter and sort."""
        return self._source

    @property
    def shown(self) -> int:
        """Rows after the filter."""
        return self._view.count

    @property
    def sort(self) -> Sort | None:
        """The chosen order, None for the source's own."""
        return self._sort

    @property
    def pattern(self) -> str:
        """The filter's text."""
        return self._pattern

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns in order."""
        return self._columns

    def set_source(self, source: RowSource) -> None:
        """Show other rows; lines whose text did not change are not repainted."""
        self._source = source
        self._refresh_view()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns."""
        self._columns = tuple(columns)
        self._column = min(self._column, len(self._columns) - 1)
        self._forget()
        self._refresh_view()

    def set_zone(self, zone: tzinfo) -> None:
        """Show times in another zone."""
        self._zone = zone
        self._forget()
        self._refresh_view()

    def sort_by(self, column: str | None, reverse: bool = False) -> None:
        """Order by a column, or as the source does."""
        self._sort = Sort(column, reverse) if column is not None else None
        self._header = None
        self._refresh_view()
        self.refresh()

    def filter(self, pattern: str) -> None:
        """Keep rows one of whose cells matches: a regular expression without case, `!` turns it round."""
        self._pattern = pattern
        self._refresh_view()

    def keep_only(self, keep: Callable[[Any], bool] | None) -> None:
        """Keep rows that pass a test beside the filter's text."""
        self._keep = keep
        self._refresh_view()

    # Where the cursor is

    @property
    def cursor_key(self) -> str | None:
        """The key of the row under the cursor."""
        return self._cursor_key

    @property
    def cursor_record(self) -> Any:
        """The row under the cursor, None where there is none."""
        return self._view.row(self._cursor) if self._cursor < self._view.count else None

    @property
    def cursor_column(self) -> Column:
        """The column under the cursor."""
        return self._columns[self._column]

    def cell_text(self) -> str | None:
        """The exact text of the cell under the cursor."""
        record = self.cursor_record
        return None if record is None else scrub(self.cursor_column.text(record, self._zone))

    def row_text(self) -> str | None:
        """The texts of the row under the cursor, with tabs between."""
        record = self.cursor_record
        if record is None:
            return None
        return "\t".join(scrub(column.text(record, self._zone)) for column in self._columns)

    def move_to(self, place: int) -> None:
        """Put the cursor on a place and bring it into sight."""
        place = max(0, min(place, self._view.count - 1))
        before = self._cursor
        self._cursor = place
        key = self._view.key(place) if self._view.count else None
        moved = key != self._cursor_key
        self._cursor_key = key
        if before != place:
            self._repaint(before)
        self._repaint(place)
        self._into_sight(place)
        if moved:
            self.post_message(self.RowHighlighted(self, key))

    def move_column(self, by: int) -> None:
        """Put the cursor on another column and bring it into sight."""
        self._column = max(0, min(self._column + by, len(self._columns) - 1))
        start = sum(column.width + GAP for column in self._columns[: self._column])
        width = self._columns[self._column].width
        if start < self.scroll_offset.x:
            self.scroll_to(x=start, animate=False)
        elif start + width > self.scroll_offset.x + self.scrollable_content_region.width:
            self.scroll_to(x=start + width - self.scrollable_content_region.width, animate=False)
        self._header = None
        self.refresh()

    def _into_sight(self, place: int) -> None:
        top, height = self.scroll_offset.y, self._lines_for_rows()
        if place < top:
            self.scroll_to(y=place, animate=False)
        elif place >= top + height:
            self.scroll_to(y=place - height + 1, animate=False)

    def _lines_for_rows(self) -> int:
        return max(1, self.scrollable_content_region.height - 1)

    # Keys and mouse; the bindings are the application's

    def action_cursor_up(self) -> None:
        self.move_to(self._cursor - 1)

    def action_cursor_down(self) -> None:
        self.move_to(self._cursor + 1)

    def action_cursor_left(self) -> None:
        self.move_column(-1)

    def action_cursor_right(self) -> None:
        self.move_column(1)

    def action_page_up(self) -> None:
        self.move_to(self._cursor - self._lines_for_rows())

    def action_page_down(self) -> None:
        self.move_to(self._cursor + self._lines_for_rows())

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(self._view.count - 1)

    def action_select(self) -> None:
        record = self.cursor_record
        if record is not None and self._cursor_key is not None:
            self.post_message(self.RowSelected(self, self._cursor_key, record))

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            self._click_header(event.x + int(self.scroll_offset.x))
            return
        place = event.y - 1 + int(self.scroll_offset.y)
        if place >= self._view.count:
            return
        again = place == self._cursor
        self.move_to(place)
        if again and event.chain > 1:
            self.action_select()

    def _click_header(self, x: int) -> None:
        for column in self._columns:
            if x < column.width:
                same = self._sort is not None and self._sort.column == column.id
                self.sort_by(column.id, not self._sort.reverse if same and self._sort else False)
                return
            x -= column.width + GAP

    # Drawing

    def notify_style_update(self) -> None:
        self._styles.clear()
        self._header = None
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the header, a row, or nothing."""
        width = self.size.width
        left = int(self.scroll_offset.x)
        if y == 0:
            if self._header is None:
                self._header = self._header_strip()
            return self._header.crop_extend(left, left + width, self._style("table--header"))
        place = y - 1 + int(self.scroll_offset.y)
        self._drawn[y] = self._state_of(place)
        if place >= self._view.count:
            return Strip.blank(width, self.rich_style)
        return self._row_strip(place).crop_extend(left, left + width, self._row_style(place))

    def _state_of(self, place: int) -> tuple[Any, ...]:
        """Everything a row's line depends on: where two of these are equal, the line looks the same."""
        record = self._view.row(place) if place < self._view.count else None
        if record is None:
            return (place < self._view.count,)
        return (place == self._cursor, place % 2, *self._row_texts(place, record))

    def _header_strip(self) -> Strip:
        style = self._style("table--header")
        segments: list[Segment] = []
        for place, column in enumerate(self._columns):
            arrow = ""
            if self._sort is not None and self._sort.column == column.id:
                arrow = "▼" if self._sort.reverse else "▲"
            text = fitted(column.title + arrow, column.width, right=column.right)
            chosen = style + Style(underline=True) if place == self._column else style
            segments += (Segment(text, chosen), Segment(" " * GAP, style))
        return Strip(segments)

    def _row_strip(self, place: int) -> Strip:
        record = self._view.row(place)
        base = self._row_style(place)
        if record is None:
            return Strip([Segment("·" * 8, base)])
        on_cursor = place == self._cursor
        texts = self._row_texts(place, record)
        segments: list[Segment] = []
        for at, (column, text) in enumerate(zip(self._columns, texts, strict=True)):
            style = base
            if on_cursor and self.has_focus:
                if at == self._column:
                    style = self._style("table--cursor-cell")
            elif column.tone is not None:
                tone = column.tone(record)
                if tone is not Tone.PLAIN:
                    style = base + self._tone(tone)
            segments.append(Segment(text + " " * GAP, style))
        return Strip(segments)

    def _row_texts(self, place: int, record: Any) -> tuple[str, ...]:
        """The cells of a row as they are drawn, formatted once for as long as the row stays the same."""
        key = self._view.key(place) or ""
        known = self._texts.get(key)
        if known is not None and (known[0] is record or known[0] == record):
            return known[1]
        texts = tuple(
            fitted(scrub(column.text(record, self._zone)), column.width, right=column.right) for column in self._columns
        )
        if len(self._texts) > 4096:
            self._texts.clear()
        self._texts[key] = (record, texts)
        return texts

    def _row_style(self, place: int) -> Style:
        if place == self._cursor and self.has_focus:
            return self._style("table--cursor")
        return self._style("table--even") if place % 2 else self.rich_style

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.get_component_rich_style(name)
        return style

    def _tone(self, tone: Tone) -> Style:
        name = f"tone {tone}"
        style = self._styles.get(name)
        if style is None:
            full = self.get_component_rich_style(f"table--{tone}", partial=True)
            style = self._styles[name] = Style(color=full.color, bold=full.bold, dim=full.dim)
        return style

    # Change

    def _forget(self) -> None:
        self._texts.clear()
        self._drawn.clear()
        self._header = None

    def _refresh_view(self) -> None:
        sorted_by = next((c for c in self._columns if self._sort is not None and c.id == self._sort.column), None)
        matches = matcher(self._pattern)
        keep = self._keep
        if matches is not None:
            own, test = self._keep, matches

            def keep(record: Any) -> bool:
                if own is not None and not own(record):
                    return False
                return test("\t".join(column.text(record, self._zone) for column in self._columns))

        self._view = view(
            self._source,
            sort_key=sorted_by.value if sorted_by else None,
            reverse=bool(self._sort and self._sort.reverse),
            keep=keep,
        )
        self._settle()

    def _settle(self) -> None:
        """Put the cursor back on its row, the scroll with it, and repaint what has changed."""
        count = self._view.count
        width = sum(column.width + GAP for column in self._columns)
        size = Size(width, count + 1)
        if size != self.virtual_size:
            self.virtual_size = size
        key_before = self._cursor_key
        place = self._view.index_of(self._cursor_key) if self._cursor_key is not None else None
        if place is None:
            place = max(0, min(self._cursor, count - 1))
        moved = place - self._cursor
        self._cursor = place
        self._cursor_key = self._view.key(place) if count else None
        if moved and self.scroll_offset.y > 0:
            self.scroll_to(y=max(0, self.scroll_offset.y + moved), animate=False)
        if self._cursor_key != key_before:
            self.post_message(self.RowHighlighted(self, self._cursor_key))
        self._repaint_changed()

    def _repaint_changed(self) -> None:
        if not self.is_attached or not self.size:
            return
        top = int(self.scroll_offset.y)
        changed = [
            line for line in range(1, self.size.height) if self._drawn.get(line) != self._state_of(top + line - 1)
        ]
        if len(changed) * 2 > self.size.height:
            self.refresh()
            return
        for line in changed:
            self.refresh(Region(0, line, self.size.width, 1))

    def _repaint(self, place: int) -> None:
        line = place - int(self.scroll_offset.y) + 1
        if 0 < line < self.size.height:
            self.refresh(Region(0, line, self.size.width, 1))


def fitted(text: str, width: int, *, right: bool) -> str:
    """The text in exactly so many cells, cut with an ellipsis; wide characters count as two."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + ELLIPSIS
    if length == width:
        return text
    return " " * (width - length) + text if right else text + " " * (width - length)

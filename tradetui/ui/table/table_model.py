"""A table without its widget: its rows in order, the content of their lines, and the cursor's position.

Rows come and go while a trader looks: the cursor stays on its row, and that row stays on its line of the screen.

Also the choice of rows and their order, which applies to every later source. The trader sorts by a column and filters
by a pattern. Most sources are sorted and filtered here, also by a test of the screen. An archive, which is never in
memory as a whole, sorts and filters itself, and no screen has a test for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, NamedTuple

from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat
from tradetui.desk.tables.cells.column import Column, Footer
from tradetui.desk.tables.rows.row_source import (
    NO_ROWS,
    RowSource,
    RowT,
    RowT_co,
    SelfOrdering,
    Sort,
    loaded_rows,
    matcher,
    view,
)
from tradetui.ui.table.cells import Cells
from tradetui.ui.table.table_lines import MARGIN, Line
from tradetui.wire.text import scrub

TEXTS_KEPT: Final = 20_000
TEXTS_BEYOND_ROWS: Final = 500  # if there are this many more texts than rows, all are forgotten


class RowView(NamedTuple, Generic[RowT]):
    """The rows to show."""

    rows: RowSource[RowT]
    is_other: bool = False  # whether the same archive now gives other rows
    is_reordered: bool = False  # whether these are also in another order


class SortFilter(Generic[RowT]):
    """The choice of sort, pattern and test."""

    def __init__(self, columns: Sequence[Column[RowT]], cell_format: CellFormat) -> None:
        self.sort: Sort | None = None
        self.pattern = ""
        self.keep: Callable[[RowT], bool] | None = None  # the screen's own test, for rows in memory
        self._columns = tuple(columns)
        self.texts = RowTexts(self._columns, cell_format)
        self._newest_view: _ArchiveView[RowT] | None = None  # of the present choice; its rows may not be read yet
        self._shown_view: _ArchiveView[RowT] | None = None

    @property
    def pattern_title(self) -> str:
        """The filter in a title, `/BTC`; empty if there is none."""
        return f"/{self.pattern}" if self.pattern else ""

    def next_sort(self, column: str) -> Sort:
        """Return the column ascending, or reversed if it is already sorted ascending."""
        return Sort(column, reverse=self.sort == Sort(column))

    def use_columns(self, columns: Sequence[Column[RowT]], also_searched: Sequence[Column[RowT]] = ()) -> None:
        """Use other columns, and drop a sort by a removed one; a filter also searches the hidden `also_searched`."""
        self._columns = tuple(columns)
        self.texts.columns = tuple({column.id: column for column in (*also_searched, *columns)}.values())
        self._forget_texts()
        if self._sort_column is None:
            self.sort = None

    def use_format(self, cell_format: CellFormat) -> None:
        self.texts.cell_format = cell_format
        self._forget_texts()

    def _forget_texts(self) -> None:
        if self.texts.forget():
            self._newest_view = None  # an archive that searched the texts has to search again

    def view_of(self, source: RowSource[RowT]) -> RowView[RowT]:
        """Return the rows of a source by the choice; for an archive the earlier rows until the new ones are read."""
        if isinstance(source, SelfOrdering):
            return self._archive_view(source)
        matches = matcher(self.pattern)
        self.texts.forget_unused(source.count, is_filtered=matches is not None)
        sort_column = self._sort_column
        rows = view(
            source,
            sort_key=sort_column.sort_key if sort_column is not None else None,
            reverse=self.sort is not None and self.sort.reverse,
            keep=self._row_test(matches),
        )
        return RowView(rows)

    @property
    def _sort_column(self) -> Column[RowT] | None:
        return next((c for c in self._columns if self.sort is not None and c.id == self.sort.column), None)

    def _archive_view(self, source: SelfOrdering[RowT]) -> RowView[RowT]:
        newest, before = self._newest_view, self._shown_view
        if newest is None or (newest.source, newest.sort, newest.pattern) != (source, self.sort, self.pattern):
            is_narrowed = self.sort is not None or self.pattern != ""
            rows = source.ordered(self.sort, self.pattern, self.texts.text_of) if is_narrowed else source
            self._newest_view = newest = _ArchiveView(source, self.sort, self.pattern, rows)
        if before is None or before.source is not source:
            self._shown_view = newest
            return RowView(newest.rows)
        self._shown_view = shown = before if newest.rows.is_pending else newest
        return RowView(shown.rows, shown.rows is not before.rows, shown.sort != before.sort)

    def _row_test(self, matches: Callable[[str], bool] | None) -> Callable[[RowT], bool] | None:
        keep, text_of = self.keep, self.texts.text_of
        if matches is None:
            return keep
        return lambda row: (keep is None or keep(row)) and matches(text_of(row))


class _ArchiveView(NamedTuple, Generic[RowT]):
    """The rows that a source which sorts itself gave for a sort and a pattern."""

    source: SelfOrdering[RowT]
    sort: Sort | None
    pattern: str
    rows: SelfOrdering[RowT]


class RowTexts(Generic[RowT]):
    """The text of each row that a filter searches, kept while the row stays the same: unchanged rows cost little."""

    def __init__(self, columns: tuple[Column[RowT], ...], cell_format: CellFormat) -> None:
        self.columns = columns
        self.cell_format = cell_format
        self._by_row_id: dict[str, tuple[RowT, str]] = {}
        self._ready_source: RowSource[RowT] | None = None
        self._ready_count = 0  # the first rows of that source, which have their texts

    def text_of(self, row: RowT) -> str:
        row_id: str | None = getattr(row, "row_id", None)
        known = self._by_row_id.get(row_id) if row_id is not None else None
        if known is not None and (known[0] is row or known[0] == row):
            return known[1]
        text = "\t".join(_searched_text(column, row, self.cell_format) for column in self.columns)
        if row_id is not None:
            if len(self._by_row_id) > TEXTS_KEPT:
                self._by_row_id.clear()
            self._by_row_id[row_id] = (row, text)
        return text

    def make_ready(self, source: RowSource[RowT], count: int) -> bool:
        """Cache the texts of the next `count` rows of a source that only grows; return whether rows are left.

        From then on texts are cached without a filter too, so that its first letter costs as little as the others.
        """
        if source is not self._ready_source:
            self._ready_source, self._ready_count = source, 0
        kept = min(source.count, TEXTS_KEPT)
        begin, self._ready_count = self._ready_count, min(kept, self._ready_count + count)
        for index in range(begin, self._ready_count):
            if (row := source.row(index)) is not None:
                self.text_of(row)
        return self._ready_count < kept

    def forget(self) -> bool:
        """Forget all texts; returns whether there were any."""
        had_texts, self._ready_count = bool(self._by_row_id), 0
        self._by_row_id.clear()
        return had_texts

    def forget_unused(self, row_count: int, *, is_filtered: bool) -> None:
        """Forget all texts if nothing needs them, or if too many are of rows that are gone."""
        needs_texts = is_filtered or self._ready_source is not None
        if not needs_texts or len(self._by_row_id) > row_count + TEXTS_BEYOND_ROWS:
            self._by_row_id.clear()


def _searched_text(column: Column[RowT], row: RowT, cell_format: CellFormat) -> str:
    """Return the texts a filter searches: the cell as shown, a figure without commas, and the interface's value."""
    shown = column.cell(row, cell_format)[0]
    texts = [shown]
    value = column.value(row)
    if isinstance(value, str):
        if value != shown:
            texts.append(value)
    elif "," in shown:
        texts.append(shown.replace(",", ""))
    texts += [str(source) for _, read in column.sources if (source := read(row)) is not None]
    return "\t".join(texts)


class TableModel(Generic[RowT_co]):
    """The rows of a source, filtered and sorted, and everything that their lines are drawn from."""

    def __init__(
        self,
        columns: Sequence[Column[RowT_co]],
        footer_of: Callable[[Iterable[RowT_co], CellFormat], Footer] | None,
        *,
        newest_first: bool,
    ) -> None:
        """With `newest_first` the cursor stays on the first row as new ones come."""
        self.source: RowSource[RowT_co] = NO_ROWS  # everything there is, before filter and sort
        self.rows: RowSource[RowT_co] = NO_ROWS
        self.cells = Cells(columns, DEFAULT_FORMAT)
        self.sort_filter: SortFilter[RowT_co] = SortFilter(columns, DEFAULT_FORMAT)
        self.cursor: TableCursor[RowT_co] = TableCursor()
        self.footer = Footer()
        self._footer_of = footer_of
        self._newest_first = newest_first

    @property
    def cursor_column(self) -> Column[RowT_co]:
        return self.cells.columns[self.cursor.column_index]

    @property
    def full_lines(self) -> int:
        return 1 + self.rows.count + 2 * bool(self.footer.totals) + bool(self.footer.note)

    @property
    def full_cells(self) -> int:
        return self.cells.full_cells + 2 * MARGIN

    def cell_text(self) -> str | None:
        """The exact text of the cell under the cursor: every digit, no thousands marks."""
        record = self.cursor.record
        return None if record is None else scrub(self.cursor_column.exact(record, self.cells.cell_format))

    def row_text(self) -> str | None:
        """The exact texts of the row under the cursor, with tabs between."""
        record = self.cursor.record
        if record is None:
            return None
        return "\t".join(scrub(column.exact(record, self.cells.cell_format)) for column in self.cells.columns)

    def use_columns(self, columns: Sequence[Column[RowT_co]], also_searched: Sequence[Column[RowT_co]]) -> None:
        column_before = self.cursor_column.id
        self.cells = Cells(columns, self.cells.cell_format)
        self.sort_filter.use_columns(columns, also_searched)
        ids = [column.id for column in columns]
        self.cursor.column_index = (
            ids.index(column_before) if column_before in ids else min(self.cursor.column_index, len(ids) - 1)
        )

    def use_format(self, cell_format: CellFormat) -> None:
        self.cells.use_format(cell_format)
        self.sort_filter.use_format(cell_format)

    def update_rows(self, *, by_choice: bool) -> ModelChange:
        """Filter, sort and sum the source again; `by_choice` says that the trader rearranged the rows."""
        view = self.sort_filter.view_of(self.source)
        self.rows = view.rows
        if not isinstance(self.source, SelfOrdering):
            self.cells.forget_gone(self.rows)
        footer_before, self.footer = self.footer, Footer()
        if self.rows.count and self._footer_of is not None:
            self.footer = self._footer_of(loaded_rows(self.rows), self.cells.cell_format)
        self.cells.measure_totals(self.footer.totals)
        if view.is_other:
            self.cursor.enter_view(self.rows, from_the_top=view.is_reordered)
        else:
            newest_first = self._newest_first and self.sort_filter.sort is None
            self.cursor.follow(self.rows, by_choice=by_choice, newest_first=newest_first)
        return ModelChange(view.is_other, self.footer != footer_before)

    def measure(self, viewport: Viewport) -> None:
        in_sight = range(viewport.top, min(viewport.top + viewport.room, self.rows.count))
        records = (record for index in in_sight if (record := self.rows.row(index)) is not None)
        self.cells.measure(records, self.footer.totals)

    def line(self, row_index: int) -> Line:
        """What a row's line shows; the index may be beyond the last one."""
        record = self.rows.row(row_index) if row_index < self.rows.count else None
        has_cursor = row_index == self.cursor.row_index
        if record is None:
            return Line(row_index < self.rows.count, has_cursor)
        drawn = self.cells.drawn_row(self.rows.row_id(row_index) or "", record)
        return Line(True, has_cursor, drawn.texts, drawn.tones)

    def note(self, viewport: Viewport, *, has_totals: bool) -> str:
        """How many rows are above and below the visible ones, and the footer's note on all of them."""
        below = self.rows.count - viewport.top - viewport.room
        note, footer = self.footer.note, self.footer
        if footer.short_note is not None and has_totals and self.cells.shows_whole(footer.repeated_totals):
            note = footer.short_note
        hidden = " ".join(f"{way} {count:,}" for way, count in (("↑", viewport.top), ("↓", below)) if count > 0)
        return " · ".join(filter(None, (hidden and f"{hidden} more", scrub(note))))


class ModelChange(NamedTuple):
    """Whether an archive gave other rows than before, and whether the footer has another text."""

    is_other_view: bool
    has_other_footer: bool


class TableCursor(Generic[RowT_co]):
    """The chosen row and column, by their index in the shown rows and columns.

    `row_id` is None if there is no row. Until the trader has placed the cursor it stays on the first row.
    """

    def __init__(self) -> None:
        self.row_index = 0
        self.row_id: str | None = None
        self.column_index = 0
        self.is_placed = False  # whether the trader has moved the cursor or focused the table
        self._vanished: RowT_co | None = None
        self._rows: RowSource[RowT_co] = NO_ROWS

    @property
    def record(self) -> RowT_co | None:
        """The row under the cursor, None if there is none or it is not loaded yet."""
        return self._rows.row(self.row_index) if self.row_index < self._rows.count else None

    def take_vanished(self) -> RowT_co | None:
        """Return the record that vanished under the cursor since the last call; of several, the first."""
        vanished, self._vanished = self._vanished, None
        return vanished

    def go_to(self, row_index: int) -> None:
        self.is_placed = True
        self._stand_on(row_index)

    def follow(self, rows: RowSource[RowT_co], *, by_choice: bool, newest_first: bool = False) -> None:
        """Stay on the same row in changed rows, or near its index if it is gone.

        `by_choice` means that the trader rearranged the rows: then the cursor keeps its row even if nobody placed it.
        With `newest_first` a cursor on the first row stays on the first row, so that the next new row is seen.
        """
        stays_first = not self.is_placed or (newest_first and self.row_index == 0)
        row_index = rows.index_of(self.row_id) if self.row_id is not None else None
        if row_index is None:
            row_index = self.row_index
            if self.row_id is not None and self.is_placed and self._vanished is None:
                self._vanished = self.record
        self._rows = rows
        self._stand_on(0 if stays_first and not by_choice else row_index)

    def enter_view(self, rows: RowSource[RowT_co], *, from_the_top: bool) -> None:
        """Move to another view of an archive: to the same row if its page is loaded, else to the first one."""
        row_index = None if from_the_top or self.row_id is None else rows.index_of(self.row_id)
        self._rows = rows
        self._stand_on(row_index or 0)

    def _stand_on(self, row_index: int) -> None:
        self.row_index = max(0, min(row_index, self._rows.count - 1))
        self.row_id = self._rows.row_id(self.row_index) if self._rows.count else None


class ScrollAnchor(NamedTuple):
    """The row that keeps its line of the screen; if `row_id` is None the first visible row stays `top`."""

    top: int
    row_id: str | None = None
    line: int = 0

    def top_in(self, rows: RowSource[object]) -> int:
        """The first visible row in changed rows that keeps the anchor's row on its line."""
        row_index = rows.index_of(self.row_id) if self.row_id is not None else None
        return self.top if row_index is None else row_index - self.line


class Viewport(NamedTuple):
    """The visible rows: `top` is the index of the first one, `room` how many fit."""

    top: int
    room: int

    def shows(self, row_index: int) -> bool:
        return self.top <= row_index < self.top + self.room

    def nearest_top(self, row_index: int) -> int:
        """The first visible row after scrolling as little as possible to show a row."""
        return min(max(self.top, row_index - self.room + 1), row_index)

    def anchor(self, rows: RowSource[object], cursor_row: int, cursor_row_id: str | None) -> ScrollAnchor:
        """Return the row that keeps its line: the cursor's, else the first visible; none at the top, for new rows."""
        if self.top == 0:
            return ScrollAnchor(0)
        if self.shows(cursor_row):
            return ScrollAnchor(self.top, cursor_row_id, cursor_row - self.top)
        return ScrollAnchor(self.top, rows.row_id(self.top) if self.top < rows.count else None)

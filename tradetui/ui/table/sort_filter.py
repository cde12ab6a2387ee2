"""Which rows of a source a table shows, in which order: a choice that holds for every source that follows.

The trader sorts by a column and filters by a pattern. Most sources are sorted and filtered here, also by a test of the
screen's own. An archive, never in memory as a whole, sorts and filters by itself, and no screen has a test for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.row_source import RowSource, RowT, SelfOrdering, Sort, matcher, view

TEXTS_KEPT: Final = 20_000
TEXTS_BEYOND_ROWS: Final = 500  # where there are more texts than rows by more than this, all are forgotten


class RowView(NamedTuple, Generic[RowT]):
    """The rows to show."""

    rows: RowSource[RowT]
    is_other: bool = False  # whether the archive that was shown before now gives other rows
    is_reordered: bool = False  # whether these also stand in another order


class SortFilter(Generic[RowT]):
    """The choice of sort, pattern and test."""

    def __init__(self, columns: Sequence[Column[RowT]], cell_format: CellFormat) -> None:
        self.sort: Sort | None = None
        self.pattern = ""
        self.keep: Callable[[RowT], bool] | None = None  # the screen's own test, for rows in memory
        self._columns = tuple(columns)
        self.texts = RowTexts(self._columns, cell_format)
        self._newest_view: _ArchiveView[RowT] | None = None  # what the choice asks for; its rows may not be read yet
        self._shown_view: _ArchiveView[RowT] | None = None

    @property
    def pattern_title(self) -> str:
        """The filter in a title, `/BTC`; empty where there is none."""
        return f"/{self.pattern}" if self.pattern else ""

    def next_sort(self, column: str) -> Sort:
        """The column from the least up, or reversed if that is the order already."""
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
        """The rows of a source by the choice; of an archive, those shown before until the new ones are read."""
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
        """Keep the texts of the next `count` rows of a source that only grows; returns whether rows are left.

        From then on texts are kept without a filter too, so that its first letter costs as little as the others.
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
    """The texts a filter searches: the cell as it reads, a figure also without commas, and the interface's value."""
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

"""Which rows of a source a table shows, in which order: a choice that holds for every source that follows.

The trader sorts by a column and filters by a pattern; a screen may add a test of its own. Most sources are sorted and
filtered here. An archive, which is never in memory as a whole, does both by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.row_source import RowSource, RowT, SelfOrdering, Sort, matcher, view

TEXTS_KEPT: Final = 20_000
TEXTS_OF_ROWS_GONE: Final = 500  # texts of rows that are gone before all texts are forgotten


class RowView(NamedTuple, Generic[RowT]):
    """The rows to show, and whether an archive has just given other ones than before, or also in another order."""

    rows: RowSource[RowT]
    is_other: bool = False
    is_reordered: bool = False


class SortFilter(Generic[RowT]):
    """The choice of sort, pattern and test."""

    def __init__(self, columns: Sequence[Column[RowT]], cell_format: CellFormat) -> None:
        self.sort: Sort | None = None
        self.pattern = ""
        self.keep: Callable[[RowT], bool] | None = None
        self._columns = tuple(columns)
        self.texts = RowTexts(self._columns, cell_format)
        self._newest_view: _ArchiveView[RowT] | None = None
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
        self.texts.forget()
        if self.sort is not None and self._column_of(self.sort) is None:
            self.sort = None

    def use_format(self, cell_format: CellFormat) -> None:
        self.texts.cell_format = cell_format
        self.texts.forget()

    def view_of(self, source: RowSource[RowT]) -> RowView[RowT]:
        """The rows of a source by the choice; of an archive, those shown before until the new ones are read."""
        if isinstance(source, SelfOrdering):
            return self._archive_view(source)
        matches = matcher(self.pattern)
        self.texts.forget_unused(source.count, is_filtered=matches is not None)
        column = self._column_of(self.sort)
        rows = view(
            source,
            sort_key=column.sort_key if column is not None else None,
            reverse=self.sort is not None and self.sort.reverse,
            keep=self._row_test(matches),
        )
        return RowView(rows)

    def _column_of(self, sort: Sort | None) -> Column[RowT] | None:
        return next((column for column in self._columns if sort is not None and column.id == sort.column), None)

    def _archive_view(self, source: SelfOrdering[RowT]) -> RowView[RowT]:
        newest = self._newest_view
        if newest is None or newest[:3] != (source, self.sort, self.pattern):
            is_narrowed = self.sort is not None or self.pattern != ""
            rows = source.ordered(self.sort, self.pattern, self.texts.text_of) if is_narrowed else source
            self._newest_view = newest = _ArchiveView(source, self.sort, self.pattern, rows)
        before = self._shown_view
        if before is None or before.source is not source:
            before = newest._replace(sort=None)
        self._shown_view = shown = before if newest.rows.is_pending else newest
        return RowView(shown.rows, shown.rows is not before.rows, shown.sort != before.sort)

    def _row_test(self, matches: Callable[[str], bool] | None) -> Callable[[RowT], bool] | None:
        keep, text_of = self.keep, self.texts.text_of
        if matches is None:
            return keep
        if keep is None:
            return lambda row: matches(text_of(row))
        return lambda row: keep(row) and matches(text_of(row))


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
        self._prepared: tuple[RowSource[RowT], int] | None = None
        """The source that `make_ready` prepares, and how many of its rows have their text; None before its first."""

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
        """Make the texts of `count` more rows of a source that only grows; returns whether there are more.

        From the first call on texts are kept though nothing is filtered, so that the first letter of a filter costs as
        little as the others.
        """
        begin = self._prepared[1] if self._prepared is not None and self._prepared[0] is source else 0
        end = min(source.count, begin + count, TEXTS_KEPT)
        self._prepared = (source, end)
        for index in range(begin, end):
            if (row := source.row(index)) is not None:
                self.text_of(row)
        return end < min(source.count, TEXTS_KEPT)

    def forget(self) -> None:
        self._by_row_id.clear()
        if self._prepared is not None:
            self._prepared = (self._prepared[0], 0)

    def forget_unused(self, row_count: int, *, is_filtered: bool) -> None:
        """Forget all texts if nothing needs them, or if too many are of rows that are gone."""
        needs_texts = is_filtered or self._prepared is not None
        if not needs_texts or len(self._by_row_id) > row_count + TEXTS_OF_ROWS_GONE:
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

"""Which rows of a source a table shows, in which order: a choice that holds for every source that follows.

A person sorts by a column and filters by a pattern; a screen may add a test of its own. Most sources are sorted and
filtered here; an archive, which is never in memory as a whole, does both by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.row_source import RowSource, RowT, SelfOrdering, Sort, view
from tradetui.desk.tables.rows.text_filter import matcher

TEXTS_KEPT: Final = 20_000
TEXTS_OF_ROWS_GONE: Final = 500
"""Texts of rows that are gone before all texts are forgotten."""


class _ArchiveView(NamedTuple, Generic[RowT]):
    """The rows that a source which sorts itself gave for a sort and a pattern."""

    source: SelfOrdering[RowT]
    sort: Sort | None
    pattern: str
    rows: SelfOrdering[RowT]


class SortFilter(Generic[RowT]):
    """The choice of sort, pattern and test.

    A row's text for the filter is kept while the row stays the same, so that a filter costs little on unchanged rows.
    """

    def __init__(self, columns: Sequence[Column[RowT]], cell_format: CellFormat) -> None:
        self.sort: Sort | None = None
        self.pattern = ""
        self.keep: Callable[[RowT], bool] | None = None
        self._columns = self._searched_columns = tuple(columns)
        self._cell_format = cell_format
        self._texts: dict[str, tuple[RowT, str]] = {}
        self._prepared: tuple[RowSource[RowT], int] | None = None
        """The source that `make_ready` prepares, and how many of its rows have their text; None before its first."""
        self._newest_view: _ArchiveView[RowT] | None = None
        self._shown_view: _ArchiveView[RowT] | None = None
        self.view_changed = False
        """Whether a source that sorts itself has just given other rows than it showed before."""
        self.sort_changed = False
        """Whether these are in another order as well."""

    @property
    def pattern_title(self) -> str:
        """The filter in a title, `/BTC`; empty where there is none."""
        return f"/{self.pattern}" if self.pattern else ""

    def next_sort(self, column: str) -> Sort:
        """The column from the least up, or reversed if that is the order already."""
        return Sort(column, reverse=self.sort == Sort(column))

    def use_columns(self, columns: Sequence[Column[RowT]], also_searched: Sequence[Column[RowT]] = ()) -> None:
        """Use other columns; a sort by a removed one is removed, too.

        A filter also looks at the hidden columns `also_searched`.
        """
        self._columns = tuple(columns)
        self._searched_columns = tuple({column.id: column for column in (*also_searched, *columns)}.values())
        self._forget_texts()
        if self.sort is not None and self._column_of(self.sort) is None:
            self.sort = None

    def use_format(self, cell_format: CellFormat) -> None:
        self._cell_format = cell_format
        self._forget_texts()

    def make_ready(self, source: RowSource[RowT], count: int) -> bool:
        """Make the texts of so many more rows of a source that only grows; returns whether there are more.

        From the first call on texts are kept though nothing is filtered, so that the first letter of a filter costs as
        little as the others.
        """
        begin = self._prepared[1] if self._prepared is not None and self._prepared[0] is source else 0
        end = min(source.count, begin + count, TEXTS_KEPT)
        self._prepared = (source, end)
        for index in range(begin, end):
            if (row := source.row(index)) is not None:
                self._text_of(row)
        return end < min(source.count, TEXTS_KEPT)

    def view_of(self, source: RowSource[RowT]) -> RowSource[RowT]:
        if isinstance(source, SelfOrdering):
            return self._archive_rows(source)
        if len(self._texts) > source.count + TEXTS_OF_ROWS_GONE:
            self._texts.clear()
        column = self._column_of(self.sort)
        return view(
            source,
            sort_key=column.sort_key if column is not None else None,
            reverse=self.sort is not None and self.sort.reverse,
            keep=self._row_test(),
        )

    def _column_of(self, sort: Sort | None) -> Column[RowT] | None:
        return next((column for column in self._columns if sort is not None and column.id == sort.column), None)

    def _archive_rows(self, source: SelfOrdering[RowT]) -> RowSource[RowT]:
        """The source's own view; while that is still being read, the one that was shown before."""
        newest = self._newest_view
        if newest is None or newest[:3] != (source, self.sort, self.pattern):
            is_narrowed = self.sort is not None or self.pattern != ""
            rows = source.ordered(self.sort, self.pattern, self._text_of) if is_narrowed else source
            self._newest_view = newest = _ArchiveView(source, self.sort, self.pattern, rows)
        before = self._shown_view
        if before is None or before.source is not source:
            before = newest._replace(sort=None)
        self._shown_view = shown = before if newest.rows.is_pending else newest
        self.view_changed = shown.rows is not before.rows
        self.sort_changed = shown.sort != before.sort
        return shown.rows

    def _row_test(self) -> Callable[[RowT], bool] | None:
        matches, keep = matcher(self.pattern), self.keep
        if matches is None:
            if self._prepared is None:
                self._texts.clear()
            return keep
        if keep is None:
            return lambda row: matches(self._text_of(row))
        return lambda row: keep(row) and matches(self._text_of(row))

    def _text_of(self, row: RowT) -> str:
        row_id: str | None = getattr(row, "row_id", None)
        known = self._texts.get(row_id) if row_id is not None else None
        if known is not None and (known[0] is row or known[0] == row):
            return known[1]
        text = "\t".join(_searched_text(column, row, self._cell_format) for column in self._searched_columns)
        if row_id is not None:
            if len(self._texts) > TEXTS_KEPT:
                self._texts.clear()
            self._texts[row_id] = (row, text)
        return text

    def _forget_texts(self) -> None:
        self._texts.clear()
        if self._prepared is not None:
            self._prepared = (self._prepared[0], 0)


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

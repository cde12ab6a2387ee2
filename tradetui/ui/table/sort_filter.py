"""The rows of a source that a table shows, and their order: sort, filter and test, kept through every refresh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.row_filters import matcher
from tradetui.desk.tables.rows.row_source import RowSource, RowT, SelfOrdering, Sort, view

TEXTS_KEPT: Final = 20_000
TEXTS_OF_ROWS_GONE: Final = 500


class SortFilter(Generic[RowT]):
    """A choice of sort and filter, applied to one source after another.

    A row's text for the filter is kept while the row stays the same, so that a filter costs little on unchanged rows.
    """

    def __init__(self, columns: Sequence[Column[RowT]], cell_format: CellFormat) -> None:
        self.sort: Sort | None = None
        self.pattern = ""
        self.keep: Callable[[RowT], bool] | None = None
        self._columns = self._searched_columns = tuple(columns)
        self._cell_format = cell_format
        self._texts: dict[str, tuple[RowT, str]] = {}
        self._ready: tuple[RowSource[RowT], int] | None = None
        self._ordered: tuple[SelfOrdering[RowT], Sort | None, str, SelfOrdering[RowT]] | None = None
        self._shown: tuple[SelfOrdering[RowT], Sort | None, SelfOrdering[RowT]] | None = None
        self.rearranged = False
        """Whether a source that sorts itself returned another view in another order."""
        self.turned = False

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
        begin = self._ready[1] if self._ready is not None and self._ready[0] is source else 0
        end = min(source.count, begin + count, TEXTS_KEPT)
        self._ready = (source, end)
        for index in range(begin, end):
            if (row := source.row(index)) is not None:
                self._text(row)
        return end < min(source.count, TEXTS_KEPT)

    def view_of(self, source: RowSource[RowT]) -> RowSource[RowT]:
        if isinstance(source, SelfOrdering):
            return self._ordered_by_itself(source)
        if len(self._texts) > source.count + TEXTS_OF_ROWS_GONE:
            self._texts.clear()
        column = self._column_of(self.sort)
        return view(
            source,
            sort_key=column.sort_key if column is not None else None,
            reverse=self.sort is not None and self.sort.reverse,
            keep=self._test(),
        )

    def _column_of(self, sort: Sort | None) -> Column[RowT] | None:
        return next((column for column in self._columns if sort is not None and column.id == sort.column), None)

    def _ordered_by_itself(self, source: SelfOrdering[RowT]) -> RowSource[RowT]:
        ordered = self._ordered
        if ordered is None or ordered[:3] != (source, self.sort, self.pattern):
            is_narrowed = self.sort is not None or self.pattern != ""
            view = source.ordered(self.sort, self.pattern, self._text) if is_narrowed else source
            self._ordered = ordered = (source, self.sort, self.pattern, view)
        view, before = ordered[3], self._shown
        if before is None or before[0] is not source:
            before = (source, None, view)
        shown = before if view.is_pending else (source, self.sort, view)
        self.rearranged = shown[2] is not before[2]
        self.turned = shown[1] != before[1]
        self._shown = shown
        return shown[2]

    def _test(self) -> Callable[[RowT], bool] | None:
        matches, keep = matcher(self.pattern), self.keep
        if matches is None:
            if self._ready is None:
                self._texts.clear()
            return keep
        if keep is None:
            return lambda row: matches(self._text(row))
        return lambda row: keep(row) and matches(self._text(row))

    def _text(self, row: RowT) -> str:
        row_id: str | None = getattr(row, "row_id", None)
        known = self._texts.get(row_id) if row_id is not None else None
        if known is not None and (known[0] is row or known[0] == row):
            return known[1]
        text = "\t".join(_searched(column, row, self._cell_format) for column in self._searched_columns)
        if row_id is not None:
            if len(self._texts) > TEXTS_KEPT:
                self._texts.clear()
            self._texts[row_id] = (row, text)
        return text

    def _forget_texts(self) -> None:
        self._texts.clear()
        if self._ready is not None:
            self._ready = (self._ready[0], 0)


def _searched(column: Column[RowT], row: RowT, cell_format: CellFormat) -> str:
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

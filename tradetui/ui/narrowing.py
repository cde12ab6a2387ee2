"""Which rows of a source a table shows and in which order: sort, filter and test, kept through every refresh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any

from tradetui.desk.columns import Column
from tradetui.desk.rows import RowSource, SelfOrdering, Sort, matcher, view


class Narrowing:
    """What was chosen, applied to one source after another.

    The text of a row that a filter looks at is kept for as long as the row stays the same, so that a filter costs
    little on rows that stand still.
    """

    def __init__(self, columns: Sequence[Column], zone: tzinfo) -> None:
        self.sort: Sort | None = None
        self.pattern = ""
        self.keep: Callable[[Any], bool] | None = None
        self._columns = tuple(columns)
        self._zone = zone
        self._texts: dict[str, tuple[Any, str]] = {}
        self._ordered: tuple[RowSource, Sort | None, str, RowSource] | None = None

    def use_columns(self, columns: Sequence[Column]) -> None:
        """Look at other columns; a sort by one that is gone goes with it."""
        self._columns = tuple(columns)
        self._texts.clear()
        if self.sort is not None and self._column_of(self.sort) is None:
            self.sort = None

    def use_zone(self, zone: tzinfo) -> None:
        """Times read otherwise."""
        self._zone = zone
        self._texts.clear()

    def view_of(self, source: RowSource) -> RowSource:
        """The rows to be shown."""
        if isinstance(source, SelfOrdering):
            return self._ordered_by_itself(source)
        column = self._column_of(self.sort)
        return view(
            source,
            sort_key=column.sort_key if column is not None else None,
            reverse=self.sort is not None and self.sort.reverse,
            keep=self._test(),
        )

    def _column_of(self, sort: Sort | None) -> Column | None:
        return next((column for column in self._columns if sort is not None and column.id == sort.column), None)

    def _ordered_by_itself(self, source: SelfOrdering) -> RowSource:
        known = self._ordered
        if known is None or known[:3] != (source, self.sort, self.pattern):
            asked = self.sort is not None or self.pattern != ""
            shown: RowSource = source.ordered(self.sort, self.pattern) if asked else source
            self._ordered = known = (source, self.sort, self.pattern, shown)
        return known[3]

    def _test(self) -> Callable[[Any], bool] | None:
        matches, keep = matcher(self.pattern), self.keep
        if matches is None:
            self._texts.clear()
            return keep
        if keep is None:
            return lambda row: matches(self._text(row))
        return lambda row: keep(row) and matches(self._text(row))

    def _text(self, row: Any) -> str:
        """A row's cells as they read, with tabs between."""
        key = getattr(row, "key", None)
        known = self._texts.get(key) if key is not None else None
        if known is not None and (known[0] is row or known[0] == row):
            return known[1]
        text = "\t".join(column.cell(row, self._zone)[0] for column in self._columns)
        if key is not None:
            if len(self._texts) > 20_000:
                self._texts.clear()
            self._texts[key] = (row, text)
        return text

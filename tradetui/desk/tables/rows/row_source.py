"""Rows for tables: one protocol for live snapshots, filtered views and anything longer than memory.

The main screen loads it before it is painted: it must load no model.
"""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Final, Generic, NamedTuple, Never, Protocol, TypeVar, runtime_checkable

from tradetui.wire.product_types import ProductType

RowT = TypeVar("RowT")
RowT_co = TypeVar("RowT_co", covariant=True)
RowT_contra = TypeVar("RowT_contra", contravariant=True)


class IdentifiedRow(Protocol):
    @property
    def row_id(self) -> str: ...


class FeedRow(IdentifiedRow, Protocol):
    """A row of a feed: it also says under which product type it was read."""

    @property
    def product_type(self) -> ProductType: ...


IdentifiedRowT = TypeVar("IdentifiedRowT", bound=IdentifiedRow)
FeedRowT = TypeVar("FeedRowT", bound=FeedRow)
FeedRowT_co = TypeVar("FeedRowT_co", bound=FeedRow, covariant=True)


class Sort(NamedTuple):
    """The column that orders the rows, and whether from the greatest down."""

    column: str
    reverse: bool = False


class RowSource(Protocol[RowT_co]):
    """Rows by index, each with an id that stays its own while rows come and go around it."""

    @property
    def generation(self) -> int:
        """Rises whenever a row may have changed."""

    @property
    def count(self) -> int: ...

    def row(self, index: int) -> RowT_co | None:
        """The row at an index, or None while it is not there yet."""

    def row_id(self, index: int) -> str | None: ...

    def index_of(self, row_id: str, /) -> int | None:
        """The index of the row of this id."""


@runtime_checkable
class SelfOrdering(RowSource[RowT_co], Protocol[RowT_co]):
    """A source that orders and filters by itself, since its rows are not all in memory."""

    @property
    def is_pending(self) -> bool:
        """Whether the first rows will be there in a moment; until then what was shown before stays."""

    def ordered(self, sort: Sort | None, pattern: str, text_of: Callable[[RowT_co], str]) -> SelfOrdering[RowT_co]:
        """The same rows in an order and through a filter; an order it cannot give is its own.

        `text_of` is a row's text as a filter reads it, and may be called in another thread.
        """

    def read_ahead(self, index: int) -> None:
        """Have the rows at hand that the next key may ask for from an index; called once what is there was painted."""

    def whole(self) -> RowSource[RowT_co]:
        """The same rows, each there when it is asked for, from the first to the last; for a thread that may wait."""


class MemoryRows(Generic[RowT_co]):
    def __init__(self, rows: Sequence[RowT_co], row_ids: Sequence[str], generation: int = 0) -> None:
        self._rows = rows
        self._row_ids = row_ids
        self.generation = generation
        self._indexes: dict[str, int] | None = None

    @property
    def count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> RowT_co:
        return self._rows[index]

    def row_id(self, index: int) -> str | None:
        return self._row_ids[index]

    def index_of(self, row_id: str) -> int | None:
        if self._indexes is None:
            self._indexes = {known_id: index for index, known_id in enumerate(self._row_ids)}
        return self._indexes.get(row_id)


NO_ROWS: Final[MemoryRows[Never]] = MemoryRows((), (), 0)


def loaded_rows(source: RowSource[RowT]) -> Iterator[RowT]:
    return (row for index in range(source.count) if (row := source.row(index)) is not None)


def view(
    source: RowSource[RowT],
    *,
    sort_key: Callable[[RowT], object] | None = None,
    reverse: bool = False,
    keep: Callable[[RowT], bool] | None = None,
) -> RowSource[RowT]:
    """The rows that are kept, in order; the source itself without a filter or an order.

    Equal rows keep their order either way round, rows without a value come last either way, and a row that is not there
    yet is left out.
    """
    if sort_key is None and keep is None:
        return source
    with _not_collecting():
        held = [(index, source.row(index)) for index in range(source.count)]
        kept = [(index, row) for index, row in held if row is not None and (keep is None or keep(row))]
        if sort_key is not None:
            keyed = [(sort_key(row), (index, row)) for index, row in kept]
            known = [(comparable(key), indexed_row) for key, indexed_row in keyed if key is not None]
            known.sort(key=lambda pair: pair[0], reverse=reverse)
            unknown = [indexed_row for key, indexed_row in keyed if key is None]
            kept = [indexed_row for _, indexed_row in known] + unknown
        row_ids = [source.row_id(index) or "" for index, _ in kept]
        return MemoryRows([row for _, row in kept], row_ids, source.generation)


@contextmanager
def _not_collecting() -> Iterator[None]:
    """Pause the search for cycles, which takes longer among all rows than sorting them."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def comparable(value: object) -> tuple[int, object]:
    """A sort key that can be compared with that of any other value: numbers, then moments, then words without case."""
    if isinstance(value, int | Decimal):
        return 0, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, tuple):
        return 2, tuple(comparable(element) for element in value)
    return 3, str(value).casefold()


def matcher(pattern: str) -> Callable[[str], bool] | None:
    """A test of a line of text: a regular expression without case, `!` first inverts it.

    A pattern that is no regular expression is taken as plain text; an empty one is none.
    """
    inverted = pattern.startswith("!")
    expression_text = pattern[1:] if inverted else pattern
    if not expression_text:
        return None
    expression = _expression(expression_text)
    return lambda text: (expression.search(text) is None) == inverted


def _expression(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            # What may mean something else in a later Python is no business of who types a filter.
            warnings.simplefilter("ignore")
            return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):
        return re.compile(re.escape(text), re.IGNORECASE)

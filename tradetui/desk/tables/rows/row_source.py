"""The rows of tables: one protocol for live snapshots, filtered views and sources larger than memory.

The main screen imports it before the first paint, so it must import no model.
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
    """A row of a feed, with the product type under which it was read."""

    @property
    def product_type(self) -> ProductType: ...


IdentifiedRowT = TypeVar("IdentifiedRowT", bound=IdentifiedRow)
FeedRowT = TypeVar("FeedRowT", bound=FeedRow)
FeedRowT_co = TypeVar("FeedRowT_co", bound=FeedRow, covariant=True)


class Sort(NamedTuple):
    """The column that sorts the rows, and whether in descending order."""

    column: str
    reverse: bool = False


class RowSource(Protocol[RowT_co]):
    """Rows by index, each with an id that stays the same while other rows come and go."""

    @property
    def generation(self) -> int:
        """Increases whenever a row may have changed."""

    @property
    def count(self) -> int: ...

    def row(self, index: int) -> RowT_co | None:
        """Return the row at an index, or None while it is not loaded."""

    def row_id(self, index: int) -> str | None: ...

    def index_of(self, row_id: str, /) -> int | None:
        """Return the index of the row with this id."""


@runtime_checkable
class SelfOrdering(RowSource[RowT_co], Protocol[RowT_co]):
    """A source that sorts and filters by itself, since its rows are not all in memory."""

    @property
    def is_pending(self) -> bool:
        """Whether the first rows will be loaded in a moment; until then the screen keeps the previous rows."""

    def ordered(self, sort: Sort | None, pattern: str, text_of: Callable[[RowT_co], str]) -> SelfOrdering[RowT_co]:
        """Return the same rows sorted and filtered; an order that the source cannot give is replaced by its own.

        `text_of` is a row's text for the filter, and may be called in another thread.
        """

    def read_ahead(self, index: int) -> None:
        """Load the rows that the next key may need near an index; called after the loaded rows were painted."""

    def whole(self) -> RowSource[RowT_co]:
        """Return the same rows from first to last, each loaded on request; for a thread that may block."""


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
    """Return the kept rows in order; the source itself without a filter or an order.

    Equal rows keep their order in both directions, rows without a value come last, and rows not loaded yet are left
    out.
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
    """Pause garbage collection, which takes longer over all rows than sorting them."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def comparable(value: object) -> tuple[int, object]:
    """Return a sort key that compares with that of any other value: numbers, then times, then text without case."""
    if isinstance(value, int | Decimal):
        return 0, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, tuple):
        return 2, tuple(comparable(element) for element in value)
    return 3, str(value).casefold()


def matcher(pattern: str) -> Callable[[str], bool] | None:
    """Make a test of a line of text from a regular expression without case; a leading `!` inverts it.

    An invalid expression is taken as plain text; an empty one gives None.
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
            # Warnings about later Python versions do not concern the person who types a filter.
            warnings.simplefilter("ignore")
            return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):
        return re.compile(re.escape(text), re.IGNORECASE)

"""Rows for tables: one protocol for live snapshots, filtered views and anything longer than memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Sort:
    """By which column, and whether from the greatest down."""

    column: str
    reverse: bool = False


class RowSource(Protocol):
    """Rows by place, each with a key that stays its own while rows come and go around it."""

    @property
    def generation(self) -> int:
        """Rises whenever a row may have changed."""
        ...

    @property
    def count(self) -> int:
        """Rows there are."""
        ...

    def row(self, place: int) -> Any:
        """The row at a place, or None while it is not there yet."""
        ...

    def key(self, place: int) -> str | None:
        """The key of the row at a place, or None while it is not there yet."""
        ...

    def index_of(self, key: str) -> int | None:
        """The place of the row of a key."""
        ...


class MemoryRows:
    """Rows held in memory, as a view of a snapshot may be."""

    def __init__(self, rows: Sequence[Any], keys: Sequence[str], generation: int) -> None:
        self._rows = rows
        self._keys = keys
        self.generation = generation
        self._places: dict[str, int] | None = None

    @property
    def count(self) -> int:
        return len(self._rows)

    def row(self, place: int) -> Any:
        return self._rows[place]

    def key(self, place: int) -> str | None:
        return self._keys[place]

    def index_of(self, key: str) -> int | None:
        if self._places is None:
            self._places = {each: place for place, each in enumerate(self._keys)}
        return self._places.get(key)


NO_ROWS = MemoryRows((), (), 0)


def view(
    source: RowSource,
    *,
    sort_key: Callable[[Any], Any] | None = None,
    reverse: bool = False,
    keep: Callable[[Any], bool] | None = None,
) -> RowSource:
    """The rows that are kept, in order; the source itself where nothing is asked. Equal rows keep their order."""
    if sort_key is None and keep is None:
        return source
    places = [place for place in range(source.count) if keep is None or keep(source.row(place))]
    if sort_key is not None:
        known = [place for place in places if sort_key(source.row(place)) is not None]
        unknown = [place for place in places if sort_key(source.row(place)) is None]
        known.sort(key=lambda place: sort_key(source.row(place)), reverse=reverse)
        places = known + unknown
    rows = [source.row(place) for place in places]
    keys = [source.key(place) or "" for place in places]
    return MemoryRows(rows, keys, source.generation)


def matcher(pattern: str) -> Callable[[str], bool] | None:
    """A test of a line of text: a regular expression without case, `!` first turns it round.

    A pattern that is no regular expression is taken as plain text; an empty one is none.
    """
    turned = pattern.startswith("!")
    wanted = pattern[1:] if turned else pattern
    if not wanted:
        return None
    try:
        expression = re.compile(wanted, re.IGNORECASE)
    except re.error:
        expression = re.compile(re.escape(wanted), re.IGNORECASE)
    return lambda text: (expression.search(text) is None) == turned

"""Merges streams of records that are each newest first into one that is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from tradetui.desk.tables.rows.product_row import ProductRow, record_of
from tradetui.wire.replies.record import Record

RecordRow = TypeVar("RecordRow", bound=Record | ProductRow[Record])
"""A record, or one with the product type that it was read under."""
_OLDEST = datetime.fromtimestamp(0, UTC)


async def merged(
    streams: Sequence[AsyncIterator[RecordRow]], *, id_field: str | None, time_field: str | None
) -> AsyncIterator[RecordRow]:
    """Yield the records of all streams, newest first, each id once; without an id every record.

    Holds one record of each stream, so that what is merged may be of any length; ids are remembered only while
    the same moment lasts, since a record stands in two streams at one time only.
    """
    if len(streams) == 1:
        async for record in streams[0]:
            yield record
        return
    heads: list[tuple[RecordRow, AsyncIterator[RecordRow]]] = []
    for stream in streams:
        first = await anext(stream, None)
        if first is not None:
            heads.append((first, stream))
    seen: set[object] = set()
    moment: datetime | None = None
    while heads:
        index = max(range(len(heads)), key=lambda at: _age(heads[at][0], time_field))
        record, stream = heads[index]
        following = await anext(stream, None)
        if following is None:
            del heads[index]
        else:
            heads[index] = (following, stream)
        now = _age(record, time_field)
        if now != moment:
            moment, seen = now, set()
        if id_field is None:
            yield record
            continue
        key = getattr(record_of(record), id_field)
        if key not in seen:
            seen.add(key)
            yield record


def _age(row: Record | ProductRow[Record], time_field: str | None) -> datetime:
    value = getattr(record_of(row), time_field) if time_field else None
    return value if isinstance(value, datetime) else _OLDEST

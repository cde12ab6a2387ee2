"""Reading all pages: no row lost or repeated, in spans the exchange allows, to an end that is certain to come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tradetui.wire.catalogue import RowLaw
from tradetui.wire.replies import Reply
from tradetui.wire.time_rules import split_span

if TYPE_CHECKING:
    from tradetui.wire.catalogue import Endpoint
    from tradetui.wire.requests import Request

ReadPage: TypeAlias = Callable[["Endpoint", "Request"], Awaitable[Reply[Any]]]

_FURTHEST_PIECES = 40
"""Ten years in pieces of three months: no account is older than that."""


async def pages(read: ReadPage, endpoint: Endpoint, request: Request) -> AsyncIterator[Reply[Any]]:
    """Read page after page of older rows, each row once.

    The next page begins below the last row of this one by its id, so that rows which come in meanwhile move
    nothing. It ends with an empty page, one without a way on, or one whose way on was gone already; where every page
    is read each time (`whole`), a page that is not full is the last.
    """
    seen: set[object] = set()
    async for page in _fresh_pages(read, endpoint, request, seen):
        yield page


async def all_spans(
    read: ReadPage, endpoint: Endpoint, request: Request, *, now_ms: int, start_ms: int | None, end_ms: int | None
) -> AsyncIterator[Reply[Any]]:
    """Read from `end_ms` (now) back to `start_ms` (as far as the exchange tells) in spans that it allows, newest first.

    Without a start and without a known window it ends with the first span that is empty.
    """
    rule = endpoint.time
    if rule is None:
        async for page in pages(read, endpoint, request):
            yield page
        return
    seen: set[object] = set()
    end = now_ms if end_ms is None else end_ms
    known_start = start_ms if start_ms is not None else (now_ms - rule.window_ms if rule.window_ms else None)
    begin = known_start if known_start is not None else end - _FURTHEST_PIECES * rule.piece_ms
    for start, stop in split_span(max(0, begin), end, rule.piece_ms):
        empty = True
        async for page in _fresh_pages(read, endpoint, request.changed(start_time=start, end_time=stop), seen):
            empty = empty and not page.count
            yield page
        if empty and known_start is None:
            return


def spans_needed(endpoint: Endpoint, start_ms: int | None, end_ms: int | None, now_ms: int) -> bool:
    """Whether a stretch of time is longer than the exchange takes in one request."""
    rule = endpoint.time
    if rule is None or start_ms is None:
        return False
    return (now_ms if end_ms is None else end_ms) - start_ms > rule.span_ms


async def _fresh_pages(
    read: ReadPage, endpoint: Endpoint, request: Request, seen: set[object]
) -> AsyncIterator[Reply[Any]]:
    rule = endpoint.page
    reply = await read(endpoint, request)
    yield _without(reply, seen)
    if rule is None:
        return
    asked = getattr(request, "limit", None)
    full = min(asked or rule.default, rule.maximum)
    cursors: set[str] = {str(getattr(request, "id_less_than", None))}
    while reply.cursor is not None and reply.cursor not in cursors and reply.count:
        if endpoint.law is RowLaw.WHOLE and reply.count < full:
            return
        cursors.add(reply.cursor)
        reply = await read(endpoint, request.changed(id_less_than=reply.cursor))
        if not reply.count:
            return
        fresh = _without(reply, seen)
        if not fresh.count:  # nothing but repetitions: the exchange does not page here
            return
        yield fresh


def _without(reply: Reply[Any], seen: set[object]) -> Reply[Any]:
    """The reply without rows that came before."""
    rows = tuple(_new(reply.rows, seen))
    return reply if len(rows) == len(reply.rows) else replace(reply, rows=rows)


def _new(rows: tuple[Any, ...], seen: set[object]) -> Iterator[Any]:
    for row in rows:
        if row.key not in seen:
            seen.add(row.key)
            yield row

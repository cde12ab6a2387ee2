"""Reads all pages: no row lost or repeated, in spans the exchange allows, and always to an end."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from tradetui.exchange.errors import UnreadableReply
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.endpoints.endpoint import Endpoint, RowLaw
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.exchange_time import DAY_MS, split_span
from tradetui.wire.replies.record import Record

if TYPE_CHECKING:
    from tradetui.wire.requests.request import Request

Row = TypeVar("Row", bound=Record)
ReadPage: TypeAlias = Callable[["Request[Row]"], Awaitable[Reply[Row]]]

_FURTHEST_MS: Final = 10 * 365 * DAY_MS
"""Ten years: no account is older."""
REMEMBERED_ROWS: Final = 5_000
"""A row can repeat only near its first occurrence, so memory need not grow with the rows read."""

ROUND_ROWS: Final = 10
"""An exchange's own maximum page size is a multiple of this."""

SAME_PAGE_AGAIN: Final = "the same full page came again: older rows cannot be read"


class PageWalk(Generic[Row]):
    """Page after page of older rows, each row once, one `next` a page.

    The walk goes through pieces, each a request of one span. The next page begins below the id of this page's oldest
    row, the cursor, so that new rows shift nothing. A piece ends with an empty page, a page without a cursor, or a
    repeated cursor. If the endpoint returns all rows each time (`whole`), a page that is not full is also the last.

    A page is full if it has the number of rows asked for. It is also full if the first page is shorter but has a round
    number of rows, because an exchange may have a lower maximum of its own; if rows beyond it were taken as gone, a
    waiting order would be lost silently. A list of exactly that length costs one more call. A full page that repeats in
    place of older rows is an error, since nothing says how many rows are missing.

    After an error or a cancellation, the following `next` reads the same page again.
    """

    def __init__(self, read: ReadPage[Row], pieces: Iterable[Request[Row]]) -> None:
        self._read = read
        self._pieces = iter(pieces)
        self._seen_keys: set[object] = set()
        self._seen_in_order: deque[object] = deque()
        self._request: Request[Row] | None = None
        self._begin_piece()

    @property
    def over(self) -> bool:
        return self._request is None

    @property
    def request(self) -> Request[Row] | None:
        return self._request

    async def __aiter__(self) -> AsyncIterator[Reply[Row]]:
        while (reply := await self.next()) is not None:
            yield reply

    async def next(self) -> Reply[Row] | None:
        """Read the next page with the rows not seen before, None at the end; raises `ExchangeError`."""
        while (request := self._request) is not None:
            first = self._pages_of_piece == 0
            reply = await self._read(request)
            rows = tuple(self._drop_seen(reply.rows))
            fresh = reply if len(rows) == len(reply.rows) else replace(reply, rows=rows)
            self._pages_of_piece += 1
            cursor = self._next_cursor(request, reply, fresh)
            if cursor is None:
                self._begin_piece()
            else:
                self._request = request.changed(**{_cursor_attribute(request): cursor})
            if first or fresh.count:
                return fresh
        return None

    def _begin_piece(self) -> None:
        self._request = next(self._pieces, None)
        self._pages_of_piece = 0
        self._full_page = 0
        self._cursors = {_own_cursor(self._request)}

    def _next_cursor(self, request: Request[Row], reply: Reply[Row], fresh: Reply[Row]) -> str | None:
        """Return the id below which the next page of this piece begins; None after its last page."""
        endpoint, cursor = endpoint_of(type(request)), reply.cursor
        rule = endpoint.page
        if rule is None or cursor is None or not reply.count:
            return None
        requested_rows = min(getattr(request, "limit", None) or rule.default, rule.maximum)
        if self._pages_of_piece > 1 and not fresh.count:  # only repeated rows: the exchange does not page here
            _refuse_full(reply, requested_rows, endpoint)
            return None
        if self._pages_of_piece == 1:
            self._full_page = requested_rows if reply.count % ROUND_ROWS else reply.count
        if endpoint.law is RowLaw.WHOLE and reply.count < self._full_page:
            return None
        if cursor in self._cursors:
            if not fresh.rows:  # unreadable rows, or those of another product type, came again with the rest
                _refuse_full(reply, requested_rows, endpoint)
            return None
        self._cursors.add(cursor)
        return cursor

    def _drop_seen(self, rows: tuple[Row, ...]) -> Iterator[Row]:
        for row in rows:
            key = row.unique_key
            if key in self._seen_keys:
                continue
            self._seen_keys.add(key)
            self._seen_in_order.append(key)
            if len(self._seen_in_order) > REMEMBERED_ROWS:
                self._seen_keys.discard(self._seen_in_order.popleft())
            yield row


def _cursor_attribute(request: Request[Any]) -> str:
    rule = endpoint_of(type(request)).page
    return "cursor" if rule is not None and rule.parameter == "cursor" else "id_less_than"


def _own_cursor(request: Request[Any] | None) -> str:
    """Return the cursor by which a request asks for its page, as text."""
    return "None" if request is None else str(getattr(request, _cursor_attribute(request), None))


def _refuse_full(reply: Reply[Row], requested_rows: int, endpoint: Endpoint) -> None:
    """Raise UnreadableReply for a repeated full page: there may be older rows, which cannot be read."""
    if reply.count == requested_rows > 1:
        raise UnreadableReply(
            SAME_PAGE_AGAIN, endpoint=endpoint.name, remedy="Look for the rest on the exchange's site."
        )


def walk(
    read: ReadPage[Row],
    request: Request[Row],
    *,
    now_ms: int = 0,
    start_ms: int | None = None,
    end_ms: int | None = None,
) -> PageWalk[Row]:
    """Walk through the request's own period, or from `end_ms` (now) back to `start_ms` in spans.

    It goes back only as far as the exchange reports, or ten years if no limit is known: a start of 0 means the
    beginning.
    """
    rule = request.time_rule
    if rule is None or start_ms is None:
        return PageWalk(read, [request])
    end = now_ms if end_ms is None else end_ms
    since = rule.kept_since(max(start_ms, end - _FURTHEST_MS, 0), now_ms)
    spans = split_span(since, end, rule.piece_ms)
    return PageWalk(read, (request.changed(start_time=start, end_time=stop) for start, stop in spans))

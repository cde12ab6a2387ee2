"""Pages of fills in which a row could not be decoded: each is read again until all of it can be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tradetui.desk.archive.reading_extent import Gap
from tradetui.desk.feeds.polling.multi_product import UndecodableRows
from tradetui.desk.tables.rows.product_row import time_of
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
"""The pause doubles up to this: what an exchange never spells right costs one read a minute."""
_MOST_PAGES: Final = 100
_LONGEST_ID: Final = 40


@dataclass(slots=True)
class UndecodablePage:
    """A page's cursor, its undecodable rows, and when it is read again (monotonic seconds)."""

    gap: Gap
    rows: set[str | int]
    due_s: float = 0.0
    pause_s: float = FIRST_PAUSE_S


class UndecodablePages:
    """Remembers pages by their undecodable rows, which `undecodable_rows` counts."""

    def __init__(self) -> None:
        self.undecodable_rows = UndecodableRows("tradeId")
        self._pages: list[UndecodablePage] = []

    @property
    def gaps(self) -> list[Gap]:
        """The gaps that another session has to read, should this one end before."""
        return [page.gap for page in self._pages]

    def note(self, reply: Reply[FuturesFill], cursor: str | None) -> None:
        """Take note of the page below a cursor: what could not be decoded in it, and what can be now."""
        self._forget({row.trade_id for row in reply.rows})
        self.undecodable_rows.add(reply.undecodable_rows)
        known = {row for page in self._pages for row in page.rows}
        rows = {self.undecodable_rows.key(row.received) for row in reply.undecodable_rows}
        above = cursor or _id_above(reply)
        if rows <= known or above is None or len(self._pages) >= _MOST_PAGES:
            return
        until = min(unix_ms(time_of(row)) for row in reply.rows) + 1 if reply.rows else None
        self._pages.append(UndecodablePage(Gap(above, until), rows))

    def due(self, now: float) -> UndecodablePage | None:
        """A page to be read again now; the pause until its next time begins with this."""
        page = next((page for page in self._pages if page.due_s <= now), None)
        if page is not None:
            page.due_s, page.pause_s = now + page.pause_s, min(LONGEST_PAUSE_S, 2 * page.pause_s)
        return page

    def decoded(self, page: UndecodablePage) -> None:
        self._forget(page.rows)

    def _forget(self, rows: Iterable[str | int]) -> None:
        self.undecodable_rows.forget(rows)
        for page in self._pages:
            page.rows.difference_update(rows)
        self._pages = [page for page in self._pages if page.rows]


def _id_above(reply: Reply[FuturesFill]) -> str | None:
    """An id just above all of a page, so that what is older than it is the page; None where no id is a number."""
    received = [row.received.get("tradeId") for row in reply.undecodable_rows if isinstance(row.received, dict)]
    ids = [str(trade_id) for trade_id in (*(row.trade_id for row in reply.rows), *received)]
    numbers = [int(trade_id) for trade_id in ids if len(trade_id) <= _LONGEST_ID and trade_id.isdecimal()]
    return str(max(numbers) + 1) if numbers else None

"""Rows that came and could not be read: what they say is unknown, and never taken for absent.

Each is counted once however often it comes. A page of fills with one is read again until all of it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tradetui.desk.archive.coverage import Gap
from tradetui.desk.tables.rows.product_row import time_of
from tradetui.exchange.errors import UnreadableReply
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.replies.record import Record
from tradetui.wire.text import counted

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
"""The pause doubles up to this: what an exchange never spells right costs one read a minute."""
_MOST_PAGES: Final = 100
_LONGEST_ID: Final = 40


def refuse_unreadable(reply: Reply[Record]) -> None:
    """Raise UnreadableReply for rows none of which can be read: the records are unknown, not absent."""
    if reply.undecodable_rows and not reply.rows:
        raise UnreadableReply(
            f"{counted(len(reply.undecodable_rows), 'row')} came, none readable", remedy="`tradetui doctor` says more."
        )


class UndecodableRows:
    """Counts an unreadable row once, though it comes again on every overlapping page.

    `identity` is the field that tells the rows apart; a row that is read well later is counted no longer.
    """

    MOST = 1_000

    def __init__(self, identity: str = "") -> None:
        self._identity = identity
        self._met: set[str | int] = set()

    def add(self, rows: Sequence[UndecodableRow]) -> None:
        if len(self._met) < self.MOST:
            self._met.update(self.key(row.received) for row in rows)

    def forget(self, keys: Iterable[str | int]) -> None:
        if self._met:
            self._met.difference_update(keys)

    def key(self, received: object) -> str | int:
        """The key that a row is counted by: its identity, or a hash of all of it where it has none."""
        identity = received.get(self._identity) if isinstance(received, Mapping) else None
        return str(identity) if identity else hash(str(received))

    def __len__(self) -> int:
        return len(self._met)


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

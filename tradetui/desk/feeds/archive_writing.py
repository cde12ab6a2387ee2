"""How feeds write to the archive: their rows, and the ledger's steps after new fills.

A feed never waits for the archive to open, and never fails because of it. While the archive is not open or its disk is
full, rows wait in memory, and the step is tried again after a later read.

This module also counts unreadable rows. Their content is unknown, and never taken for absent. Each is counted once
however often it comes, and a page of fills that has one is read again until all its rows are readable.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Generic

from tradetui.desk.archive.coverage import Gap
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT, time_of
from tradetui.exchange.errors import UnreadableReply
from tradetui.storage.disk_thread import Disk
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record
from tradetui.wire.text import counted

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

WAITING_AT_MOST: Final = 20_000
"""Rows that wait in memory while the disk refuses them; beyond that the oldest are dropped."""
NOTED_EVERY_MS: Final = 60_000
"""Interval at which the archive records up to which time fills were read."""
BOOKED_AT: Final = 200
"""How many fills may wait to be booked. Readers of the ledger book the waiting ones first."""


class WriteBuffer(Generic[RecordT]):
    """Writes rows of one kind to the archive; before an archive is open they wait.

    `trouble` is why the archive cannot be written now; its rows are tried again with the next ones.
    """

    def __init__(self, kind: type[RecordT], disk: Disk) -> None:
        self.archive: Archive | None = None
        self.trouble: str | None = None
        self._kind = kind
        self._disk = disk
        self._waiting: dict[str, ProductRow[RecordT]] = {}
        self._gaps: Mapping[ProductType, Sequence[Gap]] | None = None

    @property
    def waiting(self) -> list[ProductRow[RecordT]]:
        """The rows that are not in the archive yet, or not in their present state."""
        return list(self._waiting.values())

    async def open(self, archive: Archive, gaps: Mapping[ProductType, Sequence[Gap]] | None = None) -> None:
        """Write rows to this archive from now on, the waiting ones first."""
        self.archive = archive
        await self.put((), gaps)

    def drop(self, row_ids: Iterable[str]) -> None:
        """Drop rows that wait, because they are in the archive under other ids."""
        for row_id in row_ids:
            self._waiting.pop(row_id, None)

    async def put(
        self, rows: Iterable[ProductRow[RecordT]], gaps: Mapping[ProductType, Sequence[Gap]] | None = None
    ) -> None:
        """Write rows together with the gaps below them. Never fails: rows that cannot be written wait."""
        self._waiting.update((row.row_id, row) for row in rows)
        self._gaps = gaps if gaps is not None else self._gaps
        if self.archive is not None:
            await self._write(self.archive)
            while len(self._waiting) > WAITING_AT_MOST:
                del self._waiting[next(iter(self._waiting))]

    async def _write(self, archive: Archive) -> None:
        waiting, missing = self.waiting, self._gaps
        if not waiting and missing is None:
            return
        try:
            await self._disk.run(archive.add, self._kind, waiting, missing)
        except (sqlite3.Error, OSError) as problem:
            self.trouble = f"rows cannot be saved: {problem}"
            return
        self.trouble = None
        for row in waiting:
            if self._waiting.get(row.row_id) is row:
                del self._waiting[row.row_id]
        if self._gaps is missing:
            self._gaps = None


class LedgerUpkeep:
    """Books fills in small steps, records up to when they were read, and compares the ledger with positions."""

    def __init__(self, product_type: ProductType, disk: Disk) -> None:
        self._product_type = product_type
        self._disk = disk
        self._behind = False
        self._noted_ms = self._proven_ms = 0
        self._held: tuple[Mapping[tuple[str, bool], Decimal], int] | None = None

    def compare(self, held: Mapping[tuple[str, bool], Decimal], at_ms: int | None) -> None:
        """Take the sizes that the exchange reports (by symbol and whether long) at a time in Unix ms.

        At most once a minute, after fills are read past that time, the ledger is compared with them. That proves from
        which fill on positions are known.
        """
        if at_ms is not None and at_ms - self._proven_ms >= NOTED_EVERY_MS:
            self._held = held, at_ms

    async def bring_forward(self, archive: Archive, server_ms: int, *, has_gaps: bool) -> None:
        """Take a step after fills were read up to an exchange time (Unix ms); `has_gaps` if some are still missing."""
        try:
            if server_ms - self._noted_ms >= NOTED_EVERY_MS:
                await self._disk.run(archive.note_read, self._product_type, server_ms)
                self._noted_ms = server_ms
            held = self._held
            if held is not None or self._behind or archive.fills_to_book >= BOOKED_AT:
                # One step each time, so that other disk work runs between. Readers of results take all steps.
                self._behind = await self._disk.run(archive.advance_ledger)
            if held is not None and not self._behind and not has_gaps and server_ms > held[1]:
                self._held = None
                self._behind = await self._disk.run(archive.prove_starts, self._product_type, *held)
                self._proven_ms = server_ms
        except (sqlite3.Error, OSError):
            return  # the disk may be full; the next read tries again


FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
"""The pause doubles up to this: a row that stays unreadable costs one read a minute."""
_MOST_PAGES: Final = 100
_LONGEST_ID: Final = 40


def refuse_unreadable(reply: Reply[Record]) -> None:
    """Raise UnreadableReply if no row of a reply is readable: the records are unknown, not absent."""
    if reply.undecodable_rows and not reply.rows:
        raise UnreadableReply(
            f"{counted(len(reply.undecodable_rows), 'row')} came, none readable", remedy="`tradetui doctor` says more."
        )


class UndecodableRows:
    """Counts an unreadable row once, though it comes again on every overlapping page.

    `identity` names the fields that identify a row; a row that is readable later is no longer counted.
    """

    MOST = 1_000

    def __init__(self, *identity: str) -> None:
        self._identity = identity
        self._met: set[str | int] = set()

    def add(self, rows: Sequence[UndecodableRow]) -> None:
        if len(self._met) < self.MOST:
            self._met.update(self.key(row.received) for row in rows)

    def forget(self, keys: Iterable[str | int]) -> None:
        if self._met:
            self._met.difference_update(keys)

    def key(self, received: object) -> str | int:
        """Return the key that a row is counted by: its identity, or a hash of the whole row if it has none."""
        fields = [received.get(name) for name in self._identity] if isinstance(received, Mapping) else []
        return "|".join(map(str, fields)).upper() if fields and all(fields) else hash(str(received))

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
    """Remembers the pages that have unreadable rows; `undecodable_rows` counts these rows."""

    def __init__(self) -> None:
        self.undecodable_rows = UndecodableRows("tradeId", "symbol")
        self._pages: list[UndecodablePage] = []

    @property
    def gaps(self) -> list[Gap]:
        """The gaps that a later session has to read if this one ends first."""
        return [page.gap for page in self._pages]

    def note(self, reply: Reply[FuturesFill], cursor: str | None) -> None:
        """Remember the unreadable rows of the page below a cursor, and forget rows that this page now has readable."""
        self._forget({row.row_id.upper() for row in reply.rows})
        self.undecodable_rows.add(reply.undecodable_rows)
        known = {row for page in self._pages for row in page.rows}
        rows = {self.undecodable_rows.key(row.received) for row in reply.undecodable_rows}
        above = cursor or reply.page_cursor or _id_above(reply)
        if rows <= known or above is None or len(self._pages) >= _MOST_PAGES:
            return
        until = min(unix_ms(time_of(row)) for row in reply.rows) + 1 if reply.rows else None
        self._pages.append(UndecodablePage(Gap(above, until), rows))

    def due(self, now: float) -> UndecodablePage | None:
        """Return a page that is to be read again now, and start the pause until its next read."""
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
    """Return an id just above all ids of a page, so that the page can be asked for again; None if no id is a number."""
    received = [row.received.get("tradeId") for row in reply.undecodable_rows if isinstance(row.received, dict)]
    ids = [str(trade_id) for trade_id in (*(row.trade_id for row in reply.rows), *received)]
    numbers = [int(trade_id) for trade_id in ids if len(trade_id) <= _LONGEST_ID and trade_id.isdecimal()]
    return str(max(numbers) + 1) if numbers else None

"""The fills of one product type: the known ones, the gaps between them, and how gaps are closed.

A fill is identified by product type, symbol and trade id: the same figures under another trade id are another fill.

Fills are append-only. So a read goes back to the newest known fill and one minute further, because a late fill may be
booked below it. If a read stops earlier, after too many pages or by an error, the rest is kept as a gap and read page
by page later; all fills before the first read are such a gap too. A page with an undecodable row is read again until
all its rows can be decoded. Fills that the exchange no longer keeps are lost, and never taken for read.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from tradetui.desk.archive.coverage import Gap, ReadKind
from tradetui.desk.feeds.archive_writing import LedgerUpkeep, UndecodablePages, WriteBuffer, refuse_unreadable
from tradetui.desk.feeds.fills.repeated_fills import without_repeated_fills
from tradetui.desk.feeds.polling.multi_product import ProductPart, symbols_of
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first, time_of
from tradetui.desk.tables.rows.row_source import FeedRowT
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError, Rejected, UnreadableReply
from tradetui.exchange.paging import SAME_PAGE_AGAIN
from tradetui.storage.disk_thread import Disk
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import TradeSide
from tradetui.wire.enums import known as known_word
from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, unix_ms
from tradetui.wire.models.futures import FuturesFill, FuturesFillsRequest
from tradetui.wire.product_types import ProductType
from tradetui.wire.text import counted

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

OVERLAP: Final = timedelta(minutes=1)
"""Rows up to this much older than the newest known one are read again, because late ones may be booked below it."""
_OVERLAP_MS: Final = 60_000
_LONGEST_START_MS: Final = 80 * DAY_MS
"""The start time of a request may not be three months back; an older one is left out."""
PAGES_AT_ONCE: Final = 10
"""If a read has not reached the known fills after this many pages, it leaves the rest as a gap."""
KEPT: Final = 400
"""Fills kept in memory; older ones are in the archive."""


class FillHistory:
    """Fills of one product type: the newest in memory, all in the archive.

    `page` is the number of rows a page holds.
    """

    def __init__(self, client: ExchangeReader, product_type: ProductType, disk: Disk, *, page: int = 100) -> None:
        self.product_type = product_type
        self.gaps: list[Gap] = []
        self.passed_over: set[str] = set()
        """Cursors of gaps that are not to be read now."""
        self.lost: list[Gap] = []
        """Fills that this session found to be missing for good."""
        self.server_ms: int | None = None
        self.read_at: float | None = None
        self.pages_read = 0
        self.changes = 0
        """Rises whenever `rows` change."""
        self.added: deque[FuturesFill] | None = None
        """After `follow`, every fill that is new or has other figures; one may come twice."""
        self._client = client
        self._page_size = page
        self._disk = disk
        self.ledger_upkeep = LedgerUpkeep(product_type, disk)
        self.write_buffer = WriteBuffer(FuturesFill, disk)
        self._left_out: set[str] = set()
        self._kept_symbols: set[str] = set()
        self._rows: dict[str, ProductRow[FuturesFill]] = {}
        self._newest: ProductRow[FuturesFill] | None = None
        self._corrected: dict[str, None] = {}
        """Row ids of fills that came again with other figures, in the order of their first correction."""
        self._gaps_kept: list[Gap] = []
        self.undecodable_pages = UndecodablePages()
        self._may_ask_since = True
        """Whether the exchange accepts a start time; if not, a whole page is read each time."""
        self._read_until = 0
        self._proven_until: dict[int | None, int] = {}
        """By the end of a gap, the time (Unix ms) after which earlier reads have found no fills in it."""
        self._turn = asyncio.Lock()

    @property
    def rows(self) -> Iterable[ProductRow[FuturesFill]]:
        """The newest fills, unordered."""
        return self._rows.values()

    @property
    def correction(self) -> str:
        """A note on fills in memory that came again with other figures; empty if none did."""
        ids = [self._rows[row_id].record.trade_id for row_id in self._corrected if row_id in self._rows]
        return f"{counted(len(ids), 'fill')} corrected by the exchange, last {ids[-1]}" if ids else ""

    def part(self, rows: Sequence[FeedRowT] = ()) -> ProductPart[FeedRowT]:
        """Wrap these rows with the counts and times of the history's replies."""
        undecodable_rows = len(self.undecodable_pages.undecodable_rows)
        return ProductPart(rows, undecodable_rows, self.server_ms, self._left_out, self._kept_symbols)

    @property
    def unsaved(self) -> list[FuturesFill]:
        """The fills that are not in the archive yet, or not in their present state."""
        return [row.record for row in self.write_buffer.waiting]

    async def attach(self, archive: Archive) -> None:
        """Join memory with this archive, and write everything to it from now on."""
        async with self._turn:
            kept = await self._disk.run(archive.rows.newest, FuturesFill, self.product_type, KEPT)
            missing = await self._disk.run(archive.gaps, self.product_type)
            read_until = await self._disk.run(archive.read_until, ReadKind.FILL, self.product_type) or 0
            await self._drop_repeated(archive)
            if kept:
                self._join_archive(kept, missing, read_until)
            known = {gap.cursor for gap in self.gaps}
            self.gaps += [gap for gap in missing if gap.cursor not in known]
            self._read_until = max(self._read_until, read_until)
            self._gaps_kept = self._missing
            await self.write_buffer.open(archive, {self.product_type: self._gaps_kept})
            self._remember([row for row in kept if row.row_id not in self._rows])

    async def read_newest(self, now: float) -> None:
        """Read back to the newest known fill; raises `ExchangeError`, but keeps the pages that came."""
        async with self._turn:
            known = self._newest
            until = None if known is None else unix_ms(time_of(known.record) - OVERLAP)
            self.server_ms = await self._read_back(Gap("", until), 1 if known is None else PAGES_AT_ONCE)
            self.read_at = now
            if known is not None:  # else fills between this read and the archive may be lost
                self._read_until = max(self._read_until, self.server_ms or 0)
            if self.write_buffer.archive is not None and self.server_ms is not None:
                archive, has_gaps = self.write_buffer.archive, bool(self.gaps)
                await self.ledger_upkeep.bring_forward(archive, self.server_ms, has_gaps=has_gaps)
            await self._read_undecodable(now)

    async def read_gap(self) -> bool:
        """Read one page of a gap; False if there was no gap."""
        async with self._turn:
            gap = next((gap for gap in self.gaps if gap.cursor not in self.passed_over), None)
            if gap is None:
                return False
            try:
                await self._read_back(gap, 1)
            except (Rejected, UnreadableReply):
                # It goes last, because another gap may be answered. It is never taken for closed.
                self.gaps.sort(key=lambda other: other is gap)
                raise
            return True

    def follow(self) -> deque[FuturesFill]:
        """Return the fills that came since the first call and that the caller has not taken out; more are added."""
        if self.added is None:
            self.added = deque()
        return self.added

    def let_go(self, before: datetime) -> None:
        """Drop older fills from memory, except those that are read again with the newest."""
        if self._newest is None:
            return
        before = min(before, time_of(self._newest.record) - OVERLAP)
        kept = {row_id: row for row_id, row in self._rows.items() if time_of(row.record) >= before}
        if len(kept) < len(self._rows):
            self._rows = kept
            self.changes += 1

    async def _drop_repeated(self, archive: Archive) -> None:
        """Drop fills that the archive has from the time before the account was moved."""
        counted = await self._archived_at(archive, self._rows.values())
        remaining = without_repeated_fills(list(self._rows.values()), counted)
        self.write_buffer.drop(self._rows.keys() - {row.row_id for row in remaining})
        if len(remaining) < len(self._rows):
            self._rows = {row.row_id: row for row in remaining}
            self.changes += 1

    async def _archived_at(
        self, archive: Archive, rows: Iterable[ProductRow[FuturesFill]]
    ) -> list[ProductRow[FuturesFill]]:
        times = {unix_ms(time_of(row.record)) for row in rows}
        return await self._disk.run(archive.rows.fills_at, self.product_type, times) if times else []

    def _join_archive(self, kept: Sequence[ProductRow[FuturesFill]], missing: Sequence[Gap], read_until: int) -> None:
        """Merge memory with the archive: end this session's gaps where the archive begins."""
        until = unix_ms(time_of(kept[0].record) - OVERLAP)
        self._proven_until = {gap.until: 0 for gap in missing} | self._proven_until
        self._proven_until.setdefault(until, read_until - _OVERLAP_MS)
        ended = [Gap(gap.cursor, until) if gap.until is None else gap for gap in self.gaps]
        self.gaps = [gap for gap in ended if not self._is_closed(gap)]
        until = max(until, read_until - _OVERLAP_MS)
        ended = [gap._replace(until=until) if gap.until is None else gap for gap in self.lost]
        self.lost = [gap for gap in ended if (gap.until or 0) < (gap.kept_from or 0)]

    @property
    def _missing(self) -> list[Gap]:
        """The gaps that are unread, not fully decoded or lost."""
        return [*self.gaps, *self.undecodable_pages.gaps, *self.lost]

    def _is_closed(self, gap: Gap) -> bool:
        """Whether a gap is closed: its upper end is already older than its lower end."""
        rows = [row for row in self._rows.values() if row.record.trade_id == gap.cursor]  # of several symbols
        return bool(rows) and all(_reaches([row], gap.until) for row in rows)

    async def _read_back(self, gap: Gap, most_pages: int) -> int | None:
        """Read pages of a gap, and keep their rows with the rest of it; the gap of the newest fills has no cursor.

        Returns the exchange's time (Unix ms) of the first page. Raises `ExchangeError`, but keeps the pages that came.
        """
        newest = self._newest
        rest: Gap | None = gap
        rows: list[ProductRow[FuturesFill]] = []
        server_ms: int | None = None
        while rest is not None and most_pages > 0:
            request = self._request(rest)
            try:
                reply = await self._page(request)
                is_last = not reply.count or reply.cursor in (None, rest.cursor)
                if is_last or not rest.cursor:
                    refuse_unreadable(reply)  # older records are unknown then, not absent
            except ExchangeError as problem:
                if isinstance(problem, Rejected) and request.start_time is not None:
                    # A managed sub-account may not ask for the time before it was bound, not even by a minute.
                    self._may_ask_since = False
                await self._keep(rows, gap, rest)
                raise
            most_pages -= 1
            server_ms = server_ms or reply.request_time
            rows += self._tagged(reply)
            # A read with a start time is complete if its page is not full and has the newest known fill.
            is_short = request.start_time is not None and reply.count < self._page_size
            known_came_again = newest is not None and any(row.row_id == newest.row_id for row in rows)
            is_last = is_last or _reaches(rows, gap.until) or (is_short and known_came_again)
            rest = None if is_last or reply.cursor is None else Gap(reply.cursor, gap.until)
        if rest is None:
            self._note_lost(gap, rows)
        await self._keep(rows, gap, rest)
        return server_ms

    def _note_lost(self, gap: Gap, rows: Sequence[ProductRow[FuturesFill]]) -> None:
        """Note lost fills if the exchange's records end before the gap does."""
        until, above, kept_from = gap.until, gap.cursor, self._client.server_clock.now_ms - NINETY_DAYS_MS
        if until is not None:
            until = max(until, self._proven_until.get(until, 0) if above else self._read_until - _OVERLAP_MS)
            if _reaches(rows, until) or until + _OVERLAP_MS >= kept_from:
                return
        elif not above:
            return  # nothing was read before, so the past is no gap between fills
        if rows:
            kept_from, above = min(kept_from, *(unix_ms(time_of(row.record)) for row in rows)), ""
        self.lost.append(Gap(above, until, kept_from))

    async def _read_undecodable(self, now: float) -> None:
        """Read an undecodable page again; if that fails, it is tried later and nothing else waits."""
        page = self.undecodable_pages.due(now)
        if page is None:
            return
        if self._is_of_v2(page.gap):
            self.gaps.append(page.gap)  # its page cannot be asked for any more
            self.undecodable_pages.decoded(page)
            return
        try:
            reply = await self._page(self._request(page.gap))
        except ExchangeError:
            return
        if not reply.undecodable_rows:
            self.undecodable_pages.decoded(page)
        await self._keep(self._tagged(reply))

    async def _page(self, request: FuturesFillsRequest) -> Reply[FuturesFill]:
        cursor = request.id_less_than
        reply = await self._client.read(request)
        if cursor is not None and reply.cursor == cursor and reply.count >= self._page_size:
            raise UnreadableReply(SAME_PAGE_AGAIN, endpoint="futures.fills")
        self.pages_read += 1
        self.undecodable_pages.note(reply, cursor)
        self._left_out.update(reply.left_out)
        self._kept_symbols |= symbols_of(reply.rows)
        return reply

    def _request(self, gap: Gap) -> FuturesFillsRequest:
        """Return the request for the newest page of a gap: below its cursor, or since its end if it has no cursor."""
        now_ms, until = self._client.server_clock.now_ms, gap.until
        # A session begins with a whole page, to reread the fills that the session before read last.
        may_ask = self._may_ask_since and self.read_at is not None and not gap.cursor
        # An end in the future comes from a fill with a wrong time: no fill would ever be found after it.
        bounded = may_ask and until is not None and 0 <= now_ms - until <= _LONGEST_START_MS
        cursor = None if self._is_of_v2(gap) else gap.cursor or None
        return FuturesFillsRequest(
            product_type=self.product_type, id_less_than=cursor, start_time=until if bounded else None
        )

    def _is_of_v2(self, gap: Gap) -> bool:
        """Whether a gap is below an id that v3 may not know; it is then read from the newest fill on."""
        return self._client.is_unified and gap.cursor.isdecimal()

    def _tagged(self, reply: Reply[FuturesFill]) -> list[ProductRow[FuturesFill]]:
        rows = [ProductRow(self.product_type, fill) for fill in reply.rows]
        return [known if (known := self._rows.get(row.row_id)) == row else row for row in rows]

    async def _keep(
        self, rows: Sequence[ProductRow[FuturesFill]], gap: Gap | None = None, rest: Gap | None = None
    ) -> None:
        """Keep rows of a gap together with the rest of the gap."""
        rows = await self._without_repeated(rows)
        self.gaps = [other for other in self.gaps if other is not gap]
        if rest is not None and rest.cursor:
            self.gaps.insert(0, rest)
            if gap is not None and not gap.cursor:
                self._proven_until.setdefault(rest.until, self._read_until - _OVERLAP_MS)
        fresh = [row for row in self._latest(rows).values() if self._rows.get(row.row_id) is not row]
        if self.added is not None:
            self.added.extend(row.record for row in fresh)
        missing = self._missing
        changed_gaps = {self.product_type: missing} if missing != self._gaps_kept else None
        self._gaps_kept = missing
        await self.write_buffer.put(fresh, changed_gaps)
        self._remember(fresh)

    async def _without_repeated(self, rows: Sequence[ProductRow[FuturesFill]]) -> Sequence[ProductRow[FuturesFill]]:
        """Return the rows without fills that memory or the archive has from the other interface.

        Without a readable archive only memory is compared.
        """
        fresh = [row for row in rows if self._rows.get(row.row_id) is not row]
        if not fresh:
            return rows
        counted = dict(self._rows)
        if self.write_buffer.archive is not None:
            with suppress(sqlite3.Error, OSError):
                archived = await self._archived_at(self.write_buffer.archive, fresh)
                counted = {row.row_id: row for row in archived} | counted
        return without_repeated_fills(rows, counted.values())

    def _latest(self, rows: Sequence[ProductRow[FuturesFill]]) -> dict[str, ProductRow[FuturesFill]]:
        """Return the last version of each fill among these rows, by id, so that a repeated row counts as one."""
        latest: dict[str, ProductRow[FuturesFill]] = {}
        for arrived_row in rows:
            earlier = latest.get(arrived_row.row_id) or self._rows.get(arrived_row.row_id)
            for row in (arrived_row,) if earlier is None or earlier is arrived_row else halves(earlier, arrived_row):
                known = latest.get(row.row_id) or self._rows.get(row.row_id)
                if known is not None and known.record.effect_key != row.record.effect_key:
                    self._corrected[row.row_id] = None
                latest[row.row_id] = row
        return latest

    def _remember(self, fresh: Sequence[ProductRow[FuturesFill]]) -> None:
        if not fresh:
            return
        self._rows.update((row.row_id, row) for row in fresh)
        self.changes += 1
        if len(self._rows) > KEPT:
            self._rows = {row.row_id: row for row in newest_first(self._rows.values())[:KEPT]}
        self._newest = max(self._rows.values(), key=lambda row: row.time_order)


def halves(known: ProductRow[FuturesFill], row: ProductRow[FuturesFill]) -> list[ProductRow[FuturesFill]]:
    """Return the row that came under a known id.

    If one of both opens and the other closes, return both with distinct ids.
    """
    fills = known.record, row.record
    trade_sides = {known_word(TradeSide, fill.trade_side) for fill in fills}
    if trade_sides != {TradeSide.OPEN, TradeSide.CLOSE} or fills[0].order_id != fills[1].order_id:
        return [row]
    rows = FuturesFill.with_distinct_ids([fill.received for fill in fills])
    return [ProductRow(row.product_type, FuturesFill.from_row(received)) for received in rows]


def _reaches(rows: Sequence[ProductRow[FuturesFill]], until: int | None) -> bool:
    """Whether a row is older than `until` (Unix ms); never for None."""
    return until is not None and any(unix_ms(time_of(row.record)) < until for row in rows)

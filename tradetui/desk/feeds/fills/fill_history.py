"""The fills of one product type: what is known, what is still missing, and how the gap between is closed.

A fill is known by its product type, symbol and trade id: one that comes again under another trade id is another fill.

Fills are append-only, so a read goes back to the newest one known and a minute further, since a late one may come in
below it. Whatever a read could not reach, because the trail was too long or broke off, is remembered as a gap and
read page by page later; the whole past before the first read is such a gap too. A page with a row that could not be
decoded is read again until all of it can be. What the exchange keeps no longer is lost, and never taken for read.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from tradetui.desk.archive.coverage import Gap
from tradetui.desk.feeds.archive_writing import LedgerUpkeep, UndecodablePages, WriteBuffer, refuse_unreadable
from tradetui.desk.feeds.fills.corrections import Corrections, halves
from tradetui.desk.feeds.polling.multi_product import ProductPart, symbols_of
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first, time_of
from tradetui.desk.tables.rows.row_source import FeedRowT
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError, Rejected, UnreadableReply
from tradetui.exchange.paging import SAME_PAGE_AGAIN
from tradetui.storage.disk_thread import Disk
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, unix_ms
from tradetui.wire.models.futures import FuturesFill, FuturesFillsRequest
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

OVERLAP: Final = timedelta(minutes=1)
"""Rows this much older than the newest known one are read again: late ones may come in below it."""
_OVERLAP_MS: Final = 60_000
_LONGEST_START_MS: Final = 80 * DAY_MS
"""A start of a read may not lie three months back; older ones are left out."""
PAGES_AT_ONCE: Final = 10
"""A read that has not arrived at what is known after so many pages leaves the rest as a gap."""
KEPT: Final = 400
"""Fills kept in memory; older ones are in the archive."""


class FillHistory:
    """Fills of one product type, the newest in memory, all in the archive; `page` is how many rows a page holds."""

    def __init__(self, client: ExchangeReader, product_type: ProductType, disk: Disk, *, page: int = 100) -> None:
        self.product_type = product_type
        self.gaps: list[Gap] = []
        self.passed_over: set[str] = set()
        """The cursors of gaps that are not to be asked for now."""
        self.lost: list[Gap] = []
        """The fills that this session found to be missing for good."""
        self.server_ms: int | None = None
        self.read_at: float | None = None
        self.pages_read = 0
        self.changes = 0
        """Grows whenever `rows` become others."""
        self.added: deque[FuturesFill] | None = None
        """Where somebody follows, every fill that is new or has other figures; one may come twice."""
        self._client = client
        self._page_size = page
        self._disk = disk
        self.ledger_upkeep = LedgerUpkeep(product_type, disk)
        self.write_buffer = WriteBuffer(FuturesFill, disk)
        self._left_out: set[str] = set()
        self._kept_symbols: set[str] = set()
        self._rows: dict[str, ProductRow[FuturesFill]] = {}
        self._newest: ProductRow[FuturesFill] | None = None
        self.corrections = Corrections(client.clock)
        self._gaps_kept: list[Gap] = []
        self.undecodable_pages = UndecodablePages()
        self._may_ask_since = True
        """Whether the exchange answers for the fills since a time; else all of a page is read each time."""
        self._read_until = 0
        self._proven_until: dict[int | None, int] = {}
        """By where a gap ends, up to when (Unix ms) earlier readings have shown that nothing was made after that."""
        self._turn = asyncio.Lock()

    @property
    def rows(self) -> Iterable[ProductRow[FuturesFill]]:
        """The newest fills, in no order."""
        return self._rows.values()

    @property
    def correction(self) -> str:
        """A note on fills in memory that came again with other figures; empty where none did."""
        return self.corrections.sentence(self._rows)

    def part(self, rows: Sequence[FeedRowT] = ()) -> ProductPart[FeedRowT]:
        """These rows as the product type's, with all that its replies have shown."""
        undecodable_rows = len(self.undecodable_pages.undecodable_rows)
        return ProductPart(rows, undecodable_rows, self.server_ms, self._left_out, self._kept_symbols)

    @property
    def unsaved(self) -> list[FuturesFill]:
        """The fills that the archive does not have yet, or not as they are now."""
        return [row.record for row in self.write_buffer.waiting]

    async def attach(self, archive: Archive) -> None:
        """Take what the archive holds, and from now on keep everything there."""
        async with self._turn:
            kept = await self._disk.run(archive.rows.newest, FuturesFill, self.product_type, KEPT)
            missing = await self._disk.run(archive.gaps, self.product_type)
            read_until = await self._disk.run(archive.read_until, self.product_type)
            if kept:
                self._join_archive(kept, missing, read_until)
            known = {gap.cursor for gap in self.gaps}
            self.gaps += [gap for gap in missing if gap.cursor not in known]
            self._read_until = max(self._read_until, read_until)
            self._gaps_kept = self._missing
            await self.write_buffer.open(archive, {self.product_type: self._gaps_kept})
            self._remember([row for row in kept if row.row_id not in self._rows])

    async def read_newest(self, now: float) -> None:
        """Read back to what is known; raises `ExchangeError`, keeping what had come by then."""
        async with self._turn:
            known = self._newest
            until = None if known is None else unix_ms(time_of(known.record) - OVERLAP)
            self.server_ms = await self._read_back(Gap("", until), 1 if known is None else PAGES_AT_ONCE)
            self.read_at = now
            if known is not None:  # else it has not met what the archive holds, between which and this some may be lost
                self._read_until = max(self._read_until, self.server_ms or 0)
            if self.write_buffer.archive is not None and self.server_ms is not None:
                archive, has_gaps = self.write_buffer.archive, bool(self.gaps)
                await self.ledger_upkeep.bring_forward(archive, self.server_ms, has_gaps=has_gaps)
            await self._read_undecodable(now)

    async def read_gap(self) -> bool:
        """Read one page of what is missing; whether there was anything to read."""
        async with self._turn:
            gap = next((gap for gap in self.gaps if gap.cursor not in self.passed_over), None)
            if gap is None:
                return False
            try:
                await self._read_back(gap, 1)
            except (Rejected, UnreadableReply):
                # It goes last, since another may be answered, and is never taken for closed.
                self.gaps.sort(key=lambda other: other is gap)
                raise
            return True

    def follow(self) -> deque[FuturesFill]:
        """The fills that came since somebody followed first, or took them out; from now on every fill is added."""
        if self.added is None:
            self.added = deque()
        return self.added

    def let_go(self, before: datetime) -> None:
        """Let older fills leave memory, but for those that are read again with the newest."""
        if self._newest is None:
            return
        before = min(before, time_of(self._newest.record) - OVERLAP)
        kept = {row_id: row for row_id, row in self._rows.items() if time_of(row.record) >= before}
        if len(kept) < len(self._rows):
            self._rows = kept
            self.changes += 1

    def _join_archive(self, kept: Sequence[ProductRow[FuturesFill]], missing: Sequence[Gap], read_until: int) -> None:
        """End the gaps of this session where the archive begins."""
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
        """The gaps that are not read, or not decoded whole."""
        return [*self.gaps, *self.undecodable_pages.gaps, *self.lost]

    def _is_closed(self, gap: Gap) -> bool:
        """Whether a gap begins where it ends already."""
        rows = [row for row in self._rows.values() if row.record.trade_id == gap.cursor]  # of several symbols, perhaps
        return bool(rows) and all(_reaches([row], gap.until) for row in rows)

    async def _read_back(self, gap: Gap, most_pages: int) -> int | None:
        """Read pages of a gap and keep their rows with what is left of it; the newest fills are a gap without a cursor.

        Returns the exchange's time (Unix ms) of the first page. Raises `ExchangeError`, keeping what had come by then.
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
                    refuse_unreadable(reply)  # what is older than such rows is not known to be nothing
            except ExchangeError as problem:
                if isinstance(problem, Rejected) and request.start_time is not None:
                    # A managed sub-account may not ask for what was before its binding, not even by a minute.
                    self._may_ask_since = False
                await self._keep(rows, gap, rest)
                raise
            most_pages -= 1
            server_ms = server_ms or reply.request_time
            rows += self._tagged(reply)
            # A bounded read that does not fill a page has given all that is new, if the newest known fill is among it.
            is_short = request.start_time is not None and reply.count < self._page_size
            known_came_again = newest is not None and any(row.row_id == newest.row_id for row in rows)
            is_last = is_last or _reaches(rows, gap.until) or (is_short and known_came_again)
            rest = None if is_last or reply.cursor is None else Gap(reply.cursor, gap.until)
        if rest is None:
            self._note_lost(gap, rows)
        await self._keep(rows, gap, rest)
        return server_ms

    def _note_lost(self, gap: Gap, rows: Sequence[ProductRow[FuturesFill]]) -> None:
        """Take note of fills that ended with these rows before the end of a gap: those not kept any longer are lost."""
        until, above, kept_from = gap.until, gap.cursor, self._client.server_clock.now_ms - NINETY_DAYS_MS
        if until is not None:
            until = max(until, self._proven_until.get(until, 0) if above else self._read_until - _OVERLAP_MS)
            if _reaches(rows, until) or until + _OVERLAP_MS >= kept_from:
                return
        elif not above:
            return  # nothing was ever read: the past is no gap between fills
        if rows:
            kept_from, above = min(kept_from, *(unix_ms(time_of(row.record)) for row in rows)), ""
        self.lost.append(Gap(above, until, kept_from))

    async def _read_undecodable(self, now: float) -> None:
        """Read a page again that could not be decoded; where that fails it is tried later, and nothing else waits."""
        page = self.undecodable_pages.due(now)
        if page is None:
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
        """The request for the newest page of a gap: below its cursor, or only for what is new where there is none."""
        now_ms, until = self._client.server_clock.now_ms, gap.until
        # A session begins with a whole page: what the one before it read wrong last is read again.
        may_ask = self._may_ask_since and self.read_at is not None and not gap.cursor
        # Beyond now lies a fill whose time was given wrong: nothing would ever come after it.
        bounded = may_ask and until is not None and 0 <= now_ms - until <= _LONGEST_START_MS
        return FuturesFillsRequest(
            product_type=self.product_type, id_less_than=gap.cursor or None, start_time=until if bounded else None
        )

    def _tagged(self, reply: Reply[FuturesFill]) -> list[ProductRow[FuturesFill]]:
        rows = [ProductRow(self.product_type, fill) for fill in reply.rows]
        return [known if (known := self._rows.get(row.row_id)) == row else row for row in rows]

    async def _keep(
        self, rows: Sequence[ProductRow[FuturesFill]], gap: Gap | None = None, rest: Gap | None = None
    ) -> None:
        """Keep rows of a gap together with the note of what is left of it."""
        self.gaps = [other for other in self.gaps if other is not gap]
        if rest is not None and rest.cursor:
            self.gaps.insert(0, rest)
            if gap is not None and not gap.cursor:
                self._proven_until.setdefault(rest.until, self._read_until - _OVERLAP_MS)
        latest = self._latest(rows)
        newest, corrections = self._newest, self.corrections
        confirmed = [] if newest is None else corrections.release_old(latest, time_of(newest.record) - OVERLAP)
        fresh = [ProductRow(self.product_type, fill) for fill in confirmed]
        fresh += [row for row in latest.values() if corrections.accept(self._rows.get(row.row_id), row)]
        if self.added is not None:
            self.added.extend(row.record for row in fresh)
        missing = self._missing
        changed_gaps = {self.product_type: missing} if missing != self._gaps_kept else None
        self._gaps_kept = missing
        await self.write_buffer.put(fresh, changed_gaps)
        self._remember(fresh)

    def _latest(self, rows: Sequence[ProductRow[FuturesFill]]) -> dict[str, ProductRow[FuturesFill]]:
        """Of rows that came the last of each fill, by its id: where a reply gives one twice, each read comes to one."""
        latest: dict[str, ProductRow[FuturesFill]] = {}
        for arrived_row in rows:
            earlier = latest.get(arrived_row.row_id) or self._rows.get(arrived_row.row_id)
            for row in (arrived_row,) if earlier is None or earlier is arrived_row else halves(earlier, arrived_row):
                known = latest.get(row.row_id) or self._rows.get(row.row_id)
                if known is not None:
                    self.corrections.watch(known, row)
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


def _reaches(rows: Sequence[ProductRow[FuturesFill]], until: int | None) -> bool:
    """Whether a row is older than a moment (Unix ms); None is never reached."""
    return until is not None and any(unix_ms(time_of(row.record)) < until for row in rows)

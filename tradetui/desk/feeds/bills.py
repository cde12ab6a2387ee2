"""Reads bills into the archive: the newest twice a minute, and between them the missing ones, page by page.

Closed positions, which give the funding of single round trips, are read between these too, every five minutes.

The newest bills are read as a gap from a minute before the last read until now. A gap is read from its end to its
beginning. Each page shortens it in the same transaction that archives the page's bills, so that the next session
continues there. A gap that cannot be read waits ten minutes; it is never taken for read.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tradetui.desk.archive.coverage import BillCoverage, ReadKind, TimeSpan
from tradetui.desk.feeds.archive_writing import refuse_unreadable
from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import exchange_errors, gather_reads
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError, PermissionRefused, Rejected, UnreadableReply
from tradetui.exchange.paging import PageWalk, walk
from tradetui.storage.disk_thread import Disk
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, unix_ms
from tradetui.wire.models.futures_accounts import (
    ClosedPositionsRequest,
    FuturesBill,
    FuturesBillsRequest,
)
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

BILL_OVERLAP_MS: Final = 60_000
"""Bills of the last minute before a read are read again by the next one, because late bills may be booked below."""
REFUSED_AGAIN_S: Final = 600.0
NEWEST_PAGES_AT_ONCE: Final = 5
"""If a read of the newest bills has not reached the known ones after this many pages, it leaves the rest as a gap."""
BILLS_A_PAGE: Final = 100
BILLS_EVERY_S: Final = 2.0
NEWEST_EVERY_S: Final = 30.0
BILL_PAGES_A_POLL: Final = 2
CLOSED_POSITIONS_EVERY_S: Final = 300.0
_FIRST_SPAN_MS: Final = 89 * DAY_MS
"""How far back closed positions are read the first time."""
_READ_AGAIN_MS: Final = 3_600_000
"""Length of the time before the last pass that is read again: a position may be reported late."""
_POSITIONS_A_PAGE: Final = 100


class BillHistory:
    """Bills of one product type, kept in the attached archive; nothing is read without one."""

    def __init__(self, client: ExchangeReader, product_type: ProductType, disk: Disk) -> None:
        self.product_type = product_type
        self.coverage = BillCoverage()
        self._client = client
        self._disk = disk
        self._archive: Archive | None = None
        self._walks: dict[TimeSpan, PageWalk[FuturesBill]] = {}
        self._not_before: dict[TimeSpan, float] = {}
        self._turn = asyncio.Lock()

    @property
    def attached(self) -> bool:
        return self._archive is not None

    async def attach(self, archive: Archive) -> None:
        """Take the coverage of bills from this archive, and keep bills there from now on."""
        async with self._turn:
            self.coverage = await self._disk.run(archive.bill_coverage, self.product_type)
            self._archive = archive

    def has_gap(self, now: float) -> bool:
        """Whether an older gap is due to be read; `now` is monotonic seconds."""
        return self.attached and self._next_gap(now) is not None

    async def read_newest(self, now: float) -> None:
        """Read from the last read until now; raises `ExchangeError`, but keeps the pages that came."""
        async with self._turn:
            gap: TimeSpan | None = self._newest_gap(now)
            for _ in range(NEWEST_PAGES_AT_ONCE):
                if gap is not None:
                    gap = await self._read_page(gap, now)

    async def read_gap(self, now: float) -> bool:
        """Read one page of an older gap; False if there was no gap. Raises `ExchangeError`."""
        async with self._turn:
            gap = self._next_gap(now)
            if gap is None:
                return False
            await self._read_page(gap, now)
            return True

    def _newest_gap(self, now: float) -> TimeSpan:
        """Return the gap since the last read as the first one, joined with due gaps that end where it begins."""
        now_ms, coverage = self._client.server_clock.now_ms, self.coverage
        begun_at = now_ms - NINETY_DAYS_MS
        since = begun_at if coverage.until is None else coverage.until - BILL_OVERLAP_MS
        joined = [gap for gap in coverage.gaps if gap.until >= since and self._not_before.get(gap, 0.0) <= now]
        newest = TimeSpan(min([since, *(gap.since for gap in joined)]), now_ms)
        self.coverage = coverage._replace(
            since=begun_at if coverage.since is None else coverage.since,
            until=now_ms,
            gaps=(newest, *(gap for gap in coverage.gaps if gap not in joined)),
        )
        self._walks = {gap: page_walk for gap, page_walk in self._walks.items() if gap not in joined}
        return newest

    def _next_gap(self, now: float) -> TimeSpan | None:
        oldest_ms = self._client.server_clock.now_ms - NINETY_DAYS_MS
        readable = (gap for gap in self.coverage.gaps if gap.until > oldest_ms)
        return next((gap for gap in readable if self._not_before.get(gap, 0.0) <= now), None)

    async def _read_page(self, gap: TimeSpan, now: float) -> TimeSpan | None:
        """Read a page of a gap; return the rest of the gap, or None if nothing is left."""
        page_walk = self._walks.pop(gap, None)
        if page_walk is None:
            request = FuturesBillsRequest(product_type=self.product_type, limit=BILLS_A_PAGE)
            now_ms = self._client.server_clock.now_ms
            page_walk = walk(self._client.read, request, now_ms=now_ms, start_ms=gap.since, end_ms=gap.until)
        try:
            reply = await page_walk.next()
            if reply is not None:
                refuse_unreadable(reply)
        except ExchangeError as problem:
            await self._note_refusal(gap, problem, now)
            raise
        rest = self._rest_of(gap, page_walk, reply)
        unread = None
        if reply is not None and reply.undecodable_rows:  # this page's period is read again later
            unread = TimeSpan(gap.since if rest is None else rest.until, gap.until)
        gaps = [kept for kept in (rest, unread) if kept is not None]
        others = [other for other in self.coverage.gaps if other != gap]
        await self._keep(() if reply is None else reply.rows, self.coverage._replace(gaps=(*gaps, *others), refusal=""))
        if unread is not None:
            self._not_before[unread] = now + REFUSED_AGAIN_S
        if rest is not None and not page_walk.over:
            self._walks[rest] = page_walk
        return rest if rest is not None and not page_walk.over else None

    def _rest_of(
        self, gap: TimeSpan, page_walk: PageWalk[FuturesBill], reply: Reply[FuturesBill] | None
    ) -> TimeSpan | None:
        """Return the part of a gap that is still unread, including a part older than the exchange keeps bills."""
        if page_walk.request is None:
            oldest_ms = self._client.server_clock.now_ms - NINETY_DAYS_MS
            return TimeSpan(gap.since, oldest_ms) if gap.since < oldest_ms - BILL_OVERLAP_MS else None
        end = getattr(page_walk.request, "end_time", None)
        times = [unix_ms(row.c_time) for row in reply.rows] if reply is not None else []
        until = min([gap.until, *times, *([end] if isinstance(end, int) else [])])
        return TimeSpan(gap.since, max(gap.since, until))

    async def _note_refusal(self, gap: TimeSpan, problem: ExchangeError, now: float) -> None:
        if isinstance(problem, PermissionRefused | Rejected | UnreadableReply):
            self._not_before[gap] = now + REFUSED_AGAIN_S
        if isinstance(problem, PermissionRefused | Rejected) and problem.reason != self.coverage.refusal:
            await self._keep((), self.coverage._replace(refusal=problem.reason))

    async def _keep(self, bills: Sequence[FuturesBill], coverage: BillCoverage) -> None:
        """Archive bills with their coverage; if the disk refuses them, keep neither."""
        if self._archive is None:
            return
        try:
            await self._disk.run(self._archive.add_bills, self.product_type, bills, coverage)
        except (sqlite3.Error, OSError):
            return  # the disk may be full; the gap stays, and is read again
        self.coverage = coverage


class ClosedPositionHistory:
    """Closed positions of one product type; an interrupted pass begins anew, and each position is kept once."""

    def __init__(self, client: ExchangeReader, product_type: ProductType, disk: Disk) -> None:
        self.product_type = product_type
        self._client = client
        self._disk = disk
        self._archive: Archive | None = None
        self._until: int | None = None
        self._due_s = 0.0

    async def attach(self, archive: Archive) -> None:
        """Take from this archive up to when closed positions are read, and keep them there from now on."""
        self._until = await self._disk.run(archive.read_until, ReadKind.CLOSED_POSITION, self.product_type)
        self._archive = archive

    def is_due(self, now: float) -> bool:
        """Whether a pass is due at `now` (monotonic seconds)."""
        return self._archive is not None and now >= self._due_s

    async def read(self, now: float) -> None:
        """Read all that closed since the last pass; raises `ExchangeError`, but keeps the pages that came."""
        archive, now_ms = self._archive, self._client.server_clock.now_ms
        if archive is None:
            return
        self._due_s = now + CLOSED_POSITIONS_EVERY_S
        first = now_ms - _FIRST_SPAN_MS
        since = first if self._until is None else max(first, self._until - _READ_AGAIN_MS)
        request = ClosedPositionsRequest(product_type=self.product_type, limit=_POSITIONS_A_PAGE)
        try:
            async for reply in walk(self._client.read, request, now_ms=now_ms, start_ms=since, end_ms=now_ms):
                refuse_unreadable(reply)
                await self._disk.run(archive.add_closed_positions, self.product_type, reply.rows, None)
            await self._disk.run(archive.add_closed_positions, self.product_type, (), now_ms)
        except (sqlite3.Error, OSError):
            return  # the disk may be full; a later pass reads them again
        self._until = now_ms


class BillsReader:
    """Reads bills and closed positions into the archive; none of their rows is shown."""

    def __init__(
        self,
        client: ExchangeReader,
        histories: Mapping[ProductType, BillHistory],
        closed_positions: Sequence[ClosedPositionHistory] = (),
    ) -> None:
        self._client = client
        self._histories = histories
        self._closed_positions = closed_positions
        self._newest_due = 0.0

    async def read(self) -> Reading[ProductRow[FuturesBill]]:
        """Read what is due, the newest bills before older ones; raises `ExchangeError` if every read of them failed."""
        now = self._client.clock.monotonic()
        histories = [history for history in self._histories.values() if history.attached]
        if histories and now >= self._newest_due:
            self._newest_due = now + NEWEST_EVERY_S
            self._client.capabilities.check_account()
            errors = exchange_errors(await gather_reads([history.read_newest(now) for history in histories]))
            if len(errors) == len(histories):
                raise errors[0]
        elif histories:
            await self._read_past(histories, now)
        return Reading(())

    async def _read_past(self, histories: Sequence[BillHistory], now: float) -> None:
        for _ in range(BILL_PAGES_A_POLL):
            behind = next((history for history in histories if history.has_gap(now)), None)
            if behind is not None:
                await behind.read_gap(now)
        due = next((positions for positions in self._closed_positions if positions.is_due(now)), None)
        if due is not None:
            await due.read(now)

"""Reads the positions that ended into the archive, a page a call: the first time of three months, then what is new."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from tradetui.desk.feeds.undecodable_rows import refuse_unreadable
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError
from tradetui.exchange.paging import PageWalk, walk
from tradetui.storage.disk_thread import Disk
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.models.futures_accounts import ClosedPosition, ClosedPositionsRequest
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

CLOSED_POSITIONS_EVERY_S: Final = 300.0
_FIRST_SPAN_MS: Final = 89 * DAY_MS
_READ_AGAIN_MS: Final = 3_600_000
"""Of before the last pass so much is read again: a position may be told late."""
_ROWS: Final = 100


class ClosedPositionHistory:
    """Positions of one product type that ended; a pass that was cut off begins anew, and each is kept once."""

    def __init__(self, client: ExchangeReader, product_type: ProductType, disk: Disk) -> None:
        self.product_type = product_type
        self._client = client
        self._disk = disk
        self._archive: Archive | None = None
        self._until: int | None = None
        self._walk: PageWalk[ClosedPosition] | None = None
        self._began_ms = 0
        self._due_s = 0.0

    async def attach(self, archive: Archive) -> None:
        """Take from the archive how far they are read, and from now on keep them there."""
        self._until = await self._disk.run(archive.closed_positions_until, self.product_type)
        self._archive = archive

    def is_due(self, now: float) -> bool:
        """Whether a page is to be read at a moment of the monotonic clock."""
        return self._archive is not None and (self._walk is not None or now >= self._due_s)

    async def read_page(self, now: float) -> None:
        """Read the next page of a pass; raises `ExchangeError`, and the next pass begins later."""
        archive, page_walk = self._archive, self._walk
        if archive is None:
            return
        self._due_s = now + CLOSED_POSITIONS_EVERY_S
        if page_walk is None:
            self._began_ms = now_ms = self._client.server_clock.now_ms
            since = now_ms - _FIRST_SPAN_MS if self._until is None else self._until - _READ_AGAIN_MS
            request = ClosedPositionsRequest(product_type=self.product_type, limit=_ROWS)
            page_walk = self._walk = walk(
                self._client.read, request, now_ms=now_ms, start_ms=max(since, now_ms - _FIRST_SPAN_MS), end_ms=now_ms
            )
        try:
            reply = await page_walk.next()
            if reply is not None:
                refuse_unreadable(reply)
            until = self._began_ms if page_walk.over else None
            rows = () if reply is None else reply.rows
            await self._disk.run(archive.add_closed_positions, self.product_type, rows, until)
        except (ExchangeError, sqlite3.Error, OSError) as problem:
            self._walk = None
            if isinstance(problem, ExchangeError):
                raise
            return  # the disk may be full; a later pass reads them again
        if until is not None:
            self._walk, self._until = None, until

"""A lookup: pages of one reading endpoint, from new to old, loaded as the user scrolls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tradetui.desk.feeds.polling.feed import FeedError
from tradetui.desk.publisher import Publisher
from tradetui.desk.tables.cells.cell_format import SeenPrecisions
from tradetui.desk.tables.rows.row_source import IdentifiedRowT, MemoryRows
from tradetui.exchange.errors import Busy, RateLimited, Unreachable, UnreadableReply
from tradetui.trading.spot_totals import CoinTotal, added
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.spot import SpotFill
from tradetui.wire.replies.record import Record

if TYPE_CHECKING:
    from tradetui.desk.lookup.query import Query
    from tradetui.exchange.client import ExchangeReader
    from tradetui.exchange.paging import PageWalk

MOST_ROWS: Final = 10_000
"""Maximum rows of a lookup; for more, narrow the query or use `tradetui show --all`, which keeps none in memory."""
Heard = Callable[[Exception | None], None]
"""Called with every answer: the error, or None for a page."""


class LookupState(StrEnum):
    """How far a lookup is.

    `more`: older rows may follow. `stopped` and `failed` can be continued. `full`: it has the maximum of rows.
    """

    LOADING = "loading"
    MORE = "more"
    COMPLETE = "complete"
    FULL = "full"
    STOPPED = "stopped"
    FAILED = "failed"


class LoadedRows(MemoryRows[IdentifiedRowT]):
    """Rows in loading order, newest first; older ones are appended, and none is removed."""

    def __init__(self) -> None:
        self._loaded: list[IdentifiedRowT] = []
        self._loaded_ids: list[str] = []
        super().__init__(self._loaded, self._loaded_ids, 0)

    def add(self, rows: Sequence[IdentifiedRowT]) -> list[IdentifiedRowT]:
        """Add rows that are new, and return them."""
        fresh: dict[str, IdentifiedRowT] = {}
        for row in rows:
            if self.index_of(row.row_id) is None:
                fresh.setdefault(row.row_id, row)
        self._loaded += fresh.values()
        self._loaded_ids += fresh
        self._indexes = None
        self.generation += 1
        return list(fresh.values())


class Lookup(Publisher[()]):
    """One query's pages; listeners are called after every change.

    A person waits for these reads: they go before polls, and are retried once after a temporary failure. An error is
    shown beside the rows read so far. A stopped or failed lookup continues with the page it did not get.
    """

    def __init__(self, client: ExchangeReader, query: Query, heard: Heard) -> None:
        """Prepare the lookup; `client` reads with a person's priority."""
        super().__init__()
        self.query = query
        self.rows = LoadedRows[Record]()
        self.state = LookupState.MORE
        self.error: FeedError | None = None
        self.undecodable_rows = 0
        self.pages = 0
        self.everything = False
        self.totals: Mapping[str, CoinTotal] = {}
        self.seen_precisions = SeenPrecisions()
        start, end = (query.stretch.start_ms, query.stretch.end_ms) if query.sent else (None, None)
        self._walk: PageWalk[Record] = client.walk(query.request, start_time=start, end_time=end)
        self._heard = heard
        self._oldest_ms: int | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def loading(self) -> bool:
        return self.state is LookupState.LOADING

    @property
    def at_the_end(self) -> bool:
        """Whether every row was read, or the maximum of rows."""
        return self.state in (LookupState.COMPLETE, LookupState.FULL)

    @property
    def part(self) -> float | None:
        """The fraction of the time span that was read, 0 to 1; None if not known or without a span."""
        if self.query.endpoint.time is None:
            return None
        if self.state is LookupState.COMPLETE:
            return 1.0
        start, end = self.query.stretch.start_ms, self.query.stretch.end_ms
        if start is None or end is None:
            return None
        reached = self._reached_ms
        if reached is None or end <= start:
            return 0.0
        return min(1.0, max(0.0, (end - reached) / (end - start)))

    @property
    def _reached_ms(self) -> int | None:
        """The time back to which everything was read: that of the oldest row, or the end of the next span."""
        following = getattr(self._walk.request, "end_time", None) if self.query.pieces > 1 else None
        known = [instant_ms for instant_ms in (self._oldest_ms, following) if instant_ms is not None]
        return min(known, default=None)

    def more(self) -> None:
        """Read the next page, unless the lookup is loading, finished, stopped or failed."""
        if self.state is LookupState.MORE:
            self._begin(everything=False)

    def go_on(self, *, everything: bool = False) -> None:
        """Read the next page, or all of them, also after a stop or a failure."""
        if not self.at_the_end and not self.loading:
            self._begin(everything=everything)

    def stop(self) -> None:
        """Stop reading; the page under way is dropped."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def close(self) -> None:
        """Stop, and wait until the read under way has ended."""
        self._listeners.clear()
        self.stop()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def _begin(self, *, everything: bool) -> None:
        self.everything = everything
        self.error = None
        self._say(LookupState.LOADING)
        self._task = asyncio.get_running_loop().create_task(self._load(everything), name="lookup")
        # Set here and not in the task, which may be stopped before its first step.
        self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            self._say(LookupState.STOPPED)

    async def _load(self, everything: bool) -> None:
        try:
            while (reply := await self._walk.next()) is not None:
                self._take(reply)
                if self._walk.over or self._full or (reply.count and not everything):
                    break
                self._say(LookupState.LOADING)
        except Exception as problem:
            self._heard(problem)
            self.error = FeedError.of(problem)
            if isinstance(problem, Busy | Unreachable | UnreadableReply | RateLimited):
                # For a feed this passes by itself, because its next poll retries; a lookup has no next poll.
                self.error = self.error._replace(remedy="")
            self._say(LookupState.FAILED)
        else:
            unfinished = LookupState.FULL if self._full else LookupState.MORE
            self._say(LookupState.COMPLETE if self._walk.over else unfinished)

    @property
    def _full(self) -> bool:
        return self.rows.count >= MOST_ROWS

    def _take(self, reply: Reply[Record]) -> None:
        self._heard(None)
        fresh = self.rows.add(reply.rows)
        self.pages += 1
        self.undecodable_rows += len(reply.undecodable_rows)
        self.totals = added(self.totals, fresh)
        self.seen_precisions.see((row.symbol, row.price_avg, row.size) for row in fresh if isinstance(row, SpotFill))
        name = self.query.endpoint.time_field
        moments = [moment for row in fresh if name is not None and (moment := getattr(row, name)) is not None]
        if moments:
            oldest = unix_ms(min(moments))
            self._oldest_ms = oldest if self._oldest_ms is None else min(oldest, self._oldest_ms)

    def _say(self, state: LookupState) -> None:
        self.state = state
        self._tell()

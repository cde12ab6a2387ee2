"""A lookup: pages of one reading endpoint, older and older, loaded as the user scrolls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tradetui.desk.feeds.polling.feed import FeedError
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
"""Rows a lookup holds; more are for a narrower question, or for `tradetui show --all`, which holds none."""
Heard = Callable[[Exception | None], None]
"""Called with every answer: the error, or None for a page."""


class LookupState(StrEnum):
    """How far a lookup is: `more` older rows may follow, `stopped` and `failed` can be gone on with.

    `full` is one that holds as many rows as it may.
    """

    LOADING = "loading"
    MORE = "more"
    COMPLETE = "complete"
    FULL = "full"
    STOPPED = "stopped"
    FAILED = "failed"


class LoadedRows(MemoryRows[IdentifiedRowT]):
    """Rows as they were loaded, newest first; older ones are added at the end and none is ever taken away."""

    def __init__(self) -> None:
        self._loaded: list[IdentifiedRowT] = []
        self._loaded_ids: list[str] = []
        super().__init__(self._loaded, self._loaded_ids, 0)

    def add(self, rows: Sequence[IdentifiedRowT]) -> list[IdentifiedRowT]:
        """Add the rows that are not there yet; they are what is returned."""
        fresh: dict[str, IdentifiedRowT] = {}
        for row in rows:
            if self.index_of(row.row_id) is None:
                fresh.setdefault(row.row_id, row)
        self._loaded += fresh.values()
        self._loaded_ids += fresh
        self._indexes = None
        self.generation += 1
        return list(fresh.values())


class Lookup:
    """One query's pages; listeners are called whenever something changed.

    Reads are a person's: they go before polls and are tried once more when what went wrong may pass. An error is a
    state beside the rows that are there, and what was stopped or failed goes on with the page it did not get.
    """

    def __init__(self, client: ExchangeReader, query: Query, heard: Heard) -> None:
        """Nothing is read yet. `client` is one that asks with a person's priority."""
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
        self._listeners: list[Callable[[], None]] = []

    @property
    def loading(self) -> bool:
        return self.state is LookupState.LOADING

    @property
    def at_the_end(self) -> bool:
        """Whether every row was read that there is, or that fits."""
        return self.state in (LookupState.COMPLETE, LookupState.FULL)

    @property
    def part(self) -> float | None:
        """The fraction of the stretch that was read, 0 to 1; None where it is not known or there is no stretch."""
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
        """The moment down to which everything was read: the oldest row's, or where the next piece begins."""
        following = getattr(self._walk.request, "end_time", None) if self.query.pieces > 1 else None
        known = [instant_ms for instant_ms in (self._oldest_ms, following) if instant_ms is not None]
        return min(known, default=None)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def more(self) -> None:
        """Read the next page, unless one is being read, everything was, or somebody has to say so first."""
        if self.state is LookupState.MORE:
            self._begin(everything=False)

    def go_on(self, *, everything: bool = False) -> None:
        """Read the next page, or all of them, after a stop or a failure too."""
        if not self.at_the_end and not self.loading:
            self._begin(everything=everything)

    def stop(self) -> None:
        """End the reading where it is; the page under way is not taken."""
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
        # Said here rather than in the task, which may be stopped before its first step.
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
                # It passes by itself for a feed, whose next turn is the retry, and does not here.
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
        for listener in tuple(self._listeners):
            listener()

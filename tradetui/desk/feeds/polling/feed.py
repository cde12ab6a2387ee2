"""Feeds: each reads one kind of record again and again, at its own pace, and publishes it as a snapshot.

A snapshot is a feed's state at one moment: immutable rows, their age and freshness, and the last error. A feed never
retries: its next poll is the retry. One scheduler gives all feeds their turns. It schedules a feed's next poll after
the last one has ended, so no two polls of a feed run at once. If the exchange answers no feed, only one feed asks at a
time, and less and less often.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from typing import Final, Generic, NamedTuple, Protocol, Self

from tradetui.desk.publisher import Publisher
from tradetui.desk.tables.rows.row_source import FeedRow, FeedRowT_co
from tradetui.exchange.clock import Clock
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.exchange.errors import EndpointMissing, ExchangeError, NotSent, Unreachable
from tradetui.wire.error_codes import CLASSIC_ACCOUNT, UNIFIED_ACCOUNT

STALE_INTERVALS, STALE_AT_LEAST_S = 2, 5.0
DEAD_INTERVALS, DEAD_AT_LEAST_S = 5, 15.0


class Freshness(StrEnum):
    LOADING = "loading"
    FRESH = "fresh"
    STALE = "stale"
    DEAD = "dead"

    @property
    def aged(self) -> bool:
        return self in (Freshness.STALE, Freshness.DEAD)


class StillReading(Exception):
    """No fault: more has to be read before anything can be shown; the message is the progress so far."""


class FeedError(NamedTuple):
    """Why the last read failed, in a sentence, and what to do about it."""

    sentence: str
    remedy: str
    code: str | None = None

    @property
    def of_account(self) -> bool:
        """Whether the exchange refuses the whole account, so that every feed fails alike."""
        return self.code == UNIFIED_ACCOUNT or self.code in CLASSIC_ACCOUNT

    @classmethod
    def of(cls, problem: Exception) -> FeedError:
        """Describe any exception of a read; an unexpected one is named by its type only."""
        if isinstance(problem, StillReading):
            return cls(str(problem), "", None)
        if isinstance(problem, ExchangeError):
            message = problem.message.strip().rstrip(".") or "no reason given"
            code = f" ({problem.code})" if problem.code else ""
            return cls(f"{problem.reason}: {message}{code}", problem.remedy or "", problem.code)
        return cls(f"The reply could not be processed: {type(problem).__name__}", "Please report it.", None)


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[FeedRowT_co]):
    """Rows of one feed. `generation` rises when a row changes.

    `read_at` is the time of the last good read in monotonic seconds, `server_ms` the exchange's time of that read.
    `undecodable_rows` counts unreadable rows; `note` is a remark on the rows.
    """

    rows: tuple[FeedRowT_co, ...] = ()
    row_ids: tuple[str, ...] = ()
    generation: int = 0
    read_at: float | None = None
    error: FeedError | None = None
    undecodable_rows: int = 0
    note: str = ""
    server_ms: int | None = None
    index: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, rows: tuple[FeedRowT_co, ...], generation: int) -> Self:
        row_ids = tuple(row.row_id for row in rows)
        return cls(rows, row_ids, generation, index={row_id: index for index, row_id in enumerate(row_ids)})

    @property
    def count(self) -> int:
        return len(self.rows)

    def row(self, index: int) -> FeedRowT_co:
        return self.rows[index]

    def row_id(self, index: int) -> str:
        return self.row_ids[index]

    def index_of(self, row_id: str) -> int | None:
        return self.index.get(row_id)

    def changed_since(self, before: Snapshot[FeedRow]) -> list[FeedRowT_co]:
        """Return the rows that are new or changed since an earlier snapshot, in order."""
        return [
            row
            for row in self.rows
            if (index := before.index.get(row.row_id)) is None
            or (before.rows[index] is not row and before.rows[index] != row)
        ]

    def read_like(self, other: Snapshot[FeedRow]) -> Self:
        """Return the same rows with the read time, errors and notes of the snapshot that they were made from."""
        return replace(
            self,
            read_at=other.read_at,
            server_ms=other.server_ms,
            error=other.error,
            undecodable_rows=other.undecodable_rows,
            note=other.note,
        )

    def age(self, now: float) -> float | None:
        """Return the seconds since the last good read; None before the first."""
        return None if self.read_at is None else max(0.0, now - self.read_at)

    def freshness(self, now: float, interval: float) -> Freshness:
        """Loading before the first read; stale after two intervals (5 s at least), dead after five (15 s at least)."""
        age = self.age(now)
        if age is None:
            return Freshness.LOADING
        if age > max(DEAD_INTERVALS * interval, DEAD_AT_LEAST_S):
            return Freshness.DEAD
        if age > max(STALE_INTERVALS * interval, STALE_AT_LEAST_S):
            return Freshness.STALE
        return Freshness.FRESH


HIDDEN_FACTOR: Final = 4.0
SHORTEST_PAUSE_S: Final = 0.1
JITTER: Final = 0.1
SLOWEST_ALONE_S: Final = 8.0
"""Longest pause of a feed that alone is refused; a feed with a longer interval keeps its interval."""
PROBE_FROM_S: Final = 1.0
PROBE_TO_S: Final = 60.0
"""Seconds between the reads of an exchange that refuses every feed: they double from the first to the second."""
UNREACHED_PROBE_TO_S: Final = 1.5
"""The same if no answer comes at all: no server is burdened, and a restored link is seen soon."""
MOST_INTERVALS_A_READ: Final = 3.0
"""Sessions that share a budget wait for each other. A wait up to this many intervals makes no rows stale."""
HEAD_START_S: Final = 1.0
"""Longest time that the other feeds wait for the one shown first."""
SHOWING_S: Final = 0.05
"""Time for the screen to show the first feed before the others begin."""


class Reading(NamedTuple, Generic[FeedRowT_co]):
    """The result of one poll: every row in order, and how many could not be read.

    If `error` is set, a part failed: the rows are the best known ones, but they do not count as read now. `server_ms`
    is the exchange's time of the oldest reply in it.
    """

    rows: Sequence[FeedRowT_co]
    undecodable_rows: int = 0
    note: str = ""
    error: Exception | None = None
    server_ms: int | None = None


class Reader(Protocol[FeedRowT_co]):
    """Reads one kind of record; keeps what it needs between polls."""

    async def read(self) -> Reading[FeedRowT_co]:
        """Read once; raises `ExchangeError`. Earlier results stay known then."""


class Feed(Publisher["Feed[FeedRow]"], Generic[FeedRowT_co]):
    def __init__(
        self,
        name: str,
        reader: Reader[FeedRowT_co],
        interval: float,
        clock: Clock,
        *,
        hidden_factor: float = HIDDEN_FACTOR,
    ) -> None:
        super().__init__()
        self.name = name
        self.hidden_factor = hidden_factor
        self.reader = reader
        self.interval = interval
        self.is_hidden = False
        """Whether its rows are out of view; then it is read less often."""
        self.snapshot: Snapshot[FeedRowT_co] = Snapshot()
        self.failures = 0
        self.problem: Exception | None = None
        """The error of the last read, whether of all rows or of a part."""
        self.probe_pause = 0.0
        """Seconds between the reads of an exchange that refuses every feed; 0 while it answers."""
        self.polling = False
        self._clock = clock
        self._took = 0.0
        self._wait_when_read = 0.0

    @property
    def wait(self) -> float:
        """Seconds from the start of one poll to the next, at the feed's pace."""
        return self.interval * (self.hidden_factor if self.is_hidden else 1.0)

    @property
    def cadence(self) -> float:
        """Expected seconds between good reads: the interval, or the duration of a read if that is longer.

        Rows that come into view are judged by their earlier pace until they are read at the new one.
        """
        return max(self.wait, self._wait_when_read, min(self._took, self.interval * MOST_INTERVALS_A_READ))

    @property
    def freshness(self) -> Freshness:
        return self.snapshot.freshness(self._clock.monotonic(), self.cadence)

    def pause(self, took: float, random: Random) -> float:
        """Return the seconds to pause after a poll that took `took` seconds.

        The pause is never shorter than the feed's pace asks for. After refusals it is longer, because the exchange
        locks out an address that does not slow down.
        """
        own_pause = self._own_pause * (1 - JITTER * random.random())
        return own_pause if self.failures else max(SHORTEST_PAUSE_S, own_pause - took)

    @property
    def _own_pause(self) -> float:
        if self.failures < 2 or isinstance(self.problem, Unreachable):
            return self.wait
        return max(self.wait, min(SLOWEST_ALONE_S, self.wait * 2.0 ** (self.failures - 1)))

    @property
    def longest_pause(self) -> float:
        """The longest time in seconds until the next read, as of the last poll."""
        return max(self._own_pause, self.probe_pause)

    async def poll(self) -> None:
        """Read once and publish; an error is published as a state beside the last good rows."""
        if self.polling:
            return
        self.polling = True
        began = self._clock.monotonic()
        try:
            reading = await self.reader.read()
        except Exception as problem:
            self.failures += 1
            self.problem = problem
            self.publish(replace(self.snapshot, error=FeedError.of(problem)))
        else:
            self.failures = self.failures + 1 if reading.error is not None else 0
            self.problem = reading.error
            self._took = self._clock.monotonic() - began
            self._wait_when_read = self.wait
            self.publish(self._taken(reading))
        finally:
            self.polling = False

    def publish(self, snapshot: Snapshot[FeedRowT_co]) -> None:
        self.snapshot = snapshot
        self._tell(self)

    def _taken(self, reading: Reading[FeedRowT_co]) -> Snapshot[FeedRowT_co]:
        before, rows = self.snapshot, tuple(reading.rows)
        snapshot = before if rows == before.rows else Snapshot.of(rows, before.generation + 1)
        partly = reading.error is not None
        return replace(
            snapshot,
            read_at=before.read_at if partly else self._clock.monotonic(),
            server_ms=before.server_ms if partly else reading.server_ms,
            error=FeedError.of(reading.error) if reading.error is not None else None,
            undecodable_rows=reading.undecodable_rows,
            note=reading.note,
        )


class _RefusingExchange:
    """Slows all feeds down together while the exchange answers none of them, and wakes them once it does.

    The exchange counts as refusing after two feeds were refused with no answer in between. From then on the refused
    feeds ask one at a time, after a pause that doubles with each refusal. The first rows of any feed end this for all.
    """

    def __init__(self, feeds: Collection[Feed[FeedRow]], link: ConnectionStatus) -> None:
        self._feeds = feeds
        self._link = link
        self._good = 0
        self._failed_before: dict[str, int] = {}
        """Failed calls when a feed's read began, by feed: several reads may fail before one of them is noted."""
        self._refused: dict[str, Feed[FeedRow]] = {}
        self._pause = 0.0
        self._probe_at = 0.0
        self._prober: Feed[FeedRow] | None = None
        self._changed = asyncio.Event()

    async def turn(self, feed: Feed[FeedRow]) -> None:
        """Wait until the feed may be read: at once while the exchange answers, else when it is the feed's turn."""
        loop = asyncio.get_running_loop()
        while feed.name in self._refused and self._pause:
            if self._prober is None and loop.time() >= self._probe_at:
                self._prober = feed
                break
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._probe_at if self._prober is None else None):
                    await self._changed.wait()
        self._failed_before[feed.name] = self._link.failed_calls

    def note(self, feed: Feed[FeedRow]) -> Collection[Feed[FeedRow]]:
        """Note the result of a read; return the feeds that are due because the exchange answers again."""
        if self._prober is feed:
            self._prober = None
        problem, link = feed.problem, self._link
        if link.good_replies > self._good:
            self._good = link.good_replies
            resumed = self._refused.values() if self._pause else ()
            self._refused = {}
            self._pause = 0.0
            for refused in resumed:
                refused.probe_pause = 0.0
            self._wake()
            return resumed
        # A feature that is switched off is refused without a call, and tells nothing new.
        has_failed = link.failed_calls > self._failed_before[feed.name]
        if has_failed and isinstance(problem, ExchangeError) and not isinstance(problem, EndpointMissing | NotSent):
            self._refused[feed.name] = feed
            if len(self._refused) >= min(2, len(self._feeds)):
                most = UNREACHED_PROBE_TO_S if isinstance(problem, Unreachable) else PROBE_TO_S
                now = asyncio.get_running_loop().time()
                if now >= self._probe_at:  # simultaneous failures count once
                    self._pause = min(most, max(PROBE_FROM_S, 2 * self._pause))
                    self._probe_at = now + self._pause
                for refused in self._refused.values():
                    refused.probe_pause = self._pause
        self._wake()
        return ()

    def ask_once(self) -> None:
        """Let one feed ask now, because a person wants to know."""
        self._probe_at = 0.0
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Scheduler:
    """Runs feeds until it is stopped. `random` spreads the polls over time, and `link` counts the calls.

    The feed named `first` is read before the others, because a person looks at it first. The others wait for it one
    second at most, and then until it had time to be shown.

    Pauses use the event loop's clock, which neither a change of the wall clock nor a suspended machine moves. After
    either, each feed has at most the one poll that was due.
    """

    def __init__(
        self,
        feeds: Iterable[Feed[FeedRow]],
        random: Random,
        link: ConnectionStatus,
        first: str | None = None,
    ) -> None:
        self._feeds = tuple(feeds)
        self._random = random
        self._wake = {feed.name: asyncio.Event() for feed in self._feeds}
        self._tasks: list[asyncio.Task[None]] = []
        self._first = first
        self._first_is_shown = asyncio.Event()
        self._exchange = _RefusingExchange(self._feeds, link)
        if first not in self._wake:
            self._first_is_shown.set()

    def start(self, names: Collection[str] | None = None) -> None:
        """Begin polling these feeds, or all; each is polled at once, or right after the first feed."""
        started = [feed for feed in self._feeds if names is None or feed.name in names]
        if all(feed.name != self._first for feed in started):
            self._first_is_shown.set()
        self._tasks = [asyncio.create_task(self._run(feed), name=f"feed {feed.name}") for feed in started]

    async def stop(self) -> None:
        """End polling; a call under way runs to its own end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    def poll_now(self, name: str | None = None) -> None:
        """Poll one feed, or all, at once; a feed that is reading reads once more after that.

        An exchange that refuses every feed is asked once.
        """
        self._exchange.ask_once()
        for feed in self._feeds:
            if name in (None, feed.name):
                self._wake[feed.name].set()

    def set_hidden(self, name: str, *, is_hidden: bool) -> None:
        """Slow a hidden feed down; poll one that comes into view at once."""
        for feed in self._feeds:
            if feed.name == name and feed.is_hidden is not is_hidden:
                feed.is_hidden = is_hidden
                if not is_hidden:
                    self._wake[name].set()

    async def first_shown(self) -> None:
        """Wait until the first feed was read and had time to be shown, or until a second has passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEAD_START_S):
                await self._first_is_shown.wait()

    async def _run(self, feed: Feed[FeedRow]) -> None:
        loop, wake = asyncio.get_running_loop(), self._wake[feed.name]
        if feed.name != self._first:
            await self.first_shown()
        while True:
            await self._exchange.turn(feed)
            began = loop.time()
            await feed.poll()
            for due in self._exchange.note(feed):
                if due is not feed:
                    self._wake[due.name].set()
            if feed.name == self._first and not self._first_is_shown.is_set():
                loop.call_later(SHOWING_S, self._first_is_shown.set)
            pause = feed.pause(loop.time() - began, self._random)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await wake.wait()
            wake.clear()

"""Snapshots, ages and errors of one feed, and when it is polled next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest

from tests.desk.fixtures.scripted_exchange import Clock
from tradetui.desk.feeds.polling.feed import (
    HEAD_START_S,
    SHOWING_S,
    Feed,
    Freshness,
    Reading,
    Scheduler,
    Snapshot,
)
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.exchange.errors import (
    AuthenticationFailed,
    Busy,
    PermissionRefused,
    RateLimited,
    Unreachable,
    UnreadableReply,
)
from tradetui.wire.product_types import ProductType


@dataclass(frozen=True)
class Row:
    """A row with a value that changes."""

    row_id: str
    value: str
    product_type: ProductType = ProductType.USDT_FUTURES


def rows(*texts: str) -> tuple[Row, ...]:
    """Rows of texts such as `a=1`."""
    return tuple(Row(row_id, value) for row_id, _, value in (text.partition("=") for text in texts))


class Script:
    """A reader that gives what the test says."""

    def __init__(self, *steps: Reading[Row] | Exception) -> None:
        self.steps = list(steps)
        self.reads = self.good = 0
        self.reading = 0
        self.takes = 0.0
        self.began: list[float] = []
        self.answer: Callable[[], Reading[Row] | Exception] | None = None

    async def read(self) -> Reading[Row]:
        self.reads += 1
        self.reading += 1
        assert self.reading == 1, "two polls at once"
        self.began.append(asyncio.get_running_loop().time())
        try:
            if self.takes:
                await asyncio.sleep(self.takes)
            step = self.answer() if self.answer else self.steps.pop(0)
            if isinstance(step, Exception):
                raise step
            self.good += 1
            return step
        finally:
            self.reading -= 1


async def test_equal_data_does_not_raise_the_generation_but_the_age_begins_anew() -> None:
    clock = Clock()
    script = Script(Reading(rows("a=1", "b=1")), Reading(rows("a=1", "b=1")), Reading(rows("a=2", "b=1")))
    feed = Feed("orders", script, 2.0, clock)
    await feed.poll()
    first = feed.snapshot
    clock.seconds += 2
    await feed.poll()
    assert feed.snapshot.generation == first.generation
    assert feed.snapshot.rows is first.rows
    assert feed.snapshot.read_at == clock.seconds
    await feed.poll()
    assert feed.snapshot.generation == first.generation + 1
    assert feed.snapshot.index_of("b") == 1
    assert feed.snapshot.index_of("c") is None
    assert feed.snapshot.row_id(0) == "a"


async def test_an_error_is_a_state_beside_the_last_good_rows() -> None:
    clock = Clock()
    problem = Unreachable("no connection", remedy="Check the network.")
    feed = Feed("orders", Script(Reading(rows("a=1"), undecodable_rows=1), problem, Reading(rows("a=1"))), 2.0, clock)
    heard: list[Snapshot[FeedRow]] = []
    feed.subscribe(lambda published: heard.append(published.snapshot))
    await feed.poll()
    read_at = feed.snapshot.read_at
    clock.seconds += 2
    await feed.poll()
    assert feed.snapshot.rows == rows("a=1")
    assert feed.snapshot.undecodable_rows == 1
    assert feed.snapshot.read_at == read_at
    assert feed.snapshot.error is not None
    assert feed.snapshot.error.sentence == "The exchange cannot be reached: no connection"
    assert feed.snapshot.error.remedy == "Check the network."
    await feed.poll()
    assert feed.snapshot.error is None
    assert len(heard) == 3


async def test_a_part_that_failed_shows_the_others_but_does_not_make_them_younger() -> None:
    clock = Clock()
    partly = Reading(rows("a=2"), error=AuthenticationFailed("no", code="40006"))
    feed = Feed("orders", Script(Reading(rows("a=1")), partly), 2.0, clock)
    await feed.poll()
    read_at = feed.snapshot.read_at
    clock.seconds += 2
    await feed.poll()
    assert feed.snapshot.rows == rows("a=2")
    assert feed.snapshot.read_at == read_at
    assert feed.snapshot.error is not None
    assert feed.failures == 1


@pytest.mark.parametrize(
    ("interval", "age", "state"),
    [
        (1.0, 4.9, Freshness.FRESH),
        (1.0, 5.1, Freshness.STALE),
        (1.0, 14.9, Freshness.STALE),
        (1.0, 15.1, Freshness.DEAD),
        (10.0, 19.9, Freshness.FRESH),
        (10.0, 20.1, Freshness.STALE),
        (10.0, 50.1, Freshness.DEAD),
    ],
)
async def test_stale_after_two_intervals_dead_after_five(interval: float, age: float, state: Freshness) -> None:
    clock = Clock()
    feed = Feed("x", Script(Reading(rows())), interval, clock)
    assert feed.freshness is Freshness.LOADING
    await feed.poll()
    clock.seconds += age
    assert feed.freshness is state


@pytest.mark.parametrize("partly", [False, True])
@pytest.mark.parametrize("is_hidden", [False, True])
@pytest.mark.parametrize("refusal", [RateLimited("too many"), Busy("no", code="45001"), UnreadableReply("a page")])
async def test_a_refused_feed_rests_for_longer_than_in_peace(refusal: Exception, is_hidden: bool, partly: bool) -> None:
    random = Random(1)
    script = Script(*[Reading(rows("a=1"), error=refusal) if partly else refusal] * 9, Reading(rows("a=1")))
    feed = Feed("orders", script, 2.0, Clock())
    feed.is_hidden = is_hidden
    for refused in range(1, 10):
        await feed.poll()
        pauses = [feed.pause(0.1, random) for _ in range(300)]
        rest = max(feed.wait, min(8.0, feed.wait * 2 ** (refused - 1)))
        assert rest * 0.9 <= min(pauses) and max(pauses) <= rest
    await feed.poll()
    assert feed.pause(0.1, random) <= feed.wait


class Refusing:
    """Several feeds of one exchange, which gives rows or one error to all of them; `began` is when each was read."""

    def __init__(self, intervals: Mapping[str, float]) -> None:
        self.error: Exception | None = None
        self.began: list[float] = []
        self.feeds = [Feed(name, self, interval, LoopClock(0)) for name, interval in intervals.items()]
        self.link = SimpleNamespace(good_replies=0, failed_calls=0)
        self.scheduler = Scheduler(self.feeds, Random(7), cast(ConnectionStatus, self.link))
        self.under_way = self.most_at_once = 0

    async def read(self) -> Reading[Row]:
        self.began.append(asyncio.get_running_loop().time())
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        await asyncio.sleep(0.2)
        self.under_way -= 1
        if self.error is not None:
            self.link.failed_calls += 1
            await asyncio.sleep(0)  # a reader waits for its other calls before it fails
            raise self.error
        self.link.good_replies += 1
        return Reading(rows("a=1"))

    async def count(self, seconds: float) -> int:
        before = len(self.began)
        await asyncio.sleep(seconds)
        return len(self.began) - before


FIVE_FEEDS = {"accounts": 5.0, "positions": 2.0, "orders": 2.0, "fills": 1.0, "triggers": 10.0}


@pytest.mark.looptime
@pytest.mark.parametrize(
    "refusal",
    [
        UnreadableReply("a firewall", http_status=403),
        Busy("HTTP status 520"),
        Busy("HTTP status 503"),
        Busy("no", code="45001"),
        Busy("no", code="40725"),
        RateLimited("too many"),
        AuthenticationFailed("no", code="40006"),
        PermissionRefused("no", code="40014"),
    ],
    ids=["403", "520", "503", "45001", "40725", "429", "40006", "40014"],
)
async def test_an_exchange_that_refuses_every_feed_is_asked_by_one_ever_less_often(refusal: Exception) -> None:
    exchange = Refusing(FIVE_FEEDS)
    exchange.scheduler.start()
    in_peace = await exchange.count(20)
    exchange.error = refusal
    await exchange.count(11)  # each feed is refused once, and then knows it
    exchange.most_at_once = 0
    refused = await exchange.count(20)
    assert refused <= 5 < in_peace / 4
    assert exchange.most_at_once == 1
    await exchange.count(600)
    assert await exchange.count(600) in (9, 10)
    for _ in range(3):
        exchange.scheduler.poll_now("positions")
    assert await exchange.count(0.1) == 1
    exchange.error = None
    exchange.scheduler.poll_now("positions")
    for feed, interval in zip(exchange.feeds, FIVE_FEEDS.values(), strict=True):
        assert feed.longest_pause >= interval
    await asyncio.sleep(1.0)
    exchange.scheduler.poll_now("positions")
    await asyncio.sleep(0.5)
    assert [feed.name for feed in exchange.feeds if feed.snapshot.error is not None] == []
    await exchange.count(20)
    assert await exchange.count(20) == pytest.approx(in_peace, abs=3)
    await exchange.scheduler.stop()


@pytest.mark.looptime
async def test_feeds_that_are_refused_at_the_same_moment_count_as_two() -> None:
    exchange = Refusing({"positions": 2.0, "orders": 2.0})
    exchange.error = Unreachable("no connection")
    exchange.scheduler.start()
    await asyncio.sleep(0.3)
    assert [feed.probe_pause > 0 for feed in exchange.feeds] == [True, True]
    await exchange.scheduler.stop()


@pytest.mark.looptime
async def test_after_an_outage_every_feed_is_read_at_the_first_answer() -> None:
    exchange = Refusing(FIVE_FEEDS)
    exchange.scheduler.start()
    await exchange.count(20)
    exchange.error = Unreachable("no connection")
    await exchange.count(300)
    exchange.error = None
    await exchange.count(2.0)
    assert [feed.name for feed in exchange.feeds if feed.snapshot.error is not None] == []
    await exchange.scheduler.stop()


@pytest.mark.looptime
async def test_one_feed_that_is_refused_slows_no_other() -> None:
    others = Refusing({"positions": 2.0, "orders": 2.0})
    alone = Script()

    def refuse() -> Busy:
        others.link.failed_calls += 1
        return Busy("no", code="45001")

    alone.answer = refuse
    refused = Feed("triggers", alone, 2.0, LoopClock(0))
    running = Scheduler((*others.feeds, refused), Random(7), cast(ConnectionStatus, others.link))
    running.start()
    assert await others.count(60) >= 58
    assert alone.reads <= 12
    await running.stop()


class ScriptedLink:
    """Counts the calls of scripts, each of whose reads is one."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self._scripts = scripts

    @property
    def good_replies(self) -> int:
        return sum(script.good for script in self._scripts)

    @property
    def failed_calls(self) -> int:
        return sum(script.reads - script.good for script in self._scripts)


def scheduler(*feeds: Feed[Row], first: str | None = None) -> Scheduler:
    link = ScriptedLink([cast(Script, feed.reader) for feed in feeds])
    return Scheduler(feeds, Random(7), cast(ConnectionStatus, link), first)


@pytest.mark.looptime
async def test_polls_keep_the_interval_and_are_armed_after_the_last_ended() -> None:
    script = Script()
    script.answer = lambda: Reading(rows("a=1"))
    script.takes = 0.3
    feed = Feed("x", script, 2.0, Clock())
    running = scheduler(feed)
    running.start()
    await asyncio.sleep(60)
    await running.stop()
    assert 30 <= script.reads <= 35
    gaps = [later - earlier for earlier, later in zip(script.began, script.began[1:], strict=False)]
    assert all(1.79 <= gap <= 2.01 for gap in gaps)


@pytest.mark.looptime
async def test_a_read_longer_than_the_interval_is_never_overtaken_and_brings_no_burst() -> None:
    script = Script()
    script.answer = lambda: Reading(rows("a=1"))
    script.takes = 7.0
    feed = Feed("x", script, 2.0, Clock())
    running = scheduler(feed)
    running.start()
    await asyncio.sleep(30)
    script.takes = 0.1
    await asyncio.sleep(30)
    await running.stop()
    gaps = [later - earlier for earlier, later in zip(script.began, script.began[1:], strict=False)]
    assert min(gaps) >= 1.79


@pytest.mark.looptime
async def test_live_again_within_two_intervals_of_the_cause_going() -> None:
    for interval in (1.0, 2.0, 5.0, 10.0):
        script = Script()
        script.answer = lambda: Unreachable("no connection")
        script.takes = 0.05
        feed = Feed("x", script, interval, Clock())
        running = scheduler(feed)
        running.start()
        await asyncio.sleep(600)
        assert script.reads < 600 / 0.5
        script.answer = lambda: Reading(rows("a=1"))
        await asyncio.sleep(2 * interval)
        assert feed.snapshot.error is None, interval
        await running.stop()


@pytest.mark.looptime
async def test_hidden_slows_down_shown_again_is_at_once_and_poll_now_is_once() -> None:
    script = Script()
    script.answer = lambda: Reading(rows("a=1"))
    feed = Feed("x", script, 1.0, Clock())
    running = scheduler(feed)
    running.start()
    running.set_hidden("x", is_hidden=True)
    await asyncio.sleep(40.5)
    assert 10 <= script.reads <= 14
    before = script.reads
    running.set_hidden("x", is_hidden=False)
    await asyncio.sleep(0.01)
    assert script.reads == before + 1
    for _ in range(20):
        running.poll_now("x")
    await asyncio.sleep(0.01)
    assert script.reads == before + 2
    running.poll_now("another")
    running.poll_now()
    await asyncio.sleep(0.01)
    assert script.reads == before + 3
    await running.stop()


@pytest.mark.looptime
async def test_rows_that_come_into_view_are_judged_by_the_pace_they_were_read_at() -> None:
    script = Script()
    script.answer = lambda: Reading(rows("a=1"))
    feed = Feed("x", script, 5.0, LoopClock(0))
    running = scheduler(feed)
    running.start()
    running.set_hidden("x", is_hidden=True)
    await asyncio.sleep(60)
    age = feed.snapshot.age(asyncio.get_running_loop().time()) or 0.0
    await asyncio.sleep(18 - age)
    script.takes = 1.0
    running.set_hidden("x", is_hidden=False)
    await asyncio.sleep(0.5)
    assert not feed.freshness.aged, "nothing was due for 20 s, and it is being read"
    await asyncio.sleep(1)
    script.takes = 100.0
    await asyncio.sleep(15)
    assert feed.freshness.aged, "read at the new pace once, it is judged by that"
    await running.stop()


@pytest.mark.looptime
async def test_the_first_is_read_before_the_others_which_wait_only_so_long() -> None:
    for takes, begins in ((0.1, 0.1 + SHOWING_S), (5.0, HEAD_START_S)):
        scripts = {name: Script() for name in ("accounts", "positions")}
        for script in scripts.values():
            script.answer = lambda: Reading(rows("a=1"))
        scripts["positions"].takes = takes
        feeds = [Feed(name, script, 2.0, LoopClock(0)) for name, script in scripts.items()]
        running = scheduler(*feeds, first="positions")
        now = asyncio.get_running_loop().time()
        running.start()
        await asyncio.sleep(2 * HEAD_START_S)
        await running.stop()
        assert scripts["accounts"].began[0] - now == pytest.approx(begins)


@pytest.mark.looptime
async def test_a_step_of_the_clock_brings_no_burst() -> None:
    script = Script()
    script.answer = lambda: Reading(rows("a=1"))
    clock = Clock()
    feed = Feed("x", script, 1.0, clock)
    running = scheduler(feed)
    running.start()
    await asyncio.sleep(10)
    before = script.reads
    for step in (3_600_000, -7_200_000):
        clock.now_ms += step
        await asyncio.sleep(5)
    await running.stop()
    assert script.reads - before <= 12


@pytest.mark.looptime
async def test_one_feed_down_takes_nothing_from_the_others() -> None:
    down, well = Script(), Script()
    down.answer = lambda: Unreachable("no connection")
    well.answer = lambda: Reading(rows("a=1"))
    running = scheduler(Feed("down", down, 1.0, Clock()), Feed("well", well, 1.0, Clock()))
    running.start()
    await asyncio.sleep(30)
    await running.stop()
    assert well.reads >= 30


@pytest.mark.looptime
async def test_reads_that_wait_for_a_shared_budget_make_nothing_stale_up_to_three_intervals() -> None:
    script = Script()
    script.answer = lambda: Reading(rows("a=1"))
    feed = Feed("positions", script, 2.0, LoopClock(0))
    script.takes = 6.0
    await feed.poll()
    await asyncio.sleep(11.9)
    states = [feed.freshness]
    await asyncio.sleep(0.2)
    assert [*states, feed.freshness] == [Freshness.FRESH, Freshness.STALE]
    script.takes = 60.0
    await feed.poll()
    assert feed.cadence == 6.0


async def test_a_listener_that_fails_ends_neither_the_feed_nor_the_others() -> None:
    feed = Feed("orders", Script(Reading(rows("a=1")), Reading(rows("a=2"))), 2.0, Clock())
    heard: list[int] = []

    def fail(_: object) -> None:
        raise LookupError("no widget of that name")

    feed.subscribe(fail)
    feed.subscribe(lambda published: heard.append(published.snapshot.generation))
    await feed.poll()
    await feed.poll()
    assert len(heard) == 2


@pytest.mark.looptime
@pytest.mark.timeout(20)
@pytest.mark.parametrize("first", [None, "positions"])
async def test_a_stop_in_the_moment_a_wait_ends_is_not_lost(first: str | None) -> None:
    scripts = {name: Script() for name in ("positions", "orders")}
    for script in scripts.values():
        script.answer = lambda: Reading(rows())
    feeds = [Feed(name, script, 2.0, LoopClock(0)) for name, script in scripts.items()]
    running = scheduler(*feeds, first=first)
    read = asyncio.Event()
    feeds[0].subscribe(lambda _: read.set())
    running.start()
    await read.wait()
    running.poll_now()
    await running.stop()
    reads = [script.reads for script in scripts.values()]
    await asyncio.sleep(60)
    assert [script.reads for script in scripts.values()] == reads

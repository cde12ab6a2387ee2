"""Snapshots, ages and errors of one feed, and when it is polled next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pytest

from tests.desk.fixtures.scripted_exchange import Clock
from tradetui.desk.feeds.polling.feed import HEAD_START_S, SHOWING_S, Feed, Freshness, Reading, Scheduler, Snapshot
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.errors import AuthenticationFailed, RateLimited, Unreachable
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
        self.reads = 0
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


def test_after_failures_the_pause_grows_but_never_beyond_half_an_interval() -> None:
    random = Random(1)
    feed = Feed("triggers", Script(), 10.0, Clock())
    for failures, ceiling in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (5, 5.0), (60, 5.0)):
        feed.failures = failures
        pauses = [feed.pause(3.0, random) for _ in range(300)]
        assert min(pauses) >= 0.5 and max(pauses) <= ceiling
        assert max(pauses) > ceiling * 0.9
    slow = Feed("slow", Script(), 3_600.0, Clock())
    slow.failures = 50
    assert max(slow.pause(0.0, random) for _ in range(300)) <= 30.0


@pytest.mark.parametrize("partly", [False, True])
@pytest.mark.parametrize("is_hidden", [False, True])
async def test_after_refusals_for_too_many_calls_it_rests_for_longer_than_in_peace(
    is_hidden: bool, partly: bool
) -> None:
    random = Random(1)
    refusal = RateLimited("too many")
    script = Script(*[Reading(rows("a=1"), error=refusal) if partly else refusal] * 9, Reading(rows("a=1")))
    feed = Feed("orders", script, 2.0, Clock())
    feed.is_hidden = is_hidden
    for refused in range(1, 10):
        await feed.poll()
        pauses = [feed.pause(0.1, random) for _ in range(300)]
        rest = feed.wait if refused == 1 else max(feed.wait, 4.0)
        assert rest * 0.9 <= min(pauses) and max(pauses) <= rest
    await feed.poll()
    assert feed.pause(0.1, random) <= feed.wait


def scheduler(*feeds: Feed[Row]) -> Scheduler:
    return Scheduler(feeds, Random(7))


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
        running = Scheduler(feeds, Random(7), first="positions")
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
    scheduler = Scheduler(feeds, Random(1), first=first)
    read = asyncio.Event()
    feeds[0].subscribe(lambda _: read.set())
    scheduler.start()
    await read.wait()
    scheduler.poll_now()
    await scheduler.stop()
    reads = [script.reads for script in scripts.values()]
    await asyncio.sleep(60)
    assert [script.reads for script in scripts.values()] == reads

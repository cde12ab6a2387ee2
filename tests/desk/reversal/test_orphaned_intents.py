"""What a dead process left behind is taken up at once; who lives, or cannot be judged, has 35 s that no clock steps."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pytest

from tests.whole.reversal.reversal_session import SYMBOL, USDT, another_session, scene, session
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.registered_journal import JournalLocation, open_journal
from tradetui.desk.intents.states import Intent, State
from tradetui.desk.reversal import intent_watch
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.sending import KIND
from tradetui.desk.reversal.tracking.outcome_tracker import OutcomeTracker
from tradetui.exchange.clock import LoopClock, Moment
from tradetui.exchange.errors import NotSent
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.gateway.faults import ConnectionDropped
from tradetui.storage.disk_thread import InlineDisk
from tradetui.storage.process_life import ProcessLives
from tradetui.wire.enums import Side

P = ParamSpec("P")
T = TypeVar("T")
pytestmark = pytest.mark.looptime
START_MS = 1_790_000_000_000
SCOPE = f"{USDT}|{SYMBOL}"


@pytest.fixture
def location(tmp_path: Path) -> JournalLocation:
    return JournalLocation(
        tmp_path / "account" / "journal.sqlite",
        tmp_path / "state" / "registry.sqlite",
        ("uid",),
        alive_dir=tmp_path / "alive",
    )


def left(location: JournalLocation, lives: ProcessLives | None, boot: str, *states: State) -> None:
    """Another process's intent, as far as it came."""
    journal = open_journal(location, lives)
    journal.check()
    moment = Moment(START_MS + 3_600_000, boot, asyncio.get_running_loop().time())  # its wall clock was an hour ahead
    journal.begin("tt-0", "uid", SCOPE, KIND, {}, moment)
    for state in states:
        journal.step("tt-0", state, {}, moment)
    journal.close()


def die(lives: ProcessLives) -> None:
    """Drop the lock as the system does when a process ends."""
    assert lives._descriptor is not None
    os.close(lives._descriptor)


async def intents_of(location: JournalLocation) -> Intents:
    intents = Intents(None, InlineDisk(), LoopClock(START_MS), "", lambda: "tt-1", start_locked=False)
    assert await intents.open("uid", location), intents.trouble
    return intents


async def waited(intents: Intents) -> float:
    """Seconds until the intent is given up."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await intents.once_left_behind(await intents.read("tt-0"))
    return loop.time() - begun


@pytest.mark.parametrize("states", [(), (State.SENT,)])
async def test_a_dead_processs_is_given_up_at_once_whatever_its_clock_said(
    location: JournalLocation, states: tuple[State, ...]
) -> None:
    assert location.alive_dir is not None
    lives = ProcessLives(location.alive_dir, "dies")
    left(location, lives, "virtual", *states)
    die(lives)
    assert await waited(await intents_of(location)) == 0


@pytest.mark.parametrize(("dies", "shown"), [(True, State.UNKNOWN), (False, State.SENT)])
async def test_what_a_dead_process_sent_is_unknown_before_the_journal_is_opened(
    location: JournalLocation, dies: bool, shown: State
) -> None:
    assert location.alive_dir is not None
    lives = ProcessLives(location.alive_dir, "dies")
    left(location, lives, "virtual", State.SENT)
    if dies:
        die(lives)
    intents = Intents(None, InlineDisk(), LoopClock(START_MS), "", lambda: "tt-1", start_locked=False)
    await intents.look_ahead(location)
    assert intents.open_scopes.names() == ((SYMBOL, shown, ""),)
    assert await intents.open("uid", location), intents.trouble
    assert intents.open_scopes.names() == ((SYMBOL, shown, ""),)


async def test_what_another_boot_left_is_given_up_at_once(location: JournalLocation) -> None:
    assert location.alive_dir is not None
    left(location, ProcessLives(location.alive_dir, "lives"), "another")
    assert await waited(await intents_of(location)) == 0


@pytest.mark.parametrize(("boot", "ran_before_s"), [("virtual", 20.0), ("", 0.0)])
@pytest.mark.parametrize("lives", [True, False], ids=["alive", "cannot be judged"])
async def test_anybody_else_has_35_seconds_of_a_clock_that_never_steps(
    location: JournalLocation, boot: str, ran_before_s: float, lives: bool
) -> None:
    assert location.alive_dir is not None
    left(location, ProcessLives(location.alive_dir, "lives") if lives else None, boot)
    await asyncio.sleep(20)
    assert 35 - ran_before_s <= await waited(await intents_of(location)) < 36 - ran_before_s


async def test_events_of_one_number_in_two_journals_are_two_events(location: JournalLocation) -> None:
    assert location.file is not None
    former = location._replace(file=location.file.parent.parent / "former" / "journal.sqlite")
    left(former, None, "", State.SENT, State.UNKNOWN)
    assert former.file is not None
    intents = await intents_of(location._replace(former_files=(former.file,)))
    await asyncio.sleep(60)
    assert intents.writers.elapsed_s((await intents.read("tt-0")).events[-1]) == 60
    await intents.step("tt-0", State.RELEASED, {})
    await intents.begin("tt-1", SCOPE, KIND, {})
    await intents.step("tt-1", State.SENT, {})
    await intents.step("tt-1", State.UNKNOWN, {})
    await intents.refresh()
    former_event, own_event = (await intents.read("tt-0")).events[2], (await intents.read("tt-1")).events[2]
    assert former_event.number == own_event.number
    assert intents.writers.elapsed_s(own_event) == 0


async def test_a_living_processs_sent_step_fails_once_it_was_withdrawn(location: JournalLocation) -> None:
    one, two = await intents_of(location), await intents_of(location)
    await one.begin("tt-0", SCOPE, KIND, {})
    await two.step("tt-0", State.WITHDRAWN, {"why": "it was left behind"})
    with pytest.raises(NotSent, match="another session has withdrawn it"):
        await one.about_to_send("tt-0", {"stamp_ms": 1})
    await two.refresh()
    assert not two.unsettled()


@pytest.mark.parametrize("last_word", [State.UNKNOWN, State.ACKNOWLEDGED])
async def test_the_call_of_a_process_taken_for_dead_ends_when_it_says_so_itself(
    location: JournalLocation, last_word: State
) -> None:
    sender, other = await intents_of(location), await intents_of(location)
    await sender.begin("tt-0", SCOPE, KIND, {})
    await sender.step("tt-0", State.SENT, {"stamp_ms": 1})
    await other.step("tt-0", State.UNKNOWN, {"why": "its lock file was not to be seen"})
    await asyncio.sleep(10)
    await sender.step("tt-0", last_word, {})
    await asyncio.sleep(30)
    async with scene() as on:
        tracker = OutcomeTracker(on.execution._reads, on.execution._market_state, other, LoopClock(START_MS))
        assert tracker.waited_s(await other.read("tt-0")) == 30


async def test_a_living_senders_call_is_not_absent_35_seconds_after_another_took_it_for_dead(
    location: JournalLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Intents, "is_left_behind", _always)
    async with scene() as on, session(on, location) as sender, session(on, location) as other:
        on.hold(long="2")
        lost_after(monkeypatch, 8.0)
        preview = await sender.preview(Target(SYMBOL, USDT, Side.BUY))
        confirming = asyncio.create_task(sender.confirm(preview, preview.subject))
        await asyncio.sleep(4)
        assert other.intents.unsettled()
        sent = await confirming
        ended_s = asyncio.get_running_loop().time()
        async for _ in sender.follow(sent):
            pass
        steps = (await other.intents.read(sent.intent)).events
        assert [step.state for step in steps[1:]] == [State.SENT, State.UNKNOWN, State.UNKNOWN, State.SETTLED]
        assert steps[-3].monotonic_s < ended_s - 5, "nobody took the sender for dead while its call went on"
        assert steps[-1].monotonic_s >= ended_s + 35


def lost_after(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """A POST never arrives, and its connection breaks after so long."""
    right = Sandbox.__call__

    async def wrong(self: Sandbox, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            await right(self, scope, receive, send)
            return
        await asyncio.sleep(seconds)
        raise ConnectionDropped("lost")

    patch.setattr(Sandbox, "__call__", wrong)


async def _always(self: Intents, intent: Intent) -> bool:
    return True


PLANNED = {
    "request": {"symbol": SYMBOL, "productType": str(USDT), "marginCoin": "USDT", "side": "buy", "tradeSide": "Open"},
    "title": "Reverse BTCUSDT LONG",
    "before": {"long": "1", "short": "0"},
    "after": [{"long": "0", "short": "1"}],
    "mode": "hedge_mode",
    "newest_fill": None,
}


class LateDisk(InlineDisk):
    """Work is done at once, and two seconds go by until it is known."""

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        finally:
            await asyncio.sleep(2)


@pytest.mark.parametrize("after_s", [step / 4 for step in range(37, 60, 2)])
async def test_what_was_sent_meanwhile_is_not_withdrawn_as_intended(location: JournalLocation, after_s: float) -> None:
    assert location.alive_dir is not None
    lives = ProcessLives(location.alive_dir, "dies")
    sending = open_journal(location, lives)
    sending.check()
    sending.begin("tt-0", "uid", SCOPE, KIND, PLANNED, Moment(START_MS, "virtual", 0.0))
    async with scene() as on:
        execution = another_session(on, LateDisk())
        opening = asyncio.create_task(execution.open_journal(on.uid, location))
        await asyncio.sleep(after_s)
        sending.step("tt-0", State.SENT, {"stamp_ms": START_MS}, Moment(START_MS, "virtual", after_s))
        sending.close()
        die(lives)
        await opening
        await asyncio.sleep(60)
        written = [event.state for event in (await execution.intents.read("tt-0")).events]
        assert written[:3] == [State.INTENDED, State.SENT, State.UNKNOWN], written
        await execution.stop()


async def test_a_session_withdraws_what_a_dead_process_only_intended_within_a_second(location: JournalLocation) -> None:
    assert location.alive_dir is not None
    lives = ProcessLives(location.alive_dir, "dies")
    left(location, lives, "virtual")
    die(lives)
    async with scene() as on:
        execution = another_session(on, InlineDisk())
        await execution.open_journal(on.uid, location)
        await asyncio.sleep(1)
        assert not execution.intents.unsettled()
        assert (await execution.intents.read("tt-0")).state is State.WITHDRAWN
        await execution.stop()


async def test_without_its_registry_nothing_is_begun(
    location: JournalLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tradetui.desk.intents.journal.journal_registry import Registry
    from tradetui.desk.intents.states import Withheld

    intents = await intents_of(location)

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Registry, "reserve", full)
    with pytest.raises(Withheld, match="full"):
        await intents.begin("tt-0", SCOPE, KIND, {})


async def test_a_step_that_keeps_failing_is_tried_ever_more_seldom_and_each_reason_is_logged_once(
    location: JournalLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(intent_watch._log, "warning", lambda _, reason: logged.append(reason))
    async with scene() as on:
        execution, tried = another_session(on, InlineDisk()), list[float]()
        intents = execution.intents
        assert await intents.open(on.uid, location)
        reason = "disk I/O error"

        async def fails() -> list[Intent]:
            tried.append(on.client.clock.monotonic())
            raise sqlite3.OperationalError(reason)

        right = intents.newest
        monkeypatch.setattr(intents, "newest", fails)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(execution._watch.run())
            await asyncio.sleep(300)
            assert len(tried) <= 16, "0.7 s, 1.4 s … 30 s"
            assert logged == ["OperationalError: disk I/O error"]
            reason = "database is locked"
            await asyncio.sleep(120)
            assert logged[1:] == ["OperationalError: database is locked"]
            monkeypatch.setattr(intents, "newest", right)
            await asyncio.sleep(31)
            before = len(tried)
            await asyncio.sleep(120)
            assert len(tried) == before and not execution._watch._failures
            watching.cancel()

"""What comes while a session stops is still delivered; what comes after it begins nothing that stays."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from tests.desk.events.test_alert_log import LOST, Session, two_sessions
from tests.desk.fixtures.desk_simulation import START_MS, Simulation
from tests.whole.reversal.reversal_session import SYMBOL, USDT, scene
from tradetui.desk.account.account_storage import archive_file
from tradetui.desk.archive.database import Archive
from tradetui.desk.desk import Desk
from tradetui.desk.events.delivery import AlertLog
from tradetui.desk.events.rules import AlertSettings
from tradetui.desk.lookup.lookup import Lookup
from tradetui.desk.lookup.query import check_query
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Aftermath, Sent, sent_of
from tradetui.desk.tables.table import LOOKUPS
from tradetui.desk.task_groups import BackgroundTasks
from tradetui.exchange.clock import LoopClock
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime


async def left_running() -> set[str]:
    """Tasks beside the test's own that do not end within a second."""
    await asyncio.sleep(1)
    return {repr(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()}


def begin_lookup(desk: Desk) -> Lookup:
    query = check_query(LOOKUPS["spot-fills"].endpoint, {}, desk.lookups.now_ms).query
    assert query is not None
    return desk.lookups.begin("spot-fills", query)


async def test_an_alert_that_comes_right_before_the_stop_is_delivered() -> None:
    session = Session("only", LoopClock(START_MS))
    session.lose_link()
    await session.alerts.stop()
    assert (len(session.delivered), len(session.ran)) == (1, 1)


async def test_an_alert_that_falls_to_a_session_that_does_not_see_it_is_delivered_all_the_same(tmp_path: Path) -> None:
    _, first, _ = await two_sessions(tmp_path / "archive.sqlite")
    first.lose_link()
    await first.alerts.stop()
    assert (len(first.delivered), len(first.ran)) == (1, 1)


async def test_what_a_stopping_part_of_the_desk_makes_known_is_delivered_and_logged(tmp_path: Path) -> None:
    simulation = Simulation(seed=1, fills=50, alerts=AlertSettings(rules=(LOST,)), data_dir=tmp_path)
    desk, delivered = simulation.desk, list[str]()
    desk.alerts.delivery.desktop = delivered.append
    desk.start()
    await asyncio.sleep(10)
    desk._trading = Outcome(desk)  # type: ignore[assignment]
    await desk.stop()
    assert delivered == ['This is a test of the alert "link": nothing has happened']
    assert desk.account is not None
    log = AlertLog(Archive(archive_file(desk.settings, desk.account)), "another").newest()
    assert ["desktop: sent" in alert.delivery for alert in log] == [True]


class Outcome:
    """Stands for the reversals of a session: one of them ends while they are stopped."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def stop(self) -> None:
        await asyncio.sleep(0.1)
        self._desk.alerts.test(LOST)


async def test_a_task_begun_after_the_stop_takes_no_step() -> None:
    tasks, steps = BackgroundTasks(), list[int]()

    async def work() -> None:
        steps.append(1)
        await asyncio.Event().wait()

    tasks.begin(work())
    await asyncio.sleep(0)
    await tasks.stop()
    task = tasks.begin(work())
    assert not await left_running()
    assert task.cancelled() and steps == [1]


async def test_nothing_begins_anew_in_a_desk_that_was_stopped() -> None:
    simulation = Simulation(seed=1, fills=50, alerts=AlertSettings(rules=(LOST,)))
    desk = simulation.desk
    desk.start()
    await asyncio.sleep(10)
    begin_lookup(desk)
    await desk.stop()
    desk.scheduler.poll_now()
    desk.alerts.test(LOST)
    desk.alerts.delivery.typed()
    for feed in desk.feeds.values():
        feed.publish(feed.snapshot)
    begin_lookup(desk).go_on()
    assert not await left_running()


async def test_an_archive_that_cannot_be_closed_leaves_neither_disk_nor_client_open(tmp_path: Path) -> None:
    simulation = Simulation(seed=1, fills=50, data_dir=tmp_path)
    desk, closed = simulation.desk, list[str]()
    desk.start()
    await asyncio.sleep(10)
    assert desk.archive is not None
    desk.archive.close = fails_to_close  # type: ignore[method-assign]
    desk.disk.close = lambda: closed.append("disk")  # type: ignore[method-assign]
    close_client = desk.client.aclose

    async def closing() -> None:
        closed.append("client")
        await close_client()

    desk.client.aclose = closing  # type: ignore[method-assign]
    with pytest.raises(sqlite3.OperationalError):
        await desk.stop()
    assert closed == ["disk", "client"]


def fails_to_close() -> None:
    raise sqlite3.OperationalError("disk I/O error")


async def test_an_end_that_is_in_the_journal_is_published_though_the_session_stops_in_between() -> None:
    async with scene() as on:
        on.hold(long="2")
        execution, stages = on.execution, list[SearchStage]()
        execution.followed.subscribe(lambda _, progress: stages.append(progress.stage))
        reading = asyncio.Event()

        async def aftermath(*_: object) -> Aftermath:
            reading.set()
            await asyncio.Event().wait()
            raise AssertionError("it was to be cancelled")

        execution._market_state.read_aftermath = aftermath  # type: ignore[method-assign, assignment]
        preview = await execution.preview(Target(SYMBOL, USDT, Side.BUY))
        await execution.confirm(preview, preview.subject)
        await reading.wait()
        await execution.stop()
        assert stages[-1] is SearchStage.ENDED


async def updates_of(execution: Execution, sent: Sent) -> None:
    async for _ in execution.follow(sent):
        pass


async def test_no_reversal_is_confirmed_or_followed_after_the_stop() -> None:
    async with scene() as on:
        on.hold(long="2")
        execution = on.execution
        preview = await execution.preview(Target(SYMBOL, USDT, Side.BUY))
        sent = await execution.confirm(preview, preview.subject)
        await execution.stop()
        again = sent_of(await execution.intents.read(sent.intent))
        following = asyncio.create_task(updates_of(execution, again))
        with pytest.raises(NotConfirmed):
            await execution.confirm(preview, preview.subject)
        assert not await left_running()
        assert following.done() and on.posts == 1

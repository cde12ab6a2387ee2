"""One desk is open at a time: nothing of it is heard after it was closed, and its stopping is waited for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.app import ComposeResult

from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnFewRows, newest_message
from tradetui.desk.desk import Desk
from tradetui.ui.application import app
from tradetui.ui.application.app import OpenDesk, _stop_once_built
from tradetui.ui.header.header_bar import QUIET_SECONDS, HeaderBar
from tradetui.ui.money.money_screen import MoneyScreen
from tradetui.ui.records.lookup_screen import LookupScreen

pytestmark = pytest.mark.looptime


class Publisher:
    """Calls its listeners, as desk, alerts and delivery do."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[Any], None]] = []

    def subscribe(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def publish(self, event: str) -> None:
        for listener in self.listeners:
            listener(event)


class StoppableDesk(Publisher):
    """A desk that stops once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.alerts = Publisher()
        self.delivery = Publisher()
        self.alerts.delivery = self.delivery  # type: ignore[attr-defined]
        self.may_stop = asyncio.Event()
        self.stopped = False

    async def stop(self) -> None:
        await self.may_stop.wait()
        self.stopped = True


def opened(heard: list[str]) -> tuple[OpenDesk, StoppableDesk]:
    holder, desk = OpenDesk(), StoppableDesk()
    notices = SimpleNamespace(show_on_desktop=heard.append, say_failure=heard.append)
    follow = cast(Any, holder.follow)
    follow(desk, lambda _: notices, published=heard.append, alerted=heard.append)
    return holder, desk


async def test_what_the_desk_publishes_alerts_and_fails_to_deliver_is_heard_until_it_is_closed() -> None:
    heard: list[str] = []
    holder, desk = opened(heard)
    publishers = {"rows": desk, "alert": desk.alerts, "failure": desk.delivery}
    for event, publisher in publishers.items():
        publisher.publish(event)
    assert heard == ["rows", "alert", "failure"]
    assert cast(Any, desk.delivery).desktop == heard.append
    desk.may_stop.set()
    await holder.close()
    for event, publisher in publishers.items():
        publisher.publish(event)
    assert heard == ["rows", "alert", "failure"]
    assert holder.desk is None and holder.alert_notices is None


async def test_whoever_closes_again_waits_for_a_stopping_that_an_earlier_caller_left() -> None:
    holder, desk = opened([])
    earlier = asyncio.create_task(holder.close())
    await asyncio.sleep(1)
    assert holder.desk is None, "a desk that stops is open no more"
    earlier.cancel()
    later = asyncio.create_task(holder.close())
    await asyncio.sleep(1)
    assert earlier.cancelled() and not later.done() and not desk.stopped
    desk.may_stop.set()
    await later
    assert desk.stopped


async def test_a_desk_that_nobody_waits_for_any_more_is_stopped_once_it_is_built() -> None:
    may_build, desk, holder = threading.Event(), StoppableDesk(), OpenDesk()
    desk.may_stop.set()

    def build() -> Any:
        may_build.wait(20)
        return desk

    opening = asyncio.create_task(holder.build(build))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await holder.close()
    assert not desk.stopped, "another profile is opened without waiting for it"
    may_build.set()
    await asyncio.gather(*holder._left_behind)
    assert desk.stopped and holder.desk is None


@pytest.mark.parametrize("stop_fails", [False, True])
@pytest.mark.parametrize(("owner", "name"), [(Desk, "subscribe"), (app, "ALERT_NOTICES")], ids=["rows", "notices"])
async def test_a_desk_that_cannot_be_followed_is_stopped_and_the_reason_is_shown(
    owner: object, name: str, stop_fails: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def unable(*_: object) -> None:
        raise RuntimeError("nobody can listen")

    stopped: list[Desk] = []
    stop = Desk.stop

    async def stop_and_note(self: Desk) -> None:
        stopped.append(self)
        await stop(self)
        if stop_fails:
            raise RuntimeError("the disk is full")

    monkeypatch.setattr(owner, name, unable)
    monkeypatch.setattr(Desk, "stop", stop_and_note)
    stage = AppOnFewRows()
    async with stage.running():
        assert newest_message(stage) == "hedge cannot be opened: nobody can listen"
        assert stage.app.desk is None and len(stopped) == 1
    assert ("the disk is full" in caplog.text) == stop_fails


async def test_a_profile_is_not_opened_where_the_desk_before_it_cannot_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = Desk.stop

    async def stop_and_fail(self: Desk) -> None:
        await stop(self)
        raise RuntimeError("the disk is full")

    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running() as pilot:
        monkeypatch.setattr(Desk, "stop", stop_and_fail)
        stage.app.open_profile(1)
        await pilot.pause(1)
        assert newest_message(stage) == "one-way cannot be opened: the disk is full"
        assert stage.app.desk is None
        stage.app.open_profile(1)
        await pilot.pause(1)
        assert stage.desk.settings.name == "one-way", "it can be tried again"
        monkeypatch.setattr(Desk, "stop", stop)


async def test_a_desk_that_was_built_and_never_started_stops() -> None:
    stage = AppOnFewRows()
    await stage._open("hedge", False).stop()


async def test_why_a_desk_that_nobody_waits_for_does_not_stop_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class UnstoppableDesk(StoppableDesk):
        async def stop(self) -> None:
            raise RuntimeError("the disk is full")

    def unable() -> Any:
        raise RuntimeError("no such file")

    building: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    building.set_result(UnstoppableDesk())
    await _stop_once_built(building)
    assert "the disk is full" in caplog.text
    await _stop_once_built(asyncio.ensure_future(asyncio.to_thread(unable)))
    assert "no such file" not in caplog.text


async def test_closing_what_was_never_open_waits_for_nothing() -> None:
    await OpenDesk().close()


@pytest.mark.parametrize("screen_of_key", [("6", LookupScreen), ("m", MoneyScreen)])
async def test_a_screen_hears_of_the_desk_once_its_widgets_are_there_and_also_behind_a_dialog(
    screen_of_key: tuple[str, type[LookupScreen | MoneyScreen]], monkeypatch: pytest.MonkeyPatch
) -> None:
    key, screen_class = screen_of_key
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        feed = next(iter(stage.desk.feeds.values()))
        compose = screen_class.compose

        def compose_while_published(screen: Any) -> ComposeResult:
            stage.app._published(feed)
            yield from compose(screen)

        monkeypatch.setattr(screen_class, "compose", compose_while_published)
        await pilot.press(key)
        await pilot.press("question_mark")
        assert not isinstance(stage.app.screen, screen_class)
        header = stage.app.screen_stack[1].query_one(HeaderBar)
        assert header.shown.account == "hedge · 4100000001"
        stage.desk.settings = replace(stage.desk.settings, name="another")
        await asyncio.sleep(2 * QUIET_SECONDS)
        assert header.shown.account == "another · 4100000001"

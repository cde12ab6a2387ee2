"""A journal that is lost or damaged: LOCKED, named with its remedy, nothing sent until the trader accepts it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, another_session, scene
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.journal_registry import Registry
from tradetui.desk.intents.journal.registered_journal import NEW, JournalLocation, accept_loss
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.preview import Target
from tradetui.exchange.clock import Moment
from tradetui.exchange.errors import NotSent
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.gateway.faults import CallFault
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime
LONG = Target(SYMBOL, USDT, Side.BUY)


@pytest.fixture
def location(tmp_path: Path) -> JournalLocation:
    return JournalLocation(
        tmp_path / "account" / "journal.sqlite", tmp_path / "state" / "registry.sqlite", ("uid", "key")
    )


@asynccontextmanager
async def session(on: Scene, location: JournalLocation, ids: str = "tt") -> AsyncIterator[Execution]:
    """A session whose journal is registered."""
    execution = another_session(on, InlineDisk(), ids)
    await execution.open_journal(on.uid, location)
    try:
        yield execution
    finally:
        await execution.stop()


def damage_a_row(location: JournalLocation) -> None:
    """Another program changes what a row tells, behind the journal's back."""
    assert location.file is not None
    raw = sqlite3.connect(location.file, isolation_level=None)
    raw.execute("DROP TRIGGER no_change_of_event")
    raw.execute("UPDATE event SET told = replace(told, 'BTC', 'BTD') WHERE number = 1")
    raw.close()


def remove(location: JournalLocation) -> None:
    """The account's directory is gone."""
    assert location.file is not None
    shutil.rmtree(location.file.parent)


async def reverse(execution: Execution) -> None:
    sent = await execution.confirm(await execution.preview(LONG), SYMBOL + " LONG")
    async for _ in execution.follow(sent):
        pass


@pytest.mark.parametrize("lose", [damage_a_row, remove])
@pytest.mark.parametrize("when", ["while it runs", "between two sessions", "just before it is sent"])
async def test_nothing_is_sent_until_the_loss_is_accepted(
    location: JournalLocation, lose: Callable[[JournalLocation], None], when: str
) -> None:
    async with scene() as on:
        on.hold(long="5")
        async with session(on, location) as execution:
            assert execution.intents.notice == NEW
            await reverse(execution)
            assert on.posts == 1
            on.hold(long="5")
            preview = await execution.preview(LONG)
            if when != "between two sessions":
                lose(location)
            if when == "while it runs":
                await asyncio.sleep(2)
                assert execution.intents.locked and execution.intents.loss is not None
            if when != "between two sessions":
                with pytest.raises((NotConfirmed, NotSent)) as caught:
                    await execution.confirm(preview, SYMBOL + " LONG")
                assert "--accept-loss" in str(caught.value) and "press L in tradetui" in str(caught.value)
                assert execution.intents.locked
        if when == "between two sessions":
            lose(location)
        for _ in range(2):
            async with session(on, location, "uu") as execution:
                assert execution.intents.locked and execution.intents.loss is not None
                reasons = " ".join(execution.blocking_reasons(preview, SYMBOL + " LONG"))
                assert "--accept-loss" in reasons
                with pytest.raises((NotConfirmed, NotSent)):
                    await execution.confirm(preview, SYMBOL + " LONG")
        assert on.posts == 1
        async with session(on, location, "vv") as execution:
            assert await execution.intents.accept_loss()
            assert execution.intents.loss is None
            assert execution.intents.locked, "as it may have been in what was lost"
            execution.intents.set_lock(False)
            await asyncio.sleep(1)
            await reverse(execution)
            assert on.posts == 2
        async with session(on, location, "ww") as execution:
            assert not execution.intents.locked and execution.intents.trouble is None


@pytest.mark.parametrize("lose", [damage_a_row, remove])
async def test_a_running_session_sees_that_another_one_accepted_the_loss_and_stays_locked(
    location: JournalLocation, lose: Callable[[JournalLocation], None]
) -> None:
    async with scene() as on, session(on, location) as execution, session(on, location, "uu") as other:
        on.hold(long="5")
        await reverse(execution)
        on.hold(long="5")
        lose(location)
        await asyncio.sleep(5)
        assert execution.intents.loss is not None and other.intents.loss is not None
        accept_loss(location, Moment.now(on.client.clock))  # what `tradetui journal --accept-loss` runs
        await asyncio.sleep(2)
        for intents in (execution.intents, other.intents):
            assert (intents.loss, intents.trouble, intents.locked) == (None, None, True)
        with pytest.raises(NotConfirmed, match="Trading is locked"):
            await reverse(execution)
        assert on.posts == 1
        await execution.intents.set_lock(False)
        await reverse(execution)
        await asyncio.sleep(1)
        assert on.posts == 2 and not other.intents.locked


@pytest.mark.parametrize("before", ["unlocked", "locked by hand", "locked by an earlier loss"])
async def test_a_journal_that_comes_back_without_an_accepted_loss_is_not_taken_for_accepted(
    before: str, location: JournalLocation, tmp_path: Path
) -> None:
    assert location.file is not None
    directory, away = location.file.parent, tmp_path / "away"
    async with scene() as on, session(on, location) as execution:
        on.hold(long="5")
        await reverse(execution)
        if before == "locked by hand":
            assert await execution.intents.set_lock(True)
        elif before == "locked by an earlier loss":
            remove(location)
            await asyncio.sleep(2)
            assert await execution.intents.accept_loss()
        await asyncio.sleep(2)
        directory.rename(away)
        await asyncio.sleep(2)
        assert execution.intents.loss is not None
        away.rename(directory)
        await asyncio.sleep(5)
        assert execution.intents.loss is not None and execution.intents.locked
        assert await execution.intents.accept_loss()


async def test_two_sessions_in_two_directories_send_once(location: JournalLocation, tmp_path: Path) -> None:
    other = JournalLocation(tmp_path / "other" / "journal.sqlite", location.registry_file, ("key",))
    async with scene() as on, session(on, location) as one, session(on, other, "uu") as two:
        on.hold(long="5")
        previews = [await execution.preview(LONG) for execution in (one, two)]
        done = await asyncio.gather(
            *(
                execution.confirm(preview, SYMBOL + " LONG")
                for execution, preview in zip((one, two), previews, strict=True)
            ),
            return_exceptions=True,
        )
        assert on.posts == 1
        (refused,) = [result for result in done if isinstance(result, BaseException)]
        assert isinstance(refused, NotConfirmed)
        loser = (one, two)[done.index(refused)]
        await loser.intents.refresh()
        (sentence,) = loser.intents.unsettled()
        assert SYMBOL in sentence and "open in" in sentence and "journal.sqlite" in sentence
        await asyncio.sleep(30)
        assert not one.intents.unsettled() and not two.intents.unsettled()
        assert on.posts == 1


async def test_each_file_is_written_in_its_turn_before_the_first_byte_and_the_symbol_is_freed_last(
    location: JournalLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def follow(owner: type, name: str, step_of: Callable[..., str]) -> None:
        right = getattr(owner, name)

        def followed(*arguments: Any, **named: Any) -> Any:
            result = right(*arguments, **named)
            steps.append(step_of(*arguments, **named))
            return result

        monkeypatch.setattr(owner, name, followed)

    answer = Sandbox.answer

    def answered(self: Sandbox, request: Any, fault: CallFault | None = None) -> Any:
        if request.method == "POST":
            steps.append("request")
        return answer(self, request, fault)

    async with scene() as on, session(on, location) as execution:
        on.hold(long="5")
        preview = await execution.preview(LONG)
        follow(Registry, "reserve", lambda *_, **__: "reserved")
        follow(Registry, "free", lambda *_: "freed")
        follow(Registry, "note", lambda *_, freed=None: "head, freed" if freed else "head")
        follow(Journal, "_append", lambda _, intent, state, *__: str(state))
        monkeypatch.setattr(Sandbox, "answer", answered)
        sent = await execution.confirm(preview, SYMBOL + " LONG")
        async for _ in execution.follow(sent):
            pass
        assert steps == [
            *("reserved", "intended", "sent", "head", "request"),
            *("acknowledged", "head", "settled", "head, freed"),
        ]

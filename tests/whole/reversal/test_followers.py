"""A machine that follows what another one has sent, until nothing can correct the end: over gaps and restarts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.desk.reversal.test_several_machines import Desk, Machine, running
from tests.whole.reversal.reversal_session import scene
from tests.whole.reversal.test_outcome_observed import ByLegs
from tradetui.desk.intents.states import Intent, State
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.reversal.progress import Progress
from tradetui.desk.reversal.tracking.outcome_tracker import FOLLOW_S, WATCH_FOR_LATER_FILLS_S

pytestmark = pytest.mark.looptime


class LeftReversal:
    """Anna's reversal, whose order the exchange carries out leg by leg; her machine is gone since it was sent."""

    def __init__(self, desk: Desk, by_legs: ByLegs, intent: str) -> None:
        self.desk = desk
        self.by_legs = by_legs
        self.intent = intent

    async def by(self, machine: Machine) -> Intent:
        """The intent as a machine reads it."""
        return await machine.intents.read(self.intent)


@asynccontextmanager
async def left_by_anna(
    folder: Path, patch: pytest.MonkeyPatch, *, closed: str
) -> AsyncIterator[tuple[LeftReversal, Machine]]:
    """Have Bob's machine follow it; so much of 20 is closed."""
    async with scene() as on:
        on.hold(long="20")
        by_legs, desk = ByLegs(on, patch), Desk(on, folder)
        async with running(desk, "bob@desk2") as (bob,):
            anna = await desk.machine("desk1")
            sent = await anna.confirmed(await anna.previewed())
            by_legs.close(closed)
            await anna.looked(0.5)
            await anna.execution.stop()
            await asyncio.sleep(40)
            assert bob.execution.followed.has(sent.intent)
            yield LeftReversal(desk, by_legs, sent.intent), bob


async def test_a_later_fill_that_is_seen_as_the_store_is_lost_corrects_the_end_once_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with left_by_anna(tmp_path, monkeypatch, closed="20") as (left, bob):
        await asyncio.sleep(130)
        assert (await left.by(bob)).state is State.SETTLED and bob.intents.unsettled() == ()
        correct = bob.intents.note

        async def lost_before_it_is_written(*arguments: object, **more: object) -> bool:
            monkeypatch.setattr(bob.intents, "note", correct)
            bob.link.cut()
            asyncio.get_running_loop().call_later(5, bob.link.mend)
            return await correct(*arguments, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(bob.intents, "note", lost_before_it_is_written)
        left.by_legs.rest()
        await asyncio.sleep(60)
        assert (await left.by(bob)).state is State.CORRECTED and bob.intents.unsettled()


async def test_what_a_follower_cannot_name_is_released_though_the_store_was_away_as_the_time_was_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with left_by_anna(tmp_path, monkeypatch, closed="3") as (left, bob):
        came: list[Progress] = []
        bob.execution.followed.subscribe(lambda _, progress: came.append(progress))
        await asyncio.sleep(FOLLOW_S - 20)
        bob.link.cut()
        await asyncio.sleep(40)
        bob.link.mend()
        await asyncio.sleep(60)
        assert (await left.by(bob)).is_releasable
        assert [progress.stage for progress in came].count(SearchStage.LEFT_OPEN) == 1, "the trader is told once"


async def test_an_inferred_end_of_another_machine_is_watched_by_its_follower_after_a_restart_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with left_by_anna(tmp_path, monkeypatch, closed="20") as (left, bob):
        await asyncio.sleep(130)
        assert (await left.by(bob)).state is State.SETTLED
        await bob.execution.stop()
        left.by_legs.open("5")
        left.by_legs.rest()
        left.desk.server.schema_is_newer = True  # it refuses every call at first
        async with running(left.desk, "bob@desk2") as (again,):
            left.desk.server.schema_is_newer = False
            await again.looked(10)
            assert (await left.by(again)).state is State.CORRECTED and again.intents.unsettled()


async def test_an_inferred_end_is_watched_no_longer_than_15_minutes_by_the_age_that_the_store_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with left_by_anna(tmp_path, monkeypatch, closed="20") as (left, bob):
        await asyncio.sleep(130)
        await bob.execution.stop()
        await asyncio.sleep(WATCH_FOR_LATER_FILLS_S)
        async with running(left.desk, "bob@desk2") as (again,):
            await again.looked(10)
            assert not again.execution.followed.has(left.intent)

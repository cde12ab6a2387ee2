"""An older copy of the store loses no intent, and frees no symbol whose order may still fill."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.desk.reversal.test_journals_differ import PART, sent_and_cut_off
from tests.desk.reversal.test_several_machines import (
    ELSEWHERE,
    SCOPE,
    Desk,
    Machine,
    desk,  # noqa: F401
    running,
)
from tradetui.desk.intents.shared_account import LEASE_S
from tradetui.desk.intents.states import State

pytestmark = pytest.mark.looptime


async def begun_and_sent(machine: Machine, intent: str) -> None:
    await machine.intents.begin(intent, SCOPE, "test", {}, after_in_store=machine.intents.store_version)
    await machine.intents.about_to_send(intent, {})
    await machine.looked()


async def test_what_another_intent_kept_out_is_entered_as_soon_as_that_has_ended(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await begun_and_sent(anna, "tt-x")
        older = desk.server.snapshot()
        await anna.intents.note("tt-x", State.REJECTED, {"message": "refused"})
        await bob.looked()
        await begun_and_sent(bob, "tt-y")
        await anna.looked()
        desk.server.restore(older)
        await asyncio.sleep(10)
        assert await anna.intents.accept_older_store()
        assert "tt-y" in " ".join(anna.intents.unsettled()), "before anybody can unlock"


async def test_a_correction_by_the_sender_outlives_one_of_its_follower(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await sent_and_cut_off(anna)
        fence = await bob.store.take_over("tt-x", LEASE_S)
        for number, state in enumerate((State.UNKNOWN, State.SETTLED, State.CORRECTED, State.SETTLED)):
            await bob.store.step("tt-x", state, PART, step=f"followed-{number}", prior=None, fence=fence)
        for state in (State.UNKNOWN, State.SETTLED, State.CORRECTED):
            assert await anna.intents.note("tt-x", state, PART)
        await asyncio.sleep(LEASE_S)
        anna.link.mend()
        await anna.looked(15)
        assert (await bob.store.read("tt-x")).state is (await anna.intents.read("tt-x")).state is State.CORRECTED


@pytest.mark.parametrize("state", [State.UNKNOWN, State.ACKNOWLEDGED])
async def test_what_was_sent_is_not_taken_for_withdrawn_by_a_copy_that_lacks_that(
    desk: Desk,  # noqa: F811
    state: State,
) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "test", {}, after_in_store=anna.intents.store_version)
        older = desk.server.snapshot()
        await anna.intents.about_to_send("tt-x", {})
        if state is State.ACKNOWLEDGED:
            anna.link.cut()  # the others withdraw it meanwhile
        desk.server.restore(older)
        await anna.intents.set_lock(state is State.UNKNOWN)  # her lock refuses the step `sent`
        assert await anna.intents.note("tt-x", state, {"why": "no reply"})
        await asyncio.sleep(50)
        anna.link.mend()
        await asyncio.sleep(12)
        assert (await anna.intents.read("tt-x")).state is (await bob.store.read("tt-x")).state is state


async def test_what_came_between_two_reads_of_one_look_is_seen_before_it_can_be_lost(
    desk: Desk,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(desk, "anna@desk1") as [anna]:
        bob = await desk.machine("desk2", "bob")
        await anna.intents.begin("tt-a", ELSEWHERE, "test", {}, after_in_store=anna.intents.store_version)
        await anna.looked()
        step, copies = anna.store.step, []

        async def then_bob_sends(*arguments: Any, **named: Any) -> int:
            number = await step(*arguments, **named)
            copies.append(desk.server.snapshot())
            await begun_and_sent(bob, "tt-y")
            return number

        with monkeypatch.context() as patched:
            patched.setattr(anna.store, "step", then_bob_sends)
            await anna.intents.note("tt-a", State.WITHDRAWN, {})
            await anna.looked(5)
        bob.link.cut()
        await bob.execution.stop()
        desk.server.restore(copies[0])
        await asyncio.sleep(15)
        assert "went back in time" in anna.intents.store_trouble


async def test_a_creation_that_was_entered_for_a_lost_machine_can_be_released(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "bob@desk2") as [bob]:
        older = desk.server.snapshot()
        async with running(desk, "anna@desk1") as [anna]:
            await anna.intents.begin("tc-1", "api_key", "api_key", {"title": "key"})
            await anna.intents.about_to_send("tc-1", {})
            await anna.looked()
        desk.server.restore(older)
        await asyncio.sleep(10)
        assert await bob.intents.accept_older_store()
        await asyncio.sleep(60)
        assert (await bob.intents.read("tc-1")).is_releasable


async def test_a_creation_whose_machine_came_back_and_went_again_can_be_released(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "bob@desk2") as [bob]:
        async with running(desk, "anna@desk1") as [anna]:
            await anna.intents.begin("tc-1", "api_key", "api_key", {"title": "key"})
            await anna.intents.about_to_send("tc-1", {})
            await anna.looked()
            anna.link.cut()
            await asyncio.sleep(60)
            await anna.intents.note("tc-1", State.ACKNOWLEDGED, {})
            anna.link.mend()
            await asyncio.sleep(15)
            assert (await bob.intents.read("tc-1")).state is State.ACKNOWLEDGED
        await asyncio.sleep(90)
        assert (await bob.intents.read("tc-1")).is_releasable


async def test_a_lock_that_one_session_could_not_tell_is_told_by_another_of_its_machine(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "anna@desk1", "bob@desk2") as (first, second, bob):
        first.link.cut()
        await asyncio.sleep(3)
        assert not await first.intents.set_lock(True)
        await first.execution.stop()
        await second.looked(3)
        assert bob.intents.locked


async def test_what_a_person_left_who_may_only_view_now_is_settled_by_another(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await begun_and_sent(anna, "tt-x")
        desk.server.roles["anna"] = "viewer"
        await bob.looked(60)
        assert "looked after by bob@desk2" in " ".join(bob.intents.unsettled())


async def test_what_is_followed_and_an_older_copy_has_lost_is_not_listed(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        older = desk.server.snapshot()
        await sent_and_cut_off(anna)
        await bob.looked(5)
        assert [intent.id for intent in await bob.intents.not_settled()] == ["tt-x"]
        desk.server.restore(older)
        await bob.looked(1)
        assert await bob.intents.not_settled() == []

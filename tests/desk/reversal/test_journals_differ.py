"""What a machine's journal and the store say of one intent comes together again, and no symbol is freed too early."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from tests.desk.reversal.test_several_machines import (
    ELSEWHERE,
    SCOPE,
    Desk,
    Machine,
    desk,  # noqa: F401
    running,
)
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.shared_account import LEASE_S, MACHINE_GONE_S
from tradetui.desk.intents.states import Intent, State, Withheld
from tradetui.exchange.errors import NotSent
from tradetui.storage.disk_thread import InlineDisk

pytestmark = pytest.mark.looptime
PART = {"outcome": "smaller", "final": False}


async def sent_and_cut_off(machine: Machine) -> None:
    """Send and lose the way to the store, until the others take the machine for gone."""
    await machine.intents.begin("tt-x", SCOPE, "test", {}, after_in_store=machine.intents.store_version)
    await machine.intents.about_to_send("tt-x", {})
    await machine.looked()
    machine.link.cut()
    await asyncio.sleep(LEASE_S + MACHINE_GONE_S)


async def followed(machine: Machine, *states: State) -> None:
    """Take these steps in the store as the follower."""
    fence = await machine.store.take_over("tt-x", LEASE_S)
    for state in states:
        await machine.store.step("tt-x", state, PART, step=f"followed-{state}", prior=None, fence=fence)


async def test_a_sender_corrects_the_end_that_its_follower_wrote_meanwhile(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await sent_and_cut_off(anna)
        await followed(bob, State.UNKNOWN, State.SETTLED)
        await anna.intents.note("tt-x", State.UNKNOWN, {})
        assert await anna.intents.note("tt-x", State.SETTLED, PART)
        anna.link.mend()
        await anna.looked(10)
        assert await anna.intents.note("tt-x", State.CORRECTED, {"why": "its order went on filling"})
        await anna.looked(3)
        assert (await bob.store.read("tt-x")).state is State.CORRECTED
        assert "tt-x, corrected" in " ".join(bob.intents.unsettled())


async def test_a_new_end_that_was_written_while_the_store_was_away_is_the_end_here_too(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await sent_and_cut_off(anna)
        await followed(bob, State.UNKNOWN, State.SETTLED)
        anna.link.mend()
        await anna.looked(10)
        assert (await anna.intents.read("tt-x")).end == "smaller"
        anna.link.cut()
        await asyncio.sleep(LEASE_S)
        fence = await bob.store.take_over("tt-x", LEASE_S)
        for state, outcome in ((State.CORRECTED, ""), (State.SETTLED, "reversed")):
            await bob.store.step("tt-x", state, {"outcome": outcome}, step=f"new-{state}", prior=None, fence=fence)
        anna.link.mend()
        await anna.looked(10)
        assert (await anna.intents.read("tt-x")).end == "reversed"


async def test_what_has_ended_here_and_is_open_in_the_store_is_read_and_ended_there(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1") as [anna]:
        async with running(desk, "bob@desk2") as [bob]:
            await sent_and_cut_off(anna)
            assert await anna.intents.note("tt-x", State.REJECTED, {"message": "refused"})
            await followed(bob, State.UNKNOWN, State.SETTLED, State.CORRECTED)
        anna.link.mend()
        await anna.looked(10)
        assert (await anna.intents.read("tt-x")).state is State.CORRECTED
        await asyncio.sleep(LEASE_S)
        await anna.intents.step("tt-x", State.RELEASED, {})
        assert anna.intents.unsettled() == ()


async def test_a_lock_that_an_older_copy_has_lost_stops_trading_too(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        older = desk.server.snapshot()
        assert await anna.intents.set_lock(True)
        await bob.looked()
        desk.server.restore(older)
        await asyncio.sleep(8)
        assert bob.intents.locked and "lacks a lock on trading" in bob.intents.store_trouble
        assert await anna.intents.accept_older_store() and await bob.intents.accept_older_store()
        await bob.looked()
        assert not bob.intents.store_trouble


async def test_a_removal_of_a_lock_that_was_not_told_removes_no_lock_of_later(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "anna@laptop", "bob@desk2") as (anna, laptop, bob):
        anna.link.cut()
        await asyncio.sleep(3)
        assert not await anna.intents.set_lock(True) and not await anna.intents.set_lock(False)
        await asyncio.sleep(60)
        assert await laptop.intents.set_lock(True)
        anna.link.mend()
        await asyncio.sleep(15)
        assert bob.intents.locked and anna.intents.locked


async def test_a_disk_that_fails_while_an_older_copy_is_found_is_tried_again(
    desk: Desk,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(desk, "anna@desk1") as [anna]:
        older = desk.server.snapshot()
        await anna.intents.begin("tt-x", SCOPE, "test", {}, after_in_store=anna.intents.store_version)
        await anna.looked()

        def fails() -> None:
            raise sqlite3.OperationalError("disk I/O error")

        with monkeypatch.context() as broken:
            broken.setattr(anna.intents._journal, "newest", fails)
            desk.server.restore(older)
            await asyncio.sleep(8)
            assert "tt-x" not in desk.server.accounts[desk.scene.uid].rows
        await anna.looked(3)
        assert "tt-x" in desk.server.accounts[desk.scene.uid].rows


async def test_a_creation_of_a_machine_that_is_gone_can_be_released_by_another(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "bob@desk2") as [bob]:
        async with running(desk, "anna@desk1") as [anna]:
            await anna.intents.begin("tc-1", "api_key", "api_key", {"title": "key"})
            await anna.intents.about_to_send("tc-1", {})
            await anna.looked()
        await asyncio.sleep(60)
        assert (await bob.intents.read("tc-1")).is_releasable
        await bob.intents.step("tc-1", State.RELEASED, {"why": "looked at the exchange"})
        await bob.intents.begin("tc-2", "api_key", "api_key", {"title": "key"})


async def test_a_session_that_began_before_its_machine_joined_sends_nothing_more(desk: Desk) -> None:  # noqa: F811
    folder = desk.folder / "desk1"
    location = JournalLocation(
        folder / "account" / "journal.sqlite", folder / "registry.sqlite", ("uid",), alive_dir=folder / "alive"
    )
    earlier = Intents(None, InlineDisk(), desk.scene.client.clock, "", lambda: "tt-s", start_locked=False)
    assert await earlier.open(desk.scene.uid, location)
    await earlier.begin("tt-s", ELSEWHERE, "test", {})
    async with running(desk, "anna@desk1"):
        with pytest.raises(NotSent, match="this machine has joined a store"):
            await earlier.about_to_send("tt-s", {})
        with pytest.raises(Withheld, match="this machine has joined a store"):
            await earlier.begin("tt-t", SCOPE, "test", {})
    earlier.close()


async def test_what_another_machine_had_sent_and_an_older_copy_has_lost_is_entered_though_that_machine_is_gone(
    desk: Desk,  # noqa: F811
) -> None:
    async with running(desk, "bob@desk2", "carl@desk3") as (bob, carl):
        older = desk.server.snapshot()
        anna = await desk.machine("desk1")
        sent = await anna.confirmed(await anna.previewed())
        anna.link.cut()
        await anna.execution.stop()
        await bob.looked()
        desk.server.restore(older)
        await asyncio.sleep(8)
        assert await bob.intents.accept_older_store() and await carl.intents.accept_older_store()
        await carl.looked()
        assert sent.intent in " ".join(carl.intents.unsettled())
        await asyncio.sleep(60)
        assert bob.intents.unsettled() == carl.intents.unsettled() == ()
        assert (await carl.intents.read(sent.intent)).state is State.SETTLED


async def test_a_contradiction_that_a_follower_noted_is_known_to_the_sender_too(desk: Desk) -> None:  # noqa: F811
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await sent_and_cut_off(anna)
        fence = await bob.store.take_over("tt-x", LEASE_S)
        for state, details in ((State.UNKNOWN, {"contradiction": "no leg is named"}), (State.SETTLED, PART)):
            await bob.store.step("tt-x", state, details, step=f"followed-{state}", prior=None, fence=fence)
        anna.link.mend()
        await anna.looked(10)
        assert await anna.intents.contradiction() == "no leg is named"


async def corrected(machine: Machine) -> None:
    """Send, settle and correct."""
    await machine.intents.begin("tt-x", SCOPE, "test", {}, after_in_store=machine.intents.store_version)
    await machine.intents.about_to_send("tt-x", {})
    for state in (State.UNKNOWN, State.SETTLED, State.CORRECTED):
        assert await machine.intents.note("tt-x", state, PART)
        await machine.looked(3)


async def test_a_correction_is_written_here_while_the_end_before_it_is_not_told_yet(
    desk: Desk,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await corrected(anna)
        read = anna.store.read

        async def cut_off(intent: str) -> Intent:
            anna.link.cut()
            return await read(intent)

        monkeypatch.setattr(anna.store, "read", cut_off)
        assert await anna.intents.note("tt-x", State.SETTLED, PART)
        await anna.looked(3)
        assert anna.intents.shared is not None and anna.intents.shared.away_s is not None
        assert await anna.intents.note("tt-x", State.CORRECTED, {"why": "its order went on filling"})
        monkeypatch.undo()
        anna.link.mend()
        await anna.looked(15)
        assert (await bob.store.read("tt-x")).state is State.CORRECTED


async def test_a_correction_does_not_overtake_the_end_before_it(
    desk: Desk,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await corrected(anna)
        step = anna.store.step

        async def late(intent: str, state: State, *details: Any, **named: Any) -> int:
            if state is State.SETTLED:
                await asyncio.sleep(0.5)
            return await step(intent, state, *details, **named)

        monkeypatch.setattr(anna.store, "step", late)
        assert await anna.intents.note("tt-x", State.SETTLED, PART)
        await asyncio.sleep(0.2)
        assert await anna.intents.note("tt-x", State.CORRECTED, {"why": "its order went on filling"})
        await anna.looked(5)
        assert (await bob.store.read("tt-x")).state is State.CORRECTED


async def test_what_others_did_while_a_machine_was_off_costs_its_disk_one_visit(
    desk: Desk,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(desk, "bob@desk2") as [bob]:
        async with running(desk, "anna@desk1"):
            await bob.intents.begin("tt-0", SCOPE, "test", {}, after_in_store=None)
        for number in range(20):
            await bob.intents.note(f"tt-{number}", State.WITHDRAWN, {})
            await bob.intents.begin(f"tt-{number + 1}", SCOPE, "test", {}, after_in_store=None)
            await bob.looked()
        visits: list[object] = []
        run = InlineDisk.run

        async def counted(disk: InlineDisk, work: Any, *details: Any, **named: Any) -> Any:
            visits.append(work)
            return await run(disk, work, *details, **named)

        monkeypatch.setattr(InlineDisk, "run", counted)
        async with running(desk, "anna@desk1") as [anna]:
            assert anna.intents.store_trouble == ""
            assert not [work for work in visits if getattr(work, "__name__", "") == "intent"], "one visit each"


async def test_a_lock_that_was_removed_in_another_session_of_its_machine_is_not_told_late(
    desk: Desk,  # noqa: F811
) -> None:
    async with running(desk, "anna@desk1", "anna@desk1", "bob@desk2") as (first, second, bob):
        first.link.cut()
        await asyncio.sleep(3)
        assert not await first.intents.set_lock(True)
        await second.looked(3)
        assert bob.intents.locked and await second.intents.set_lock(False)
        await second.looked(3)
        first.link.mend()
        await asyncio.sleep(12)
        assert not bob.intents.locked

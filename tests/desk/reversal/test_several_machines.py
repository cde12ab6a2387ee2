"""Several machines on one account: what one does holds on all, and nothing is sent that the store does not know."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.desk.intents.memory_store import AccountRows, Link, MemoryServer, memory_store
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene
from tradetui.desk.intents.intents import Intents, SendsNothing
from tradetui.desk.intents.journal.account_store import AccountStore, Writer
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.journal.store_mark import MARK_FILE
from tradetui.desk.intents.lost_intents import STORE_NUMBER
from tradetui.desk.intents.shared_account import LEASE_S, STORE_READ_EVERY_S
from tradetui.desk.intents.states import State, Withheld, WrongStep, scope_of
from tradetui.desk.intents.store_absence import OTHERS_LOOK_S
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.errors import NotSent
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime
LONG = Target(SYMBOL, USDT, Side.BUY)
SCOPE = scope_of(USDT, SYMBOL)
ELSEWHERE = scope_of(USDT, "ETHUSDT")


@dataclass
class Machine:
    """One session on a machine of its own, and its way to the store."""

    execution: Execution
    link: Link
    store: AccountStore
    location: JournalLocation

    @property
    def intents(self) -> Intents:
        return self.execution.intents

    async def looked(self, seconds: float = 2 * STORE_READ_EVERY_S) -> None:
        """Let it look at the store."""
        await asyncio.sleep(seconds)

    async def previewed(self) -> Preview:
        return await self.execution.preview(LONG)

    async def confirmed(self, preview: Preview) -> Sent:
        return await self.execution.confirm(preview, preview.subject)

    async def reversed(self) -> list[Progress]:
        sent = await self.confirmed(await self.previewed())
        return [progress async for progress in self.execution.follow(sent)]

    def blocked(self, preview: Preview) -> str:
        return " ".join(self.execution.blocking_reasons(preview, preview.subject))


class Desk:
    """The machines of one account, the store that they share, and the exchange."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene = scene
        self.server = MemoryServer()
        self.folder = folder
        self._numbers = count()

    async def machine(self, name: str, person: str = "anna", *, uid: str | None = "known") -> Machine:
        clock, link = self.scene.client.clock, Link()
        folder = self.folder / name
        location = JournalLocation(
            folder / "account" / "journal.sqlite", folder / "registry.sqlite", ("uid",), alive_dir=folder / "alive"
        )
        opened: list[AccountStore] = []

        def open_store(account: str) -> AccountStore:
            opened.append(memory_store(self.server, account, Writer(person, name), clock, link))
            return opened[-1]

        intents = Intents(
            None,
            InlineDisk(),
            clock,
            "",
            lambda: f"tt-{next(self._numbers)}-{name}",
            start_locked=False,
            open_store=open_store,
        )
        execution = Execution(self.scene.client, self.scene.execution.settings, clock, intents)
        await execution.open_journal(self.scene.uid, location, self.scene.uid if uid else None)
        machine = Machine(execution, link, opened[-1] if opened else None, location)  # type: ignore[arg-type]
        await machine.looked(OTHERS_LOOK_S + 1)
        return machine


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with scene() as on:
        on.hold(long="20", short="3")
        yield Desk(on, tmp_path)


@asynccontextmanager
async def running(desk: Desk, *names: str) -> AsyncIterator[tuple[Machine, ...]]:
    """Machines of these names, each `person@machine`; all are stopped in the end."""
    machines = []
    for name in names:
        person, _, host = name.partition("@")
        machines.append(await desk.machine(host, person))
    try:
        yield tuple(machines)
    finally:
        for machine in machines:
            await machine.execution.stop()


def states_of(desk: Desk, account: str) -> list[State]:
    return [row.state for row in desk.server.accounts[account].rows.values()]


async def test_two_machines_confirm_at_once_and_one_is_sent(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as machines:
        previews = [await machine.previewed() for machine in machines]
        outcomes = await asyncio.gather(
            *(machine.confirmed(preview) for machine, preview in zip(machines, previews, strict=True)),
            return_exceptions=True,
        )
        assert desk.scene.posts == 1
        [refused] = [outcome for outcome in outcomes if isinstance(outcome, NotConfirmed)]
        assert "@desk" in str(refused)


async def test_nothing_is_read_from_the_store_while_a_reversal_is_on_its_way(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(desk, "anna@desk1") as [anna]:
        preview = await anna.previewed()
        calls: list[str] = []
        for name in ("begin", "step", "state", "events_after", "read"):
            call = getattr(anna.store, name)

            async def counted(*arguments: Any, call: Any = call, name: str = name, **more: Any) -> Any:
                calls.append(name)
                return await call(*arguments, **more)

            monkeypatch.setattr(anna.store, name, counted)
        await anna.confirmed(preview)
        began = calls.index("begin")
        assert calls[began : began + 2] == ["begin", "step"]
        await anna.looked()
        assert "state" in calls[began + 2 :]


async def test_a_preview_is_void_once_another_machine_has_reversed_the_symbol(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        preview = await bob.previewed()
        await anna.reversed()
        with pytest.raises(NotConfirmed, match=r"anna@desk1 \(..:..:.. UTC\) was faster"):
            await bob.confirmed(preview)
        assert desk.scene.posts == 1


async def test_a_preview_is_void_even_if_the_position_is_as_before(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        preview = await bob.previewed()
        version = anna.intents.store_version
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=version)
        await anna.intents.note("tt-x", State.WITHDRAWN, {"why": "withdrawn"})
        await bob.looked()
        with pytest.raises(NotConfirmed, match=r"another session has reversed this symbol \(anna@desk1, \d s ago\)"):
            await bob.confirmed(preview)
        assert desk.scene.posts == 0


async def test_an_open_intent_locks_its_symbol_on_every_machine_and_says_whose_it_is(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await bob.looked()
        assert "tt-x, intended by anna@desk1" in bob.blocked(await bob.previewed())
        assert bob.intents.unsettled() == (f"{SCOPE}: tt-x, intended by anna@desk1",)
        await asyncio.sleep(0.2)
        await anna.intents.note("tt-x", State.WITHDRAWN, {})
        await asyncio.sleep(0.05)
        assert bob.intents.unsettled() == (), "a step is told at once"


async def test_while_the_store_is_away_nothing_new_is_sent_and_every_refusal_says_so(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        preview = await anna.previewed()
        anna.link.cut()
        bob.link.cut()
        await asyncio.sleep(3)
        assert anna.intents.shared is not None and anna.intents.shared.away_s is not None
        assert "The store has been away for 3 s" in anna.blocked(preview)
        with pytest.raises(Withheld, match="The store has been away for"):
            await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=preview.store_version)
        anna.link.mend()
        await asyncio.sleep(6)
        assert "every machine compares its journal" in anna.blocked(preview)
        await asyncio.sleep(6)
        assert anna.blocked(await anna.previewed()) == ""


async def test_nobody_waits_longer_than_until_every_other_machine_is_level_with_the_store(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        anna.link.cut()
        await asyncio.sleep(1)
        anna.link.mend()
        await anna.looked(2.5)
        assert anna.intents.store_trouble == "", "there is no other machine"
        async with running(desk, "bob@desk2", "carl@desk3") as machines:
            desk.server.restart()
            await asyncio.sleep(2.5)
            assert [machine.intents.store_trouble for machine in (anna, *machines)] == ["", "", ""]
            machines[0].link.cut()
            desk.server.restart()
            await asyncio.sleep(4)
            assert "every machine compares its journal" in anna.intents.store_trouble, "bob may still object"


async def test_a_silent_store_is_noticed_within_two_seconds(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        anna.link.is_cut = True  # nothing comes back, and nobody says so
        await asyncio.sleep(2.75)  # a look begins after 0.7 s and its call ends after 2 s; with PostgreSQL after 1.2 s
        assert "The store has been away" in anna.intents.store_trouble


async def test_nothing_is_sent_if_the_store_does_not_have_the_step_before_the_first_byte(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        anna.link.cut(notices_s=60)
        with pytest.raises(NotSent, match="the store did not answer"):
            await anna.intents.about_to_send("tt-x", {})
        await anna.intents.note("tt-x", State.WITHDRAWN, {"why": "not sent"})
        anna.link.mend()
        await asyncio.sleep(14)
        assert states_of(desk, desk.scene.uid) == [State.WITHDRAWN]


async def test_an_ambiguous_begin_sends_nothing_and_frees_the_symbol_later(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        preview = await anna.previewed()
        await asyncio.sleep(0.01)
        anna.link.replies_to_lose = 1
        with pytest.raises(Withheld, match="The store did not answer"):
            await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=preview.store_version)
        await asyncio.sleep(14)
        assert states_of(desk, desk.scene.uid) in ([], [State.WITHDRAWN])
        await anna.reversed()
        assert desk.scene.posts == 1


async def test_an_outcome_under_way_is_followed_while_the_store_is_away_and_told_when_it_is_back(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        sent = await anna.confirmed(await anna.previewed())
        anna.link.cut()
        progress = [progress async for progress in anna.execution.follow(sent)]
        assert progress[-1].state is State.SETTLED
        assert (await anna.intents.read(sent.intent)).state is State.SETTLED
        await bob.looked()
        assert bob.intents.unsettled() != ()
        anna.link.mend()
        await asyncio.sleep(14)
        assert bob.intents.unsettled() == ()
        there = desk.server.accounts[desk.scene.uid].rows[sent.intent]
        here = await anna.intents.read(sent.intent)
        assert [event.state for event in there.events] == [event.state for event in here.events]


async def test_a_lock_holds_on_every_machine_within_a_second_and_only_its_person_unlocks(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2", "anna@laptop") as (anna, bob, laptop):
        assert await anna.intents.set_lock(True)
        await asyncio.sleep(1)
        assert bob.intents.locked and laptop.intents.locked
        assert "only anna can unlock it, or an admin with" in bob.blocked(await bob.previewed())
        assert await bob.intents.set_lock(False)
        assert bob.intents.locked and bob.intents.lock.in_store.startswith("anna@desk1 locked trading ")
        assert await laptop.intents.set_lock(False)
        await asyncio.sleep(1)
        assert not bob.intents.locked and not laptop.intents.locked


async def test_a_lock_set_while_the_store_is_away_holds_here_and_reaches_the_others_later(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        anna.link.cut()
        await asyncio.sleep(1)
        assert not await anna.intents.set_lock(True)
        assert anna.intents.locked and not bob.intents.locked
        anna.link.mend()
        await asyncio.sleep(14)
        assert bob.intents.locked


async def test_a_lock_set_while_the_store_is_away_reaches_the_others_in_a_later_session_too(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        anna.link.cut()
        await asyncio.sleep(1)
        assert not await anna.intents.set_lock(True)
        await anna.execution.stop()
        async with running(desk, "anna@desk1") as [anna]:
            assert anna.intents.locked and bob.intents.lock.in_store.startswith("anna@desk1 locked trading ")
            assert await anna.intents.set_lock(False)
        async with running(desk, "anna@desk1"):
            assert not bob.intents.locked, "it is told once"


async def test_a_session_that_ends_tells_the_store_its_last_step(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.looked()
        await anna.intents.note("tt-x", State.WITHDRAWN, {})
        await anna.execution.stop()
        await bob.looked()
        assert bob.intents.unsettled() == ()


async def test_a_lock_set_elsewhere_a_moment_before_the_first_byte_stops_it(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await bob.store.lock_trading(True)
        with pytest.raises(NotSent, match="locked"):
            await anna.intents.about_to_send("tt-x", {})


async def test_what_a_machine_that_is_gone_has_sent_is_settled_by_one_other(desk: Desk) -> None:
    async with running(desk, "bob@desk2", "carl@desk3") as (bob, carl):
        described = set()
        for machine in (bob, carl):
            machine.execution.followed.subscribe(lambda sent, _: described.add(sent.described("reversed", UTC)))
        anna = await desk.machine("desk1")
        sent = await anna.confirmed(await anna.previewed())
        assert "anna" not in sent.described("reversed", UTC)
        await anna.execution.stop()  # it saw the reply; the outcome it did not see
        sentences = ""
        for _ in range(10 * 60):
            await asyncio.sleep(0.1)
            sentences += str(bob.intents.unsettled())
        assert "by anna@desk1, looked after by" in sentences and "by bob@desk2, looked" not in sentences
        assert len(described) == 1 and described.pop().endswith(" by anna@desk1)")
        assert states_of(desk, desk.scene.uid) == [State.SETTLED]
        assert bob.intents.unsettled() == carl.intents.unsettled() == ()
        row = desk.server.accounts[desk.scene.uid].rows[sent.intent]
        assert row.writer in (bob.store.writer, carl.store.writer)
        # Her own machine takes the end over when it comes back.
        again = await desk.machine("desk1")
        await again.looked(3)
        assert (await again.intents.read(sent.intent)).state is State.SETTLED
        assert again.intents.unsettled() == ()
        await again.execution.stop()
        assert desk.scene.posts == 1


async def test_a_sender_that_is_cut_off_from_the_store_and_its_follower_settle_the_same_end(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        sent = await anna.confirmed(await anna.previewed())
        anna.link.cut()
        progress = [progress async for progress in anna.execution.follow(sent)]
        await asyncio.sleep(90)
        assert states_of(desk, desk.scene.uid) == [State.SETTLED]
        assert desk.server.accounts[desk.scene.uid].rows[sent.intent].writer == bob.store.writer
        anna.link.mend()
        await asyncio.sleep(14)
        assert progress[-1].state is (await anna.intents.read(sent.intent)).state is State.SETTLED
        assert anna.intents.store_trouble == "" and anna.intents.unsettled() == bob.intents.unsettled() == ()
        await bob.confirmed(await bob.execution.preview(Target(SYMBOL, USDT, Side.SELL)))
        assert desk.scene.posts == 2


async def test_a_sender_that_is_back_says_how_its_call_ended_though_another_machine_follows_it(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.intents.about_to_send("tt-x", {})
        anna.link.cut()
        await asyncio.sleep(1)
        await anna.intents.note("tt-x", State.REJECTED, {"code": "40762"})
        await asyncio.sleep(2 * LEASE_S)
        assert "looked after by bob@desk2" in str(bob.intents.unsettled())
        anna.link.mend()
        await asyncio.sleep(LEASE_S / 2)
        assert states_of(desk, desk.scene.uid) == [State.REJECTED] and bob.intents.unsettled() == ()


async def test_an_unknown_outcome_of_a_machine_that_is_gone_is_released_by_another_and_ends_there_too(
    desk: Desk,
) -> None:
    async with running(desk, "bob@desk2") as (bob,):
        anna = await desk.machine("desk1")
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.intents.about_to_send("tt-x", {})
        await anna.intents.note("tt-x", State.UNKNOWN, {"why": "no reply"})
        await anna.looked()
        await anna.execution.stop()
        await asyncio.sleep(100)
        await bob.execution.release("tt-x", "looked at the site")
        row = desk.server.accounts[desk.scene.uid].rows["tt-x"]
        assert row.state is State.RELEASED and row.writer == bob.store.writer
        async with running(desk, "anna@desk1") as (again,):
            await ended_by_bob(again, bob)


async def test_an_unknown_outcome_of_a_machine_that_runs_is_released_by_another_too(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.intents.about_to_send("tt-x", {})
        await anna.intents.note("tt-x", State.UNKNOWN, {"why": "no reply"})
        await asyncio.sleep(60)
        intent = await bob.intents.read("tt-x")
        assert (
            bob.execution.reason_against_release(intent)
            == "It may still arrive at the exchange; in 35 s it can be released."
        )
        await asyncio.sleep(36)
        await bob.execution.release("tt-x", "looked at the site")
        await anna.looked()
        await ended_by_bob(anna, bob)


async def ended_by_bob(anna: Machine, bob: Machine) -> None:
    released = await anna.intents.read("tt-x")
    assert released.state is State.RELEASED and released.details["by"] == "bob@desk2"
    assert anna.intents.unsettled() == bob.intents.unsettled() == ()


async def test_what_was_begun_and_never_sent_by_a_machine_that_is_gone_is_withdrawn(desk: Desk) -> None:
    async with running(desk, "bob@desk2") as (bob,):
        anna = await desk.machine("desk1")
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.execution.stop()
        await asyncio.sleep(40)
        assert states_of(desk, desk.scene.uid) == [State.WITHDRAWN]
        assert bob.intents.unsettled() == ()


async def test_a_machine_that_wakes_after_its_intent_was_withdrawn_sends_nothing(desk: Desk) -> None:
    async with running(desk, "bob@desk2") as (_bob,):
        anna = await desk.machine("desk1")
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        shared = anna.intents.shared
        assert shared is not None
        await anna.execution._tasks.stop()  # suspended: it neither looks nor follows
        await asyncio.sleep(36 + LEASE_S)
        with pytest.raises(NotSent):
            await anna.intents.about_to_send("tt-x", {})
        assert desk.scene.posts == 0
        await anna.execution.stop()


async def test_a_store_restored_from_an_older_copy_stops_trading_until_a_person_has_looked(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.reversed()
        await anna.looked(3)
        older = desk.server.snapshot()
        for intent in ("tt-w", "tt-x"):
            await anna.intents.begin(intent, SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
            if intent == "tt-w":
                await anna.intents.note(intent, State.WITHDRAWN, {})
            await anna.looked()
        desk.server.restore(older)
        await anna.looked(8)
        version = desk.server.accounts[desk.scene.uid].version
        await anna.looked(8)
        assert desk.server.accounts[desk.scene.uid].version == version, "each machine objects once"
        for machine in (anna, bob):
            assert "went back in time" in machine.blocked(await machine.previewed())
            with pytest.raises(Withheld, match="went back in time"):
                await machine.intents.begin("tt-y", SCOPE, "reversal", {}, after_in_store=0)
        assert await anna.intents.accept_older_store()
        assert anna.intents.locked and anna.intents.store_trouble == ""
        assert desk.server.accounts[desk.scene.uid].rows["tt-x"].state is State.INTENDED
        assert "went back in time" in bob.intents.store_trouble
        assert await bob.intents.accept_older_store()
        assert bob.intents.unsettled() == (f"{SCOPE}: tt-x, intended by anna@desk1",)


async def test_a_machine_that_saw_nothing_newer_than_an_older_copy_sends_nothing_either(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "carl@desk3") as (anna, carl):
        carl.link.cut()
        older = desk.server.snapshot()
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.looked()
        desk.server.restore(older)
        carl.link.mend()
        for _ in range(30):
            await asyncio.sleep(0.5)
            with pytest.raises(Withheld):
                await carl.intents.begin("tt-y", ELSEWHERE, "reversal", {}, after_in_store=0)
        assert carl.intents.store_trouble == "" and carl.intents.lock.in_store.startswith("anna@desk1")
        assert carl.intents.unsettled() == (f"{SCOPE}: tt-x, intended by anna@desk1",)


async def test_a_session_objects_for_what_another_of_its_machine_has_seen(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "anna@desk1", "carl@desk3") as (first, second, carl):
        older = desk.server.snapshot()
        first.link.cut()
        carl.link.cut()
        await second.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=second.intents.store_version)
        await second.intents.note("tt-x", State.WITHDRAWN, {})
        await second.looked()
        second.link.cut()
        desk.server.restore(older)
        first.link.mend()
        carl.link.mend()
        await carl.looked(OTHERS_LOOK_S)
        assert "went back in time" in first.intents.store_trouble
        assert carl.intents.lock.in_store.startswith("anna@desk1")


async def test_an_event_number_that_was_given_before_shows_an_older_store_at_the_last_moment(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        older = desk.server.snapshot()
        await anna.reversed()
        await anna.looked()
        desk.server.accounts = older  # as if nobody had noticed that the connection was another one
        with pytest.raises(Withheld, match="The store has lost events"):
            await anna.intents.begin("tt-x", ELSEWHERE, "reversal", {}, after_in_store=0)


async def test_a_restored_store_is_noticed_by_a_session_that_was_not_running(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        older = desk.server.snapshot()
        await anna.reversed()
        await anna.looked(3)
    desk.server.restore(older)
    async with running(desk, "anna@desk1") as (anna,):
        assert "went back in time" in anna.intents.store_trouble


async def test_whatever_keeps_the_journals_from_being_compared_stops_sending_and_is_said(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        mark = anna.location.file.with_name(MARK_FILE)
        mark.write_text("torn")
        anna.link.cut()
        await asyncio.sleep(1)
        anna.link.mend()
        assert anna.intents.shared is not None
        anna.intents.shared.mark.newest_step = None  # as in a session that starts now
        await asyncio.sleep(14)
        assert "cannot be read" in anna.blocked(await anna.previewed())
        mark.unlink()
        await anna.looked()
        assert anna.blocked(await anna.previewed()) == ""


async def test_a_newer_schema_under_an_open_session_stops_sending(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        desk.server.schema_is_newer = True
        await anna.looked()
        assert "schema is newer" in anna.blocked(await anna.previewed())
        assert desk.scene.posts == 0


async def test_a_viewer_sees_what_others_do_and_sends_nothing(desk: Desk) -> None:
    desk.server.roles["vera"] = "viewer"
    async with running(desk, "anna@desk1", "vera@desk2") as (anna, vera):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await vera.looked()
        assert vera.intents.unsettled() == (f"{SCOPE}: tt-x, intended by anna@desk1",)
        vera.intents.lock.hold()
        reasons = vera.blocked(await vera.previewed())
        assert "vera may only view this account" in reasons and SendsNothing.LOCKED not in reasons


async def test_an_account_whose_uid_nobody_told_sends_nothing_with_a_store(desk: Desk) -> None:
    machine = await desk.machine("desk1", uid=None)
    assert "set uid in the profile" in machine.blocked(await machine.previewed())
    with pytest.raises(Withheld, match="set uid"):
        await machine.intents.begin("tt-x", SCOPE, "reversal", {})
    await machine.execution.stop()


async def test_a_session_whose_journal_cannot_be_opened_does_not_blame_the_exchange(desk: Desk) -> None:
    clock, link = desk.scene.client.clock, Link()

    def open_store(account: str) -> AccountStore:
        return memory_store(desk.server, account, Writer("anna", "desk1"), clock, link)

    intents = Intents(None, InlineDisk(), clock, "", lambda: "tt-1", start_locked=False, open_store=open_store)
    assert intents.store_trouble == ""
    with pytest.raises(Withheld, match="the account is not identified yet"):
        await intents.begin("tt-x", SCOPE, "reversal", {})


async def test_a_session_without_the_store_sends_nothing_on_a_machine_that_has_joined(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        location = anna.location
    alone = Intents(None, InlineDisk(), desk.scene.client.clock, "", lambda: "tt-1", start_locked=False)
    assert not await alone.open(desk.scene.uid, location)
    assert not await alone.try_again()
    assert "has joined a store" in str(alone.trouble) and "tradetui store leave" in str(alone.trouble)
    with pytest.raises(Withheld, match="has joined a store"):
        await alone.begin("tt-x", SCOPE, "reversal", {})


async def test_an_order_of_this_program_that_is_in_no_journal_locks_its_symbol_and_is_said(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        orders, stranger = anna.execution.unjournaled, desk.scene.execution

        async def read() -> None:
            fills = await desk.scene.client.futures.fills(product_type=USDT, symbol=SYMBOL)
            orders.see_fills([ProductRow(USDT, fill) for fill in fills.rows])
            await asyncio.sleep(3)

        await read()
        await anna.reversed()
        await read()
        assert anna.intents.unsettled() == ()
        stranger.intents.new_id = lambda: f"tt-{'a' * 25}"
        preview = await stranger.preview(Target(SYMBOL, USDT, Side.SELL))
        await stranger.confirm(preview, preview.subject)
        await read()
        assert "is in no journal: a machine without the store" in anna.blocked(await anna.previewed())
        await asyncio.sleep(40)
        assert anna.intents.unsettled() == ()


async def test_an_intent_begun_before_the_store_was_joined_is_carried_over(desk: Desk) -> None:
    async with running(desk, "bob@desk2") as (bob,):
        location = JournalLocation(desk.folder / "desk1" / "account" / "journal.sqlite")
        before = Intents(None, InlineDisk(), desk.scene.client.clock, "", lambda: "tt-1", start_locked=False)
        assert await before.open(desk.scene.uid, location)
        await before.begin("tt-x", SCOPE, "reversal", {})
        await before.step("tt-x", State.SENT, {})
        await before.step("tt-x", State.UNKNOWN, {})
        anna = await desk.machine("desk1")
        await anna.looked()
        assert bob.intents.unsettled() == (f"{SCOPE}: tt-x, unknown by anna@desk1",)
        await anna.execution.stop()


@asynccontextmanager
async def left_to_bob(desk: Desk) -> AsyncIterator[tuple[Machine, Machine]]:
    """Anna's intent, acknowledged and cut off from the store until Bob follows it."""
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.intents.about_to_send("tt-x", {})
        await anna.intents.note("tt-x", State.ACKNOWLEDGED, {})
        await anna.looked()
        anna.link.cut()
        await asyncio.sleep(60)
        assert [intent.id for intent in await bob.intents.not_settled()] == ["tt-x"]
        yield anna, bob


async def test_what_a_follower_has_settled_is_not_taken_up_again(desk: Desk) -> None:
    async with left_to_bob(desk) as (_, bob):
        await bob.intents.step("tt-x", State.SETTLED, {"outcome": "reversed"})
        assert await bob.intents.not_settled() == []


async def test_an_end_told_late_does_not_replace_a_later_correction_which_reaches_its_machine(desk: Desk) -> None:
    async with left_to_bob(desk) as (anna, bob):
        await anna.intents.step("tt-x", State.SETTLED, {"outcome": "reversed"})
        await bob.intents.step("tt-x", State.SETTLED, {"outcome": "closed only"})
        await bob.intents.step("tt-x", State.CORRECTED, {"why": "its order went on filling"})
        anna.link.mend()
        await asyncio.sleep(14 + LEASE_S)
        assert states_of(desk, desk.scene.uid) == [State.CORRECTED]
        assert (await anna.intents.read("tt-x")).details["by"] == "bob@desk2"
        assert anna.intents.unsettled() != ()
        await bob.intents.step("tt-x", State.SETTLED, {"outcome": "reversed smaller"})
        await anna.looked()
        ended = await anna.intents.read("tt-x")
        assert [event.state for event in ended.events[-3:]] == [State.SETTLED, State.CORRECTED, State.SETTLED]
        assert ended.end == "reversed smaller"
        assert anna.intents.unsettled() == bob.intents.unsettled() == ()


async def test_a_machine_that_wakes_does_not_release_what_another_has_settled(desk: Desk) -> None:
    async with left_to_bob(desk) as (anna, bob):
        await anna.intents.step("tt-x", State.UNKNOWN, {"why": "no reply"})
        await bob.intents.step("tt-x", State.SETTLED, {"outcome": "reversed"})
        with pytest.raises(Withheld, match="The store did not answer"):
            await anna.execution.release("tt-x", "looked at the site")
        await anna.execution._tasks.stop()  # suspended until the store is back: it has not looked yet
        anna.link.mend()
        await asyncio.sleep(14)
        with pytest.raises(WrongStep):
            await anna.execution.release("tt-x", "looked at the site")
        assert (await anna.intents.read("tt-x")).end == "reversed"
        assert states_of(desk, desk.scene.uid) == [State.SETTLED]


async def sent_after_a_copy(anna: Machine, desk: Desk) -> dict[str, AccountRows]:
    """Let anna begin, copy the store, and let her send; return the copy."""
    await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
    older = desk.server.snapshot()
    await anna.intents.about_to_send("tt-x", {})
    await anna.intents.note("tt-x", State.UNKNOWN, {"why": "no reply"})
    await anna.looked()
    return older


async def test_what_an_older_copy_has_as_begun_is_not_withdrawn_by_others_if_it_was_sent(desk: Desk) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        older = await sent_after_a_copy(anna, desk)
        await asyncio.sleep(60)
        desk.server.restore(older)
        async with running(desk, "bob@desk2") as (bob,):
            assert bob.intents.unsettled() == (f"{SCOPE}: tt-x, unknown by anna@desk1",)
            assert await anna.intents.accept_older_store()
            await anna.looked()
            assert (await anna.intents.read("tt-x")).state is State.UNKNOWN
            assert states_of(desk, desk.scene.uid) == [State.UNKNOWN]


@pytest.mark.parametrize("end", [State.UNKNOWN, State.SETTLED])
async def test_what_others_withdrew_by_an_older_copy_is_entered_as_it_was_once_its_machine_is_back(
    desk: Desk, end: State
) -> None:
    async with running(desk, "anna@desk1") as (anna,):
        older = await sent_after_a_copy(anna, desk)
        if end is not State.UNKNOWN:
            await anna.intents.note("tt-x", end, {"outcome": "reversed"})
        await anna.looked()
    desk.server.restore(older)
    async with running(desk, "bob@desk2") as (bob,):
        await asyncio.sleep(40)
        assert states_of(desk, desk.scene.uid) == [State.WITHDRAWN], "nobody here can know better"
        async with running(desk, "anna@desk1") as (anna,):
            assert await anna.intents.accept_older_store()
            await anna.looked()
            assert states_of(desk, desk.scene.uid) == [end] == [(await anna.intents.read("tt-x")).state]
            assert bool(bob.intents.unsettled()) == (end is State.UNKNOWN)


async def test_what_had_ended_and_is_lost_with_the_store_is_entered_again(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await bob.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=bob.intents.store_version)
        await bob.intents.note("tt-x", State.WITHDRAWN, {})
        await bob.looked()
        older = desk.server.snapshot()
        await anna.reversed()
        await anna.looked()
        lost = (await anna.intents.newest())[0]
        desk.server.restore(older)
        await anna.looked(8)
        assert await anna.intents.accept_older_store()
        assert await bob.intents.accept_older_store()
        shown = {intent.id: intent for intent in await bob.intents.newest_of_all()}
        assert shown[lost.id].state is State.SETTLED
        assert {**shown[lost.id].details, STORE_NUMBER: lost.details[STORE_NUMBER]} == lost.details


async def test_what_a_full_disk_kept_from_being_sent_locks_no_other_machine(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):

        def full(*_: object, **__: object) -> None:
            raise OSError("No space left on device")

        assert anna.intents._journal is not None
        monkeypatch.setattr(anna.intents._journal, "begin", full)
        monkeypatch.setattr("tradetui.desk.intents.journal.store_mark.write_text", full)
        with pytest.raises(Withheld, match="No space left"):
            await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await bob.looked()
        assert states_of(desk, desk.scene.uid) == [State.WITHDRAWN] and bob.intents.unsettled() == ()


async def test_nobody_waits_for_the_machine_of_a_viewer(desk: Desk) -> None:
    desk.server.roles["vera"] = "viewer"
    async with running(desk, "vera@desk2", "anna@desk1") as (_vera, anna):
        desk.server.restart()
        await asyncio.sleep(2.5)
        assert anna.intents.store_trouble == ""


async def test_nothing_is_released_in_a_store_that_went_back_before_a_person_has_accepted_it(desk: Desk) -> None:
    async with running(desk, "anna@desk1", "bob@desk2") as (anna, bob):
        await anna.intents.begin("tt-x", SCOPE, "reversal", {}, after_in_store=anna.intents.store_version)
        await anna.intents.about_to_send("tt-x", {})
        await anna.intents.note("tt-x", State.UNKNOWN, {"why": "no reply"})
        await anna.looked()
        older = desk.server.snapshot()
        await bob.store.begin("tt-y", ELSEWHERE, "reversal", {}, after=None)
        await anna.looked()
        desk.server.restore(older)
        await asyncio.sleep(40)
        with pytest.raises(Withheld, match="went back in time"):
            await anna.execution.release("tt-x", "looked at the site")
        assert desk.server.accounts[desk.scene.uid].rows["tt-x"].state is State.UNKNOWN

"""The contract of the store that several machines share, held by the store in memory and by PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from math import inf
from typing import Any

import pytest

from tests.desk.intents.memory_store import LONGEST_WAIT_S, Link, MemoryServer, memory_store
from tests.postgres import PEOPLE, StoreDatabase
from tradetui.desk.intents.journal.account_store import AccountStore, StoreRefusal, Writer
from tradetui.desk.intents.states import ENDED, TRANSITIONS, State
from tradetui.exchange.clock import LoopClock
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.storage.postgres.server import PostgresServer

OpenStore = Callable[..., Awaitable[AccountStore]]
BTC, ETH = "USDT-FUTURES|BTCUSDT", "USDT-FUTURES|ETHUSDT"
PATHS: dict[State, tuple[State, ...]] = {
    State.INTENDED: (),
    State.WITHDRAWN: (State.WITHDRAWN,),
    State.SENT: (State.SENT,),
    State.ACKNOWLEDGED: (State.SENT, State.ACKNOWLEDGED),
    State.REJECTED: (State.SENT, State.REJECTED),
    State.UNKNOWN: (State.SENT, State.UNKNOWN),
    State.SETTLED: (State.SENT, State.ACKNOWLEDGED, State.SETTLED),
    State.CORRECTED: (State.SENT, State.ACKNOWLEDGED, State.SETTLED, State.CORRECTED),
    State.RELEASED: (State.SENT, State.UNKNOWN, State.RELEASED),
}
PATIENCE_S = 20.0


@pytest.fixture
def in_memory() -> OpenStore:
    server = MemoryServer()

    async def open_store(person: str, machine: str, *, account: str = "account") -> AccountStore:
        server.roles[person] = PEOPLE[person]
        return memory_store(server, account, Writer(person, machine), LoopClock(0), Link())

    return open_store


@pytest.fixture
def in_postgres(store_database: StoreDatabase) -> OpenStore:
    async def open_store(person: str, machine: str, *, account: str = "account") -> AccountStore:
        server = PostgresServer(store_database.conninfo(person))
        await server.open()
        await server.call("join_account", account, "https://exchange.example", "live", "1001", machine, None)
        return AccountStore(server, account, machine)

    return open_store


@pytest.fixture(params=["in_memory", "in_postgres"])
async def open_store(request: pytest.FixtureRequest) -> AsyncIterator[OpenStore]:
    """Open stores of one account, one for each person and machine; all are closed in the end."""
    opened: list[AccountStore] = []
    opens: OpenStore = request.getfixturevalue(request.param)

    async def opening(*names: str, **options: str) -> AccountStore:
        opened.append(await opens(*names, **options))
        return opened[-1]

    yield opening
    for store in opened:
        await store.aclose()


async def begun(store: AccountStore, intent: str = "i1", scope: str = BTC, after: int | None = None) -> int:
    return await store.begin(intent, scope, "reversal", {"request": {"symbol": "BTCUSDT"}}, after=after)


async def stepped(
    store: AccountStore, intent: str, *states: State, fence: int | None = None, prior: State | None = None
) -> int:
    """Take steps one after the other; return the number of the last."""
    number = 0
    for state in states:
        version = (await store.state()).version
        step = f"{intent} {state} {version}"
        number = await store.step(intent, state, {"reached": str(state)}, step=step, prior=prior, fence=fence)
    return number


class refusal:
    """Expect a refusal of a code, and details with these values."""

    def __init__(self, code: StoreRefusal, **detail: object) -> None:
        self._code, self._detail = code, detail

    def __enter__(self) -> None:
        self._raises = pytest.raises(StoreRefused)
        self._info = self._raises.__enter__()

    def __exit__(self, *problem: Any) -> bool:
        done = self._raises.__exit__(*problem)
        refused = self._info.value
        assert refused.code == self._code, refused
        assert {name: refused.detail.get(name) for name in self._detail} == self._detail
        return bool(done)


async def test_an_open_intent_locks_its_scope_on_every_machine(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    await begun(anna)
    with refusal(StoreRefusal.ALREADY_OPEN, intent="i1", state="intended", person="anna", machine="desk2"):
        await begun(bob, "i2")
    await begun(bob, "i3", ETH)
    await stepped(anna, "i1", State.SENT, State.REJECTED)
    await begun(bob, "i4")
    shown = {intent.id: intent for intent in (await anna.state()).open}
    assert set(shown) == {"i3", "i4"}
    assert shown["i4"].writer == Writer("bob", "laptop")
    assert str(shown["i4"].writer) == "bob@laptop"
    assert 0 <= shown["i4"].age_s < PATIENCE_S
    assert 0 <= shown["i4"].machine_seen_s < PATIENCE_S


async def test_begun_on_two_machines_at_once_one_is_begun(open_store: OpenStore) -> None:
    stores = [await open_store("anna", "desk2"), await open_store("bob", "laptop")]
    for turn in range(10):
        ended = await asyncio.gather(
            *(begun(store, f"{turn} of {store.writer.machine}") for store in stores), return_exceptions=True
        )
        refusals = [problem for problem in ended if isinstance(problem, StoreRefused)]
        assert [problem.code for problem in refusals] == [StoreRefusal.ALREADY_OPEN], ended
        [standing] = (await stores[0].state()).open
        await stepped(stores[0], standing.id, State.WITHDRAWN)


async def test_the_same_call_again_has_the_same_answer(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    number = await begun(anna)
    assert await begun(anna) == number
    sent = await anna.step("i1", State.SENT, {}, step="s1", prior=None, fence=None)
    assert await anna.step("i1", State.SENT, {}, step="s1", prior=None, fence=None) == sent
    assert [event.number for event in await anna.events_after(0)] == [number, sent]
    with refusal(StoreRefusal.ALREADY_OPEN):
        await begun(bob)


async def test_events_are_numbered_in_the_order_in_which_they_were_written(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    first = await begun(anna)
    second = await begun(bob, "i2", ETH)
    third = await stepped(anna, "i1", State.SENT)
    assert first < second < third == (await bob.state()).version
    events = await bob.events_after(first)
    assert [(event.number, event.intent, event.state, event.writer.person) for event in events] == [
        (second, "i2", State.INTENDED, "bob"),
        (third, "i1", State.SENT, "anna"),
    ]
    intent = await bob.read("i1")
    assert (intent.id, intent.scope, intent.kind, intent.state) == ("i1", BTC, "reversal", State.SENT)
    assert [event.state for event in intent.events] == [State.INTENDED, State.SENT]
    assert [(event.owner, event.chain) for event in intent.events] == [
        ("anna@desk2", event.step) for event in await bob.events_after(0) if event.intent == "i1"
    ]
    assert intent.details["request"] == {"symbol": "BTCUSDT"}
    assert intent.details["reached"] == "sent"
    assert [intent.id for intent in await bob.newest(10)] == ["i2", "i1"]
    age_ms = (await bob.state()).now_ms - intent.events[-1].at_ms
    assert 0 <= age_ms < PATIENCE_S * 1000


async def test_what_rests_on_rows_that_somebody_has_overtaken_is_not_begun(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    looked_at = (await anna.state()).version
    await begun(bob, "i1", ETH)
    await begun(bob, "i2")
    number = await stepped(bob, "i2", State.SENT, State.REJECTED)
    with refusal(StoreRefusal.OVERTAKEN, person="bob", machine="laptop", number=number):
        await begun(anna, "i3", after=looked_at)
    await begun(anna, "i3", after=(await anna.state()).version)


@pytest.mark.parametrize("state", State)
async def test_only_the_steps_of_the_state_machine_are_taken(open_store: OpenStore, state: State) -> None:
    anna = await open_store("anna", "desk2")
    for other in State:
        intent = f"{state} to {other}"
        await begun(anna, intent, f"scope of {intent}")
        await stepped(anna, intent, *PATHS[state])
        if other in TRANSITIONS.get(state, ()):
            await stepped(anna, intent, other)
            assert (await anna.read(intent)).state is other
        else:
            with refusal(StoreRefusal.WRONG_STEP):
                await stepped(anna, intent, other)
            assert (await anna.read(intent)).state is state
        is_open = intent in {row.id for row in (await anna.state()).open}
        assert is_open == ((await anna.read(intent)).state not in ENDED)


async def test_a_step_based_on_a_state_that_was_left_is_refused(open_store: OpenStore) -> None:
    anna = await open_store("anna", "desk2")
    await begun(anna)
    await stepped(anna, "i1", State.SENT, State.UNKNOWN)
    with refusal(StoreRefusal.WRONG_STEP):
        await stepped(anna, "i1", State.UNKNOWN, prior=State.SENT)
    with refusal(StoreRefusal.WRONG_STEP):
        await stepped(anna, "i9", State.SENT)


async def test_a_corrected_intent_takes_its_scope_again_once_another_one_ends(open_store: OpenStore) -> None:
    anna = await open_store("anna", "desk2")
    await begun(anna)
    await stepped(anna, "i1", *PATHS[State.SETTLED])
    await begun(anna, "i2")
    await stepped(anna, "i1", State.CORRECTED)
    assert {row.id for row in (await anna.state()).open} == {"i1", "i2"}
    with refusal(StoreRefusal.ALREADY_OPEN, intent="i2"):
        await begun(anna, "i3")
    await stepped(anna, "i2", State.SENT, State.REJECTED)
    assert {row.id for row in (await anna.state()).open} == {"i1"}
    with refusal(StoreRefusal.ALREADY_OPEN, intent="i1", state="corrected"):
        await begun(anna, "i3")


async def test_what_is_open_on_a_machine_already_is_entered_once_even_while_trading_is_locked(
    open_store: OpenStore,
) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    await bob.lock_trading(True)
    details = {"title": "of before"}
    for _ in range(2):
        assert await anna.adopt("i1", BTC, "reversal", State.UNKNOWN, details, step="unknown of i1") == 2
    with refusal(StoreRefusal.ALREADY_OPEN, intent="i1", state="unknown", person="anna", machine="desk2"):
        await bob.adopt("i2", BTC, "reversal", State.SENT, {}, step="sent of i2")
    assert (await bob.read("i1")).details == details
    assert (await stepped(anna, "i1", State.SETTLED)) == 3


async def test_what_another_account_has_is_not_entered(open_store: OpenStore) -> None:
    one, other = await open_store("anna", "desk1"), await open_store("bob", "desk2", account="other")
    await begun(one)
    with refusal(StoreRefusal.WRONG_STEP):
        await other.adopt("i1", BTC, "reversal", State.RELEASED, {}, step="a step")
    assert [row.id for row in (await one.state()).open] == ["i1"]


async def test_characters_that_postgresql_takes_in_no_text_are_replaced(open_store: OpenStore) -> None:
    store = await open_store("anna", "desk1")
    await begun(store)
    details = {"reply": [{"message": "no\0pe \ud800"}], "size": 3}
    await store.step("i1", State.SENT, details, step="a step", prior=None, fence=None)
    assert (await store.read("i1")).events[-1].details == {"reply": [{"message": "no?pe ?"}], "size": 3}


async def test_one_machine_follows_at_a_time(open_store: OpenStore) -> None:
    anna, bob, third = [
        await open_store(*writer) for writer in (("anna", "desk2"), ("bob", "laptop"), ("bob", "desk3"))
    ]
    await begun(anna)
    await stepped(anna, "i1", State.SENT)
    fence = await bob.take_over("i1", 30.0)
    with refusal(StoreRefusal.ANOTHER_FOLLOWS, person="bob", machine="laptop"):
        await third.take_over("i1", 30.0)
    with refusal(StoreRefusal.ANOTHER_FOLLOWS, person="bob", machine="laptop"):
        await stepped(anna, "i1", State.UNKNOWN)
    [shown] = (await anna.state()).open
    assert shown.follower == bob.writer
    assert 0 < shown.follower_left_s <= 30.0
    assert await bob.take_over("i1", 30.0) == fence
    await stepped(bob, "i1", State.UNKNOWN, fence=fence)
    [shown] = (await anna.state()).open
    assert (shown.writer, shown.last_writer) == (anna.writer, bob.writer), "who began it stays the one who sent it"
    with refusal(StoreRefusal.ALREADY_OPEN, person="anna", machine="desk2"):
        await begun(bob, "i2")
    await stepped(bob, "i1", State.SETTLED, fence=fence)


async def test_a_sender_that_is_back_takes_its_intent_from_a_follower(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    await begun(anna)
    await stepped(anna, "i1", State.SENT)
    lost_fence = await bob.take_over("i1", 30.0)
    fence = await anna.take_over("i1", 30.0)
    assert fence > lost_fence
    with refusal(StoreRefusal.ANOTHER_FOLLOWS, person="anna", machine="desk2"):
        await stepped(bob, "i1", State.UNKNOWN, fence=lost_fence)
    with refusal(StoreRefusal.ANOTHER_FOLLOWS, person="anna", machine="desk2"):
        await bob.take_over("i1", 30.0)
    await stepped(anna, "i1", State.REJECTED, fence=fence)


async def test_a_lease_that_ran_out_passes_on_and_its_steps_are_refused(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    await begun(anna)
    await stepped(anna, "i1", State.SENT)
    lost_fence = await bob.take_over("i1", 0.05)
    async with asyncio.timeout(PATIENCE_S):
        while (await anna.state()).open[0].follower is not None:  # noqa: ASYNC110 - the server's time decides
            await asyncio.sleep(0.01)
    fence = await anna.take_over("i1", 30.0)
    assert fence > lost_fence
    with refusal(StoreRefusal.ANOTHER_FOLLOWS, person="anna", machine="desk2"):
        await stepped(bob, "i1", State.UNKNOWN, fence=lost_fence)
    await stepped(anna, "i1", State.UNKNOWN, fence=fence)


async def test_a_lock_of_trading_holds_everywhere_until_its_own_person_unlocks(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    await begun(bob)
    await begun(bob, "under way", ETH)
    await stepped(bob, "under way", State.SENT)
    [lock] = await anna.lock_trading(True)
    assert lock.writer == anna.writer
    assert 0 <= lock.age_s < PATIENCE_S
    assert [lock.writer for lock in (await bob.state()).locks] == [anna.writer]
    with refusal(StoreRefusal.TRADING_LOCKED, person="anna", machine="desk2"):
        await begun(bob, "i2", "another scope")
    with refusal(StoreRefusal.TRADING_LOCKED, person="anna", machine="desk2"):
        await stepped(bob, "i1", State.SENT)
    await stepped(bob, "i1", State.WITHDRAWN)
    await stepped(bob, "under way", State.UNKNOWN, State.SETTLED)
    assert len(await bob.lock_trading(True)) == 2
    assert [lock.writer for lock in await bob.lock_trading(False)] == [anna.writer]
    assert await anna.lock_trading(False) == ()
    await begun(bob, "i2", "another scope")


async def test_a_viewer_sees_and_begins_nothing(open_store: OpenStore) -> None:
    anna, vera = await open_store("anna", "desk2"), await open_store("vera", "hall")
    await begun(anna)
    assert [row.id for row in (await vera.state()).open] == ["i1"]
    assert (await vera.read("i1")).state is State.INTENDED
    for attempt in (
        begun(vera, "i2", ETH),
        stepped(vera, "i1", State.SENT),
        vera.take_over("i1", 5.0),
        vera.lock_trading(True),
    ):
        with refusal(StoreRefusal.NOT_A_TRADER):
            await attempt


async def test_a_change_wakes_the_other_machines(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    await bob.state()
    for change in (begun(anna), stepped(anna, "i1", State.SENT), anna.lock_trading(True)):
        heard = asyncio.Event()
        bob.on_change = heard.set
        await change
        async with asyncio.timeout(PATIENCE_S):
            await heard.wait()


async def test_accounts_know_nothing_of_each_other(open_store: OpenStore) -> None:
    one, two = await open_store("anna", "desk2"), await open_store("anna", "desk2", account="another")
    await begun(one)
    await begun(two, "i2")
    assert [row.id for row in (await one.state()).open] == ["i1"]
    assert [event.intent for event in await two.events_after(0)] == ["i2"]


@pytest.mark.parametrize("person", ["vera", "anna"])
async def test_the_state_says_what_a_person_may_do(open_store: OpenStore, person: str) -> None:
    store = await open_store(person, "hall")
    assert (await store.state()).role == PEOPLE[person]


async def test_what_is_in_no_store_cannot_be_read(open_store: OpenStore) -> None:
    anna = await open_store("anna", "desk2")
    with pytest.raises(KeyError):
        await anna.read("i1")


class Faulty:
    """A server in memory and the ways of two machines to it."""

    def __init__(self) -> None:
        self.server, self.links = MemoryServer(), [Link(), Link()]
        self.anna = memory_store(self.server, "account", Writer("anna", "desk2"), LoopClock(0), self.links[0])
        self.bob = memory_store(self.server, "account", Writer("bob", "laptop"), LoopClock(0), self.links[1])


@pytest.mark.looptime
async def test_in_memory_a_call_whose_reply_is_lost_is_done_and_the_same_again_is_answered() -> None:
    faulty = Faulty()
    faulty.links[0].replies_to_lose = 1
    with pytest.raises(StoreAway):
        await begun(faulty.anna)
    assert faulty.anna.away_since is not None
    with refusal(StoreRefusal.ALREADY_OPEN, person="anna"):
        await begun(faulty.bob, "i2")
    await asyncio.sleep(1)
    assert faulty.anna.away_since is None
    assert await begun(faulty.anna) == 1


@pytest.mark.looptime
async def test_in_memory_a_way_that_is_cut_is_noticed_and_found_again() -> None:
    faulty = Faulty()
    changes: list[float | None] = []
    faulty.anna.on_change = lambda: changes.append(faulty.anna.away_since)
    faulty.links[0].cut(1.0)
    with pytest.raises(StoreAway):
        await faulty.anna.state()
    await begun(faulty.bob)
    assert changes == [1.0]
    faulty.links[0].mend()
    await asyncio.sleep(LONGEST_WAIT_S)
    assert changes == [1.0, None]
    assert len((await faulty.anna.state()).open) == 1


@pytest.mark.looptime
async def test_in_memory_an_older_copy_knows_nothing_of_what_came_later() -> None:
    faulty = Faulty()
    await begun(faulty.anna)
    copy = faulty.server.snapshot()
    await begun(faulty.anna, "i2", ETH)
    faulty.server.restore(copy)
    assert faulty.anna.away_since is not None
    await asyncio.sleep(LONGEST_WAIT_S)
    state = await faulty.bob.state()
    assert (state.version, [row.id for row in state.open]) == (1, ["i1"])


@pytest.mark.parametrize("end", [State.UNKNOWN, State.SETTLED])
async def test_what_an_older_copy_has_as_begun_is_brought_to_what_it_is_on_its_machine(
    open_store: OpenStore, end: State
) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    for intent, former in (("i1", State.INTENDED), ("i2", State.WITHDRAWN), ("i3", State.SENT)):
        await begun(anna, intent)
        await stepped(bob, intent, *PATHS[former])
        await bob.lock_trading(True)
        await anna.adopt(intent, BTC, "reversal", end, {"was": "sent"}, step=f"{intent} as it is")
        await anna.adopt(intent, BTC, "reversal", end, {"was": "sent"}, step=f"{intent} as it is")
        there = await bob.read(intent)
        assert there.state is (former if former is State.SENT else end)
        assert [event.chain for event in there.events].count(f"{intent} as it is") == (former is not State.SENT)
        open_there = [row.id for row in (await bob.state()).open]
        assert open_there == ([intent] if there.state not in ENDED else [])
        if open_there:
            await stepped(anna, intent, State.UNKNOWN, State.RELEASED)
        await bob.lock_trading(False)


async def test_what_was_never_sent_stays_withdrawn(open_store: OpenStore) -> None:
    anna = await open_store("anna", "desk2")
    await begun(anna)
    await stepped(anna, "i1", State.WITHDRAWN)
    await anna.adopt("i1", BTC, "reversal", State.INTENDED, {}, step="again")
    assert (await anna.read("i1")).state is State.WITHDRAWN
    assert (await anna.state()).open == ()


async def test_what_is_entered_takes_no_symbol_from_another_and_gives_it_to_who_waits(open_store: OpenStore) -> None:
    anna, bob = await open_store("anna", "desk2"), await open_store("bob", "laptop")
    await begun(anna, "i1")
    await stepped(anna, "i1", State.WITHDRAWN)
    await begun(bob, "i2")
    with refusal(StoreRefusal.ALREADY_OPEN, intent="i2"):
        await anna.adopt("i1", BTC, "reversal", State.UNKNOWN, {}, step="as it is")
    await anna.adopt("i1", BTC, "reversal", State.SETTLED, {}, step="as it is")
    await stepped(anna, "i1", State.CORRECTED)
    await bob.adopt("i2", BTC, "reversal", State.SETTLED, {}, step="as it is there")
    with refusal(StoreRefusal.ALREADY_OPEN, intent="i1"):
        await begun(bob, "i3")


async def test_each_machine_reads_since_when_the_others_are_level(open_store: OpenStore) -> None:
    anna = await open_store("anna", "desk2")
    assert (await anna.state()).others_level_s == 0, "there is no other"
    bob = await open_store("bob", "laptop")
    await bob.state()
    assert (await anna.state()).others_level_s == inf
    version = await begun(bob)
    await bob.state(level=version + 1)
    assert (await anna.state()).others_level_s == inf, "bob has compared with a store that had more"
    await bob.state(level=version)
    assert 0 <= (await anna.state()).others_level_s < PATIENCE_S
    assert (await bob.state()).others_level_s == inf


async def test_adopting_a_step_that_is_there_changes_nothing(open_store: OpenStore) -> None:
    anna = await open_store("anna", "desk1")
    await begun(anna)
    for state in (State.SENT, State.UNKNOWN, State.WITHDRAWN):
        await anna.step("i1", state, {}, step=f"{state} of i1", prior=None, fence=None)
    await anna.adopt("i1", BTC, "reversal", State.UNKNOWN, {}, step="unknown of i1")
    assert (await anna.read("i1")).state is State.WITHDRAWN

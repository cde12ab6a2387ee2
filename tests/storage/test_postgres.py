"""The store's functions on a real server: who may call what, and how each refusal is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.postgres import OWNER, StoreDatabase
from tradetui.desk.intents.states import TRANSITIONS
from tradetui.storage.postgres.errors import StoreRefused
from tradetui.storage.postgres.server import PostgresServer

ACCOUNT = "account-1"
LONG_LEASE_S = 60.0


class Session:
    """A person at a machine, with the calls that the tests make."""

    def __init__(self, server: PostgresServer, machine: str) -> None:
        self.server = server
        self.machine = machine

    async def join(self) -> None:
        await self.call("join_account", ACCOUNT, "https://exchange.example", "live", "1001", self.machine, None)

    async def begin(self, intent: str, scope: str = "USDT-FUTURES|BTCUSDT", after: int | None = None) -> int:
        details = {"title": intent}
        [row] = await self.call("begin_intent", intent, ACCOUNT, scope, "reversal", details, after, self.machine)
        return int(row["number"])

    async def step(self, intent: str, state: str, step: str = "", fence: int | None = None) -> int:
        step = step or f"{intent} {state}"
        [row] = await self.call("step_intent", intent, step, state, {}, None, fence, self.machine)
        return int(row["number"])

    async def take_over(self, intent: str, lease_s: float = LONG_LEASE_S) -> int:
        [row] = await self.call("take_over", intent, self.machine, lease_s)
        return int(row["fence"])

    async def lock(self, locked: bool) -> list[str]:
        return [row["person"] for row in await self.call("lock_trading", ACCOUNT, locked, self.machine)]

    async def state(self) -> dict[str, Any]:
        [row] = await self.call("account_state", ACCOUNT, self.machine)
        return row

    async def call(self, function: str, *arguments: object) -> list[dict[str, Any]]:
        return await self.server.call(function, *arguments)


Sit = Callable[..., Awaitable[Session]]


@pytest.fixture
async def sit(store_database: StoreDatabase) -> AsyncIterator[Sit]:
    """Open a session of a person at a machine, as `anna@desk2`."""
    servers = []

    async def open_session(writer: str, *, joins: bool = True) -> Session:
        person, _, machine = writer.partition("@")
        server = PostgresServer(store_database.conninfo(person))
        servers.append(server)
        await server.open()
        session = Session(server, machine)
        if joins:
            await session.join()
        return session

    yield open_session
    for server in servers:
        await server.aclose()


async def code_of(call: Any) -> tuple[str, dict[str, Any]]:
    with pytest.raises(StoreRefused) as refusal:
        await call
    detail = dict(refusal.value.detail)
    detail.pop("age_s", None)
    return refusal.value.code, detail


ANNA = {"person": "anna", "machine": "desk1"}


async def test_of_two_that_begin_at_once_on_one_symbol_one_is_refused(sit: Sit) -> None:
    anna, bob = await sit("anna@desk1"), await sit("bob@desk2")
    answers = await asyncio.gather(anna.begin("a"), bob.begin("b"), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["StoreRefused", "int"]


async def test_an_open_intent_holds_its_scope_alone_and_says_whose_it_is(sit: Sit) -> None:
    anna, bob = await sit("anna@desk1"), await sit("bob@desk2")
    await anna.begin("a")
    assert await code_of(bob.begin("b")) == ("TT001", {"intent": "a", "state": "intended", **ANNA})
    assert await bob.begin("c", scope="USDT-FUTURES|ETHUSDT") == 2


async def test_a_preview_is_overtaken_by_whatever_happened_on_its_symbol_since(sit: Sit) -> None:
    anna, bob = await sit("anna@desk1"), await sit("bob@desk2")
    await anna.begin("a")
    withdrawn = await anna.step("a", "withdrawn")
    assert await code_of(bob.begin("b", after=0)) == ("TT002", {**ANNA, "number": withdrawn})
    assert await bob.begin("c", scope="USDT-FUTURES|ETHUSDT", after=0)
    assert await bob.begin("b", after=withdrawn)


async def test_the_same_call_again_answers_as_before(sit: Sit) -> None:
    anna = await sit("anna@desk1")
    assert [await anna.begin("a"), await anna.begin("a")] == [1, 1]
    assert [await anna.step("a", "sent"), await anna.step("a", "sent")] == [2, 2]
    assert (await anna.state())["version"] == 2


async def test_the_server_takes_exactly_the_steps_of_the_state_machine(sit: Sit, store_database: StoreDatabase) -> None:
    await sit("anna@desk1")
    rows = store_database.sql("select before, after from tradetui.transition")
    assert set(rows) == {(str(before), str(after)) for before, all_after in TRANSITIONS.items() for after in all_after}


async def test_a_step_that_does_not_exist_is_refused(sit: Sit) -> None:
    anna = await sit("anna@desk1")
    await anna.begin("a")
    assert await code_of(anna.step("a", "settled")) == ("TT006", {"state": "intended"})
    assert (await code_of(anna.step("none", "sent")))[0] == "TT006"


async def test_a_corrected_intent_takes_the_scope_when_the_other_one_ends(sit: Sit) -> None:
    anna = await sit("anna@desk1")
    for state in ("", "sent", "acknowledged", "settled"):
        await (anna.step("a", state) if state else anna.begin("a"))
    await anna.begin("b")
    await anna.step("a", "corrected")
    await anna.step("b", "withdrawn")
    assert (await code_of(anna.begin("c")))[1]["intent"] == "a"


async def test_a_follower_keeps_others_out_until_its_lease_ends(sit: Sit) -> None:
    anna, bob, third = await sit("anna@desk1"), await sit("bob@desk2"), await sit("anna@desk3")
    await anna.begin("a")
    await anna.step("a", "sent")
    fence = await bob.take_over("a")
    assert await bob.take_over("a") == fence, "renewed"
    assert (await code_of(third.take_over("a")))[0] == "TT007"
    code, detail = await code_of(anna.step("a", "acknowledged"))
    assert (code, detail["person"], detail["machine"]) == ("TT007", "bob", "desk2")
    assert 0 < detail["left_s"] <= LONG_LEASE_S
    await bob.step("a", "unknown", fence=fence)


async def test_a_lease_that_ran_out_still_refuses_an_older_fence(sit: Sit) -> None:
    anna, bob = await sit("anna@desk1"), await sit("bob@desk2")
    await anna.begin("a")
    await anna.step("a", "sent")
    old_fence = await bob.take_over("a", lease_s=0.0)
    new_fence = await anna.take_over("a")
    assert new_fence > old_fence
    assert (await code_of(bob.step("a", "unknown", fence=old_fence)))[0] == "TT007"
    await anna.step("a", "unknown", fence=new_fence)


async def test_a_lock_of_trading_stops_begin_and_sent_and_only_its_person_takes_it_away(sit: Sit) -> None:
    anna, bob = await sit("anna@desk1"), await sit("bob@desk2")
    await bob.begin("b")
    assert await anna.lock(True) == ["anna"]
    assert await code_of(bob.begin("c", scope="USDT-FUTURES|ETHUSDT")) == ("TT004", ANNA)
    assert await code_of(bob.step("b", "sent")) == ("TT004", ANNA)
    assert await bob.lock(False) == ["anna"]
    assert (await anna.state())["locks"][0]["person"] == "anna"
    assert await anna.lock(False) == []
    await bob.step("b", "sent")


async def test_only_an_admin_takes_the_lock_of_another_person_away(sit: Sit) -> None:
    anna, bob, vera, olga = [await sit(f"{name}@desk") for name in ("anna", "bob", "vera", "olga")]
    await anna.lock(True)
    await bob.lock(True)
    for session in (anna, bob, vera):
        assert (await code_of(session.call("unlock_trading", ACCOUNT, "anna")))[0] == "TT003"
    assert await olga.call("unlock_trading", ACCOUNT, "nora") == [{"removed": False}]
    assert await olga.call("unlock_trading", ACCOUNT, "anna") == [{"removed": True}]
    assert [lock["person"] for lock in (await anna.state())["locks"]] == ["bob"]


async def test_a_viewer_reads_and_cannot_act(sit: Sit) -> None:
    anna, vera = await sit("anna@desk1"), await sit("vera@desk3")
    await anna.begin("a")
    assert (vera.server.role, anna.server.role) == ("viewer", "trader")
    assert (await vera.state())["open"][0]["id"] == "a"
    assert [row["intent"] for row in await vera.call("read_intent", ACCOUNT, "a")] == ["a"]
    for act in (vera.begin("v"), vera.step("a", "sent"), vera.take_over("a"), vera.lock(True)):
        assert (await code_of(act))[0] == "TT003"


async def test_whoever_has_not_joined_is_refused_and_an_admin_sees_every_account(sit: Sit) -> None:
    await sit("anna@desk1")
    bob, olga = await sit("bob@desk2", joins=False), await sit("olga@desk4", joins=False)
    assert await code_of(bob.begin("b")) == ("TT003", {"person": "bob", "machine": "desk2"})
    assert await bob.call("accounts") == []
    assert [row["name"] for row in await olga.call("accounts")] == [ACCOUNT]
    [state] = await olga.call("account_state", ACCOUNT, None)
    assert [(machine["person"], machine["machine"]) for machine in state["machines"]] == [("anna", "desk1")]


async def test_an_account_is_not_joined_under_a_second_address_while_a_machine_is_on_the_first(sit: Sit) -> None:
    await sit("anna@desk1")
    bob = await sit("bob@desk2", joins=False)
    elsewhere = ("account-2", "https://exchange.example.net", "live", "1001", "desk2", None)
    with pytest.raises(StoreRefused) as refusal:
        await bob.call("join_account", *elsewhere)
    assert refusal.value.code == "TT003"
    for part in ("account 1001", 'base_url = "https://exchange.example"', "anna@desk1", "store remove"):
        assert part in refusal.value.message
    await bob.call("join_account", "account-3", "https://exchange.example.net", "demo", "1001", "desk2", None)
    await bob.call("join_account", "account-4", "https://exchange.example.net", "live", "1002", "desk2", None)
    olga = await sit("olga@desk4", joins=False)
    await olga.call("remove_machine", ACCOUNT, "anna", "desk1")
    await bob.call("join_account", *elsewhere)


async def test_of_two_that_join_under_two_addresses_at_once_one_is_refused(
    sit: Sit, store_database: StoreDatabase
) -> None:
    anna, bob = await sit("anna@desk1", joins=False), await sit("bob@desk2", joins=False)
    for turn in range(5):
        uid = str(2001 + turn)
        answers = await asyncio.gather(
            anna.call("join_account", f"a-{uid}", "https://a.example", "live", uid, "desk1", None),
            bob.call("join_account", f"b-{uid}", "https://b.example", "live", uid, "desk2", None),
            return_exceptions=True,
        )
        assert [isinstance(answer, StoreRefused) for answer in answers].count(True) == 1
    rows = store_database.sql("select count(*) from tradetui.machine where account like '_-20%'")
    assert rows == [(5,)]


async def test_a_login_without_a_role_of_the_store_is_refused(sit: Sit) -> None:
    nora = await sit("nora@desk5", joins=False)
    assert (await code_of(nora.join()))[0] == "TT003"
    assert nora.server.role == ""


@pytest.mark.parametrize("person", ["anna", "vera", "olga", "nora"])
def test_no_person_reaches_a_table_or_an_inner_function(store_database: StoreDatabase, person: str) -> None:
    import psycopg

    tables = [name for (name,) in store_database.sql("select tablename from pg_tables where schemaname = 'tradetui'")]
    assert {"account", "event", "intent", "machine", "trading_lock"} <= set(tables)
    for query in (
        *(f"select * from tradetui.{table}" for table in tables),
        *(f"delete from tradetui.{table}" for table in tables),
        "select tradetui.next_number('account-1')",
        "set role tradetui_owner",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            store_database.sql(query, person)


async def test_a_machine_leaves_once_nothing_of_it_is_open_or_locked(sit: Sit) -> None:
    anna = await sit("anna@desk1")
    await anna.begin("a")
    assert (await code_of(anna.call("leave_account", ACCOUNT, "desk1")))[0] == "TT001"
    await anna.step("a", "withdrawn")
    await anna.lock(True)
    assert (await code_of(anna.call("leave_account", ACCOUNT, "desk1")))[0] == "TT004"
    await anna.lock(False)
    await anna.call("leave_account", ACCOUNT, "desk1")
    assert (await code_of(anna.begin("b")))[0] == "TT003"


async def test_a_newer_schema_refuses_every_call_of_an_open_session(sit: Sit, store_database: StoreDatabase) -> None:
    anna = await sit("anna@desk1")
    await anna.begin("a")
    store_database.sql("insert into tradetui.schema_version (version) values (99)")
    for call in (anna.state(), anna.begin("b"), anna.step("a", "sent"), anna.lock(True), anna.call("hello")):
        code, detail = await code_of(call)
        assert (code, detail["store"]) == ("TT005", 99)


async def test_steps_name_a_machine_and_have_details_with_names(sit: Sit, store_database: StoreDatabase) -> None:
    import psycopg

    anna = await sit("anna@desk1")
    await anna.begin("a")
    assert (await code_of(anna.call("take_over", "a", None, LONG_LEASE_S)))[0] == "TT003"
    with pytest.raises(psycopg.errors.CheckViolation):
        store_database.sql("select tradetui.step_intent(2, 'a', 's', 'sent', '[1]', null, null, 'desk1')", "anna")


async def test_removing_a_machine_waits_for_its_writer_without_keeping_the_account_from_it(
    sit: Sit, store_database: StoreDatabase
) -> None:
    import psycopg

    await sit("anna@desk1")
    olga = await sit("olga@desk4")
    with psycopg.connect(store_database.conninfo(OWNER)) as writer:
        writer.execute("update tradetui.machine set seen_at = now() where name = 'desk1'")
        removing = asyncio.create_task(olga.call("remove_machine", ACCOUNT, "anna", "desk1"))
        while not writer.execute("select from pg_locks where not granted").fetchall():
            await asyncio.wait({removing}, timeout=0.01)
            assert not removing.done()
        writer.execute("select from tradetui.account for update nowait")
        writer.commit()
    assert await removing == [{"removed": True}]


async def test_the_machine_of_a_person_who_may_not_trade_any_more_counts_as_gone(
    sit: Sit, store_database: StoreDatabase
) -> None:
    anna, bob = await sit("anna@desk1"), await sit("bob@desk2")
    await anna.begin("a")
    [seen_s] = [row["machine_seen_s"] for row in (await bob.state())["open"]]
    assert seen_s < 60
    store_database.sql("revoke tradetui_trader from anna")
    try:
        [seen_s] = [row["machine_seen_s"] for row in (await bob.state())["open"]]
    finally:
        store_database.sql("grant tradetui_trader to anna")
    assert seen_s == 1e9

"""The tables of the permits that several machines share: one contract, in memory and in PostgreSQL."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

import pytest

from tests.exchange.memory_permit_server import MemoryQuotas
from tests.postgres import StoreDatabase
from tradetui.storage.postgres.errors import StoreRefused
from tradetui.storage.postgres.server import PostgresServer

KEYS = ["account|a", "ip:office:host"]


class Tables(Protocol):
    """The tables of one account with three machines: a and b with shares, c without, behind one address."""

    async def call(self, function: str, *arguments: Any) -> list[dict[str, Any]]: ...

    async def age(self, session: str, seconds: float) -> None:
        """Have a session seen so long ago."""


class TablesInMemory:
    def __init__(self) -> None:
        self.quotas = MemoryQuotas({"a": 0.5, "b": 0.2, "c": 0.25})

    async def call(self, function: str, *arguments: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = getattr(self.quotas, function)(*arguments)
        return rows

    async def age(self, session: str, seconds: float) -> None:
        for (machine, of_session), (egress, at) in list(self.quotas.last_writes.items()):
            if of_session == session:
                self.quotas.last_writes[machine, of_session] = egress, at - seconds


class TablesInPostgres:
    def __init__(self, database: StoreDatabase, server: PostgresServer) -> None:
        self.database = database
        self.server = server

    async def call(self, function: str, *arguments: Any) -> list[dict[str, Any]]:
        return await self.server.call(function, *arguments)

    async def age(self, session: str, seconds: float) -> None:
        self.database.sql(
            f"update tradetui.permit_session set seen_at = seen_at - interval '{seconds} s' where session = '{session}'"
        )


async def joined(database: StoreDatabase, person: str = "anna", **shares: float | None) -> PostgresServer:
    server = PostgresServer(database.conninfo(person))
    await server.open()
    for machine, share in shares.items():
        await server.call("join_account", "account", "https://exchange.example", "live", "1", machine, share)
    return server


@pytest.fixture(params=["memory", "postgres"])
async def tables(request: pytest.FixtureRequest) -> AsyncIterator[Tables]:
    if request.param == "memory":
        yield TablesInMemory()
        return
    database: StoreDatabase = request.getfixturevalue("store_database")
    server = await joined(database, a=0.5, b=0.2, c=None)
    yield TablesInPostgres(database, server)
    await server.aclose()


async def read(tables: Tables, machine: str = "a") -> list[dict[str, Any]]:
    return await tables.call("read_quotas", "account", machine, "office", KEYS)


async def write(
    tables: Tables, state: str, versions: Sequence[int] = (0, 0), machine: str = "a", **other: Any
) -> list[dict[str, Any]]:
    """Write one state for both keys, sent just now and with the shares of now, if `other` names no others."""
    [newest, *_] = await read(tables, machine)
    newest |= other
    arguments = (newest["now_epoch_s"], newest["share"], newest["address_share"], KEYS, list(versions), [state, state])
    return await tables.call("write_quotas", "account", machine, "office", f"session {machine}", *arguments)


def states(rows: Sequence[dict[str, Any]]) -> dict[str, tuple[int, str | None]]:
    return {row["key"]: (row["version"], row["state"]) for row in rows if row["key"] is not None}


async def test_all_states_are_written_or_none_if_another_was_faster(tables: Tables) -> None:
    assert (await write(tables, "first"))[0]["is_written"]
    late = await write(tables, "second", versions=(1, 0), machine="b")
    assert not late[0]["is_written"]
    assert states(late) == {key: (1, "first") for key in KEYS} == states(await read(tables))
    assert (await write(tables, "second", versions=(1, 1), machine="b"))[0]["is_written"]
    assert states(await read(tables)) == {key: (2, "second") for key in KEYS}


async def test_what_changes_nothing_hinders_nobody(tables: Tables) -> None:
    await write(tables, "same")
    assert (await write(tables, "same", versions=(1, 1)))[0]["is_written"]
    assert (await write(tables, "new", versions=(1, 1), machine="b"))[0]["is_written"]


async def test_a_call_whose_sender_has_given_it_up_is_not_carried_out(tables: Tables) -> None:
    [newest, *_] = await read(tables)
    rows = await write(tables, "late", now_epoch_s=newest["now_epoch_s"] - 2.6)
    assert not rows[0]["is_written"]
    assert states(await read(tables)) == dict.fromkeys(KEYS, (0, None))


async def test_the_share_of_a_lost_session_is_kept_until_it_is_seen_or_ended(tables: Tables) -> None:
    async def shares() -> tuple[float, float]:
        [row, *_] = await read(tables, "b")
        return round(row["share"], 9), round(row["address_share"], 9)

    await write(tables, "1")
    await write(tables, "2", versions=(1, 1), machine="c")
    assert await shares() == (0.95, 1)
    await tables.age("session a", 4)
    assert await shares() == (0.45, 0.5)
    stale = await write(tables, "3", versions=(2, 2), machine="b", share=0.95)
    assert not stale[0]["is_written"], "computed with the shares of before"
    assert stale[0]["lost"] == [] and (await read(tables, "a"))[0]["lost"] == ["session a"]
    await write(tables, "4", versions=(2, 2))
    assert await shares() == (0.95, 1)
    await tables.age("session a", 4)
    await tables.call("end_permit_session", "account", "a", "session a")
    assert await shares() == (0.95, 1)
    await tables.age("session c", 3_700)
    assert await shares() == (0.95, 1), "for an hour"


async def test_a_session_was_seen_when_it_sent_not_when_it_was_served(tables: Tables) -> None:
    [newest, *_] = await read(tables)
    assert (await write(tables, "late", now_epoch_s=newest["now_epoch_s"] - 1.4))[0]["is_written"]
    await tables.age("session a", 1.7)
    assert (await read(tables))[0]["lost"] == ["session a"]


async def test_only_machines_that_joined_count_in_the_store(tables: Tables) -> None:
    with pytest.raises(StoreRefused, match="has not joined"):
        await tables.call("read_quotas", "account", "nobody", "office", KEYS)


async def test_a_viewer_counts_too_but_nothing_of_other_accounts(store_database: StoreDatabase) -> None:
    server = await joined(store_database, "vera", a=None)
    assert (await server.call("read_quotas", "account", "a", "office", KEYS))[0]["share"] == 0.25
    for key in ("other|a", "ip:home:host"):
        with pytest.raises(StoreRefused, match="of another account or address"):
            await server.call("read_quotas", "account", "a", "office", [key])
    with pytest.raises(StoreRefused):
        await server.call("quota_rows", "account", "a", 1.0, 1.0, KEYS, True)
    await server.aclose()


async def test_a_crash_of_the_server_is_known_from_the_empty_table(store_database: StoreDatabase) -> None:
    server = await joined(store_database, a=0.5)
    tables = TablesInPostgres(store_database, server)
    await write(tables, "before")
    store_database.cluster.stop(signal.SIGQUIT)
    store_database.cluster.start()
    await server.aclose()
    server = await joined(store_database, a=0.5)
    [row, *_] = rows = await read(TablesInPostgres(store_database, server))
    assert row["now_epoch_s"] - 5 < row["since_epoch_s"] <= row["now_epoch_s"]
    assert states(rows) == dict.fromkeys(KEYS, (0, None))
    assert (await read(TablesInPostgres(store_database, server)))[0]["since_epoch_s"] == row["since_epoch_s"]
    await server.aclose()

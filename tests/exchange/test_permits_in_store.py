"""Several machines that count their calls in one store, and what each does without it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, cast

import pytest

from tests.exchange.arrival_counter import most_in, most_in_one_second
from tests.exchange.limited_endpoints import limited
from tests.exchange.memory_permit_server import START_S, MemoryConnection, MemoryQuotas
from tests.exchange.test_permit_tables import joined
from tests.postgres import StoreDatabase
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.errors import RateLimited
from tradetui.exchange.rate_limit.budget import Budget, Priority
from tradetui.exchange.rate_limit.permits_in_store import PermitServer
from tradetui.exchange.rate_limit.quota import COOLING_S
from tradetui.storage.postgres.errors import StoreAway

HOLD_S = 5.0


def now() -> float:
    return asyncio.get_running_loop().time()


class Desks:
    """Machines on one account that count in one store, and when their calls arrive at the exchange."""

    def __init__(self, directory: Path, seed: int = 1, round_trip_s: float = 0.002, **shares: float) -> None:
        self.chance = random.Random(seed)
        self.quotas = MemoryQuotas(shares)
        self.arrivals: list[tuple[float, str]] = []
        self.connections: dict[str, MemoryConnection] = {}
        self.budgets: dict[str, Budget] = {}
        for machine, share in shares.items():
            connection = self.connections[machine] = MemoryConnection(self.quotas, self.chance, round_trip_s)
            shared = PermitServer(cast(Any, connection), machine, "office", share)
            self.budgets[machine] = Budget(
                directory / machine,
                "account",
                host="host",
                clock=LoopClock(0),
                random=random.Random(f"{seed}/{machine}"),
                inline=True,
                shared=shared,
            )

    async def call(self, machine: str, per_second: int = 20, slowest_s: float = 0.2) -> None:
        held = await self.budgets[machine].acquire(limited(per_second), Priority.INTERACTIVE, hold_s=HOLD_S)
        there_s = self.chance.uniform(0, slowest_s)
        self.arrivals.append((now() + there_s, machine))
        await asyncio.sleep(there_s + self.chance.uniform(0, slowest_s))
        held.replied()

    async def call_on(self, machine: str, until: float, per_second: int = 20) -> None:
        async def caller() -> None:
            while now() < until:
                try:
                    async with asyncio.timeout_at(until):
                        await self.call(machine, per_second)
                except TimeoutError:
                    return
                except RateLimited:
                    await asyncio.sleep(1)

        await asyncio.gather(*(caller() for _ in range(per_second + 2)))

    def rate(self, machine: str, since: float, until: float) -> float:
        return sum(who == machine and since <= at < until for at, who in self.arrivals) / (until - since)

    @property
    def most(self) -> int:
        return most_in_one_second(at for at, _ in self.arrivals)

    async def aclose(self) -> None:
        for budget in self.budgets.values():
            await budget.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(3))
async def test_a_machine_cut_off_goes_on_with_its_share_and_the_others_leave_it_to_it(
    seed: int, tmp_path: Path
) -> None:
    desks = Desks(tmp_path, seed, a=0.25, b=0.75)

    async def cut_and_mend() -> None:
        await asyncio.sleep(10 + desks.chance.random())
        desks.connections["a"].cut()
        await asyncio.sleep(50)
        desks.connections["a"].mend()

    await asyncio.gather(desks.call_on("a", 100), desks.call_on("b", 100), cut_and_mend())
    assert desks.most <= 20, f"seed {seed}"
    assert desks.rate("a", 11.5, 13.5) == 0, "the others may still make use of all"
    assert desks.rate("a", 16, 20) > 2, "reading goes on after four seconds"
    assert 0.8 * 5 / 1.2 < desks.rate("a", 30, 60) <= 5
    assert 0.8 * 15 / 1.2 < desks.rate("b", 30, 60) <= 15
    assert desks.rate("a", 70, 100) > 5, "it has its turn among all again"
    assert desks.rate("a", 70, 100) + desks.rate("b", 70, 100) > 0.85 * 20 / 1.2
    await desks.aclose()
    assert not desks.quotas.last_writes


@pytest.mark.looptime
async def test_a_call_that_hangs_when_the_store_is_back_holds_up_no_other(tmp_path: Path) -> None:
    desks = Desks(tmp_path, a=0.5, b=0.5)
    budget, connection = desks.budgets["a"], desks.connections["a"]
    await desks.call("a")
    connection.cut()
    await asyncio.sleep(6)
    hung = await budget.acquire(limited(20, name="feed"), Priority.FEED, hold_s=30)
    connection.mend()
    async with asyncio.timeout(1):
        await desks.call("a")
    assert budget.limit(limited(20)) == 10, "within its share as long as the hung call is counted here"
    hung.replied()
    async with asyncio.timeout(3):
        await desks.call("a")
    assert budget.limit(limited(20)) == 20
    await desks.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(3))
async def test_whatever_is_cut_mended_or_crashes_no_second_holds_more_than_the_limit(seed: int, tmp_path: Path) -> None:
    desks = Desks(tmp_path, seed, a=0.3, b=0.3, c=0.4)

    async def trouble(machine: str) -> None:
        while now() < 170:
            await asyncio.sleep(desks.chance.expovariate(1 / 25))
            desks.connections[machine].cut()
            await asyncio.sleep(desks.chance.choice([0.5, 4, 20, 60]))
            desks.connections[machine].mend()

    async def crash() -> None:
        for _ in range(2):
            await asyncio.sleep(desks.chance.uniform(20, 60))
            for connection in desks.connections.values():
                connection.cut()
            desks.quotas.crash()
            await asyncio.sleep(desks.chance.uniform(0.2, 40))
            desks.quotas.since_s = desks.quotas.now_s()
            for connection in desks.connections.values():
                connection.mend()

    troubles = [asyncio.create_task(trouble(machine)) for machine in desks.budgets]
    troubles.append(asyncio.create_task(crash()))
    await asyncio.gather(*(desks.call_on(machine, 240, per_second=10) for machine in desks.budgets))
    await asyncio.gather(*troubles)
    assert desks.most <= 10, f"seed {seed}"
    assert len(desks.arrivals) > 300
    await desks.aclose()


@pytest.mark.looptime
async def test_after_a_crash_of_the_server_no_permit_is_given_until_those_that_were_out_are_back(
    tmp_path: Path,
) -> None:
    desks = Desks(tmp_path, a=0.5, b=0.5)
    await desks.call("a")
    desks.quotas.crash()
    begun = now()
    await desks.call("b")
    assert 3 + COOLING_S <= desks.arrivals[-1][0] - begun < 3 + COOLING_S + 1
    await desks.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize(("boot", "share"), [("an-earlier-one", 1.0), ("", 0.5)])
async def test_the_share_of_this_machines_session_before_a_reboot_is_free_once_it_is_lost(
    boot: str, share: float, tmp_path: Path
) -> None:
    desks = Desks(tmp_path, a=0.5, b=0.5)
    desks.quotas.last_writes["a", f"a:{boot}:process#1"] = "office", desks.quotas.now_s() - 4
    await desks.call("a")
    assert desks.quotas.shares("office") == (share, share)
    await desks.aclose()


@pytest.mark.looptime
async def test_an_account_that_has_not_joined_is_counted_here_until_it_has(tmp_path: Path) -> None:
    desks = Desks(tmp_path, a=0.5)
    desks.quotas.account = "another"
    held = [await desks.budgets["a"].acquire(limited(4), Priority.INTERACTIVE) for _ in range(2)]
    assert now() < 1
    waiting = asyncio.create_task(desks.budgets["a"].acquire(limited(4), Priority.INTERACTIVE))
    await asyncio.sleep(2)
    assert not waiting.done(), "within its share"
    desks.quotas.account = "account"
    for permit in held:
        permit.replied()
    (await waiting).replied()
    await asyncio.sleep(10)
    (await desks.budgets["a"].acquire(limited(4), Priority.INTERACTIVE)).replied()
    assert desks.quotas.states
    await desks.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize("state", ["garbage", "[1, 2]", '[0, 0, 0, 0, 0, {"name": ["owner", "soon", 1]}, {}]'])
async def test_a_state_that_cannot_be_read_is_replaced_once_the_permits_that_were_out_are_back(
    state: str, tmp_path: Path
) -> None:
    desks, keys = Desks(tmp_path, a=1.0), (f"account|{limited(20).name}", "ip:office:host")
    desks.quotas.states = dict.fromkeys(keys, (1, state))
    async with asyncio.timeout(20):
        await desks.call("a")
    assert 3 + COOLING_S <= desks.arrivals[-1][0] < 3 + COOLING_S + 1
    assert all(state not in desks.quotas.states[key] for key in keys)
    await desks.aclose()


@pytest.mark.looptime
async def test_whatever_goes_wrong_in_the_store_calls_are_counted_here_until_it_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desks = Desks(tmp_path, a=1.0)
    monkeypatch.setattr(desks.quotas, "read_quotas", lambda *_: [])
    async with asyncio.timeout(20):
        await desks.call("a")
    monkeypatch.undo()
    assert not desks.quotas.states
    await asyncio.sleep(10)
    await desks.call("a")
    assert desks.quotas.states
    await desks.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(3))
async def test_a_machine_whose_last_write_was_served_late_calls_only_once_the_others_leave_its_share(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desks = Desks(tmp_path, seed, a=0.5, b=0.5)
    connection = desks.connections["a"]
    call = connection.call

    async def served_late(function: str, *arguments: Any, deadline_s: float) -> list[dict[str, Any]]:
        if connection.away_since is not None or now() < 10:
            await asyncio.sleep(1.1 if now() > 5 else 0)  # on its way there
            return await call(function, *arguments, deadline_s=deadline_s)
        asyncio.get_running_loop().call_later(1.4, getattr(desks.quotas, function), *arguments)
        await asyncio.sleep(deadline_s)
        connection.cut()
        raise StoreAway("no answer")

    async def call_alone() -> None:
        await desks.call("a")
        await asyncio.sleep(11.5)
        await desks.call_on("a", 30)

    monkeypatch.setattr(connection, "call", served_late)
    await asyncio.gather(call_alone(), desks.call_on("b", 30))
    assert desks.rate("a", 15, 30) > 0.8 * 10 / 1.2
    assert desks.most <= 20
    await desks.aclose()


@pytest.mark.looptime
async def test_a_call_whose_answer_was_lost_gives_no_permit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desks = Desks(tmp_path, a=0.5)
    await desks.call("a")
    write = desks.quotas.write_quotas

    def write_and_cut(*arguments: Any) -> list[dict[str, Any]]:
        desks.connections["a"].cut()
        return write(*arguments)

    monkeypatch.setattr(desks.quotas, "write_quotas", write_and_cut)
    waiting = asyncio.create_task(desks.call("a"))
    await asyncio.sleep(3)
    monkeypatch.undo()
    assert not waiting.done()
    desks.connections["a"].mend()
    await waiting
    await desks.aclose()


@pytest.mark.looptime
async def test_machines_behind_one_address_stay_within_its_minute_whether_the_store_is_there_or_not(
    tmp_path: Path,
) -> None:
    desks = Desks(tmp_path, a=0.5, b=0.5)
    for budget in desks.budgets.values():
        budget._address_quota = budget._address_quota.of_share(0.05)

    async def cut_and_mend() -> None:
        await asyncio.sleep(70)
        for connection in desks.connections.values():
            connection.cut()
        await asyncio.sleep(100)
        for connection in desks.connections.values():
            connection.mend()

    await asyncio.gather(*(desks.call_on(machine, 300) for machine in desks.budgets), cut_and_mend())
    calls = [at for at, _ in desks.arrivals]
    assert most_in(calls, 60.0) <= 300
    assert most_in((at for at in calls if at < 70), 60.0) > 200
    await desks.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize("step_s", [-30.0, 30.0])
async def test_a_step_of_the_stores_clock_stops_nothing_for_longer_than_the_step(step_s: float, tmp_path: Path) -> None:
    desks = Desks(tmp_path, a=0.5, b=0.5)

    async def step() -> None:
        await asyncio.sleep(20)
        desks.quotas.clock_step_s = step_s

    await asyncio.gather(*(desks.call_on(machine, 90) for machine in desks.budgets), step())
    assert desks.rate("a", 60, 90) > 5 and desks.rate("b", 60, 90) > 5
    assert desks.quotas.now_s() > START_S
    await desks.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize(("round_trip_s", "part"), [(0.02, 0.95), (0.1, 0.85), (0.3, 0.35)])
async def test_each_machine_has_its_turn_however_far_the_store_is(
    round_trip_s: float, part: float, tmp_path: Path
) -> None:
    desks = Desks(tmp_path, round_trip_s=round_trip_s, a=0.25, b=0.25, c=0.25, d=0.25)
    await asyncio.gather(*(desks.call_on(machine, 45, per_second=10) for machine in desks.budgets))
    rates = [desks.rate(machine, 5, 40) for machine in desks.budgets]
    assert desks.most <= 10
    assert sum(rates) > part * 10 / 1.2
    assert min(rates) > 0.5 * sum(rates) / 4
    await desks.aclose()


async def test_permits_returned_within_a_moment_are_written_by_one_call(tmp_path: Path) -> None:
    desks = Desks(tmp_path, a=1.0)
    held = [await desks.budgets["a"].acquire(limited(20), Priority.INTERACTIVE, hold_s=HOLD_S) for _ in range(5)]
    writes = desks.quotas.writes
    for permit in held:
        permit.replied()
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    assert desks.quotas.writes == writes + 1
    await desks.aclose()


async def test_returned_permits_are_written_with_the_next_claim(tmp_path: Path) -> None:
    desks = Desks(tmp_path, a=1.0)
    held = await desks.budgets["a"].acquire(limited(20), Priority.INTERACTIVE, hold_s=HOLD_S)
    writes = desks.quotas.writes
    held.replied()
    await desks.budgets["a"].acquire(limited(20), Priority.INTERACTIVE, hold_s=HOLD_S)
    assert desks.quotas.writes == writes + 1
    await asyncio.sleep(0.3)
    assert desks.quotas.writes == writes + 1
    await desks.aclose()


async def test_permits_of_persons_calls_at_the_same_time_come_with_one_answer(tmp_path: Path) -> None:
    desks = Desks(tmp_path, a=1.0)
    budget = desks.budgets["a"]
    await desks.call("a", slowest_s=0.0)
    await asyncio.sleep(0.3)
    writes = desks.quotas.writes
    names = ("fills", "orders", "orders", "orders", "positions")
    async with asyncio.timeout(0.5):
        held = await asyncio.gather(*(budget.acquire(limited(20, name=name), Priority.INTERACTIVE) for name in names))
    assert len(held) == 5
    assert desks.quotas.writes == writes + 1
    await desks.aclose()


async def test_a_permit_that_a_feed_has_asked_for_goes_to_the_person_who_came_meanwhile(tmp_path: Path) -> None:
    desks = Desks(tmp_path, a=1.0)
    budget, endpoint = desks.budgets["a"], limited(20)
    await desks.call("a", slowest_s=0.0)
    await asyncio.sleep(0.3)
    writes = desks.quotas.writes
    feed = asyncio.create_task(budget.acquire(endpoint, Priority.FEED))
    await asyncio.sleep(0.0001)
    await budget.acquire(endpoint, Priority.INTERACTIVE)
    assert desks.quotas.writes == writes + 1
    assert not feed.done()
    await feed
    await desks.aclose()


async def test_calls_at_the_same_time_reserve_only_one_permit_that_comes_back_later(tmp_path: Path) -> None:
    desks, begun = Desks(tmp_path, a=1.0), now()
    await asyncio.gather(*(desks.call("a", 3, slowest_s=0.01) for _ in range(12)))
    assert most_in_one_second(at for at, _ in desks.arrivals) <= 3
    assert now() - begun < 3.2
    await desks.aclose()


# Real processes on the real server

_PROCESS = textwrap.dedent("""
    import asyncio, json, sys, time
    from pathlib import Path
    from tests.exchange.limited_endpoints import limited
    from tradetui.exchange.rate_limit.budget import Budget, Priority
    from tradetui.exchange.rate_limit.permits_in_store import PermitServer
    from tradetui.storage.postgres.server import PostgresServer

    async def main(conninfo, machine, directory, seconds):
        shared = PermitServer(PostgresServer(conninfo), machine, "office", 0.5)
        budget, endpoint, sent = Budget(Path(directory), "account", host="host", shared=shared), limited(10), []

        async def caller():
            while True:
                held = await budget.acquire(endpoint, Priority.INTERACTIVE, hold_s=30)
                sent.append(time.monotonic())
                await asyncio.sleep(0.05)
                held.replied()

        first = await budget.acquire(limited(10, name="first"), Priority.INTERACTIVE)
        first.replied()
        print("begun", flush=True)
        callers = [asyncio.create_task(caller()) for _ in range(8)]
        await asyncio.sleep(seconds)
        for task in callers:
            task.cancel()
        await asyncio.wait(callers)
        await budget.aclose()
        print(json.dumps(sent), flush=True)

    asyncio.run(main(*sys.argv[1:4], float(sys.argv[4])))
""")


def process(conninfo: str, machine: str, directory: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _PROCESS, conninfo, machine, str(directory), str(seconds)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env={**os.environ, "PYTHONPATH": "."})


async def test_four_processes_on_two_machines_use_the_limit_and_never_more(
    tmp_path: Path, store_database: StoreDatabase
) -> None:
    await (await joined(store_database, a=0.5, b=0.5)).aclose()
    seconds = 8.0
    processes = [process(store_database.conninfo(), machine, tmp_path / machine, seconds) for machine in "aabb"]
    answers = [running.communicate()[0].splitlines() for running in processes]
    sent: list[list[float]] = [json.loads(lines[-1]) for lines in answers]
    moments = sorted(moment for of_process in sent for moment in of_process)
    assert most_in_one_second(moments) <= 10
    assert all(sent), "each has its part"
    assert len(moments) >= 0.8 * 10 / 1.05 * seconds
    assert store_database.sql("select count(*) from tradetui.permit_session") == [(0,)]


async def test_what_a_killed_process_held_is_free_at_once_for_others_of_its_machine(
    tmp_path: Path, store_database: StoreDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, session_ended = await joined(store_database, a=0.5, b=0.5), asyncio.Event()
    call = server.call

    async def calling(function: str, *arguments: object, **options: float) -> list[dict[str, Any]]:
        rows = await call(function, *arguments, **options)
        if function == "end_permit_session":
            session_ended.set()
        return rows

    monkeypatch.setattr(server, "call", calling)
    killed = process(store_database.conninfo(), "a", tmp_path / "a", 60)
    assert killed.stdout is not None
    assert killed.stdout.readline() == "begun\n"
    await asyncio.sleep(0.5)
    killed.kill()
    killed.wait()
    budget = Budget(tmp_path / "a", "account", host="host", shared=PermitServer(server, "a", "office", 0.5))
    async with asyncio.timeout(10):
        for _ in range(10):
            (await budget.acquire(limited(10), Priority.INTERACTIVE, hold_s=30)).unused()
        await session_ended.wait()
    assert store_database.sql("select count(*) from tradetui.permit_session") == [(1,)]
    await budget.aclose()
    await server.aclose()

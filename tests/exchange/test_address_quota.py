"""The address: no sliding minute at the exchange holds more calls of all processes than the share allows."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.exchange.arrival_counter import most_in
from tests.exchange.limited_endpoints import limited
from tests.exchange.scripted_exchange import START_MS, NoBudget
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.errors import ExchangeError, RateLimited
from tradetui.exchange.rate_limit.budget import Budget, Priority
from tradetui.exchange.rate_limit.permit_file import FILE_NAME, FilePermits
from tradetui.exchange.rate_limit.permit_store import Claim, MemoryPermits, PermitRequest
from tradetui.exchange.rate_limit.quota import AddressQuota
from tradetui.sandbox.app import Message, Receive, Sandbox, SandboxOptions, Scope, Send
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.wire.endpoints.endpoint import Endpoint

TIME_OUT_S = 8.0
HOLD_S = TIME_OUT_S + 1.0


def shared(
    directory: Path | None, per_minute: int, seed: int = 1, host: str = "exchange", account: str = "a"
) -> Budget:
    clock, chance = LoopClock(0), random.Random(seed)
    share = per_minute / 6_000
    return Budget(directory, account, host=host, address_share=share, clock=clock, random=chance, inline=True)


def now() -> float:
    return asyncio.get_running_loop().time()


ENDPOINTS = [limited(20, name=f"endpoint.{number}") for number in range(8)]
WRITE: Endpoint = limited(20, name="a.write")._replace(method="POST")


class Calls:
    """Calls over a network that delays and loses them; `arrivals` is when they arrive at the exchange."""

    def __init__(self, seed: int, slowest_s: float, lost: float, refused: float = 0.0) -> None:
        self.chance = random.Random(seed)
        self.slowest_s = slowest_s
        self.lost = lost
        self.refused = refused
        self.arrivals: list[float] = []
        self.by_budget: dict[int, int] = {}

    async def go_on(self, budget: Budget, priority: Priority, until: float) -> None:
        while now() < until:
            try:
                held = await budget.acquire(self.chance.choice(ENDPOINTS), priority, hold_s=HOLD_S)
            except RateLimited as full:
                await asyncio.sleep(min(full.retry_after or 1.0, 5.0))
                continue
            sent = now()
            self.by_budget[id(budget)] = self.by_budget.get(id(budget), 0) + 1
            if self.chance.random() < self.lost:
                self.arrivals.append(sent + self.chance.uniform(0, TIME_OUT_S + 1.0))
                await asyncio.sleep(TIME_OUT_S)
                held.unanswered()
                continue
            there = self.chance.uniform(0.01, self.slowest_s / 2)
            self.arrivals.append(sent + there)
            await asyncio.sleep(there + self.chance.uniform(0.01, self.slowest_s / 2))
            if self.chance.random() < self.refused:
                held.refused()
            else:
                held.replied()


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(8))
async def test_no_sliding_minute_at_the_exchange_holds_more_than_the_share(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    per_minute = chance.choice([60, 150, 400])
    calls = Calls(seed, chance.choice([0.02, 0.2, 2.0]), chance.choice([0.0, 0.02, 0.2]), refused=0.05)
    count = chance.choice([1, 2, 4])
    processes = [shared(tmp_path, per_minute, number, account=f"a{number % 2}") for number in range(count)]
    if seed % 4 == 3:
        processes = [shared(None, per_minute)]
    callers = [(process, priority) for process in processes for priority in (*Priority, *Priority)]
    await asyncio.gather(*(calls.go_on(process, priority, 200) for process, priority in callers))
    assert most_in(calls.arrivals, 60.0) <= per_minute, f"seed {seed}"
    assert len(calls.arrivals) > 2.0 * per_minute, f"seed {seed}: the share is used"
    for process in processes:
        await process.aclose()


@pytest.mark.looptime
async def test_what_persons_can_have_in_a_minute_is_given_out(tmp_path: Path) -> None:
    calls, per_minute = Calls(1, 0.2, 0.0), 300
    processes = [shared(tmp_path, per_minute, number) for number in range(3)]
    await asyncio.gather(*(calls.go_on(process, Priority.INTERACTIVE, 240) for process in processes for _ in range(6)))
    assert most_in(calls.arrivals, 60.0) <= per_minute
    assert len(calls.arrivals) >= 0.9 * 4 * per_minute


@pytest.mark.looptime
async def test_feeds_of_many_desks_slow_down_evenly_and_leave_the_rest_to_persons_and_writes(tmp_path: Path) -> None:
    quota = AddressQuota(600)
    processes = [shared(tmp_path, 600, number) for number in range(3)]
    feeds = Calls(2, 0.1, 0.0)
    polling = [asyncio.create_task(feeds.go_on(process, Priority.FEED, 140)) for process in processes for _ in range(8)]
    waited: list[float] = []
    while now() < 130:
        await asyncio.sleep(5)
        for endpoint in (ENDPOINTS[0], WRITE):
            requested_at_s = now()
            (await processes[-1].acquire(endpoint, Priority.INTERACTIVE, hold_s=HOLD_S)).replied()
            waited.append(now() - requested_at_s)
    await asyncio.gather(*polling)
    assert max(waited) < 0.01, "what persons need was kept for them"
    assert most_in(feeds.arrivals, 60.0) <= quota.feed_limit
    steady = sorted(moment for moment in feeds.arrivals if 70 < moment < 130)
    assert max(later - earlier for earlier, later in pairwise(steady)) < 1.0, "never at a stand"
    assert len(steady) >= 0.8 * quota.feed_limit
    assert all(process.address_usage().slowed for process in processes)
    assert min(feeds.by_budget.values()) > 0.7 * max(feeds.by_budget.values()), "each process has its part"


@pytest.mark.looptime
async def test_feeds_of_many_accounts_in_one_process_make_no_burst_and_ask_hardly_more_than_once_for_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claims: list[PermitRequest] = []
    claim = MemoryPermits.claim

    def counted(store: MemoryPermits, request: PermitRequest) -> asyncio.Future[Claim]:
        claims.append(request)
        return claim(store, request)

    monkeypatch.setattr(MemoryPermits, "claim", counted)
    permits, clock = Budget(clock=LoopClock(0)), LoopClock(0)
    rows = [Budget(account=f"account {number}", clock=clock, beside=permits, is_even=True) for number in range(50)]
    arrivals: list[float] = []

    async def poll(budget: Budget, endpoint: Endpoint) -> None:
        while now() < 60:
            permit = await budget.acquire(endpoint, Priority.FEED)
            arrivals.append(now())
            permit.replied()
            await asyncio.sleep(1)

    polls = [poll(budget, endpoint) for budget in rows for endpoint in ENDPOINTS[:4]]
    await asyncio.gather(*polls)
    assert most_in(arrivals, 1.0) <= 80
    assert len(arrivals) / 60 > 55, "the even rate is used up"
    assert len(claims) < 1.5 * len(arrivals)
    assert not any(budget.address_usage().slowed for budget in rows), "their age says how late they are"


@pytest.mark.looptime
async def test_reads_leave_a_write_its_own_and_say_why_they_wait_long(tmp_path: Path) -> None:
    budget = shared(tmp_path, 100)
    held = []
    for number in range(90):
        held.append(await budget.acquire(ENDPOINTS[number % 8], Priority.INTERACTIVE, hold_s=HOLD_S))
    for permit in held:
        permit.replied()
    with pytest.raises(RateLimited, match=r"its 100 calls of a minute.*address_share") as full:
        await budget.acquire(ENDPOINTS[0], Priority.INTERACTIVE, hold_s=HOLD_S)
    assert 50 < (full.value.retry_after or 0) <= 62
    begun = now()
    (await budget.acquire(WRITE, Priority.INTERACTIVE, hold_s=HOLD_S)).replied()
    assert now() == begun
    assert budget.address_usage().used == 91
    assert budget.address_usage().allowed == 100


@pytest.mark.looptime
async def test_waiting_for_the_address_can_be_cancelled_and_takes_nothing(tmp_path: Path) -> None:
    budget = shared(tmp_path, 60)
    limit = AddressQuota(60).feed_limit
    first = [await budget.acquire(ENDPOINTS[number % 8], Priority.FEED, hold_s=HOLD_S) for number in range(limit)]
    for permit in first:
        permit.replied()
    crowd = [asyncio.create_task(budget.acquire(ENDPOINTS[0], Priority.FEED, hold_s=HOLD_S)) for _ in range(50)]
    await asyncio.sleep(3)
    assert not any(waiting.done() for waiting in crowd)
    for waiting in crowd:
        waiting.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    (await budget.acquire(ENDPOINTS[1], Priority.INTERACTIVE, hold_s=HOLD_S)).unused()
    assert budget.address_usage().used == limit + 1
    (await budget.acquire(ENDPOINTS[1], Priority.INTERACTIVE, hold_s=HOLD_S)).unused()
    assert budget.address_usage().used == limit + 1, "what was not sent is given back"
    await budget.aclose()


@pytest.mark.looptime
async def test_a_person_goes_before_a_feed_that_waits_for_its_turn(tmp_path: Path) -> None:
    budget = shared(tmp_path, 60)
    for number in range(4):  # the head start is 3, then one every 2.3 seconds
        (await budget.acquire(ENDPOINTS[number % 8], Priority.FEED, hold_s=HOLD_S)).replied()
    feed = asyncio.create_task(budget.acquire(ENDPOINTS[0], Priority.FEED, hold_s=HOLD_S))
    await asyncio.sleep(1.5)
    assert not feed.done()
    requested_at_s = now()
    (await budget.acquire(ENDPOINTS[0], Priority.INTERACTIVE, hold_s=HOLD_S)).replied()
    assert now() - requested_at_s < 0.01
    (await feed).replied()
    await budget.aclose()


@pytest.mark.looptime
async def test_calls_of_a_killed_process_count_until_they_cannot_arrive_any_more(tmp_path: Path) -> None:
    killed, other = shared(tmp_path, 60, 1), shared(tmp_path, 60, 2)
    for number in range(54):
        await killed.acquire(ENDPOINTS[number % 8], Priority.INTERACTIVE, hold_s=HOLD_S)
    begun = now()
    with pytest.raises(RateLimited):
        await other.acquire(ENDPOINTS[7], Priority.INTERACTIVE, hold_s=HOLD_S)
    await asyncio.sleep(HOLD_S + 60 - 1)
    assert now() - begun < HOLD_S + 60
    await other.acquire(ENDPOINTS[7], Priority.INTERACTIVE, hold_s=HOLD_S)
    assert HOLD_S + 60 <= now() - begun + 1e-6 <= HOLD_S + 62


@pytest.mark.looptime
async def test_exchanges_are_counted_apart_and_accounts_of_one_together(tmp_path: Path) -> None:
    one, same, elsewhere = (
        shared(tmp_path, 60, 1, "one", "a"),
        shared(tmp_path, 60, 2, "one", "b"),
        shared(tmp_path, 60, 3, "two", "a"),
    )
    for number in range(54):
        (await one.acquire(ENDPOINTS[number % 8], Priority.INTERACTIVE, hold_s=HOLD_S)).replied()
    with pytest.raises(RateLimited):
        await same.acquire(ENDPOINTS[0], Priority.INTERACTIVE, hold_s=HOLD_S)
    await elsewhere.acquire(ENDPOINTS[1], Priority.INTERACTIVE, hold_s=HOLD_S)


@pytest.mark.looptime
async def test_the_file_does_not_grow_with_the_calls(tmp_path: Path) -> None:
    processes = [shared(tmp_path, 1_200, number) for number in range(2)]
    calls = Calls(3, 0.2, 0.01)
    await asyncio.gather(*(calls.go_on(process, Priority.INTERACTIVE, 130) for process in processes for _ in range(6)))
    assert len(calls.arrivals) > 2_000
    with sqlite3.connect(tmp_path / FILE_NAME) as base:
        ((state,),) = base.execute("select state from addresses").fetchall()
    assert len(json.loads(state)[0]) < 90


@pytest.mark.looptime
async def test_a_file_of_an_older_version_is_made_anew(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as base:
        base.executescript("create table uses (id integer primary key); create table addresses (address text);")
        base.execute("pragma user_version = 3")
    budget = shared(tmp_path, 60)
    (await budget.acquire(ENDPOINTS[0], Priority.INTERACTIVE)).replied()
    assert isinstance(budget.store, FilePermits)
    with sqlite3.connect(tmp_path / FILE_NAME) as base:
        tables = {name for (name,) in base.execute("select name from sqlite_master where type = 'table'")}
    assert tables == {"boot", "endpoints", "addresses"}


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.8, 1.0])
def test_what_is_kept_leaves_every_kind_of_call_some(share: float) -> None:
    quota = AddressQuota.of_share(share)
    assert quota.per_minute == round(6_000 * share)
    assert 0 < quota.feed_limit < quota.limit(feed=False, writes=False) < quota.limit(feed=False, writes=True)
    assert 0 < quota.feed_rate * 60 <= quota.feed_limit


class OneAddress:
    """The embedded exchange as all programs behind one network address reach it; counts the calls it refuses."""

    def __init__(self) -> None:
        self.clock = LoopClock(START_MS)
        self.exchange_state = build_exchange_state(3, START_MS)
        self.exchange_state.stands_still = True
        self.sandbox = Sandbox(self.exchange_state, self.clock.wall_ms, SandboxOptions(seed=3))
        self.refused = 0
        self.answered = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def passed_on(message: Message) -> None:
            self.refused += message.get("status") == 429
            self.answered += message.get("status") == 200
            await send(message)

        await self.sandbox(scope, receive, passed_on)

    async def read(self, account: str, budget: Budget, seconds: float) -> None:
        """Read an endpoint of an account ten times a second, which its own limit allows."""
        key = next(key for key in self.exchange_state.keys if key.name == account)
        credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
        client = ExchangeReader(
            credentials, app=self, clock=self.clock, random=random.Random(1), budget=budget, priority=Priority.FEED
        )
        end = now() + seconds
        while now() < end:
            with suppress(ExchangeError):
                await client.futures.pending_orders(product_type="COIN-FUTURES")
            await asyncio.sleep(0.105)
        await client.aclose()


@pytest.mark.looptime
@pytest.mark.parametrize("counted", [True, False], ids=["counted", "not counted"])
async def test_the_embedded_exchange_locks_out_nobody_who_counts_the_address(counted: bool, tmp_path: Path) -> None:
    exchange = OneAddress()
    accounts = [
        key.name for key in exchange.exchange_state.keys if key.kind in ("ordinary", "copy-old", "copy-new", "broker")
    ]
    accounts = [name for name in (*accounts, "managed", "demo") if name != "read-only"]

    def budget(number: int) -> Budget:
        if not counted:
            return NoBudget()
        clock, chance = exchange.clock, random.Random(number)
        return Budget(tmp_path, str(number), host="h", clock=clock, random=chance, inline=True)

    assert len(accounts) >= 10
    # Eleven accounts at 9.5 calls a second make more than a hundred, which is the address's limit.
    endpoints = [exchange.read(account, budget(number), 66) for number, account in enumerate(accounts)]
    await asyncio.gather(*endpoints)
    if counted:
        assert exchange.refused == 0
        assert exchange.answered > 3_500
    else:
        assert exchange.refused > 100


_PROCESS = textwrap.dedent("""
    import asyncio, json, sys, time
    from pathlib import Path
    from tests.exchange.limited_endpoints import limited
    from tradetui.exchange.rate_limit.budget import Priority
    from tradetui.exchange.errors import RateLimited
    from tradetui.exchange.rate_limit.budget import Budget

    async def main(directory):
        budget = Budget(Path(directory), sys.argv[2], host="exchange", address_share=0.02)
        sent = []
        async def caller(number):
            try:
                while True:
                    held = await budget.acquire(limited(100, name=f"{sys.argv[2]}.{number}"), Priority.INTERACTIVE)
                    sent.append(time.monotonic())
                    held.replied()
            except RateLimited:
                pass
        await asyncio.gather(*(caller(number) for number in range(4)))
        await budget.aclose()
        print(json.dumps(sent))

    asyncio.run(main(sys.argv[1]))
""")


def test_real_processes_stay_within_one_minute_s_calls_together(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": "."}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, str(tmp_path), f"account{number}"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env=environ,
        )
        for number in range(3)
    ]
    sent: list[list[float]] = [json.loads(process.communicate()[0]) for process in processes]
    # Reads leave a tenth of the 120 to writes; all end when the next would be free in more than ten seconds.
    assert sum(map(len, sent)) == 108


@pytest.mark.looptime
async def test_where_no_share_is_named_one_fifth_of_the_address_is_left_to_others(tmp_path: Path) -> None:
    for directory in (None, tmp_path):
        assert Budget(directory, clock=LoopClock(0), inline=True).address_usage().allowed == 4_800

"""The promise of the budget: no sliding second at the exchange holds more calls than allowed."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from tests.exchange.arrival_counter import most_in_one_second
from tests.exchange.limited_endpoints import limited
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.errors import NotSent, RateLimited
from tradetui.exchange.rate_limit.budget import Budget, Priority
from tradetui.exchange.rate_limit.quota import COOLING_S, LOST_S
from tradetui.wire.endpoints.catalogue import CATALOGUE

pytestmark = pytest.mark.looptime


def budget(seed: int = 1, **options: Any) -> Budget:
    return Budget(clock=LoopClock(0), random=random.Random(seed), **options)


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("seed", range(24))
async def test_no_second_at_the_server_holds_more_than_the_limit(seed: int) -> None:
    chance = random.Random(seed)
    per_second = chance.choice([1, 2, 5, 10])
    slowest = chance.choice([0.01, 0.12, 0.32, 3.0])
    time_out = 5.0
    endpoint, permits = limited(per_second), budget(seed)
    arrivals: list[float] = []

    async def caller(priority: Priority) -> None:
        while now() < 30:
            held = await permits.acquire(endpoint, priority)
            sent = now()
            if chance.random() < 0.05:  # lost, and it may still arrive late
                arrivals.append(sent + chance.uniform(0, time_out + 1.0))
                await asyncio.sleep(chance.choice([time_out, 0.05]) if arrivals[-1] < sent + 0.05 else time_out)
                held.unanswered()
                continue
            there = chance.uniform(0, slowest)
            arrivals.append(sent + there)
            await asyncio.sleep(there + chance.uniform(0, slowest))
            held.replied()
            if chance.random() < 0.1:
                await asyncio.sleep(chance.uniform(0, 2))

    await asyncio.gather(*(caller(chance.choice(list(Priority))) for _ in range(30)))
    assert most_in_one_second(arrivals) <= per_second, f"seed {seed}"
    assert len(arrivals) > 15


async def test_a_permit_comes_back_a_second_after_its_reply_not_after_its_sending() -> None:
    permits, endpoint = budget(), limited(1)
    held = await permits.acquire(endpoint, Priority.INTERACTIVE)
    await asyncio.sleep(3)
    held.replied()
    await permits.acquire(endpoint, Priority.INTERACTIVE)
    assert now() == pytest.approx(3 + COOLING_S, abs=1e-3)


async def test_a_lost_reply_holds_its_permit_past_the_time_out() -> None:
    permits, endpoint = budget(), limited(1)
    held = await permits.acquire(endpoint, Priority.INTERACTIVE)
    await asyncio.sleep(5)
    held.unanswered()
    await permits.acquire(endpoint, Priority.INTERACTIVE)
    assert now() == pytest.approx(5 + LOST_S, abs=1e-3)


@pytest.mark.parametrize("lost", [False, True])
async def test_a_limit_of_more_than_a_second_keeps_its_permit_for_as_long(lost: bool) -> None:
    permits, endpoint = budget(), CATALOGUE["futures.subaccount_assets"]
    held = await permits.acquire(endpoint, Priority.FEED)
    await asyncio.sleep(0.3)
    if lost:
        held.unanswered()
    else:
        held.replied()
    await permits.acquire(endpoint, Priority.FEED)
    assert now() == pytest.approx(0.3 + 9 + (LOST_S if lost else COOLING_S), abs=1e-3)


async def test_an_unused_permit_is_back_at_once_and_a_permit_ends_only_once() -> None:
    permits, endpoint = budget(), limited(1)
    held = await permits.acquire(endpoint, Priority.INTERACTIVE)
    held.unused()
    held.replied()
    held.unanswered()
    again = await permits.acquire(endpoint, Priority.INTERACTIVE)
    assert now() == 0
    assert permits.usage()["futures.fills"].used == 1
    again.replied()
    assert permits.usage()["futures.fills"].used == 1  # cooling counts


async def test_a_share_leaves_at_least_one_permit() -> None:
    permits = budget(share=0.5)
    for per_second, allowed in ((10, 5), (5, 2), (1, 1)):
        endpoint = limited(per_second, name=f"n{per_second}")
        (await permits.acquire(endpoint, Priority.INTERACTIVE)).replied()
        assert permits.usage()[endpoint.name].allowed == allowed


async def test_feeds_leave_two_permits_to_persons() -> None:
    permits, endpoint = budget(), limited(5)
    for _ in range(3):
        await permits.acquire(endpoint, Priority.FEED)
    feed = asyncio.create_task(permits.acquire(endpoint, Priority.FEED))
    await asyncio.sleep(0)
    assert not feed.done()
    for _ in range(2):
        await asyncio.wait_for(permits.acquire(endpoint, Priority.INTERACTIVE), 0.001)
    feed.cancel()


async def test_of_two_permits_feeds_leave_one() -> None:
    permits, endpoint = budget(), limited(2)
    await permits.acquire(endpoint, Priority.FEED)
    await asyncio.wait_for(permits.acquire(endpoint, Priority.INTERACTIVE), 0.001)


async def test_with_one_permit_feeds_may_have_it() -> None:
    await asyncio.wait_for(budget().acquire(limited(1), Priority.FEED), 0.001)


async def test_first_come_first_served_and_persons_before_feeds() -> None:
    permits, endpoint = budget(), limited(1)
    order: list[str] = []

    async def caller(name: str, priority: Priority) -> None:
        held = await permits.acquire(endpoint, priority)
        order.append(name)
        held.replied()

    tasks = []
    for name in ("f0", "f1", "f2", "p1", "p2"):
        tasks.append(asyncio.create_task(caller(name, Priority.FEED if name[0] == "f" else Priority.INTERACTIVE)))
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert order == ["f0", "p1", "p2", "f1", "f2"]


async def test_waiting_can_be_cancelled_and_costs_no_permit() -> None:
    permits, endpoint = budget(), limited(2)
    first = [await permits.acquire(endpoint, Priority.INTERACTIVE) for _ in range(2)]
    crowd = [asyncio.create_task(permits.acquire(endpoint, Priority.INTERACTIVE)) for _ in range(1000)]
    await asyncio.sleep(0)
    for held in first:
        held.replied()
    await asyncio.sleep(0.5)
    for waiting in crowd:
        waiting.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    for _ in range(2):
        await permits.acquire(endpoint, Priority.INTERACTIVE)
    assert now() == pytest.approx(COOLING_S, abs=1e-3)


async def test_who_waits_has_the_permit_the_moment_it_is_back_however_the_clock_rounds() -> None:
    permits, endpoint = budget(), limited(1)
    for number in range(50):
        (await permits.acquire(endpoint, Priority.FEED)).replied()
        replied_at = now()
        held = await permits.acquire(endpoint, Priority.FEED)
        assert now() - replied_at == pytest.approx(COOLING_S, abs=1e-5)
        held.replied()
        await asyncio.sleep(COOLING_S + number * 0.1)


async def test_cancelled_in_the_instant_a_permit_is_reserved() -> None:
    permits, endpoint = budget(), limited(1)
    (await permits.acquire(endpoint, Priority.INTERACTIVE)).replied()
    await asyncio.sleep(COOLING_S - 0.1)
    waiting = asyncio.create_task(permits.acquire(endpoint, Priority.INTERACTIVE))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await permits.acquire(endpoint, Priority.INTERACTIVE)
    assert now() == pytest.approx(COOLING_S, abs=2e-3)


async def test_cancelled_in_the_instant_of_the_grant() -> None:
    permits, endpoint = budget(), limited(1)
    held = await permits.acquire(endpoint, Priority.INTERACTIVE)
    waiting = asyncio.create_task(permits.acquire(endpoint, Priority.INTERACTIVE))
    await asyncio.sleep(0)
    held.unused()  # grants to the waiter, which has not run yet
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.wait_for(permits.acquire(endpoint, Priority.INTERACTIVE), 0.001)


async def test_a_429_halves_once_for_a_burst_and_permits_come_back_one_by_one() -> None:
    permits, endpoint = budget(), limited(10)
    burst = [await permits.acquire(endpoint, Priority.INTERACTIVE) for _ in range(10)]
    for held in burst:
        held.refused()
    usage = permits.usage()["futures.fills"]
    assert (usage.allowed, usage.halved) == (5, True)
    allowances: list[int] = []
    for _ in range(200):
        await asyncio.sleep(0.1)
        allowed = permits.usage()["futures.fills"].allowed
        if not allowances or allowances[-1] != allowed:
            allowances.append(allowed)
    assert allowances == [5, 6, 7, 8, 9, 10]
    assert not permits.usage()["futures.fills"].halved


async def test_halving_never_goes_below_one_and_each_new_429_halves_again() -> None:
    permits, endpoint = budget(), limited(10)
    for expected in (5, 2, 1, 1):
        held = await permits.acquire(endpoint, Priority.INTERACTIVE)
        await asyncio.sleep(0.01)
        before = permits.usage()["futures.fills"].allowed
        held.refused()
        assert permits.usage()["futures.fills"].allowed == max(1, before // 2)
        assert permits.usage()["futures.fills"].allowed >= expected


async def test_retry_after_is_waited_for_with_jitter() -> None:
    permits, endpoint = budget(), limited(10)
    (await permits.acquire(endpoint, Priority.INTERACTIVE)).refused(retry_after=4)
    await permits.acquire(endpoint, Priority.INTERACTIVE)
    assert 4 < now() <= 4.5


async def test_a_long_pause_is_an_error_at_once() -> None:
    permits, endpoint = budget(), limited(10)
    held = [await permits.acquire(endpoint, Priority.INTERACTIVE) for _ in range(10)]
    waiting = asyncio.create_task(permits.acquire(endpoint, Priority.INTERACTIVE))
    await asyncio.sleep(0)
    held[0].refused(retry_after=300)
    with pytest.raises(RateLimited) as failure:
        await waiting
    assert failure.value.retry_after == pytest.approx(300, abs=1)
    with pytest.raises(RateLimited):
        await permits.acquire(endpoint, Priority.FEED)
    assert now() == 0


async def test_the_header_counts_only_what_our_own_calls_do_not_explain() -> None:
    permits, endpoint = budget(), limited(10)
    held = [await permits.acquire(endpoint, Priority.INTERACTIVE) for _ in range(6)]
    held[0].replied(remaining=4)  # ten less our six
    assert permits.usage()["futures.fills"].allowed == 10
    held[1].replied(remaining=3)  # somebody else calls too
    assert permits.usage()["futures.fills"].allowed == 5


async def test_the_header_leaves_others_their_share() -> None:
    permits, endpoint = budget(share=0.5), limited(10)
    held = await permits.acquire(endpoint, Priority.INTERACTIVE)
    held.replied(remaining=4)  # nine less the others' five
    assert not permits.usage()["futures.fills"].halved
    (await permits.acquire(endpoint, Priority.INTERACTIVE)).replied(remaining=2)
    assert permits.usage()["futures.fills"].halved


async def test_a_copy_trader_and_an_unknown_account_reverse_once_a_second() -> None:
    permits, endpoint = budget(), limited(10, copy_trader=1, name="futures.reverse")
    (await permits.acquire(endpoint, Priority.INTERACTIVE)).replied()
    assert permits.usage()["futures.reverse"].allowed == 1
    permits.account_kind = "ordinary"
    assert permits.usage()["futures.reverse"].allowed == 10
    permits.account_kind = "copy_trader"
    assert permits.usage()["futures.reverse"].allowed == 1


async def test_closing_wakes_those_who_wait() -> None:
    permits, endpoint = budget(), limited(1)
    await permits.acquire(endpoint, Priority.INTERACTIVE)
    waiting = asyncio.create_task(permits.acquire(endpoint, Priority.INTERACTIVE))
    await asyncio.sleep(0)
    await permits.aclose()
    with pytest.raises(NotSent):
        await waiting

"""Virtual time: sleeping takes none of the machine's, and what a thread does takes none of the loop's."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.bench.virtual_loop import VirtualLoop, run


@pytest.mark.looptime
async def test_a_sleep_takes_its_time_in_the_loop_and_none_on_the_machine() -> None:
    loop, begun = asyncio.get_running_loop(), time.perf_counter()
    assert isinstance(loop, VirtualLoop)
    await asyncio.sleep(86_400)
    assert loop.time() == 86_400
    assert time.perf_counter() - begun < 60


@pytest.mark.looptime
async def test_timers_run_in_the_order_of_their_times_however_close() -> None:
    loop = asyncio.get_running_loop()
    order: list[float] = []
    for delay_s in (0.3, 0.1, 2e-7, 0.1 + 1e-6, 0.2):
        loop.call_later(delay_s, order.append, delay_s)
    await asyncio.sleep(1)
    assert order == sorted(order)


@pytest.mark.looptime
async def test_no_time_passes_while_a_thread_works() -> None:
    async with asyncio.timeout(0.001):
        await asyncio.to_thread(time.sleep, 0.05)
    assert asyncio.get_running_loop().time() == 0


async def test_an_unmarked_test_runs_in_the_machines_time() -> None:
    assert not isinstance(asyncio.get_running_loop(), VirtualLoop)


def test_the_default_threads_are_waited_for_at_the_end() -> None:
    async def leave_a_thread() -> None:
        await asyncio.to_thread(time.sleep, 0)
        await asyncio.get_running_loop().shutdown_default_executor()

    run(leave_a_thread())

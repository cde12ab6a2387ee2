"""The exchange's clock as estimated from replies."""

from __future__ import annotations

import asyncio
import random

import pytest

from tradetui.exchange.clock import LoopClock, ServerClock, SystemClock


class Hands:
    """A clock moved by hand."""

    boot = ""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.wall = 1_790_000_000_000

    def monotonic(self) -> float:
        return self.seconds

    def wall_ms(self) -> int:
        return self.wall

    def pass_(self, seconds: float) -> None:
        self.seconds += seconds
        self.wall += round(seconds * 1000)


def test_the_offset_is_the_median_against_the_midpoint_of_the_round_trip() -> None:
    clock, chance = Hands(), random.Random(1)
    server = ServerClock(clock)
    assert server.offset_ms is None
    assert server.now_ms == clock.wall
    for _ in range(50):
        there, back = chance.uniform(0.02, 0.12), chance.uniform(0.02, 0.12)
        clock.pass_(there)
        server_ms = clock.wall + 700
        clock.pass_(back)
        server.observe(server_ms, there + back)
    assert server.offset_ms == pytest.approx(700, abs=40)
    assert server.offset_ms is not None
    assert server.now_ms == clock.wall + server.offset_ms


def test_one_reply_far_off_changes_nothing() -> None:
    clock = Hands()
    server = ServerClock(clock)
    for offset in (10, 10, 9_000, 10, 10):
        server.observe(clock.wall + offset, 0.0)
    assert server.offset_ms == 10


@pytest.mark.parametrize(
    ("offset", "warns", "blocks"),
    [(1_000, False, False), (-1_001, True, False), (5_000, True, False), (5_001, True, True)],
)
def test_it_warns_above_one_second_and_blocks_above_five(offset: int, warns: bool, blocks: bool) -> None:
    clock = Hands()
    server = ServerClock(clock)
    server.observe(clock.wall + offset, 0.0)
    assert (server.warns, server.blocks_writes) == (warns, blocks)


@pytest.mark.parametrize("time", [None, 0, -5, 12345])
def test_nonsense_is_not_believed(time: int | None) -> None:
    server = ServerClock(Hands())
    server.observe(time, 0.1)
    assert server.offset_ms is None


@pytest.mark.parametrize("step_ms", [3_600_000, -3_600_000])
def test_a_step_of_the_wall_clock_forgets_what_was_learned(step_ms: int) -> None:
    clock = Hands()
    server = ServerClock(clock)
    for _ in range(9):
        server.observe(clock.wall + 20, 0.0)
        clock.pass_(1.0)
    clock.wall += step_ms
    assert server.offset_ms is None
    server.observe(clock.wall - step_ms + 20, 0.0)
    assert server.offset_ms == 20 - step_ms


def test_slow_drift_is_no_step() -> None:
    clock = Hands()
    server = ServerClock(clock)
    for _ in range(3_000):
        server.observe(clock.wall, 0.0)
        clock.pass_(1.0)
        clock.wall += 1  # a thousandth too fast, far beyond any real clock
    assert server.offset_ms is not None


@pytest.mark.looptime
async def test_the_loops_clock_shows_its_start_at_first_use() -> None:
    clock = LoopClock(5_000)
    await asyncio.sleep(3)
    assert clock.wall_ms() == 5_000
    await asyncio.sleep(1.5)
    assert clock.wall_ms() == 6_500
    assert clock.monotonic() == pytest.approx(4.5)


def test_the_systems_clocks_run() -> None:
    clock = SystemClock()
    assert clock.wall_ms() > 1_700_000_000_000
    assert clock.monotonic() <= clock.monotonic()

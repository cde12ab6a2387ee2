"""A simulated stretch of the desk's life on the embedded exchange, in jitter and faults, held to its promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.desk.fixtures.desk_simulation import WEATHER, Simulation
from tests.sandbox.exchange_events import heal
from tests.sandbox.invariants import check_books

pytestmark = pytest.mark.looptime


async def live(seconds: float, seed: int, *, core_only: bool = False, data_dir: Path | None = None) -> Simulation:
    """Bad weather for so long, then none, and a market that stands still: what is shown must be what is held."""
    simulation = Simulation(seed=seed, weather=dict(WEATHER), core_only=core_only, data_dir=data_dir)
    simulation.desk.start()
    await simulation.run(seconds)
    heal(simulation.sandbox.faults)
    simulation.exchange_state.stands_still = True
    await simulation.run(40)
    simulation.converged()
    check_books(simulation.exchange_state)
    await simulation.desk.stop()
    return simulation


async def test_a_minute_in_bad_weather(tmp_path: Path) -> None:
    simulation = await live(60, seed=7, data_dir=tmp_path)
    assert simulation.steps >= 90


async def test_half_a_minute_with_the_thirteen_endpoints_alone() -> None:
    await live(30, seed=8, core_only=True)


async def test_the_same_seed_gives_the_same_bytes() -> None:
    digests = []
    for seed in (9, 9, 10):
        simulation = Simulation(seed=seed, weather=dict(WEATHER), digested=True, fills=300)
        simulation.desk.start()
        await simulation.run(15)
        await simulation.desk.stop()
        assert simulation.digest is not None
        digests.append(simulation.digest.hexdigest())
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


async def test_in_good_weather_the_limits_are_never_met() -> None:
    simulation = Simulation(seed=11, fills=600)
    refused = 0
    answer = simulation.sandbox.answer

    def counting(*args: object) -> object:
        nonlocal refused
        reply = answer(*args)  # type: ignore[arg-type]
        refused += reply.status == 429
        return reply

    simulation.sandbox.answer = counting  # type: ignore[method-assign,assignment]
    simulation.desk.start()
    await simulation.run(60)
    await simulation.desk.stop()
    assert refused == 0


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1, 9))
async def test_an_hour_in_bad_weather(seed: int) -> None:
    simulation = await live(3_600, seed=seed, core_only=seed % 4 == 0)
    print(f"seed {seed}: {simulation.steps} steps, {sum(simulation.sandbox.counts.values())} calls")  # noqa: T201

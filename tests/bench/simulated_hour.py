"""A simulated hour of the desk on the embedded exchange, in jitter and faults, held to its promises at every step.

Run: python -m tests.bench.simulated_hour [--seed 7] [--seconds 3600] [--twice]. Prints how long it took and a digest
of everything the desk published; the same seed gives the same digest. The time is held to that of a fixed loop of
plain Python, which is run once in every simulated minute.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.bench.anchors import PLAIN_LOOP, plain_loop
from tests.bench.report import Report
from tests.bench.virtual_loop import run
from tests.desk.fixtures.desk_simulation import WEATHER, Simulation
from tests.sandbox.exchange_events import heal
from tests.sandbox.invariants import check_books

MINUTE_TIMES = 45.0


async def hour(seed: int, seconds: float, directory: Path, loops: list[float]) -> tuple[str, int, int]:
    """One run: the digest, the steps checked and the calls made; each minute's plain loop is added to `loops`."""
    simulation = Simulation(seed=seed, weather=dict(WEATHER), data_dir=directory, digested=True)
    simulation.desk.start()

    def time_the_loop_every_minute() -> None:
        if simulation.steps % 60 == 0:
            loops.append(plain_loop())

    await simulation.run(seconds, check=time_the_loop_every_minute)
    heal(simulation.sandbox.faults)
    simulation.exchange_state.stands_still = True
    await simulation.run(60)
    simulation.converged()
    check_books(simulation.exchange_state)
    await simulation.desk.stop()
    assert simulation.digest is not None
    return simulation.digest.hexdigest(), simulation.steps, sum(simulation.sandbox.counts.values())


def main() -> int:
    """Run and print; 1 where it fell short or two runs of one seed differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3_600.0)
    parser.add_argument("--twice", action="store_true", help="run the seed again and compare")
    options = parser.parse_args()
    digests, report = set(), Report()
    for _ in range(2 if options.twice else 1):
        with tempfile.TemporaryDirectory() as directory:
            loops: list[float] = []
            began = perf_counter()
            digest, steps, calls = run(hour(options.seed, options.seconds, Path(directory), loops))
            took = perf_counter() - began - sum(loops)
        digests.add(digest)
        print(
            f"simulated {options.seconds:.0f} s in {took:.1f} s, seed {options.seed}, {calls} calls, "
            f"{steps} steps checked, digest {digest[:16]}"
        )
        report.ratio(
            "simulated hour: a minute of it",
            took * 60_000 / options.seconds,
            PLAIN_LOOP,
            statistics.mean(loops) * 1000,
            unit="ms",
            at_most=MINUTE_TIMES,
        )
    report.count(f"simulated hour: digests of seed {options.seed}", len(digests), exactly=1)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())

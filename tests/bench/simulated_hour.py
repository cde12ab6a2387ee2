"""A simulated hour of the desk on the embedded exchange, in jitter and faults, held to its promises at every step.

Run: python -m tests.bench.simulated_hour [--seed 7] [--seconds 3600] [--twice]. Prints how long it took and a digest
of everything the desk published; the same seed gives the same digest.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.bench.virtual_loop import run
from tests.desk.simulation import WEATHER, Simulation

MOST_SECONDS = 90.0


async def hour(seed: int, seconds: float, directory: Path) -> tuple[str, int, int]:
    """One run: the digest, the steps checked and the calls made."""
    simulation = Simulation(seed=seed, weather=dict(WEATHER), data_dir=directory)
    simulation.desk.start()
    await simulation.run(seconds)
    simulation.sandbox.faults.heal()
    simulation.world.still = True
    await simulation.run(60)
    simulation.converged()
    simulation.world.check_books()
    await simulation.desk.stop()
    return simulation.digest.hexdigest(), simulation.steps, sum(simulation.sandbox.counts.values())


def main() -> int:
    """Run and print; 1 where it took too long or two runs of one seed differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3_600.0)
    parser.add_argument("--twice", action="store_true", help="run the seed again and compare")
    options = parser.parse_args()
    digests, slowest = set(), 0.0
    for _ in range(2 if options.twice else 1):
        with tempfile.TemporaryDirectory() as directory:
            began = perf_counter()
            digest, steps, calls = run(hour(options.seed, options.seconds, Path(directory)))
            took = perf_counter() - began
        digests.add(digest)
        slowest = max(slowest, took)
        print(
            f"simulated {options.seconds:.0f} s in {took:.1f} s (at most {MOST_SECONDS:.0f}), seed {options.seed}, "
            f"{calls} calls, {steps} steps checked, digest {digest[:16]}"
        )
    return 0 if len(digests) == 1 and slowest <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())

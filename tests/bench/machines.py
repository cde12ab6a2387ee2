"""Three machines on one account while everything fails, a minute for each seed.

Run: python -m tests.bench.machines [SEED …], without seeds the first twenty.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.whole.machines.trial import raged

SEEDS = 20
SECONDS = 60.0


def main(arguments: list[str]) -> int:
    """Print a line for each seed; 1 where one broke a promise."""
    has_failed = False
    for seed in map(int, arguments) if arguments else range(SEEDS):
        with tempfile.TemporaryDirectory() as folder:
            try:
                trial = raged(seed, Path(folder), SECONDS)
            except AssertionError as problem:
                has_failed = True
                print(f"seed {seed}: {problem}", flush=True)
                continue
        counts = ", ".join(f"{deed} {count}" for deed, count in sorted(trial.deeds.items()))
        sent = f"{len(trial.exchange.reversals)} POSTs of {trial.count('confirms')} confirmations"
        print(f"seed {seed}: {sent}; {counts}", flush=True)
    return int(has_failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Replays lives by their seeds and tells their stories.

python -m tests.whole.lives SEED …            the life as it was
python -m tests.whole.lives --shared SEED …   the life of that seed with several machines
python -m tests.whole.lives --smaller SEED …  with every part left out that the broken promise does not need
"""

from __future__ import annotations

import sys

from tests.whole.lives.campaign import smaller
from tests.whole.lives.generate import plan_of
from tests.whole.lives.generate_shared import shared_plan_of
from tests.whole.lives.life import Life, live
from tests.whole.lives.shared_life import SharedLife


def main(arguments: list[str]) -> int:
    """Tell each life; 1 where one broke a promise."""
    shrink, is_shared = "--smaller" in arguments, "--shared" in arguments
    kind: type[Life] = SharedLife if is_shared else Life
    broken = False
    for seed in (int(argument) for argument in arguments if not argument.startswith("--")):
        verdict = live(shared_plan_of(seed) if is_shared else plan_of(seed), kind)
        if shrink and verdict.broken:
            promise = verdict.broken[0][:3]
            verdict = live(smaller(verdict.plan, promise, kind), kind)
        print(f"life {seed}: {verdict.plan}", *verdict.trace, sep="\n")  # noqa: T201
        print(*(verdict.broken or ["every promise holds"]), sep="\n")  # noqa: T201
        broken = broken or bool(verdict.broken)
    return int(broken)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Many lives one after the other, and what they came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tests.whole.lives.generate import plan_of
from tests.whole.lives.generate_shared import shared_plan_of
from tests.whole.lives.life import Life, Verdict, live
from tests.whole.lives.plan import Plan, PostFate


@dataclass
class Report:
    """Counts over many lives, and the first broken promise of each life that broke one, by its seed."""

    lives: int = 0
    posts: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: dict[int, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The counts as text."""
        return [
            f"{self.lives} lives, {self.posts} POSTs, {len(self.broken)} lives broke a promise",
            *(f"  {count:7d}  {name}" for name, count in sorted(self.hits.items())),
            "ends of intents:",
            *(f"  {count:7d}  {name}" for name, count in sorted(self.outcomes.items())),
            *(f"life {seed}: {promise}" for seed, promise in self.broken.items()),
        ]

    def add(self, other: Report) -> None:
        """Take in what other lives came to."""
        self.lives += other.lives
        self.posts += other.posts
        self.hits += other.hits
        self.outcomes += other.outcomes
        self.broken |= other.broken


def run_lives(seeds: Iterable[int]) -> Report:
    """Run the lives of the seeds."""
    return _report(live(plan_of(seed)) for seed in seeds)


def run_screen_lives(seeds: Iterable[int]) -> Report:
    """Run the lives of the seeds with the whole application."""
    from tests.whole.lives.screen import ScreenLife, screen_plan_of

    return _report(live(screen_plan_of(seed), ScreenLife) for seed in seeds)


def run_shared_lives(seeds: Iterable[int]) -> Report:
    """Run the lives of the seeds with several machines on one account."""
    from tests.whole.lives.shared_life import SharedLife

    return _report(live(shared_plan_of(seed), SharedLife) for seed in seeds)


def _report(verdicts: Iterable[Verdict]) -> Report:
    report = Report()
    for verdict in verdicts:
        report.lives += 1
        report.posts += verdict.posts
        report.hits += verdict.hits
        report.outcomes += verdict.outcomes
        if verdict.broken:
            report.broken[verdict.plan.seed] = verdict.broken[0]
    return report


def smaller(plan: Plan, promise: str, kind: type[Life], tries: int = 200) -> Plan:
    """The plan with every part left out without which it still breaks the same promise."""
    became_smaller = True
    while became_smaller and tries > 0:
        became_smaller = False
        for candidate in _parts_left_out(plan):
            tries -= 1
            if any(broken.startswith(promise) for broken in live(candidate, kind).broken):
                plan, became_smaller = candidate, True
                break
    return plan


def _parts_left_out(plan: Plan) -> Iterable[Plan]:
    for name in ("acts", "clock_steps", "read_faults", "store_faults", "strangers"):
        parts = getattr(plan, name)
        for number in range(len(parts)):
            yield replace(plan, **{name: parts[:number] + parts[number + 1 :]})
    for number, fate in enumerate(plan.posts):
        if fate.steps:
            yield replace(plan, posts=_with(plan.posts, number, replace(fate, steps=())))
    calm: dict[str, Any] = {
        entry.name: entry.default for entry in fields(Plan) if entry.name.endswith(("_lag_s", "_share"))
    }
    for name, value in calm.items():
        if getattr(plan, name) != value:
            yield replace(plan, **{name: value})


def _with(posts: tuple[PostFate, ...], number: int, fate: PostFate) -> tuple[PostFate, ...]:
    return (*posts[:number], fate, *posts[number + 1 :])

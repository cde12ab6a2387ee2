"""Lives of several machines that share a store: what is drawn, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from tests.whole.lives.generate import BASE_URLS_OF_ONE_EXCHANGE, TIMES, plan_of
from tests.whole.lives.plan import Act, ActKind, ClockStep, Plan, ProcessPlan, StoreFault, StoreFaultKind

COMPARED_S = 6.0
"""So long after a start nothing is sent, until every machine has compared its journal with the store."""
GONE_S = (60.0, 120.0, 200.0)
"""For so long a machine is away whose outcome another one settles."""


def shared_plan_of(seed: int) -> Plan:
    """The life of a seed with two or three machines in the place of one."""
    random, plan = Random(f"shared life {seed}"), plan_of(seed)
    machines = random.choice((2, 2, 3))
    processes = tuple(
        ProcessPlan(
            random.choice(BASE_URLS_OF_ONE_EXCHANGE),
            f"data-{machine}",
            tells_uid=True,
            profile_uid=plan.core_only or random.random() < 0.4,
            machine=machine,
        )
        for machine in range(machines)
        for _ in range(random.choice((1, 1, 1, 2)))
    )
    return replace(
        plan,
        processes=processes,
        acts=_acts(random, plan, len(processes)),
        posts=tuple(replace(fate, steps=_on_machines(random, fate.steps, machines)) for fate in plan.posts),
        clock_steps=_on_machines(random, plan.clock_steps, machines),
        store_faults=tuple(_store_fault(random, machines) for _ in range(random.choice(TIMES))),
    )


def _on_machines(random: Random, steps: Iterable[ClockStep], machines: int) -> tuple[ClockStep, ...]:
    return tuple(replace(step, machine=random.randrange(machines)) for step in steps)


def _acts(random: Random, plan: Plan, processes: int) -> tuple[Act, ...]:
    """The deeds of the life anywhere, the first reversal also by somebody else at nearly the same time."""
    acts = [_anywhere(random, act, processes) for act in plan.acts]
    first = next(act for act in acts if act.kind is ActKind.REVERSE)
    if random.random() < 0.6:
        other = random.choice([who for who in range(processes) if who != first.who])
        together_s = first.at_s + random.choice((0.0, random.uniform(-0.2, 0.2), random.uniform(0.0, 1.2)))
        acts.append(replace(first, at_s=together_s, who=other, kill_step=None, kill_state=""))
    for _ in range(random.choice((0, 0, 1, 1))):
        suspended = Act(
            random.choice((first.at_s + random.uniform(0.5, 3.0), random.uniform(2.0, 70.0))),
            ActKind.SUSPEND,
            random.choice((first.who, random.randrange(processes))),
            pause_s=random.choice((3.0, 12.0, 40.0, 90.0)),
        )
        acts.append(suspended)
    for _ in range(random.choice((0, 0, 0, 1))):
        acts.append(Act(random.uniform(3.0, 60.0), ActKind.LOCK, random.randrange(processes), pause_s=8.0))
    return tuple(sorted(acts, key=lambda act: act.at_s))


def _anywhere(random: Random, act: Act, processes: int) -> Act:
    ends = act.kind in (ActKind.KILL, ActKind.STOP, ActKind.REBOOT) or act.kill_step is not None
    gone = ends and random.random() < 0.4
    return replace(
        act,
        at_s=act.at_s + COMPARED_S,
        who=random.randrange(processes),
        pause_s=random.choice(GONE_S) if gone else act.pause_s,
        damage=None,
    )


def _store_fault(random: Random, machines: int) -> StoreFault:
    kind = random.choice(tuple(StoreFaultKind))
    for_s = random.choice((0.3, 2.0, 8.0, 25.0, 60.0))
    at_s = random.choice((random.uniform(8.0, 15.0), random.uniform(1.0, 75.0)))
    if kind is StoreFaultKind.RESTORED:
        at_s = max(at_s, for_s + 0.5)
    return StoreFault(at_s, for_s, kind, random.randrange(machines))

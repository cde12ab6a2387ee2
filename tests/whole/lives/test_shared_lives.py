"""Two and three machines on one account, each life from a seed, against a store in memory that fails in every way.

Ten thousand lives: python -m pytest -m campaign tests/whole/lives/test_shared_lives.py -s
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.whole.lives.campaign import run_shared_lives
from tests.whole.lives.generate_shared import COMPARED_S, shared_plan_of
from tests.whole.lives.life import live
from tests.whole.lives.plan import Act, ActKind, Plan, ProcessPlan, ReplyKind, StoreFault, StoreFaultKind
from tests.whole.lives.shared_life import SharedLife
from tests.whole.lives.test_lives import CAMPAIGN_LIVES, calm, in_all_processors

SUITE_LIVES, IN_A_GROUP = 48, 6
BROKE_A_PROMISE_ONCE = (3231,)
WEATHER = (*(str(kind) for kind in StoreFaultKind), "suspended", "kills", "followed: settled")
CONFIRMED_S = COMPARED_S + 4.0


def two_machines(*acts: Act, **parts: Any) -> Plan:
    """A life of two machines without weather, and what these parts of a plan add."""
    processes = tuple(
        ProcessPlan("http://127.0.0.1:8765", f"data-{machine}", tells_uid=True, profile_uid=True, machine=machine)
        for machine in range(2)
    )
    return replace(calm(0), hedge=True, core_only=False, long=Decimal(3), processes=processes, acts=acts, **parts)


@pytest.mark.parametrize("apart_s", (0.0, 0.005, 0.3))
def test_confirmed_on_two_machines_at_once_one_is_sent(apart_s: float) -> None:
    first = Act(CONFIRMED_S, ActKind.REVERSE, 0, side_long=True)
    verdict = live(two_machines(first, replace(first, who=1, at_s=CONFIRMED_S + apart_s)), SharedLife)
    assert not verdict.broken, "\n".join((*verdict.trace, *verdict.broken))
    assert verdict.posts == 1, verdict.trace
    [refusal] = [line for line in verdict.trace if "does not send" in line]
    assert "anna@desk0" in refusal or "bob@desk1" in refusal


def test_what_a_machine_that_is_gone_has_sent_is_settled_by_another() -> None:
    gone = Act(CONFIRMED_S, ActKind.REVERSE, 0, side_long=True, kill_state="sent", kill_step=8, pause_s=200.0)
    verdict = live(two_machines(gone, weather_ends_s=CONFIRMED_S + 150.0), SharedLife)
    assert not verdict.broken, "\n".join((*verdict.trace, *verdict.broken))
    assert verdict.hits["followed: settled"] == 1, verdict.trace


@pytest.mark.parametrize("kind", StoreFaultKind)
def test_while_the_store_fails_an_outcome_under_way_is_followed_and_told_later(kind: StoreFaultKind) -> None:
    reversal = Act(CONFIRMED_S + 30.0, ActKind.REVERSE, 0, side_long=True)
    later = Act(CONFIRMED_S + 34.0, ActKind.REVERSE, 1, side_long=True)
    fault = StoreFault(reversal.at_s + 1.1, 25.0, kind, 0)
    plan = two_machines(reversal, later, store_faults=(fault,))
    lost = replace(plan.posts[0], reply=ReplyKind.LOST)
    verdict = live(replace(plan, posts=(lost, *plan.posts[1:])), SharedLife)
    assert not verdict.broken, "\n".join((*verdict.trace, *verdict.broken))
    assert verdict.posts == 1, verdict.trace


@pytest.mark.parametrize("seed", BROKE_A_PROMISE_ONCE)
def test_every_promise_holds_in_a_life_in_which_one_was_broken_once(seed: int) -> None:
    verdict = live(shared_plan_of(seed), SharedLife)
    assert not verdict.broken, "\n".join((*verdict.trace, *verdict.broken))


@pytest.mark.parametrize("first", range(0, SUITE_LIVES, IN_A_GROUP))
def test_every_promise_holds_on_several_machines(first: int) -> None:
    report = run_shared_lives(range(first, first + IN_A_GROUP))
    assert not report.broken, "\n".join(report.lines())


def test_a_seed_gives_the_same_life_again() -> None:
    first, second = (live(shared_plan_of(7), SharedLife) for _ in range(2))
    assert len(first.trace) > 5
    assert first.trace == second.trace


@pytest.mark.campaign
def test_every_promise_holds_on_several_machines_in_a_campaign() -> None:
    report = in_all_processors(CAMPAIGN_LIVES, run_shared_lives)
    print(*report.lines(), sep="\n")  # noqa: T201
    assert not report.broken
    assert not [kind for kind in WEATHER if not report.hits[kind]]

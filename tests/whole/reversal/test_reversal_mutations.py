"""The property test is worth something: each of eight mistakes in plan or exchange turns it red."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import Phase

from tests.whole.reversal.reversal_cases import check_cases
from tradetui.desk.reversal import market_state
from tradetui.sandbox import exchange_state as exchange_state
from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.reversal import steps_of
from tradetui.trading.holdings import Legs, Net
from tradetui.trading.reversal import ReversalParams, ReversalPlan, plan_reversal
from tradetui.wire.enums import PositionSide, Side

RIGHT_STEPS = steps_of


def planned(change: Callable[[ReversalPlan], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """A mistake in the plan: what it says is held afterwards."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        def wrong(params: ReversalParams, client_oid: str | None = None) -> ReversalPlan:
            plan = plan_reversal(params, client_oid)
            results = tuple(replace(result, after=change(plan)) for result in plan.results)
            return replace(plan, results=results)

        patch.setattr(market_state, "plan_reversal", wrong)

    return mutate


def done(change: Callable[[Any, Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """A mistake of the exchange: what it does with a request."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        def wrong(account: Any, requested: Any, *, honours_one_way_size: bool) -> Any:
            steps = RIGHT_STEPS(account, requested, honours_one_way_size=honours_one_way_size)
            return change(steps, requested)

        patch.setattr(exchange_state, "steps_of", wrong)

    return mutate


def only_hedge(change: Callable[[Legs, Decimal, bool], Legs]) -> Callable[[ReversalPlan], Any]:
    def apply(plan: ReversalPlan) -> Any:
        before = plan.before
        if not isinstance(before, Legs):
            return plan.results[0].after
        return change(before, plan.results[0].closed, plan.reverses_long)

    return apply


def dropped(before: Legs, part: Decimal, reverses_long: bool) -> Legs:
    return Legs(before.long - part, part) if reverses_long else Legs(part, before.short - part)


def uncapped(plan: ReversalPlan) -> Any:
    before = plan.before
    if not isinstance(before, Legs) or plan.params.size is None:
        return plan.results[0].after
    size = plan.params.size
    return before.moved(plan.closed_leg, -size).moved(plan.opened_leg, size)


def wrong_leg(before: Legs, part: Decimal, reverses_long: bool) -> Legs:
    gained, lost = (PositionSide.LONG, PositionSide.SHORT) if reverses_long else (PositionSide.SHORT, PositionSide.LONG)
    return before.moved(gained, part).moved(lost, -part)


def halved(plan: ReversalPlan) -> Any:
    return Net(-plan.before.net / 2) if isinstance(plan.before, Net) else plan.results[0].after


def swapped(patch: pytest.MonkeyPatch) -> None:
    def wrong(account: Any, requested: Any, *, honours_one_way_size: bool) -> Any:
        other = {Side.BUY: "sell", Side.SELL: "buy"}.get(requested.side) if requested.side else None
        try:
            return RIGHT_STEPS(account, requested._replace(side=other), honours_one_way_size=honours_one_way_size)
        except Refusal:
            return RIGHT_STEPS(account, requested, honours_one_way_size=honours_one_way_size)

    patch.setattr(exchange_state, "steps_of", wrong)


MUTATIONS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "the existing leg dropped": planned(only_hedge(dropped)),
    "sides swapped": swapped,
    "size not capped": planned(uncapped),
    "closed but not opened": done(lambda steps, requested: steps._replace(open_size=Decimal(0))),
    "opened twice": done(lambda steps, requested: steps._replace(open_size=steps.open_size * 2)),
    "net halved": planned(halved),
    "wrong leg": planned(only_hedge(wrong_leg)),
    "size ignored": done(lambda steps, _: steps._replace(close_size=steps.held.size, open_size=steps.held.size)),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTATIONS[name](monkeypatch)
    with pytest.raises(AssertionError):
        check_cases(60, core_only=False, phases=(Phase.generate,))

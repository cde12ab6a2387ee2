"""Generated accounts and reversals, run against the embedded exchange and compared with the plan."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.sandbox.exchange_events import liquidate
from tests.sandbox.invariants import check_books
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene
from tradetui.desk.reversal.preview import Target
from tradetui.wire.enums import Side

KINDS = ("opposite leg exists", "s < L", "s = L", "s > L", "one-way long", "one-way short", "one-way with a size")
LEAST_SHARE = 0.1


@dataclass(frozen=True)
class Case:
    """What is held, and what is asked for."""

    one_way: bool
    long: Decimal
    short: Decimal
    side: Side | None
    size: Decimal | None

    def kinds(self) -> set[str]:
        """Which of the kinds that must not be rare this case is."""
        cases = set()
        if self.one_way:
            cases.add("one-way long" if self.long else "one-way short")
            if self.size is not None:
                cases.add("one-way with a size")
            return cases
        leg, other = (self.long, self.short) if self.side is Side.BUY else (self.short, self.long)
        if other:
            cases.add("opposite leg exists")
        size = leg if self.size is None else self.size
        cases.add("s < L" if size < leg else "s = L" if size == leg else "s > L")
        return cases


def cases() -> st.SearchStrategy[Case]:
    """Cases of every kind, none of them rare: hypothesis picks the number they are made from."""
    return st.integers(0, 2**32).map(_case)


def _case(number: int) -> Case:
    chance = Random(number)
    held = _size(chance)
    long = chance.random() < 0.5
    size = {
        "less": Decimal(chance.randint(1, max(1, int(held * 1000) - 1))) / 1000,
        "equal": held,
        "more": held + _size(chance),
        "none": None,
    }[chance.choice(("less", "less", "less", "equal", "equal", "more", "more", "none"))]
    nothing = Decimal(0)
    if chance.random() < 0.45:
        return Case(True, held if long else nothing, nothing if long else held, None, size)
    other = _size(chance) if chance.random() < 0.6 else nothing
    return Case(False, held if long else other, other if long else held, Side.BUY if long else Side.SELL, size)


def _size(chance: Random) -> Decimal:
    return Decimal(chance.randint(1, 4000)) / 1000


def check_cases(
    count: int, *, core_only: bool, one_way_size: str = "honour", phases: Collection[Phase] = tuple(Phase)
) -> Counter[str]:
    """Run generated cases; raises AssertionError where plan and exchange differ. Returns the mix of cases.

    Who only asks whether one differs leaves out the `phases` that look for the smallest one.
    """
    mix: Counter[str] = Counter()
    with asyncio.Runner() as runner:
        scenes = {one_way: _open(runner, one_way, core_only, one_way_size) for one_way in (False, True)}

        @settings(max_examples=count, deadline=None, derandomize=True, database=None, phases=phases)
        @given(cases())
        def check(case: Case) -> None:
            mix["all"] += 1
            mix.update(case.kinds())
            runner.run(_check(scenes[case.one_way][1], case))

        try:
            check()
        finally:
            for context, _ in scenes.values():
                runner.run(context.__aexit__(None, None, None))
    return mix


def _open(runner: asyncio.Runner, one_way: bool, core_only: bool, one_way_size: str):  # type: ignore[no-untyped-def]
    context = scene("one-way" if one_way else "hedge", core_only=core_only, one_way_size=one_way_size)
    return context, runner.run(context.__aenter__())


async def _check(on: Scene, case: Case) -> None:
    _clear(on)
    on.hold(long=str(case.long), short=str(case.short))
    preview = await on.execution.preview(Target(SYMBOL, USDT, case.side, case.size))
    assert preview.plan is not None, preview.doubts
    assert preview.plan.before == on.held()
    await on.client.write(preview.plan.request)
    held = on.held()
    assert any(held == result.after for result in preview.plan.results), (
        f"{case}: planned {[str(result.after) for result in preview.plan.results]}, held {held}"
    )
    check_books(on.sandbox.exchange_state)


def _clear(on: Scene) -> None:
    book = on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
    for held in list(book.holdings.values()):
        liquidate(on.sandbox.exchange_state, book, held)

"""When a figure that crosses its level is news."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.desk.events.thresholds import REARM_S, ThresholdState, crossed

FIGURES = st.decimals(-1_000, 1_000, places=2)
STEPS = st.lists(st.tuples(FIGURES, st.floats(0, 90)), max_size=60)


def fired(figures: list[tuple[float, str]], level: str, *, above: bool) -> list[float]:
    """The times at which a run of (time, figure) fires."""
    state, times = ThresholdState(), []
    for now_s, figure in figures:
        if state.fires(Decimal(figure), Decimal(level), above=above, now_s=now_s):
            times.append(now_s)
    return times


def test_it_fires_on_crossing_and_not_while_it_stays() -> None:
    assert fired([(0, "70"), (1, "81"), (2, "90"), (3, "81"), (4, "80")], "80", above=True) == [1]


def test_it_fires_at_once_where_the_first_figure_is_beyond() -> None:
    assert fired([(0, "81"), (1, "82")], "80", above=True) == [0]


@pytest.mark.parametrize(("back", "again"), [("72", True), ("72.01", False)])
def test_it_is_armed_again_a_tenth_back_for_a_minute(back: str, again: bool) -> None:
    run = [(0.0, "81"), (10.0, back), (70.0, back), (71.0, "81")]
    assert fired(run, "80", above=True) == ([0, 71] if again else [0])


def test_a_minute_back_is_one_without_a_break() -> None:
    run = [(0.0, "81"), (10.0, "70"), (60.0, "79"), (61.0, "70"), (120.0, "70"), (120.5, "81"), (122.0, "70")]
    assert fired(run, "80", above=True) == [0]
    assert fired([*run, (182.0, "70"), (183.0, "81")], "80", above=True) == [0, 183]


def test_below_a_loss_is_back_a_tenth_nearer_to_nothing() -> None:
    run = [(0.0, "-501"), (1.0, "-449"), (61.0, "-449"), (62.0, "-500")]
    assert fired(run, "-500", above=False) == [0, 62]
    assert fired([(at, "-451" if figure == "-449" else figure) for at, figure in run], "-500", above=False) == [0]


def test_a_level_of_zero_is_back_on_its_other_side() -> None:
    assert fired([(0, "-1"), (1, "1"), (61, "1"), (62, "0")], "0", above=False) == [0, 62]


@given(steps=STEPS, level=FIGURES, above=st.booleans())
def test_any_run_fires_only_beyond_its_level_and_a_minute_apart(
    steps: list[tuple[Decimal, float]], level: Decimal, above: bool
) -> None:
    state, now_s, last_s = ThresholdState(), 0.0, None
    back = level - abs(level) / 10 if above else level + abs(level) / 10
    first = True
    was_back_since: float | None = None
    for figure, pause_s in steps:
        now_s += pause_s
        fires = state.fires(figure, level, above=above, now_s=now_s)
        beyond = crossed(figure, level, above=above)
        assert not fires or beyond
        assert not first or fires == beyond, "the first figure of all fires where it is beyond"
        if fires:
            if last_s is not None:
                assert now_s - last_s >= REARM_S
                assert was_back_since is not None
            last_s, was_back_since = now_s, None
        elif not beyond and (figure <= back if above else figure >= back):
            was_back_since = now_s if was_back_since is None else was_back_since
        first = False


@given(steps=STEPS, level=FIGURES)
def test_below_is_above_turned_round(steps: list[tuple[Decimal, float]], level: Decimal) -> None:
    above, below, now_s = ThresholdState(), ThresholdState(), 0.0
    for figure, pause_s in steps:
        now_s += pause_s
        fires_above = above.fires(figure, level, above=True, now_s=now_s)
        fires_below = below.fires(-figure, -level, above=False, now_s=now_s)
        assert (above, fires_above) == (below, fires_below)

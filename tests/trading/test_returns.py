"""Returns and drawdown against a second computation in fractions, with deposits and withdrawals at any time."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tradetui.trading.results.returns import (
    CashFlow,
    EquityPoint,
    equity_curve,
    max_drawdown,
    time_weighted_return,
)

AMOUNTS = st.decimals(min_value=Decimal("0.01"), max_value=1_000_000, places=2)
FLOWS = st.lists(
    st.tuples(
        st.integers(-5, 130),
        st.decimals(min_value=-1_000_000, max_value=1_000_000, places=2, allow_nan=False, allow_infinity=False),
    ),
    max_size=6,
)
Series = tuple[list[EquityPoint], list[CashFlow]]


@st.composite
def series(draw: st.DrawFn, equity: st.SearchStrategy[Decimal] = AMOUNTS) -> Series:
    times = sorted(draw(st.sets(st.integers(0, 120), min_size=2, max_size=20)))
    points = [EquityPoint(time, draw(equity)) for time in times]
    flows = sorted(CashFlow(time, amount) for time, amount in draw(FLOWS))
    return points, flows


def growths_again(points: list[EquityPoint], flows: list[CashFlow]) -> list[Fraction]:
    """The product of each interval's (after + withdrawals) ÷ (before + deposits)."""
    growths = [Fraction(1)]
    for before, after in pairwise(points):
        within = [Fraction(flow.amount) for flow in flows if before.time < flow.time <= after.time]
        deposits = sum((amount for amount in within if amount > 0), Fraction(0))
        withdrawals = -sum((amount for amount in within if amount < 0), Fraction(0))
        growths.append(growths[-1] * (Fraction(after.equity) + withdrawals) / (Fraction(before.equity) + deposits))
    return growths


def nearly(figure: Decimal, exact: Fraction) -> bool:
    return abs(Fraction(figure) - exact) <= max(abs(exact), Fraction(1)) * Fraction(1, 10**20)


@given(series())
def test_growth_is_the_product_of_each_intervals_return(generated_series: Series) -> None:
    points, flows = generated_series
    curve = list(equity_curve(points, flows))
    expected = growths_again(points, flows)
    assert [point.time for point in curve] == [point.time for point in points]
    assert all(nearly(point.growth, exact) for point, exact in zip(curve, expected, strict=True))
    total = time_weighted_return(curve)
    assert total is not None
    assert nearly(total, expected[-1] - 1)


@given(series())
def test_the_curve_is_equity_without_what_was_moved_since_the_first_sample(generated_series: Series) -> None:
    points, flows = generated_series
    for point, sample in zip(equity_curve(points, flows), points, strict=True):
        moved = sum((flow.amount for flow in flows if points[0].time < flow.time <= sample.time), Decimal(0))
        assert point.equity == sample.equity - moved


@given(series())
def test_the_drawdown_is_the_deepest_fall_of_all_pairs(generated_series: Series) -> None:
    points, flows = generated_series
    growths = growths_again(points, flows)
    lowest = min(growths[later] / growths[earlier] for later in range(len(growths)) for earlier in range(later + 1))
    drawdown = max_drawdown(list(equity_curve(points, flows)))
    assert drawdown is not None
    assert nearly(drawdown.fraction, lowest - 1)
    trough = [point.time for point in points].index(drawdown.trough_time)
    assert nearly(drawdown.fraction, growths[trough] / max(growths[: trough + 1]) - 1)


@given(series(st.decimals(min_value=-1000, max_value=1000, places=2, allow_nan=False, allow_infinity=False)))
def test_no_equity_breaks_it_and_no_more_than_everything_is_lost(generated_series: Series) -> None:
    curve = list(equity_curve(*generated_series))
    assert all(point.growth >= 0 for point in curve)
    drawdown = max_drawdown(curve)
    assert drawdown is not None
    assert -1 <= drawdown.fraction <= 0


def test_a_deposit_and_a_withdrawal_are_no_result() -> None:
    points = [EquityPoint(0, Decimal(1000)), EquityPoint(60, Decimal(3000)), EquityPoint(120, Decimal(500))]
    flows = [CashFlow(-1, Decimal(7)), CashFlow(30, Decimal(2000)), CashFlow(90, Decimal(-2500))]
    curve = list(equity_curve(points, flows))
    assert [point.equity for point in curve] == [1000, 1000, 1000]
    assert time_weighted_return(curve) == 0
    drawdown = max_drawdown(curve)
    assert drawdown is not None
    assert (drawdown.fraction, drawdown.amount, drawdown.trough_time) == (Decimal(0), Decimal(0), 120)


def test_one_sample_tells_no_return() -> None:
    curve = list(equity_curve([EquityPoint(0, Decimal(1))], []))
    assert (time_weighted_return(curve), max_drawdown(curve), list(equity_curve([], []))) == (None, None, [])

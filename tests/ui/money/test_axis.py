"""Ticks of a chart are round, stand in the middle of rows, and are named so that neighbours do not touch."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.ui.money.charts.axis import amount_axis, time_ticks

DAY_MS = 86_400_000
AMOUNTS = st.decimals("-1e9", "1e9", places=4)
ROUND = {"1", "2", "25", "5"}


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def test_the_axis_of_the_mockup() -> None:
    axis = amount_axis(Decimal(16_400), Decimal(21_900), 13)
    assert (axis.low, axis.high) == (Decimal(16_000), Decimal(22_000))
    assert [tick.label for tick in axis.ticks] == [
        "16,000",
        "17,000",
        "18,000",
        "19,000",
        "20,000",
        "21,000",
        "22,000",
    ]


def test_an_axis_with_signs_names_zero_without_one() -> None:
    labels = [tick.label for tick in amount_axis(Decimal(-480), Decimal(780), 13, signed=True).ticks]
    assert "0" in labels
    assert all(label == "0" or label[0] in "+-" for label in labels)


@given(AMOUNTS, AMOUNTS, st.integers(3, 60))
def test_any_axis_holds_its_amounts_with_round_ticks_in_the_middle_of_rows(
    first: Decimal, second: Decimal, rows: int
) -> None:
    low, high = min(first, second), max(first, second)
    axis = amount_axis(low, high, rows)
    assert axis.low <= low
    assert high <= axis.high
    amounts = [tick.amount for tick in axis.ticks]
    assert len(amounts) >= 2
    step = amounts[1] - amounts[0]
    assert "".join(map(str, step.normalize().as_tuple().digits)) in ROUND
    assert all(amount % step == 0 for amount in amounts), "a tick is a multiple of the step"
    rows_a_tick = Fraction(step) * (rows - 1) / Fraction(axis.high - axis.low)
    assert abs(rows_a_tick - round(rows_a_tick)) < Fraction(1, 10**9), "a tick lies in the middle of a row"
    assert all(after - before == step for before, after in pairwise(amounts))


def test_thirty_days_have_a_tick_every_seven_from_the_first() -> None:
    since = ms("2026-10-23T00:00:00+00:00")
    ticks = time_ticks(since, since + 30 * DAY_MS - 1, UTC, 57)
    assert [tick.label for tick in ticks] == ["23 Oct", "30", "6 Nov", "13", "20"]


def test_a_day_has_ticks_at_full_hours_of_its_zone() -> None:
    zone = ZoneInfo("Asia/Kolkata")
    since = ms("2026-11-21T00:00:00+05:30")
    ticks = time_ticks(since, since + DAY_MS - 1, zone, 60)
    assert [tick.label for tick in ticks] == ["21 Nov", "04:00", "08:00", "12:00", "16:00", "20:00"]
    assert ticks[1].at_ms == since + 4 * 3_600_000


def test_a_year_has_ticks_at_the_first_of_months() -> None:
    since = ms("2025-10-20T00:00:00+00:00")
    ticks = time_ticks(since, since + 400 * DAY_MS, UTC, 120)
    assert [tick.label for tick in ticks][:4] == ["Nov", "Dec", "2026", "Feb"]


@pytest.mark.parametrize("days", [1, 2, 3, 7, 14, 30, 60, 90, 150, 365, 800, 4000])
@given(columns=st.integers(20, 200))
def test_labels_of_neighbours_do_not_touch(days: int, columns: int) -> None:
    since = ms("2020-02-20T00:00:00+00:00")
    until = since + days * DAY_MS - 1
    ticks = time_ticks(since, until, UTC, columns)
    at = [(tick.at_ms - since) / (until - since) * (columns - 1) for tick in ticks]
    assert all(len(tick.label) < b - a + 1 for tick, (a, b) in zip(ticks, pairwise(at), strict=False))

"""A month on the calendar: Monday first, the week's sum at its end, amounts that fit their cells."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.trading.results.periods import month_of
from tradetui.ui.money.calendar_panel import (
    DayNet,
    MonthGrid,
    cell_width,
    day_text,
    has_week_sums,
    short_amount,
)

NOVEMBER = date(2026, 11, 1)


def grid(**nets: str) -> MonthGrid:
    """November 2026, nets by day as `d2="763"`."""
    return MonthGrid(NOVEMBER, {date(2026, 11, int(day[1:])): DayNet(Decimal(net)) for day, net in nets.items()})


def test_weeks_begin_on_monday_and_hold_the_month_alone() -> None:
    weeks = grid().weeks
    assert [len(week) for week in weeks] == [7] * 6
    assert weeks[0] == (None,) * 6 + (NOVEMBER,)
    assert weeks[1][0] == date(2026, 11, 2)
    assert weeks[-1] == (date(2026, 11, 30),) + (None,) * 6


@given(st.dates(date(1990, 1, 1), date(2090, 12, 31)))
def test_every_day_of_any_month_stands_once_under_its_weekday(day: date) -> None:
    weeks = MonthGrid(month_of(day), {}).weeks
    days = [day for week in weeks for day in week if day is not None]
    assert days[0] == month_of(day)
    assert days[-1] + timedelta(days=1) == month_of(day, 1)
    assert days == [days[0] + timedelta(days=number) for number in range(len(days))]
    assert all(day is None or day.weekday() == column for week in weeks for column, day in enumerate(week))


def test_sums_of_weeks_and_of_the_month() -> None:
    month = grid(d2="763", d3="393", d9="-4", d10="0")
    weeks = month.weeks
    assert month.week_net(weeks[0]) is None
    assert month.week_net(weeks[1]) == DayNet(Decimal(1156))
    assert month.whole == DayNet(Decimal(1152))
    assert month.days_by_sign == (2, 1, 1)
    assert month.average(green=True) == Decimal(578)
    assert month.average(green=False) == Decimal(-4)
    assert grid().average(green=True) is None


def test_a_missing_piece_marks_its_day_and_its_week() -> None:
    nets = {date(2026, 11, 13): DayNet(Decimal("222.3"), False), date(2026, 11, 12): DayNet(Decimal(196))}
    month = MonthGrid(NOVEMBER, nets)
    assert day_text(date(2026, 11, 13), nets[date(2026, 11, 13)], 8) == "13+222?"
    assert month.week_net(month.weeks[2]) == DayNet(Decimal("418.3"), False)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0"),
        ("4.4", "+4"),
        ("0.3", "+<1"),
        ("-0.3", "-<1"),
        ("-785", "-785"),
        ("999.6", "+1.0k"),
        ("1240", "+1.2k"),
        ("-99960", "-100k"),
        ("999999", "+1.0m"),
        ("-12400000", "-12m"),
    ],
)
def test_amounts_in_the_narrowest_cell(amount: str, text: str) -> None:
    assert short_amount(DayNet(Decimal(amount)), 5) == text


def test_a_wide_cell_has_room_for_cents() -> None:
    assert day_text(date(2026, 11, 2), DayNet(Decimal("763.456")), 14) == " 2    +763.46"
    assert day_text(date(2026, 11, 2), DayNet(Decimal("-1763.456")), 14) == " 2  -1,763.46"
    assert day_text(date(2026, 11, 2), None, 10) == " 2       "


@given(st.decimals("-1e12", "1e12", places=4), st.booleans(), st.integers(5, 11), st.booleans())
def test_no_amount_is_wider_than_its_cell(amount: Decimal, is_complete: bool, width: int, has_cents: bool) -> None:
    text = short_amount(DayNet(amount, is_complete), width, has_cents=has_cents)
    assert len(text) <= width
    assert text.endswith("?") is not is_complete


def test_cells_grow_with_the_room() -> None:
    assert [cell_width(room) for room in (20, 38, 58, 64, 66, 90, 150)] == [4, 5, 8, 8, 8, 11, 14]
    assert [has_week_sums(room) for room in (58, 63, 64)] == [False, False, True]


def test_the_narrowest_cells_show_the_sign_of_a_day() -> None:
    assert [day_text(NOVEMBER, DayNet(Decimal(net)), 5) for net in ("12", "-3", "0")] == [" 1 +", " 1 -", " 1 0"]


def test_months_go_on_over_the_end_of_a_year() -> None:
    assert month_of(date(2026, 12, 31), 1) == date(2027, 1, 1)
    assert month_of(date(2026, 1, 15), -1) == date(2025, 12, 1)
    assert month_of(date(1, 1, 1), -1) == date(1, 1, 1)

"""A chart as it is drawn: its size, its gaps, its marks, its round ticks and what each piece of it is."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.ui.money.chart_panel import Chart, ChartInk, ChartPoint, ChartText, sparkline
from tradetui.ui.money.plot import amount_axis, draw, thinned, time_ticks

DAY_MS = 86_400_000
SINCE = 1_792_713_600_000
"""2026-10-23 00:00 UTC."""
UNTIL = SINCE + 30 * DAY_MS
AMOUNTS = st.decimals("-1e9", "1e9", places=4)
ROUND = {"1", "2", "25", "5"}


def curve(*pieces: tuple[int, int], transfers: tuple[ChartPoint, ...] = ()) -> Chart:
    """A curve known in these hours of the month, ends included."""
    segments = tuple(
        tuple(ChartPoint(SINCE + hour * 3_600_000, Decimal(17_000 + 5 * hour)) for hour in range(first, last + 1))
        for first, last in pieces
    )
    return Chart(SINCE, UNTIL, UTC, segments, (), transfers)


def bars(*amounts: int) -> Chart:
    days = (ChartPoint(SINCE + day * DAY_MS + DAY_MS // 2, Decimal(amount)) for day, amount in enumerate(amounts))
    return Chart(SINCE, SINCE + len(amounts) * DAY_MS, UTC, bars=tuple(days))


def lines_of(drawn: ChartText) -> list[str]:
    return ["".join(text for text, _ in row) for row in drawn]


@pytest.mark.parametrize("has_utf8", [True, False])
@pytest.mark.parametrize("size", [(40, 10), (66, 15), (140, 40), (196, 50)])
def test_every_row_is_as_wide_as_asked_for(size: tuple[int, int], has_utf8: bool) -> None:
    for chart in (curve((0, 719)), bars(*range(-10, 20)), curve((3, 3)), bars(0, 0, 0)):
        lines = lines_of(draw(chart, *size, has_utf8=has_utf8))
        assert [len(line) for line in lines] == [size[0]] * size[1]


def test_round_amounts_and_days_stand_at_the_axes() -> None:
    lines = lines_of(draw(curve((0, 719)), 66, 15, has_utf8=True))
    labels = [line.partition("┤")[0].strip() for line in lines if "┤" in line]
    assert labels == sorted(labels, reverse=True)
    assert "18,000" in labels
    assert lines[-1].split() == ["23", "Oct", "30", "6", "Nov", "13", "20"]


def test_a_gap_is_blank() -> None:
    lines = lines_of(draw(curve((0, 239), (480, 719)), 66, 15, has_utf8=True))
    first = lines[0].index("│") if "│" in lines[0] else lines[0].index("┤")
    canvas = [line[first + 1 :] for line in lines[:-2]]
    middle = [line[25:34] for line in canvas]
    assert all(not text.strip() for text in middle)
    assert any(line[:15].strip() for line in canvas)
    assert any(line[45:].strip() for line in canvas)


def test_a_transfer_is_marked_on_the_axis_below_its_moment() -> None:
    seventh = ChartPoint(SINCE + 7 * DAY_MS, Decimal(2_000))
    lines = lines_of(draw(curve((0, 719), transfers=(seventh,)), 66, 15, has_utf8=True))
    # The tick of the same moment is where the mark stands now: its label begins below it.
    assert lines[-2].index("▲") == lines[-1].index("30")


def test_stars_where_there_is_no_utf8() -> None:
    lines = lines_of(draw(curve((0, 719)), 66, 15, has_utf8=False))
    assert any("*" in line for line in lines)
    assert not any("⠀" <= character <= "⣿" for line in lines for character in line)


def test_green_days_gain_and_red_days_lose() -> None:
    drawn = draw(bars(300, 200, -250, -100), 60, 15, has_utf8=True)
    inks = {ink for row in drawn for _, ink in row}
    assert {ChartInk.GAIN, ChartInk.LOSS} <= inks
    top = next(row for row in drawn if any(ink is ChartInk.GAIN for _, ink in row))
    bottom = next(row for row in reversed(drawn) if any(ink is ChartInk.LOSS for _, ink in row))
    assert all(ink is not ChartInk.LOSS for _, ink in top)
    assert all(ink is not ChartInk.GAIN for _, ink in bottom)


def test_there_is_a_line_at_zero() -> None:
    lines = lines_of(draw(bars(300, 0, 0, 0, -250), 60, 15, has_utf8=True))
    zero = next(line for line in lines if line.lstrip().startswith("0┼"))
    assert "─" in zero


def test_points_that_nobody_can_tell_apart_are_left_out() -> None:
    points = [ChartPoint(SINCE + minute * 60_000, Decimal(minute % 1_000)) for minute in range(40_000)]
    chart = Chart(SINCE, UNTIL, UTC, (tuple(points),))
    kept = thinned(points, chart, 100)
    assert len(kept) <= 404
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert max(point.amount for point in kept) == 999
    assert thinned(points[:10], chart, 100) == points[:10]


def test_a_sparkline_is_one_line_with_blanks_where_nothing_is_known() -> None:
    chart = curve((0, 239), (480, 719))
    line = sparkline(chart, 30, has_utf8=True)
    assert len(line) == 30
    assert line[0] == "▁"
    assert line[-1] == "█"
    assert line[12:18] == " " * 6
    assert sparkline(chart, 30, has_utf8=False).isascii()


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

"""A chart as it is drawn: its size, its gaps, its marks and what each piece of it is."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal

import pytest

from tradetui.ui.money.charts.chart import (
    Chart,
    ChartInk,
    ChartPoint,
    ChartText,
    sparkline,
    thinned,
)
from tradetui.ui.money.charts.plot import draw

DAY_MS = 86_400_000
SINCE = 1_792_713_600_000
"""2026-10-23 00:00 UTC."""
UNTIL = SINCE + 30 * DAY_MS


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

"""Draws a chart with plotext, at ticks of round amounts, days or hours.

plotext draws curve, bars, axes and the line at zero. This module decides which amounts and days have a tick, and
where a deposit or withdrawal is marked. Themes decide colours: a chart is text in pieces with their kind. It is loaded
with the first chart, in a thread: plotext takes a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import ROUND_FLOOR, Decimal
from itertools import groupby
from threading import Lock
from typing import Final, NamedTuple

import plotext

from tradetui.trading.results.periods import day_start_ms, month_of
from tradetui.ui.money.chart_panel import Chart, ChartInk, ChartPoint, ChartText
from tradetui.wire.exchange_time import DAY_MS, unix_ms, utc_moment

_BELOW: Final = 2  # lines under the canvas: the axis and its labels
_figure_free: Final = Lock()
"""plotext draws on one figure for the whole process."""
_ROUND: Final = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10), Decimal(20))
"""Round steps between ticks, of the same order of magnitude."""
_HOUR_MS: Final = 3_600_000
_MOST_AMOUNTS: Final = 9
_NARROWEST_TICK: Final = 8  # columns from one tick of time to the next: a label such as `23 Oct` and a gap
_HOURS: Final = (1, 2, 3, 4, 6, 8, 12)
_DAYS: Final = (1, 2, 7, 14)
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60)
_HOURS_UNTIL_MS: Final = 2 * DAY_MS
_DAYS_UNTIL: Final = 100


def draw(chart: Chart, width: int, height: int, has_utf8: bool) -> ChartText:
    """The chart as rows of pieces of text, each row `width` cells wide."""
    rows = height - _BELOW
    low, high = chart.range
    amounts = amount_axis(low, high, rows, signed=bool(chart.bars))
    canvas = amounts.label_width + 1
    columns = width - canvas
    ticks = time_ticks(chart.since, chart.until, chart.zone, columns)
    with _figure_free:
        lines = _plotted(chart, amounts, ticks, width, height, has_utf8=has_utf8)
    axis_row = lines[rows]
    for transfer in chart.transfers:
        at = canvas + _column(chart, transfer.at_ms, columns)
        axis_row = axis_row[:at] + "▲" + axis_row[at + 1 :]
    inks = [_ink_of_column(chart, column, columns) for column in range(columns)]
    drawn: list[list[tuple[str, ChartInk]]] = []
    for row, line in enumerate(lines[:rows]):
        of_row = _ink_of_row(chart, amounts, row, rows)
        inks_of_row = inks if of_row is None else [of_row] * columns
        drawn.append([(line[:canvas], ChartInk.AXIS), *_inked(line[canvas:], inks_of_row)])
    drawn += [[(text, ChartInk.AXIS)] for text in (axis_row, *lines[rows + 1 :])]
    return tuple(map(tuple, drawn))


def _plotted(
    chart: Chart, amounts: AmountAxis, ticks: tuple[TimeTick, ...], width: int, height: int, *, has_utf8: bool
) -> list[str]:
    """The whole chart as plotext draws it, without colours."""
    marker = "braille" if has_utf8 else "*"
    figure = plotext.figure
    # The size is the panel's, not the terminal's.
    plotext.terminal.limit(False, False)
    figure.clear.all()
    figure.plot_size(width, height)
    figure.axes(False)
    figure.axes(True, axis="x", side="lower")
    figure.axes(True, axis="y", side="left")
    if amounts.low < 0 < amounts.high:
        figure.line(0)
    for segment in chart.segments:
        points = thinned(segment, chart, 2 * width)
        days = [_days(chart, point.at_ms) for point in points]
        signal = figure.signal(days, [float(point.amount) for point in points], marker=marker)
        figure.draw(signal.lines(True).density("full"))
    bars = [bar for bar in chart.bars if bar.amount]
    if bars:
        days = [_days(chart, bar.at_ms) for bar in bars]
        heights = [float(bar.amount) for bar in bars]
        # `width` is a fraction of the smallest distance between two bars; a single bar is as wide as its day.
        # The quarter blocks of `hd` fill a bar more densely than braille dots.
        figure.draw(figure.bar(days, heights, marker="hd" if has_utf8 else marker, width=0.7))
    time, money = figure.ruler("x", "lower"), figure.ruler("y", "left")
    time.lim(0, _days(chart, chart.until))
    money.lim(float(amounts.low), float(amounts.high))
    time.ticks([_days(chart, tick.at_ms) for tick in ticks], [tick.label for tick in ticks])
    money.ticks([float(tick.amount) for tick in amounts.ticks], [tick.label for tick in amounts.ticks])
    return [line.ljust(width)[:width] for line in figure.build().string(colorless=True).split("\n")[:height]]


def _days(chart: Chart, at_ms: int) -> float:
    return (at_ms - chart.since) / DAY_MS


def _column(chart: Chart, at_ms: int, columns: int) -> int:
    elapsed_part = (at_ms - chart.since) / max(1, chart.until - chart.since)
    return min(columns - 1, max(0, int(elapsed_part * (columns - 1) + 0.5)))


def _ink_of_column(chart: Chart, column: int, columns: int) -> ChartInk:
    if not chart.bars:
        return ChartInk.CURVE
    at_ms = chart.since + column * (chart.until - chart.since) / max(1, columns - 1)
    nearest = min(chart.bars, key=lambda bar: abs(bar.at_ms - at_ms))
    return ChartInk.GAIN if nearest.amount > 0 else ChartInk.LOSS


def _ink_of_row(chart: Chart, amounts: AmountAxis, row: int, rows: int) -> ChartInk | None:
    """The ink of bars above zero and below it; None in the row of zero, where both may end."""
    if not chart.bars:
        return ChartInk.CURVE
    row_of_zero = round(float(amounts.high / (amounts.high - amounts.low)) * (rows - 1))
    if row == row_of_zero:
        return None
    return ChartInk.GAIN if row < row_of_zero else ChartInk.LOSS


def _inked(text: str, inks: list[ChartInk]) -> list[tuple[str, ChartInk]]:
    """The text in pieces of one ink; everything but dots of a curve or bar belongs to the axis."""
    pieces: list[tuple[str, ChartInk]] = []
    for character, ink in zip(text, inks, strict=False):
        if character in " ─":
            ink = ChartInk.AXIS
        if pieces and (pieces[-1][1] is ink or character == " "):
            pieces[-1] = (pieces[-1][0] + character, pieces[-1][1])
        else:
            pieces.append((character, ink))
    return pieces


def thinned(points: Sequence[ChartPoint], chart: Chart, slots: int) -> list[ChartPoint]:
    """The points that can be told apart: the first, least, greatest and last one of each slot."""
    if len(points) <= 4 * slots:
        return list(points)
    span = max(1, chart.until - chart.since)
    by_slot = groupby(points, key=lambda point: (point.at_ms - chart.since) * slots // span)
    return [point for _, slot_points in by_slot for point in _outline(list(slot_points))]


def _outline(points: list[ChartPoint]) -> list[ChartPoint]:
    least, greatest = min(points, key=lambda point: point.amount), max(points, key=lambda point: point.amount)
    return sorted({points[0], least, greatest, points[-1]})


class AmountTick(NamedTuple):
    amount: Decimal
    label: str


class TimeTick(NamedTuple):
    """A tick of the axis of time, in Unix milliseconds."""

    at_ms: int
    label: str


@dataclass(frozen=True, slots=True)
class AmountAxis:
    """The amounts in the middle of the lowest row and of the highest row, and the ticks between them."""

    low: Decimal
    high: Decimal
    ticks: tuple[AmountTick, ...]

    @property
    def label_width(self) -> int:
        return max(len(tick.label) for tick in self.ticks)


def amount_axis(low: Decimal, high: Decimal, rows: int, *, signed: bool = False) -> AmountAxis:
    """Return the axis of `rows` rows from `low` to `high` or wider, each tick in the middle of a row.

    It uses the round step that leaves the least room unused. `signed` writes a plus before amounts above zero.
    """
    steps = max(2, rows - 1)
    # With two distances between ticks there is always an axis that holds amounts on both sides of zero.
    most = steps // 2
    least = min(most, max(2, -(-steps // _MOST_AMOUNTS)))
    if high == low:
        around = abs(low) / 200 or Decimal(1)
        low, high = low - around, high + around
    spans = [_round_span(low, high, steps, rows_a_tick) for rows_a_tick in range(least, min(2 * least, most) + 1)]
    begin, end, step = min(spans, key=lambda span: span[1] - span[0])
    places = max(0, -int(step.normalize().as_tuple().exponent))
    amounts = [begin + number * step for number in range(int((end - begin) // step) + 1)]
    return AmountAxis(
        begin, end, tuple(AmountTick(amount, _amount_label(amount, places, signed=signed)) for amount in amounts)
    )


def _round_span(low: Decimal, high: Decimal, steps: int, rows_a_tick: int) -> tuple[Decimal, Decimal, Decimal]:
    """Begin, end and step of an axis with a tick every `rows_a_tick` of its steps."""
    step = Decimal(1).scaleb(((high - low) * rows_a_tick / steps).adjusted())
    while True:
        begin = (low / step).to_integral_value(ROUND_FLOOR) * step
        end = begin + step * steps / rows_a_tick
        if end >= high:
            # Spare room is divided between above and below.
            spare = int((end - high) / step / 2) * step
            return begin - spare, end - spare, step
        magnitude = Decimal(1).scaleb(step.adjusted())
        step = next(factor * magnitude for factor in _ROUND if factor * magnitude > step)


def _amount_label(amount: Decimal, places: int, *, signed: bool) -> str:
    text = f"{amount:,.{places}f}"
    if not amount:
        return text.removeprefix("-")
    return f"+{text}" if signed and amount > 0 else text


def time_ticks(since: int, until: int, zone: tzinfo, columns: int) -> tuple[TimeTick, ...]:
    """Ticks from `since` to `until` (Unix ms) in `columns` columns: hours of a day or two, days, or months.

    Days are counted from the first one on; a month is named by the first of its days that has a tick.
    """
    if until - since <= _HOURS_UNTIL_MS:
        return _hour_ticks(since, until, zone, columns)
    first = _local(since, zone).date()
    day_count = (_local(until, zone).date() - first).days + 1
    step = next((step for step in _DAYS if step * columns >= _NARROWEST_TICK * day_count), None)
    if step is None or day_count > _DAYS_UNTIL:
        return _month_ticks(since, until, zone, columns)
    ticks, named_month = [], 0
    for number in range(0, day_count, step):
        day = first + timedelta(days=number)
        at_ms = day_start_ms(day, zone)
        if since <= at_ms <= until:
            ticks.append(TimeTick(at_ms, str(day.day) if day.month == named_month else f"{day.day} {day:%b}"))
            named_month = day.month
    return tuple(ticks)


def _hour_ticks(since: int, until: int, zone: tzinfo, columns: int) -> tuple[TimeTick, ...]:
    hours = max(1, -(-(until - since) // _HOUR_MS))
    step = next((step for step in _HOURS if step * columns >= _NARROWEST_TICK * hours), 24)
    # Hours begin by local time, which may be half an hour off UTC.
    first_ms = unix_ms(_local(since, zone).replace(minute=0, second=0, microsecond=0))
    moments = [(at_ms, _local(at_ms, zone)) for at_ms in range(first_ms, until + 1, _HOUR_MS)]
    return tuple(
        TimeTick(at_ms, f"{moment:%H:%M}" if moment.hour else f"{moment.day} {moment:%b}")
        for at_ms, moment in moments
        if moment.hour % step == 0 and since <= at_ms
    )


def _month_ticks(since: int, until: int, zone: tzinfo, columns: int) -> tuple[TimeTick, ...]:
    first, last = _local(since, zone).date(), _local(until, zone).date()
    month_count = (last.year - first.year) * 12 + last.month - first.month + 1
    step = next((step for step in _MONTHS if step * columns >= _NARROWEST_TICK * month_count), _MONTHS[-1])
    months = [month_of(first, number) for number in range(month_count)]
    return tuple(
        TimeTick(day_start_ms(month, zone), f"{month:%b}" if month.month > 1 and step < 12 else f"{month.year}")
        for month in months
        if (month.year * 12 + month.month - 1) % step == 0 and since <= day_start_ms(month, zone) <= until
    )


def _local(moment_ms: int, zone: tzinfo) -> datetime:
    return utc_moment(moment_ms).astimezone(zone)

"""Draws charts with plotext, which is loaded with this module: a quarter of a second, in a thread.

plotext draws curve, bars, axes and the line at zero. This module decides which amounts and days have a tick, and
where a deposit or withdrawal is marked. Themes decide colours: a chart is text in pieces with their kind.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

import plotext

from tradetui.ui.money.charts.axis import AmountAxis, TimeTick, amount_axis, time_ticks
from tradetui.ui.money.charts.chart import Chart, ChartInk, ChartText, thinned
from tradetui.wire.exchange_time import DAY_MS

_BELOW: Final = 2
"""Lines under the canvas: the axis and its labels."""
# plotext draws on one figure for the whole process.
_figure_free: Final = Lock()


def draw(chart: Chart, width: int, height: int, *, has_utf8: bool) -> ChartText:
    """A chart in so many cells: rows of pieces of text, each row of the full width."""
    rows = height - _BELOW
    low, high = chart.range
    amounts = amount_axis(low, high, rows, signed=bool(chart.bars))
    columns = width - amounts.label_width - 1
    ticks = time_ticks(chart.since, chart.until, chart.zone, columns)
    with _figure_free:
        lines = _plotted(chart, amounts, ticks, width, height, has_utf8=has_utf8)
    axis_row = lines[rows]
    canvas = amounts.label_width + 1
    for transfer in chart.transfers:
        at = canvas + _column(chart, transfer.at_ms, columns)
        axis_row = axis_row[:at] + "▲" + axis_row[at + 1 :]
    inks = [_ink_of_column(chart, column, columns) for column in range(columns)]
    drawn = []
    for row, line in enumerate(lines[:rows]):
        of_row = _ink_of_row(chart, amounts, row, rows)
        drawn.append([(line[:canvas], ChartInk.AXIS), *_inked(line[canvas:], [of_row] * columns if of_row else inks)])
    below = [[(text, ChartInk.AXIS)] for text in (axis_row, *lines[rows + 1 :])]
    return tuple(tuple(row) for row in (*drawn, *below))


def _plotted(
    chart: Chart, amounts: AmountAxis, ticks: tuple[TimeTick, ...], width: int, height: int, *, has_utf8: bool
) -> list[str]:
    marker = "braille" if has_utf8 else "*"
    figure = plotext.figure
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
        # The width of a bar is a part of the least distance between two: a lone one is as wide as its day.
        # Quarters of a block stand closer than dots.
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
    share = (at_ms - chart.since) / max(1, chart.until - chart.since)
    return min(columns - 1, max(0, int(share * (columns - 1) + 0.5)))


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

"""The panel of a chart, drawn off the event loop so that no key waits for it, and again only if data or size changed.

Also the charts of a period as plain values: the curve of equity, or the bars of daily results. It imports no plotting
library: `plot` draws the charts, `chart_panel` shows them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta, tzinfo
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from textual import events, on, work
from textual.content import Content
from textual.widget import Widget

from tradetui.desk.archive.ledger_queries import USDT
from tradetui.desk.results.period_results import PeriodResults
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat, percent_points
from tradetui.desk.tables.cells.column import money
from tradetui.trading.results.periods import day_start_ms
from tradetui.ui.money.result_panel import dated_in_period
from tradetui.ui.safe_text import sanitized
from tradetui.wire.exchange_time import DAY_MS

_ENOUGH_OF_THE_PERIOD: Final = 3
"""The curve is shown first if equity was sampled over at least a third of the period's days."""
_LATE_PARTS: Final = 20
"""The sentence below shows since when equity is known if a twentieth of the period had passed by then."""
_LONG_MS: Final = 14 * DAY_MS
"""For a longer period the sentence below names days without their times: it must fit under a chart of 70 cells."""


class ChartInk(StrEnum):
    """The kinds of pieces of a chart; a theme gives each a colour."""

    AXIS = "axis"
    CURVE = "curve"
    GAIN = "gain"
    LOSS = "loss"


ChartText: TypeAlias = tuple[tuple[tuple[str, ChartInk], ...], ...]


class ChartPoint(NamedTuple):
    """An amount at a time (Unix ms)."""

    at_ms: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve in pieces, with unknown stretches between them, or bars; from `since` to `until` (Unix ms).

    A bar stands at its day's noon. Transfers are deposits and, below zero, withdrawals.
    """

    since: int
    until: int
    zone: tzinfo = UTC
    segments: tuple[tuple[ChartPoint, ...], ...] = ()
    bars: tuple[ChartPoint, ...] = ()
    transfers: tuple[ChartPoint, ...] = ()

    @property
    def points(self) -> Sequence[ChartPoint]:
        return [point for segment in self.segments for point in segment] or self.bars

    @property
    def range(self) -> tuple[Decimal, Decimal]:
        """The least and the greatest amount; bars stand on zero."""
        amounts = [point.amount for point in self.points] + ([Decimal(0)] if self.bars else [])
        return min(amounts), max(amounts)


@dataclass(frozen=True, slots=True)
class TitledChart:
    """A chart, or the sentence in its place, with its title and the sentence below it."""

    title: str
    content: Chart | str
    below: str = ""


def shows_equity_first(results: PeriodResults) -> bool:
    """Whether the curve of equity shows more than the bars, because it is known for a good part of the period."""
    curve = results.equity.curve
    if not curve or not results.days:
        return bool(curve)
    sampled = sum(stretch[-1].time - stretch[0].time for stretch in curve)
    first = results.days[0].day
    assert first is not None
    traded = results.now_ms - day_start_ms(first, results.period.zone)
    return sampled * _ENOUGH_OF_THE_PERIOD >= traded


def equity_chart(results: PeriodResults, cell_format: CellFormat, symbols: tuple[str, ...] = ()) -> TitledChart:
    """Return the curve of equity without deposits and withdrawals, which are marked; none if symbols are chosen."""
    equity = results.equity
    part = "" if equity.time_weighted is None else f" {percent_points(equity.time_weighted, signed=True)} %"
    title = f"Equity without deposits, {USDT}{part}"
    if not equity.curve:
        if symbols:
            nothing = "Equity is of the whole account:\nit is not shown for chosen symbols."
        elif equity.sampled_from is None:
            nothing = "No equity was sampled in this period.\ntradetui samples it once a minute while it runs."
        else:
            nothing = "Deposits and withdrawals of this period are not known,\nso the curve cannot leave them out."
        return TitledChart(title, nothing)
    segments = tuple(tuple(ChartPoint(point.time, point.equity) for point in stretch) for stretch in equity.curve)
    transfers = tuple(ChartPoint(flow.time, flow.amount) for flow in equity.transfers or ())
    since, until = _bounds(results)
    chart = Chart(since, until, results.period.zone, segments, transfers=transfers)
    parts = [_transfers_text(transfers, cell_format)]
    first = segments[0][0].at_ms
    if first - since > (until - since) // _LATE_PARTS:
        moment = dated_in_period(first, results)
        is_long = until - since > _LONG_MS
        parts.append(f"since {moment.rpartition(' ')[0] if is_long else moment}")
    if len(segments) > 1:
        parts.append("gap: not running")
    return TitledChart(title, chart, " · ".join(filter(None, parts)))


def result_chart(results: PeriodResults) -> TitledChart:
    title, zone = f"Result by day, {USDT}", results.period.zone
    bars = tuple(ChartPoint(_noon_ms(line.day, zone), line.net) for line in results.days if line.day is not None)
    if not bars:
        return TitledChart(title, "Nothing was traded in this period.")
    since, until = _bounds(results)
    green, red, flat = results.green_days, results.red_days, results.flat_days
    return TitledChart(title, Chart(since, until, zone, bars=bars), f"green {green} · red {red} · flat {flat}")


def _bounds(results: PeriodResults) -> tuple[int, int]:
    period = results.period
    if period.since is not None:
        return period.since, period.until
    known = [day_start_ms(line.day, period.zone) for line in results.days[:1] if line.day is not None]
    if results.equity.sampled_from is not None:
        known.append(results.equity.sampled_from)
    return min(known, default=period.until - 1), period.until


def _noon_ms(day: date, zone: tzinfo) -> int:
    return (day_start_ms(day, zone) + day_start_ms(day + timedelta(days=1), zone)) // 2


def _transfers_text(transfers: tuple[ChartPoint, ...], cell_format: CellFormat) -> str:
    deposits = [transfer.amount for transfer in transfers if transfer.amount > 0]
    withdrawals = [transfer.amount for transfer in transfers if transfer.amount < 0]
    has_both = bool(deposits) and bool(withdrawals)
    parts = []
    for amounts, one, direction in ((deposits, "deposit", "in"), (withdrawals, "withdrawal", "out")):
        if amounts:
            several = direction if has_both else f"{one}s"
            name = one if len(amounts) == 1 and not has_both else f"{len(amounts)} {several}"
            parts.append(f"{name} {money(sum(amounts, Decimal(0)), USDT, cell_format, signed=True)}")
    return f"▲ {', '.join(parts)}" if parts else ""


_SMALLEST_WIDTH: Final = 40
_SMALLEST_HEIGHT: Final = 10
_INK_STYLES: Final[Mapping[ChartInk, str]] = {
    ChartInk.AXIS: "$quiet",
    ChartInk.CURVE: "$primary",
    ChartInk.GAIN: "$gain",
    ChartInk.LOSS: "$loss",
}
DrawChart: TypeAlias = Callable[[Chart, int, int, bool], ChartText]
"""Draws a chart of a width and a height, with or without UTF-8; raises ImportError without a library."""


class ChartPanel(Widget, can_focus=True):
    """A chart; a sparkline if it has no room or cannot be drawn; a sentence if there is nothing to draw."""

    def __init__(self, draw: DrawChart, *, has_utf8: bool) -> None:
        super().__init__(id="chart-canvas")
        self._draw_chart = draw
        self._has_utf8 = has_utf8
        self._content: Chart | str = ""
        self._requested: tuple[Chart, int, int] | None = None
        """The chart, width and height whose drawing was requested last."""
        self._drawn: ChartText | str | None = None
        """The newest drawing, or why it failed; None before the first. It may be older than the request."""

    def show(self, content: Chart | str) -> None:
        """Show a chart, or the sentence in its place."""
        if content != self._content:
            self._content = content
            self._request_drawing()
            self.refresh()

    @property
    def _has_room(self) -> bool:
        return self.size.width >= _SMALLEST_WIDTH and self.size.height >= _SMALLEST_HEIGHT

    @on(events.Resize)
    @on(events.Show)
    def _request_drawing(self) -> None:
        """Request the chart in the present size, unless that was the last request."""
        if isinstance(self._content, str) or not self._has_room:
            return
        requested = (self._content, self.size.width, self.size.height)
        if requested != self._requested:
            self._requested = requested
            self._draw(*requested)

    @work(group="draw", exclusive=True, exit_on_error=False)
    async def _draw(self, chart: Chart, width: int, height: int) -> None:
        try:
            self._drawn = await asyncio.to_thread(self._draw_chart, chart, width, height, self._has_utf8)
        except Exception as problem:  # whatever the library fails at, a new size or new data are drawn again
            self._drawn = (str(problem) or type(problem).__name__).splitlines()[0]
        self.refresh()

    def render(self) -> Content:
        if isinstance(self._content, str):
            return self._sentence(self._content)
        if self._has_room and isinstance(self._drawn, tuple):
            return self._coloured(self._drawn)
        return self._in_short(self._content, self._drawn if isinstance(self._drawn, str) else "")

    def _sentence(self, sentence: str) -> Content:
        """The lines of a sentence in the middle of the panel."""
        lines = [line.center(self.size.width).rstrip() for line in sentence.split("\n")]
        above = "\n" * max(0, (self.size.height - len(lines)) // 2)
        return sanitized(above + "\n".join(lines)).stylize("$quiet")

    def _coloured(self, drawn: ChartText) -> Content:
        """Return as many rows of a drawing as fit, because it may still be of another size."""
        rows = [Content.assemble(*((text, _INK_STYLES[ink]) for text, ink in row)) for row in drawn]
        return Content("\n").join(rows[: self.size.height])

    def _in_short(self, chart: Chart, failure: str) -> Content:
        """Return the sparkline with the lowest and highest amount, and the reason if drawing failed."""
        low, high = chart.range
        line = sparkline(chart, max(1, self.size.width), has_utf8=self._has_utf8)
        figures = f"from {money(low, USDT, DEFAULT_FORMAT)} to {money(high, USDT, DEFAULT_FORMAT)} USDT"
        reason = failure and f"\nNo chart can be drawn: {failure}"
        return Content.assemble((line, "$primary"), "\n", (figures, "$quiet"), sanitized(reason))


def sparkline(chart: Chart, width: int, *, has_utf8: bool) -> str:
    """A line of `width` cells, each as high as the last value in its time; blank where nothing is known.

    A point from before the chart's time has no cell.
    """
    levels = "▁▂▃▄▅▆▇█" if has_utf8 else "_.-~:=*#"
    low, high = chart.range
    span = max(1, chart.until - chart.since)
    last_of_cell: dict[int, Decimal] = {}
    for point in chart.points:
        last_of_cell[min(width - 1, (point.at_ms - chart.since) * width // span)] = point.amount
    cells = []
    for cell in range(width):
        amount = last_of_cell.get(cell)
        if amount is None:
            cells.append(" ")
        else:
            height = (amount - low) / (high - low) if high > low else Decimal("0.5")
            cells.append(levels[min(len(levels) - 1, int(height * len(levels)))])
    return "".join(cells)

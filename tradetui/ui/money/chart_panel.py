"""The panel of a chart, drawn beside the loop so that no key waits for it, and again only if data or size changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final, TypeAlias

from textual import events, on, work
from textual.content import Content
from textual.widget import Widget

from tradetui.desk.archive.span_sums import USDT
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.cells.figure_columns import money
from tradetui.ui.money.chart import Chart, ChartInk, ChartText
from tradetui.ui.safe_text import sanitized

_SMALLEST_WIDTH: Final = 40
_SMALLEST_HEIGHT: Final = 10
_INK_STYLES: Final[Mapping[ChartInk, str]] = {
    ChartInk.AXIS: "$quiet",
    ChartInk.CURVE: "$primary",
    ChartInk.GAIN: "$gain",
    ChartInk.LOSS: "$loss",
}
DrawChart: TypeAlias = Callable[[Chart, int, int, bool], ChartText]
"""Draws a chart of a width and a height, with or without UTF-8; raises ImportError where no library can."""


class ChartPanel(Widget, can_focus=True):
    """A chart; a sparkline where it has no room or cannot be drawn; a sentence where there is nothing to draw."""

    def __init__(self, draw: DrawChart, *, has_utf8: bool, inline: bool) -> None:
        """`inline` draws in the loop, without a thread."""
        super().__init__(id="chart-canvas")
        self._draw_chart = draw
        self._has_utf8 = has_utf8
        self._inline = inline
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
        """Have the chart drawn in the present size, unless that was requested last."""
        if isinstance(self._content, str) or not self._has_room:
            return
        requested = (self._content, self.size.width, self.size.height)
        if requested != self._requested:
            self._requested = requested
            self._draw(*requested)

    @work(group="draw", exclusive=True, exit_on_error=False)
    async def _draw(self, chart: Chart, width: int, height: int) -> None:
        try:
            if self._inline:
                self._drawn = self._draw_chart(chart, width, height, self._has_utf8)
            else:
                self._drawn = await asyncio.to_thread(self._draw_chart, chart, width, height, self._has_utf8)
        except Exception as problem:  # whatever a library fails at, the next data or size are drawn again
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
        """As many rows of a drawing as there is room for: it may still be of another size."""
        rows = [Content.assemble(*((text, _INK_STYLES[ink]) for text, ink in row)) for row in drawn]
        return Content("\n").join(rows[: self.size.height])

    def _in_short(self, chart: Chart, failure: str) -> Content:
        """The sparkline with the least and the greatest amount, and why there is no more, where drawing failed."""
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

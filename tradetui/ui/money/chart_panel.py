"""The panel of a chart, drawn beside the loop so that no key waits for it, and again only if data or size changed.

Where there is no room for a chart, or no library to draw one, it shows a sparkline.
"""

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
    """The chart, a sparkline where it has no room, or a sentence where there is nothing to draw."""

    def __init__(self, draw: DrawChart, *, has_utf8: bool, inline: bool) -> None:
        """`inline` draws in the loop, without a thread."""
        super().__init__(id="chart-canvas")
        self._draw_chart = draw
        self._has_utf8 = has_utf8
        self._inline = inline
        self._chart: Chart | None = None
        self._nothing = ""
        self._drawn: ChartText | None = None
        self._drawn_of: tuple[Chart, int, int] | None = None
        """The chart, width and height of the last drawing, also while it is under way."""
        self._cannot_draw = ""  # why the last drawing failed; empty where it did not

    def show(self, chart: Chart | None, nothing: str) -> None:
        if (chart, nothing) != (self._chart, self._nothing):
            self._chart, self._nothing = chart, nothing
            self._draw_where_needed()
            self.refresh()

    @property
    def _has_room(self) -> bool:
        return self.size.width >= _SMALLEST_WIDTH and self.size.height >= _SMALLEST_HEIGHT

    @on(events.Resize)
    @on(events.Show)
    def _draw_where_needed(self) -> None:
        if self._chart is None or not self._has_room:
            return
        needed = (self._chart, self.size.width, self.size.height)
        if needed != self._drawn_of:
            self._drawn_of = needed
            self._draw(*needed)

    @work(group="draw", exclusive=True, exit_on_error=False)
    async def _draw(self, chart: Chart, width: int, height: int) -> None:
        try:
            if self._inline:
                drawn = self._draw_chart(chart, width, height, self._has_utf8)
            else:
                drawn = await asyncio.to_thread(self._draw_chart, chart, width, height, self._has_utf8)
        except Exception as problem:  # whatever a library fails at, the next data or size are drawn again
            self._cannot_draw = (str(problem) or type(problem).__name__).splitlines()[0]
        else:
            self._drawn, self._cannot_draw = drawn, ""
        self.refresh()

    def render(self) -> Content:
        """The last drawing; until the next one is ready that may be of other data or another size for a moment."""
        if self._chart is None:
            lines = [line.center(self.size.width).rstrip() for line in self._nothing.split("\n")]
            above = "\n" * max(0, (self.size.height - len(lines)) // 2)
            return sanitized(above + "\n".join(lines)).stylize("$quiet")
        if self._has_room and self._drawn is not None and not self._cannot_draw:
            pieces: list[tuple[str, str] | str] = []
            for row in self._drawn[: self.size.height]:
                pieces += [(text, _INK_STYLES[ink]) for text, ink in row]
                pieces.append("\n")
            return Content.assemble(*pieces[:-1])
        low, high = self._chart.range
        line = sparkline(self._chart, max(1, self.size.width), has_utf8=self._has_utf8)
        figures = f"from {money(low, USDT, DEFAULT_FORMAT)} to {money(high, USDT, DEFAULT_FORMAT)} USDT"
        reason = self._cannot_draw and f"\nNo chart can be drawn: {self._cannot_draw}"
        return Content.assemble((line, "$primary"), "\n", (figures, "$quiet"), sanitized(reason))


def sparkline(chart: Chart, width: int, *, has_utf8: bool) -> str:
    """A line of `width` cells, each as high as the last value in its time; blank where nothing is known."""
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

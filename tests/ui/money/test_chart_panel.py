"""The panel of a chart: drawn off the loop and only where it changed, and a sparkline below 40 columns by 10 rows."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC
from decimal import Decimal

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.ui.application.test_first_paint import loaded
from tradetui.ui.money.chart_panel import Chart, ChartInk, ChartPanel, ChartPoint, ChartText

DAY_MS = 86_400_000
CHART = Chart(0, 3 * DAY_MS, UTC, (tuple(ChartPoint(day * DAY_MS, Decimal(9_000 + day)) for day in range(3)),))


class Charts(App[None]):
    """One panel over the whole screen; `drawn` are the sizes that were drawn, and in which threads."""

    CSS = "ChartPanel { width: 100%; height: 100%; }"

    def __init__(self, problem: Exception | None = None) -> None:
        super().__init__()
        self.drawn: list[tuple[int, int]] = []
        self.threads: set[int | None] = set()
        self.problem = problem
        self.panel = ChartPanel(self.draw_chart, has_utf8=True)

    def compose(self) -> ComposeResult:
        yield self.panel

    def draw_chart(self, chart: Chart, width: int, height: int, has_utf8: bool) -> ChartText:
        if self.problem is not None:
            raise self.problem
        self.drawn.append((width, height))
        self.threads.add(threading.get_ident())
        return ((("drawn", ChartInk.CURVE),),)

    async def text(self, pilot: Pilot[None]) -> str:
        """What the panel shows once all that was asked for is drawn."""
        await self.workers.wait_for_complete()
        await pilot.pause()
        return self.panel.render().plain

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"quiet": "#888888", "gain": "#00ff00", "loss": "#ff0000"}


@pytest.mark.parametrize(
    ("size", "is_drawn"), [((40, 10), True), ((39, 10), False), ((40, 9), False), ((120, 5), False)]
)
async def test_below_forty_by_ten_it_is_a_sparkline(size: tuple[int, int], is_drawn: bool) -> None:
    app = Charts()
    async with app.run_test(size=size) as pilot:
        app.panel.show(CHART)
        shown = await app.text(pilot)
        assert (shown == "drawn") is is_drawn
        assert is_drawn or ("▁" in shown and "from 9,000.00 to 9,002.00 USDT" in shown)
        assert app.drawn == ([size] if is_drawn else [])


async def test_it_is_drawn_in_a_thread_and_anew_only_for_other_data_or_another_size() -> None:
    app = Charts()
    async with app.run_test(size=(80, 20)) as pilot:
        for _ in range(3):
            app.panel.show(replace(CHART))
            assert await app.text(pilot) == "drawn"
        assert app.drawn == [(80, 20)]
        assert threading.get_ident() not in app.threads
        app.panel.show(replace(CHART, until=4 * DAY_MS))
        await app.text(pilot)
        await pilot.resize_terminal(90, 20)
        await app.text(pilot)
        assert app.drawn == [(80, 20), (80, 20), (90, 20)]


async def test_without_the_library_there_is_the_sparkline_and_the_reason() -> None:
    app = Charts(ImportError("No module named 'plotext'"))
    async with app.run_test(size=(80, 20)) as pilot:
        app.panel.show(CHART)
        shown = await app.text(pilot)
        assert "▁" in shown and "No chart can be drawn: No module named 'plotext'" in shown


async def test_a_chart_that_could_not_be_drawn_says_why_and_the_next_one_is_drawn() -> None:
    app = Charts(IndexError())
    async with app.run_test(size=(80, 20)) as pilot:
        app.panel.show(CHART)
        assert "No chart can be drawn: IndexError" in await app.text(pilot)
        app.problem = None
        app.panel.show(replace(CHART, until=4 * DAY_MS))
        assert await app.text(pilot) == "drawn"


def test_the_library_is_loaded_with_the_first_chart() -> None:
    assert "plotext" not in loaded("import tradetui.ui.money.money_screen")
    assert "plotext" in loaded("import tradetui.ui.money.plot")

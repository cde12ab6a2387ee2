"""Which panels a size shows, live resizing, and the states a panel can be in."""

from __future__ import annotations

import asyncio

import pytest

from tests.ui.virtual import Stage
from tradetui.desk.tables.table import PANELS
from tradetui.ui.main.layout import Shape, arrangement
from tradetui.ui.main.panels import coarse
from tradetui.ui.tty.screenshot import screen_text


@pytest.mark.parametrize(
    ("width", "height", "shape", "shown"),
    [
        (200, 60, Shape.FIVE, tuple(PANELS)),
        (150, 40, Shape.FIVE, tuple(PANELS)),
        (120, 36, Shape.STACK, ("positions", "orders", "fills")),
        (80, 24, Shape.SINGLE, ("positions",)),
        (200, 24, Shape.SINGLE, ("positions",)),
        (1, 1, Shape.SINGLE, ("positions",)),
    ],
)
def test_arrangement(width: int, height: int, shape: Shape, shown: tuple[str, ...]) -> None:
    placed = arrangement(width, height, "positions", (), zoomed=False)
    assert (placed.shape, placed.shown) == (shape, shown)
    assert arrangement(width, height, "fills", (), zoomed=True).shown == ("fills",)


def test_in_a_stack_a_hidden_panel_takes_its_own_place() -> None:
    before = arrangement(120, 36, "positions", (), zoomed=False).shown
    assert arrangement(120, 36, "triggers", before, zoomed=False).shown == ("positions", "triggers", "fills")
    assert arrangement(120, 36, "accounts", before, zoomed=False).shown == ("accounts", "orders", "fills")
    assert arrangement(120, 36, "fills", before, zoomed=False).shown == before


def test_ages_are_coarse() -> None:
    assert [coarse(age) for age in (3, 12, 19, 61, 3599, 7300)] == ["5 s", "10 s", "10 s", "1 min", "59 min", "2 h"]


@pytest.mark.looptime
async def test_resized_to_nothing_and_back() -> None:
    stage = Stage()
    async with stage.running((200, 60)) as pilot:
        whole = screen_text(stage.app).splitlines()
        for size in ((120, 36), (80, 24), (20, 5), (3, 2), (1, 1), (0, 0), (1, 60), (200, 1), (80, 24), (200, 60)):
            await pilot.resize_terminal(*size)
            await asyncio.sleep(0.5)
            await pilot.pause()
            assert stage.app.main.panel.display
        assert stage.app.main.focused_panel == "positions"
        assert stage.app.main.table.has_focus
        now = screen_text(stage.app).splitlines()
        # What a panel holds is counted behind its name, and goes on while history is being read.
        assert [line[:10] for line in now if "╭" in line] == [line[:10] for line in whole if "╭" in line]


@pytest.mark.looptime
@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_every_panel_is_a_key_away(size: tuple[int, int]) -> None:
    stage = Stage()
    async with stage.running(size) as pilot:
        for key, name in zip("12345", PANELS, strict=True):
            await pilot.press(key)
            await pilot.pause()
            panel = stage.app.main.panels[name]
            assert panel.display
            assert panel.caption in screen_text(stage.app)
            assert panel.table.shown == stage.desk.panel_rows(name).count > 0


@pytest.mark.looptime
async def test_an_exchange_that_is_down_leaves_the_rows_with_their_age_and_comes_back() -> None:
    stage = Stage()
    async with stage.running((120, 36), after=8) as pilot:
        main = stage.app.main
        assert "·" not in main.panel.caption
        rows = main.table.shown
        stage.sandbox.faults.next("dropped-before", times=1_000_000)
        await asyncio.sleep(8)
        await pilot.pause()
        assert "no data for 5 s" in main.panel.caption
        await asyncio.sleep(60)
        await pilot.pause()
        assert "no data for 1 min" in main.panel.caption
        assert main.table.shown == rows
        shown = screen_text(stage.app)
        assert "link down" in shown
        assert "The exchange cannot be reached" in shown
        stage.sandbox.faults.heal()
        await asyncio.sleep(12)
        await pilot.pause()
        assert "no data" not in main.panel.caption
        assert "link down" not in screen_text(stage.app)


@pytest.mark.looptime
async def test_nothing_to_show_says_what_is_missing() -> None:
    stage = Stage("one-way")
    async with stage.running((120, 36)) as pilot:
        await pilot.press("p", "p", "p")
        await pilot.pause()
        assert "is of this product type" in screen_text(stage.app) or stage.app.main.table.shown


@pytest.mark.looptime
async def test_a_desk_that_cannot_be_opened_says_why_and_stays() -> None:
    stage = Stage()
    stage.app.settings.profiles[0].__dict__["open_desk"] = _refused
    async with stage.running((120, 36)) as pilot:
        await pilot.pause()
        assert "config.toml is not there" in screen_text(stage.app)
        assert stage.app.is_running


def _refused() -> object:
    raise ValueError("config.toml is not there")

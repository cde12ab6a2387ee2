"""Which panels a size shows, live resizing, and the states a panel can be in."""

from __future__ import annotations

import asyncio
from itertools import combinations, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sandbox.exchange_events import heal
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.desk.tables.table import PANELS
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.main.hidden_panels import PanelSummary, in_lines
from tradetui.ui.main.panel import LOWEST, NARROWEST, PanelNeed, coarse_age, divide, panels_shown, regions


@pytest.mark.parametrize(
    ("width", "height", "shown"),
    [
        (200, 60, tuple(PANELS)),
        (150, 40, tuple(PANELS)),
        (120, 36, ("positions", "orders", "fills")),
        (80, 36, ("positions", "orders", "fills")),
        (80, 24, ("positions",)),
        (200, 24, ("positions",)),
        (1, 1, ("positions",)),
    ],
)
def test_panels_shown(width: int, height: int, shown: tuple[str, ...]) -> None:
    assert panels_shown(width, height, "positions", (), zoomed=False) == shown
    assert panels_shown(width, height, "fills", (), zoomed=True) == ("fills",)


THREE = ("positions", "orders", "fills")


def test_three_panels_are_one_over_two_where_they_fit_and_else_a_stack() -> None:
    lefts = {width: [left for left, _, _, _ in regions(THREE, width, 32, {}).values()] for width in (115, 116)}
    assert lefts == {115: [0, 0, 0], 116: [0, 0, 58]}


needs_of_panels = st.fixed_dictionaries(
    {str(name): st.builds(PanelNeed, st.integers(3, 500), st.integers(20, 250)) for name in PANELS}
)


@settings(max_examples=50)
@given(st.integers(1, 320), st.integers(1, 100), st.sampled_from(list(PANELS)), needs_of_panels)
def test_panels_cover_the_room_and_each_other_nowhere(
    width: int, height: int, focused: str, needs: dict[str, PanelNeed]
) -> None:
    shown = panels_shown(width, height, focused, (), zoomed=False)
    laid_out = regions(shown, width, height, needs)
    assert set(laid_out) == set(shown)
    assert focused in laid_out
    rectangles = list(laid_out.values())
    assert sum(across * down for _, _, across, down in rectangles) == width * height
    for (left, top, across, down), (left2, top2, across2, down2) in combinations(rectangles, 2):
        beside = left + across <= left2 or left2 + across2 <= left
        assert beside or top + down <= top2 or top2 + down2 <= top
    assert all(left + across <= width and top + down <= height for left, top, across, down in rectangles)
    if len(shown) > 1 and width >= 2 * NARROWEST:
        assert all(across >= NARROWEST for _, _, across, _ in laid_out.values())


def test_positions_get_the_lines_they_use_and_no_more() -> None:
    needs = {"positions": PanelNeed(16, 118), "orders": PanelNeed(18, 130), "fills": PanelNeed(400, 130)}
    assert regions(THREE, 120, 31, needs) == {
        "positions": (0, 0, 120, 16),
        "orders": (0, 16, 60, 15),
        "fills": (60, 16, 60, 15),
    }
    many = {**needs, "positions": PanelNeed(60, 118)}
    assert regions(THREE, 120, 31, many)["positions"] == (0, 0, 120, 31 - LOWEST)


def test_side_by_side_one_that_needs_less_leaves_it_to_the_other() -> None:
    needs = {"positions": PanelNeed(16, 118), "orders": PanelNeed(18, 160), "fills": PanelNeed(18, 70)}
    laid_out = regions(THREE, 180, 40, needs)
    assert (laid_out["orders"][2], laid_out["fills"][2]) == (110, 70)


@pytest.mark.parametrize(("width", "height"), [(160, 42), (200, 54), (300, 74)])
def test_of_five_panels_none_is_half_empty(width: int, height: int) -> None:
    needs = {
        "positions": PanelNeed(24, 171),
        "orders": PanelNeed(35, 144),
        "fills": PanelNeed(405, 137),
        "triggers": PanelNeed(361, 160),
        "accounts": PanelNeed(9, 135),
    }
    laid_out = regions(tuple(PANELS), width, height, needs)
    empty = {
        name: 1 - min(across, needs[name].cells) * min(down, needs[name].lines) / (across * down)
        for name, (_, _, across, down) in laid_out.items()
        if name != "accounts"
    }
    assert max(empty.values()) < 0.2, empty


def test_on_a_very_wide_screen_the_accounts_take_no_room_that_positions_need() -> None:
    needs = {
        "positions": PanelNeed(24, 171),
        "orders": PanelNeed(35, 144),
        "fills": PanelNeed(405, 137),
        "triggers": PanelNeed(361, 160),
        "accounts": PanelNeed(10, 160),
    }
    laid_out = regions(tuple(PANELS), 300, 74, needs)
    assert laid_out["positions"][2:] == (171, 24)
    assert laid_out["accounts"][2:] == (129, 10)


@given(st.integers(0, 400), st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), min_size=1, max_size=5))
def test_shares_are_the_whole_and_nobody_is_below_the_least(total: int, parts: list[tuple[int, int]]) -> None:
    most, least = [want for want, _ in parts], [floor for _, floor in parts]
    for favours_first in (True, False):
        shares = divide(total, most, least, favours_first=favours_first)
        assert sum(shares) == total
        if total >= sum(least):
            assert all(had >= floor for had, floor in zip(shares, least, strict=True))


def hidden(name: str, key: str, headline: str) -> PanelSummary:
    return PanelSummary(name, key, name.title(), "4", headline, has_trouble=False)


HIDDEN = [hidden("accounts", "1", "least free USDT 26.51 %"), hidden("triggers", "5", "9 waiting · 2 failed this week")]


def texts(width: int, lines: int) -> list[list[str]]:
    return [[text for _, text in line] for line in in_lines(HIDDEN, width, lines)]


def test_panels_that_are_hidden_say_what_they_would_be_opened_for() -> None:
    whole = ["1 Accounts 4 · least free USDT 26.51 %", "5 Triggers 9 waiting · 2 failed this week"]
    assert texts(118, 1) == [whole]
    assert texts(78, 2) == [[whole[0]], [whole[1]]]
    assert texts(70, 1) == [[whole[0], "5 Triggers 9 waiting …"]]
    assert texts(40, 1) == [["1 Accounts · least free …", "5 Triggers"]]


def test_the_free_margin_is_whole_at_80_columns_before_rows_are_counted() -> None:
    panels = [
        PanelSummary("accounts", "1", "Accounts", "4", "88.52 % free USDC", has_trouble=False),
        PanelSummary("orders", "3", "Orders", "33", "buys 126,511 · sells 167,083 USDT", has_trouble=False),
        PanelSummary("fills", "4", "Fills", "400", "today profit ~+278.36", has_trouble=False),
        PanelSummary("triggers", "5", "Stops", "365", "9 waiting · 7 failed this week", has_trouble=False),
        PanelSummary("alerts", "A", "Alerts", "", "114 new", has_trouble=False),
    ]
    ((*shown, alerts),) = in_lines(panels, 78, 1)
    assert [text for _, text in shown] == ["1 Accounts 88.52 % free USDC", "3 Orders 33", "4 Fills", "5 Stops"]
    assert alerts[1] == "A Alerts 114 new"


def test_new_alerts_are_counted_before_any_headline_is_given_room() -> None:
    alerts = PanelSummary("alerts", "A", "Alerts", "", "12 new", has_trouble=False)
    (line,) = in_lines([*HIDDEN, alerts], 56, 1)
    assert [text for _, text in line] == ["1 Accounts · least free …", "5 Triggers", "A Alerts 12 new"]


def test_in_a_stack_a_hidden_panel_takes_its_own_place() -> None:
    before = panels_shown(120, 36, "positions", (), zoomed=False)
    assert panels_shown(120, 36, "triggers", before, zoomed=False) == ("positions", "triggers", "fills")
    assert panels_shown(120, 36, "accounts", before, zoomed=False) == ("accounts", "orders", "fills")
    assert panels_shown(120, 36, "fills", before, zoomed=False) == before


def test_ages_are_coarse() -> None:
    assert [coarse_age(age) for age in (3, 12, 19, 61, 3599, 7300)] == ["5 s", "10 s", "10 s", "1 min", "59 min", "2 h"]


@pytest.mark.looptime
async def test_resized_to_nothing_and_back() -> None:
    stage = AppOnFewRows()
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
        assert [line[:10] for line in now if line[:1] == "╭"] == [line[:10] for line in whole if line[:1] == "╭"]


@pytest.mark.looptime
async def test_every_panel_is_a_key_away() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        for size in ((120, 36), (80, 24)):
            await pilot.resize_terminal(*size)
            for key, name in zip("12345", PANELS, strict=True):
                await pilot.press(key)
                await pilot.pause()
                panel = stage.app.main.panels[name]
                assert panel.display
                assert panel.caption in screen_text(stage.app)
                assert panel.table.rows.count == stage.desk.panel_rows(name).count > 0


@pytest.mark.looptime
async def test_an_exchange_that_is_down_leaves_the_rows_with_their_age_and_comes_back() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36), after=8) as pilot:
        main = stage.app.main
        assert "·" not in main.panel.caption
        rows = main.table.rows.count
        stage.sandbox.faults.plan("dropped-before", times=1_000_000)
        await asyncio.sleep(8)
        await pilot.pause()
        assert "no data for 5 s" in main.panel.caption
        await asyncio.sleep(60)
        await pilot.pause()
        assert "no data for 1 min" in main.panel.caption
        assert main.table.rows.count == rows
        shown = screen_text(stage.app)
        assert "link down" in shown
        assert "The exchange cannot be reached" in shown
        heal(stage.sandbox.faults)
        await asyncio.sleep(12)
        await pilot.pause()
        assert "no data" not in main.panel.caption
        assert "link down" not in screen_text(stage.app)


@pytest.mark.looptime
async def test_nothing_to_show_says_what_is_missing() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running((120, 36)) as pilot:
        await pilot.press("p", "p", "p")
        await pilot.pause()
        assert "is of this product type" in screen_text(stage.app) or stage.app.main.table.rows.count


@pytest.mark.looptime
async def test_a_desk_that_cannot_be_opened_says_why_and_stays() -> None:
    stage = AppOnFewRows()
    stage.app.settings.profiles[0].__dict__["open_desk"] = _refused
    async with stage.running((120, 36)) as pilot:
        await pilot.pause()
        shown = screen_text(stage.app)
        assert "config.toml is not there" in shown
        assert "starting" not in shown, "nothing is starting any more"
        assert "nothing can be sent" in shown.splitlines()[1]
        assert stage.app.is_running


def _refused() -> object:
    raise ValueError("config.toml is not there")


@pytest.mark.looptime
async def test_points_stand_under_each_other_where_one_unit_fills_the_column() -> None:
    stage = AppOnFewRows()
    async with stage.running((160, 48), after=12):
        lines = screen_text(stage.app).splitlines()
        for first_title, titles in (
            ("Symbol ", ("Unrealised", "ROI %", "Value", "Funding", "Realised")),
            ("Coin ", ("Equity USDT", "Free USDT", "Free %", "Margin ratio %")),
        ):
            at = next(index for index, line in enumerate(lines) if line.startswith(f"│ {first_title}"))
            rows = list(takewhile(lambda line: "─" not in line, lines[at + 1 :]))
            assert len(rows) > 3
            for title in titles:
                end = lines[at].index(f" {title} ") + 1 + len(title)
                cells = [row[:end].split()[-1] for row in rows if row[end] == " "]
                assert len(cells) == len(rows)
                assert {cell[-3] for cell in cells} == {"."}, f"{title}: {cells}"

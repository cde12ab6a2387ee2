"""The screen `m` by its keys: periods, groups, the calendar, charts, and the rows that figures open into."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, date, timedelta

import pytest
from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, AppOnMonthOfFills, AppOnSandbox
from tradetui.desk.archive.trip_queries import TripRow
from tradetui.desk.results.period_query import PeriodChoice
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.money import result_panel
from tradetui.ui.money.money_panels import MoneyPanel
from tradetui.ui.money.money_screen import MoneyScreen
from tradetui.ui.money.trips_screen import TripsScreen
from tradetui.ui.records.history_screen import HistoryScreen

pytestmark = pytest.mark.looptime


async def settled(pilot: Pilot[None]) -> None:
    await asyncio.sleep(0.5)
    await pilot.pause()


async def opened(stage: AppOnSandbox, pilot: Pilot[None]) -> MoneyScreen:
    await pilot.press("m")
    await settled(pilot)
    screen = stage.app.screen
    assert isinstance(screen, MoneyScreen)
    return screen


def history_of(stage: AppOnSandbox) -> HistoryScreen:
    """The history that is open now."""
    screen: object = stage.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


def is_on(stage: AppOnSandbox, screen: object) -> bool:
    """Whether a screen is the one in front."""
    return stage.app.screen_stack[-1] is screen


async def test_the_header_knows_the_account_before_anything_is_published_again() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("m")
        assert "hedge · 4100000001" in screen_text(stage.app)


async def test_periods_groups_months_and_charts_follow_their_keys_and_what_they_show_opens_its_fills() -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(after=30) as pilot:
        screen = await opened(stage, pilot)
        await pilot.press("enter")
        await settled(pilot)
        history = history_of(stage)
        fills_of_period = history.table.rows.count
        assert fills_of_period > 300
        funding = result_panel.funding_beyond_fills(screen._reading.total_line(), screen.cell_format)
        assert funding
        assert f"{funding} not included" in screen_text(stage.app)
        await pilot.press("escape")
        assert is_on(stage, screen), "dates that nobody typed are left with the history"
        await pilot.press("tab", "tab", "enter")
        await settled(pilot)
        assert screen._panels.focused_panel is MoneyPanel.GROUPS
        history = history_of(stage)
        symbol = screen.table.cursor.row_id
        assert symbol is not None
        assert 0 < history.table.rows.count < fills_of_period
        assert symbol.partition("|")[0] in screen_text(stage.app).splitlines()[0]
        await pilot.press("escape", "tab", "left", "enter")
        await settled(pilot)
        history = history_of(stage)
        yesterday = screen._panels.calendar.day
        assert f"{yesterday.day} {yesterday:%b}" in screen_text(stage.app).splitlines()[0]
        await pilot.press("escape", "t")
        await settled(pilot)
        trips: object = stage.app.screen
        assert isinstance(trips, TripsScreen)
        assert trips.table.rows.count > 5
        trip_line = trips.table.cursor.record
        assert isinstance(trip_line, TripRow)
        await pilot.press("enter")
        await settled(pilot)
        assert history_of(stage).table.rows.count == trip_line.trip.fill_count
        await pilot.press("escape", "escape", "escape")
        assert is_on(stage, stage.app.main)

        screen = await opened(stage, pilot)
        reading, panels = screen._reading, screen._panels
        assert str(reading.choice) == str(PeriodChoice.MONTH)
        assert reading.results is not None
        assert "▐30 d▌" in screen_text(stage.app)
        thirty_days = reading.results.total
        await pilot.press("right_square_bracket")
        await settled(pilot)
        assert str(reading.choice) == str(PeriodChoice.QUARTER)
        assert reading.results.total.sums.trades > thirty_days.sums.trades
        await pilot.press(*["left_square_bracket"] * 9)
        await settled(pilot)
        assert str(reading.choice) == str(PeriodChoice.TODAY)
        assert {line.day for line in reading.results.days} == {reading.period.last_day}
        await pilot.press("b")
        assert "By day" in screen_text(stage.app)
        await settled(pilot)
        assert [line.unexplained for line in reading.results.days] == [reading.results.unexplained] == [0]
        await pilot.press("b")
        assert {"USDT", "BTC"} & {line.group for line in reading.results.coins}
        assert "By coin" in screen_text(stage.app)
        month = panels.calendar.month
        await pilot.press("left_curly_bracket")
        await settled(pilot)
        assert panels.calendar.month == (month - timedelta(days=1)).replace(day=1)
        assert reading.month is not None
        assert sum(line.net != 0 for line in reading.month.days) > 20
        shown = panels.shows_bars
        await pilot.press("v")
        assert panels.shows_bars is not shown
        await pilot.press("escape")
        assert is_on(stage, stage.app.main)


async def test_a_small_terminal_shows_each_panel_in_turn_and_zoom_one() -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(size=(80, 24), after=8) as pilot:
        await opened(stage, pilot)
        assert "─ Result, ~ converted" in screen_text(stage.app)
        assert "By symbol" in screen_text(stage.app)
        await pilot.press("tab")
        await settled(pilot)
        assert "Result by day" in screen_text(stage.app)
        assert "Gross" not in screen_text(stage.app)
        await pilot.press("shift+tab", "z")
        await settled(pilot)
        assert "Gross" in screen_text(stage.app)
        assert "By symbol" not in screen_text(stage.app).replace("b By symbol", "")
        await pilot.press("escape")
        await settled(pilot)
        assert "By symbol ─" in screen_text(stage.app)


async def test_symbols_that_nothing_is_of_are_named_and_unknown_results_have_their_reason() -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(after=30) as pilot:
        screen = await opened(stage, pilot)
        assert "— no equity sample until " in screen_text(stage.app)
        assert "today: from the first sample at 12:00" in screen_text(stage.app)
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        note = next(line for line in screen_text(stage.app).splitlines() if line.startswith(" Wallet "))
        assert re.fullmatch(r" Wallet moved \S+, transfers \S+ · today: first sample at 12:00 *", note), (
            "nothing is cut"
        )
        await pilot.resize_terminal(120, 36)
        await pilot.press("f", "tab", "tab", *"zzz", "enter")
        await settled(pilot)
        assert is_on(stage, screen)
        assert "No fill of ZZZ in this period." in screen_text(stage.app)
        assert "— equity is of the whole account" in screen_text(stage.app)
        await pilot.press("slash", *"btc", "enter")
        await settled(pilot)
        assert "No fill of ZZZ in this period." in screen_text(stage.app), "the filter is not the reason"
        await pilot.press("t")
        await settled(pilot)
        await pilot.press("slash", *"btc", "enter")
        await settled(pilot)
        assert "No round trip ended in this period." in screen_text(stage.app)


async def test_the_shown_zone_changes_neither_the_days_of_results_nor_the_days_that_are_typed() -> None:
    stage = AppOnMonthOfFills(timezone="Asia/Tokyo")
    async with stage.running(after=30) as pilot:
        stage.sandbox.exchange_state.stands_still = True
        screen = await opened(stage, pilot)
        reading = screen._reading
        assert reading.results is not None
        period, total = reading.results.period, reading.results.total
        await pilot.press("T", "right_square_bracket", "left_square_bracket")
        await settled(pilot)
        assert screen.zone is UTC
        assert (reading.results.period, reading.results.total) == (period, total)
        assert "a day ends at 00:00 Asia/Tokyo" in screen_text(stage.app)
        await pilot.press("f", *"07-20", "tab", *"07-20", "enter")
        await settled(pilot)
        assert (reading.period.first_day, reading.period.last_day) == (date(2026, 7, 20), date(2026, 7, 20))
        assert [line.day for line in reading.results.days] == [date(2026, 7, 20)]


async def test_the_calendar_shows_the_week_of_its_cursor_where_there_is_no_room_for_all() -> None:
    stage = AppOnFewRows()
    async with stage.running(size=(60, 11), after=8) as pilot:
        screen = await opened(stage, pilot)
        calendar = screen._panels.calendar
        await pilot.press("shift+tab", "left_curly_bracket")
        await settled(pilot)
        assert calendar.has_focus and calendar.size.height < 1 + len(calendar._grid.weeks)
        for key, day in (("end", 31), ("up", 24), ("up", 17), ("home", 1), ("down", 8)):
            await pilot.press(key)
            await settled(pilot)
            assert f"▸{day:>2}" in screen_text(stage.app), f"{key} leads to {day}"
        first_weeks_day = (6 * 8, 1)  # a Sunday's cell, in the first line below the weekdays
        await pilot.press("end", "up")
        await settled(pilot)
        await pilot.click(calendar, offset=first_weeks_day)
        assert calendar.day == date(2026, 7, 19)

"""The manual on the screen: opened from the help, searched within a page, and left step by step."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Markdown, OptionList

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.manual import PAGE_NAMES, read_page
from tradetui.ui.application.manual_screen import ManualDialog, PageDialog
from tradetui.ui.application.palette import HelpDialog
from tradetui.ui.application.run_app import screen_text

pytestmark = pytest.mark.looptime


async def open_page(stage: AppOnFewRows, pilot: Pilot[None], name: str) -> PageDialog:
    await pilot.press("question_mark", "tab")
    await pilot.pause()
    stage.app.screen.query_one(OptionList).highlighted = PAGE_NAMES.index(name)
    await pilot.press("enter")
    await pilot.pause()
    assert isinstance(stage.app.screen, PageDialog)
    return stage.app.screen


async def search(pilot: Pilot[None], text: str) -> None:
    await pilot.press("slash", *text, "enter")
    await pilot.pause()


async def test_every_page_is_listed_and_escape_goes_back_step_by_step() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        await pilot.press("question_mark", "tab")
        await pilot.pause()
        assert all(f" {name} " in screen_text(stage.app) for name in PAGE_NAMES)
        await pilot.press("j", "j", "enter")
        await pilot.pause()
        assert "Manual · reversal" in screen_text(stage.app)
        await search(pilot, "journal")
        assert "hit 1 of " in screen_text(stage.app)
        for opened in (PageDialog, ManualDialog, HelpDialog):
            await pilot.press("escape")
            await pilot.pause()
            assert isinstance(stage.app.screen, opened)
        await pilot.press("escape")
        assert stage.app.screen is stage.app.main


async def test_a_search_finds_text_code_tables_and_titles_in_any_case() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        await open_page(stage, pilot, "alerts")
        for text in ("CANCELLED stops", "order_gone", "to-phone", "Several sessions"):
            await search(pilot, text)
            screen = screen_text(stage.app)
            assert "hit 1 of 1" in screen, text
            assert text.casefold() in screen.casefold(), f"{text}: it was scrolled to"


async def test_the_next_hit_follows_the_last_and_a_new_search_forgets_the_old_one() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        page = await open_page(stage, pilot, "alerts")
        await search(pilot, "desktop")
        count = read_page("alerts").text.casefold().count("desktop")
        for key, position in (("n", 2), ("N", 1), ("N", count), ("n", 1)):
            await pilot.press(key)
            await pilot.pause()
            assert f"hit {position} of {count} " in screen_text(stage.app)
        await search(pilot, "no such text")
        assert '"no such text" is not in this page' in screen_text(stage.app)
        await pilot.press("n")
        assert stage.app.screen is page and not page.query_one(Input).display


async def test_keys_scroll_and_a_link_opens_its_page() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        page = await open_page(stage, pilot, "screen")
        first = screen_text(stage.app)
        await pilot.press("G")
        await pilot.pause()
        assert "TERM=dumb" in screen_text(stage.app)
        await pilot.press("g")
        await pilot.pause()
        assert screen_text(stage.app) == first
        page.post_message(Markdown.LinkClicked(page.query_one(Markdown), "keys.md"))
        await pilot.pause()
        assert "Manual · keys" in screen_text(stage.app)

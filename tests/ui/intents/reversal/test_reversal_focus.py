"""Enter in a field of a dialog goes on to what is needed next, and the line under the buttons says what Enter does."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from textual.widgets import Input, Static

from tests.sandbox.exchange_events import place_order
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.reversal_dialog import asks_for_the_word, opened, posts, read_at_once, text_in_one_line
from tradetui.ui.intents.reversal.fields import Phase

pytestmark = pytest.mark.looptime
SIZE = (140, 60)


async def test_from_the_size_enter_goes_to_the_confirm_button_and_sends_that_size() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        assert "Enter presses Cancel; Tab, then Enter, sends it." in text_in_one_line(stage)
        await pilot.press("0", "full_stop", "0", "1", "enter")
        await asyncio.sleep(1.5)
        await pilot.pause()
        assert stage.app.focused is dialog.confirm_button
        assert "Enter sends it; Esc cancels." in text_in_one_line(stage)
        await pilot.press("enter")
        await asyncio.sleep(5)
        assert posts(stage) == 1
        assert dialog._attempt is not None and dialog._attempt.sent is not None
        assert str(dialog._attempt.sent.plan.params.size) == "0.01"


async def test_one_way_enter_goes_from_the_size_to_the_word_and_from_there_to_the_confirm_button() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        await pilot.press("0", "full_stop", "0", "1", "enter")
        await asyncio.sleep(1.5)
        await pilot.pause()
        assert stage.app.focused is dialog.query_one("#typed")
        assert f"Type {dialog._subject} to go on." in text_in_one_line(stage)
        await read_at_once(stage, pilot, dialog._subject.lower())
        assert "Enter goes on to the button that sends it." in text_in_one_line(stage)
        await pilot.press("enter")
        assert dialog.confirm_button.has_focus
        await asyncio.sleep(1)
        await pilot.press("enter")
        await asyncio.sleep(5)
        assert posts(stage) == 1


async def test_a_preview_that_is_read_again_leaves_focus_typing_and_scroll_where_they_were() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        asks_for_the_word(stage)
        dialog = await opened(stage, pilot)
        await read_at_once(stage, pilot, dialog._subject)
        dialog.confirm_button.focus()
        await pilot.pause()
        scrolled = dialog._area.scroll_y
        assert scrolled > 0
        for _ in range(200):
            if stage.app.focused is None:
                break
            await asyncio.sleep(0.1)
        assert stage.app.focused is None, "the button is off while the preview is read again"
        await pilot.press("tab")
        await asyncio.sleep(2)
        await pilot.pause()
        assert stage.app.focused is dialog.confirm_button
        assert dialog._fields.word == dialog._subject
        assert dialog._area.scroll_y == scrolled


async def test_a_key_to_the_confirm_button_while_the_preview_is_read_again_waits_for_it() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        for before, key in (("cancel_button", "tab"), ("size_box", "shift+tab")):
            dialog = await opened(stage, pilot)
            (dialog.cancel_button if before == "cancel_button" else dialog._fields.size_box).focus()
            for _ in range(400):
                if dialog._phase is Phase.READING:
                    break
                await asyncio.sleep(0.05)
            assert dialog._phase is Phase.READING
            await pilot.press(key, "enter")
            await asyncio.sleep(1.5)
            assert stage.app.screen is dialog, f"an Enter meant to send does not leave here, from {before}"
            assert stage.app.focused is dialog.confirm_button, before
            assert posts(stage) == 0, before
            await pilot.press("escape")


async def test_what_is_still_to_be_read_keeps_the_focus_until_it_was_on_the_screen_and_enter_leaves_nothing() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        dialog = await opened(stage, pilot)
        await pilot.press("0", "full_stop", "0", "1", "enter")
        await asyncio.sleep(1.5)
        await pilot.pause()
        assert dialog.query_one("#size", Input).has_focus
        assert "There is more below: Page Down shows it, then confirm." in text_in_one_line(stage)
        await pilot.press(*["pagedown"] * 4)
        await asyncio.sleep(0.5)
        assert dialog.confirm_button.has_focus
        await pilot.press("escape")

        dialog = await opened(stage, pilot)
        await pilot.press(*["pagedown"] * 4, *["pageup"] * 4)
        await asyncio.sleep(1)
        dialog.confirm_button.focus()
        await pilot.pause()
        assert dialog._preview is not None and dialog._preview.plan is not None
        uid, symbol, leg = stage.desk.settings.uid or "", dialog._target.symbol, dialog._preview.plan.leg.lower()
        side, price = ("buy", Decimal(200_000)) if leg == "long" else ("sell", Decimal(1000))
        for _ in range(3):
            place_order(stage.sandbox.exchange_state, uid, symbol, side, "close", Decimal("0.01"), price)
        for _ in range(200):
            if "There is more below" in str(dialog.query_one("#reason", Static).content):
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
        assert "There is more below" in text_in_one_line(stage)
        await pilot.press("enter")
        await asyncio.sleep(1)
        assert stage.app.screen is dialog
        assert posts(stage) == 0
        await pilot.press(*["pagedown"] * 4)
        await asyncio.sleep(1)
        assert dialog.confirm_button.has_focus


async def test_enter_held_down_in_the_word_goes_on_to_the_button_and_does_not_press_it() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        dialog = await opened(stage, pilot)
        await read_at_once(stage, pilot, dialog._subject)
        await read_at_once(stage, pilot, "\r" * 50, gap_s=0.04)
        assert stage.app.focused is dialog.confirm_button
        assert "Enter came too soon after another key and pressed nothing" in text_in_one_line(stage)
        assert posts(stage) == 0
        await asyncio.sleep(1)
        await pilot.press("enter")
        await asyncio.sleep(3)
        assert posts(stage) == 1

"""Messages leave every line of a dialog readable, name the reversal they are about, and go when they are untrue."""

from __future__ import annotations

import asyncio

import pytest
from textual.widgets import Button

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.reversal_dialog import opened, press_confirm, text_in_one_line
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog
from tradetui.ui.safe_text import notify

pytestmark = pytest.mark.looptime
SIZES = ((80, 24), (120, 36), (200, 60))
OLDER = "An alarm of seven lines. " * 12


async def test_older_and_newer_messages_cover_nothing_of_the_reversal_dialog() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            notify(stage.app, OLDER, severity="error", seconds=600)
            dialog = await opened(stage, pilot)
            notify(stage.app, "The newest message.", severity="error", seconds=600)
            await asyncio.sleep(0.5)
            await pilot.pause()
            rows = screen_text(stage.app).splitlines()
            assert any("The newest message." in row for row in rows), size
            if size == (200, 60):  # in a lower window the dialog itself begins there
                assert " SANDBOX   TRADE " in rows[0], rows[0]
            for name in ("#size", "#reason", "#cancel", "#confirm"):
                region = dialog.query_one(name).region
                assert region.height >= 1
                for x, y in ((region.x, region.y), (region.right - 1, region.bottom - 1)):
                    widget, _ = dialog.get_widget_at(x, y)
                    assert widget is dialog.query_one(name), f"{name} is covered by {widget} at {size}"
            await pilot.press("escape")
            stage.app.clear_notifications()


async def test_a_message_covers_nothing_of_a_question_nor_of_the_header_and_goes_once_it_is_untrue() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            notify(stage.app, OLDER, severity="error", seconds=600)
            await pilot.press("L")
            await asyncio.sleep(0.5)
            assert newest_message(stage) == "Trading is locked."
            await pilot.press("L")
            await asyncio.sleep(0.5)
            await pilot.pause()
            dialog = stage.app.screen
            assert isinstance(dialog, ConfirmDialog)
            rows = screen_text(stage.app).splitlines()
            assert " SANDBOX   LOCKED " in rows[0], rows[0]
            assert sum("Trading is locked." in row for row in rows[1:]) == 1, (
                f"beside the dialog, and not behind it too, at {size}"
            )
            for button in dialog.query(Button):
                widget, _ = dialog.get_widget_at(button.region.right - 1, button.region.y)
                assert widget is button, size
            await pilot.press("escape")
            await asyncio.sleep(0.5)
            await pilot.pause()
            rows = screen_text(stage.app).splitlines()
            assert sum("Trading is locked." in row for row in rows) == 1, (
                f"and again where it was, once the question is over, at {size}"
            )
            assert rows[-1].lstrip().startswith("?"), "above the line of keys"
            await pilot.press("L", "tab", "enter")
            await asyncio.sleep(0.2)
            await pilot.pause()
            assert stage.desk.execution is not None and not stage.desk.execution.intents.locked
            assert "Trading is locked." not in text_in_one_line(stage)
            stage.app.clear_notifications()


async def test_a_message_covers_nothing_of_the_filters_box_and_escape_puts_it_away() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            notify(stage.app, OLDER, severity="error", seconds=600)
            await pilot.press("slash", "B", "T", "C")
            await pilot.pause()
            box = stage.app.main.query_one("#filter").region
            for x, y in ((box.x, box.y), (box.right - 1, box.y), (box.right - 1, box.bottom - 1)):
                assert stage.app.main.get_widget_at(x, y)[0].id == "filter", size
            await pilot.press("escape")
            await pilot.pause()
            assert "An alarm of seven lines." in text_in_one_line(stage), "the filter alone is cleared"
            await pilot.press("escape")
            await pilot.pause()
            assert "An alarm of seven lines." not in text_in_one_line(stage), size


async def test_the_end_of_a_reversal_left_behind_carries_its_intent_and_time() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        dialog = await opened(stage, pilot)
        stage.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        await press_confirm(pilot)
        await asyncio.sleep(1.5)
        await pilot.press("escape")
        await asyncio.sleep(60)
        await pilot.pause()
        assert dialog._attempt is not None and dialog._attempt.sent is not None
        ends = [
            notification.message
            for notification in stage.app._notifications
            if dialog._attempt.sent.intent in notification.message
        ]
        assert len(ends) >= 1
        assert ", sent 2026-08-01 12:00:" in ends[-1]

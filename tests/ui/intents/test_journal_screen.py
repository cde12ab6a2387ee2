"""The journal on the screen: what was sent, what became of it, and the deliberate release."""

from __future__ import annotations

import asyncio
import re

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.journalled_reversals import doubtful, reversed_once, unknown
from tests.ui.fixtures.reversal_dialog import press_confirm
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.execution import Execution
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import LinesDialog
from tradetui.ui.intents.journal_screen import JournalScreen, ReleaseDialog

pytestmark = pytest.mark.looptime
SIZE = (140, 60)


async def opened(stage: AppOnFewRows, pilot: Pilot[None]) -> JournalScreen:
    await pilot.press("J")
    await asyncio.sleep(0.5)
    await pilot.pause()
    screen = stage.app.screen
    assert isinstance(screen, JournalScreen)
    return screen


async def test_an_empty_journal_says_so_and_then_shows_a_settled_reversal_with_request_reply_legs_and_times() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await opened(stage, pilot)
        assert "Nothing has been sent for this account" in screen_text(stage.app)
        await pilot.press("escape")
        assert not isinstance(stage.app.screen, JournalScreen)

        await reversed_once(stage, pilot)
        await pilot.press("enter")
        screen = await opened(stage, pilot)
        text = screen_text(stage.app)
        assert "Journal 1" in text
        assert "settled" in text
        assert "Reverse " in text
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(stage.app.screen, LinesDialog)
        shown = screen_text(stage.app)
        for sentence in (
            "intended",
            "sent",
            "acknowledged",
            "settled",
            "    marginCoin    ",
            "    orderId",
            "  held before     long ",
            "  expected        ",
            "  request dated   2026-08-01 ",
            "  position mode   hedge ",
            "  held is proven  yes",
        ):
            assert sentence in shown, sentence
        assert re.search(r"sent +2026-08-01 12:00:\d\d\.\d{3} UTC\b", shown)
        assert "_" not in shown, "names of the file are none of the screen's"
        await pilot.press("escape", "x")
        await pilot.pause()
        assert not isinstance(stage.app.screen, ReleaseDialog)
        assert "Only an intent whose outcome is unknown" in screen_text(stage.app)

        await pilot.resize_terminal(110, 36)
        await pilot.pause()
        assert " Reverse BTCUSD LONG 0.1894 into SHORT 0.4770 " in screen_text(stage.app), "whole"
        assert stage.desk.execution is not None
        (intent,) = await stage.desk.execution.intents.newest()
        for pattern, count in ((intent.id, 1), (f"{intent.id}0", 0)):
            await pilot.press("slash", *pattern, "enter")
            await pilot.pause()
            assert screen.table.rows.count == count
            await pilot.press("escape")
        await pilot.press("escape")
        assert stage.app.screen_stack[-1] is stage.app.main


async def test_what_was_corrected_can_be_released_too_after_its_time() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await reversed_once(stage, pilot)
        await pilot.press("enter")
        execution = stage.desk.execution
        assert execution is not None
        (intent,) = await execution.intents.newest()
        for endpoint in ("futures.positions", "futures.order_detail", "futures.fills"):
            stage.sandbox.faults.plan("dropped-before", endpoint=endpoint, times=1_000_000)
        await execution.intents.step(intent.id, State.CORRECTED, {"why": "its order went on filling"})
        await opened(stage, pilot)
        await pilot.press("x")
        await pilot.pause()
        assert "its order went on filling" in screen_text(stage.app), "an end that was corrected is none"
        assert "It may still arrive at the exchange" in screen_text(stage.app)
        await asyncio.sleep(36)
        await pilot.press("x")
        await pilot.pause()
        dialog = stage.app.screen
        assert isinstance(dialog, ReleaseDialog)
        dialog.query_one("#typed", Input).value = intent.scope.rpartition("|")[2]
        dialog.query_one("#why", Input).value = "the site shows that it is over"
        await pilot.pause()
        await press_confirm(pilot)
        await asyncio.sleep(1.5)
        assert (await execution.intents.read(intent.id)).state is State.RELEASED


async def test_the_doubt_that_a_released_reversal_left_is_released_by_a_question_of_its_own() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        intent = await unknown(stage, pilot)
        execution = stage.desk.execution
        assert execution is not None
        doubt = "a fill reverses no LONG"
        await execution.intents.step(intent, State.UNKNOWN, {"why": doubt, "contradiction": doubt})
        await asyncio.sleep(36)
        await execution.release(intent, "the site shows no order")
        await opened(stage, pilot)
        await pilot.press("x")
        await pilot.pause()
        dialog = stage.app.screen
        assert isinstance(dialog, ReleaseDialog)
        text = screen_text(stage.app)
        assert "Trust positions summed from fills again" in text and "Leave it " in text
        assert "without an outcome" not in text and "Leave it locked" not in text, "it is over, and locks nothing"
        assert "positions cannot be summed from fills" in text
        dialog.query_one("#typed", Input).value = (await execution.intents.read(intent)).scope.rpartition("|")[2]
        dialog.query_one("#why", Input).value = "its fills are right again"
        await pilot.pause()
        await press_confirm(pilot)
        await asyncio.sleep(1.5)
        assert not (await execution.intents.read(intent)).is_releasable


async def test_a_release_needs_the_symbol_typed_and_a_reason_and_is_journalled() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        intent = await unknown(stage, pilot)
        execution = stage.desk.execution
        assert execution is not None
        assert execution.intents.unsettled()
        assert "stays locked" in newest_message(stage)
        await opened(stage, pilot)
        await pilot.press("x")
        await pilot.pause()
        dialog = stage.app.screen
        assert isinstance(dialog, ReleaseDialog)
        confirm = dialog.query_one("#confirm", Button)
        assert confirm.disabled
        await pilot.press("enter")
        assert not isinstance(stage.app.screen, ReleaseDialog), "Enter leaves it locked"
        assert (await execution.intents.read(intent)).state is State.UNKNOWN
        await pilot.press("x")
        await pilot.pause()
        dialog = stage.app.screen
        symbol = (await execution.intents.read(intent)).scope.rpartition("|")[2]
        dialog.query_one("#typed", Input).value = symbol.lower()
        await pilot.pause()
        assert dialog.query_one("#confirm", Button).disabled, "a reason is needed"
        dialog.query_one("#why", Input).value = "the site shows no order"
        await pilot.pause()
        await press_confirm(pilot)
        await asyncio.sleep(1.5)
        released = await execution.intents.read(intent)
        assert released.state is State.RELEASED
        assert released.details["why"] == "the site shows no order"
        assert not execution.intents.unsettled()
        messages = [notification.message for notification in stage.app._notifications]
        assert messages == ["Released; the journal says so."]


async def test_a_release_says_what_may_still_arrive_then_what_is_missing_and_enter_goes_from_field_to_field(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await doubtful(stage, pilot)
        await pilot.press("escape")
        await opened(stage, pilot)
        await pilot.press("x")
        await pilot.pause()
        assert not isinstance(stage.app.screen, ReleaseDialog)
        assert "It may still arrive at the exchange; in " in screen_text(stage.app)

        monkeypatch.setattr(Execution, "reason_against_release", lambda *_: None)
        execution = stage.desk.execution
        assert execution is not None
        (intent,) = await execution.intents.newest()
        symbol = intent.scope.rpartition("|")[2]
        await pilot.press("x")
        await pilot.pause()
        dialog = stage.app.screen
        assert isinstance(dialog, ReleaseDialog)
        text = screen_text(stage.app)
        assert f"Still missing: a reason is needed; type {symbol} to release it." in text
        await pilot.press("tab", "tab", *symbol)
        await pilot.pause()
        assert dialog.query_one("#why", Input).value == ""
        assert dialog.query_one("#typed", Input).value == symbol, "reached while the first is empty"
        assert "Still missing: a reason is needed." in screen_text(stage.app)
        await pilot.press("enter")
        await pilot.pause()
        assert dialog.focused is not None and dialog.focused.id == "why", "Enter goes to what is missing"
        await pilot.press("enter")
        await pilot.pause()
        assert stage.app.screen is dialog
        assert dialog.query_one("#typed", Input).value == symbol, "Enter loses nothing"

        dialog.query_one("#typed", Input).value = ""
        await pilot.press(*"gone", "enter", *symbol)
        assert "Enter goes on to the button that releases it." in screen_text(stage.app)
        await pilot.press("enter")
        assert stage.app.focused is dialog.query_one("#confirm", Button)
        await asyncio.sleep(1)
        await pilot.press("enter")
        await asyncio.sleep(1.5)
        (intent,) = await execution.intents.newest()
        assert (intent.state, intent.details["why"]) == (State.RELEASED, "gone")


async def test_monitor_mode_has_no_journal() -> None:
    stage = AppOnFewRows(read_only=True)
    async with stage.running(SIZE) as pilot:
        await pilot.press("J")
        assert stage.app.screen is stage.app.main

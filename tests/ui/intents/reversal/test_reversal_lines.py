"""What the reversal dialog says where nothing can be read, confirmed or typed, and beside what has changed."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from textual.widgets import Button, Input

from tests.sandbox.exchange_events import heal
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.reversal_dialog import opened, press_confirm, rows, text_in_one_line
from tests.ui.intents.reversal.test_symbol_dialog import typed
from tradetui.ui.intents.reversal.dialog import ReversalDialog

pytestmark = pytest.mark.looptime


async def test_what_cannot_be_read_is_said_whole_without_field_or_button() -> None:
    stage, sentence = AppOnFewRows("hedge"), "does not exist"
    async with stage.running((80, 24)) as pilot:
        await typed(stage, pilot, "NOSUCHUSDT LONG")
        await asyncio.sleep(10)
        await pilot.pause()
        dialog = stage.app.screen
        assert isinstance(dialog, ReversalDialog)
        shown = text_in_one_line(stage)
        assert sentence in shown
        assert "The preview could not be read. " in shown
        assert "reading positions" not in shown
        assert "F2" not in shown and "PgDn" not in shown
        assert not dialog.query_one("#size", Input).display
        assert not dialog.query_one("#confirm", Button).display


async def test_a_dialog_that_can_be_read_again_has_field_button_and_details_again() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        stage.sandbox.faults.plan("non-json", endpoint="futures.pending_orders", times=1_000_000)
        await typed(stage, pilot, "BTCUSDT LONG")
        dialog = stage.app.screen
        assert isinstance(dialog, ReversalDialog)
        assert not dialog.query_one("#confirm", Button).display
        heal(stage.sandbox.faults)
        await asyncio.sleep(6)
        await pilot.pause()
        assert "REVERSE THE LONG OF BTCUSDT" in text_in_one_line(stage)
        assert dialog.query_one("#size", Input).display
        assert dialog.query_one("#confirm", Button).display

        assert "F2 the request as sent" in text_in_one_line(stage) and "F2 Request" in text_in_one_line(stage)
        stage.sandbox.faults.plan("non-json", endpoint="futures.pending_orders", times=1_000_000)
        await pilot.press(*"0.01", "enter")
        await asyncio.sleep(10)
        await pilot.pause()
        shown = text_in_one_line(stage)
        assert "The preview could not be read. " in shown, "of another size"
        assert "F2" not in shown and "PgDn" not in shown
        heal(stage.sandbox.faults)
        await asyncio.sleep(6)
        await pilot.pause()
        assert "F2 the request as sent" in text_in_one_line(stage)


async def test_title_and_button_of_a_leg_that_has_gone_name_the_leg_and_no_size() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        dialog = await opened(stage, pilot)
        subject = dialog._subject
        target = dialog._target
        book = stage.sandbox.exchange_state.book(stage.desk.settings.uid or "", str(target.product_type))
        position = book.held(target.symbol, subject.split()[1].lower())
        assert position is not None
        dialog.query_one("#size", Input).value = "half"
        position.size = Decimal(0)
        await asyncio.sleep(11)
        await pilot.pause()
        text = text_in_one_line(stage)
        assert f"No {subject.split()[1]} of {target.symbol} is held." in text and "not a size" not in text
        assert text.count("position mode") == 1
        assert str(dialog.query_one("#confirm", Button).label) == f"Reverse {subject}"
        assert dialog.query_one("#confirm", Button).disabled


async def test_a_part_of_a_one_way_position_is_on_the_button_and_its_outcome_on_one_row() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running((80, 24)) as pilot:
        dialog = await opened(stage, pilot)
        size = dialog.query_one("#size", Input)
        assert dialog._preview is not None and dialog._preview.plan is not None
        held = dialog._preview.plan.held_size
        part = held / 4
        contract = dialog._preview.contract
        if contract is not None and contract.size_multiplier:
            part -= part % contract.size_multiplier
        size.focus()
        size.value = str(part)
        await pilot.press("enter")
        await asyncio.sleep(1.5)
        await pilot.pause()
        leg = dialog._subject.split()[1]
        assert f"{leg} {part.normalize():f} of " in str(dialog.query_one("#confirm", Button).label)
        await pilot.press(*["pagedown"] * 5)
        dialog.query_one("#typed", Input).value = dialog._subject
        await pilot.pause()
        await press_confirm(pilot)
        await asyncio.sleep(10)
        await pilot.pause()
        shown = rows(stage)
        assert any(row.endswith("before change afterwards held") for row in shown)
        assert any(row.startswith("or ") for row in shown)
        assert not any("DIFFERENT" in row for row in shown), "one of the two came true"

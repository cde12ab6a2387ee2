"""Keys that arrive together: none is lost, none is handled out of turn, and none of them confirms."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from textual import events
from textual.widgets import Button, Input

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.reversal_dialog import (
    asks_for_the_word,
    opened,
    posts,
    press_confirm,
    read_at_once,
    sent_and_settled,
    still,
    text_in_one_line,
)
from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog
from tradetui.ui.intents.creation.creation_form import CreationForm
from tradetui.ui.intents.reversal.dialog import ReversalDialog, SymbolDialog

pytestmark = pytest.mark.looptime
SIZE = (140, 60)


def typed(dialog: ReversalDialog, field: str = "typed") -> str:
    return dialog.query_one(f"#{field}", Input).value


async def test_a_word_in_one_read_in_pieces_of_any_length_or_pasted_reaches_the_field_whole() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        dialog = await opened(stage, pilot)
        subject = dialog._subject
        await read_at_once(stage, pilot, subject.lower())
        assert typed(dialog) == subject.lower()
        assert not dialog.query_one("#confirm", Button).disabled
        await pilot.press("escape")

        for seed in range(4):
            random = Random(seed)
            dialog = await opened(stage, pilot)
            left = subject
            while left:
                length = random.randint(1, 6)
                piece, left = left[:length], left[length:]
                await read_at_once(stage, pilot, piece, gap_s=random.choice((0.0, 0.001, 0.02)))
            assert typed(dialog) == subject, f"seed {seed}"
            await pilot.press("escape")

        dialog = await opened(stage, pilot)
        driver = stage.app._driver
        assert driver is not None
        driver.send_message(events.Paste(f" {subject}\t\n\t\n"))
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert typed(dialog) == subject
        assert posts(stage) == 0
        assert stage.app.screen is dialog, "a paste never confirms"


async def test_tab_and_enter_of_the_same_burst_press_nothing() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        for end, gap_s in (("\r", 0.0), ("\t\t\r", 0.005), ("\r\t\r", 0.02), ("\t\r", 0.0), ("\t\r\r\t\r", 0.02)):
            dialog = await opened(stage, pilot)
            subject = dialog._subject
            await read_at_once(stage, pilot, subject + end, gap_s=gap_s)
            await asyncio.sleep(1)
            assert posts(stage) == 0
            assert stage.app.screen is dialog, "nor do they press Cancel"
            assert typed(dialog).strip() == subject, (end, gap_s)
            if end.startswith("\t\r"):
                assert "Enter came too soon after another key and pressed nothing" in text_in_one_line(stage)
            assert not dialog.query_one("#confirm", Button).disabled
            if end != "\t\r\r\t\r":
                await pilot.press("escape")
        await press_confirm(pilot)
        await sent_and_settled(stage, 1)  # pressed by itself it does


async def test_tab_and_enter_at_once_confirm_nothing_where_no_word_is_asked_for() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        assert stage.app.focused is dialog.query_one("#cancel")
        await read_at_once(stage, pilot, "\t\r")
        assert stage.app.focused is dialog.query_one("#confirm")
        assert posts(stage) == 0
        await asyncio.sleep(1)
        await pilot.press("enter")
        await asyncio.sleep(3)
        assert posts(stage) == 1


async def test_digits_are_part_of_the_word_where_one_is_asked_for_and_the_size_where_none_is() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        for types_the_word, field in ((False, "size"), (True, "typed")):
            if types_the_word:
                asks_for_the_word(stage)
            dialog = await opened(stage, pilot)
            await read_at_once(stage, pilot, "1000")
            assert typed(dialog, field) == "1000"
            await pilot.press("escape")


async def test_what_was_typed_before_it_was_armed_is_dropped_and_that_stays_said_until_the_word_is_whole() -> None:
    dropped = "The dialog was not ready: what you typed was dropped"
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await still(stage, pilot)
        await read_at_once(stage, pilot, "R1")
        dialog = stage.app.screen
        assert isinstance(dialog, ReversalDialog)
        while dialog.query_one("#size", Input).disabled:
            await read_at_once(stage, pilot, "2" * 5, gap_s=0.02)
        assert dropped in text_in_one_line(stage), "keys of the same burst do not take it away"
        await pilot.press("escape")

        asks_for_the_word(stage)
        await read_at_once(stage, pilot, "RBTCUSD LONG\t\r")
        dialog = stage.app.screen
        assert isinstance(dialog, ReversalDialog)
        assert stage.desk.execution is not None and not stage.desk.execution.intents.locked, "L was a letter"
        await asyncio.sleep(1.5)
        await pilot.pause()
        assert typed(dialog) == typed(dialog, "size") == ""
        assert dropped in text_in_one_line(stage)
        await read_at_once(stage, pilot, "BTCUSD LONG")
        assert typed(dialog) == "BTCUSD LONG"
        assert "was dropped" not in text_in_one_line(stage)
        assert posts(stage) == 0
        await pilot.press("escape")

        await read_at_once(stage, pilot, "Rbtcu", gap_s=0.01)
        dialog = stage.app.screen
        assert isinstance(dialog, ReversalDialog)
        ready = asyncio.Event()
        dialog.watch(dialog.query_one("#typed", Input), "disabled", ready.set, init=False)
        if dialog.query_one("#typed", Input).disabled:
            await ready.wait()
        await read_at_once(stage, pilot, "sd long\t\r", gap_s=0.02)
        assert typed(dialog) == "sd long"
        assert dropped in text_in_one_line(stage)
        await pilot.press("pagedown", "shift+tab", "home")
        assert dropped in text_in_one_line(stage)
        stage.app.set_focus(dialog.query_one("#typed"))
        await pilot.press("home")
        await read_at_once(stage, pilot, "btcu")
        assert typed(dialog) == dialog._subject.lower()
        assert "was dropped" not in text_in_one_line(stage)
        assert posts(stage) == 0


async def test_what_is_typed_while_it_is_read_again_is_kept() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        dialog = await opened(stage, pilot)
        subject = dialog._subject
        await read_at_once(stage, pilot, subject[:5])
        await asyncio.sleep(9.2)
        assert dialog.query_one("#confirm", Button).disabled
        await read_at_once(stage, pilot, subject[5:])
        assert typed(dialog) == subject
        assert stage.app.focused is dialog.query_one("#typed")


async def test_the_creation_form_takes_a_burst_through_all_of_its_fields(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await read_at_once(stage, pilot, "N\r")
        form = stage.app.screen
        if not isinstance(form, CreationForm):
            await pilot.press("enter")
            await asyncio.sleep(0.5)
            form = stage.app.screen
        assert isinstance(form, CreationForm)
        await read_at_once(stage, pilot, "alphaone\tCanaryPass1\tfirst\tread\t10.0.0.1\tbetatwos")
        names = ("subAccountName", "passphrase", "label", "permList", "ipList")
        assert [form.query_one(f"#box-0-{name}", Input).value for name in names] == [
            "alphaone",
            "CanaryPass1",
            "first",
            "read",
            "10.0.0.1",
        ]
        assert form.query_one("#box-1-subAccountName", Input).value == "betatwos"


async def test_the_symbol_s_dialog_and_its_text_in_one_read() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await still(stage, pilot)
        await read_at_once(stage, pilot, "4Rbtcusdt short")
        dialog = stage.app.screen
        assert isinstance(dialog, SymbolDialog)
        assert dialog.query_one(Input).value == "btcusdt short"
        await pilot.press("enter")
        await asyncio.sleep(1.5)
        assert "REVERSE THE SHORT OF BTCUSDT" in text_in_one_line(stage)


async def test_the_lock_s_own_key_waits_for_no_other_and_unlocking_takes_more_than_a_burst() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        await opened(stage, pilot)
        driver = stage.app._driver
        assert driver is not None
        for name in (*"btcusd", "f9"):
            driver.send_message(events.Key(name, name if len(name) == 1 else None))
        await asyncio.sleep(0.1)
        assert stage.desk.execution is not None and stage.desk.execution.intents.locked
        await pilot.press("escape")
        assert stage.app.screen is stage.app.main
        await read_at_once(stage, pilot, "L\t\r")
        assert isinstance(stage.app.screen, ConfirmDialog)
        assert stage.desk.execution.intents.locked

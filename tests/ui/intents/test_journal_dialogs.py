"""A journal that is lost, damaged or cannot be written locks trading; L says why and asks for a deliberate step."""

# ruff: noqa: ASYNC240 - time is virtual here, and the disk is not

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input

from tests.full_disk import disk_full_at, wal_of
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.reversal_dialog import opened, posts, press_confirm, read_at_once, text_in_one_line
from tradetui.desk.creation import KeyStoreUnusable
from tradetui.desk.intents.journal.registered_journal import NEW
from tradetui.desk.intents.states import Withheld
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.trading_session import JOURNAL_FILE
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog
from tradetui.ui.intents.journal_screen import LostJournalDialog, show_release
from tradetui.ui.intents.reversal.dialog import ReversalDialog

pytestmark = pytest.mark.looptime
SIZE = (140, 60)


async def damaged(data_dir: Path) -> None:
    """A journal that held a reversal and is unreadable now."""
    stage = AppOnFewRows(data_dir=data_dir)
    async with stage.running(SIZE) as pilot:
        await opened(stage, pilot)
        await press_confirm(pilot)
        await asyncio.sleep(5)
        assert posts(stage) == 1
    overwrite(data_dir)


def overwrite(data_dir: Path) -> None:
    for file in data_dir.rglob("journal.sqlite*"):
        file.write_bytes(b"no journal any more " * 500)


async def test_l_says_what_is_lost_and_nothing_is_sent_before_the_word_is_typed(tmp_path: Path) -> None:
    await damaged(tmp_path)
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        execution = stage.desk.execution
        assert execution is not None and execution.intents.locked
        assert execution.intents.loss is not None
        await opened(stage, pilot)
        await pilot.press("L")
        assert isinstance(stage.app.screen, LostJournalDialog), "L in the reversal dialog says it too"
        await pilot.press("escape", "escape")
        assert stage.app.screen_stack[-1] is stage.app.main

        await pilot.press("L")
        lost: object = stage.app.screen
        assert isinstance(lost, LostJournalDialog)
        shown = text_in_one_line(stage)
        assert "The journal is lost or damaged" in shown
        assert "you checked positions, orders and fills on the exchange's site" in shown
        await pilot.press("enter")
        assert execution.intents.locked and execution.intents.loss is not None, "Enter leaves it locked"
        await pilot.press("L")
        await read_at_once(stage, pilot, f"{LostJournalDialog.word.lower()}\t\t\r")
        assert execution.intents.loss is not None, "a burst accepts nothing"
        dialog = stage.app.screen
        assert dialog.query_one("#typed", Input).value == LostJournalDialog.word.lower()
        stage.app.set_focus(dialog.query_one("#typed"))
        await pilot.press("enter")
        assert stage.app.focused is dialog.query_one("#confirm", Button), "Enter goes on from the whole word"
        await asyncio.sleep(1)
        await pilot.press("enter")
        await asyncio.sleep(1)
        await pilot.pause()
        assert execution.intents.loss is None and execution.intents.trouble is None
        assert execution.intents.locked, "accepting unlocks nothing"
        await pilot.press("L")
        assert isinstance(stage.app.screen, ConfirmDialog)


async def test_a_new_journal_is_said_once() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        execution = stage.desk.execution
        assert execution is not None
        execution.intents.notice = NEW
        await opened(stage, pilot)
        assert "This account has no journal yet" not in text_in_one_line(stage), (
            "a key was pressed at the armed preview"
        )
        execution.intents.notice = NEW
        await asyncio.sleep(1.5)
        assert "This account has no journal yet" in text_in_one_line(stage)
        await pilot.press("up", "escape", "R")
        await asyncio.sleep(2)
        assert "This account has no journal yet" not in text_in_one_line(stage)


async def test_a_key_of_another_account_stands_in_the_header_and_l_says_why_and_unlocks_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        intents = stage.desk.intents
        assert intents is not None and not intents.locked
        intents.note_key_owner(intents.uid)
        assert not intents.locked
        right_uid, intents.uid = intents.uid, "77"
        await asyncio.sleep(70)  # the exchange is asked every minute
        await pilot.pause()
        assert "KEY OF ANOTHER ACCOUNT: L" in text_in_one_line(stage)
        await pilot.press("L")
        await pilot.pause()
        assert f"belongs to UID {right_uid}, and this session was started for 77" in newest_message(stage)
        assert intents.locked and not isinstance(stage.app.screen, ConfirmDialog)
        await intents.set_lock(True)
        execution, going_on = stage.desk.execution, asyncio.Event()
        assert execution is not None
        read = execution.preview

        async def read_later(target: Target) -> Preview:
            await going_on.wait()
            return await read(target)

        monkeypatch.setattr(execution, "preview", read_later)
        await pilot.press("up", "R")
        for part in ("reading …", "F2 Request"):  # before and after
            await asyncio.sleep(1)
            await pilot.pause()
            assert part in text_in_one_line(stage)
            assert "unlocks it" not in text_in_one_line(stage) and "L Unlock" not in text_in_one_line(stage)
            going_on.set()


def header_of(stage: AppOnFewRows) -> str:
    return screen_text(stage.app).splitlines()[0]


async def confirmed(stage: AppOnFewRows, pilot: Pilot[None]) -> None:
    await opened(stage, pilot)
    await press_confirm(pilot)
    await asyncio.sleep(2)
    await pilot.pause()


async def tried_again(stage: AppOnFewRows, pilot: Pilot[None]) -> None:
    await pilot.press("L")
    await pilot.pause()
    assert isinstance(stage.app.screen, ConfirmDialog)
    assert "cannot be written" in text_in_one_line(stage) and "free space" in text_in_one_line(stage)
    await asyncio.sleep(1)
    await pilot.press("tab", "enter")
    await asyncio.sleep(1)
    await pilot.pause()


async def test_a_full_disk_stands_in_the_header_until_l_finds_that_it_takes_writes(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        assert " TRADE " in header_of(stage)
        (journal,) = tmp_path.rglob(JOURNAL_FILE)
        with disk_full_at(wal_of(journal).stat().st_size):
            await confirmed(stage, pilot)
            assert posts(stage) == 0
            await pilot.press("escape")
            await pilot.pause()
            assert " LOCKED " in header_of(stage) and "JOURNAL CANNOT BE WRITTEN: L" in header_of(stage)
            await tried_again(stage, pilot)
            assert "The journal cannot be used" in newest_message(stage)
            assert "JOURNAL CANNOT BE WRITTEN: L" in header_of(stage)
        await pilot.press("L", "enter")
        await pilot.pause()
        assert "JOURNAL CANNOT BE WRITTEN: L" in header_of(stage), "Enter cancels"
        await pilot.press("R")
        await asyncio.sleep(1)
        assert isinstance(stage.app.screen, ReversalDialog)
        await tried_again(stage, pilot)
        assert newest_message(stage) == "The journal can be written again. Trading is unlocked."
        await pilot.press("escape")
        await pilot.pause()
        assert " TRADE " in header_of(stage) and "JOURNAL" not in header_of(stage)
        await confirmed(stage, pilot)
        assert posts(stage) == 1


async def test_a_release_is_denied_only_where_it_was_refused() -> None:
    async def fails(problem: Exception) -> None:
        raise problem

    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        assert not await show_release(stage.app, fails(Withheld(("It may still be under way.",))), "BTCUSDT")
        await pilot.pause()
        assert newest_message(stage) == "Not released: It may still be under way."
        # The journal has the release, and then the keys it asked to discard cannot be discarded.
        assert not await show_release(stage.app, fails(KeyStoreUnusable("The store is locked")), "BTCUSDT")
        await pilot.pause()
        doubt = "It is not known whether it is released: The store is locked. The journal shows it."
        assert newest_message(stage) == doubt

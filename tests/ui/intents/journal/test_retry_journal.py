"""A journal that a full disk keeps from being written: the header says so, and L tries it again."""

# ruff: noqa: ASYNC240 - time is virtual here, and the disk is not

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from tests.full_disk import disk_full_at, wal_of
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.reversal_dialog import opened, posts, text_in_one_line
from tradetui.desk.trading_session import JOURNAL_FILE
from tradetui.ui.application.screenshot import screen_text
from tradetui.ui.dialogs.question_dialogs import ConfirmDialog
from tradetui.ui.intents.reversal.dialog import ReversalDialog

pytestmark = pytest.mark.looptime
SIZE = (140, 60)


def header_of(stage: AppOnFewRows) -> str:
    return screen_text(stage.app).splitlines()[0]


async def confirmed(stage: AppOnFewRows, pilot: Pilot[None]) -> None:
    dialog = await opened(stage, pilot)
    dialog.query_one("#confirm", Button).focus()
    await pilot.pause()
    await pilot.press("enter")
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

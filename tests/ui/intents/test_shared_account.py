"""What the screen says of other machines on the account: whose an intent is, who locked, and how the store does."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from textual.widgets import Button, Input, Static

from tests.ui.fixtures.app_on_sandbox import newest_message
from tests.ui.fixtures.app_on_shared_account import AppOnSharedAccount
from tests.ui.fixtures.reversal_dialog import opened, posts, press_confirm, text_in_one_line
from tradetui.desk.intents.journal.account_store import Writer
from tradetui.desk.intents.states import State, scope_of
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog
from tradetui.ui.intents.journal_screen import OlderStoreDialog
from tradetui.ui.table.table_frame import RecordsFrame

pytestmark = pytest.mark.looptime
SIZE = (140, 60)
SCOPE = "COIN-FUTURES|BTCUSD"
DETAILS = {"title": "Reverse BTCUSD LONG"}


async def test_an_open_intent_of_another_machine_stands_in_header_journal_and_dialog() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        await stage.anna.begin("tt-of-anna", SCOPE, "reversal", DETAILS, after=None)
        await stage.anna.step("tt-of-anna", State.SENT, {}, step="sent", prior=None, fence=None)
        await asyncio.sleep(1)
        await pilot.pause()
        assert "NOT SETTLED BTCUSD by anna@desk2: J" in text_in_one_line(stage)
        await opened(stage, pilot)
        assert "tt-of-anna, sent by anna@desk2" in text_in_one_line(stage)
        assert stage.app.screen.query_one("#confirm", Button).disabled
        await pilot.press("escape", "J")
        await asyncio.sleep(2)
        await pilot.pause()
        assert "anna@desk2 · Reverse BTCUSD LONG" in text_in_one_line(stage)
        await pilot.press("enter")
        await pilot.pause()
        assert "· anna@desk2" in text_in_one_line(stage)


async def test_in_80_columns_it_is_readable_who_has_left_an_intent_open_and_where() -> None:
    stage = AppOnSharedAccount()
    async with stage.running((80, 24), after=9) as pilot:
        alexandra = stage.machine_of(Writer("alexandra", "workstation-2"))
        scope = scope_of("USDT-FUTURES", "1000PEPEUSDT")
        await alexandra.begin("tt-of-alexandra", scope, "reversal", DETAILS, after=None)
        await asyncio.sleep(1)
        await pilot.pause()
        first, second = screen_text(stage.app).splitlines()[:2]
        assert "NOT SETTLED 1000PEPEUSDT by alexandra@workstation-2: J" in second
        assert "hedge · 41" in first and " ms" in first, "account and link are still there"


async def test_a_reversal_that_another_machine_was_faster_with_is_not_sent_and_says_who() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        await opened(stage, pilot)
        await stage.anna.begin("tt-of-anna", SCOPE, "reversal", DETAILS, after=None)
        await press_confirm(pilot)
        await asyncio.sleep(2)
        await pilot.pause()
        shown = text_in_one_line(stage)
        assert posts(stage) == 0 and "anna@desk2" in shown


async def test_a_preview_that_another_machine_made_void_says_who_it_was_and_enter_presses_cancel() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        dialog = await opened(stage, pilot)
        await pilot.press("tab")
        assert dialog.focused is dialog.confirm_button
        await stage.anna.begin("tt-of-anna", SCOPE, "reversal", DETAILS, after=None)
        await asyncio.sleep(1)
        await pilot.press("enter")
        await pilot.pause()
        assert "Enter pressed nothing: An earlier reversal of this symbol is not settled" in text_in_one_line(stage)
        await asyncio.sleep(11)
        await stage.anna.step("tt-of-anna", State.WITHDRAWN, {}, step="withdrawn", prior=None, fence=None)
        await asyncio.sleep(3)
        await pilot.pause()
        shown = text_in_one_line(stage)
        assert "NOT SENT. anna@desk2 (" in shown and "Enter pressed nothing" not in shown
        assert dialog.focused is dialog.cancel_button and not dialog.confirm_button.disabled


async def test_a_preview_is_read_again_once_the_faster_reversal_has_ended_before_it_can_be_sent() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        dialog = await opened(stage, pilot)
        void = dialog._preview
        await stage.anna.begin("tt-of-anna", SCOPE, "reversal", DETAILS, after=None)
        await asyncio.sleep(1)
        await stage.anna.step("tt-of-anna", State.WITHDRAWN, {}, step="withdrawn", prior=None, fence=None)
        for _ in range(40):
            await asyncio.sleep(0.05)
            await pilot.pause()
            assert dialog._preview is not void or "sends it" not in text_in_one_line(stage)
        assert dialog._preview is not void and "NOT SENT. anna@desk2 (" in text_in_one_line(stage)


async def test_where_nothing_can_be_confirmed_the_rest_is_below_and_no_confirmation_is_asked_for() -> None:
    stage = AppOnSharedAccount()
    async with stage.running((80, 24), after=9) as pilot:
        stage.link.cut()
        await asyncio.sleep(2)
        await pilot.press("R")
        await asyncio.sleep(2)
        await pilot.pause()
        shown = text_in_one_line(stage)
        assert "The store has been away for" in shown
        assert "There is more below: Page Down shows it." in shown and "then confirm" not in shown


async def test_the_header_counts_the_seconds_without_the_store_and_the_dialog_refuses() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        stage.link.cut()
        await asyncio.sleep(12.5)
        await pilot.pause()
        assert "STORE AWAY 12 s" in text_in_one_line(stage)
        await opened(stage, pilot)
        assert "The store has been away for" in text_in_one_line(stage)
        await pilot.press("escape", "f9")
        await asyncio.sleep(0.5)
        assert "Trading is locked on this machine only" in newest_message(stage)
        assert "It reaches them once the store is back." in newest_message(stage)
        assert " LOCKED " in text_in_one_line(stage)
        stage.link.mend()
        await asyncio.sleep(8)
        assert not untold(stage), "the others know of the lock now"
        await pilot.press("J")
        await asyncio.sleep(2)
        await pilot.pause()
        note = str(stage.app.screen.query_one(RecordsFrame).border_subtitle)
        assert re.fullmatch(r"The store was away for \d\d s and is compared\.", note)


async def test_a_lock_undone_while_the_store_is_away_is_no_longer_said_and_trading_is_not_shown_as_open() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        assert " TRADE " in text_in_one_line(stage)
        stage.link.cut()
        await asyncio.sleep(1)
        await pilot.press("f9")
        await asyncio.sleep(0.5)
        assert untold(stage)
        await pilot.press("L")
        await asyncio.sleep(1)
        await pilot.press("tab", "enter")
        await asyncio.sleep(1)
        await pilot.pause()
        assert not untold(stage)
        assert " NO STORE " in text_in_one_line(stage) and " TRADE " not in text_in_one_line(stage)


def untold(stage: AppOnSharedAccount) -> bool:
    return any("Trading is locked on this machine only" in notice.message for notice in stage.app._notifications)


async def test_a_lock_of_another_person_is_seen_within_a_second_and_unlocking_says_who_holds_it() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        await stage.anna.lock_trading(True)
        await asyncio.sleep(1)
        await pilot.pause()
        assert " LOCKED by anna@desk2 " in text_in_one_line(stage)
        await opened(stage, pilot)
        assert "s ago; only anna can unlock it, or an admin with" in text_in_one_line(stage)
        await pilot.press("escape", "L")
        assert isinstance(stage.app.screen, ConfirmDialog)
        await asyncio.sleep(1)
        shown = text_in_one_line(stage)
        assert "store unlock anna. You remove only" in shown and "Unlock trading on" in shown
        await pilot.press("tab", "enter")
        await asyncio.sleep(1)
        await pilot.pause()
        assert "Trading stays locked. anna@desk2 locked trading" in newest_message(stage)
        assert stage.desk.intents is not None and stage.desk.intents.locked


def text_of_dialog(stage: AppOnSharedAccount) -> str:
    return " ".join(" ".join(str(part.render()) for part in stage.app.screen.query(Static)).split())


async def test_a_session_that_the_store_refuses_is_not_shown_as_one_that_may_trade() -> None:
    stage = AppOnSharedAccount()
    async with stage.running(SIZE, after=9) as pilot:
        assert " TRADE " in text_in_one_line(stage)
        stage.server.schema_is_newer = True
        await asyncio.sleep(2)
        await pilot.pause()
        assert " NO STORE " in text_in_one_line(stage) and " TRADE " not in text_in_one_line(stage)
        await opened(stage, pilot)
        assert "The store refuses this session: the store's schema is newer." in text_of_dialog(stage)


class AppOfViewer(AppOnSharedAccount):
    role = "viewer"


async def test_a_viewer_is_shown_as_one_and_his_lock_says_that_it_holds_on_his_machine_alone() -> None:
    stage = AppOfViewer()
    async with stage.running(SIZE, after=9) as pilot:
        assert " VIEWER " in text_in_one_line(stage) and " TRADE " not in text_in_one_line(stage)
        await opened(stage, pilot)
        assert "bob may only view this account" in text_of_dialog(stage)
        assert 'ask the owner of the store to run GRANT tradetui_trader TO "bob"' in text_of_dialog(stage)
        await pilot.press("escape", "f9")
        await asyncio.sleep(1)
        await pilot.pause()
        assert "locked on this machine only: you may only view the account" in newest_message(stage)
        assert " VIEWER · LOCKED " in text_in_one_line(stage)
        assert await stage.anna.lock_trading(False) == (), "nothing was locked for the others"
        await stage.anna.lock_trading(True)
        await asyncio.sleep(1)
        await pilot.pause()
        assert " VIEWER · LOCKED by anna@desk2 " in text_in_one_line(stage)


async def test_a_viewer_accepts_an_older_copy_of_the_store_too(tmp_path: Path) -> None:
    stage = AppOfViewer(data_dir=tmp_path)
    async with stage.running(SIZE, after=9):
        older = stage.server.snapshot()
        await stage.anna.begin("tt-of-anna", SCOPE, "reversal", DETAILS, after=None)
        await asyncio.sleep(1)
        stage.server.restore(older)
        await asyncio.sleep(8)
        intents = stage.desk.intents
        assert intents is not None and "went back in time" in intents.store_trouble
        assert await intents.accept_older_store()
        assert "may only view" in intents.store_trouble


async def test_an_older_copy_of_the_store_is_accepted_by_a_typed_word(tmp_path: Path) -> None:
    stage = AppOnSharedAccount(data_dir=tmp_path)
    async with stage.running(SIZE, after=9) as pilot:
        older = stage.server.snapshot()
        await stage.anna.lock_trading(False)
        await stage.anna.begin("tt-of-anna", SCOPE, "reversal", DETAILS, after=None)
        await asyncio.sleep(1)
        stage.server.restore(older)
        await asyncio.sleep(8)
        await pilot.pause()
        assert "STORE WENT BACK IN TIME: L" in text_in_one_line(stage)
        await pilot.press("L")
        dialog = stage.app.screen
        assert isinstance(dialog, OlderStoreDialog)
        shown = text_of_dialog(stage)
        assert "it is an older copy of itself and lacks a step that this machine saw there at 2026-08-01 12:00" in shown
        assert "this machine knows: COIN-FUTURES BTCUSD: tt-of-anna, intended by anna@desk2." in shown
        assert str(dialog.confirm_button.label) == "Go on with the older copy"
        await stage.anna.lock_trading(True)
        dialog.query_one("#typed", Input).value = OlderStoreDialog.word
        await pilot.pause()
        stage.app.set_focus(dialog.query_one("#typed"))
        await pilot.press("enter")
        await asyncio.sleep(1)
        await pilot.press("enter")
        await asyncio.sleep(1)
        await pilot.pause()
        assert stage.desk.intents is not None and stage.desk.intents.shared is not None
        assert not stage.desk.intents.shared.went_back and stage.desk.intents.locked
        assert "STORE WENT BACK" not in text_in_one_line(stage)
        assert "Trading stays locked until you press L. anna@desk2 locked trading" in newest_message(stage)

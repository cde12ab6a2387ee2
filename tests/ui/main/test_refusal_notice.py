"""An account that is being moved to unified mode: said once, whole, above the panels, and asked once a minute."""

from __future__ import annotations

import asyncio

import pytest

from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnFewRows, newest_message
from tradetui.desk.feeds.orders import UNIFIED_NOTE
from tradetui.desk.intents.intents import SendsNothing
from tradetui.desk.settings import Access
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.columns.accounts import accounts_footer
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.books.account import AccountMode
from tradetui.ui.application.run_app import screen_text

pytestmark = pytest.mark.looptime
SENTENCES = (
    "The account is not in unified mode yet, and no longer in classic mode: its mode is 'upgrading' (40085). Wait "
    "until the exchange's site says that the account's mode was changed. The exchange is asked again once a minute."
)


def move_all(sandbox: Sandbox) -> None:
    for key in sandbox.exchange_state.keys:
        if key.name == "unified":
            sandbox.exchange_state.account_modes[key.uid] = AccountMode.UPGRADING


def sentences_of(text: str) -> str:
    return " ".join(text.split())


async def test_it_stands_whole_on_the_screen_and_once() -> None:
    stage = AppOnFewRows("unified", before=move_all)
    async with stage.running((80, 24), after=12) as pilot:
        for size in ((80, 24), (120, 36), (200, 60)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            text = sentences_of(screen_text(stage.app))
            assert SENTENCES in text, size
            assert text.count("unified mode") == text.count("40085") == 1, size
            assert "MONITOR · UNIFIED" not in text
            assert "refused" in text
            assert "not read" in text
            assert not stage.app._notifications, "no message in a corner repeats it"


async def test_one_call_a_minute_asks_whether_it_still_is() -> None:
    stage = AppOnFewRows("unified", before=move_all)
    async with stage.running((80, 24), after=12):
        begun = stage.sandbox.counts.total()
        assert begun <= 24
        await asyncio.sleep(300)
        assert 8 <= stage.sandbox.counts.total() - begun <= 12, "each time both interfaces"


async def test_it_goes_when_the_account_is_another() -> None:
    stage = AppOnFewRows("unified", before=move_all, profiles=EVERY_ACCOUNT)
    async with stage.running((120, 36), after=5) as pilot:
        assert "unified mode" in screen_text(stage.app)
        await pilot.press("P")
        await pilot.pause()
        await pilot.press("home", "enter")
        await asyncio.sleep(4)
        await pilot.pause()
        text = screen_text(stage.app)
        assert "unified mode" not in text and "not read" not in text
        assert "hedge" in text and "BTCUSDT" in text


async def test_a_unified_account_is_watched_and_says_why_nothing_is_sent() -> None:
    stage = AppOnFewRows("unified")
    async with stage.running((160, 40), after=12) as pilot:
        text = screen_text(stage.app)
        assert "MONITOR · UNIFIED" in text and "not read" not in text
        assert stage.desk.accounts.snapshot.note == UNIFIED_NOTE
        accounts = stage.desk.accounts.snapshot.rows
        footer = accounts_footer(accounts, DEFAULT_FORMAT)
        assert "usdtEquity" in footer.totals and footer.note.startswith("equity as in the header")
        assert "A unified account is only read" in newest_message(stage)
        stage.app.clear_notifications()
        sent = sum(count for (method, _), count in stage.sandbox.counts.items() if method == "POST")
        for key in ("R", "L"):
            await pilot.press(key)
            await pilot.pause()
            assert stage.app.screen is stage.app.main
        notes = " ".join(str(note.message).lower() for note in stage.app._notifications)
        assert "a unified account is only read" in notes
        assert sum(count for (method, _), count in stage.sandbox.counts.items() if method == "POST") == sent == 0


async def test_an_account_that_moves_while_the_screen_is_open_changes_over_and_comes_back_locked() -> None:
    stage = AppOnFewRows("hedge")
    async with stage.running((160, 40), after=8) as pilot:
        before = stage.desk.accounts.snapshot
        assert before.rows and "MONITOR · UNIFIED" not in screen_text(stage.app)
        assert stage.desk.account is not None
        stage.sandbox.exchange_state.account_modes[stage.desk.account.uid] = AccountMode.UNIFIED
        await asyncio.sleep(12)
        await pilot.pause()
        assert "MONITOR · UNIFIED" in screen_text(stage.app)
        assert "A unified account is only read" in newest_message(stage), "trading is off, and why is said"
        rows = stage.desk.accounts.snapshot.rows
        assert [row.record.margin_coin for row in rows].count("USD") == 1
        assert all(row.record.is_whole or row.record.is_part for row in rows), "no row is of the classic account"
        assert stage.desk.execution is None or SendsNothing.UNIFIED in stage.desk.execution.sends_nothing
        stage.sandbox.exchange_state.account_modes[stage.desk.account.uid] = AccountMode.CLASSIC
        await asyncio.sleep(12)
        await pilot.pause()
        assert stage.desk.client.is_classic
        assert stage.desk.access is Access.LOCKED, "trading begins again by the trader's key alone"

"""A leg that is typed is the one that is reversed; where both are held and none is named, it is asked for."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.reversal_dialog import still, text_in_one_line
from tradetui.ui.intents.reversal.dialog import ReversalDialog, SymbolDialog

pytestmark = pytest.mark.looptime


async def typed(stage: AppOnFewRows, pilot: Pilot[None], name: str) -> None:
    """Type a name into the dialog that asks for it, and wait for what opens."""
    await still(stage, pilot)
    await pilot.press("4", "R")
    assert isinstance(stage.app.screen, SymbolDialog)
    stage.app.screen.query_one(Input).value = name
    await pilot.press("enter")
    await asyncio.sleep(1.5)
    await pilot.pause()


async def test_one_way_refuses_the_side_that_is_not_held_by_name() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running((120, 36)) as pilot:
        held = next(row for row in stage.desk.positions.snapshot.rows)
        other = "SHORT" if held.is_long else "LONG"
        await typed(stage, pilot, f"{held.symbol} {other}")
        dialog = stage.app.screen
        assert isinstance(dialog, ReversalDialog)
        assert f"No {other} of {held.symbol} is held. Held is " in text_in_one_line(stage)
        assert dialog.query_one("#confirm", Button).disabled


async def test_a_symbol_alone_with_both_legs_held_asks_for_the_leg_and_takes_it() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        await typed(stage, pilot, "btcusdt")
        assert isinstance(stage.app.screen, SymbolDialog), "it asks on"
        assert "Both sides are held: type BTCUSDT LONG or BTCUSDT SHORT." in text_in_one_line(stage)
        stage.app.screen.query_one(Input).value = "btcusdt short"
        await pilot.press("enter")
        await asyncio.sleep(1.5)
        await pilot.pause()
        assert isinstance(stage.app.screen, ReversalDialog)
        assert "REVERSE THE SHORT OF BTCUSDT" in text_in_one_line(stage)

"""The reversal dialog on a stage: opened on a leg, with a word to type, and keys that arrive in one read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

from textual import events
from textual.pilot import Pilot

from tests.ui.virtual import Stage
from tradetui.ui.intents.reversal.dialog import ReversalDialog
from tradetui.ui.tty.screenshot import screen_text

REVERSAL = ("POST", "/api/v2/mix/order/click-backhand")
NAMES = {"\t": "tab", "\r": "enter", "\x1b": "escape", " ": "space"}


def posts(stage: Stage) -> int:
    """Reversals that arrived at the exchange."""
    return stage.sandbox.counts[REVERSAL]


def text_in_one_line(stage: Stage) -> str:
    """What is on the screen, its line breaks and frames taken out."""
    return " ".join(screen_text(stage.app).replace("│", " ").split())


def asks_for_the_word(stage: Stage) -> None:
    """Have symbol and leg typed for every reversal."""
    execution = stage.desk.execution
    assert execution is not None
    execution._settings = replace(execution._settings, typed_above=Decimal(0))


async def still(stage: Stage, pilot: Pilot[None]) -> None:
    """Stop the market, so that a preview stays true."""
    stage.sandbox.exchange_state.still = True
    await asyncio.sleep(3)
    await pilot.pause()


async def opened(stage: Stage, pilot: Pilot[None]) -> ReversalDialog:
    """The dialog on the first position, armed, all of it read."""
    await still(stage, pilot)
    await pilot.press("R")
    await asyncio.sleep(1.5)
    await pilot.press("pagedown", "pagedown", "pagedown")
    await pilot.pause()
    dialog = stage.app.screen
    assert isinstance(dialog, ReversalDialog)
    return dialog


async def read_at_once(stage: Stage, pilot: Pilot[None], text: str, *, gap_s: float = 0.0) -> None:
    """Keys that the terminal gives in one read, or so many seconds apart, and what they set off."""
    driver = stage.app._driver
    assert driver is not None
    for character in text:
        key = events.Key(NAMES.get(character, character), character)
        key.set_sender(stage.app)
        driver.send_message(key)
        if gap_s:
            await asyncio.sleep(gap_s)
    await asyncio.sleep(0.5)
    await pilot.pause()


def hold_more(stage: Stage, dialog: ReversalDialog, leg: str, size: str) -> None:
    """Somebody else opens so much of a leg."""
    uid = stage.desk.settings.uid or ""
    stage.sandbox.exchange_state.open_position(uid, dialog._target.symbol, leg, Decimal(size))

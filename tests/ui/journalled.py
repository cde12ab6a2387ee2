"""Reversals played out on a stage, so that the journal has something to tell."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot
from textual.widgets import Button

from tests.ui.virtual import Stage
from tradetui.desk.intents.journal.journal import State


async def reversed_once(stage: Stage, pilot: Pilot[None]) -> None:
    stage.sandbox.exchange_state.still = True
    await asyncio.sleep(3)
    await pilot.press("R")
    await asyncio.sleep(2)
    await confirmed(stage, pilot)
    await asyncio.sleep(6)
    await pilot.pause()


async def doubtful(stage: Stage, pilot: Pilot[None]) -> None:
    """A reversal that never arrived, in its first second: it is still being looked for, and might arrive yet."""
    stage.sandbox.exchange_state.still = True
    await asyncio.sleep(3)
    await pilot.press("R")
    await asyncio.sleep(2)
    stage.sandbox.faults.next("dropped-before", endpoint="futures.reverse")
    await confirmed(stage, pilot)
    await asyncio.sleep(0.6)


async def unknown(stage: Stage, pilot: Pilot[None]) -> str:
    """An intent whose outcome stays unknown: the order never arrived, and afterwards nothing can be read."""
    await doubtful(stage, pilot)
    for endpoint in ("futures.positions", "futures.order_detail", "futures.fills"):
        stage.sandbox.faults.next("dropped-before", endpoint=endpoint, times=1_000_000)
    await asyncio.sleep(75)
    await pilot.pause()
    await pilot.press("escape")
    execution = stage.desk.execution
    assert execution is not None
    (intent,) = await execution.intents.newest()
    assert intent.state is State.UNKNOWN
    return intent.id


async def confirmed(stage: Stage, pilot: Pilot[None]) -> None:
    """The reversal that is shown, confirmed by its button once all of it was on the screen."""
    await pilot.press("pagedown", "pagedown")
    await asyncio.sleep(0.2)
    await pilot.pause()
    stage.app.screen.query_one("#confirm", Button).focus()
    await pilot.pause()
    await pilot.press("enter")

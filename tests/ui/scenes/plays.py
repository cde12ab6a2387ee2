"""What happens in more than one scene."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnSandbox
from tests.ui.scenes.scene import Play
from tradetui.ui.application.screenshot import screen_text


def press(*keys: str) -> Play:
    """Press the keys and wait for a second."""

    async def play(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await asyncio.sleep(1)

    return play


async def preview_reversal(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    """Open the reversal dialog on the position under the cursor; the market stands still from then on."""
    stage.sandbox.exchange_state.still = True
    await asyncio.sleep(3)
    await pilot.press("R")
    await asyncio.sleep(2)


async def until_shown(stage: AppOnSandbox, pilot: Pilot[None], text: str, seconds: int = 300) -> None:
    """Let virtual time pass, a second at a time and so many at most, until the screen shows the words."""
    for _ in range(seconds):
        if text in screen_text(stage.app):
            return
        await asyncio.sleep(1)
        await pilot.pause()

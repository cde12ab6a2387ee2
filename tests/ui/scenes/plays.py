"""What happens in more than one scene."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

from tests.ui.scenes.scene import Play
from tests.ui.virtual import Stage


def press(*keys: str) -> Play:
    """Press the keys and wait for a second."""

    async def play(stage: Stage, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await asyncio.sleep(1)

    return play


async def preview_reversal(stage: Stage, pilot: Pilot[None]) -> None:
    """Open the reversal dialog on the position under the cursor; the market stands still from then on."""
    stage.sandbox.world.still = True
    await asyncio.sleep(3)
    await pilot.press("R")
    await asyncio.sleep(2)

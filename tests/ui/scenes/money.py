"""The screen of results: its sizes, and what it says where figures are missing."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

from tests.ui.scenes.plays import press
from tests.ui.scenes.scene import Scene
from tests.ui.virtual import Stage


async def _opened(stage: Stage, pilot: Pilot[None]) -> None:
    await pilot.press("m")
    await asyncio.sleep(2)
    await pilot.pause()


_SHOWS = ("MONEY", "▐30 d▌", "─ Result", "Gross", "Net realised")

SCENES = {
    "money-200x60": Scene((200, 60), (*_SHOWS, "August 2026, net realised"), _opened, after=60.0),
    "money-120x36": Scene((120, 36), (*_SHOWS, "August 2026, net realised"), _opened, after=60.0, published=True),
    "money-80x24": Scene((80, 24), (*_SHOWS, "By symbol"), _opened, after=60.0),
    "money-trips": Scene((120, 36), ("Round trips",), press("m", "t"), after=60.0),
}

"""The main screen in every theme at every size, drawn in one run: the program's start is most of what a picture costs.

The terminal's own theme is the one of sixteen colours.
"""

from __future__ import annotations

import asyncio
from typing import Final

from tests.bench.virtual_loop import VirtualLoop
from tests.ui.virtual import Stage
from tradetui.ui.settings.themes import THEMES
from tradetui.ui.tty.screenshot import screen_text

SIZES: Final = ((80, 24), (120, 36), (160, 48), (200, 60), (300, 80))
"""Columns and rows."""
_OPEN_S: Final = 8.0
_SETTLED_S: Final = 0.5


def drawn() -> dict[str, str]:
    """The pictures as SVG by name, such as `tradetui-light-120x36`.

    Raises:
        AssertionError: the screen does not show whose account it is and what is held, in lines of the terminal's width.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_draw())


async def _draw() -> dict[str, str]:
    stage = Stage()
    pictures: dict[str, str] = {}
    async with stage.running(SIZES[0], after=_OPEN_S) as pilot:
        for theme in THEMES:
            stage.app.choose_theme(theme.name)
            for width, height in SIZES:
                await pilot.resize_terminal(width, height)
                await asyncio.sleep(_SETTLED_S)
                await pilot.pause()
                screen = screen_text(stage.app)
                assert "SANDBOX   TRADE   hedge" in screen and "2 Positions 1" in screen, screen
                assert all(len(line) <= width for line in screen.splitlines()), screen
                pictures[f"{theme.name}-{width}x{height}"] = stage.app.export_screenshot()
    return pictures

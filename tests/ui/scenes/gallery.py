"""The main screen in every other theme at every size; in the first one they are the scenes `main-…`.

The terminal's own theme is the one of sixteen colours.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills, AppOnSandbox
from tests.ui.scenes.scene import Scene
from tradetui.ui.settings.themes import DEFAULT_THEME, THEMES

_SIZES: Final = ((80, 24), (120, 36), (160, 48), (200, 60), (300, 80))
"""Columns and rows."""


async def _choose_theme(theme: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.app.choose_theme(theme)
    await asyncio.sleep(0.5)


SCENES: Final = {
    f"{theme.name}-{width}x{height}": Scene(
        (width, height),
        ("SANDBOX   TRADE   hedge", "2 Positions 18"),
        partial(_choose_theme, theme.name),
        stage=AppOnRecentFills,
        after=2.0,
    )
    for theme in THEMES
    if theme.name != DEFAULT_THEME
    for width, height in _SIZES
}

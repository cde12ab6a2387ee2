"""The main screen in every other theme at every size, and where colours say most in the light one and in sixteen.

In the first theme the main screen is in the scenes `main-…`.

The terminal's own theme is the one of sixteen colours.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Final

from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills, AppOnSandbox
from tests.ui.scenes import money, reversal
from tests.ui.scenes.plays import press
from tests.ui.scenes.scene import Play, Scene
from tradetui.ui.settings.themes import DEFAULT_THEME, THEMES

_SIZES: Final = ((80, 24), (120, 36), (160, 48), (200, 60), (300, 80))
"""Columns and rows."""


async def _choose_theme(theme: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.app.choose_theme(theme)
    await asyncio.sleep(0.5)


async def _play_in(theme: str, play: Play, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _choose_theme(theme, stage, pilot)
    await play(stage, pilot)


_COLOURFUL: Final = {
    "reversal-outcome": reversal.SCENES["reversal-outcome"],
    "money": money.SCENES["money-80x24"],
    "alerts": Scene((120, 36), ("╭─ Alerts 5", "─ Log ", "fill"), press("A"), stage=AppOnRecentFills),
    "fills-dates": Scene(
        (120, 36),
        ("4 Fills 93/186 · since 25 Jul 12:00", "30 Jul "),
        press("4", "z", "f", *"7d", "enter", "G"),
        stage=AppOnRecentFills,
    ),
}
"""States whose words are coloured, by what they are called in the picture's name."""

SCENES: Final = {
    f"{theme.name}-{name}": replace(scene, play=partial(_play_in, theme.name, scene.play), published=False)
    for theme in THEMES
    if theme.name in ("tradetui-light", "tradetui-terminal")
    for name, scene in _COLOURFUL.items()
} | {
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

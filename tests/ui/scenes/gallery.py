"""The main screen in every other theme at every size, and where colours say most in the light one and in sixteen.

In the first theme the main screen is in the scenes `main-…`. The terminal's own theme is the one of sixteen colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills
from tests.ui.scenes.plays import choose_theme, in_turn, press, stop_market, until_shown
from tests.ui.scenes.scene import Scene
from tradetui.ui.settings.themes import DEFAULT_THEME, THEMES

_SIZES: Final = ((80, 24), (120, 36), (160, 48), (200, 60), (300, 80))
"""Columns and rows."""
_SHOWS: Final = ("SANDBOX   TRADE   hedge", "2 Positions 18")


def _themes_at_all_sizes() -> Iterator[tuple[str, Scene]]:
    """One after the other, while the market stands still."""
    scene: Scene | None = None
    for theme in (theme.name for theme in THEMES if theme.name != DEFAULT_THEME):
        for size in _SIZES:
            if scene is None:
                play = in_turn(stop_market, choose_theme(theme))
                scene = Scene(size, _SHOWS, play, stage=AppOnRecentFills, after=2.0)
            else:
                scene = scene.then(_SHOWS, choose_theme(theme), size=size)
            yield f"{theme}-{size[0]}x{size[1]}", scene


_ALERTS = ("╭─ Alerts 5", "─ Log ", "fill")
_FILLS = ("4 Fills 93/186 · since 25 Jul 12:00", "30 Jul ")
_light_alerts = Scene((120, 36), _ALERTS, in_turn(choose_theme("tradetui-light"), press("A")), stage=AppOnRecentFills)
_alerts = _light_alerts.then(_ALERTS, choose_theme("tradetui-terminal"))
_fills = _alerts.then(
    _FILLS,
    # The column of times is wider once the first rows of other days were drawn.
    in_turn(stop_market, press("escape", "4", "z", "f", *"7d", "enter", "G"), partial(until_shown, text="30 Jul ")),
)
SCENES: Final = dict(_themes_at_all_sizes()) | {
    "tradetui-light-alerts": _light_alerts,
    "tradetui-terminal-alerts": _alerts,
    "tradetui-terminal-fills-dates": _fills,
    "tradetui-light-fills-dates": _fills.then(_FILLS, choose_theme("tradetui-light")),
}

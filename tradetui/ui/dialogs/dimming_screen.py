"""The screen of every dialog, which dims the screen behind it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events, on
from textual.color import Color
from textual.containers import Vertical, VerticalScroll
from textual.css.styles import RulesMap
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets._toast import ToastRack

from tradetui.ui.safe_text import sanitized
from tradetui.ui.terminal.drawn_once import StyledOnce

STYLES_KEPT = 4096


class DimmedScreen(Visual):
    """A screen in dimmed colours, drawn from its strips.

    Textual's own goes through Rich's console and mixes the colours of every segment again: half the time that a frame
    with a dialog took.
    """

    def __init__(self, screen: Screen[object], tint: Color) -> None:
        self._screen = screen
        self._tint = tint

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        under, tint = style.rich_style, self._tint
        return [
            Strip(
                [Segment(segment.text, _dimmed(under, segment.style, tint), segment.control) for segment in strip],
                strip.cell_length,
            )
            for strip in self._screen._compositor.render_strips()[:height]
        ]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return self._screen.size.width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self._screen.size.height


@lru_cache(STYLES_KEPT)
def _dimmed(under: RichStyle, style: RichStyle | None, tint: Color) -> RichStyle:
    (segment,) = BackgroundScreen.process_segments([Segment("", style)], tint)
    return under if segment.style is None else under + segment.style


class DimmingScreen(ModalScreen[ScreenResultType], StyledOnce[ScreenResultType]):
    """A dialog's screen. Messages show beside the dialog, and not a second time behind it."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")

    @on(events.Mount)
    def _take_messages(self) -> None:
        """Take the messages from the screen behind, which shows them again once it is in front."""
        for screen in self.app.screen_stack[:-1]:
            for rack in screen.query(ToastRack):
                rack.display = False

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    @staticmethod
    def framed(title: str, keys: str = "") -> Vertical:
        box = Vertical()
        box.border_title, box.border_subtitle = sanitized(title), sanitized(keys)
        return box

    def render(self) -> Any:  # Textual draws a Visual too, but does not say so of a screen
        behind = super().render()
        return DimmedScreen(behind.screen, behind.color) if isinstance(behind, BackgroundScreen) else behind

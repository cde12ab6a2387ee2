"""The first paint: whose money it is and what is permitted, before anything else is imported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from tradetui.ui.header.header_bar import HeaderBar
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.terminal.drawn_once import StyledOnce

if TYPE_CHECKING:
    from tradetui.ui.settings.ui_settings import UiSettings


class StartScreen(StyledOnce[None]):
    """The header of the session that is being opened; the main screen replaces it."""

    AUTO_FOCUS = ""

    def __init__(self, settings: UiSettings, begin: Callable[[], Awaitable[None]]) -> None:
        """`begin` is called once the header was painted."""
        super().__init__()
        self._begin = begin
        self._settings = settings
        self._has_begun = False

    def compose(self) -> ComposeResult:
        yield HeaderBar(self._settings, self._settings.chosen)
        yield Hints()

    def on_screen_resume(self) -> None:
        """Begin: Textual paints a screen just before this event."""
        if not self._has_begun:
            self._has_begun = True
            self.call_later(self._begin)

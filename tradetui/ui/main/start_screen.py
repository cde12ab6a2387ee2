"""The first paint: whose money it is and what is permitted, before anything else is imported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.app import ComposeResult

from tradetui.ui.app_protocols import trading_app
from tradetui.ui.header.header_bar import HeaderBar
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.terminal.drawn_once import StyledOnce


class StartScreen(StyledOnce[None]):
    """The header of the session that is being opened; the main screen replaces it."""

    AUTO_FOCUS = ""

    def __init__(self, begin: Callable[[], Awaitable[None]]) -> None:
        """`begin` is called once the header was painted."""
        super().__init__()
        self._begin = begin
        self._has_begun = False

    def compose(self) -> ComposeResult:
        app = trading_app(self)
        yield HeaderBar(app.settings, app.chosen)
        yield Hints()

    def on_screen_resume(self) -> None:
        """Begin: Textual paints a screen just before this event."""
        if not self._has_begun:
            self._has_begun = True
            self.call_later(self._begin)

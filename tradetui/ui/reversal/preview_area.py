"""The part of the reversal dialog that scrolls where it does not fit, and whether all of it was on the screen."""

from __future__ import annotations

from textual import getters
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tradetui.ui.sanitize import sanitized

LEAST_WIDTH, LEAST_HEIGHT = 60, 20
"""Cells of a terminal in which it can be read at all."""


class PreviewArea(VerticalScroll):
    """Begins with a line that says that it is being read."""

    _body = getters.query_one("#body", Static)

    def __init__(self) -> None:
        reading = Static(sanitized("reading positions, orders and prices …"), id="body", markup=False)
        super().__init__(reading, can_focus=False)
        self.read_whole = False
        """Whether the end of what is shown was on the screen."""

    def show(self, content: Content) -> None:
        """Show it; the scroll stays."""
        self._body.update(content)

    def note_end(self) -> None:
        """Note that all of it was on the screen, where its end is now."""
        self.read_whole = self.read_whole or self.scroll_y >= self.max_scroll_y

    def unseen(self, *, armed: bool) -> tuple[str, ...]:
        """Why it cannot be confirmed: not all of it has been on the screen, which only counts once it is armed."""
        width, height = self.screen.size
        if width < LEAST_WIDTH or height < LEAST_HEIGHT:
            return (f"The window is too small to show it: {LEAST_WIDTH}x{LEAST_HEIGHT} at least.",)
        if armed and not self.read_whole:
            return ("There is more below: Page Down shows it, then confirm.",)
        return ()

    def scroll_lines(self, lines: int) -> None:
        """Scroll by so many lines."""
        self.scroll_relative(y=lines, animate=False)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by what is shown at once, less a line."""
        self.scroll_lines(pages * max(1, self.size.height - 1))

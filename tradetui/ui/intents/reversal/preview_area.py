"""The part of the reversal dialog that scrolls, and whether all that decides was on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from textual import getters
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tradetui.desk.reversal.preview import Change, Preview
from tradetui.desk.settings import DeskSettings
from tradetui.ui.intents.reversal.tables.lines import decision_lines, details_lines, request_lines
from tradetui.ui.intents.reversal.tables.table_rows import Room
from tradetui.ui.safe_text import sanitized

LEAST_WIDTH, LEAST_HEIGHT = 60, 20
"""Cells of a terminal in which it can be read at all."""
_NEW_LINE = Content("\n")


class PreviewArea(VerticalScroll):
    """First what decides, then the request as sent where it is folded out, then what every figure rests on."""

    _body = getters.query_one("#body", Static)
    _request = getters.query_one("#request", Static)
    _details = getters.query_one("#details", Static)

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self.read_whole = False
        """Whether the end of what decides was on the screen."""

    def compose(self) -> ComposeResult:
        yield Static(sanitized("reading positions, orders and prices …"), id="body", markup=False)
        for name in ("request", "details"):
            part = Static(id=name, markup=False)
            part.display = False
            yield part

    @property
    def room(self) -> Room:
        """The cells of a line beside the scroll bar, and the lines of the screen."""
        return Room(self.scrollable_content_region.width or self.size.width, self.screen.size.height)

    def show(self, content: Content) -> None:
        """Show this and nothing else; the scroll stays."""
        self._body.update(content)
        self._request.display = self._details.display = False

    def show_preview(self, preview: Preview, changed: Sequence[Change], settings: DeskSettings) -> None:
        """Show a preview; the scroll stays."""
        self._body.update(_NEW_LINE.join(decision_lines(preview, changed, self.room)))
        self._request.update(_NEW_LINE.join(request_lines(preview, changed)))
        self._details.update(_NEW_LINE.join(details_lines(preview, settings, changed, self.room.width)))
        self._details.display = True

    def fold_request(self) -> None:
        """Show the request as sent, and scroll to it, or hide it."""
        self._request.display = not self._request.display
        if self._request.display:
            self.call_after_refresh(self.scroll_to_widget, self._request, animate=False)

    def note_end(self) -> None:
        """Note that all that decides was on the screen, where its end is now."""
        end = self._body.virtual_region.bottom
        self.read_whole = self.read_whole or self.scroll_y + self.scrollable_content_region.height >= end

    @property
    def is_too_small(self) -> bool:
        """Whether the terminal is too small to read it: then only the reason stands beside the buttons."""
        width, height = self.screen.size
        return width < LEAST_WIDTH or height < LEAST_HEIGHT

    def unseen(self, *, armed: bool) -> tuple[str, ...]:
        """Why it cannot be confirmed: not all of it has been on the screen, which only counts once it is armed."""
        if self.is_too_small:
            return (f"The window is too small to show it: {LEAST_WIDTH}x{LEAST_HEIGHT} at least.",)
        if armed and not self.read_whole:
            return ("There is more below: Page Down shows it, then confirm.",)
        return ()

    def scroll_lines(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by what is shown at once, less a line."""
        self.scroll_lines(pages * max(1, self.size.height - 1))

"""The scrolling part of the reversal dialog: the preview, and whether the trader has seen everything that decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from textual import getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tradetui.desk.reversal.preview import Change, Preview, changes
from tradetui.desk.settings import DeskSettings
from tradetui.ui.intents.reversal.tables.lines import decision_lines, details_lines, request_lines
from tradetui.ui.intents.reversal.tables.table_rows import Room
from tradetui.ui.safe_text import sanitized
from tradetui.wire.text import scrub

DROPPED: Final = "The dialog was not ready: what you typed was dropped, type it again."
NO_FOCUS: Final = "Enter pressed nothing because nothing had the focus: look, then press it again."
CHANGED_BACK: Final = "Changed since you looked, and back: it is as it was when you looked."
LEAST_WIDTH, LEAST_HEIGHT = 60, 20
"""The smallest terminal in which it can be read, in cells."""
_NEW_LINE = Content("\n")
PREVIEW_BINDINGS: Final[Sequence[BindingType]] = (
    ("down", "scroll(1)", "Down"),
    ("up", "scroll(-1)", "Up"),
    ("pagedown", "scroll_pages(1)", "Page down"),
    ("pageup", "scroll_pages(-1)", "Page up"),
    ("f2", "fold_request", "Show or hide the request"),
)
"""The keys that move in the preview, whatever has the focus; their actions are the dialog's."""


class PreviewArea(VerticalScroll):
    """First everything that decides, then the unfolded request, then the basis of every figure."""

    _body = getters.query_one("#body", Static)
    _request = getters.query_one("#request", Static)
    _details = getters.query_one("#details", Static)

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self.read_whole = False  # whether the end of the deciding part was on the screen

    def compose(self) -> ComposeResult:
        yield Static(sanitized("reading positions, orders and prices …"), id="body", markup=False)
        for name in ("request", "details"):
            part = Static(id=name, markup=False)
            part.display = False
            yield part

    @property
    def room(self) -> Room:
        return Room(self.scrollable_content_region.width or self.size.width, self.screen.size.height)

    def show(self, content: Content) -> None:
        self._body.update(content)
        self._request.display = self._details.display = False

    def show_preview(self, preview: Preview, changed: Sequence[Change], settings: DeskSettings) -> None:
        self._body.update(_NEW_LINE.join(decision_lines(preview, changed, self.room, settings.zone)))
        self._request.update(_NEW_LINE.join(request_lines(preview, changed)))
        self._details.update(_NEW_LINE.join(details_lines(preview, settings, changed, self.room.width)))
        self._details.display = True

    def fold_request(self) -> None:
        self._request.display = not self._request.display
        if self._request.display:
            self.call_after_refresh(self.scroll_to_widget, self._request, animate=False)

    def note_end(self) -> None:
        """Note that the whole deciding part was on the screen, if its end is visible now."""
        end = self._body.virtual_region.bottom
        self.read_whole = self.read_whole or self.scroll_y + self.scrollable_content_region.height >= end

    @property
    def is_too_small(self) -> bool:
        """Whether the terminal is too small to read it: then only the reason is beside the buttons."""
        width, height = self.screen.size
        return width < LEAST_WIDTH or height < LEAST_HEIGHT

    def unseen(self, *, armed: bool) -> tuple[str, ...]:
        """Why it cannot be confirmed: not all of it has been on the screen, which only counts once it is armed."""
        if self.is_too_small:
            return (f"The window is too small to show it: {LEAST_WIDTH}x{LEAST_HEIGHT} at least.",)
        if armed and not self.read_whole:
            return ("There is more below: Page Down shows it, then confirm.",)
        return ()


@dataclass(slots=True)
class UnreadNotices:
    """Notices that stay on the screen until `read`, however often the preview is read again meanwhile.

    `looked_at` is the preview on the screen, armed, at the last key: changes are relative to it. `has_changed` is
    whether any was shown since, which may have gone back. `not_sent` says why a confirmation was not sent; `dropped`
    that keys came before the dialog was ready, which stays until the required word is typed; `pressed_nothing` why the
    last Enter pressed nothing; `notice` is the journal's, shown once.
    """

    looked_at: Preview | None = None
    has_changed: bool = False
    not_sent: str = ""
    dropped: bool = False
    pressed_nothing: str = ""
    notice: str = ""

    def read(self, preview: Preview | None, *, word_is_missing: bool) -> None:
        """A key was pressed at the armed preview; `word_is_missing` is whether a word is still to be typed."""
        self.looked_at, self.has_changed, self.not_sent, self.notice = preview, False, "", ""
        self.dropped = self.dropped and word_is_missing

    def changed(self, preview: Preview | None) -> tuple[Change, ...]:
        if preview is None or self.looked_at is None or preview is self.looked_at:
            return ()
        return changes(self.looked_at, preview)

    def lines(self, preview: Preview | None) -> Content:
        return Content.styled("\n".join(map(scrub, self._lines(preview))), "bold $warn")

    def _lines(self, preview: Preview | None) -> Iterator[str]:
        if changed := self.changed(preview):
            sentence = f"Changed since you looked: {'; '.join(map(str, changed))}"
            yield f"NOT SENT. {sentence}" if self.not_sent else sentence
        elif self.not_sent:
            yield f"NOT SENT. {self.not_sent}"
        elif self.has_changed:
            yield CHANGED_BACK
        if self.notice:
            yield self.notice
        if self.dropped:
            yield DROPPED
        if self.pressed_nothing:
            yield self.pressed_nothing

"""A dialog over a preview that scrolls: its keys, and the sizes by which its style differs."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from textual import getters
from textual.binding import BindingType

from tradetui.ui.dialogs.deliberate_dialog import LockingDialog
from tradetui.ui.intents.reversal.preview_area import PreviewArea


class ScrollingDialog(LockingDialog[None]):
    """The arrows and pages scroll what does not fit, whatever has the focus, and F2 folds the request out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("down", "scroll_by(1)", "Down"),
        ("up", "scroll_by(-1)", "Up"),
        ("pagedown", "scroll_pages(1)", "Page down"),
        ("pageup", "scroll_pages(-1)", "Page up"),
        ("f2", "fold_request", "Show or hide the request"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-airy"), (44, "-tall")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    _area = getters.query_one(PreviewArea)

    @property
    @abstractmethod
    def shows_request(self) -> bool:
        """Whether there is a request to fold out."""

    def action_scroll_by(self, lines: int) -> None:
        self._area.scroll_lines(lines)

    def action_scroll_pages(self, pages: int) -> None:
        self._area.scroll_pages(pages)

    def action_fold_request(self) -> None:
        """Show the request exactly as sent, or hide it again."""
        if self.shows_request:
            self._area.fold_request()

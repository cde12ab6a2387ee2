"""Everything about one alert of the list or of the log, each sentence whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.safe_text import sanitized

_LABEL = 10


class AlertDialog(DimmingScreen[None]):
    """Lines of a label and a text."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss", "Close")]

    def __init__(self, title: str, lines: Sequence[tuple[str, str]]) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, "Esc back"), VerticalScroll():
            for label, text in self._lines:
                yield Static(Content.assemble((f"{label:<{_LABEL}}", "$quiet"), sanitized(text)), markup=False)

"""The box for one line of text: a paste is inserted whole, or a notice says that it was not."""

from __future__ import annotations

from typing import Final

from textual import events, on
from textual.widgets import Input

from tradetui.ui.safe_text import notify

LONGEST_TEXT: Final = 1_400  # characters that a box takes: more than thirty addresses


def one_line(text: str) -> str:
    """The lines of a text joined by blanks, without empty ones and the space around each."""
    return " ".join(filter(None, map(str.strip, text.splitlines())))


class LineBox(Input):
    """An input whose cursor does not blink, and that reports every text it loses."""

    @on(events.Mount)
    def _begin(self) -> None:
        self.max_length, self.cursor_blink = LONGEST_TEXT, False

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()  # Textual's own method keeps the first line alone
        event.stop()
        if text := one_line(event.text):
            self.replace(text, *self.selection)

    def restricted(self) -> None:
        notify(self.app, f"A box takes {LONGEST_TEXT:,} characters at most: this was not put in.", severity="warning")

"""The only ways for text to reach the screen: scrubbed, and never read as markup."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.widgets import Static

from tradetui.wire.text import scrub


def sanitized(text: object) -> Content:
    """Any text as content without markup and, line by line, without control characters."""
    return Content("\n".join(scrub(line) for line in str(text).split("\n")))


def inside_sentence(title: str) -> str:
    """A title within a sentence; names of coins, products and abbreviations keep their capitals."""
    return " ".join(word.lower() if word[1:].islower() else word for word in title.split(" "))


class Notice(Static):
    """Lines that are on the screen only while they say something, and drawn again only where they read otherwise."""

    def __init__(self, id: str) -> None:
        super().__init__("", id=id, markup=False)
        self.display = False

    def say(self, text: str | Content) -> None:
        content = text if isinstance(text, Content) else sanitized(text)
        if self.content != content:
            height = self.styles.height
            # A line of a fixed height, such as the newest alert's, needs no new layout of the screen.
            self.update(content, layout=height is None or height.is_auto)
        self.display = bool(content.plain)


def notify(app: App[Any], message: str, *, severity: SeverityLevel = "information", seconds: float = 4.0) -> None:
    app.notify(scrub(message), severity=severity, timeout=seconds, markup=False)


def withdraw(app: App[Any], message: str) -> None:
    """Put a message away whose cause is gone."""
    for notification in [shown for shown in app._notifications if shown.message == scrub(message)]:
        app._unnotify(notification)

"""The only ways for text to reach the screen: scrubbed, and never read as markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.content import Content
from textual.notifications import Notification, SeverityLevel
from textual.widgets import Static

from tradetui.wire.text import scrub


def sanitized(text: object) -> Content:
    """Any text as content without markup and, line by line, without control characters."""
    return Content("\n".join(scrub(line) for line in str(text).split("\n")))


def inside_sentence(title: str) -> str:
    """A title within a sentence; names of coins, products and abbreviations keep their capitals."""
    return " ".join(word.lower() if word[1:].islower() else word for word in title.split(" "))


class Notice(Static):
    """Lines that are shown only while they have text, and redrawn only if the text changes."""

    def __init__(self, id: str) -> None:
        super().__init__("", id=id, markup=False)
        self.display = False

    def say(self, text: str | Content) -> None:
        content = text if isinstance(text, Content) else sanitized(text)
        if self.content != content:
            height = self.styles.height
            # A line of fixed height, such as the newest alert's, needs no new layout of the screen.
            self.update(content, layout=height is None or height.is_auto)
        self.display = bool(content.plain)


def notify(app: App[Any], message: str, *, severity: SeverityLevel = "information", seconds: float = 4.0) -> None:
    """Show a message in a corner; one that is still shown is replaced, and not shown twice."""
    text = scrub(message)
    for notice in list(app._notifications):
        if notice.message == text:
            app._unnotify(notice)
    app.notify(text, severity=severity, timeout=seconds, markup=False)


@dataclass
class SymbolNotice(Notification):
    """A message about a symbol, for a reversal of it that was sent or one that was not."""

    symbol: str = ""
    was_sent: bool = False


def notify_about(
    app: App[Any],
    symbol: str,
    message: str,
    *,
    was_sent: bool,
    severity: SeverityLevel = "information",
    seconds: float = 4.0,
) -> None:
    """Show a message about a symbol in place of earlier ones."""
    withdraw_about(app, symbol, was_sent=was_sent)
    notice = SymbolNotice(scrub(message), "", severity, seconds, symbol=symbol.upper(), was_sent=was_sent)
    app._notifications.add(notice)  # at once, because the next message must find it
    app._refresh_notifications()


def withdraw_about(app: App[Any], symbol: str, *, was_sent: bool) -> None:
    """Remove the messages about a symbol, because newer facts are known.

    Messages about a sent reversal are removed only by news of a sent one.
    """
    for notice in list(app._notifications):
        if isinstance(notice, SymbolNotice) and notice.symbol == symbol.upper() and was_sent >= notice.was_sent:
            app._unnotify(notice)


def withdraw(app: App[Any], message: str) -> None:
    """Remove a message whose cause is gone."""
    for notification in [shown for shown in app._notifications if shown.message == scrub(message)]:
        app._unnotify(notification)

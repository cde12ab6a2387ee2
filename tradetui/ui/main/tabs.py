"""One line that names every panel with its count, for screens that do not show all five at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Tab:
    """One panel: `key` opens it; `trouble` marks one whose rows are old or failed."""

    name: str
    key: str
    title: str
    count: str
    shown: bool
    focused: bool
    trouble: bool


class PanelTabs(Widget):
    """The line of tabs; a click goes to a panel."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self._tabs: tuple[Tab, ...] = ()

    def show(self, tabs: Sequence[Tab]) -> None:
        """Name these panels; the line is repainted only when it reads otherwise."""
        if tuple(tabs) != self._tabs:
            self._tabs = tuple(tabs)
            self.refresh()

    def render(self) -> Content:
        """The line."""
        parts: list[Content | tuple[str, str]] = []
        for tab, label in zip(self._tabs, self._words(), strict=True):
            style = "bold $primary" if tab.focused else "$foreground" if tab.shown else "$quiet"
            parts.append((label, f"{style} on $panel" if tab.focused else style))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        """Go to the panel under the pointer."""
        end = 0
        for tab, label in zip(self._tabs, self._words(), strict=True):
            end += len(label)
            if event.x < end:
                self.post_message(self.Chosen(tab.name))
                return

    def _words(self) -> list[str]:
        short = sum(len(tab.title) + len(tab.count) + 6 for tab in self._tabs) > self.size.width
        return [
            f" {tab.key} {tab.title.split()[0] if short else tab.title} {tab.count}{'!' if tab.trouble else ''} "
            for tab in self._tabs
        ]

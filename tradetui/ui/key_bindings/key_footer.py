"""The bottom line: the keys that matter now, each of which can also be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

_GAP = 2


@dataclass(frozen=True, slots=True)
class Hint:
    """One key: `action` is run by a click, `off` draws it as disabled."""

    key: str
    description: str
    action: str
    off: bool = False


class Hints(Widget):
    """The line of hints, as many as fit, with a note at its right end."""

    def __init__(self) -> None:
        super().__init__(id="hints")
        self._hints: tuple[Hint, ...] = ()
        self._note = ""

    def show(self, hints: Sequence[Hint], note: str = "") -> None:
        """Show these; the line is repainted only when it reads otherwise."""
        if (tuple(hints), note) != (self._hints, self._note):
            self._hints, self._note = tuple(hints), note
            self.refresh()

    def render(self) -> Content:
        """The line."""
        parts: list[tuple[str, str] | str] = []
        used = 0
        for hint in self._fitting():
            style = "$quiet" if hint.off else "bold $accent"
            parts += [(hint.key, style), (f" {hint.description}", "$quiet" if hint.off else "$foreground"), " " * _GAP]
            used += cell_len(hint.key) + 1 + cell_len(hint.description) + _GAP
        room = self.content_size.width - used - cell_len(self._note)
        if self._note and room >= 0:
            parts += [" " * room, (self._note, "$quiet")]
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        """Do what the hint under the pointer says."""
        end = self.styles.padding.left
        for hint in self._fitting():
            end += cell_len(hint.key) + 1 + cell_len(hint.description) + _GAP
            if event.x < end:
                self.call_later(self.screen.run_action, hint.action)
                return

    def _fitting(self) -> list[Hint]:
        room = self.content_size.width - (cell_len(self._note) + 1 if self._note else 0)
        fitting = []
        for hint in self._hints:
            room -= cell_len(hint.key) + 1 + cell_len(hint.description)
            if room < 0:
                break
            room -= _GAP
            fitting.append(hint)
        return fitting

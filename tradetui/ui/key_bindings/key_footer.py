"""The bottom line: the keys that matter now, the most used first; each can also be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from tradetui.ui.key_bindings.binding_registry import BINDINGS, KeyBinding

_GAP = 2
_NOTE_PART = 3  # a note that would take more than a third of the line is left out
_MOST_USED: Final = ("help", "reverse", "detail", "filter", "dates", "sort", "view")
_LESS_USED: Final = ("zoom", "money", "alerts", "screens", "lock", "product", "pause")
"""Keys that do not fit are left out from the end, so the most used of these come first."""
_RANKS: Final = {id_: rank for rank, id_ in enumerate((*_MOST_USED, *_LESS_USED))}


class Hint(NamedTuple):
    """One key: `action` is run by a click, `off` draws it as disabled."""

    key: str
    description: str
    action: str
    off: bool = False

    @property
    def width(self) -> int:
        return cell_len(self.key) + 1 + cell_len(self.description)


class Hints(Widget):
    """The line of hints, as many as fit beside a note at its right end."""

    def __init__(self) -> None:
        super().__init__(id="hints")
        self._hints: tuple[Hint, ...] = ()
        self._note = ""

    def show(self, hints: Sequence[Hint], note: str = "") -> None:
        if (tuple(hints), note) != (self._hints, self._note):
            self._hints, self._note = tuple(hints), note
            self.refresh()

    @property
    def _shown_note(self) -> str:
        return self._note if cell_len(self._note) * _NOTE_PART <= self.size.width else ""

    def render(self) -> Content:
        parts: list[tuple[str, str] | str] = []
        used = 0
        for hint in self._fitting():
            style = "$quiet" if hint.off else "bold $primary"
            parts += [(hint.key, style), (f" {hint.description}", "$quiet" if hint.off else "$foreground"), " " * _GAP]
            used += hint.width + _GAP
        note = self._shown_note
        room = self.content_size.width - used - cell_len(note)
        if note and room >= 0:
            parts += [" " * room, (note, "$quiet")]
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        end = self.styles.padding.left
        for hint in self._fitting():
            end += hint.width + _GAP
            if event.x < end:
                self.call_later(self.screen.run_action, hint.action)
                return

    def _fitting(self) -> list[Hint]:
        note = self._shown_note
        room = self.content_size.width - (cell_len(note) + _GAP if note else 0)
        fitting = []
        for hint in self._hints:
            room -= hint.width
            if room < 0:
                break
            room -= _GAP
            fitting.append(hint)
        return fitting


@cache
def hinted_bindings(*, on_positions: bool, may_trade: bool) -> tuple[KeyBinding, ...]:
    """The bindings with a hint that apply here, the most used first."""
    return tuple(
        binding
        for binding in sorted(BINDINGS, key=lambda binding: _RANKS.get(binding.id, len(_RANKS)))
        if binding.hint and (binding.id != "reverse" or on_positions) and (binding.group != "Trading" or may_trade)
    )

"""The bottom line: the keys that matter now, the most used first; each can also be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from tradetui.ui.key_bindings.actions import Action

_GAP = 2
_NOTE_PART = 3  # a note that would take more than a third of the line is left out
_MOST_USED: Final = (Action.HELP, Action.REVERSE, Action.DETAIL, Action.FILTER, Action.DATES, Action.SORT, Action.VIEW)
_LESS_USED: Final = (
    *(Action.ZOOM, Action.MONEY, Action.ALERTS, Action.SCREENS),
    *(Action.LOCK, Action.PRODUCT, Action.PAUSE),
)
"""Keys that do not fit are left out from the end, so the most used of these come first."""
_RANKS: Final = {action: rank for rank, action in enumerate((*_MOST_USED, *_LESS_USED))}


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
def hinted_actions(*, on_positions: bool, may_trade: bool) -> tuple[Action, ...]:
    """The actions with a hint that apply on the main screen, the most used first."""
    return tuple(
        action
        for action in sorted(Action, key=lambda action: _RANKS.get(action, len(_RANKS)))
        if action.hint and (action is not Action.REVERSE or on_positions) and (action.group != "Trading" or may_trade)
    )

"""Help: every key and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tradetui.ui.keys.registry import BINDINGS, KeyBinding, shown_keys

NOTES = (
    "Copying uses OSC 52; inside tmux it needs `set -g set-clipboard on`.\n"
    "Filters are regular expressions without case; a leading ! shows what does not match.\n"
    "Every key can be changed in the profile's [keys] table by the id that `tradetui keys` prints."
)


class HelpDialog(ModalScreen[None]):
    """The key table, generated from the bindings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,q,question_mark,f1", "dismiss", "Close"),
        ("j", "scroll(1)", "Down"),
        ("k", "scroll(-1)", "Up"),
    ]

    def __init__(
        self,
        changed: Mapping[str, str],
        blocking_reason: Callable[[str], str | None] = lambda _: None,
        hides: Callable[[str], bool] = lambda _: False,
    ) -> None:
        super().__init__(classes="dialog")
        self._hides = hides
        self._changed = changed
        self._blocking_reason = blocking_reason

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Help"
            box.border_subtitle = "Esc closes"
            with VerticalScroll():
                yield Static(self._table(), markup=False)

    def action_scroll(self, lines: int) -> None:
        """Move by lines, as the rows of a table do."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def _table(self) -> Content:
        lines: list[Content] = []
        there = [binding for binding in BINDINGS if not self._hides(binding.id)]
        for group, bindings in groupby(there, key=lambda binding: binding.group):
            lines.append(Content.styled(group, "bold $primary"))
            lines += map(self._line, bindings)
            lines.append(Content(""))
        lines.append(Content.styled(NOTES, "$quiet"))
        return Content("\n").join(lines)

    def _line(self, binding: KeyBinding) -> Content:
        keys = shown_keys(self._changed.get(binding.id, binding.keys))
        reason = self._blocking_reason(binding.id)
        about = (f"now off: {reason}", "$warn") if reason else (binding.tooltip, "$quiet")
        return Content.assemble((f"  {keys:<11}", "bold $accent"), (f"{binding.description:<16}", ""), about)

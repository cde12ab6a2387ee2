"""One of several: a list to pick from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import OptionList

from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.safe_text import sanitized


class ChoiceDialog(DimmingScreen[int | None]):
    """Returns the place of what was picked, None when nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,q", "dismiss", "Close"),
        ("j", "down", "Down"),
        ("k", "up", "Up"),
    ]
    _list = getters.query_one(OptionList)

    def __init__(self, title: str, options: Sequence[str], chosen: int = 0) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._options = options
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = sanitized(self._heading)
            yield OptionList(*(sanitized(option) for option in self._options), markup=False)

    def on_mount(self) -> None:
        self._list.highlighted = self._chosen

    def action_down(self) -> None:
        self._list.action_cursor_down()

    def action_up(self) -> None:
        self._list.action_cursor_up()

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)

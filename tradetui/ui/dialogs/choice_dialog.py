"""One of several: a list to pick from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ScreenResultType
from textual.widgets import OptionList

from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.safe_text import sanitized


class ListDialog(DimmingScreen[ScreenResultType]):
    """A dialog around one list: j and k move in it as the arrows do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,q", "dismiss", "Close"),
        ("j", "down", "Down"),
        ("k", "up", "Up"),
    ]
    option_list = getters.query_one(OptionList)

    def action_down(self) -> None:
        self.option_list.action_cursor_down()

    def action_up(self) -> None:
        self.option_list.action_cursor_up()


class ChoiceDialog(ListDialog[int | None]):
    """Returns the place of what was picked, None when nothing was."""

    def __init__(self, title: str, options: Sequence[str], chosen: int = 0) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._options = options
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, "↑ ↓ choose · Enter opens · Esc back"):
            yield OptionList(*(sanitized(option) for option in self._options), markup=False)

    def on_mount(self) -> None:
        self.option_list.highlighted = self._chosen

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)

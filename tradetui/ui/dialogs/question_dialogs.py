"""Small dialogs: lines to read, and questions for a choice, a text, or yes or no; the safe answer has the focus."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ScreenResultType
from textual.widgets import Input, OptionList, Static

from tradetui.ui.dialogs.deliberate_dialog import DeliberateDialog
from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import notify, sanitized


class LinesDialog(DimmingScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss", "Close")]

    def __init__(self, title: str, lines: Iterable[Content], keys: str = "Esc back", *, is_tall: bool = False) -> None:
        super().__init__(classes="dialog -tall" if is_tall else "dialog")
        self._heading = title
        self._keys = keys
        self._content = Content("\n").join(lines)

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, self._keys), VerticalScroll():
            yield Static(self._content, markup=False)


class ListDialog(DimmingScreen[ScreenResultType]):
    """A dialog around one list: j and k move in it as the arrows do."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "dismiss", "Close"), ("j", "down", "Down"), ("k", "up", "Up")]
    option_list = getters.query_one(OptionList)

    def action_down(self) -> None:
        self.option_list.action_cursor_down()

    def action_up(self) -> None:
        self.option_list.action_cursor_up()


class ChoiceDialog(ListDialog[int | None]):
    """Returns the index of the choice, or None."""

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


class TextDialog(DimmingScreen[bool]):
    """Returns whether it was done. `work` returns a sentence to show; its error is shown, and the dialog asks again."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(False)", "Cancel")]
    AUTO_FOCUS = "Input"

    def __init__(self, title: str, question: str, text: str, work: Callable[[str], Awaitable[str]]) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._question = question
        self._text = text
        self._work = work

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, "Enter does it · Esc back"):
            yield Static(sanitized(self._question), markup=False)
            yield LineBox(self._text)
            yield Static("", classes="reason", markup=False)

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        try:
            sentence = await self._work(event.value.strip())
        except Exception as problem:
            self.query_one(".reason", Static).update(sanitized(problem))
            return
        notify(self.app, sentence, seconds=12)
        self.dismiss(True)


class ConfirmDialog(DeliberateDialog[bool | None]):
    """Returns True if the named action was chosen; Enter presses Cancel unless the focus was moved."""

    def __init__(self, title: str, question: str, action: str) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._question = question
        self._action = action

    def compose(self) -> ComposeResult:
        with self.framed(self._heading):
            yield Static(sanitized(self._question), markup=False)
            yield from self.buttons(self._action)

    def on_descendant_focus(self) -> None:
        self.say_next_step(f"presses {self._action}")

    def confirm(self) -> None:
        self.dismiss(True)

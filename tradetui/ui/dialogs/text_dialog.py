"""Asks for one line of text and does something with it, saying beneath it why that could not be done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input, Static

from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import notify, sanitized


class TextDialog(DimmingScreen[bool]):
    """Returns whether it was done. `work` returns what to say then; whatever it raises is shown, and asked again."""

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
    async def _given(self, event: Input.Submitted) -> None:
        try:
            sentence = await self._work(event.value.strip())
        except Exception as problem:
            self.query_one(".reason", Static).update(sanitized(problem))
            return
        notify(self.app, sentence, seconds=12)
        self.dismiss(True)

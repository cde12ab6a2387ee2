"""A question whose safe answer has the focus."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Static

from tradetui.ui.dialogs.deliberate_dialog import DeliberateDialog
from tradetui.ui.safe_text import sanitized


class ConfirmDialog(DeliberateDialog[bool]):
    """Returns whether the named action was chosen; Enter presses Cancel unless the focus was moved."""

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

    def action_cancel(self) -> None:
        self.dismiss(False)

    def confirm(self) -> None:
        self.dismiss(True)

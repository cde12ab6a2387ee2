"""A question whose safe answer has the focus."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from tradetui.ui.dialogs.deliberate_button import TOO_SOON, DeliberateButton
from tradetui.ui.sanitize import notify, sanitized


class ConfirmDialog(ModalScreen[bool]):
    """Returns whether the named action was chosen; Enter presses Cancel unless the focus was moved."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]
    AUTO_FOCUS = "#cancel"

    def __init__(self, title: str, question: str, action: str) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._question = question
        self._action = action

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = sanitized(self._heading)
            yield Static(sanitized(self._question), markup=False)
            with Horizontal(classes="buttons"):
                yield DeliberateButton("Cancel", id="cancel")
                yield DeliberateButton(self._action, id="confirm", variant="error")

    def action_cancel(self) -> None:
        self.dismiss(False)

    @on(DeliberateButton.PressedTooSoon)
    def _pressed_too_soon(self) -> None:
        notify(self.app, TOO_SOON, severity="warning")

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "confirm")

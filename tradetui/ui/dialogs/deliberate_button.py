"""A button that Enter presses only for somebody who could see that it has the focus."""

from __future__ import annotations

from typing import Final

from textual.message import Message
from textual.widgets import Button

from tradetui.ui.app_protocols.application import trading_app

TOO_SOON: Final = "Enter came too soon after another key and pressed nothing: look, then press it again."


class DeliberateButton(Button):
    """Enter presses it only where the focus was painted here before, and not together with another key.

    `refuses_held` is whether an Enter that is held down presses nothing either: so it is where something is sent.
    """

    refuses_held = False

    class PressedTooSoon(Message):
        """Enter came too soon and was dropped."""

        def __init__(self, button: DeliberateButton) -> None:
            super().__init__()
            self.button = button

        @property
        def control(self) -> DeliberateButton:
            return self.button

    _painted_at: float | None = None

    def on_focus(self) -> None:
        self._painted_at = None
        self.call_after_refresh(self._note_painted)

    def on_blur(self) -> None:
        """Without the focus there is nothing to press."""
        self._painted_at = None

    def _note_painted(self) -> None:
        if self.has_focus:
            # A message knows the time by the clock that the keys are read by.
            self._painted_at = Message().time

    def action_press(self) -> None:
        """Press it where the person could have seen what Enter would press."""
        keys = trading_app(self).key_order
        key = keys.current
        seen = self._painted_at is not None and key is not None and key.time > self._painted_at
        if seen and not keys.in_burst and not (self.refuses_held and keys.is_held):
            super().action_press()
        else:
            self.post_message(self.PressedTooSoon(self))

"""The focus of the reversal dialog: on to the next field that is needed, and back once a button can be pressed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input

from tradetui.ui.intents.reversal.fields import Fields

BACK_S: Final = 0.5
"""Seconds after arming again until the focus comes back: an Enter under way must not find a button."""


@dataclass(eq=False)
class DialogFocus:
    """Moves the focus among both fields and both buttons, and remembers a place that cannot have it now."""

    screen: Screen[None]
    fields: Fields
    cancel: Button
    confirm: Button
    _before: Widget | None = field(default=None, init=False)
    """The widget that had the focus before it lost it."""
    _entered: Input | None = field(default=None, init=False)
    """The field in which Enter was pressed, while the focus is still in it."""

    @property
    def comes_back(self) -> bool:
        """Whether a widget gets the focus again once it can have it."""
        return self._before is not None

    @property
    def waits_for_confirm(self) -> bool:
        """Whether the confirm button had the focus, and cannot have it now."""
        return self._before is self.confirm and not self.confirm.focusable

    def goes_to_confirm(self, step: int, *, is_reading: bool) -> bool:
        """Focus the confirm button if it is next that way; while a preview is read again, as soon as possible."""
        if self._neighbour(step) is not self.confirm:
            return False
        if self.confirm.focusable:
            self.screen.set_focus(self.confirm)
        elif is_reading:
            self._before = self.confirm
            self.screen.set_focus(None)
        else:
            return False
        return True

    def _neighbour(self, step: int) -> Widget | None:
        """The next widget, or the one before with -1; after the complete word, the confirm button."""
        focused, fields = self.screen.focused, self.fields
        if step > 0 and focused is fields.word_box and not fields.word_is_missing:
            return self.confirm
        fields_and_cancel = (fields.size_box, fields.word_box, self.cancel)
        ring = [*(widget for widget in fields_and_cancel if widget.focusable), self.confirm]
        return ring[(ring.index(focused) + step) % len(ring)] if focused in ring else None

    def entered(self, box: Input) -> None:
        """Go on from a completed field: now if the next one can be reached, else as soon as it can."""
        self._entered = box
        self.go_on()

    def go_on(self) -> None:
        """Go from a completed field to the missing word, else to the confirm button.

        It waits in the field until the button can be pressed, and goes nowhere once the trader has left the field.
        """
        if self.screen.focused is not self._entered:
            self._entered = None
        if self._entered is None:
            return
        following = self.fields.word_box if self.fields.word_is_missing else self.confirm
        if following is self._entered:
            self._entered = None
        elif following.focusable:
            self._entered = None
            self.screen.set_focus(following)

    def let_go_of_confirm(self) -> None:
        """Take the focus from the confirm button; nothing has it then, so an Enter under way presses nothing."""
        if self.confirm.has_focus:
            self._before = self.confirm
            self.screen.set_focus(None)

    def give_back(self) -> None:
        before = self._before or self.cancel
        self.screen.set_focus(before if before.focusable else self.cancel)

    def leave_fields(self) -> None:
        if isinstance(self.screen.focused, Input):
            self._before = self.screen.focused
            self.screen.set_focus(self.cancel)

    def come_back_to_field(self) -> None:
        if isinstance(self._before, Input):
            box, self._before = self._before, None
            if box.focusable:
                self.screen.set_focus(box)

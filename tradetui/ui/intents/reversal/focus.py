"""Where the focus of the reversal dialog goes: on to what is needed next, and back once a button can be pressed."""

from __future__ import annotations

from typing import Final

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input

from tradetui.ui.intents.reversal.fields import Fields

BACK_S: Final = 0.5
"""After the preview is armed again the focus comes back so much later: an Enter under way must not find a button."""


class DialogFocus:
    """Moves the focus among both fields and both buttons, and remembers where it was while it cannot be there."""

    def __init__(self, screen: Screen[None], fields: Fields, cancel: Button, confirm: Button) -> None:
        self._screen = screen
        self._fields = fields
        self._cancel = cancel
        self._confirm = confirm
        self._before: Widget | None = None
        """What had the focus before it was taken away."""
        self._entered: Input | None = None
        """The field in which Enter was pressed, and from which the focus has not gone on yet."""

    @property
    def comes_back(self) -> bool:
        """Whether it is known what has the focus again once it can have it."""
        return self._before is not None

    @property
    def waits_for_confirm(self) -> bool:
        """Whether the confirm button had the focus, and cannot have it now."""
        return self._before is self._confirm and not self._confirm.focusable

    def goes_to_confirm(self, step: int, *, is_reading: bool) -> bool:
        """Go to the confirm button, where it is next that way; while a preview is read again, as soon as it can be."""
        if self._neighbour(step) is not self._confirm:
            return False
        if self._confirm.focusable:
            self._screen.set_focus(self._confirm)
        elif is_reading:
            self._before = self._confirm
            self._screen.set_focus(None)
        else:
            return False
        return True

    def _neighbour(self, step: int) -> Widget | None:
        """What comes next, or before with -1; from the word, once it is whole, the confirm button."""
        focused, fields = self._screen.focused, self._fields
        if step > 0 and focused is fields.word_box and not fields.word_is_missing:
            return self._confirm
        fields_and_cancel = (fields.size_box, fields.word_box, self._cancel)
        ring = [*(widget for widget in fields_and_cancel if widget.focusable), self._confirm]
        return ring[(ring.index(focused) + step) % len(ring)] if focused in ring else None

    def entered(self, field: Input) -> None:
        """Go on from a field that was filled in: now if what is needed next can be reached, else as soon as it can."""
        self._entered = field
        self.go_on()

    def go_on(self) -> None:
        """From a field that was filled in to the word where it is missing, else to the confirm button.

        It waits in the field until the button can be pressed, and goes nowhere once the trader has left the field.
        """
        if self._screen.focused is not self._entered:
            self._entered = None
        if self._entered is None:
            return
        following = self._fields.word_box if self._fields.word_is_missing else self._confirm
        if following is self._entered:
            self._entered = None
        elif following.focusable:
            self._entered = None
            self._screen.set_focus(following)

    def let_go_of_confirm(self) -> None:
        """Take the focus from the confirm button; nothing has it then, so an Enter under way presses nothing."""
        if self._confirm.has_focus:
            self._before = self._confirm
            self._screen.set_focus(None)

    def give_back(self) -> None:
        before = self._before or self._cancel
        self._screen.set_focus(before if before.focusable else self._cancel)

    def leave_fields(self) -> None:
        """Go from a field that is hidden to Cancel."""
        if isinstance(self._screen.focused, Input):
            self._before = self._screen.focused
            self._screen.set_focus(self._cancel)

    def come_back_to_field(self) -> None:
        if isinstance(self._before, Input):
            field, self._before = self._before, None
            if field.focusable:
                self._screen.set_focus(field)

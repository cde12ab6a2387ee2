"""What is typed in the reversal dialog: the size of a part, then the word, through which the focus goes on to send.

The focus never comes to a button by itself while an Enter may be under way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.pretrade_checks import is_typed, typing_reason
from tradetui.desk.reversal.preview import Preview
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.key_bindings.binding_registry import bound_keys
from tradetui.ui.key_bindings.key_queue import TypedInput
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import sanitized
from tradetui.wire.decimal_text import typed_number

BACK_S: Final = 0.5  # seconds after arming again until the focus comes back: an Enter under way must not find a button
_LONGEST_REPEATED: Final = 40  # characters of a wrong text that are repeated in a sentence


class SizeBox(LineBox):
    """An empty box means the whole position."""

    def __init__(self) -> None:
        # A character typed at a button begins the text: if the focus selected it, the next one would replace it.
        super().__init__(id="size", placeholder="all of it", select_on_focus=False, disabled=True)

    @property
    def amount(self) -> Decimal | None:
        """The typed size, above zero; None for none or an invalid one."""
        amount = typed_number(self.value)
        return amount if amount is not None and amount > 0 else None

    @property
    def is_wrong(self) -> bool:
        return bool(self.value.strip()) and self.amount is None

    def problem(self, planned: Decimal | None) -> str:
        """Why the text is not the planned size; empty where it is."""
        if self.is_wrong:
            typed = self.value.strip()
            typed = typed if len(typed) <= _LONGEST_REPEATED else f"{typed[: _LONGEST_REPEATED - 1]}…"
            return f"{typed} is not a size: give a number above zero without commas, or nothing for all."
        return "" if self.amount == planned else "Enter applies the size."


def _row(row_id: str, label: str, box: Input, hint: str) -> Horizontal:
    before = Static(sanitized(label), classes="label", markup=False)
    behind = Static(sanitized(hint), classes="hint", markup=False)
    return Horizontal(before, box, behind, id=row_id, classes="field-row")


class Fields(Vertical):
    """Both rows, and whether their required texts are complete.

    They are shown only where something may be typed, the word's only where one is required.
    """

    size_box = getters.query_one(SizeBox)
    word_box = getters.query_one("#typed", Input)
    _size_row = getters.query_one("#size-row", Horizontal)
    _word_row = getters.query_one("#word-row", Horizontal)

    def __init__(self, execution: Execution) -> None:
        super().__init__()
        self._execution = execution
        self._preview: Preview | None = None

    def compose(self) -> ComposeResult:
        yield _row("size-row", "Size", SizeBox(), "a number for a part")
        yield _row("word-row", "", LineBox(id="typed", select_on_focus=False, disabled=True), "")

    @property
    def must_type(self) -> bool:
        return bool(self._why_typed)

    @property
    def word_is_missing(self) -> bool:
        return self._preview is not None and self.must_type and not is_typed(self._preview.subject, self.word)

    @property
    def word(self) -> str:
        return self.word_box.value

    @property
    def _why_typed(self) -> str:
        return "" if self._preview is None else typing_reason(self._preview, self._execution.settings)

    def would_take(self, event: TypedInput) -> bool:
        """Whether it is text, or a key that moves among fields and buttons; while locked nothing is typed."""
        typed = isinstance(event, events.Paste) or event.is_printable or event.key in ("tab", "shift+tab", "backspace")
        return typed and not self._execution.intents.locked

    def box_for_text(self, key: str) -> Input | None:
        """The word's box if a word is required, else the size's; a key that locks is not text for the size."""
        if self.must_type:
            return self.word_box
        return None if key in bound_keys("lock", trading_app(self).settings.keys) else self.size_box

    def ask_for(self, preview: Preview | None) -> None:
        """Set up the fields of this preview: the whole position's size, the required word, and its reason."""
        self._preview = preview
        if preview is None:
            return
        if preview.plan is not None and preview.estimates is not None:
            self.size_box.placeholder = (
                f"all, {preview.plan.size_text(preview.plan.held_size)} {preview.estimates.base_coin}"
            )
        self._word_row.query_one(".label", Static).update(sanitized(f"Type {preview.subject}"))
        self._word_row.query_one(".hint", Static).update(sanitized(f"because {self._why_typed}"))

    def show(self, shown: bool) -> None:
        self.display = shown
        self._size_row.display = self.size_box.display = shown
        self._word_row.display = self.word_box.display = shown and self.must_type

    def enable(self, enabled: bool) -> None:
        self.size_box.disabled = self.word_box.disabled = not enabled


@dataclass(eq=False)
class DialogFocus:
    """Moves the focus among both fields and both buttons, and remembers which of them is to have it again."""

    screen: Screen[None]
    fields: Fields
    cancel: Button
    confirm: Button
    _return_to: Widget | None = field(default=None, init=False)
    """The widget that lost the focus, and gets it again once it can have it."""
    _entered: Input | None = field(default=None, init=False)
    """The field in which Enter was pressed, while the focus is still in it."""

    @property
    def will_return(self) -> bool:
        """Whether a widget is to get the focus again."""
        return self._return_to is not None

    @property
    def waits_for_confirm(self) -> bool:
        """Whether the confirm button had the focus, and cannot have it now."""
        return self._return_to is self.confirm and not self.confirm.focusable

    def focus_confirm_if_next(self, step: int, *, is_reading: bool) -> bool:
        """Focus the confirm button if it is next that way; while a preview is read again, as soon as possible."""
        if self._neighbour(step) is not self.confirm:
            return False
        if self.confirm.focusable:
            self.screen.set_focus(self.confirm)
        elif is_reading:
            self._return_to = self.confirm
            self.screen.set_focus(None)
        else:
            return False
        return True

    def _neighbour(self, step: int) -> Widget | None:
        """The next widget, or with -1 the one before it; after the complete word, the confirm button."""
        focused, fields = self.screen.focused, self.fields
        if step > 0 and focused is fields.word_box and not fields.word_is_missing:
            return self.confirm
        fields_and_cancel = (fields.size_box, fields.word_box, self.cancel)
        ring = [*(widget for widget in fields_and_cancel if widget.focusable), self.confirm]
        return ring[(ring.index(focused) + step) % len(ring)] if focused in ring else None

    def go_on_from(self, box: Input) -> None:
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
            self._return_to = self.confirm
            self.screen.set_focus(None)

    def return_focus(self) -> None:
        widget = self._return_to or self.cancel
        self.screen.set_focus(widget if widget.focusable else self.cancel)

    def move_out_of_fields(self) -> None:
        if isinstance(self.screen.focused, Input):
            self._return_to = self.screen.focused
            self.screen.set_focus(self.cancel)

    def return_to_field(self) -> None:
        if isinstance(self._return_to, Input):
            box, self._return_to = self._return_to, None
            if box.focusable:
                self.screen.set_focus(box)

"""The base of dialogs that nobody may answer by accident: the button that arms, the keys, and the lock of trading."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Generic, TypeVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Input, Static
from textual.widgets.button import ButtonVariant

from tradetui.desk.intents.intents import SendsNothing
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.key_bindings.binding_registry import key_named
from tradetui.ui.key_bindings.line_box import one_line
from tradetui.ui.safe_text import sanitized
from tradetui.wire.text import scrub

TOO_SOON: Final = "Enter came too soon after another key and pressed nothing: look, then press it again."
ARMS_S: Final = 0.5  # seconds that a request is on the screen before it can be confirmed
Result = TypeVar("Result")


class DeliberateButton(Button):
    """Enter presses it only where the focus was painted here before, and not together with another key.

    `refuses_held` is whether a held Enter presses nothing either, as for every button that sends.
    """

    refuses_held = False

    class PressedTooSoon(Message):
        """Enter came too soon and was dropped."""

    _painted_at: float | None = None

    def on_focus(self) -> None:
        self._painted_at = None
        self.call_after_refresh(self._note_painted)

    def on_blur(self) -> None:
        self._painted_at = None

    def _note_painted(self) -> None:
        if self.has_focus:
            # A message has the time of the clock that keys are read by.
            self._painted_at = Message().time

    def action_press(self) -> None:
        """Press it if the person could have seen which button Enter presses."""
        keys = trading_app(self).key_order
        key = keys.current
        was_painted = self._painted_at is not None and key is not None and key.time > self._painted_at
        if was_painted and not keys.in_burst and not (self.refuses_held and keys.is_held):
            super().action_press()
        else:
            self.post_message(self.PressedTooSoon())


def with_unlock_binding(reasons: Iterable[str], changed_keys: Mapping[str, str]) -> tuple[str, ...]:
    """Reasons why nothing is sent, with the key that unlocks; `changed_keys` are those of the profile."""
    unlocks = f"Trading is locked; {key_named('lock', changed_keys)} unlocks it."
    return tuple(unlocks if reason is SendsNothing.LOCKED else reason for reason in reasons)


class DeliberateDialog(DimmingScreen[Result], Generic[Result]):
    """Cancel is left and has the focus, so that Enter presses it; Tab then Enter presses the other button.

    Only the line under both says why the other one is off. Esc cancels.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]
    AUTO_FOCUS = "#cancel"
    cancel_button = getters.query_one("#cancel", Button)
    confirm_button = getters.query_one("#confirm", Button)
    reason_line = getters.query_one("#reason", Static)

    def buttons(
        self, action: str, *, cancel: str = "Cancel", ready: bool = True, harmless: bool = False
    ) -> ComposeResult:
        """Both buttons and their line: `ready` enables the other one, `harmless` says that nothing is sent or lost."""
        with Horizontal(classes="buttons"):
            yield DeliberateButton(cancel, id="cancel")
            variant: ButtonVariant = "primary" if harmless else "error"
            confirm = DeliberateButton(action, id="confirm", variant=variant, disabled=not ready)
            confirm.refuses_held = not harmless
            yield confirm
        yield Static("", id="reason", classes="reason", markup=False)

    def give_reason(self, reason: str | Content) -> None:
        content = reason if isinstance(reason, Content) else sanitized(reason)
        if self.reason_line.content != content:
            self.reason_line.update(content)

    def say_next_step(self, effect: str, note: str = "") -> None:
        """Show the note, and what Enter does at the focus; `effect` is the other button's: "sends it"."""
        focused, step = self.focused, ""
        if focused is self.confirm_button:
            step = f"Enter {effect}; Esc cancels."
        elif focused is self.cancel_button:
            step = f"Enter presses {self.cancel_button.label}; Tab, then Enter, {effect}."
        elif isinstance(focused, Input):
            step = f"Enter goes on to the button that {effect}."
        self.give_reason(Content.assemble(f"{note} " if note else "", (scrub(step), "$quiet")))

    def box_for_text(self, key: str) -> Input | None:
        """The box that takes text while a button has the focus; None if there is none."""
        return None

    def on_key(self, event: events.Key) -> None:
        if event.character is not None and event.is_printable and not isinstance(self.focused, Input):
            self._type(event, event.character, event.key)

    def on_paste(self, event: events.Paste) -> None:
        if not isinstance(self.focused, Input):
            self._type(event, one_line(event.text), "")

    def _type(self, event: events.Event, text: str, key: str) -> None:
        if (box := self.box_for_text(key)) is not None:
            event.stop()
            self.set_focus(box)
            box.insert_text_at_cursor(text)

    def action_cancel(self) -> None:
        self.dismiss(None)

    @abstractmethod
    def confirm(self) -> None: ...
    def pressed_too_soon(self) -> None:
        self.give_reason(TOO_SOON)

    @on(DeliberateButton.PressedTooSoon)
    def _pressed_too_soon(self) -> None:
        self.pressed_too_soon()

    @on(Button.Pressed, "#cancel")
    def _cancel_pressed(self) -> None:
        self.action_cancel()

    @on(Button.Pressed, "#confirm")
    def _confirm_pressed(self) -> None:
        self.confirm()


class LockingDialog(DeliberateDialog[Result], Generic[Result]):
    """A dialog that sends: trading can be locked and unlocked over it, and its buttons follow."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("L", "lock", "Lock or unlock", id="lock")]

    def action_lock(self) -> None:
        """Lock at once; unlocking asks first and then returns to the dialog."""
        trading_app(self).lock_or_unlock()

    def desk_changed(self) -> None:
        self.say_what_may_be_done()

    def on_screen_resume(self) -> None:
        """A screen that was in front may have unlocked trading."""
        self.call_later(self.desk_changed)

    @abstractmethod
    def say_what_may_be_done(self) -> None: ...

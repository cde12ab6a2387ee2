"""Giving what is locked free though its outcome is not known: deliberate, with a reason, written into the journal."""

from __future__ import annotations

from typing import ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from tradetui.ui.app_protocol import trading_app
from tradetui.ui.dialogs.deliberate_button import TOO_SOON, DeliberateButton
from tradetui.ui.sanitize import sanitized

CAUTION = (
    "The outcome is not known. Check positions, orders and fills on the exchange's site first.\n"
    "Releasing sends nothing and changes nothing at the exchange: it only ends the lock, and the journal records that "
    "you did."
)


class ReleaseDialog(ModalScreen[str | None]):
    """Returns the reason given, None where it was left as it is. `name` has to be typed."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Leave it locked")]
    AUTO_FOCUS = "#cancel"
    _why_box = getters.query_one("#why", Input)
    _missing_line = getters.query_one("#missing", Static)

    def __init__(self, title: str, known: str, name: str, caution: str = CAUTION) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._known = known
        self._locked_name = name
        self._caution = caution

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = sanitized("Release without an outcome")
            yield Static(sanitized(self._heading), markup=False)
            yield Static(sanitized(f"Known: {self._known}"), markup=False)
            yield Static(sanitized(self._caution), classes="reason", markup=False)
            # What is typed at a button begins the reason: selected by the focus it would be replaced.
            yield Input(
                id="why", placeholder="reason for the journal: what you saw at the exchange", select_on_focus=False
            )
            yield Input(id="typed", placeholder=f"type {self._locked_name} to release it")
            yield Static(id="missing", classes="reason", markup=False)
            with Horizontal(classes="buttons"):
                yield DeliberateButton("Leave it locked", id="cancel")
                yield DeliberateButton("Release", id="confirm", variant="error", disabled=True)

    def on_mount(self) -> None:
        self._tell_missing()

    def on_key(self, event: events.Key) -> None:
        """The reason may be typed at once."""
        why = self._why_box
        if event.character and event.character.isprintable() and not isinstance(self.focused, Input):
            event.stop()
            why.focus()
            why.insert_text_at_cursor(event.character)

    def action_cancel(self) -> None:
        self.dismiss(None)

    @property
    def _why(self) -> str:
        return self._why_box.value.strip()

    def _missing(self) -> dict[str, str]:
        """What is asked for in words, by the field that is still without it."""
        missing = {}
        if not self._why:
            missing["why"] = "a reason is needed"
        if self.query_one("#typed", Input).value.strip().upper() != self._locked_name.upper():
            missing["typed"] = f"type {self._locked_name} to release it"
        return missing

    @on(Input.Changed)
    def _tell_missing(self) -> None:
        missing = self._missing()
        self.query_one("#confirm", Button).disabled = bool(missing)
        sentence = f"Still missing: {'; '.join(missing.values())}." if missing else "Enter releases it."
        self._missing_line.update(sanitized(sentence))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Never on to a button: the next Enter would press it, and what was typed would be lost."""
        missing = self._missing()
        if not missing and trading_app(self).key_order.in_burst:
            self._missing_line.update(sanitized(TOO_SOON))
            return
        if not missing:
            self.dismiss(self._why)
            return
        others = [field for field in missing if field != event.input.id]
        self.query_one(f"#{(others or list(missing))[0]}", Input).focus()

    @on(DeliberateButton.PressedTooSoon)
    def _pressed_too_soon(self) -> None:
        self._missing_line.update(sanitized(TOO_SOON))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(self._why if event.button.id == "confirm" else None)

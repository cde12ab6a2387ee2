"""Releases the lock of an intent whose outcome is unknown: deliberate, with a reason, written into the journal."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable
from typing import Any, ClassVar, Generic

from textual import events, on
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from tradetui.ui.dialogs.deliberate_dialog import DeliberateDialog, Result
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import notify, sanitized

CAUTION = (
    "The outcome is not known. Check positions, orders and fills on the exchange's site first.\n"
    "Releasing sends nothing and changes nothing at the exchange: it only ends the lock, and the journal records that "
    "you did so."
)
DOUBT_CAUTION = (
    "The fills of its order showed that positions cannot be summed from fills. Check first that fills and positions "
    "agree again on the exchange's site.\n"
    "Releasing sends nothing: positions summed from fills are trusted again, and the journal records that you did so."
)


class WordDialog(DeliberateDialog[Result], Generic[Result]):
    """A dialog whose button is off until a word was typed; `effect` is the button's."""

    effect: ClassVar[str]
    missing_sentence: ClassVar[str] = "Still missing: {}."

    @abstractmethod
    def missing(self) -> dict[str, str]:
        """The texts still to be typed, by the id of their box."""

    def box_for_text(self, key: str) -> Input | None:
        return self.query(Input).first()

    @on(events.Mount)
    @on(events.DescendantFocus)
    @on(Input.Changed)
    def _say_missing(self) -> None:
        missing = self.missing()
        self.confirm_button.disabled = bool(missing)
        if missing:
            self.give_reason(self.missing_sentence.format("; ".join(missing.values())))
        else:
            self.say_next_step(self.effect)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Focus what is missing, else the button; never Cancel, where the next Enter would lose what was typed."""
        missing = self.missing()
        others = [box for box in missing if box != event.input.id]
        self.query_one(f"#{[*others, *missing, 'confirm'][0]}").focus()


class ReleaseDialog(WordDialog[str | None]):
    """Returns the reason, None if it was cancelled. `name` has to be typed."""

    effect = "releases it"

    def __init__(self, title: str, known: str, name: str, caution: str) -> None:
        super().__init__(classes="dialog")
        self._lines = (title, known)
        self._locked_name = name
        self._caution = caution

    def compose(self) -> ComposeResult:
        is_doubt = self._caution == DOUBT_CAUTION
        with self.framed("Trust positions summed from fills again" if is_doubt else "Release without an outcome"):
            for line in self._lines:
                yield Static(sanitized(line), markup=False)
            yield Static(sanitized(self._caution), classes="caution", markup=False)
            # What is typed at a button begins the reason: selected by the focus it would be replaced.
            yield LineBox(
                id="why", placeholder="reason for the journal: what you saw at the exchange", select_on_focus=False
            )
            yield LineBox(id="typed", placeholder=f"type {self._locked_name} to release it")
            yield from self.buttons("Release", cancel="Leave it" if is_doubt else "Leave it locked", ready=False)

    @property
    def _why(self) -> str:
        return self.query_one("#why", Input).value.strip()

    def missing(self) -> dict[str, str]:
        missing = {} if self._why else {"why": "a reason is needed"}
        if self.query_one("#typed", Input).value.strip().upper() != self._locked_name.upper():
            missing["typed"] = f"type {self._locked_name} to release it"
        return missing

    def confirm(self) -> None:
        self.dismiss(self._why)


async def release(app: App[Any], released: Awaitable[object]) -> bool:
    """Wait for a release and show its result; returns whether it is released."""
    try:
        await released
    except Exception as problem:
        # Another process may have settled or released it meanwhile.
        notify(app, f"Not released: {problem}", severity="warning", seconds=8)
        return False
    notify(app, "Released; the journal says so.")
    return True

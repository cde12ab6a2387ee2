"""The frame of the reversal dialog: the account, the preview's age, and the confirm button's title."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Button

from tradetui.desk.intents.intents import Intents
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.preview import EXPIRES_S, Preview
from tradetui.desk.settings import Environment
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.safe_text import Notice, sanitized
from tradetui.wire.text import scrub

MORE: Final = "F2 the request as sent · PgDn where every figure comes from"
_KEYS: Final = "Tab Next   Enter Press   Esc Cancel   F2 Request   PgDn Details   {lock}"
_KEYS_UNREAD: Final = "Enter Press   Esc Cancel   {lock}"
_KEYS_AT_THE_END: Final = "Enter Acknowledge   Esc Close"
_MORE_BELOW: Final = "   PgDn More"
_GAP: Final = "   "
_BESIDE_BUTTON: Final = 30  # cells of the line of buttons beside the confirm button's title
_LEAST_BUTTON: Final = 16
_BESIDE_TITLE: Final = 8  # cells of the frame's top beside account and state: corners, and blanks around both
_SLOW_S: Final = 1.0  # reading that takes longer is reported: the first figures are older by it


class Phase(Enum):
    """The dialog's phase. Only ARMED can be confirmed; SENDING can be withdrawn until the request leaves."""

    READING = auto()
    ARMED = auto()
    SENDING = auto()
    OVER = auto()

    @property
    def is_before_confirming(self) -> bool:
        return self in (Phase.READING, Phase.ARMED)


class Frame(Vertical):
    """Names the account in its top, in the colour of a warning where it is a live one, and its state."""

    def __init__(self, execution: Execution) -> None:
        is_live = execution.settings.environment is Environment.LIVE
        super().__init__(classes="-live" if is_live else "")
        self._execution = execution

    def show_phase(self, phase: Phase, preview: Preview | None, now: float, *, has_left: bool) -> None:
        """Show the phase; before a confirmation, the preview's age and remaining validity."""
        if phase is Phase.OVER:
            self._show_state("")
        elif preview is None:
            self._show_state("reading …")
        elif phase is Phase.SENDING:
            self._show_state("sent · looking for the outcome …" if has_left else "sending …")
        else:
            age_s, took_s = max(0.0, now - preview.read_at), preview.read_at - preview.requested_at
            took = f", took {took_s:.1f} s" if took_s >= _SLOW_S else ""
            self._show_state(f"read {age_s:.1f} s ago{took} · good for {max(0.0, EXPIRES_S - age_s):.0f} s")

    def _show_state(self, state: str) -> None:
        settings = self._execution.settings
        account = scrub(f"{settings.environment} · {settings.name} · {self._execution.intents.uid or 'UID not known'}")
        line = "─" * max(1, self.outer_size.width - len(account) - len(state) - _BESIDE_TITLE)
        title = Content.assemble(account, (f" {line} ", "$primary not bold"), state) if state else Content(account)
        self.border_title = title


class KeyLine(Notice):
    """The keys that do something, below the frame."""

    def show(self, intents: Intents, *, shows_request: bool) -> None:
        """Name request and details only with a preview that has them, and the key that unlocks or locks."""
        key_named = trading_app(self).key_named
        can_unlock = intents.locked and not intents.other_owner
        lock = f"{key_named('lock')} Unlock" if can_unlock else f"{key_named('lock_at_once')} Lock"
        self._show((_KEYS if shows_request else _KEYS_UNREAD).format(lock=lock))

    def show_end(self, *, has_more: bool) -> None:
        self._show(f"{_KEYS_AT_THE_END}{_MORE_BELOW if has_more else ''}")

    def _show(self, hints: str) -> None:
        pairs = (hint.partition(" ") for hint in scrub(hints).split(_GAP))
        parts = [Content.assemble((key, "bold $primary"), (f" {does}", "$foreground")) for key, _, does in pairs]
        self.say(Content(_GAP).join(parts))


def name_button(button: Button, preview: Preview, room: int) -> None:
    """Set the longest title that fits; the dialog shows the positions afterwards in any case."""
    plan = preview.plan
    titles = (plan.action, plan.title, plan.short_title) if plan is not None else ()
    labels = [sanitized(title).plain for title in (*titles, f"Reverse {preview.subject}")]
    label = next((label for label in labels if len(label) <= room - _BESIDE_BUTTON), labels[-1])
    button.label = label
    button.styles.width = max(_LEAST_BUTTON, len(label) + 4)

"""The typed parts of the reversal dialog: the size of a part, then the word, from which the focus moves on to send.

The focus never moves to a button by itself while an Enter may be under way.

Also the frame of the dialog (the account, the preview's age, and the confirm button's title) and its scrolling part:
the preview, and whether the trader has seen everything that decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, auto
from typing import Final

from textual import events, getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tradetui.desk.intents.intents import Intents
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.pretrade_checks import is_typed, required_text, typing_reason
from tradetui.desk.reversal.preview import EXPIRES_S, Change, Preview, changes
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.intents.reversal.tables.lines import decision_lines, details_lines, request_lines
from tradetui.ui.intents.reversal.tables.table_rows import Room
from tradetui.ui.key_bindings.actions import Action, bound_keys
from tradetui.ui.key_bindings.key_queue import LineBox, TypedInput
from tradetui.ui.safe_text import Notice, sanitized
from tradetui.ui.settings.ui_settings import NO_UID
from tradetui.wire.decimal_text import typed_number
from tradetui.wire.text import scrub

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
        """Why the text is not the planned size; empty if it is."""
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

    They are shown only if something may be typed, the word's row only if a word is required.
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
        return self._preview is not None and self.must_type and not is_typed(self._required, self.word)

    @property
    def _required(self) -> str:
        subject = "" if self._preview is None else self._preview.subject
        return required_text(subject, self._execution.intents.account_tag)

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
        return None if key in bound_keys(Action.LOCK, trading_app(self).settings.keys) else self.size_box

    def ask_for(self, preview: Preview | None) -> None:
        """Set up the fields of this preview: the whole position's size, the required word, and its reason."""
        self._preview = preview
        if preview is None:
            return
        if preview.plan is not None and preview.estimates is not None:
            self.size_box.placeholder = (
                f"all, {preview.plan.size_text(preview.plan.held_size)} {preview.estimates.base_coin}"
            )
        self._word_row.query_one(".label", Static).update(sanitized(f"Type {self._required}"))
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
        """Continue from a completed field: now if the next one can be reached, else as soon as it can."""
        self._entered = box
        self.go_on()

    def go_on(self) -> None:
        """Move from a completed field to the missing word, else to the confirm button.

        The focus waits in the field until the button can be pressed, and does not move once the trader has left the
        field.
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

    def forget_confirm(self) -> None:
        """Have the focus not return to the confirm button."""
        self.let_go_of_confirm()
        if self._return_to is self.confirm:
            self._return_to = None

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
    """Shows the account at its top, in the colour of a warning for a live account, and the dialog's state."""

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
            self._show_state("sent · searching for the outcome …" if has_left else "sending …")
        else:
            age_s, took_s = max(0.0, now - preview.read_at), preview.read_at - preview.requested_at
            took = f", took {took_s:.1f} s" if took_s >= _SLOW_S else ""
            self._show_state(f"read {age_s:.1f} s ago{took} · good for {max(0.0, EXPIRES_S - age_s):.0f} s")

    def _show_state(self, state: str) -> None:
        settings = self._execution.settings
        account = scrub(f"{settings.environment} · {settings.name} · {self._execution.intents.uid or NO_UID}")
        line = "─" * max(1, self.outer_size.width - len(account) - len(state) - _BESIDE_TITLE)
        title = Content.assemble(account, (f" {line} ", "$primary not bold"), state) if state else Content(account)
        self.border_title = title


class KeyLine(Notice):
    """The keys that do something, below the frame."""

    def show(self, intents: Intents, *, shows_request: bool) -> None:
        """Name request and details only with a preview that has them, and the key that unlocks or locks."""
        key_named = trading_app(self).key_named
        can_unlock = intents.locked and not intents.other_owner
        lock = f"{key_named(Action.LOCK)} Unlock" if can_unlock else f"{key_named(Action.LOCK_AT_ONCE)} Lock"
        self._show((_KEYS if shows_request else _KEYS_UNREAD).format(lock=lock))

    def show_end(self, *, has_more: bool) -> None:
        self._show(f"{_KEYS_AT_THE_END}{_MORE_BELOW if has_more else ''}")

    def _show(self, hints: str) -> None:
        pairs = (hint.partition(" ") for hint in scrub(hints).split(_GAP))
        parts = [Content.assemble((key, "bold $primary"), (f" {does}", "$foreground")) for key, _, does in pairs]
        self.say(Content(_GAP).join(parts))


def name_button(button: Button, preview: Preview, account_tag: str, room: int) -> None:
    """Set the longest title that fits, with the account if it has a tag; the dialog shows the positions in any case."""
    plan = preview.plan
    titles = (plan.action, plan.title, plan.short_title) if plan is not None else ()
    account = f" · {account_tag}" if account_tag else ""
    labels = [sanitized(f"{title}{account}").plain for title in (*titles, f"Reverse {preview.subject}")]
    label = next((label for label in labels if len(label) <= room - _BESIDE_BUTTON), labels[-1])
    button.label = label
    button.styles.width = max(_LEAST_BUTTON, len(label) + 4)


DROPPED: Final = "The dialog was not ready: what you typed was dropped, type it again."
NO_FOCUS: Final = "Enter pressed nothing because no button had the focus: look, then press it again."
CHANGED_BACK: Final = "Changed since you looked, and back: it is as it was when you looked."
LEAST_WIDTH, LEAST_HEIGHT = 60, 20
"""The smallest terminal in which it can be read, in cells."""
_NEW_LINE = Content("\n")
PREVIEW_BINDINGS: Final[Sequence[BindingType]] = (
    ("down", "scroll(1)", "Down"),
    ("up", "scroll(-1)", "Up"),
    ("pagedown", "scroll_pages(1)", "Page down"),
    ("pageup", "scroll_pages(-1)", "Page up"),
    ("f2", "fold_request", "Show or hide the request"),
)
"""The keys that move in the preview, whatever has the focus; their actions are the dialog's."""


class PreviewArea(VerticalScroll):
    """First everything that decides, then the unfolded request, then the basis of every figure."""

    _body = getters.query_one("#body", Static)
    _request = getters.query_one("#request", Static)
    _details = getters.query_one("#details", Static)

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self.read_whole = False  # whether the end of the deciding part was on the screen

    def compose(self) -> ComposeResult:
        yield Static(sanitized("reading positions, orders and prices …"), id="body", markup=False)
        for name in ("request", "details"):
            part = Static(id=name, markup=False)
            part.display = False
            yield part

    @property
    def room(self) -> Room:
        return Room(self.scrollable_content_region.width or self.size.width, self.screen.size.height)

    def show(self, content: Content) -> None:
        self._body.update(content)
        self._request.display = self._details.display = False

    def show_preview(self, preview: Preview, changed: Sequence[Change], settings: DeskSettings) -> None:
        self._body.update(_NEW_LINE.join(decision_lines(preview, changed, self.room, settings.zone)))
        self._request.update(_NEW_LINE.join(request_lines(preview, changed)))
        self._details.update(_NEW_LINE.join(details_lines(preview, settings, changed, self.room.width)))
        self._details.display = True

    def fold_request(self) -> None:
        self._request.display = not self._request.display
        if self._request.display:
            self.call_after_refresh(self.scroll_to_widget, self._request, animate=False)

    def note_end(self) -> None:
        """Note that the whole deciding part was on the screen, if its end is visible now."""
        end = self._body.virtual_region.bottom
        self.read_whole = self.read_whole or self.scroll_y + self.scrollable_content_region.height >= end

    @property
    def is_too_small(self) -> bool:
        """Whether the terminal is too small to read it: then only the reason is beside the buttons."""
        width, height = self.screen.size
        return width < LEAST_WIDTH or height < LEAST_HEIGHT

    def unseen(self, *, armed: bool, is_blocked: bool = False) -> tuple[str, ...]:
        """Return why it cannot be confirmed: not all of it was on the screen while it was armed.

        `is_blocked` is whether it could not be confirmed after that either.
        """
        if self.is_too_small:
            return (f"The window is too small to show it: {LEAST_WIDTH}x{LEAST_HEIGHT} at least.",)
        if armed and not self.read_whole:
            return (f"There is more below: Page Down shows it{'' if is_blocked else ', then confirm'}.",)
        return ()


@dataclass(slots=True)
class UnreadNotices:
    """Notices that stay on the screen until `read`, however often the preview is read again meanwhile.

    `looked_at` is the preview on the screen, armed, at the last key: changes are relative to it. `has_changed` is
    whether a change was shown since, even if it went back. `not_sent` is why a confirmation was not sent. `faster` is
    which other machine has acted on the symbol since the preview was read, and when. `dropped` is that keys came before
    the dialog was ready; it stays until the required word is typed. `pressed_nothing` is why the last Enter pressed
    nothing. `notice` is the journal's, shown once.
    """

    looked_at: Preview | None = None
    has_changed: bool = False
    not_sent: str = ""
    faster: str = ""
    dropped: bool = False
    pressed_nothing: str = ""
    notice: str = ""

    def read(self, preview: Preview | None, *, word_is_missing: bool) -> None:
        """Note a key at the armed preview; `word_is_missing` is whether a word is still to be typed."""
        self.looked_at, self.has_changed = preview, False
        self.not_sent = self.faster = self.notice = ""
        self.dropped = self.dropped and word_is_missing

    def changed(self, preview: Preview | None) -> tuple[Change, ...]:
        if preview is None or self.looked_at is None or preview is self.looked_at:
            return ()
        return changes(self.looked_at, preview)

    def lines(self, preview: Preview | None) -> Content:
        return Content.styled("\n".join(map(scrub, self._lines(preview))), "bold $warn")

    def _lines(self, preview: Preview | None) -> Iterator[str]:
        if self.faster and not self.not_sent:
            yield f"NOT SENT. {self.faster} was faster."
        if changed := self.changed(preview):
            sentence = f"Changed since you looked: {'; '.join(map(str, changed))}"
            # A reason that holds the sentence also says who was faster.
            reason = self.not_sent.removesuffix(".") if sentence in self.not_sent else sentence
            yield f"NOT SENT. {reason}" if self.not_sent else sentence
        elif self.not_sent:
            yield f"NOT SENT. {self.not_sent}"
        elif self.has_changed:
            yield CHANGED_BACK
        if self.notice:
            yield self.notice
        if self.dropped:
            yield DROPPED
        if self.pressed_nothing:
            yield self.pressed_nothing

"""The reversal dialog: what will be held afterwards, exactly what is sent, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto
from typing import ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.pretrade_checks import LOCKED, is_typed, must_type
from tradetui.desk.reversal.preview import ARMS_S, EXPIRES_S, Preview, Target
from tradetui.desk.settings import Environment
from tradetui.ui.app_protocol import trading_app
from tradetui.ui.dialogs.deliberate_button import TOO_SOON, DeliberateButton
from tradetui.ui.keys.key_order import TypedInput
from tradetui.ui.keys.registry import is_key_of
from tradetui.ui.keys.unlock_key import with_unlock_key
from tradetui.ui.reversal.attempt import Attempt
from tradetui.ui.reversal.lines import action_label, preview_lines, route_lines, sending_words
from tradetui.ui.reversal.preview_area import PreviewArea
from tradetui.ui.reversal.size_box import SizeBox
from tradetui.ui.reversal.unread import NO_FOCUS, Unread
from tradetui.ui.sanitize import notify, sanitized
from tradetui.wire.text.sanitize import scrub

_READING_S = 1.0
BACK_S = 0.5
"""After the preview is armed again the focus comes back so much later: an Enter under way must not find a button."""
BESIDE_TITLE = 26
"""Cells of the line of buttons that are not the confirm button's words."""
_ROOMY_HEIGHT = 56


class Phase(Enum):
    """How far the dialog is. Nothing can be confirmed but in ARMED; in SENDING it can be taken back until it leaves."""

    READING = auto()
    ARMED = auto()
    SENDING = auto()
    OVER = auto()


class ReversalDialog(ModalScreen[None]):
    """Opens at once and fills in. Cancel has the focus and Enter presses it; Tab then Enter confirms.

    Account, inputs, reason and buttons stand still; what lies between them scrolls where it does not fit, and
    nothing can be confirmed before all of it was on the screen. Esc leaves it in every phase.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "cancel", "Cancel"),
        ("down", "scroll_by(1)", "Down"),
        ("up", "scroll_by(-1)", "Up"),
        ("pagedown", "scroll_pages(1)", "Page down"),
        ("pageup", "scroll_pages(-1)", "Page up"),
        ("tab", "next", "Next"),
        Binding("L", "lock", "Lock or unlock", id="lock"),
    ]
    VERTICAL_BREAKPOINTS = [
        (0, "-short"),
        (_ROOMY_HEIGHT, "-roomy"),
    ]
    AUTO_FOCUS = "#cancel"
    _area = getters.query_one(PreviewArea)
    _size_box = getters.query_one(SizeBox)
    _word_box = getters.query_one("#typed", Input)
    _notice_line = getters.query_one("#notice", Static)
    _reason_line = getters.query_one("#reason", Static)
    _cancel_button = getters.query_one("#cancel", Button)
    _confirm_button = getters.query_one("#confirm", Button)

    def __init__(self, execution: Execution, target: Target, read_anew: Callable[[], None]) -> None:
        """`read_anew` is called when something was sent and has ended: what the panels show is older."""
        super().__init__(classes="dialog -reversal")
        self._read_anew = read_anew
        self._execution = execution
        self._target = target
        self._phase = Phase.READING
        self._preview: Preview | None = None
        self._unread = Unread()
        self._ready = False
        """Whether it was armed once: keys from before are dropped."""
        self._note = ""
        self._reading = ""
        """What reading is doing, or why it failed; empty once it is done."""
        self._unreadable = False
        """Whether it could not be read, and so there is nothing to choose a size of or to confirm."""
        self._focus_before: str | None = None
        self._attempt: Attempt | None = None
        """What was confirmed last."""

    def compose(self) -> ComposeResult:
        style = "live" if self._execution.settings.environment is Environment.LIVE else "calm"
        with Vertical() as box:
            box.border_title = sanitized(f"Reverse {self._subject}")
            yield Static(sanitized(self._account), id="account", classes=style, markup=False)
            yield PreviewArea()
            yield SizeBox()
            yield Input(id="typed", select_on_focus=False, disabled=True)
            yield Static("", id="notice", markup=False)
            yield Static("", id="reason", classes="reason", markup=False)
            with Horizontal(classes="buttons"):
                yield DeliberateButton("Cancel", id="cancel")
                yield DeliberateButton("Reverse", id="confirm", variant="error", disabled=True)

    def on_mount(self) -> None:
        self._show_fields()
        self.watch(self._area, "scroll_y", self._scrolled, init=False)
        self._begin_reading()

    def _begin_reading(self, fresh: Preview | None = None) -> None:
        self.run_worker(self._keep_fresh(fresh), exclusive=True, group="preview", exit_on_error=False)

    @property
    def _account(self) -> str:
        settings = self._execution.settings
        return f"{settings.environment} · {settings.name} · {self._execution.uid or 'uid not known'}"

    @property
    def _subject(self) -> str:
        """Symbol and leg, as far as they are known."""
        return self._preview.subject if self._preview is not None else self._target.subject

    @property
    def _must_type(self) -> bool:
        return self._preview is not None and must_type(self._preview, self._execution.settings)

    @property
    def _word_wanted(self) -> bool:
        """Whether a word is asked for that is not typed yet."""
        return self._must_type and not is_typed(self._subject, self._word_box.value)

    # Keys

    def before_key(self, event: TypedInput) -> bool:
        """Drop what is typed before there is something to type it for.

        A key at an armed preview means that it was read, unless it came together with the one before it, or is an
        Enter that found no focus: that one does nothing, and says so.
        """
        in_burst = trading_app(self).key_order.in_burst
        if not in_burst:
            self._unread.pressed_nothing = ""
        is_enter = isinstance(event, events.Key) and event.key == "enter"
        if is_enter and self.focused is None and self._phase in (Phase.READING, Phase.ARMED):
            self._unread.pressed_nothing = NO_FOCUS
            self.call_later(self._tell)
            self.set_timer(BACK_S, self._give_focus_back)
        elif self._phase is Phase.ARMED and not in_burst:
            self._unread.read(self._preview, word_wanted=self._word_wanted)
            self.call_later(self._tell)
        if self._ready or self._phase in (Phase.SENDING, Phase.OVER) or not self._is_text(event):
            return True
        self._unread.dropped = True
        self.call_later(self._tell)
        return False

    def _is_text(self, event: TypedInput) -> bool:
        """Whether it is text, or a key that moves among fields and buttons; while locked nothing is typed."""
        if self._execution.locked:
            return False
        return isinstance(event, events.Paste) or event.is_printable or event.key in ("tab", "shift+tab", "backspace")

    def on_key(self, event: events.Key) -> None:
        """Text while a button has the focus goes to the typed word where one is asked for, else to the size."""
        if event.character is None or not event.is_printable or not self._takes_text:
            return
        if not self._must_type and is_key_of("lock", event.key, trading_app(self).settings.keys):
            return
        event.stop()
        self._type(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Text pasted while a button has the focus."""
        if self._takes_text and (lines := event.text.split("\n")):
            event.stop()
            self._type(" ".join(lines[0].split()))

    @property
    def _takes_text(self) -> bool:
        return self._phase in (Phase.READING, Phase.ARMED) and self._ready and not self._execution.locked

    def _type(self, text: str) -> None:
        field = self.query_one("#typed" if self._must_type else "#size", Input)
        self.set_focus(field)
        field.insert_text_at_cursor(text)

    def action_lock(self) -> None:
        """Lock at once; unlocking asks first, and then the dialog is as it was."""
        trading_app(self).lock_or_unlock()

    def desk_changed(self) -> None:
        """The desk has published something: the lock may be another one."""
        if self.is_mounted:  # the first publication can come before the fields are there
            self._tell()

    def on_screen_resume(self) -> None:
        """What was in front is gone; it may have unlocked trading."""
        self.call_later(self._tell)

    def action_next(self) -> None:
        """Go on to the next field or button; from the word, once it is typed, to the confirm button."""
        confirm = self._confirm_button
        if not self._word_box.has_focus or self._word_wanted:
            self.focus_next()
        elif confirm.focusable:
            self.set_focus(confirm)
        elif self._phase is Phase.READING:
            # It is read again just now: the button gets the focus once it can be pressed.
            self._focus_before = "confirm"
            self.set_focus(None)
        else:
            self.focus_next()

    def action_scroll_by(self, lines: int) -> None:
        """Scroll what does not fit."""
        self._area.scroll_lines(lines)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by what is shown at once, less a line."""
        self._area.scroll_pages(pages)

    def _scrolled(self) -> None:
        if self._preview is not None:
            self._area.note_end()
        self._tell()

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell)

    # Filling in

    async def _keep_fresh(self, fresh: Preview | None) -> None:
        """Read, arm half a second later, and read again when the preview has expired; `fresh` was read already."""
        while self._phase in (Phase.READING, Phase.ARMED):
            self._disarm(f"{self._note} Reading …".strip())
            try:
                preview = fresh or await self._execution.preview(self._target)
            except Exception as problem:
                self._say_unread(problem)
                await asyncio.sleep(EXPIRES_S / 5)
                continue
            fresh = None
            if self._note:
                self._note += " It was read again: look at it and confirm again."
            self._show(preview)
            await asyncio.sleep(ARMS_S)
            self._arm()
            await asyncio.sleep(EXPIRES_S - ARMS_S)
            self._note = f"The preview was older than {EXPIRES_S:.0f} s."

    def _say_unread(self, problem: Exception) -> None:
        """Say the whole reason, which may be longer than the line above the buttons, where the preview would stand."""
        if self._preview is not None:
            self._disarm(f"It cannot be read: {problem}")
            return
        self._unreadable = True
        self._area.show(Content.styled(scrub(f"It cannot be read: {problem}"), "$warn"))
        self._disarm("There is nothing to confirm.")

    def _show(self, preview: Preview) -> None:
        """Put it on the screen; what differs from what was looked at is marked, and scroll and typing stay."""
        before = self._preview
        if before is not None and before.plan is not None and len(preview.resting) > len(before.resting):
            self._area.read_whole = False
        self._preview, self._reading = preview, ""
        # Another size may be possible where this one is not; where none was asked for, none is possible.
        self._unreadable = preview.plan is None and preview.target.size is None
        self._unread.looked_at = self._unread.looked_at or preview
        self._target = preview.target
        self.query_one(Vertical).border_title = sanitized(f"Reverse {self._subject}")
        self.query_one("#account", Static).update(sanitized(self._account))
        lines = [*preview_lines(preview, self._unread.changed(preview)), *route_lines(self._execution.settings)]
        self._area.show(Content("\n").join(lines))
        self._word_box.placeholder = f"type {self._subject} to confirm"
        self._name_button(preview)
        self._tell()

    def _name_button(self, preview: Preview) -> None:
        button = self._confirm_button
        button.label = label = action_label(preview, self._area.size.width - BESIDE_TITLE)
        button.styles.width = max(16, len(label) + 4)

    def _arm(self) -> None:
        self._phase, self._ready = Phase.ARMED, True
        self._area.note_end()
        self._tell()
        if self.focused is None:
            self.set_timer(BACK_S, self._give_focus_back)

    def _give_focus_back(self) -> None:
        if self.focused is not None or not self.is_attached or self._phase is not Phase.ARMED:
            return
        before = self.query_one(f"#{self._focus_before or 'cancel'}")
        self.set_focus(before if before.focusable else self._cancel_button)

    def _disarm(self, reason: str) -> None:
        self._phase = Phase.READING
        self._reading = reason
        self._tell()

    def _let_go_of_confirm(self) -> None:
        """Take the focus from the confirm button; nothing has it then, so an Enter under way presses nothing."""
        if self._confirm_button.has_focus:
            self._focus_before = "confirm"
            self.set_focus(None)

    # What is said

    def _tell(self) -> None:
        """Bring fields, notice, reason and the confirm button up to date."""
        if self._phase in (Phase.SENDING, Phase.OVER) or not self.is_attached:
            return
        self._show_fields()
        intents = self._execution.intents
        if intents.notice:
            self._unread.notice, intents.notice = intents.notice, ""
        self._update(self._notice_line, self._unread.lines(self._preview))
        reasons = self._reasons()
        armed = self._phase is Phase.ARMED
        if not armed or reasons:
            self._let_go_of_confirm()
        confirm = self._confirm_button
        confirm.disabled, confirm.display = not armed or bool(reasons), not self._unreadable
        if not self._ready and not self._reading:
            reasons = (*reasons, "arming …")
        reasons = with_unlock_key(reasons, trading_app(self).settings.keys)
        self._update(self._reason_line, sanitized("\n".join(reasons) or (self._note if armed else "arming …")))

    def _reasons(self) -> tuple[str, ...]:
        """Every reason why it cannot be confirmed now."""
        if self._preview is None or self._reading:
            return (self._reading, *([LOCKED] if self._execution.intents.locked_by_hand else []))
        if problem := self._size_box.problem(self._target.size):
            return (problem,)
        unseen = self._area.unseen(armed=self._phase is Phase.ARMED)
        return (*self._execution.blocking_reasons(self._preview, self._word_box.value), *unseen)

    def _update(self, line: Static, content: Content) -> None:
        if line.content != content:
            line.update(content)
        line.display = bool(content.plain) or line is self._reason_line

    # Fields

    def _show_fields(self) -> None:
        """While trading is locked there is no field, so that letters are keys; what was typed is kept behind it."""
        size, typed = self._size_box, self._word_box
        shown = not (self._execution.locked or self._unreadable) and self._phase in (Phase.READING, Phase.ARMED)
        focused = self.focused
        if not shown and isinstance(focused, Input):
            self._focus_before = focused.id
            self.set_focus(self._cancel_button)
        come_back = shown and not size.display and self._focus_before in ("size", "typed")
        size.display, typed.display = shown, shown and self._must_type
        size.disabled = typed.disabled = not self._ready
        if come_back and self._focus_before is not None:
            field, self._focus_before = self.query_one(f"#{self._focus_before}", Input), None
            if field.focusable:
                self.set_focus(field)

    @on(Input.Changed)
    def _typed(self) -> None:
        if self._must_type and not self._word_wanted:
            self._unread.dropped = False
        self._tell()

    @on(Input.Submitted, "#size")
    def _size_taken(self) -> None:
        """Plan again with another size; nothing typed is the whole position."""
        box = self._size_box
        if box.is_wrong:
            return
        if box.amount == self._target.size:
            self._cancel_button.focus()
            return
        self._target = replace(self._target, size=box.amount)
        self._preview = self._unread.looked_at = None
        self._area.read_whole = False
        self._note = ""
        self._area.scroll_home(animate=False)
        self._cancel_button.focus()
        self._begin_reading()

    @on(Input.Submitted, "#typed")
    def _typed_enter(self) -> None:
        self._cancel_button.focus()

    # Choosing

    @on(Button.Pressed, "#cancel")
    def action_cancel(self) -> None:
        """Leave; what is being sent is taken back where it has not left yet."""
        if self._phase is Phase.SENDING and self._attempt is not None:
            self._attempt.leave()
        elif self._phase in (Phase.READING, Phase.ARMED):
            notify(self.app, f"Reverse {self._subject}: nothing was sent.")
        self._phase = Phase.OVER
        self.dismiss(None)

    @on(DeliberateButton.PressedTooSoon)
    def _pressed_too_soon(self) -> None:
        self._unread.pressed_nothing = TOO_SOON
        self._tell()

    @on(Button.Pressed, "#confirm")
    def _confirm(self) -> None:
        # The pre-trade checks are asked by what sends it; here only what it cannot know.
        if (
            self._phase is not Phase.ARMED
            or self._preview is None
            or self._size_box.problem(self._target.size)
            or self._area.unseen(armed=True)
        ):
            return
        self.workers.cancel_group(self, "preview")
        self._let_go_of_confirm()
        self._phase = Phase.SENDING
        self._update(self._reason_line, sanitized(sending_words(self._preview)))
        self._confirm_button.disabled = True
        self._unread.looked_at = self._preview
        self._cancel_button.disabled = True
        self._word_box.disabled = self._size_box.disabled = True
        self._attempt = Attempt(self.app, self, self._execution, self._preview, self._word_box.value, self._read_anew)
        # The application's worker, not this screen's: what was begun is followed even if the dialog went away.
        self.app.run_worker(self._attempt.run(), group="sending", exit_on_error=False)

    # Afterwards

    def show_not_sent(self, why: str, preview: Preview | None) -> None:
        """Show it again instead of sending it; focus, scroll and typing are as they were."""
        self._unread.not_sent, self._note = why, ""
        self._phase = Phase.READING
        self._cancel_button.disabled = False
        self._show_fields()
        self._begin_reading(preview)

    def show_standing(self, standing: Content) -> None:
        """Show how far it is."""
        self._update(self._reason_line, standing)

    def show_end(self, end: Content) -> None:
        """Show how it ended."""
        self._phase = Phase.OVER
        self._area.show(end)
        self._area.scroll_home(animate=False)
        self._update(self._notice_line, Content(""))
        self._update(self._reason_line, Content(""))
        self._word_box.display = self._size_box.display = self._confirm_button.display = False
        self._cancel_button.label, self._cancel_button.disabled = "Acknowledge", True
        self.run_worker(self._arm_acknowledgement(), exit_on_error=False)

    async def _arm_acknowledgement(self) -> None:
        """Let the end be read: Enter pressed once too often must not close it unseen."""
        await asyncio.sleep(_READING_S)
        self._cancel_button.disabled = False
        self._cancel_button.focus()

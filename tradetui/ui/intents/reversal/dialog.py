"""The reversal dialog: the positions afterwards, the exact request, and the outcome.

A preview can be confirmed half a second after it was read, and is read again when it expires. A confirmation becomes an
`Attempt`, which continues even if the dialog is closed.

Also asks which symbol to reverse, and which of its legs if both are open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Final

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.desk.desk import Desk
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.preview import EXPIRES_S, Change, Preview, Target
from tradetui.trading.positions import Position
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.dialogs.deliberate_dialog import ARMS_S, TOO_SOON, DimmingScreen, LockingDialog, with_unlock_binding
from tradetui.ui.intents.reversal.attempt import Attempt, Ending
from tradetui.ui.intents.reversal.fields import (
    BACK_S,
    MORE,
    NO_FOCUS,
    PREVIEW_BINDINGS,
    DialogFocus,
    Fields,
    Frame,
    KeyLine,
    Phase,
    PreviewArea,
    UnreadNotices,
    name_button,
)
from tradetui.ui.intents.reversal.tables.lines import sending_sentence
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.key_bindings.key_queue import LineBox, TypedInput
from tradetui.ui.safe_text import Notice, notify_about, sanitized, withdraw_about
from tradetui.wire.text import scrub

_READING_S = 1.0
_AGE_SHOWN_S = 1.0
_NOT_YET: Final = "Ready in a moment …"


class ReversalDialog(LockingDialog[None]):
    """Opens at once and is filled in later. Cancel has the focus and Enter presses it; Tab then Enter confirms.

    Inputs, buttons and reason stay in place; arrows and pages scroll the rest, with any focus. Confirming is possible
    only after the whole deciding part was on the screen. Esc leaves the dialog in every phase.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("tab", "go(1)", "Next"),
        ("shift+tab", "go(-1)", "Previous"),
        *PREVIEW_BINDINGS,
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-airy"), (44, "-tall")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    _area = getters.query_one(PreviewArea)
    _frame = getters.query_one(Frame)
    _fields = getters.query_one(Fields)
    _notice = getters.query_one("#notice", Notice)
    _key_line = getters.query_one(KeyLine)

    def __init__(self, execution: Execution, target: Target, read_anew: Callable[[], None]) -> None:
        super().__init__(classes="dialog -reversal")
        self._read_anew = read_anew
        self._execution = execution
        self._target = target
        self._phase = Phase.READING
        self._preview: Preview | None = None
        self._unread = UnreadNotices()
        self._marked: tuple[Change, ...] = ()  # the marked changes of the preview, also after they were read
        self._was_held = False  # whether an earlier reversal of the symbol was not settled at the last look
        self._was_armed = False  # whether it could be confirmed once: earlier keys are dropped
        self._note = ""
        self._reading = ""  # the progress of reading, or why it failed; empty once it is done
        self._unreadable = False  # whether reading failed, so that there is no size to choose and nothing to confirm
        self._attempt: Attempt | None = None
        self._end: Ending | None = None

    def compose(self) -> ComposeResult:
        with Frame(self._execution):
            yield PreviewArea()
            yield Notice("notice")
            yield Fields(self._execution)
            yield from self.buttons("Reverse", ready=False)
        yield KeyLine("keys")

    def on_mount(self) -> None:
        self._focus = DialogFocus(self, self._fields, self.cancel_button, self.confirm_button)
        self._show_fields()
        self._show_age()
        self._show_keys()
        self.watch(self._area, "scroll_y", self._scrolled, init=False)
        self.set_interval(_AGE_SHOWN_S, self._show_age)
        withdraw_about(self.app, self._target.symbol, was_sent=False)
        self._begin_reading()

    @property
    def _subject(self) -> str:
        return (self._preview or self._target).subject

    def _begin_reading(self, fresh: Preview | None = None) -> None:
        self.run_worker(self._keep_fresh(fresh), exclusive=True, group="preview", exit_on_error=False)

    # Keys

    def _show_keys(self) -> None:
        self._frame.border_subtitle = MORE if self._shows_request else ""
        self._key_line.show(self._execution.intents, shows_request=self._shows_request)

    def before_key(self, event: TypedInput) -> bool:
        """Drop keys that come before there is anything to answer.

        A key at an armed preview means that it was read, unless it came together with the one before it, or is an Enter
        without a focus: that Enter does nothing, and the dialog shows that.
        """
        in_burst = trading_app(self).key_order.in_burst
        if not in_burst:
            self._unread.pressed_nothing = ""
        is_enter = isinstance(event, events.Key) and event.key == "enter"
        if is_enter and self.focused is None and self._phase.is_before_confirming:
            reasons = () if self._reading else self._reasons()
            self._unread.pressed_nothing = f"Enter pressed nothing: {reasons[0]}" if reasons else NO_FOCUS
            self.call_later(self.say_what_may_be_done)
            self.set_timer(BACK_S, self._return_focus)
        elif self._phase is Phase.ARMED and not in_burst:
            self._unread.read(self._preview, word_is_missing=self._fields.word_is_missing)
            self._note = ""
            self.call_later(self.say_what_may_be_done)
        if self._was_armed or not self._phase.is_before_confirming or not self._fields.would_take(event):
            return True
        self._unread.dropped = True
        self.call_later(self.say_what_may_be_done)
        return False

    def box_for_text(self, key: str) -> Input | None:
        may_type = self._phase.is_before_confirming and self._was_armed and not self._execution.intents.locked
        return self._fields.box_for_text(key) if may_type else None

    def action_go(self, step: int) -> None:
        """Focus the next field or button, or with -1 the one before; from the complete word, the confirm button.

        While a preview is read again, the confirm button cannot have the focus; it gets it afterwards.
        """
        if self.focused is None and self._focus.will_return:
            return
        if not self._focus.focus_confirm_if_next(step, is_reading=self._phase is Phase.READING):
            self.focus_next() if step > 0 else self.focus_previous()

    @property
    def _shows_request(self) -> bool:
        return self._preview is not None and self._phase.is_before_confirming

    def action_fold_request(self) -> None:
        if self._shows_request:
            self._area.fold_request()

    def action_scroll_pages(self, pages: int) -> None:
        self.action_scroll(pages * max(1, self._area.size.height - 1))

    def _scrolled(self) -> None:
        if self._preview is not None:
            self._area.note_end()
        self.say_what_may_be_done()
        if self.focused is None:
            self.set_timer(BACK_S, self._return_focus)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        if self._end is not None:
            self._draw_end(self._end)
        elif self._preview is not None:
            self._draw(self._preview)
            self.call_after_refresh(self._scrolled)
        self._show_age()
        self.say_what_may_be_done()

    # Filling in

    async def _keep_fresh(self, fresh: Preview | None) -> None:
        """Read, arm half a second later, and read again when the preview has expired; `fresh` was read already."""
        while self._phase.is_before_confirming:
            self._disarm(f"{self._note} Reading …".strip())
            try:
                preview = fresh or await self._execution.preview(self._target)
                await self._note_faster_machine()
            except Exception as problem:
                self._show_failed_reading(problem)
                await asyncio.sleep(EXPIRES_S / 5)
                continue
            fresh = None
            if self._note:
                self._note = f"Older than {EXPIRES_S:.0f} s, it was read again: check it."
            self._show(preview)
            await asyncio.sleep(ARMS_S)
            self._arm()
            await asyncio.sleep(EXPIRES_S - ARMS_S)
            self._note = f"The preview was older than {EXPIRES_S:.0f} s."

    def desk_changed(self) -> None:
        """Read again at once when an earlier reversal has ended: the preview on the screen is void by then."""
        may_read, was_held = self._phase.is_before_confirming, self._was_held
        self._was_held = may_read and self._execution.holder(self._target) is not None
        if may_read and was_held and not self._was_held:
            self._unread.pressed_nothing = ""
            self._disarm("Reading …")
            self._begin_reading()
        else:
            super().desk_changed()

    async def _note_faster_machine(self) -> None:
        """Say who has acted on the symbol since the preview was read that is shown; Enter then presses Cancel again."""
        shown = self._preview
        if shown is not None and (by := await self._execution.faster_machine(shown)):
            self._unread.faster = by
            self._focus.forget_confirm()

    def _show_failed_reading(self, problem: Exception) -> None:
        """Show the whole reason in place of the preview, because it may be longer than the line above the buttons."""
        if self._preview is not None:
            self._disarm(f"The preview could not be read again. {problem}")
            return
        self._unreadable = True
        self._area.show(Content.styled(scrub(f"The preview could not be read. {problem}"), "$warn"))
        self._disarm("There is nothing to confirm.")

    def _show(self, preview: Preview) -> None:
        before = self._preview
        if before is not None and before.plan is not None and len(preview.resting) > len(before.resting):
            self._area.read_whole = False
        self._preview, self._reading = preview, ""
        # If this size is impossible, another may be possible; if the whole position is impossible, no size is.
        self._unreadable = preview.plan is None and preview.target.size is None
        self._unread.looked_at = self._unread.looked_at or preview
        self._marked = self._unread.changed(preview)
        self._unread.has_changed = self._unread.has_changed or bool(self._marked)
        self._draw(preview)
        self._show_keys()
        self._target = preview.target
        self._show_age()
        self.say_what_may_be_done()

    def _draw(self, preview: Preview) -> None:
        self._area.show_preview(preview, self._marked, self._execution.settings)
        self._fields.ask_for(preview)
        name_button(self.confirm_button, preview, self._execution.intents.account_tag, self._area.size.width)

    def _show_age(self) -> None:
        desk, has_left = trading_app(self).desk, self._attempt is not None and self._attempt.sent is not None
        now = desk.clock.monotonic() if desk is not None else 0.0
        self._frame.show_phase(self._phase, self._preview, now, has_left=has_left)

    def _arm(self) -> None:
        self._phase, self._was_armed = Phase.ARMED, True
        self._area.note_end()
        self.say_what_may_be_done()
        if self.focused is None:
            self.set_timer(BACK_S, self._return_focus)

    def _return_focus(self) -> None:
        if self.focused is not None or not self.is_attached or self._phase is not Phase.ARMED:
            return
        # If the button is off only until the rest was read, an Enter meant to send must not press Cancel.
        if not (self._focus.waits_for_confirm and self._area.unseen(armed=True) == self._reasons()):
            self._focus.return_focus()

    def _disarm(self, reason: str) -> None:
        self._phase, self._reading = Phase.READING, reason
        self.say_what_may_be_done()

    # Messages

    def say_what_may_be_done(self) -> None:
        if not self._phase.is_before_confirming or not self.is_attached:
            return
        self._show_fields()
        intents = self._execution.intents
        if intents.notice:
            self._unread.notice, intents.notice = intents.notice, ""
        self._notice.say(Content("") if self._area.is_too_small else self._unread.lines(self._preview))
        reasons = self._reasons()
        armed = self._phase is Phase.ARMED
        if not armed or reasons:
            self._focus.let_go_of_confirm()
        confirm = self.confirm_button
        confirm.disabled, confirm.display = not armed or bool(reasons), not self._unreadable
        if not self._was_armed and not self._reading:
            reasons = (_NOT_YET, *reasons)
        reasons = with_unlock_binding(reasons, trading_app(self).settings.keys)
        self._focus.go_on()
        if reasons or not armed:
            self.give_reason("\n".join(reasons) or _NOT_YET)
        else:
            self.say_next_step("sends it", self._note)

    def on_descendant_focus(self) -> None:
        self.say_what_may_be_done()

    @property
    def _may_send(self) -> bool:
        return not (self._execution.sends_nothing or self._execution.intents.locked)

    def _reasons(self) -> tuple[str, ...]:
        """Why it cannot be confirmed now; empty if it can."""
        execution = self._execution
        if self._preview is None or self._reading:
            return (self._reading, *(() if execution.intents.other_owner else execution.sends_nothing))
        if not self._unreadable and (problem := self._fields.size_box.problem(self._target.size)):
            return (problem,)
        blocking = execution.blocking_reasons(self._preview, self._fields.word)
        unseen = self._area.unseen(armed=self._may_send and self._phase is Phase.ARMED, is_blocked=bool(blocking))
        return (*blocking, *unseen)

    # Fields

    def _show_fields(self) -> None:
        """Hide the fields if nothing can be sent, so that letters are keys; typed text is kept."""
        can_type = self._may_send and not self._unreadable and not self._area.is_too_small
        shown = can_type and self._phase.is_before_confirming
        if not shown:
            self._focus.move_out_of_fields()
        is_shown_again = shown and not self._fields.size_box.display
        self._fields.show(shown)
        self._fields.enable(self._was_armed)
        self._key_line.show(self._execution.intents, shows_request=self._shows_request)
        if is_shown_again:
            self._focus.return_to_field()

    @on(Input.Changed)
    def _typed(self) -> None:
        if self._fields.must_type and not self._fields.word_is_missing:
            self._unread.dropped = False
        self.say_what_may_be_done()

    @on(Input.Submitted, "#size")
    def _size_taken(self) -> None:
        """Plan again with the typed size; nothing typed is the whole position."""
        box = self._fields.size_box
        if box.is_wrong:
            return
        if box.amount != self._target.size:
            self._disarm("Reading …")
            self._target = replace(self._target, size=box.amount)
            self._preview = self._unread.looked_at = None
            self._unread.has_changed = False
            self._show_keys()
            self._fields.ask_for(None)
            self._area.read_whole = False
            self._note = ""
            self._area.scroll_home(animate=False)
            self._begin_reading()
        self._focus.go_on_from(box)

    @on(Input.Submitted, "#typed")
    def _word_taken(self) -> None:
        """Focus the confirm button once the word is complete, or the size if it was not applied."""
        fields = self._fields
        if fields.size_box.problem(self._target.size):
            self.set_focus(fields.size_box)
        else:
            self._focus.go_on_from(fields.word_box)

    # Choosing

    def action_cancel(self) -> None:
        """Leave; a request that has not left yet is withdrawn."""
        if self._phase is Phase.SENDING and self._attempt is not None:
            self._attempt.leave()
        elif self._phase.is_before_confirming:
            notify_about(self.app, self._target.symbol, f"Reverse {self._subject}: nothing was sent.", was_sent=False)
        self._phase = Phase.OVER
        self.dismiss(None)

    def pressed_too_soon(self) -> None:
        """Show, until the next key, that Enter came before the focus was on the screen."""
        self._unread.pressed_nothing = TOO_SOON
        self.say_what_may_be_done()

    def confirm(self) -> None:
        """Send it if it is unchanged after another reading."""
        # The sender runs the pre-trade checks; these are only the reasons that it cannot know.
        if (
            self._phase is not Phase.ARMED
            or self._preview is None
            or self._fields.size_box.problem(self._target.size)
            or self._area.unseen(armed=True)
        ):
            return
        self.workers.cancel_group(self, "preview")
        self._focus.let_go_of_confirm()
        self._phase = Phase.SENDING
        self._show_age()
        self.give_reason(sending_sentence(self._preview, trading_app(self).key_named(Action.JOURNAL)))
        self.confirm_button.disabled = self.cancel_button.disabled = True
        self._unread.looked_at = self._preview
        self._fields.enable(False)
        self._attempt = Attempt(self.app, self, self._execution, self._preview, self._fields.word, self._read_anew)
        # The application's worker, not this screen's: the attempt is followed even if the dialog was closed.
        self.app.run_worker(self._attempt.run(), group="sending", exit_on_error=False)

    # Afterwards

    def show_not_sent(self, why: str, preview: Preview | None) -> None:
        """Show the preview again instead of sending; focus, scroll and typing stay."""
        self._unread.not_sent, self._note = why, ""
        self._phase = Phase.READING
        self.cancel_button.disabled = False
        self._show_fields()
        self._begin_reading(preview)

    def show_standing(self, standing: Content) -> None:
        self._show_age()
        self.give_reason(standing)

    def show_end(self, end: Ending) -> None:
        self._phase, self._end = Phase.OVER, end
        self._draw_end(end)
        self._area.scroll_home(animate=False)
        self._notice.say("")
        self.give_reason("")
        self._fields.show(False)
        self.confirm_button.display = False
        self._frame.border_subtitle = ""
        self._show_age()
        self.cancel_button.label, self.cancel_button.disabled = "Acknowledge", True
        self.run_worker(self._arm_acknowledgement(), exit_on_error=False)

    def _draw_end(self, end: Ending) -> None:
        self._area.show(end(self._area.room))
        self.call_after_refresh(lambda: self._key_line.show_end(has_more=self._area.max_scroll_y > 0))

    async def _arm_acknowledgement(self) -> None:
        """Wait until the outcome can be read: a repeated Enter must not close it unseen."""
        await asyncio.sleep(_READING_S)
        self.cancel_button.disabled = False
        self.cancel_button.focus()


def _leg_to_name(target: Target, positions: tuple[Position, ...]) -> str:
    """The text to type if both legs of a symbol are open and only the symbol was given; else empty."""
    legs = {position.is_long for position in positions if position.symbol == target.symbol}
    if target.side is not None or not legs >= {True, False}:
        return ""
    return f"Both sides are held: type {target.symbol} LONG or {target.symbol} SHORT."


class SymbolDialog(DimmingScreen[Target | None]):
    """Returns the target, None if nothing was typed; where both sides are held, it stays open until one is named."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel")]

    def __init__(self, desk: Desk) -> None:
        super().__init__(classes="dialog")
        self._desk = desk

    def compose(self) -> ComposeResult:
        with self.framed("Reverse which symbol?", "Enter shows the reversal · Esc back"):
            yield LineBox(placeholder="BTCUSDT; in hedge mode with the side: BTCUSDT SHORT")
            yield Static("", classes="reason", markup=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        name = " ".join(event.value.upper().split())
        target = Target.named(name) if name else None
        if target is not None and (objection := _leg_to_name(target, self._desk.positions.snapshot.rows)):
            self.query_one(".reason", Static).update(sanitized(objection))
            return
        self.dismiss(target)

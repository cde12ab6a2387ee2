"""The reversal dialog: what will be held afterwards, exactly what is sent, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from enum import Enum, auto
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from tradetui.desk.reversal.departure import Departure
from tradetui.desk.reversal.execution import Execution, NotConfirmed, lock_key
from tradetui.desk.reversal.pretrade_checks import LOCKED, is_typed, must_type
from tradetui.desk.reversal.preview import ARMS_S, EXPIRES_S, Preview, Target
from tradetui.desk.reversal.progress import Progress, Sent, Stage
from tradetui.exchange.errors import ExchangeError, OutcomeUnknown
from tradetui.ui.app_protocol import trading_app
from tradetui.ui.dialogs.deliberate_button import TOO_SOON, DeliberateButton
from tradetui.ui.keys.key_order import TypedInput
from tradetui.ui.keys.registry import is_key_of
from tradetui.ui.keys.unlock_key import with_unlock_key
from tradetui.ui.reversal.lines import (
    left_words,
    outcome_lines,
    preview_lines,
    route_lines,
    sending_words,
    unknown_words,
)
from tradetui.ui.reversal.unread import NO_FOCUS, Unread
from tradetui.ui.sanitize import notify, sanitized
from tradetui.wire.text.sanitize import scrub

READING_S = 1.0
BACK_S = 0.5
"""After the preview is armed again the focus comes back so much later: an Enter under way must not find a button."""
BESIDE_TITLE = 26
"""Cells of the line of buttons that are not the confirm button's words."""
LEAST_WIDTH, LEAST_HEIGHT = 60, 20
ROOMY_HEIGHT = 56


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
        (ROOMY_HEIGHT, "-roomy"),
    ]
    AUTO_FOCUS = "#cancel"

    def __init__(self, execution: Execution, target: Target, read_anew: Callable[[], None]) -> None:
        """`read_anew` is called when something was sent and has ended: what the panels show is older."""
        super().__init__(classes="dialog -reversal")
        self._read_anew = read_anew
        self._execution = execution
        self._target = target
        self._phase = Phase.READING
        self._preview: Preview | None = None
        self._sent: Sent | None = None
        self._unread = Unread()
        self._ready = False
        """Whether it was armed once: keys from before are dropped."""
        self._read_whole = False
        self._note = ""
        self._reading = ""
        """What reading is doing, or why it failed; empty once it is done."""
        self._unreadable = False
        """Whether it could not be read, and so there is nothing to choose a size of or to confirm."""
        self._focus_before: str | None = None
        self._departure: Departure | None = None
        """What withdraws the attempt that was confirmed last."""
        self._taken_back = False
        """Whether Esc withdrew it in time; that was said then."""

    def compose(self) -> ComposeResult:
        style = "live" if str(self._execution.settings.environment) == "LIVE" else "calm"
        with Vertical() as box:
            box.border_title = sanitized(f"Reverse {self._subject}")
            yield Static(sanitized(self._account), id="account", classes=style, markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(sanitized("reading positions, orders and prices …"), id="body", markup=False)
            size_words = "size: the whole position; type a number and Enter for a part of it"
            # What is typed at a button begins the text: it must not be selected, and so replaced, by the focus.
            yield Input(id="size", placeholder=size_words, select_on_focus=False, disabled=True)
            yield Input(id="typed", select_on_focus=False, disabled=True)
            yield Static("", id="notice", markup=False)
            yield Static("", id="reason", classes="reason", markup=False)
            with Horizontal(classes="buttons"):
                yield DeliberateButton("Cancel", id="cancel")
                yield DeliberateButton("Reverse", id="confirm", variant="error", disabled=True)

    def on_mount(self) -> None:
        self._show_fields()
        self.watch(self._scroll, "scroll_y", self._scrolled, init=False)
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
    def _scroll(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    @property
    def _must_type(self) -> bool:
        return self._preview is not None and must_type(self._preview, self._execution.settings)

    @property
    def _word_wanted(self) -> bool:
        """Whether a word is asked for that is not typed yet."""
        return self._must_type and not is_typed(self._subject, self.query_one("#typed", Input).value)

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
        confirm = self.query_one("#confirm", Button)
        if not self.query_one("#typed", Input).has_focus or self._word_wanted:
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
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by what is shown at once, less a line."""
        self.action_scroll_by(pages * max(1, self._scroll.size.height - 1))

    def _scrolled(self) -> None:
        if self._preview is not None and self._at_end():
            self._read_whole = True
        self._tell()

    def _at_end(self) -> bool:
        return self._scroll.scroll_y >= self._scroll.max_scroll_y

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
        self.query_one("#body", Static).update(Content.styled(scrub(f"It cannot be read: {problem}"), "$warn"))
        self._disarm("There is nothing to confirm.")

    def _show(self, preview: Preview) -> None:
        """Put it on the screen; what differs from what was looked at is marked, and scroll and typing stay."""
        if self._preview is not None and self._preview.plan is not None:
            self._read_whole = self._read_whole and len(preview.resting) <= len(self._preview.resting)
        self._preview, self._reading = preview, ""
        # Another size may be possible where this one is not; where none was asked for, none is possible.
        self._unreadable = preview.plan is None and preview.target.size is None
        self._unread.looked_at = self._unread.looked_at or preview
        self._target = preview.target
        self.query_one(Vertical).border_title = sanitized(f"Reverse {self._subject}")
        self.query_one("#account", Static).update(sanitized(self._account))
        lines = [*preview_lines(preview, self._unread.changed(preview)), *route_lines(self._execution.settings)]
        self.query_one("#body", Static).update(Content("\n").join(lines))
        self.query_one("#typed", Input).placeholder = f"type {self._subject} to confirm"
        self._name_button(preview)
        self._tell()

    def _name_button(self, preview: Preview) -> None:
        """The longest title that fits; what is held afterwards stands in the dialog in any case."""
        room = self._scroll.size.width - BESIDE_TITLE
        button, plan = self.query_one("#confirm", Button), preview.plan
        titles = (plan.title, plan.short_title) if plan is not None else ()
        labels = [sanitized(title).plain for title in (*titles, f"Reverse {preview.subject}")]
        button.label = next((label for label in labels if len(label) <= room), labels[-1])
        button.styles.width = max(16, len(str(button.label)) + 4)

    def _arm(self) -> None:
        self._phase, self._ready = Phase.ARMED, True
        if self._at_end():
            self._read_whole = True
        self._tell()
        if self.focused is None:
            self.set_timer(BACK_S, self._give_focus_back)

    def _give_focus_back(self) -> None:
        if self.focused is not None or not self.is_attached or self._phase is not Phase.ARMED:
            return
        before = self.query_one(f"#{self._focus_before or 'cancel'}")
        self.set_focus(before if before.focusable else self.query_one("#cancel"))

    def _disarm(self, reason: str) -> None:
        self._phase = Phase.READING
        self._reading = reason
        self._tell()

    def _let_go_of_confirm(self) -> None:
        """Take the focus from the confirm button; nothing has it then, so an Enter under way presses nothing."""
        if self.query_one("#confirm", Button).has_focus:
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
        self._update("#notice", self._unread.lines(self._preview))
        reasons = self._reasons()
        armed = self._phase is Phase.ARMED
        if not armed or reasons:
            self._let_go_of_confirm()
        confirm = self.query_one("#confirm", Button)
        confirm.disabled, confirm.display = not armed or bool(reasons), not self._unreadable
        if not self._ready and not self._reading:
            reasons = (*reasons, "arming …")
        reasons = with_unlock_key(reasons, trading_app(self).settings.keys)
        self._update("#reason", sanitized("\n".join(reasons) or (self._note if armed else "arming …")))

    def _reasons(self) -> tuple[str, ...]:
        """Every reason why it cannot be confirmed now."""
        if self._preview is None or self._reading:
            return (self._reading, *([LOCKED] if self._execution.intents.locked_by_hand else []))
        if problem := self._size_problem():
            return (problem,)
        return (*self._execution.blocking_reasons(self._preview, self._typed_word), *self._not_seen())

    @property
    def _typed_word(self) -> str:
        return self.query_one("#typed", Input).value

    def _update(self, name: str, content: Content) -> None:
        line = self.query_one(name, Static)
        if line.content != content:
            line.update(content)
        line.display = bool(content.plain) or name == "#reason"

    def _not_seen(self) -> tuple[str, ...]:
        """Why it has not all been on the screen yet."""
        width, height = self.size
        if width < LEAST_WIDTH or height < LEAST_HEIGHT:
            return (f"The window is too small to show it: {LEAST_WIDTH}x{LEAST_HEIGHT} at least.",)
        if self._phase is Phase.ARMED and not self._read_whole:
            return ("There is more below: Page Down shows it, then confirm.",)
        return ()

    # Fields

    def _show_fields(self) -> None:
        """While trading is locked there is no field, so that letters are keys; what was typed is kept behind it."""
        size, typed = self.query_one("#size", Input), self.query_one("#typed", Input)
        shown = not (self._execution.locked or self._unreadable) and self._phase in (Phase.READING, Phase.ARMED)
        focused = self.focused
        if not shown and isinstance(focused, Input):
            self._focus_before = focused.id
            self.set_focus(self.query_one("#cancel"))
        come_back = shown and not size.display and self._focus_before in ("size", "typed")
        size.display, typed.display = shown, shown and self._must_type
        size.disabled = typed.disabled = not self._ready
        if come_back and self._focus_before is not None:
            field, self._focus_before = self.query_one(f"#{self._focus_before}", Input), None
            if field.focusable:
                self.set_focus(field)

    def _size_problem(self) -> str:
        """Why the size that was typed is not the one that was planned with; empty where it is."""
        text = self.query_one("#size", Input).value.strip()
        size = _size(text)
        if text and size is None:
            return f"{text} is no size: give a number above zero, or nothing for the whole position."
        return "" if size == self._target.size else "Enter takes the size."

    @on(Input.Changed)
    def _typed(self) -> None:
        if self._must_type and not self._word_wanted:
            self._unread.dropped = False
        self._tell()

    @on(Input.Submitted, "#size")
    def _size_taken(self, event: Input.Submitted) -> None:
        """Plan again with another size; nothing typed is the whole position."""
        text = event.value.strip()
        size = _size(text)
        if text and size is None:
            return
        if size == self._target.size:
            self.query_one("#cancel").focus()
            return
        self._target = replace(self._target, size=size)
        self._preview = self._unread.looked_at = None
        self._read_whole = False
        self._note = ""
        self._scroll.scroll_home(animate=False)
        self.query_one("#cancel").focus()
        self._begin_reading()

    @on(Input.Submitted, "#typed")
    def _typed_enter(self) -> None:
        self.query_one("#cancel").focus()

    # Choosing

    def action_cancel(self) -> None:
        """Leave. What has not left for the exchange is taken back; what has left goes on behind. Either is said."""
        if self._phase is Phase.SENDING and self._preview is not None and self._departure is not None:
            title = self._preview.plan.title if self._preview.plan is not None else f"Reverse {self._subject}"
            self._taken_back = self._departure.withdraw("it was taken back")
            if self._taken_back:
                notify(self.app, f"{title}: NOT SENT. Taken back.", severity="warning", seconds=10)
            else:
                notify(
                    self.app,
                    f"{title}: this is not taken back. It goes on behind, {self._target.symbol} stays "
                    "locked until it is known what became of it, and that is told here; J shows it.",
                    severity="warning",
                    seconds=30,
                )
        elif self._phase in (Phase.READING, Phase.ARMED):
            notify(self.app, f"Reverse {self._subject}: nothing was sent.")
        self._phase = Phase.OVER
        self.dismiss(None)

    @on(DeliberateButton.PressedTooSoon)
    def _pressed_too_soon(self) -> None:
        self._unread.pressed_nothing = TOO_SOON
        self._tell()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "confirm":
            self._confirm()
        else:
            self.action_cancel()

    def _confirm(self) -> None:
        # The pre-trade checks are asked by what sends it; here only what it cannot know.
        if self._phase is not Phase.ARMED or self._preview is None or self._size_problem() or self._not_seen():
            return
        self.workers.cancel_group(self, "preview")
        self._let_go_of_confirm()
        self._phase = Phase.SENDING
        self._update("#reason", sanitized(sending_words(self._preview)))
        self.query_one("#confirm", Button).disabled = True
        self._unread.looked_at = self._preview
        self.query_one("#cancel", Button).disabled = True
        for name in ("#typed", "#size"):
            self.query_one(name, Input).disabled = True
        # The application's worker, not this screen's: what was begun is followed even if the dialog went away.
        typed = self.query_one("#typed", Input).value
        self._departure = Departure()
        attempt = self._send(self._preview, typed, self._departure)
        self.app.run_worker(attempt, group="sending", exit_on_error=False)

    async def _send(self, shown: Preview, typed: str, departure: Departure) -> None:
        """Send it and follow it; whatever goes wrong is said, and the dialog can be left."""
        try:
            self._sent = sent = await self._execution.confirm(shown, typed, departure)
            await self._follow(shown, sent)
        except NotConfirmed as refused:
            if not self._taken_back:
                self._not_confirmed(shown, refused)
        except Exception as problem:
            if self._taken_back:
                return
            refused_or_not_sent = isinstance(problem, ExchangeError) and not isinstance(problem, OutcomeUnknown)
            if refused_or_not_sent and not self._is_open(shown):
                self._ended(shown, Content.styled(scrub(f"Not done. {problem}"), "bold $warn"))
            else:
                self._ended(shown, unknown_words(shown, f"{type(problem).__name__}: {problem}"))

    def _is_open(self, shown: Preview) -> bool:
        """Whether the journal has an intent on this symbol that has not ended."""
        product_type = shown.target.product_type
        return product_type is not None and (
            self._execution.intents.open_on(lock_key(product_type, shown.target.symbol)) is not None
        )

    def _not_confirmed(self, shown: Preview, refused: NotConfirmed) -> None:
        """Show it again instead of sending it; focus, scroll and typing are as they were."""
        why = " ".join(refused.reasons)
        if not self.is_attached:
            notify(self.app, f"Reverse {shown.subject}: NOT SENT. {why}", severity="error", seconds=30)
            return
        self._unread.not_sent, self._note = why, ""
        self._phase = Phase.READING
        self.query_one("#cancel", Button).disabled = False
        self._show_fields()
        self._begin_reading(refused.preview if refused.preview is not shown else None)

    # Afterwards

    async def _follow(self, shown: Preview, sent: Sent) -> None:
        progress = sent.progress
        async for progress in self._execution.follow(sent):
            self._show_progress(shown, progress)
            if progress.stage is Stage.CORRECTED:
                self.app.bell()
        if progress.stage is not Stage.ENDED:
            self._ended(shown, unknown_words(shown, progress.sentence))

    def _show_progress(self, shown: Preview, progress: Progress) -> None:
        assert shown.plan is not None
        if progress.stage is Stage.ENDED and progress.outcome is not None:
            self._ended(shown, Content("\n").join(outcome_lines(shown.plan, progress)), progress)
        elif progress.stage is Stage.ENDED:
            self._ended(shown, Content.styled(scrub(f"{progress.state}: {progress.sentence}"), "bold $warn"), progress)
        elif self.is_attached:
            corrected = progress.stage is Stage.CORRECTED
            standing = Content.assemble(
                (f"{progress.state}  ", "bold $error" if corrected else "bold $accent"),
                scrub(progress.sentence),
                (f"\n{left_words(shown)}", "$quiet"),
            )
            self._update("#reason", standing)

    def _ended(self, shown: Preview, body: Content, progress: Progress | None = None) -> None:
        """Show how it ended, or tell somebody who did not wait for it here."""
        good = progress is not None and str(progress.outcome) == "reversed"
        self._read_anew()
        if not good:
            self.app.bell()
        if not self.is_attached:
            title = self._sent.title if self._sent is not None else f"Reverse {shown.subject}"
            sentence = (
                f"{title}: {progress.sentence}" if progress is not None else f"{title}: {' '.join(body.plain.split())}"
            )
            notify(self.app, sentence, severity="information" if good else "error", seconds=10 if good else 600)
            return
        self._phase = Phase.OVER
        self.query_one("#body", Static).update(body)
        self._scroll.scroll_home(animate=False)
        self._update("#notice", Content(""))
        self._update("#reason", Content(""))
        for name in ("#typed", "#size"):
            self.query_one(name, Input).display = False
        self.query_one("#confirm", Button).display = False
        button = self.query_one("#cancel", Button)
        button.label, button.disabled = "Acknowledge", True
        self.run_worker(self._arm_acknowledgement(), exit_on_error=False)

    async def _arm_acknowledgement(self) -> None:
        """Let the end be read: Enter pressed once too often must not close it unseen."""
        await asyncio.sleep(READING_S)
        button = self.query_one("#cancel", Button)
        button.disabled = False
        button.focus()


def _size(text: str) -> Decimal | None:
    """A size above zero; None where the text is none."""
    try:
        size = Decimal(text)
    except InvalidOperation:
        return None
    return size if size.is_finite() and size > 0 else None

"""The reversal dialog: what will be held afterwards, exactly what is sent, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from tradetui.ui.dialogs.reversal_lines import outcome_lines, preview_lines
from tradetui.ui.safe import plain, tell
from tradetui.wire.scrub import scrub

if TYPE_CHECKING:
    from tradetui.desk.execution import Execution
    from tradetui.desk.following import Progress
    from tradetui.desk.preview import Preview, Target
    from tradetui.ui.app import TradeApp

READING_S = 1.0
BESIDE_TITLE = 26
"""Cells of the line of buttons that are not the confirm button's words."""
LEAST_WIDTH, LEAST_HEIGHT = 60, 20
ROOMY_HEIGHT = 56


class SymbolDialog(ModalScreen[str | None]):
    """Asks which symbol is meant."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel")]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Reverse which symbol?"
            yield Input(placeholder="BTCUSDT")

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip().upper() or None)


LEAVE = "Esc leaves it: it goes on being looked for, the symbol stays locked, and J shows it."


class ReversalDialog(ModalScreen[None]):
    """Opens at once and fills in. Cancel has the focus and Enter presses it; Tab then Enter confirms.

    Account, inputs, reason and buttons stand still; what lies between them scrolls where it does not fit, and
    nothing can be confirmed before all of it was on the screen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "cancel", "Cancel"),
        ("down", "scroll_by(1)", "Down"),
        ("up", "scroll_by(-1)", "Up"),
        ("pagedown", "scroll_pages(1)", "Page down"),
        ("pageup", "scroll_pages(-1)", "Page up"),
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
        self._preview: Preview | None = None
        self._armed = False
        self._sending = False
        self._doubtful = False
        self._over = False
        self._read_whole = False
        self._note = ""

    def compose(self) -> ComposeResult:
        style = "live" if str(self._execution.settings.environment) == "LIVE" else "calm"
        with Vertical() as box:
            box.border_title = plain(f"Reverse {self._target.symbol}")
            yield Static(plain(self._account), id="account", classes=style, markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(plain("reading positions, orders and prices …"), id="body", markup=False)
            size_words = "size: the whole position; type a number and Enter for a part of it"
            # What is typed at a button begins the text: it must not be selected, and so replaced, by the focus.
            yield Input(id="size", placeholder=size_words, select_on_focus=False)
            yield Input(id="typed", placeholder=f"type {self._target.symbol} to confirm", select_on_focus=False)
            yield Static("", id="reason", classes="reason", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="cancel")
                yield Button("Reverse", id="confirm", variant="error", disabled=True)

    def on_mount(self) -> None:
        self.query_one("#typed", Input).display = False
        self.watch(self._scroll, "scroll_y", self._scrolled, init=False)
        self.run_worker(self._keep_fresh(), exclusive=True, group="preview", exit_on_error=False)

    @property
    def _account(self) -> str:
        settings = self._execution.settings
        return f"{settings.environment} · {settings.name} · {self._execution.uid or 'uid not known'}"

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    def action_scroll_by(self, lines: int) -> None:
        """Scroll what does not fit."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by what is shown at once, less a line."""
        self.action_scroll_by(pages * max(1, self._scroll.size.height - 1))

    def _scrolled(self) -> None:
        if self._preview is not None and self._at_end():
            self._read_whole = True
        self._tell_reasons()

    def _at_end(self) -> bool:
        return self._scroll.scroll_y >= self._scroll.max_scroll_y

    def on_key(self, event: events.Key) -> None:
        """What is typed while a button has the focus goes where it belongs: a size, or the symbol."""
        character = event.character
        size, typed = self.query_one("#size", Input), self.query_one("#typed", Input)
        if character == "L" and not typed.display:
            event.stop()
            cast("TradeApp", self.app).action_lock_at_once()
            return
        if character is None or not character.isprintable() or character == " " or self._sending or self._over:
            return
        event.stop()
        if isinstance(self.focused, Input):
            # It was on its way to a button while others after it went into the field: their order is lost.
            with self.prevent(Input.Changed):
                size.value = typed.value = ""
            self._disarm("That was typed faster than it could be followed: type it again.")
            return
        # Whatever is typed is kept, so that what is no size is refused rather than read as another one.
        box = typed if typed.display and character not in "0123456789." else size
        self.set_focus(box)
        box.insert_text_at_cursor(character)

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell_reasons)

    # Filling in

    async def _keep_fresh(self, note: str = "") -> None:
        """Read, arm half a second later, and read again when the preview has expired."""
        from tradetui.desk.preview import ARMS_S, EXPIRES_S

        while not self._sending and not self._over:
            self._disarm(f"{note} Reading …".strip())
            try:
                preview = await self._execution.preview(self._target)
            except Exception as problem:
                self._disarm(f"It cannot be read: {problem}")
                await asyncio.sleep(EXPIRES_S / 5)
                continue
            self._note = note and f"{note} It was read again: look at it and confirm again."
            self._show(preview)
            await asyncio.sleep(ARMS_S)
            self._arm()
            await asyncio.sleep(EXPIRES_S - ARMS_S)
            note = f"The preview was older than {EXPIRES_S:.0f} s."

    def _show(self, preview: Preview) -> None:
        from tradetui.desk.guards import must_type
        from tradetui.desk.preview import changes

        if self._preview is None or changes(self._preview, preview):
            self._read_whole = False
            self._scroll.scroll_home(animate=False)
        self._preview = preview
        self._target = preview.target
        self.query_one("#account", Static).update(plain(self._account))
        self.query_one("#body", Static).update(Content("\n").join(preview_lines(preview)))
        self.query_one("#typed", Input).display = must_type(preview, self._execution.settings)
        if preview.plan is not None:
            self._name_button(preview.plan.title)
        self._tell_reasons()

    def _name_button(self, title: str) -> None:
        """The whole title where it fits; what is held afterwards stands in the dialog in any case."""
        room = self._scroll.size.width - BESIDE_TITLE
        button, words = self.query_one("#confirm", Button), plain(title if len(title) <= room else "Reverse").plain
        button.label = words
        button.styles.width = max(16, len(words) + 4)

    def _arm(self) -> None:
        self._armed = True
        if self._at_end():
            self._read_whole = True
        self._tell_reasons()
        if self.focused is None:
            # An Enter meant for what was shown before must not find a button at once.
            self.set_timer(READING_S, self._give_focus_back)

    def _give_focus_back(self) -> None:
        if self.focused is None and self.is_attached:
            self.query_one("#cancel").focus()

    def _disarm(self, reason: str) -> None:
        self._armed = False
        self._let_go_of_confirm()
        self.query_one("#confirm", Button).disabled = True
        self.query_one("#reason", Static).update(plain(reason))

    def _let_go_of_confirm(self) -> None:
        """Take the focus from the confirm button; nothing has it then, so an Enter under way presses nothing."""
        if self.query_one("#confirm", Button).has_focus:
            self.set_focus(None)

    def _tell_reasons(self) -> None:
        if self._sending or self._over or self._preview is None or not self.is_attached:
            return
        typed = self.query_one("#typed", Input).value
        reasons = (*self._execution.why_not(self._preview, typed), *self._not_seen())
        enabled = self._armed and not reasons
        if not enabled:
            self._let_go_of_confirm()
        self.query_one("#confirm", Button).disabled = not enabled
        words = "\n".join(reasons) if reasons else self._note if self._armed else "arming …"
        self.query_one("#reason", Static).update(plain(words))

    def _not_seen(self) -> tuple[str, ...]:
        """Why it has not all been on the screen yet."""
        width, height = self.size
        if width < LEAST_WIDTH or height < LEAST_HEIGHT:
            return (f"The window is too small to show it: {LEAST_WIDTH}x{LEAST_HEIGHT} at least.",)
        if self._armed and not self._read_whole:
            return ("There is more below: Page Down shows it, then confirm.",)
        return ()

    @on(Input.Changed, "#size")
    def _size_changing(self) -> None:
        if not self._sending and not self._over:
            self._disarm("Enter takes the size.")

    @on(Input.Submitted, "#size")
    def _size_taken(self, event: Input.Submitted) -> None:
        """Plan again with another size; nothing typed is the whole position."""
        text = event.value.strip()
        size: Decimal | None = None
        if text:
            try:
                size = Decimal(text)
            except InvalidOperation:
                size = Decimal(0)
            if not size.is_finite() or size <= 0:
                self._disarm(f"{text} is no size: give a number above zero, or nothing for the whole position.")
                return
        self._target = replace(self._target, size=size)
        self._preview = None
        self.query_one("#cancel").focus()
        self.run_worker(self._keep_fresh(), exclusive=True, group="preview", exit_on_error=False)

    @on(Input.Changed, "#typed")
    def _typed(self) -> None:
        self._tell_reasons()

    @on(Input.Submitted, "#typed")
    def _typed_enter(self) -> None:
        self.query_one("#cancel").focus()

    # Choosing

    def action_cancel(self) -> None:
        """Close; while it is being sent there is nothing to cancel any more, only an unknown outcome may be left."""
        if self._sending and not self._doubtful:
            self.query_one("#reason", Static).update(plain("It is being sent; what becomes of it is shown here."))
            return
        self._over = True
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "confirm":
            self._confirm()
        else:
            self.action_cancel()

    def _confirm(self) -> None:
        if self._sending or not self._armed or self._preview is None:
            return
        self._sending = True
        self.workers.cancel_group(self, "preview")
        self._disarm("It is read again and sent …")
        self.query_one("#cancel", Button).disabled = True
        # The application's worker, not this screen's: what was begun is followed even if the dialog went away.
        self.app.run_worker(self._send(self._preview), group="sending", exit_on_error=False)

    async def _send(self, shown: Preview) -> None:
        from tradetui.desk.execution import NotConfirmed

        try:
            sent = await self._execution.confirm(shown, self.query_one("#typed", Input).value)
        except NotConfirmed as refused:
            self._not_sent(" ".join(refused.reasons), refused.preview)
            return
        except Exception as problem:
            self._ended(Content.styled(scrub(f"Not done. {problem}"), "bold $warn"))
            return
        async for progress in self._execution.follow(sent):
            self._follow(shown, progress)

    def _not_sent(self, why: str, preview: Preview | None) -> None:
        """Show it again instead of sending it."""
        self._sending = False
        self.query_one("#cancel", Button).disabled = False
        self.query_one("#cancel").focus()
        if preview is not None:
            self._show(preview)
        self._disarm(why if why.startswith("Nothing was sent") else f"Nothing was sent. {why}")
        self.run_worker(self._keep_fresh_later(), exclusive=True, group="preview", exit_on_error=False)

    async def _keep_fresh_later(self) -> None:
        from tradetui.desk.preview import EXPIRES_S

        await asyncio.sleep(EXPIRES_S / 4)
        await self._keep_fresh("Nothing was sent before.")

    # Afterwards

    def _follow(self, shown: Preview, progress: Progress) -> None:
        assert shown.plan is not None
        if not self.is_attached:
            self._tell_left(shown.plan.title, progress)
            return
        if progress.outcome is None:
            state = str(progress.state)
            words = Content.assemble((f"{state}  ", "bold $accent"), scrub(progress.words))
            if state == "unknown" and "not settled" in progress.words:
                self._ended(Content.styled(scrub(progress.words), "bold $error"))
                return
            if state == "unknown":
                self._doubtful = True
                words = Content.assemble(words, ("\n" + LEAVE, "$quiet"))
            self.query_one("#reason", Static).update(words)
            return
        if str(progress.outcome) != "reversed":
            self.app.bell()
        self._ended(Content("\n").join(outcome_lines(shown.plan, progress)))

    def _tell_left(self, title: str, progress: Progress) -> None:
        """How it ended, to somebody who did not wait for it here."""
        if progress.outcome is None:
            return
        self._read_anew()
        good = str(progress.outcome) == "reversed"
        if not good:
            self.app.bell()
        words = f"{title}: {progress.words}"
        tell(self.app, words, severity="information" if good else "error", seconds=10 if good else 600)

    def _ended(self, body: Content) -> None:
        self._sending, self._over = False, True
        self._read_anew()
        if not self.is_attached:
            return
        self.query_one("#body", Static).update(body)
        self.query_one("#reason", Static).update("")
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

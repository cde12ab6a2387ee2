"""The reversal dialog: what will be held afterwards, exactly what is sent, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from tradetui.desk.columns import UNKNOWN, number
from tradetui.ui.safe import plain
from tradetui.wire.scrub import scrub

if TYPE_CHECKING:
    from tradetui.desk.execution import Execution, Progress
    from tradetui.desk.preview import Preview, Target

LABEL = 18
READING_S = 1.0


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


class ReversalDialog(ModalScreen[None]):
    """Opens at once and fills in. Cancel has the focus and Enter presses it; Tab then Enter confirms."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]
    AUTO_FOCUS = "#cancel"

    def __init__(self, execution: Execution, target: Target) -> None:
        super().__init__(classes="dialog")
        self._execution = execution
        self._target = target
        self._preview: Preview | None = None
        self._armed = False
        self._sending = False
        self._over = False

    def compose(self) -> ComposeResult:
        settings = self._execution.settings
        style = "live" if str(settings.environment) == "LIVE" else "calm"
        account = f"{settings.environment} · {settings.name} · {settings.uid or 'uid not known'}"
        with Vertical() as box:
            box.border_title = plain(f"Reverse {self._target.symbol}")
            yield Static(plain(account), classes=style, markup=False)
            with VerticalScroll():
                yield Static(plain("reading positions, orders and prices …"), id="body", markup=False)
            yield Input(id="size", placeholder="size: the whole position; type a number and Enter for a part of it")
            yield Input(id="typed", placeholder=f"type {self._target.symbol} to confirm")
            yield Static("", id="reason", classes="reason", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="cancel")
                yield Button("Reverse", id="confirm", variant="error", disabled=True)

    def on_mount(self) -> None:
        self.query_one("#typed", Input).display = False
        self.run_worker(self._keep_fresh(), exclusive=True, group="preview", exit_on_error=False)

    # Filling in

    async def _keep_fresh(self) -> None:
        """Read, arm half a second later, and read again when the preview has expired."""
        from tradetui.desk.preview import ARMS_S, EXPIRES_S

        while not self._sending and not self._over:
            self._disarm("reading …")
            try:
                preview = await self._execution.preview(self._target)
            except Exception as problem:
                self._disarm(f"It cannot be read: {problem}")
                await asyncio.sleep(EXPIRES_S / 5)
                continue
            self._show(preview)
            await asyncio.sleep(ARMS_S)
            self._arm()
            await asyncio.sleep(EXPIRES_S - ARMS_S)

    def _show(self, preview: Preview) -> None:
        from tradetui.desk.guards import must_type

        self._preview = preview
        self._target = preview.target
        self.query_one("#body", Static).update(Content("\n").join(self._lines(preview)))
        self.query_one("#typed", Input).display = must_type(preview, self._execution.settings)
        if preview.plan is not None:
            self.query_one("#confirm", Button).label = plain(preview.plan.title).plain
        self._tell_reasons()

    def _arm(self) -> None:
        self._armed = True
        self._tell_reasons()

    def _disarm(self, reason: str) -> None:
        self._armed = False
        button = self.query_one("#confirm", Button)
        if button.has_focus:
            self.query_one("#cancel").focus()
        button.disabled = True
        self.query_one("#reason", Static).update(plain(reason))

    def _tell_reasons(self) -> None:
        if self._sending or self._over or self._preview is None:
            return
        reasons = self._execution.why_not(self._preview, self.query_one("#typed", Input).value)
        button = self.query_one("#confirm", Button)
        enabled = self._armed and not reasons
        if not enabled and button.has_focus:
            self.query_one("#cancel").focus()
        button.disabled = not enabled
        words = "\n".join(reasons) if reasons else "" if self._armed else "arming …"
        self.query_one("#reason", Static).update(plain(words))

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
        """Close; while it is being sent there is nothing to cancel any more."""
        if self._sending:
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
        self._disarm("reading again, then sending …")
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
        self._disarm(f"Nothing was sent. {why}")
        self.run_worker(self._keep_fresh_later(), exclusive=True, group="preview", exit_on_error=False)

    async def _keep_fresh_later(self) -> None:
        from tradetui.desk.preview import EXPIRES_S

        await asyncio.sleep(EXPIRES_S / 4)
        await self._keep_fresh()

    # Afterwards

    def _follow(self, shown: Preview, progress: Progress) -> None:
        if progress.outcome is None:
            state = str(progress.state)
            words = Content.assemble((f"{state}  ", "bold $accent"), scrub(progress.words))
            if state == "unknown" and "not settled" in progress.words:
                self._ended(Content.styled(scrub(progress.words), "bold $error"))
            else:
                self.query_one("#reason", Static).update(words)
            return
        assert shown.plan is not None
        lines = [Content.styled(scrub(f"Settled: {progress.words}"), f"bold ${self._tone(progress)}"), Content("")]
        lines.append(self._line("before", str(shown.plan.before)))
        lines += (self._line("previewed", str(result.after)) for result in shown.plan.results)
        lines.append(self._line("held now", str(progress.held)))
        if progress.came_true and shown.plan.uncertain:
            lines.append(self._line("came true", progress.came_true))
        lines += self._orders(shown)
        if str(progress.outcome) != "reversed":
            self.app.bell()
            lines += [Content(""), Content.styled("This is not what was previewed. Look at it now.", "bold $error")]
        self._ended(Content("\n").join(lines))

    def _tone(self, progress: Progress) -> str:
        return "success" if str(progress.outcome) == "reversed" else "error"

    def _ended(self, body: Content) -> None:
        self._sending, self._over = False, True
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

    # Drawing

    def _lines(self, preview: Preview) -> Iterable[Content]:
        plan, position = preview.plan, preview.position
        mode = f"{preview.mode or UNKNOWN} ({preview.mode_from})"
        margin = UNKNOWN if position is None else f"{position.margin_mode or UNKNOWN}, {position.leverage or UNKNOWN}x"
        yield self._line("mode", mode)
        yield self._line("margin, leverage", margin)
        if position is not None:
            yield self._line("entry, mark", f"{number(position.entry)}, {number(position.mark)}  ({position.source})")
            if position.locked:
                yield self._line("locked", f"{number(position.locked)} held by close orders")
        if plan is None:
            return
        yield Content("")
        yield self._line("held now", str(plan.before), "bold")
        for result in plan.results:
            yield self._line("held afterwards", str(result.after), "bold $accent")
        if plan.uncertain:
            yield self._line("", "one of the two; the outcome will say which", "$warn")
        yield Content("")
        for name, value in plan.request_fields().items():
            yield self._line(f"sent {name}", str(value))
        yield self._line("size", "WHOLE POSITION" if plan.wish.size is None else str(plan.wish.size))
        yield Content("")
        for figure in preview.figures:
            value = UNKNOWN if figure.value is None else number(figure.value, places=6)
            yield self._line(figure.name, f"{value} {figure.coin}  ({figure.basis})")
        if preview.margin_short:
            yield self._line("margin", "SHORT: the exchange may open less, or leave it closed", "bold $error")
        yield from self._orders(preview)
        yield Content("")
        for words in plan.assumptions:
            yield self._line("assumed", words, "$quiet")

    def _orders(self, preview: Preview) -> Iterable[Content]:
        if preview.resting:
            yield Content("")
        for order in preview.resting:
            note = "  WOULD ADD TO THE WRONG SIDE" if order.wrong_way else "  stays"
            yield self._line("order", order.words + note, "$warn" if order.wrong_way else "")
        if not preview.stops_known:
            yield self._line("live stops", "cannot be read on this exchange; look at them yourself", "$warn")

    def _line(self, label: str, words: str, style: str = "") -> Content:
        return Content.assemble((f"{label:<{LABEL}}", "$quiet"), (scrub(words), style))

"""One confirmed reversal: sent, followed to its outcome, and shown, whether its dialog is still open or not.

An unknown outcome is never shown as an outcome: the search continues, and the symbol stays locked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from textual.app import App
from textual.content import Content
from textual.notifications import SeverityLevel

from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.outcome import Outcome, SearchStage
from tradetui.desk.reversal.preview import Preview
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.reversal.sending import Departure
from tradetui.exchange.errors import ExchangeError, OutcomeUnknown
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.intents.reversal.tables.lines import (
    compared_orders,
    outcome_lines,
    tracking_sentence,
    unknown_outcome_lines,
)
from tradetui.ui.intents.reversal.tables.table_rows import Room
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.safe_text import notify_about, withdraw, withdraw_about
from tradetui.wire.text import counted, scrub

Ending = Callable[[Room], Content]
_LOOK_EVERY_S: Final = 1.0
_NO_SCREEN: Final = Room(80, 24)  # the room of an ending that is not drawn but becomes a message


class AttemptView(Protocol):
    """The dialog that may show the attempt."""

    @property
    def is_attached(self) -> bool: ...
    def show_standing(self, standing: Content) -> None: ...
    def show_not_sent(self, why: str, preview: Preview | None) -> None:
        """Show that nothing was sent, and the newly read preview if it differs from the one shown."""

    def show_end(self, end: Ending) -> None: ...


@dataclass(eq=False)
class Attempt:
    """A confirmed reversal. It continues when its dialog is closed; a notice in the corner then names the outcome.

    `read_anew` is called after the end of a sent reversal, because the panels' rows are then older.
    """

    app: App[Any]
    view: AttemptView
    execution: Execution
    shown: Preview
    typed: str
    read_anew: Callable[[], None]
    sent: Sent | None = field(default=None, init=False)
    _departure: Departure = field(default_factory=Departure, init=False)
    _was_withdrawn: bool = field(default=False, init=False)

    def leave(self) -> None:
        """Withdraw the request if it has not left for the exchange, else let it continue; a message shows which."""
        plan = self.shown.plan
        title = plan.title if plan is not None else f"Reverse {self.shown.subject}"
        self._was_withdrawn = self._departure.withdraw("it was withdrawn")
        if self._was_withdrawn:
            self._notify(f"{title}: NOT SENT. You withdrew it.", "warning", 10, was_sent=False)
            return
        sentence = (
            f"{title}: it is sent and cannot be withdrawn. {self.shown.target.symbol} stays locked until the outcome "
            f"is known; a message here names it, and {self._journal_key} shows it."
        )
        self._say_until_ended(sentence, "warning", 30)

    def _say_until_ended(self, sentence: str, severity: SeverityLevel, seconds: float) -> None:
        """Show a sentence until the intent ends: settled or released, by this session or by another one."""
        self._notify(sentence, severity, seconds)

        def look() -> None:
            if not self._is_open():
                timer.stop()
                withdraw(self.app, sentence)

        timer = self.app.set_interval(_LOOK_EVERY_S, look)

    async def run(self) -> None:
        """Send and track it; errors are shown, and the dialog can be left."""
        try:
            self.sent = await self.execution.confirm(self.shown, self.typed, self._departure)
            await self._follow(self.sent)
        except NotConfirmed as refused:
            if not self._was_withdrawn:
                self._not_confirmed(refused)
        except Exception as problem:
            if self._was_withdrawn:
                return
            refused_or_not_sent = isinstance(problem, ExchangeError) and not isinstance(problem, OutcomeUnknown)
            if refused_or_not_sent and not self._is_open():
                self._ended(_same_in_any_room(Content.styled(scrub(f"Not done. {problem}"), "bold $warn")))
            else:
                why = f"{type(problem).__name__}: {problem}"
                self._ended(_same_in_any_room(unknown_outcome_lines(self.shown, why, self._journal_key)))

    @property
    def _journal_key(self) -> str:
        return trading_app(self.app).key_named(Action.JOURNAL)

    def _is_open(self) -> bool:
        return self.execution.holder(self.shown.target) is not None

    def _not_confirmed(self, refused: NotConfirmed) -> None:
        why = " ".join(refused.reasons)
        if self.view.is_attached:
            self.view.show_not_sent(why, refused.preview if refused.preview is not self.shown else None)
        else:
            self._notify(f"Reverse {self.shown.subject}: NOT SENT. {why}", "error", 30, was_sent=False)

    async def _follow(self, sent: Sent) -> None:
        progress = sent.progress
        async for progress in self.execution.follow(sent):
            self._show_progress(progress)
            if progress.stage is SearchStage.CORRECTED:
                self.app.bell()
        if progress.stage is not SearchStage.ENDED:
            self._ended(_same_in_any_room(unknown_outcome_lines(self.shown, progress.sentence, self._journal_key)))

    def _show_progress(self, progress: Progress) -> None:
        plan = self.shown.plan
        assert plan is not None
        if progress.stage is SearchStage.ENDED and progress.outcome is not None:
            self._ended(lambda room: Content("\n").join(outcome_lines(self.shown, plan, progress, room)), progress)
        elif progress.stage is SearchStage.ENDED:
            ended = Content.styled(scrub(f"Ended: {progress.sentence}."), "bold $warn")
            self._ended(_same_in_any_room(ended), progress)
        elif self.view.is_attached:
            standing = Content.assemble(
                (f"{progress.state}  ", "bold $warn" if progress.stage is SearchStage.CORRECTED else "bold $primary"),
                scrub(progress.sentence),
                (f"\n{tracking_sentence(self.shown, self._journal_key)}", "$quiet"),
            )
            self.view.show_standing(standing)

    def _ended(self, end: Ending, progress: Progress | None = None) -> None:
        """Show an end in the dialog, or in a notice once it is closed; without `progress` the outcome is unknown."""
        different = "" if progress is None else self._different_orders(progress)
        is_as_previewed = progress is not None and progress.outcome is Outcome.REVERSED and not different
        self.read_anew()
        trading_app(self.app).refresh_header()
        if not is_as_previewed:
            self.app.bell()
        if self.view.is_attached:
            withdraw_about(self.app, self.shown.target.symbol, was_sent=True)
            self.view.show_end(end)
            return
        sentence = progress.sentence if progress is not None else " ".join(end(_NO_SCREEN).plain.split())
        sentence += different
        message = f"Reverse {self.shown.subject}: {sentence}"
        if self.sent is not None:
            desk = trading_app(self.app).desk
            message = self.sent.described(sentence, self.execution.settings.zone if desk is None else desk.zone)
        if progress is None and self._is_open():
            self._say_until_ended(message, "error", 600)
        else:
            severity: SeverityLevel = "information" if is_as_previewed else "error"
            self._notify(message, severity, 10 if is_as_previewed else 600)

    def _notify(self, message: str, severity: SeverityLevel, seconds: float, *, was_sent: bool = True) -> None:
        symbol = self.shown.target.symbol
        notify_about(self.app, symbol, message, was_sent=was_sent, severity=severity, seconds=seconds)

    def _different_orders(self, progress: Progress) -> str:
        """Describe the worst order that differs from the preview, and count the others; empty if none differs."""
        plan = self.shown.plan
        assert plan is not None
        orders = compared_orders(self.shown, plan, progress)
        different = sorted((order for order in orders if order.difference), key=lambda order: not order.wrong_way)
        if not different:
            return ""
        worst, others = different[0], len(different) - 1
        effect = f": {worst.effect}" if worst.effect else ""
        more = f", and {counted(others, 'more order')} differ{'' if others > 1 else 's'}" if others else ""
        return f". DIFFERENT: {worst.summary} is {worst.difference}{effect}{more}"


def _same_in_any_room(content: Content) -> Ending:
    return lambda room: content

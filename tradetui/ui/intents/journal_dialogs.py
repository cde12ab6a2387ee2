"""The dialogs in which a trader ends what the journal locks: an unknown outcome, a lost part, a failed write.

A release and a loss are accepted only once a word was typed, and only the journal is written: nothing is sent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Final, Generic

from textual import events, on
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.desk.intents.intents import Intents, Withheld
from tradetui.desk.intents.states import WrongStep
from tradetui.desk.reversal.pretrade_checks import is_typed
from tradetui.ui.app_protocols import ask_in_dialog, trading_app
from tradetui.ui.dialogs.deliberate_dialog import DeliberateDialog, Result
from tradetui.ui.dialogs.question_dialogs import ConfirmDialog
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import notify, sanitized
from tradetui.wire.text import scrub

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
WORD: Final = "ACCEPT LOSS"
_LOSS_CAUTION: Final = (
    "The lost entries may hold a reversal whose outcome is unknown. Nothing is sent until you confirm that you checked "
    "positions, orders and fills on the exchange's site.\n"
    "Accepting deletes nothing: a damaged file is kept under another name, its symbols are free again, and trading "
    "stays locked until {lock} unlocks it."
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
    """Returns the reason, None if cancelled; `name` has to be typed. With `ends_doubt` it ends a doubt and no lock."""

    effect = "releases it"

    def __init__(self, title: str, known: str, name: str, caution: str, *, ends_doubt: bool = False) -> None:
        super().__init__(classes="dialog")
        self._lines = (title, known)
        self._locked_name = name
        self._caution = caution
        self._ends_doubt = ends_doubt

    def compose(self) -> ComposeResult:
        title, leave = "Release without an outcome", "Leave it locked"
        if self._ends_doubt:
            title, leave = "Trust positions summed from fills again", "Leave it"
        with self.framed(title):
            for line in self._lines:
                yield Static(sanitized(line), markup=False)
            yield Static(sanitized(self._caution), classes="caution", markup=False)
            # A character typed at a button begins the reason: if the focus selected it, the next would replace it.
            yield LineBox(
                id="why", placeholder="reason for the journal: what you saw at the exchange", select_on_focus=False
            )
            yield LineBox(id="typed", placeholder=f"type {self._locked_name} to release it")
            yield from self.buttons("Release", cancel=leave, ready=False)

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


async def show_release(app: App[Any], released: Awaitable[object]) -> bool:
    """Wait for a release and show its result; returns whether it is known to be released."""
    try:
        await released
    except (Withheld, WrongStep) as refused:
        # Another process may have settled or released it meanwhile.
        notify(app, f"Not released: {refused}", severity="warning", seconds=8)
        return False
    except Exception as problem:
        # The step may be in the journal although something failed after it.
        doubt = f"It is not known whether it is released: {problem}. The journal shows it."
        notify(app, doubt, severity="error", seconds=30)
        return False
    notify(app, "Released; the journal says so.")
    return True


def ask_to_try_again(app: App[Any], intents: Intents, changed: Callable[[], None]) -> None:
    """Open the question; after a yes, show the result and call `changed`."""

    async def try_again() -> None:
        usable = await intents.try_again()
        changed()
        if usable:
            lock = "Trading is locked" if intents.locked else "Trading is unlocked"
            notify(app, f"The journal can be written again. {lock}.", seconds=10)
        else:
            notify(app, f"The journal cannot be used: {intents.trouble}.", severity="error", seconds=30)

    question = (
        f"Nothing is sent while the journal cannot be used: {intents.trouble}.\n"
        "Trying again opens it once more, checks every entry, and writes to the disk."
    )
    dialog = ConfirmDialog("The journal cannot be used", question, "Try again")
    ask_in_dialog(app, dialog, lambda _: app.run_worker(try_again(), exit_on_error=False))


class LostJournalDialog(WordDialog[None]):
    """Cancel has the focus; the word has to be typed. Nothing changes before the button is pressed."""

    effect = "accepts the loss"
    missing_sentence = "{}; Esc leaves it locked."

    def __init__(self, intents: Intents) -> None:
        super().__init__(classes="dialog")
        self._intents = intents

    def compose(self) -> ComposeResult:
        loss = self._intents.loss
        with self.framed("The journal is lost or damaged"):
            if loss is not None:
                yield Static(sanitized(f"{loss.file}: {loss.reason}."), markup=False)
                open_scopes = ", ".join(scope.replace("|", " ") for scope in loss.locked)
                yield Static(sanitized(f"Not settled: {open_scopes or 'nothing known'}."), markup=False)
            caution = _LOSS_CAUTION.format(lock=trading_app(self).key_named("lock"))
            yield Static(sanitized(caution), classes="caution", markup=False)
            yield LineBox(id="typed", placeholder=f"type {WORD} to go on without it", select_on_focus=False)
            yield from self.buttons("Accept the loss", cancel="Leave it locked", ready=False)

    def missing(self) -> dict[str, str]:
        is_whole = is_typed(WORD, self.query_one("#typed", Input).value)
        return {} if is_whole else {"typed": f"Type {WORD} to go on without it"}

    def confirm(self) -> None:
        if not self.missing():
            self.confirm_button.disabled = True
            self.run_worker(self._accept(), exit_on_error=False)

    async def _accept(self) -> None:
        try:
            usable = await self._intents.accept_loss()
            trouble = "" if usable else f"The journal cannot be used: {self._intents.trouble}"
        except Exception as problem:
            trouble = f"The loss is not accepted: {problem}"
        if trouble:
            self.give_reason(Content.styled(scrub(trouble), "bold $warn"))
            return
        unlocks = f"Trading is locked; {trading_app(self).key_named('lock')} unlocks it."
        notify(self.app, f"The loss is accepted and the journal says so. {unlocks}", seconds=10)
        self.dismiss()

"""A journal that cannot be used: the trader's deliberate step to try it again, or to go on without the lost part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.desk.intents.intents import Intents
from tradetui.desk.reversal.pretrade_checks import is_typed
from tradetui.ui.app_protocols import ask_in_dialog, trading_app
from tradetui.ui.dialogs.question_dialogs import ConfirmDialog
from tradetui.ui.intents.journal.release_dialog import WordDialog
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import notify, sanitized
from tradetui.wire.text.sanitize import scrub

WORD: Final = "ACCEPT LOSS"
_CAUTION: Final = (
    "The lost entries may hold a reversal whose outcome is unknown. Nothing is sent until you confirm that you checked "
    "positions, orders and fills on the exchange's site.\n"
    "Accepting deletes nothing: a damaged file is kept under another name, its symbols are free again, and trading "
    "stays locked until {lock} unlocks it."
)


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
            caution = _CAUTION.format(lock=trading_app(self).key_named("lock"))
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

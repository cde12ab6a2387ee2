"""The lock of trading on the screen: locking is immediate everywhere; unlocking asks first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tradetui.ui.app_protocols import ask_in_dialog
from tradetui.ui.application import lazy_imports
from tradetui.ui.safe_text import notify, withdraw

if TYPE_CHECKING:
    from textual.app import App

    from tradetui.desk.desk import Desk
    from tradetui.desk.intents.intents import Intents

LOCKED_NOW: Final = "Trading is locked."


class TradingLock:
    """Locks and unlocks on the screen of an application, and calls `changed` to show it."""

    def __init__(self, app: App[Any], changed: Callable[[], None]) -> None:
        self._app = app
        self._changed = changed

    def lock(self, desk: Desk | None) -> None:
        if desk is None or desk.intents is None:
            notify(self._app, "There is nothing to lock: nothing can be sent.", severity="warning")
            return
        self._app.run_worker(self._lock(desk.intents), exit_on_error=False)

    async def _lock(self, intents: Intents) -> None:
        written = intents.set_lock(True)
        self._changed()
        if await written:
            if intents.locked:
                notify(self._app, LOCKED_NOW)
            return
        self._changed()
        why = intents.trouble or "the journal cannot be used"
        sentence = f"Trading is locked in this session only: other sessions of the account do not know it ({why})."
        notify(self._app, sentence, severity="error", seconds=600)

    def lock_or_unlock(self, desk: Desk | None) -> None:
        """Lock trading at once; unlocking asks first, on top of whatever is open.

        With a lost journal it names the loss and asks whether to go on without it; with a failing journal, whether to
        try again. If the API key is another account's it says so, and nothing unlocks.
        """
        if desk is None or desk.intents is None:
            self.lock(desk)
        elif desk.intents.other_owner:
            notify(self._app, desk.intents.other_owner, severity="error", seconds=30)
        elif desk.intents.loss is not None or desk.intents.fault is not None:
            lazy_imports.ask_about_journal(self._app, desk.intents, self._changed)
        elif not desk.intents.locked:
            self.lock(desk)
        else:
            self._ask_to_unlock(desk, desk.intents)

    def _ask_to_unlock(self, desk: Desk, intents: Intents) -> None:
        def unlock(_: bool) -> None:
            intents.set_lock(False)
            withdraw(self._app, LOCKED_NOW)
            self._changed()

        question = f"Unlock trading on {desk.settings.environment} {desk.settings.name}?"
        ask_in_dialog(self._app, lazy_imports.confirm_dialog("Unlock trading", question, "Unlock"), unlock)

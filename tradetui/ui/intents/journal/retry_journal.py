"""A journal that cannot be used for now: why, and the trader's deliberate step to try it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App

from tradetui.desk.intents.intents import Intents
from tradetui.ui.dialogs.confirm_dialog import ConfirmDialog
from tradetui.ui.safe_text import notify


def ask_to_try_again(app: App[Any], intents: Intents, changed: Callable[[], None]) -> None:
    """Open the question; where it is answered with yes, say what came of it and call `changed`."""

    async def try_again() -> None:
        usable = await intents.try_again()
        changed()
        if usable:
            lock = "Trading is locked" if intents.locked else "Trading is unlocked"
            notify(app, f"The journal can be written again. {lock}.", seconds=10)
        else:
            notify(app, f"The journal cannot be used: {intents.trouble}.", severity="error", seconds=30)

    def answered(yes: bool | None) -> None:
        if yes:
            app.run_worker(try_again(), exit_on_error=False)

    question = (
        f"Nothing is sent while the journal cannot be used: {intents.trouble}.\n"
        "Trying again opens it once more, checks every entry, and writes to the disk."
    )
    app.push_screen(ConfirmDialog("The journal cannot be used", question, "Try again"), answered)

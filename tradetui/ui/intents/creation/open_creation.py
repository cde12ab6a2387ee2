"""Opens the form of a creation, and the list of issued keys."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from textual.app import App

from tradetui.desk.creation import Creation, CreationKind, KeyStoreUnusable
from tradetui.desk.intents.intents import Withheld
from tradetui.ui.app_protocols import ask_in_dialog
from tradetui.ui.dialogs.question_dialogs import ChoiceDialog
from tradetui.ui.intents.creation.creation_form import CreationForm
from tradetui.ui.intents.creation.creation_result import ResultDialog
from tradetui.ui.intents.creation.issued_keys_screen import IssuedKeysScreen
from tradetui.ui.intents.creation.titles import ISSUED_KEYS, TITLES, choices
from tradetui.ui.safe_text import notify


def open_creation(app: App[Any], creation: Creation, name: str | None) -> None:
    if name is not None:
        _open_named(app, creation, name)
        return
    app.run_worker(_choose(app, creation), group="choosing what to create", exclusive=True, exit_on_error=False)


async def _choose(app: App[Any], creation: Creation) -> None:
    """Choose a form; issued keys are among the choices if there are any, or if that cannot be read."""
    names = choices(creation)
    with suppress(KeyStoreUnusable):
        if len(names) > 1 and not await creation.keys.entries():
            names.remove(ISSUED_KEYS)
    ask_in_dialog(app, ChoiceDialog("Create", names), lambda index: _open_named(app, creation, names[index]))


def _open_named(app: App[Any], creation: Creation, name: str) -> None:
    if name == ISSUED_KEYS:
        app.push_screen(IssuedKeysScreen(creation.keys))
        return
    kind = next(kind for kind in CreationKind if TITLES[kind] == name)
    app.run_worker(_open(app, creation, kind), group="creating", exit_on_error=False)


async def _open(app: App[Any], creation: Creation, kind: CreationKind) -> None:
    """Open the form; with an unsettled creation of the kind, open that one, which blocks another."""
    try:
        unsettled = await creation.unsettled(kind)
    except Withheld as refused:
        notify(app, " ".join(refused.reasons), severity="warning", seconds=8)
        return
    if unsettled is None:
        app.push_screen(CreationForm(creation, kind))
    else:
        app.push_screen(ResultDialog(creation, unsettled))

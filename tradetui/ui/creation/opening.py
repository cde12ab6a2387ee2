"""What can be created, in words, and how its form is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tradetui.ui.sanitize import notify

if TYPE_CHECKING:
    from textual.app import App

    from tradetui.desk.creation.creation import Creation
    from tradetui.desk.creation.kinds import CreationKind

GIVEN_KEYS: Final = "Keys given out"
TITLES: Final[Mapping[str, str]] = {
    "create-subaccounts": "Create sub-accounts with API keys",
    "create-broker-subaccount": "Create a broker sub-account",
    "create-copy-key": "Create the copy-trading key",
}
"""By the values of `CreationKind`."""
BREAKPOINTS: Final = [(0, "-short"), (44, "-roomy")]
"""Lines from which a dialog of this room has boxes and buttons with borders."""


def choices(creation: Creation) -> list[str]:
    """What can be opened, as far as the account may have it."""
    from tradetui.desk.creation.kinds import CreationKind

    return [*(TITLES[kind] for kind in CreationKind if creation.offers(kind)), GIVEN_KEYS]


def open_choice(app: App[Any], creation: Creation) -> None:
    """Ask what to create."""
    from tradetui.ui.dialogs.choice import ChoiceDialog

    names = choices(creation)

    def go(index: int | None) -> None:
        if index is not None:
            open_named(app, creation, names[index])

    app.push_screen(ChoiceDialog("Create", names), go)


def open_named(app: App[Any], creation: Creation, name: str) -> None:
    """Open one of the choices."""
    from tradetui.desk.creation.kinds import CreationKind

    if name == GIVEN_KEYS:
        from tradetui.ui.creation.issued_keys_screen import GivenKeysScreen

        app.push_screen(GivenKeysScreen(creation))
        return
    kind = next(kind for kind in CreationKind if TITLES[kind] == name)
    app.run_worker(_open(app, creation, kind), group="creating", exit_on_error=False)


async def _open(app: App[Any], creation: Creation, kind: CreationKind) -> None:
    """The form; where an earlier creation of the kind is not settled, that one, since it stands in the way."""
    from tradetui.desk.intents.intents import Withheld
    from tradetui.ui.creation.form import CreationForm
    from tradetui.ui.creation.result import ResultDialog

    try:
        unsettled = await creation.unsettled(kind)
    except Withheld as refused:
        notify(app, " ".join(refused.reasons), severity="warning", seconds=8)
        return
    if unsettled is None:
        app.push_screen(CreationForm(creation, kind))
    else:
        app.push_screen(ResultDialog(creation, unsettled))

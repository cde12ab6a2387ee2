"""The list of every panel, lookup and screen that can be opened; what the account cannot see is not in it."""

from __future__ import annotations

from tradetui.desk.tables.table import LOOKUPS, PANELS, TABLES
from tradetui.ui.app_protocols import OpenLookup
from tradetui.ui.dialogs.question_dialogs import ChoiceDialog
from tradetui.ui.key_bindings.binding_registry import BINDING_OF_ID
from tradetui.ui.table.desk_screen import DeskScreen

_TITLES = {"money": "Money", "alerts": "Alerts", "journal": "Journal", "create": "Create …"}
"""Of the bindings that open a screen which shows no single table."""


def open_screen_list(screen: DeskScreen) -> None:
    """Ask where to go from a screen, and go there."""
    titles = {**{name: table.title for name, table in TABLES.items()}, **_TITLES}
    names = [*PANELS, *(table for table in LOOKUPS if screen.lookup_reason(table) is None)]
    names += [name for name in _TITLES if not screen.hides(name) and screen.blocking_reason(name) is None]
    here = screen.screen_name

    async def go(index: int | None) -> None:
        if index is not None and (name := names[index]) in LOOKUPS:
            screen.post_message(OpenLookup(name))
        elif index is not None and name in _TITLES:
            await screen.run_action(BINDING_OF_ID[name].action)
        elif index is not None:
            await screen.trade_app.open_panel(names[index])

    options = [f"{screen.key_named(name)} {titles[name]}" for name in names]
    screen.app.push_screen(ChoiceDialog("Screens", options, names.index(here) if here in names else 0), go)

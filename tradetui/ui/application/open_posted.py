"""Opens the screen or dialog that a screen has posted a message for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tradetui.ui.app_protocols import messages
from tradetui.ui.app_protocols.application import TradingApp
from tradetui.ui.application import lazy_imports

if TYPE_CHECKING:
    from textual.app import App

    from tradetui.ui.table.table_screen import TableScreen


async def open_posted(app: App[Any], message: messages.OpenMessage, lowest: TableScreen) -> None:
    """Open what a message names; `lowest` is the lookup or main screen beneath whatever is open.

    What needs a desk, or a session that may send or create, is not opened without it.
    """
    trading_app = cast(TradingApp, app)
    settings, desk = trading_app.settings, trading_app.desk
    match message:
        case messages.OpenScreenList():
            lazy_imports.open_screen_list(lowest)
        case messages.OpenDetail():
            app.push_screen(lazy_imports.detail_screen(message))
        case messages.OpenJournal():
            app.push_screen(lazy_imports.journal_screen(settings))
        case messages.OpenMoney() if desk is not None:
            app.push_screen(lazy_imports.money_screen(settings, desk))
        case messages.OpenTrips():
            app.push_screen(lazy_imports.trips_screen(settings, message))
        case messages.OpenAlerts():
            app.push_screen(lazy_imports.alerts_screen(settings))
        case messages.OpenHistory():
            app.push_screen(lazy_imports.history_screen(settings, message))
        case messages.OpenDates():
            lazy_imports.ask_for_dates(app, message)
        case messages.OpenSort():
            lazy_imports.ask_for_sort(app, message)
        case messages.OpenColumns():
            lazy_imports.ask_for_columns(app, message, trading_app.preferences.table(message.table.name))
        case messages.OpenProfiles():
            await lazy_imports.open_profile_choice(app)
        case messages.OpenReversal() if desk is not None and (execution := desk.execution) is not None:
            lazy_imports.open_reversal(app, desk, execution, message.target)
        case messages.OpenCreation() if desk is not None and (creation := desk.creation) is not None:
            lazy_imports.open_creation(app, creation, message.name)
        case messages.OpenExport():
            lazy_imports.open_export(app, desk, message)

"""All modules of the screen that are imported only when opened: no other module of `ui` imports in a function.

The first paint waits for none of it, nor does the main screen for screens that most sessions never open. What the first
paint does wait for is small: plain records are named tuples, which Python makes seven times as fast as frozen
dataclasses.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from tradetui.ui import app_protocols
from tradetui.ui.app_protocols import TradingApp, ask_in_dialog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.app import App
    from textual.command import Provider
    from textual.screen import Screen

    from tradetui.desk.desk import Desk
    from tradetui.desk.intents.intents import Intents
    from tradetui.desk.reversal.preview import Target
    from tradetui.ui.alerts.alert_notices import AlertNotices
    from tradetui.ui.app_protocols import KeyedScreen
    from tradetui.ui.main.main_screen import MainScreen
    from tradetui.ui.money.chart_panel import Chart, ChartText
    from tradetui.ui.records.lookup_screen import LookupScreen
    from tradetui.ui.settings.ui_settings import UiSettings
    from tradetui.ui.table.desk_screen import DeskScreen


def palette() -> type[Provider]:
    from tradetui.ui.application.palette import Actions

    return Actions


def alert_notices(app: App[Any], desk: Desk) -> AlertNotices:
    from tradetui.ui.alerts.alert_notices import AlertNotices

    return AlertNotices(app, sequence=desk.alerts.settings.desktop_sequence, environ=os.environ)


def main_screen(settings: UiSettings) -> MainScreen:
    from tradetui.ui.main.main_screen import MainScreen

    return MainScreen(settings)


def lookup_screen(settings: UiSettings, table: str, texts: Mapping[str, str] | None) -> LookupScreen:
    from tradetui.ui.records.lookup_screen import LookupScreen

    return LookupScreen(settings, table, texts)


def ask_about_journal(app: App[Any], intents: Intents, changed: Callable[[], None]) -> None:
    """Ask whether to go on without a journal that was lost, or to try one again that could not be written.

    `changed` is called once it was written.
    """
    from tradetui.ui.intents.journal_screen import LostJournalDialog, ask_to_try_again

    if intents.loss is not None:
        app.push_screen(LostJournalDialog(intents))
    else:
        ask_to_try_again(app, intents, changed)


def confirm_dialog(title: str, question: str, action: str) -> Screen[bool | None]:
    from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog

    return ConfirmDialog(title, question, action)


def help_dialog(keys: Mapping[str, str], screen: KeyedScreen) -> Screen[None]:
    from tradetui.ui.application.palette import HelpDialog, help_lines

    return HelpDialog(help_lines(keys, screen))


async def open_posted(app: App[Any], message: app_protocols.OpenMessage, lowest: DeskScreen) -> None:
    """Open the screen of a message; `lowest` is the lookup or main screen beneath whatever is open.

    A screen that needs a desk, or a session that may send or create, is not opened without it.
    """
    trading_app = cast(TradingApp, app)
    settings, desk = trading_app.settings, trading_app.desk
    match message:
        case app_protocols.OpenScreenList():
            from tradetui.ui.application.palette import open_screen_list

            open_screen_list(lowest)
        case app_protocols.OpenDetail(title, row_id, record, zone, feed_name):
            from tradetui.ui.records.detail_screen import DetailScreen

            app.push_screen(DetailScreen(title, row_id, record, zone, feed_name))
        case app_protocols.OpenJournal():
            from tradetui.ui.intents.journal_screen import JournalScreen

            app.push_screen(JournalScreen(settings))
        case app_protocols.OpenMoney() if desk is not None:
            from tradetui.ui.money.money_screen import MoneyScreen

            app.push_screen(MoneyScreen(settings, _draw_chart, desk.client.server_clock.now_ms))
        case app_protocols.OpenTrips(period, symbols):
            from tradetui.ui.money.trips_screen import TripsScreen

            app.push_screen(TripsScreen(settings, period, symbols))
        case app_protocols.OpenAlerts():
            from tradetui.ui.alerts.alerts_screen import AlertsScreen

            app.push_screen(AlertsScreen(settings))
        case app_protocols.OpenNewAlert(symbol) if desk is not None:
            from tradetui.ui.alerts.new_alert import NewAlertDialog

            app.push_screen(NewAlertDialog(desk, symbol))
        case app_protocols.OpenHistory(panel, dates, beyond_rows, product):
            from tradetui.ui.records.history_screen import HistoryScreen

            app.push_screen(HistoryScreen(settings, panel, dates, beyond_rows, product))
        case app_protocols.OpenDates():
            from tradetui.ui.dialogs.table_dialogs import DatesDialog

            dates_dialog = DatesDialog(
                message.title, message.before, message.now_ms, message.zone, whole_days=message.whole_days
            )
            ask_in_dialog(app, dates_dialog, lambda dates: message.chosen(dates if dates.texts else None))
        case app_protocols.OpenSort():
            from tradetui.ui.dialogs.table_dialogs import SortDialog

            sort_dialog = SortDialog(message.subject, message.columns, message.under_cursor, message.sort, message.keys)
            ask_in_dialog(app, sort_dialog, lambda choice: message.chosen(choice.column))
        case app_protocols.OpenColumns():
            from tradetui.ui.dialogs.table_dialogs import ColumnsDialog

            before = trading_app.preferences.table(message.table.name)
            columns = message.table.every_column
            ask_in_dialog(app, ColumnsDialog(message.subject, columns, message.default, before), message.chosen)
        case app_protocols.OpenProfiles():
            from tradetui.ui.application.palette import ask_for_profile

            await ask_for_profile(app)
        case app_protocols.OpenManual():
            from tradetui.ui.application.manual_screen import ManualDialog

            app.push_screen(ManualDialog())
        case app_protocols.OpenReversal(target) if desk is not None and (execution := desk.execution) is not None:
            from tradetui.ui.intents.reversal.dialog import ReversalDialog, ask_for_target

            def show(chosen: Target) -> None:
                app.push_screen(ReversalDialog(execution, chosen, desk.scheduler.poll_now))

            if target is None:
                ask_for_target(app, desk, show)
            else:
                show(target)
        case app_protocols.OpenCreation(name) if desk is not None and (creation := desk.creation) is not None:
            from tradetui.ui.intents.creation.creation_form import open_creation

            open_creation(app, creation, name)
        case app_protocols.OpenExport(rows, columns, file_stem, title):
            from tradetui.ui.dialogs.table_dialogs import open_export

            open_export(app, desk, rows, columns, file_stem, title)


def _draw_chart(chart: Chart, width: int, height: int, has_utf8: bool) -> ChartText:
    """Draw a chart; the first one loads the plotting library."""
    from tradetui.ui.money.plot import draw

    return draw(chart, width, height, has_utf8=has_utf8)

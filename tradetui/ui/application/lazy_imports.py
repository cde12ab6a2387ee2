"""Everything of the screen that is imported only when it is opened: no other module of `ui` imports in a function.

The first paint waits for none of it, nor does the main screen for what most sessions never open.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.app import App
    from textual.command import Provider
    from textual.screen import Screen

    from tradetui.desk.creation import Creation
    from tradetui.desk.desk import Desk
    from tradetui.desk.intents.intents import Intents
    from tradetui.desk.reversal.execution import Execution
    from tradetui.desk.reversal.preview import Target
    from tradetui.desk.tables.rows.date_filter import DateFilter
    from tradetui.ui.alerts.alert_notices import AlertNotices
    from tradetui.ui.app_protocols.messages import (
        OpenColumns,
        OpenDates,
        OpenDetail,
        OpenExport,
        OpenHistory,
        OpenSort,
        OpenTrips,
    )
    from tradetui.ui.app_protocols.screens import KeyedScreen
    from tradetui.ui.main.main_screen import MainScreen
    from tradetui.ui.money.charts.chart import Chart, ChartText
    from tradetui.ui.records.lookup_screen import LookupScreen
    from tradetui.ui.settings.preferences import TableChoice
    from tradetui.ui.settings.ui_settings import UiSettings
    from tradetui.ui.table.table_screen import TableScreen


def palette() -> type[Provider]:
    """The command palette."""
    from tradetui.ui.application.overlays.palette import Actions

    return Actions


def alert_notices(app: App[Any], desk: Desk, *, rings: bool) -> AlertNotices:
    """What shows the alerts of a session that was opened."""
    from tradetui.ui.alerts.alert_notices import AlertNotices

    return AlertNotices(app, rings=rings, sequence=desk.alerts.settings.desktop_sequence, environ=os.environ)


def alerts_screen(settings: UiSettings) -> Screen[None]:
    """What is alerted and what was."""
    from tradetui.ui.alerts.alerts_screen import AlertsScreen

    return AlertsScreen(settings)


def money_screen(settings: UiSettings, desk: Desk) -> Screen[None]:
    """What the account brought in."""
    from tradetui.ui.money.money_screen import MoneyScreen

    return MoneyScreen(settings, _draw_chart, desk.client.server_clock.now_ms)


def trips_screen(settings: UiSettings, message: OpenTrips) -> Screen[None]:
    """The round trips of a period."""
    from tradetui.ui.money.trips_screen import TripsScreen

    return TripsScreen(settings, message.period, message.symbols)


def _draw_chart(chart: Chart, width: int, height: int, has_utf8: bool) -> ChartText:
    """Draw a chart; the first one loads the library that does."""
    from tradetui.ui.money.charts.plot import draw

    return draw(chart, width, height, has_utf8=has_utf8)


def main_screen(settings: UiSettings) -> MainScreen:
    """The five panels."""
    from tradetui.ui.main.main_screen import MainScreen

    return MainScreen(settings)


def lookup_screen(settings: UiSettings, table: str, texts: Mapping[str, str] | None) -> LookupScreen:
    """The lookup of one kind of record."""
    from tradetui.ui.records.lookup_screen import LookupScreen

    return LookupScreen(settings, table, texts)


def open_screen_list(screen: TableScreen) -> None:
    """Ask where to go from a screen."""
    from tradetui.ui.application.overlays.screen_list import open_screen_list

    open_screen_list(screen)


def detail_screen(row: OpenDetail) -> Screen[None]:
    """Every field of a row."""
    from tradetui.ui.records.detail_screen import DetailScreen

    return DetailScreen(row.title, row.key, row.record, row.zone, row.feed_name)


def history_screen(settings: UiSettings, message: OpenHistory) -> Screen[None]:
    """Every row of a panel that was ever seen."""
    from tradetui.ui.records.history_screen import HistoryScreen

    return HistoryScreen(settings, message.panel, message.dates, message.beyond_rows)


def ask_for_dates(app: App[Any], message: OpenDates) -> None:
    """Ask from when to when, and of which symbols, rows are shown."""
    from tradetui.ui.dialogs.dates_dialog import DatesDialog

    def take(answer: DateFilter | bool | None) -> None:
        if answer is not None and answer is not False:
            message.chosen(None if answer is True else answer)

    dialog = DatesDialog(message.title, message.before, message.now_ms, message.zone, whole_days=message.whole_days)
    app.push_screen(dialog, take)


def ask_for_sort(app: App[Any], message: OpenSort) -> None:
    """Ask which column orders the rows of a table."""
    from tradetui.ui.dialogs.sort_dialog import SortChoice, SortDialog

    def take(choice: SortChoice | None) -> None:
        if choice is not None:
            message.chosen(choice.column)

    app.push_screen(
        SortDialog(message.subject, message.columns, message.under_cursor, message.sort, message.keys), take
    )


def ask_for_columns(app: App[Any], message: OpenColumns, before: TableChoice) -> None:
    """Ask which columns a table shows, from those that were chosen before on."""
    from tradetui.desk.tables.choosable_columns import choosable_columns
    from tradetui.ui.dialogs.columns_dialog import ColumnsDialog

    def take(choice: TableChoice | None) -> None:
        if choice is not None:
            message.chosen(choice)

    every = choosable_columns(message.table)
    app.push_screen(ColumnsDialog(message.subject, every, message.default, before), take)


async def open_profile_choice(app: App[Any]) -> None:
    """Ask which profile is opened."""
    from tradetui.ui.application.overlays.profile_choice import ask_for_profile

    await ask_for_profile(app)


def journal_screen(settings: UiSettings) -> Screen[None]:
    """What was sent and what became of it."""
    from tradetui.ui.intents.journal.journal_screen import JournalScreen

    return JournalScreen(settings)


def lost_journal_dialog(intents: Intents) -> Screen[None]:
    """What of the journal is lost, and the step to go on without it."""
    from tradetui.ui.intents.journal.lost_journal_dialog import LostJournalDialog

    return LostJournalDialog(intents)


def ask_to_try_again(app: App[Any], intents: Intents, changed: Callable[[], None]) -> None:
    """Ask whether to try a journal again that could not be written; `changed` is called once it was."""
    from tradetui.ui.intents.journal.retry_journal import ask_to_try_again

    ask_to_try_again(app, intents, changed)


def open_reversal(app: App[Any], desk: Desk, execution: Execution, target: Target | None) -> None:
    """Open the reversal of a target, asking for it where it is None."""
    from tradetui.ui.intents.reversal.dialog import ReversalDialog
    from tradetui.ui.intents.reversal.symbol_dialog import ask_for_target

    def show(target: Target) -> None:
        app.push_screen(ReversalDialog(execution, target, desk.poll_now))

    if target is None:
        ask_for_target(app, desk, execution, show)
    else:
        show(target)


def open_creation(app: App[Any], creation: Creation, name: str | None) -> None:
    """The form of what can be created by this name, or the question which."""
    from tradetui.ui.intents.creation.open_creation import open_creation

    open_creation(app, creation, name)


def open_export(app: App[Any], desk: Desk | None, rows: OpenExport) -> None:
    """Ask for a file, and write rows into it."""
    from tradetui.ui.dialogs.export_dialog import open_export

    open_export(app, desk, rows.rows, rows.columns, rows.file_stem, rows.title)


def confirm_dialog(title: str, question: str, action: str) -> Screen[bool]:
    """A question whose safe answer has the focus."""
    from tradetui.ui.dialogs.confirm_dialog import ConfirmDialog

    return ConfirmDialog(title, question, action)


def help_dialog(keys: Mapping[str, str], screen: KeyedScreen) -> Screen[None]:
    """Every key and what it does."""
    from tradetui.ui.application.overlays.help import HelpDialog

    return HelpDialog(dict(keys), screen.blocking_reason, screen.hides)

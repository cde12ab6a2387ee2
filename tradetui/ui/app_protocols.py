"""The protocols between the application and its screens, and the list of screens that are imported when opened.

Application and screens do not import each other: both import this module, as does every dialog and widget. A screen
opens another one through the list. So the first paint waits for none of them, and the main screen is not delayed by
screens that most sessions never open. Modules that the first paint needs stay small: plain records are named tuples,
which Python makes seven times as fast as frozen dataclasses.
"""

from __future__ import annotations

from importlib import import_module
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Generic,
    Never,
    ParamSpec,
    Protocol,
    TypeGuard,
    TypeVar,
    cast,
    runtime_checkable,
)

from tradetui.ui.key_bindings.actions import OF_ACCOUNTS, OF_MONEY, Action
from tradetui.ui.key_bindings.key_queue import KeyOrder, TypedInput
from tradetui.ui.settings.ui_settings import ProfileAppearance, ScreenPreferences, TableChoice, UiSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import tzinfo

    from textual import events
    from textual.app import App
    from textual.command import Provider
    from textual.dom import DOMNode
    from textual.screen import Screen

    from tradetui.desk.creation import Creation
    from tradetui.desk.desk import Desk
    from tradetui.desk.events.rules import DesktopSequence
    from tradetui.desk.intents.intents import Intents
    from tradetui.desk.overview.account_row import AccountRow
    from tradetui.desk.overview.overview import Overview
    from tradetui.desk.results.period_query import Period
    from tradetui.desk.reversal.execution import Execution
    from tradetui.desk.reversal.preview import Target
    from tradetui.desk.tables.cells.column import Column
    from tradetui.desk.tables.rows.date_filter import DateFilter
    from tradetui.desk.tables.rows.row_source import RowSource, Sort


@runtime_checkable
class KeyedScreen(Protocol):
    """A screen with keys for actions; dialogs are not among them."""

    where: ClassVar[str]

    def reason(self, action: Action) -> str | None:
        """Return why an action can do nothing now; None if it can."""

    def refuses(self, textual_action: str) -> bool:
        """Show why one of Textual's actions can do nothing now; return False if it can."""

    async def run_action(self, action: str) -> None: ...
    def say_unbound(self, event: events.Key) -> None: ...
    def show_alert(self) -> None: ...


def has_keys_of_its_own(screen: object) -> TypeGuard[KeyedScreen]:
    """Whether help and palette show this screen's keys, whatever lies beneath it."""
    return getattr(screen, "where", "") in (*OF_MONEY, *OF_ACCOUNTS)


@runtime_checkable
class FollowsDesk(Protocol):
    """A screen that shows the account's state or permissions, which the desk may change at any time."""

    def desk_changed(self) -> None: ...


@runtime_checkable
class FollowsRow(Protocol):
    """A screen about one row of a panel."""

    def follow(self, feed_name: str, rows: RowSource[object]) -> None:
        """Show the present row among these rows of a feed."""


@runtime_checkable
class SeesEveryKey(Protocol):
    """A screen that gets every key before the focused widget."""

    def before_key(self, event: TypedInput) -> bool:
        """Whether the key goes on to the focused widget."""


class TradingApp(Protocol):
    """The application as screens see it."""

    key_order: KeyOrder
    settings: UiSettings
    failure: str | None
    """Why the chosen account could not be opened."""
    chosen: int
    """The index of the open profile."""
    preferences: ScreenPreferences
    """The choices made on the screen: theme, columns, order."""
    lookup: Screen[None] | None
    """The lookup that covers the panels, if one is open."""

    @property
    def desk(self) -> Desk | None:
        """The open desk, None while one is being opened."""

    overview: Overview | None
    """All accounts, watched from when they were first looked at; None before."""

    @property
    def keyed_screen(self) -> KeyedScreen:
        """Return the open results or lookup, else the main screen: help and palette show its keys."""

    def remember_table(self, name: str, choice: TableChoice) -> None: ...
    def open_profile(self, chosen: int) -> None:
        """Open the desk of the profile of this index in place of the open one."""

    async def open_panel(self, name: str) -> None: ...
    def open_lookup(self, table: str, texts: Mapping[str, str] | None = None) -> None:
        """Open the lookup of one kind of record; with texts, its form opens filled in."""

    def open_overview(self) -> None:
        """Show all accounts, a row each; the open one goes on behind them."""

    def enter_account(self, row: AccountRow) -> None:
        """Open the account of a row as a session of its own, locked; keys typed ahead are dropped."""

    def action_lock_at_once(self) -> None:
        """Lock trading in the open session, from any screen or dialog."""

    def refresh_header(self) -> None: ...
    async def leave_lookup(self) -> None: ...
    def copy(self, text: str | None, what: str) -> None: ...
    def use_appearance(self, appearance: ProfileAppearance) -> None:
        """Apply a profile's theme, zone, keys, columns and order."""

    def use_mouse(self, *, on: bool) -> None: ...
    def choose_theme(self, name: str) -> None: ...
    def key_named(self, action: Action) -> str:
        """The first key of an action, as the profile sets it and a person writes it."""

    def lock_or_unlock(self) -> None:
        """Lock trading at once; unlocking asks first."""

    def action_leave(self) -> None:
        """Quit; asks first while an outcome is unknown or a new key is not saved."""


def trading_app(node: DOMNode) -> TradingApp:
    return cast(TradingApp, node.app)


P = ParamSpec("P")
Made = TypeVar("Made")


class Late(Generic[P, Made]):
    """A class or function by its module within `ui` and its name, `module:name`, with its parameters and its result."""

    def __init__(self, path: str) -> None:
        self._path = path

    def imported(self) -> Callable[P, Made]:
        module, _, name = self._path.partition(":")
        return cast("Callable[P, Made]", getattr(import_module(f"tradetui.ui.{module}"), name))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Made:
        return self.imported()(*args, **kwargs)


# No other module of `ui` imports late.

# The application's own parts
PALETTE: Late[[], type[Provider]] = Late("application.palette:actions")
MAIN_SCREEN: Late[[], Screen[None]] = Late("main.main_screen:MainScreen")
LOOKUP_SCREEN: Late[[str, Mapping[str, str] | None], Screen[None]] = Late("records.lookup_screen:LookupScreen")
ALERT_NOTICES: Late[[App[None], DesktopSequence | None, Mapping[str, str]], object] = Late(
    "alerts.alert_notices:AlertNotices"
)

# Screens
ALERTS_SCREEN: Late[[], Screen[None]] = Late("alerts.alerts_screen:AlertsScreen")
DETAIL_SCREEN: Late[[str, str, object, tzinfo, str], Screen[None]] = Late("records.detail_screen:DetailScreen")
HISTORY_SCREEN: Late[[str, DateFilter | None, str, str | None], Screen[None]] = Late(
    "records.history_screen:HistoryScreen"
)
JOURNAL_SCREEN: Late[[], Screen[None]] = Late("intents.journal_screen:JournalScreen")
MONEY_SCREEN: Late[[int], Screen[None]] = Late("money.money_screen:MoneyScreen")
OVERVIEW_SCREEN: Late[[Overview, str], Screen[None]] = Late("records.overview_screen:OverviewScreen")
TRIPS_SCREEN: Late[[Period, tuple[str, ...] | None], Screen[None]] = Late("money.trips_screen:TripsScreen")
DRAW_CHART: Late[..., object] = Late("money.plot:draw")

# Dialogs without an answer
HELP_DIALOG: Late[[Mapping[str, str], KeyedScreen], Screen[None]] = Late("application.palette:HelpDialog")
LOST_JOURNAL_DIALOG: Late[[Intents], Screen[None]] = Late("intents.journal_screen:LostJournalDialog")
OLDER_STORE_DIALOG: Late[[Intents], Screen[None]] = Late("intents.journal_screen:OlderStoreDialog")
MANUAL_DIALOG: Late[[], Screen[None]] = Late("application.manual_screen:ManualDialog")
NEW_ALERT_DIALOG: Late[[Desk, str], Screen[None]] = Late("alerts.new_alert:NewAlertDialog")
REVERSAL_DIALOG: Late[[Execution, Target, Callable[[str], None]], Screen[None]] = Late(
    "intents.reversal.dialog:ReversalDialog"
)

# Dialogs that return an answer, None if they were left
COLUMNS_DIALOG: Late[
    [str, Sequence[Column[Never]], Sequence[Column[Never]], TableChoice], Screen[TableChoice | None]
] = Late("dialogs.table_dialogs:ColumnsDialog")
CONFIRM_DIALOG: Late[[str, str, str], Screen[bool | None]] = Late("dialogs.deliberate_dialog:ConfirmDialog")
DATES_DIALOG: Late[[str, DateFilter | None, int, tzinfo, bool], Screen[DateFilter | None]] = Late(
    "dialogs.table_dialogs:DatesDialog"
)
EXPORT_DIALOG: Late[[Desk | None, RowSource[object], Sequence[Column[object]], str, str], Screen[str | None]] = Late(
    "dialogs.table_dialogs:export_dialog"
)
SORT_DIALOG: Late[[str, Sequence[Column[Never]], str, Sort | None, Sequence[str]], Screen[str | None]] = Late(
    "dialogs.table_dialogs:SortDialog"
)
SYMBOL_DIALOG: Late[[Desk], Screen[Target | None]] = Late("intents.reversal.dialog:SymbolDialog")

# Questions whose answers are carried out at once
ASK_FOR_PROFILE: Late[[App[object]], Awaitable[None]] = Late("application.palette:ask_for_profile")
ASK_FOR_SCREEN: Late[[Screen[None]], Awaitable[None]] = Late("application.palette:ask_for_screen")
ASK_TO_TRY_JOURNAL_AGAIN: Late[[App[None], Intents, Callable[[], None]], Awaitable[None]] = Late(
    "intents.journal_screen:ask_to_try_again"
)
OPEN_CREATION: Late[[App[object], Creation, str | None], None] = Late("intents.creation.creation_form:open_creation")

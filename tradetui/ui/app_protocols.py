"""The protocols between the application and its screens, and the messages that open a screen.

Neither imports the other: both look in here, and so does every dialog and widget. A screen posts a message to have
another one opened; the application handles it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from inspect import iscoroutine
from typing import TYPE_CHECKING, ClassVar, Never, Protocol, TypeGuard, TypeVar, cast, runtime_checkable

from textual.message import Message

from tradetui.ui.key_bindings.actions import OF_MONEY, Action
from tradetui.ui.key_bindings.key_queue import KeyOrder, TypedInput
from tradetui.ui.settings.ui_settings import ProfileAppearance, ScreenPreferences, TableChoice, UiSettings

if TYPE_CHECKING:
    from textual import events
    from textual.dom import DOMNode
    from textual.screen import Screen

    from tradetui.desk.desk import Desk
    from tradetui.desk.results.period_query import Period
    from tradetui.desk.reversal.preview import Target
    from tradetui.desk.tables.cells.column import Column
    from tradetui.desk.tables.rows.date_filter import DateFilter
    from tradetui.desk.tables.rows.row_source import RowSource, Sort
    from tradetui.desk.tables.table import Table

_Answer = TypeVar("_Answer")


@runtime_checkable
class KeyedScreen(Protocol):
    """A screen that actions name, and that is no dialog."""

    where: ClassVar[str]

    def reason(self, action: Action) -> str | None:
        """Why an action can do nothing now, None where it can."""

    def refuses(self, textual_action: str) -> bool:
        """Show why one of Textual's actions can do nothing now; returns False where it can."""

    async def run_action(self, action: str) -> None: ...
    def say_unbound(self, event: events.Key) -> None: ...
    def show_alert(self) -> None: ...


def is_of_results(screen: object) -> TypeGuard[KeyedScreen]:
    return getattr(screen, "where", "") in OF_MONEY


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
    """The application as screens see it; they post a message to have a screen opened."""

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

    @property
    def keyed_screen(self) -> KeyedScreen:
        """The results or the lookup that is open, else the main screen, whose keys help and palette show."""

    def remember_table(self, name: str, choice: TableChoice) -> None: ...
    def open_profile(self, chosen: int) -> None:
        """Open the desk of the profile of this index in place of the open one."""

    async def open_panel(self, name: str) -> None: ...
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


def ask_in_dialog(node: DOMNode, dialog: Screen[_Answer | None], then: Callable[[_Answer], object]) -> None:
    """Open a dialog and call `then` with its answer; a dialog that was left has none."""

    async def take(answer: _Answer | None) -> None:
        # Await coroutines alone: with Textual's own awaitables a screen would wait for itself to be closed.
        if answer is not None and iscoroutine(work := then(answer)):
            await work

    node.app.push_screen(dialog, take)


class OpenMessage(Message):
    """The messages that `open_posted` in `ui/application/lazy_imports.py` handles."""


class OpenScreenList(OpenMessage): ...


class OpenAlerts(OpenMessage): ...


@dataclass(eq=False)
class OpenNewAlert(OpenMessage):
    """The form of a new alert, with the symbol filled in where there is one."""

    symbol: str = ""


class OpenMoney(OpenMessage): ...


@dataclass(eq=False)
class OpenTrips(OpenMessage):
    """The round trips that ended in a period, of these symbols or of all."""

    period: Period
    symbols: tuple[str, ...] | None = None


class OpenJournal(OpenMessage): ...


@dataclass(eq=False)
class OpenCreation(OpenMessage):
    """The form of the creation of this name, or the list of all creations."""

    name: str | None = None


@dataclass(eq=False)
class OpenDetail(OpenMessage):
    """Every field of a row; `title` names it, `feed_name` its feed, empty without one."""

    title: str
    row_id: str
    record: object
    zone: tzinfo
    feed_name: str


@dataclass(eq=False)
class OpenHistory(OpenMessage):
    """Every archived row of a panel; `panel` is `fills` or `triggers`, `dates` and `product` narrow them.

    `beyond_rows` is the rest of the opened figure, such as `funding -14.86 USDT`.
    """

    panel: str
    dates: DateFilter | None = None
    beyond_rows: str = ""
    product: str | None = None


@dataclass(eq=False)
class OpenDates(OpenMessage):
    """The choice of dates and symbols of a table's rows; `chosen` gets it, or None for all rows.

    `now_ms` is the end of spans such as `7d`, in Unix milliseconds. `whole_days` refuses times of day.
    """

    title: str
    before: DateFilter | None
    now_ms: int
    zone: tzinfo
    chosen: Callable[[DateFilter | None], None]
    whole_days: bool = False


@dataclass(eq=False)
class OpenSort(OpenMessage):
    """The choice of a column to order the rows by; `chosen` gets its id, None for the order they come in.

    `subject` names the rows, `under_cursor` a column's id, `keys` the keys that open the list, by Textual's names.
    """

    subject: str
    columns: Sequence[Column[Never]]
    under_cursor: str
    sort: Sort | None
    keys: Sequence[str]
    chosen: Callable[[str | None], None]


@dataclass(eq=False)
class OpenColumns(OpenMessage):
    """The choice of a table's columns, which `chosen` gets; `default` are those until somebody chooses."""

    table: Table[object]
    default: Sequence[Column[Never]]
    subject: str
    chosen: Callable[[TableChoice], None]


class OpenProfiles(OpenMessage): ...


class OpenManual(OpenMessage): ...


@dataclass(eq=False)
class OpenLookup(Message):
    """The lookup of one kind of record, which the application itself holds; with texts, its form opens filled in."""

    table: str
    texts: Mapping[str, str] | None = None


@dataclass(eq=False)
class OpenReversal(OpenMessage):
    """The reversal of a target; with None, a dialog asks for the target first."""

    target: Target | None


@dataclass(eq=False)
class OpenExport(OpenMessage):
    """The export of rows into a file, whose proposed name begins with `file_stem`; `title` names the rows."""

    rows: RowSource[object]
    columns: Sequence[Column[object]]
    file_stem: str
    title: str

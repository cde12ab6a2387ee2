"""How the application and its screens know each other: what either asks of the other, and what is to be opened.

Neither imports the other. Both look in here, and so does every dialog and widget. What a screen wants opened that it
does not know it posts as a message: the application takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from inspect import iscoroutine
from typing import TYPE_CHECKING, ClassVar, Never, Protocol, TypeGuard, TypeVar, cast, runtime_checkable

from textual.message import Message

from tradetui.ui.key_bindings.binding_registry import RESULTS
from tradetui.ui.key_bindings.key_queue import KeyOrder, TypedInput
from tradetui.ui.settings.preferences import ScreenPreferences, TableChoice

if TYPE_CHECKING:
    from textual import events
    from textual.dom import DOMNode
    from textual.screen import Screen

    from tradetui.desk.desk import Desk
    from tradetui.desk.results.period import Period
    from tradetui.desk.reversal.preview import Target
    from tradetui.desk.tables.cells.column import Column
    from tradetui.desk.tables.rows.date_filter import DateFilter
    from tradetui.desk.tables.rows.row_source import RowSource, Sort
    from tradetui.desk.tables.table import Table
    from tradetui.ui.settings.ui_settings import ProfileLook, UiSettings

_Answer = TypeVar("_Answer")


@runtime_checkable
class KeyedScreen(Protocol):
    """A screen that the registry of bindings names, and that is no dialog."""

    where: ClassVar[str]

    def blocking_reason(self, binding: str) -> str | None:
        """Why a binding can do nothing now, None where it can."""

    def hides(self, binding: str) -> bool:
        """Whether a binding is absent in this session."""

    async def run_action(self, action: str) -> None:
        """Do what a binding does."""

    def say_unbound(self, event: events.Key) -> None:
        """Say of a key that nothing took that it does nothing here."""

    def show_alert(self) -> None:
        """There is a new alert."""


def is_of_results(screen: object) -> TypeGuard[KeyedScreen]:
    """Whether a screen shows results or round trips."""
    return getattr(screen, "where", "") in RESULTS


@runtime_checkable
class FollowsDesk(Protocol):
    """A screen that says how the account is or what may be done now, which the desk may change at any time."""

    def desk_changed(self) -> None:
        """The desk has published something."""


@runtime_checkable
class FollowsRow(Protocol):
    """A screen about one row of a panel."""

    def follow(self, feed_name: str, rows: RowSource[object]) -> None:
        """Show the row as it is among these rows of a feed."""


@runtime_checkable
class SeesEveryKey(Protocol):
    """A screen that sees every key before whatever has the focus."""

    def before_key(self, event: TypedInput) -> bool:
        """Whether the key goes on to what has the focus."""


class TradingApp(Protocol):
    """What they ask it; what is to be opened they post as a message."""

    key_order: KeyOrder
    settings: UiSettings
    failure: str | None
    """Why the account chosen could not be opened."""

    @property
    def desk(self) -> Desk | None:
        """The open desk, None while one is being opened."""

    @property
    def preferences(self) -> ScreenPreferences:
        """What was chosen on the screen: theme, columns, order."""

    @property
    def chosen(self) -> int:
        """The index of the open profile."""

    @property
    def looks_up(self) -> bool:
        """Whether the screen of a lookup covers the panels."""

    @property
    def keyed_screen(self) -> KeyedScreen:
        """The lookup that is open, else the main screen: whose keys help and palette show."""

    def remember_table(self, name: str, choice: TableChoice) -> None:
        """Show a table the same way next time."""

    def open_profile(self, chosen: int) -> None:
        """Open the desk of the profile of this index in place of the open one."""

    async def open_panel(self, name: str) -> None:
        """Go to a panel of the main screen."""

    def refresh_header(self) -> None:
        """Bring the header of the main screen up to date at once, behind a dialog too."""

    async def leave_lookup(self) -> None:
        """Go back to the main screen."""

    def copy(self, text: str | None, what: str) -> None:
        """Put text on the clipboard and say what it was."""

    def use_look(self, look: ProfileLook) -> None:
        """Show the screen as a profile wants it: theme, zone, keys, columns and order."""

    def use_mouse(self, *, on: bool) -> None:
        """Take the mouse, or leave it to the terminal."""

    def choose_theme(self, name: str) -> None:
        """Take other colours."""

    def key_named(self, id_: str) -> str:
        """The first key of the binding of an id, as the profile has it and a person writes it."""

    def lock_or_unlock(self) -> None:
        """Lock trading at once; unlocking asks first."""

    def action_leave(self) -> None:
        """Quit; asks while an intent is unsettled."""


def trading_app(node: DOMNode) -> TradingApp:
    return cast(TradingApp, node.app)


def ask_in_dialog(node: DOMNode, dialog: Screen[_Answer | None], then: Callable[[_Answer], object]) -> None:
    """Open a dialog; `then` is called with its answer, and not where it was left, which is None."""

    async def take(answer: _Answer | None) -> None:
        # Of Textual's own awaitables none: a screen that is asked to leave must not wait for itself to be gone.
        if answer is not None and iscoroutine(work := then(answer)):
            await work

    node.app.push_screen(dialog, take)


class OpenMessage(Message):
    """What `open_posted` in `ui/application/lazy_imports.py` opens."""


class OpenScreenList(OpenMessage):
    """The list of every panel and lookup."""


class OpenAlerts(OpenMessage):
    """The alerts of the profile, and the log of what was alerted."""


class OpenMoney(OpenMessage):
    """What the account brought in."""


@dataclass(eq=False)
class OpenTrips(OpenMessage):
    """The round trips that ended in a period, of these symbols or of all."""

    period: Period
    symbols: tuple[str, ...] | None = None


class OpenJournal(OpenMessage):
    """The journal of what was sent."""


@dataclass(eq=False)
class OpenCreation(OpenMessage):
    """The form of what can be created by this name; the list of all where there is none."""

    name: str | None = None


@dataclass(eq=False)
class OpenDetail(OpenMessage):
    """Every field of a row; `title` says what it is, `feed_name` which feed it comes from, empty where from none."""

    title: str
    row_id: str
    record: object
    zone: tzinfo
    feed_name: str


@dataclass(eq=False)
class OpenHistory(OpenMessage):
    """Every row of a panel that was ever seen; `panel` is `fills` or `triggers`, `dates` and `product` narrow them.

    `beyond_rows` is what else the figure that was opened is made of, such as `funding -14.86 USDT`.
    """

    panel: str
    dates: DateFilter | None = None
    beyond_rows: str = ""
    product: str | None = None


@dataclass(eq=False)
class OpenDates(OpenMessage):
    """The choice of dates and symbols for the rows of a table; `chosen` is called with it, with None for all of them.

    `now_ms` is the moment that spans such as `7d` end at, in Unix milliseconds. `whole_days` refuses times of day.
    """

    title: str
    before: DateFilter | None
    now_ms: int
    zone: tzinfo
    chosen: Callable[[DateFilter | None], None]
    whole_days: bool = False


@dataclass(eq=False)
class OpenSort(OpenMessage):
    """The choice of a column to order the rows by; `chosen` is called with its id, None for the order they come in.

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
    """The choice of a table's columns; `chosen` is called with it. `subject` names the rows.

    `default` are the columns that stand as long as nobody chooses any.
    """

    table: Table[object]
    default: Sequence[Column[Never]]
    subject: str
    chosen: Callable[[TableChoice], None]


class OpenProfiles(OpenMessage):
    """The list of profiles, to open another one."""


@dataclass(eq=False)
class OpenLookup(Message):
    """The lookup of one kind of record, opened by the application itself, which holds it.

    With texts its form opens, filled in with them.
    """

    table: str
    texts: Mapping[str, str] | None = None


@dataclass(eq=False)
class OpenReversal(OpenMessage):
    """The reversal of a target; None asks for it first."""

    target: Target | None


@dataclass(eq=False)
class OpenExport(OpenMessage):
    """Writing rows into a file, whose proposed name begins with `file_stem`; `title` says what they are."""

    rows: RowSource[object]
    columns: Sequence[Column[object]]
    file_stem: str
    title: str

"""What screens ask of the application, and what the application asks of screens: neither imports the other.

A screen that is to be opened by another one is asked for by a message of `ui/messages.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeGuard, cast, runtime_checkable

from tradetui.ui.keys.key_order import KeyOrder, TypedInput
from tradetui.ui.keys.registry import RESULTS
from tradetui.ui.preferences import ScreenPreferences, TableChoice

if TYPE_CHECKING:
    from textual import events
    from textual.dom import DOMNode

    from tradetui.desk.desk import Desk
    from tradetui.desk.tables.row_source import RowSource
    from tradetui.ui.settings import ProfileLook, UiSettings


class TradingApp(Protocol):
    """The application as its screens and dialogs see it."""

    key_order: KeyOrder
    settings: UiSettings

    @property
    def desk(self) -> Desk | None:
        """The open desk, None while one is being opened."""
        ...

    @property
    def preferences(self) -> ScreenPreferences:
        """What was chosen on the screen: theme, columns, order."""
        ...

    @property
    def chosen(self) -> int:
        """The index of the open profile."""
        ...

    @property
    def looks_up(self) -> bool:
        """Whether the screen of a lookup covers the panels."""
        ...

    @property
    def keyed_screen(self) -> KeyedScreen:
        """The lookup that is open, else the main screen: whose keys help and palette show."""
        ...

    def remember_table(self, name: str, choice: TableChoice) -> None:
        """Show a table the same way next time."""
        ...

    def open_profile(self, chosen: int) -> None:
        """Open the desk of the profile of this index in place of the open one."""
        ...

    async def open_panel(self, name: str) -> None:
        """Go to a panel of the main screen."""
        ...

    async def leave_lookup(self) -> None:
        """Go back to the main screen."""
        ...

    def copy(self, text: str | None, what: str) -> None:
        """Put text on the clipboard and say what it was."""
        ...

    def use_look(self, look: ProfileLook) -> None:
        """Show the screen as a profile wants it: theme, zone, keys, columns and order."""
        ...

    def use_mouse(self, *, on: bool) -> None:
        """Take the mouse, or leave it to the terminal."""
        ...

    def choose_theme(self, name: str) -> None:
        """Take other colours."""
        ...

    def lock_or_unlock(self) -> None:
        """Lock trading at once; unlocking asks first."""
        ...

    def action_help(self) -> None:
        """Show every key and what it does."""
        ...

    def action_leave(self) -> None:
        """Quit; asks while an intent is unsettled."""
        ...


def trading_app(node: DOMNode) -> TradingApp:
    """The application that a screen or widget belongs to."""
    return cast(TradingApp, node.app)


class KeyedScreen(Protocol):
    """A screen of the registry of keys: the main screen, or that of a lookup."""

    where: ClassVar[str]

    def blocking_reason(self, binding: str) -> str | None:
        """Why a binding can do nothing now, None where it can."""
        ...

    def hides(self, binding: str) -> bool:
        """Whether a binding is absent in this session."""
        ...

    async def run_action(self, action: str) -> None:
        """Do what a binding does."""
        ...


def is_of_results(screen: object) -> TypeGuard[KeyedScreen]:
    """Whether a screen shows results or round trips."""
    return getattr(screen, "where", "") in RESULTS


@runtime_checkable
class FollowsDesk(Protocol):
    """A dialog that says what may be done now, which the desk may change at any time."""

    def desk_changed(self) -> None:
        """The desk has published something."""
        ...


@runtime_checkable
class SaysUnboundKeys(Protocol):
    """A screen that says of a key that it does nothing there."""

    def say_unbound(self, event: events.Key) -> None:
        """Nothing took this key."""
        ...


@runtime_checkable
class ShowsAlerts(Protocol):
    """A screen on which an alert is seen without a message in a corner."""

    def show_alert(self) -> None:
        """There is a new alert."""
        ...


@runtime_checkable
class FollowsRow(Protocol):
    """A screen about one row of a panel."""

    def follow(self, feed_name: str, rows: RowSource[object]) -> None:
        """Show the row as it is among these rows of a feed."""
        ...


@runtime_checkable
class SeesEveryKey(Protocol):
    """A screen that sees every key before whatever has the focus."""

    def before_key(self, event: TypedInput) -> bool:
        """Whether the key goes on to what has the focus."""
        ...

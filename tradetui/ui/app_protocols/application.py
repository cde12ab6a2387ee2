"""The application as its screens and dialogs see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from tradetui.ui.app_protocols.screens import KeyedScreen
from tradetui.ui.key_bindings.key_queue import KeyOrder
from tradetui.ui.settings.preferences import ScreenPreferences, TableChoice

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from tradetui.desk.desk import Desk
    from tradetui.ui.settings.ui_settings import ProfileLook, UiSettings


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

    def action_help(self) -> None:
        """Show every key and what it does."""

    def action_leave(self) -> None:
        """Quit; asks while an intent is unsettled."""


def trading_app(node: DOMNode) -> TradingApp:
    """The application that a screen or widget belongs to."""
    return cast(TradingApp, node.app)

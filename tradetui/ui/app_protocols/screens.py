"""What the application asks of a screen: each protocol is one thing that some screens can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeGuard, runtime_checkable

from tradetui.ui.key_bindings.binding_registry import RESULTS
from tradetui.ui.key_bindings.key_queue import TypedInput

if TYPE_CHECKING:
    from textual import events

    from tradetui.desk.tables.rows.row_source import RowSource


class KeyedScreen(Protocol):
    """A screen that the registry of bindings names: the main screen, a lookup, a list or a row's detail."""

    where: ClassVar[str]

    def blocking_reason(self, binding: str) -> str | None:
        """Why a binding can do nothing now, None where it can."""

    def hides(self, binding: str) -> bool:
        """Whether a binding is absent in this session."""

    async def run_action(self, action: str) -> None:
        """Do what a binding does."""


def is_of_results(screen: object) -> TypeGuard[KeyedScreen]:
    """Whether a screen shows results or round trips."""
    return getattr(screen, "where", "") in RESULTS


@runtime_checkable
class FollowsDesk(Protocol):
    """A dialog that says what may be done now, which the desk may change at any time."""

    def desk_changed(self) -> None:
        """The desk has published something."""


@runtime_checkable
class SaysUnboundKeys(Protocol):
    """A screen that says of a key that it does nothing there."""

    def say_unbound(self, event: events.Key) -> None:
        """Nothing took this key."""


@runtime_checkable
class ShowsAlerts(Protocol):
    """A screen on which an alert is seen without a message in a corner."""

    def show_alert(self) -> None:
        """There is a new alert."""


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

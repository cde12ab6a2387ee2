"""Which keys of the main screen can do something now, and why the others cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tradetui.desk.settings import Access
from tradetui.desk.tables.table import TRIGGERS
from tradetui.ui.main.panel import Panel

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.tables.rows.row_source import FeedRow
    from tradetui.ui.settings.ui_settings import UiSettings


class PossibleActions(NamedTuple):
    """The actions that the desk, None before it is open, and the focused panel allow."""

    desk: Desk | None
    panel: Panel[FeedRow]
    settings: UiSettings

    @property
    def may_trade(self) -> bool:
        """Whether the session may send anything, or is expected to before it is open."""
        return self.settings.access != Access.MONITOR if self.desk is None else self.desk.intents is not None

    @property
    def has_other_view(self) -> bool:
        """Whether the panel has another view: of triggers, the waiting ones, if the exchange reports them."""
        return self.desk is not None and self.desk.has_other_view(self.panel.kind.name)

    def by_binding(self) -> dict[str, bool]:
        """Whether a binding of the main screen can do something now, by its id; `REASONS` has why it cannot."""
        desk, has_history = self.desk, self.panel.kind.history_title is not None
        trades = desk is not None and desk.intents is not None
        return {
            "history": has_history and desk is not None and desk.archive is not None,
            "dates": has_history and desk is not None,
            "view": self.has_other_view,
            "product": desk is None or len(desk.settings.product_types) > 1,
            "profile": len(self.settings.profiles) > 1,
            "poll_now": desk is not None,
            "reverse": trades,
            "lock": trades,
            "lock_at_once": trades,
        }

    def blocking_reason(self, binding: str, failure: str | None) -> str | None:
        """Why a binding does nothing now, where `REASONS` is not exact; `failure` is why no desk could be opened."""
        desk = self.desk
        if desk is None and binding in ("reverse", "lock", "lock_at_once") and self.may_trade:
            return failure or "still starting"
        if binding == "view" and self.panel.kind.name == TRIGGERS.name and not self.has_other_view:
            return "the exchange does not report the stops that wait"
        if binding == "history" and desk is not None and desk.archive is None:
            if desk.storage.trouble:
                return f"nothing is saved: {desk.storage.trouble}"
            if self.panel.kind.history_title is not None:
                return "the account is not known yet"
        return None

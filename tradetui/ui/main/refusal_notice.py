"""The lines above the panels that say, once and whole, that the exchange refuses the account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.widgets import Static

from tradetui.ui.safe_text import sanitized

if TYPE_CHECKING:
    from tradetui.desk.feeds.polling.health import Health

PROBED: Final = "The exchange is asked again once a minute."


class RefusalNotice(Static):
    """Not there while nothing is refused."""

    def __init__(self) -> None:
        super().__init__(id="refused", markup=False)
        self._sentences = ""

    def show(self, health: Health | None) -> None:
        """Say what the session's health is about; None while there is no session."""
        refused = health is not None and health.of_account
        sentences = f"{health.sentence}. {health.remedy} {PROBED}" if health is not None and refused else ""
        if sentences != self._sentences:
            self._sentences = sentences
            self.update(sanitized(sentences))
            self.display = bool(sentences)

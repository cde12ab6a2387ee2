"""The line above the keys that says the newest alert."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from textual.widgets import Static

from tradetui.ui.safe_text import sanitized
from tradetui.wire.unix_time import utc_moment

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk


class NewestAlert(Static):
    """One line, cut with an ellipsis where it is too long; not there while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__(id="newest-alert", markup=False)
        self._sentence = ""

    def show_newest(self, desk: Desk | None, zone: tzinfo) -> None:
        """Say the newest alert by its time in a zone; nothing once the list of alerts was looked at."""
        alerts = desk.alerts if desk is not None else None
        sentence = ""
        if alerts is not None and alerts.unseen and alerts.newest is not None:
            time = utc_moment(alerts.newest.at_ms).astimezone(zone)
            sentence = f"{time:%H:%M}  {alerts.newest.sentence}"
        self._show(sentence)

    def _show(self, sentence: str) -> None:
        if sentence == self._sentence:
            return
        self._sentence = sentence
        self.update(sanitized(sentence), layout=False)  # its height is one line whatever it says
        self.display = bool(sentence)

"""What the main screen says beside its panels: that the exchange refuses the account, that a position has gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.app import App
from textual.widgets import Static

from tradetui.ui.safe_text import notify, sanitized

if TYPE_CHECKING:
    from tradetui.desk.feeds.polling.session_health import Health
    from tradetui.trading.positions import Position
    from tradetui.ui.table.record_table import RecordTable


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


class PauseBanner(Static):
    """Not there while rows follow what is read."""

    def __init__(self) -> None:
        super().__init__(id="banner", markup=False)

    def show(self, key: str) -> None:
        """Say that rows stand still, and which key lets them go on."""
        self.update(sanitized(f"PAUSED: rows stand still while reading goes on · {key} resumes"))
        self.display = True


class StorageNotice:
    """Says once what keeps rows from being saved."""

    def __init__(self) -> None:
        self._trouble: str | None = None

    def note(self, app: App[object], trouble: str | None) -> None:
        """Say what is wrong with the archive now, unless it was said; None where nothing is."""
        if trouble and trouble != self._trouble:
            notify(app, f"Rows are not saved beyond this session: {trouble}", severity="warning", seconds=60)
        self._trouble = trouble


class VanishedPosition:
    """The position that has gone from under the cursor since the key before; keys of one burst are one key."""

    def __init__(self, table: RecordTable[Position]) -> None:
        self._table = table
        self._position: Position | None = None

    def note_key(self, *, in_burst: bool) -> None:
        if self._table.cursor.vanished is not None or not in_burst:
            self._position, self._table.cursor.vanished = self._table.cursor.vanished, None

    @property
    def sentence(self) -> str:
        """That it has gone; empty where none has."""
        if self._position is None:
            return ""
        leg = "LONG" if self._position.is_long else "SHORT"
        return f"{self._position.symbol} {leg} has just closed; press the key again for the row under the cursor now."

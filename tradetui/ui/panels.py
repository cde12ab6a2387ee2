"""A panel: a bordered table of one feed whose title tells name, count, age and state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from tradetui.desk.columns import Column
from tradetui.desk.rows import RowSource
from tradetui.ui.record_table import RecordTable
from tradetui.ui.safe import plain

if TYPE_CHECKING:
    from tradetui.desk.feed import Feed

TITLES = {
    "accounts": "Accounts",
    "positions": "Positions",
    "orders": "Pending orders",
    "fills": "Fills",
    "triggers": "Trigger history",
}
NOTHING = {
    "accounts": "No futures account here.\nThe profile's product_types choose which are read; p filters.",
    "positions": "No open position.\nWhat is opened elsewhere appears here within two seconds.",
    "orders": "No pending order.",
    "fills": "No fill in the exchange's last three months.",
    "triggers": "No past trigger order in the last three months.",
}
STARTING = "starting …"
FAINT_STEPS = ((3600.0, 3600, "h"), (120.0, 60, "min"), (60.0, 60, "min"), (0.0, 10, "s"))


class Panel(Vertical):
    """One feed on the screen."""

    def __init__(self, name: str, columns: Sequence[Column], number: int) -> None:
        super().__init__(id=f"panel-{name}")
        self.feed_name = name
        self._number = number
        self._shown_generation = -1
        self.table = RecordTable(columns, id=f"table-{name}")
        self._words = Static(plain(STARTING), classes="words", markup=False)
        self.border_title = self._title("")
        self.add_class("empty")

    def compose(self) -> ComposeResult:
        yield self.table
        yield self._words

    def show(self, feed: Feed, now: float) -> None:
        """Show what the feed knows now; nothing is repainted that has not changed."""
        snapshot = feed.snapshot
        if snapshot.generation != self._shown_generation:
            self._shown_generation = snapshot.generation
            self.table.set_source(snapshot)
        self.show_state(feed, now)

    def show_state(self, feed: Feed, now: float) -> None:
        """Bring title, age and words for an empty panel up to date."""
        snapshot = feed.snapshot
        state = str(feed.freshness)
        self._set("border_title", self._title(self._count(snapshot)))
        trouble = snapshot.error is not None or state in ("stale", "dead")
        self.set_class(trouble, "trouble")
        parts = []
        if state in ("stale", "dead"):
            parts.append(f"{state} {coarse(snapshot.age(now) or 0.0)}")
        if snapshot.error is not None:
            parts.append(snapshot.error.sentence)
        if snapshot.lost:
            parts.append(f"{snapshot.lost} rows unreadable")
        if snapshot.note and not parts:
            parts.append(snapshot.note)
        self._set("border_subtitle", plain(" · ".join(parts)[:120]).plain)
        self._show_words(snapshot)

    def _show_words(self, snapshot: RowSource) -> None:
        empty = self.table.shown == 0
        self.set_class(empty, "empty")
        if not empty:
            return
        error = getattr(snapshot, "error", None)
        loaded = getattr(snapshot, "read_at", None) is not None
        if snapshot.count:
            words = "No row matches. Esc clears the filter, p shows all product types."
        elif error is not None:
            words = f"{error.sentence}\n{error.remedy}"
        elif loaded:
            words = NOTHING[self.feed_name]
        else:
            words = "reading …"
        if words != getattr(self, "_shown_words", None):
            self._shown_words = words
            self._words.update(plain(words), layout=False)

    def _count(self, snapshot: Any) -> str:
        if snapshot.read_at is None:
            return ""
        shown, count = self.table.shown, snapshot.count
        return f"{shown}/{count}" if shown != count else f"{count}"

    def _title(self, count: str) -> str:
        parts = [f"{self._number} {TITLES[self.feed_name]}"]
        if count:
            parts.append(count)
        if self.table.pattern:
            parts.append(f"/{self.table.pattern}/")
        return plain(" ".join(parts)).plain.replace("[", "\\[")

    def _set(self, name: str, text: str) -> None:
        # A border title costs a repaint of the whole border, so it is set only when it reads otherwise.
        shown = self.__dict__.setdefault("_titles", {})
        if shown.get(name) != text:
            shown[name] = text
            setattr(self, name, text if name == "border_title" else text.replace("[", "\\["))


def coarse(seconds: float) -> str:
    """An age in steps: tens of seconds, minutes, hours."""
    if seconds >= 3600:
        return f"{int(seconds // 3600)} h"
    if seconds >= 60:
        return f"{int(seconds // 60)} min"
    return f"{int(seconds // 10) * 10} s"

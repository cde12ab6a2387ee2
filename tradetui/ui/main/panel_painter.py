"""Paints the panels with the rows of their feeds, and knows which rows came and were not painted yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tradetui.ui.main.panel import Panel

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.polling.snapshot import Snapshot
    from tradetui.desk.tables.rows.row_source import FeedRow


class PanelPainter:
    """`fresh` holds the feeds whose newest rows are not painted; a hidden panel's stays in it until it is shown."""

    def __init__(self, panels: Mapping[str, Panel[FeedRow]]) -> None:
        self._panels = panels
        self.fresh: set[str] = set()

    def note(self, name: str) -> None:
        """Rows of a feed came that are not on the screen."""
        self.fresh.add(name)

    def rows_of(self, desk: Desk, name: str) -> Snapshot[FeedRow]:
        return desk.panel_rows(name, other_view=self._panels[name].in_other_view)

    def paint_fresh(self, desk: Desk) -> None:
        """Show what is new in the panels that are on the screen."""
        self.paint(desk, sorted(name for name in self.fresh if self._panels[name].display))

    def paint(self, desk: Desk, names: Iterable[str]) -> None:
        """Show the rows of these panels anew, though the others may stand still."""
        for name in names:
            self.fresh.discard(name)
            self._panels[name].show(desk.feeds[name], desk.clock.monotonic(), self.rows_of(desk, name))

    def show_states(self, desk: Desk) -> None:
        """Bring titles and ages of the panels on the screen up to date."""
        for name, panel in self._panels.items():
            if panel.display:
                panel.show_state(desk.feeds[name], desk.clock.monotonic(), self.rows_of(desk, name))

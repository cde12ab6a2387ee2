"""What each panel that is not on the screen would be opened for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tradetui.desk.tables.table import PANELS
from tradetui.ui.main.hidden_panels import HiddenPanel
from tradetui.ui.main.panel import has_trouble
from tradetui.wire.text.sanitize import scrub

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.tables.cells.cell_format import CellFormat


class PanelHeadlines:
    """Works each headline out once for rows that stay the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, str]] = {}

    def of_panels(
        self, names: Sequence[str], desk: Desk | None, cell_format: CellFormat, key_named: Callable[[str], str]
    ) -> list[HiddenPanel]:
        """These panels, and after them the alerts that nobody has looked at; `key_named` gives a binding's key."""
        panels = [self._of(name, key_named(name), desk, cell_format) for name in names]
        unseen = desk.alerts.unseen if desk is not None else 0
        if panels and unseen:
            panels.append(HiddenPanel("alerts", key_named("alerts"), "Alerts", "", f"{unseen} new", False))
        return panels

    def _of(self, name: str, key: str, desk: Desk | None, cell_format: CellFormat) -> HiddenPanel:
        """A panel with the number of its rows and its headline; with neither before it was read."""
        table = PANELS[name]
        feed = desk.feeds[name] if desk is not None else None
        if desk is None or feed is None or feed.snapshot.read_at is None:
            return HiddenPanel(name, key, table.label, "", "", feed is not None and has_trouble(feed))
        rows = desk.panel_rows(name, other_view=False)
        written_of = (rows.generation, cell_format)
        if name not in self._known or self._known[name][0] != written_of:
            headline = table.view.headline(rows.rows, cell_format) if table.view.headline is not None else ""
            self._known[name] = (written_of, scrub(headline))
        return HiddenPanel(name, key, table.label, f"{rows.count:,}", self._known[name][1], has_trouble(feed))

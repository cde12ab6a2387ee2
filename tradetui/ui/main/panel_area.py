"""The five panels on the main screen: which are visible, and whose rows are still to be painted.

All are in one container: nested containers would each draw, cut and cache all their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from textual.geometry import NULL_OFFSET, NULL_SPACING, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from tradetui.desk.feeds.polling.feed import FeedError
from tradetui.desk.feeds.polling.session_health import LOST_LINKS
from tradetui.desk.tables.table import PANELS, POSITIONS
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.main.panel import Panel, PanelNeed, PanelReading, panels_shown, regions
from tradetui.ui.table.table_screen import show_choice

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.polling.feed import Snapshot
    from tradetui.desk.tables.rows.row_source import FeedRow
    from tradetui.ui.settings.ui_settings import ScreenPreferences

FEW_ROWS: Final = 2


class PanelArea(Widget):
    """Holds the panels, which cover it, so that it draws nothing itself."""

    BLANK = True

    def __init__(self, key_named: Callable[[Action], str]) -> None:
        self.positions_panel = Panel(POSITIONS, key_named)
        self.panels: Mapping[str, Panel[FeedRow]] = {
            name: self.positions_panel if name == POSITIONS.name else Panel(table, key_named)
            for name, table in PANELS.items()
        }
        super().__init__(*self.panels.values(), id="panels")
        self._placing = _PanelLayout()
        self.zoomed = False  # whether one panel takes the whole screen
        self.unpainted: set[str] = set()
        """The feeds whose newest rows are not painted; that of a hidden panel stays here until it is shown."""

    @property
    def shown(self) -> tuple[str, ...]:
        return self._placing.shown

    def rearrange(self, terminal: Size, focused: str) -> list[str]:
        """Show the panels that fit the terminal, by their content; returns the newly visible ones."""
        before = self.shown
        shown = panels_shown(terminal.width, terminal.height, focused, before, zoomed=self.zoomed)
        revealed = [name for name in shown if not self.panels[name].display or name not in before]
        for name, panel in self.panels.items():
            panel.display = name in shown
        self._placing.shown = shown
        self._take_needs()
        return revealed

    def follow_rows(self) -> None:
        """Lay out again if a panel has gained or lost many rows since the last layout."""
        laid_out = self._placing.needs
        if any(_is_worth_a_layout(self.panels[name].full_lines, laid_out[name].lines) for name in self.shown):
            self._take_needs()

    def _take_needs(self) -> None:
        needs = {name: panel.need for name, panel in self.panels.items()}
        if needs != self._placing.needs:
            self._placing.needs = needs
            self.refresh(layout=True)

    def use_preferences(self, preferences: ScreenPreferences) -> None:
        for name in self.panels.keys() & preferences.tables.keys():
            # The list of all columns imports the interface's models, so only tables with a choice use it.
            show_choice(self.panels[name].table, self.panels[name].kind, preferences.tables[name])

    def paint(self, desk: Desk, names: Iterable[str]) -> None:
        """Show the newest rows of these panels, even if the others stand still."""
        for name in names:
            self.unpainted.discard(name)
            reading = self._read(desk, name)
            self.panels[name].show_rows(reading.rows)
            self.panels[name].show_state(reading)

    def paint_newest(self, desk: Desk) -> None:
        """Show the newest rows of visible panels; `show_states` has to follow."""
        for name in sorted(name for name in self.unpainted if self.panels[name].display):
            self.unpainted.discard(name)
            self.panels[name].show_rows(self.rows_of(desk, name))

    def show_states(self, desk: Desk) -> None:
        for name, panel in self.panels.items():
            if panel.display:
                panel.show_state(self._read(desk, name))

    def rows_of(self, desk: Desk, name: str) -> Snapshot[FeedRow]:
        return desk.panel_rows(name, other_view=self.panels[name].in_other_view)

    def _read(self, desk: Desk, name: str) -> PanelReading[FeedRow]:
        """A panel's feed as it stands now; before its first answer, with the error of the link."""
        feed = desk.feeds[name]
        error = feed.snapshot.error
        if error is None and feed.snapshot.read_at is None and (health := desk.health).state in LOST_LINKS:
            error = FeedError(health.sentence, health.remedy)
        return PanelReading(feed, desk.clock.monotonic(), self.rows_of(desk, name), error)

    @property
    def layout(self) -> Layout:
        return self._placing


def _is_worth_a_layout(lines: int, laid_out_lines: int) -> bool:
    """Whether a panel's content changed enough for the panels to jump: by more than a fifth, and a few rows."""
    return abs(lines - laid_out_lines) > max(FEW_ROWS, laid_out_lines // 5)


class _PanelLayout(Layout):
    name = "panels"

    def __init__(self) -> None:
        self.shown: tuple[str, ...] = ()
        self.needs: Mapping[str, PanelNeed] = {}

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        panels = {str(child.kind.name): child for child in children if isinstance(child, Panel)}
        placed = regions(self.shown, size.width, size.height, self.needs)
        return [
            WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, panels[name])
            for name, region in placed.items()
            if name in panels
        ]

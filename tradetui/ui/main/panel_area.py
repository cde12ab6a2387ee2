"""Where the panels lie, in one container that places all of them itself, and which of their rows are to be painted.

Containers within containers would each draw, cut and remember every line that their panels cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from tradetui.desk.feeds.polling.feed import Pace
from tradetui.desk.feeds.polling.session_health import LOST_LINKS
from tradetui.desk.feeds.polling.snapshot import FeedError
from tradetui.desk.tables.table import PANELS, POSITIONS
from tradetui.ui.main.layout import Arrangement, PanelNeed, Shape, arrangement, regions
from tradetui.ui.main.panel import Panel
from tradetui.ui.table.table_screen import show_choice

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.polling.feed import Feed
    from tradetui.desk.feeds.polling.snapshot import Snapshot
    from tradetui.desk.tables.cells.cell_format import CellFormat
    from tradetui.desk.tables.rows.row_source import FeedRow
    from tradetui.ui.settings.preferences import ScreenPreferences


FEW_ROWS: Final = 2


class PanelArea(Widget):
    """The panels that are shown, laid out by how many there are; they cover it, so that it draws nothing of its own."""

    BLANK = True

    def __init__(self, key_named: Callable[[str], str]) -> None:
        """`key_named` gives the key of a binding, for the panels' titles and sentences."""
        self.positions_panel = Panel(POSITIONS, key_named)
        self.panels: Mapping[str, Panel[FeedRow]] = {
            name: Panel(table, key_named) for name, table in PANELS.items()
        } | {POSITIONS.name: self.positions_panel}
        super().__init__(*self.panels.values(), id="panels")
        self._placing = _Placing()
        self._needs: Mapping[str, PanelNeed] = {}
        self.zoomed = False
        """Whether one panel takes the whole screen."""

    @property
    def shown(self) -> tuple[str, ...]:
        return self._placing.placed.shown

    def rearrange(self, terminal: Size, focused: str) -> list[str]:
        """Show what a terminal has room for, by what the panels hold now; gives those that come onto the screen."""
        before = self.shown
        placed = arrangement(terminal.width, terminal.height, focused, before, zoomed=self.zoomed)
        revealed = [name for name in placed.shown if not self.panels[name].display or name not in before]
        for name, panel in self.panels.items():
            panel.display = name in placed.shown
        self._placing.placed = placed
        self._take_needs()
        return revealed

    def follow_rows(self) -> None:
        """Share the room out anew where a panel holds many more rows, or many fewer, than when it was shared out."""
        if any(_differs(self.panels[name].full_lines, self._needs[name].lines) for name in self.shown):
            self._take_needs()

    def _take_needs(self) -> None:
        self._needs = {name: panel.need for name, panel in self.panels.items()}
        if self._needs != self._placing.needs:
            self._placing.needs = self._needs
            self.refresh(layout=True)

    def reset(self) -> None:
        """Nothing of the desk before stays on the screen."""
        for panel in self.panels.values():
            panel.reset()

    def say_failure(self, why: str) -> None:
        """Say in every panel why there is nothing to show."""
        for panel in self.panels.values():
            panel.say_failure(why)

    def show_product(self, product: str | None, cell_format: CellFormat) -> None:
        """Show the rows of a product type, or of all; dates stay."""
        for panel in self.panels.values():
            panel.narrow(product, panel.dates, cell_format)

    def use_defaults(self) -> None:
        """Columns and order that nobody chose."""
        for panel in self.panels.values():
            panel.use_defaults()

    def use_preferences(self, preferences: ScreenPreferences) -> None:
        """Columns and order of each panel as they were chosen before."""
        for name in self.panels.keys() & preferences.tables.keys():
            # Every field of the interface means the models: only where one of them was chosen.
            show_choice(self.panels[name].table, self.panels[name].kind, preferences.tables[name])

    def set_format(self, cell_format: CellFormat) -> None:
        """Write the cells of all panels in a format."""
        for panel in self.panels.values():
            panel.set_format(cell_format)

    def set_paces(self, desk: Desk, *, is_covered: bool) -> None:
        """Poll what is looked at at its own pace; what is hidden, or covered by another screen, more slowly."""
        for name, panel in self.panels.items():
            desk.set_pace(name, Pace.SHOWN if panel.display and not is_covered else Pace.HIDDEN)

    @property
    def layout(self) -> Layout:
        return self._placing


def _differs(now: int, then: int) -> bool:
    """Whether so many rows have come or gone that sizes are to follow; a few are not worth a jump."""
    return abs(now - then) > max(FEW_ROWS, then // 5)


class _Placing(Layout):
    name = "panels"

    def __init__(self) -> None:
        self.placed = Arrangement(Shape.SINGLE, ())
        self.needs: Mapping[str, PanelNeed] = {}

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        panels = {child.kind.name: child for child in children if isinstance(child, Panel)}
        placed = regions(self.placed, size.width, size.height, self.needs)
        return [
            WidgetPlacement(Region(*placed[name]), NULL_OFFSET, NULL_SPACING, panel)
            for name, panel in panels.items()
            if name in placed
        ]


class PanelPainter:
    """`fresh` holds the feeds whose newest rows are not painted; a hidden panel's stays in it until it is shown."""

    def __init__(self, panels: Mapping[str, Panel[FeedRow]]) -> None:
        self._panels = panels
        self.fresh: set[str] = set()

    def rows_of(self, desk: Desk, name: str) -> Snapshot[FeedRow]:
        return desk.panel_rows(name, other_view=self._panels[name].in_other_view)

    def paint_fresh(self, desk: Desk) -> None:
        """Show what is new in the panels that are on the screen."""
        self.paint(desk, sorted(name for name in self.fresh if self._panels[name].display))

    def paint(self, desk: Desk, names: Iterable[str]) -> None:
        """Show the rows of these panels anew, though the others may stand still."""
        for name in names:
            self.fresh.discard(name)
            feed = desk.feeds[name]
            self._panels[name].show(feed, desk.clock.monotonic(), self.rows_of(desk, name), _error_of(feed, desk))

    def show_states(self, desk: Desk) -> None:
        """Bring titles and ages of the panels on the screen up to date."""
        for name, panel in self._panels.items():
            if panel.display:
                feed = desk.feeds[name]
                panel.show_state(feed, desk.clock.monotonic(), self.rows_of(desk, name), _error_of(feed, desk))


def _error_of(feed: Feed[FeedRow], desk: Desk) -> FeedError | None:
    """Why the rows of a feed are not read; while it waits for its first answer, what is wrong with the link."""
    if feed.snapshot.read_at is not None or feed.snapshot.error is not None:
        return feed.snapshot.error
    health = desk.health
    return FeedError(health.sentence, health.remedy) if health.state in LOST_LINKS else None

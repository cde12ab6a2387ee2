"""Where the panels lie, in one container that places all of them itself, and which of their rows are to be painted.

Containers within containers would each draw, cut and remember every line that their panels cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from tradetui.desk.feeds.polling.health import LOST_LINKS
from tradetui.desk.feeds.polling.snapshot import FeedError
from tradetui.ui.main.layout import Arrangement, PanelNeed, Shape, arrangement, regions
from tradetui.ui.main.panel import Panel

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.polling.feed import Feed
    from tradetui.desk.feeds.polling.snapshot import Snapshot
    from tradetui.desk.tables.rows.row_source import FeedRow


FEW_ROWS: Final = 2


class PanelArea(Widget):
    """The panels that are shown, laid out by how many there are; they cover it, so that it draws nothing of its own."""

    BLANK = True

    def __init__(self, panels: Mapping[str, Panel[FeedRow]]) -> None:
        super().__init__(*panels.values(), id="panels")
        self._panels = panels
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
        revealed = [name for name in placed.shown if not self._panels[name].display or name not in before]
        for name, panel in self._panels.items():
            panel.display = name in placed.shown
        self._placing.placed = placed
        self._take_needs()
        return revealed

    def follow_rows(self) -> None:
        """Share the room out anew where a panel holds many more rows, or many fewer, than when it was shared out."""
        if any(_differs(self._panels[name].full_lines, self._needs[name].lines) for name in self.shown):
            self._take_needs()

    def _take_needs(self) -> None:
        self._needs = {name: panel.need for name, panel in self._panels.items()}
        if self._needs != self._placing.needs:
            self._placing.needs = self._needs
            self.refresh(layout=True)

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

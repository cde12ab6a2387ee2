"""Where the panels lie: one container that places all of them itself.

Containers within containers would each draw, cut and remember every line that their panels cover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from tradetui.ui.main.layout import Shape, arrangement, places
from tradetui.ui.main.panels import Panel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradetui.desk.tables.row_source import FeedRow


class PanelArea(Widget):
    """The panels that are shown, laid out by how many there are; they cover it, so that it draws nothing of its own."""

    BLANK = True

    def __init__(self, panels: Mapping[str, Panel[FeedRow]]) -> None:
        super().__init__(*panels.values(), id="panels")
        self._panels = panels
        self._placing = _Placing()
        self.shown: tuple[str, ...] = ()
        """The panels that are on the screen."""
        self.zoomed = False
        """Whether one panel takes the whole screen."""

    def rearrange(self, terminal: Size, focused: str) -> tuple[Shape, list[str]]:
        """Show what a terminal has room for; gives the shape, and the panels that come onto the screen."""
        placed = arrangement(terminal.width, terminal.height, focused, self.shown, zoomed=self.zoomed)
        revealed = [name for name in placed.shown if not self._panels[name].display or name not in self.shown]
        for name, panel in self._panels.items():
            panel.display = name in placed.shown
        self.shown = placed.shown
        return placed.shape, revealed

    @property
    def layout(self) -> Layout:
        """Ours."""
        return self._placing


class _Placing(Layout):
    name = "panels"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        panels = {child.kind.name: child for child in children if isinstance(child, Panel)}
        regions = places(tuple(panels), size.width, size.height)
        return [
            WidgetPlacement(Region(*regions[name]), NULL_OFFSET, NULL_SPACING, panel) for name, panel in panels.items()
        ]

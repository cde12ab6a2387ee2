"""The border around a table: its title at the left, its order and the columns that are not shown at the right."""

from __future__ import annotations

from typing import Final

from textual import on
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from tradetui.ui.sanitize import sanitized
from tradetui.ui.table.record_table import RecordTable

_AROUND: Final = 6
"""Cells of the border's top line that no title takes: corners, a line beside each, a blank before and after."""
_SHORTEST_LINE: Final = 3
"""Cells of the line between the two titles, with the blanks around it."""


class TableFrame(Container):
    """A container whose border names the one table in it; `heading` is the title at the left."""

    def __init__(self, *children: Widget, table: RecordTable[object], id: str, classes: str) -> None:
        super().__init__(*children, id=id, classes=classes)
        self._framed = table
        self.heading = Content()
        self._drawn: tuple[object, ...] = ()

    def entitle(self, heading: Content) -> None:
        """Take another title. A title costs a repaint of the whole border, so it is set only where it differs."""
        self.heading = heading
        aside = sanitized(self._aside())
        room = self.outer_size.width - _AROUND - heading.cell_length - aside.cell_length
        shown = (heading, aside, room, self.has_focus_within)
        if shown == self._drawn:
            return
        self._drawn = shown
        if not aside or room < _SHORTEST_LINE:
            self.border_title = heading
            return
        colour = "$primary" if self.has_focus_within else "$frame"
        line = "━" if self.has_focus_within and self.app.no_color else "─"
        between = f" {line * (room - 2)} "
        self.border_title = Content.assemble(heading, (between, f"not bold {colour}"), (aside.plain, "not bold $quiet"))

    def _aside(self) -> str:
        """The order of the rows, and how many columns are a key to the left and to the right."""
        table, parts = self._framed, []
        if (sort := table.sort) is not None:
            titles = {column.id: column.title for column in table.columns}
            parts.append(f"by {titles.get(sort.column, sort.column).lower()} {'▼' if sort.reverse else '▲'}")
        if table.columns_before:
            parts.append(f"← {table.columns_before}")
        if table.columns_after:
            parts.append(f"→ {table.columns_after} more")
        return " · ".join(parts)

    @on(RecordTable.Rearranged)
    def _rearranged(self) -> None:
        self.entitle(self.heading)

    def on_resize(self) -> None:
        """The line between the titles fills the border."""
        self.entitle(self.heading)

    def on_descendant_focus(self) -> None:
        """The line between the titles has the colour of the border."""
        self.entitle(self.heading)

    def on_descendant_blur(self) -> None:
        """The line between the titles has the colour of the border."""
        self.entitle(self.heading)

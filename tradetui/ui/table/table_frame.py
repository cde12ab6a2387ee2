"""The border around a table: its title at the left; at the right its order, and the columns without room.

If the border is too short, the right part is left out, because the title shows whose figures these are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual import events, on
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.safe_text import inside_sentence, sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.terminal.drawn_once import TrueColours
from tradetui.wire.text import counted

_CORNERS: Final = 6
"""Cells of the border's top line besides the titles: corners, a line beside each, a blank before and after."""
_SHORTEST_LINE: Final = 3  # cells of the line between the two titles, with the blanks around it


def nothing_matches(table: RecordTable[object], key_named: Callable[[Action], str], more: str = "") -> str:
    """The sentence in a table's place if its filter leaves no row; `key_named` gives the key of a binding.

    `more` is a sentence about rows that the table does not have yet.
    """
    none = f"None of {counted(table.model.source.count, 'row')} matches /{table.sort_filter.pattern}."
    return f"{' '.join(filter(None, (none, more)))}\n{key_named(Action.BACK)} clears the filter."


class TitledFrame(TrueColours, Container):
    """A container whose border has a title, the `heading`, at the left and a remark at the right."""

    def __init__(self, *children: Widget, id: str, classes: str = "panel") -> None:
        super().__init__(*children, id=id, classes=classes)
        self.heading = Content()
        self._remark = ""
        self._drawn: tuple[object, ...] = ()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Its lines; those inside the border are one strip: Textual caches the pieces of each for the screen."""
        lines = super().render_lines(crop)
        for y in range(1, len(lines)):
            if lines[y] == lines[y - 1]:
                lines[y] = lines[y - 1]
        return lines

    def entitle(self, heading: Content, remark: str = "") -> None:
        """Change title and remark, only if they differ, because a change repaints the whole border."""
        self.heading, self._remark = heading, remark
        right = sanitized(self._right_text())
        room = self.outer_size.width - _CORNERS - heading.cell_length - right.cell_length
        shown = (heading, right, room, self.has_focus_within)
        if shown == self._drawn:
            return
        self._drawn = shown
        if not right or room < _SHORTEST_LINE:
            self.border_title = heading
            return
        colour = "$primary" if self.has_focus_within else "$frame"
        line = "━" if self.has_focus_within and self.app.no_color else "─"
        between = f" {line * (room - 2)} "
        self.border_title = Content.assemble(heading, (between, f"not bold {colour}"), (right.plain, "not bold $quiet"))

    def _right_text(self) -> str:
        return self._remark

    @on(events.Resize)
    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    @on(RecordTable.Rearranged)
    def _entitle_again(self) -> None:
        self.entitle(self.heading, self._remark)


class TableFrame(TitledFrame):
    """A frame around one table, with its order and hidden columns as remark.

    The columns are counted; with `names_columns` they are named instead, as many as fit.
    """

    def __init__(
        self, *children: Widget, table: RecordTable[object], id: str, classes: str, names_columns: bool = False
    ) -> None:
        super().__init__(*children, id=id, classes=classes)
        self._framed = table
        self._names_columns = names_columns

    def _right_text(self) -> str:
        if self._names_columns:
            return self._columns_by_name()
        table, parts = self._framed, []
        if (sort := table.sort_filter.sort) is not None:
            titles = {column.id: column.title for column in table.columns}
            parts.append(f"by {inside_sentence(titles.get(sort.column, sort.column))} {'▼' if sort.reverse else '▲'}")
        layout = table.model.cells.layout
        if layout.scrolled:
            parts.append(f"← {layout.scrolled}")
        if layout.hidden_after:
            parts.append(f"→ {layout.hidden_after} more")
        return " · ".join(parts)

    def _columns_by_name(self) -> str:
        """The columns that the key to the right leads to. The header shows how rows are sorted."""
        layout = self._framed.model.cells.layout
        scrolled = f"← {layout.scrolled} · " if layout.scrolled else ""
        titles = [inside_sentence(self._framed.columns[column_index].title) for column_index in layout.beyond]
        room = self.outer_size.width - _CORNERS - _SHORTEST_LINE - self.heading.cell_length - len(scrolled)
        for count in range(len(titles), 0, -1):
            names = ", ".join(titles[:count]) + (" …" if count < len(titles) else "")
            if len(names) + 2 <= room:
                return f"{scrolled}→ {names}"
        return f"{scrolled}→ {len(titles)} more" if titles else scrolled.removesuffix(" · ")


class RecordsFrame(TableFrame):
    """A frame around a table, or a sentence if it has no row."""

    def __init__(
        self,
        table: RecordTable[object],
        *,
        id: str = "records",
        nothing: str = "reading …",
        names_columns: bool = False,
    ) -> None:
        self._sentence = Static(sanitized(nothing), classes="words", markup=False)
        instead = Container(self._sentence, classes="nothing")
        super().__init__(table, instead, table=table, id=id, classes="panel -empty", names_columns=names_columns)

    def say(self, title: str, nothing: str, note: str = "") -> None:
        self.entitle(sanitized(title))
        self.border_subtitle = sanitized(note)
        is_empty = self._framed.rows.count == 0
        self.set_class(is_empty, "-empty")
        if is_empty:
            self._sentence.update(sanitized(nothing))

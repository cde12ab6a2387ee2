"""Lines of a table as strips of styled text: the header, a row, a placeholder."""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tradetui.desk.tables.columns import Tone
from tradetui.desk.tables.row_source import RowT, Sort
from tradetui.ui.table.cells import GAP, Cells, cells_of, fitted

_PLACEHOLDER: Final = "·" * 8
HEADER: Final = "table--header"
CURSOR: Final = "table--cursor"
CURSOR_CELL: Final = "table--cursor-cell"
CLASSES: Final = frozenset(
    {HEADER, CURSOR, CURSOR_CELL, *(f"table--{tone}" for tone in Tone if tone is not Tone.PLAIN)}
)


class Line(NamedTuple):
    """Everything a line of rows depends on: where two of these are equal, the line looks the same.

    `texts` is None where there is no row, or where the row is not there yet.
    """

    is_row: bool
    has_cursor: bool = False
    texts: tuple[str, ...] | None = None
    tones: tuple[Tone, ...] = ()


def cut(strip: Strip, first: int, last: int) -> Strip:
    """A line's cells from one column up to another, as `Strip.crop` cuts them.

    Where `crop` splits a segment, Rich remembers the segment and both parts: 16,384 texts that are never seen again.
    """
    if first <= 0 and last >= strip.cell_length:
        return strip
    segments: list[Segment] = []
    start = 0
    for segment in strip:
        if cells_of(segment.text) != len(segment.text):
            return strip.crop(first, last)  # wide characters, which are rare
        text = segment.text[max(0, first - start) : max(0, last - start)]
        if text:
            segments.append(Segment(text, segment.style))
        start += len(segment.text)
    return Strip(segments, max(0, min(last, start) - first))


class TableLines:
    """Draws lines in the styles that the theme gives a widget's component classes."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}
        self._toned: dict[tuple[str, Tone], Style] = {}
        self.is_live = True
        """Whether colours mean anything: figures that are not live any more are drawn without."""

    def forget_styles(self) -> None:
        """Colours may have changed."""
        self._styles.clear()
        self._toned.clear()

    def header(self, cells: Cells[RowT], sort: Sort | None, chosen: int) -> Strip:
        """The titles, the chosen column's underlined, the sorted one's with an arrow."""
        style = self.style(HEADER)
        segments: list[Segment] = []
        for column_index, (column, width) in enumerate(zip(cells.columns, cells.widths, strict=True)):
            arrow = ("▼" if sort.reverse else "▲") if sort is not None and sort.column == column.id else ""
            title = fitted(column.title[: width - len(arrow)] + arrow, width, right=column.right)
            segments.append(Segment(title, style + Style(underline=True) if column_index == chosen else style))
            segments.append(Segment(" " * GAP, style))
        return Strip(segments)

    def row(self, line: Line, marked: int | None, width: int) -> Strip:
        """A row's cells, `width` in all; `marked` is the column under the cursor where the cursor is on this row."""
        if line.texts is None:
            return Strip([Segment(_PLACEHOLDER, self.style("" if marked is None else CURSOR))])
        background = "" if marked is None else CURSOR
        segments: list[Segment] = []
        # Neighbours that look alike are one segment, and so fewer bytes.
        pending, pending_style = "", self.toned(background, Tone.PLAIN)
        for column_index, (text, tone) in enumerate(zip(line.texts, line.tones, strict=True)):
            style = self.toned(CURSOR_CELL if column_index == marked else background, tone)
            if style is not pending_style:
                if pending:
                    segments.append(Segment(pending, pending_style))
                pending, pending_style = "", style
            pending += text + " " * GAP
        segments.append(Segment(pending, pending_style))
        return Strip(segments, width)

    def style(self, name: str) -> Style:
        """The style of a component class; of the widget itself for none."""
        style = self._styles.get(name)
        if style is None:
            style = self._widget.get_component_rich_style(name) if name else self._widget.rich_style
            if name in (CURSOR, CURSOR_CELL):
                style += self._cursor_without_background(name)
            self._styles[name] = style
        return style

    def _cursor_without_background(self, name: str) -> Style:
        """What else shows the cursor where no background of ours is known to be seen under every colour."""
        app = self._widget.app
        if app.no_color:
            return Style(reverse=True, bold=True, underline=name == CURSOR_CELL)
        if app.native_ansi_color:
            return Style(reverse=name == CURSOR_CELL, underline=name == CURSOR)
        return Style.null()

    def toned(self, background: str, tone: Tone) -> Style:
        """The style of a cell: the background of its row or of the cursor, and the colour of what it means."""
        if not self.is_live:
            tone = Tone.MUTED
        style = self._toned.get((background, tone))
        if style is None:
            style = self.style(background)
            if tone is not Tone.PLAIN:
                full = self._widget.get_component_rich_style(f"table--{tone}", partial=True)
                style += Style(color=full.color, bold=full.bold or style.bold, dim=full.dim)
            self._toned[background, tone] = style
        return style

"""Draws the lines of a table in the colours of the theme: the header, a row, a placeholder, and the footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tradetui.desk.tables.cells.column import Footer, Tone
from tradetui.desk.tables.rows.row_source import RowT, Sort
from tradetui.ui.settings.themes import TONE_STYLES
from tradetui.ui.table.cells import Cells, ColumnLayout, Drawn, fitted, whole_parts

FEWEST_ROWS: Final = 3  # the rows that have priority over the footer
FEWEST_ABOVE_TOTALS: Final = 8  # rows shown before the totals; without totals the note has them in short
MARGIN: Final = 1
"""Cells left of the first column, for the cursor's mark, and right of the last, for the scroll bar."""
_MARK: Final = "▸"
_RULE: Final = "─"
_PLACEHOLDER: Final = "·" * 8
HEADER: Final = "header"
CURSOR: Final = "cursor"
CURSOR_CELL: Final = "cursor-cell"
RULE: Final = "rule"
NOTE: Final = "note"


class FooterParts(NamedTuple):
    has_rule: bool
    has_totals: bool
    has_note: bool


def footer_parts(footer: Footer, row_count: int, room: int) -> FooterParts:
    """Return the parts of a footer that fit in `room` lines under the header; the note is dropped last."""
    spare = room - FEWEST_ROWS
    has_note = bool(footer.note) and spare >= 1
    # A note with a short form has the totals in it, and takes one line instead of three.
    if footer.short_note is not None:
        spare = room - max(FEWEST_ROWS, min(row_count, FEWEST_ABOVE_TOTALS))
    has_totals = bool(footer.totals) and spare >= 1 + has_note
    has_rule = has_totals and spare >= 2 + has_note
    return FooterParts(has_rule, has_totals, has_note)


# Not component classes: Textual would match each of them with the whole stylesheet for every table, and again whenever
# one gets the focus, which took a tenth of the time from the start to the first rows.
_LOOKS: Final[Mapping[str, str]] = {
    HEADER: "bold $quiet",
    CURSOR: "bold $foreground on $cursor",
    CURSOR_CELL: "bold underline $foreground on $cursor-cell",
    RULE: "$frame",
    NOTE: "$quiet",
    **TONE_STYLES,
    Tone.LONG: "bold $long",
    Tone.SHORT: "bold $short",
    Tone.WARN: "bold $warn",
    Tone.MOVED: "underline $foreground",
}


class Line(NamedTuple):
    """Everything a line of rows depends on: equal values look the same.

    `texts` is None if there is no row, or if the row is not loaded yet.
    """

    is_row: bool
    has_cursor: bool = False
    texts: tuple[str, ...] | None = None
    tones: tuple[Tone, ...] = ()


class TableLines:
    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._theme: Mapping[str, str] = {}
        self._styles: dict[str, Style] = {}
        self._toned: dict[tuple[str, Tone], Style] = {}
        self.is_live = True  # whether colours are drawn: figures that are no longer live have none

    def forget_styles(self) -> bool:
        """Forget styles, because colours may have changed; return whether the theme has."""
        self._styles.clear()
        self._toned.clear()
        before, self._theme = self._theme, self._widget.app.theme_variables
        return before != self._theme

    def header(self, cells: Cells[RowT], sort: Sort | None, chosen: int) -> Strip:
        """The titles, the chosen column's underlined, the sorted one's with an arrow."""
        style = self.style(HEADER)
        segments = [Segment(" " * MARGIN, style)]
        layout = cells.layout
        for slot, (column_index, width) in enumerate(zip(layout.shown, layout.widths, strict=True)):
            column = cells.columns[column_index]
            arrow = ("▼" if sort.reverse else "▲") if sort is not None and sort.column == column.id else ""
            title = fitted(column.title, width - len(arrow), right=False).rstrip() + arrow
            title = fitted(title, width, right=column.right)
            segments.append(Segment(title, style + Style(underline=True) if column_index == chosen else style))
            if gap := _gap_after(layout, slot):
                segments.append(Segment(" " * gap, style))
        return Strip(segments, _width_of(layout))

    def row(self, line: Line, marked: int | None, layout: ColumnLayout) -> Strip:
        """`marked` is the column under the cursor if the cursor is on this row."""
        background = "" if marked is None else CURSOR
        plain = self.toned(background, Tone.PLAIN)
        margin = Segment(_MARK if marked is not None else " " * MARGIN, plain)
        if line.texts is None:
            return Strip([margin, Segment(_PLACEHOLDER, plain)])
        cells = self._cells_of(line.texts, line.tones, background, marked, layout)
        return Strip([margin, *cells], _width_of(layout))

    def totals(self, drawn: Drawn, layout: ColumnLayout) -> Strip:
        margin = Segment(" " * MARGIN, self.style(""))
        return Strip([margin, *self._cells_of(drawn.texts, drawn.tones, "", None, layout)], _width_of(layout))

    def rule(self, room: int, hidden: str) -> Strip:
        """The line between the rows and their totals, as wide as the columns may be; it contains `hidden`."""
        line, style = " " * MARGIN + _RULE * room, self.style(RULE)
        if not hidden:
            return Strip([Segment(line, style)])
        label, begin = f" {hidden} ", MARGIN + 1
        return Strip(
            [Segment(line[:begin], style), Segment(label, self.style(NOTE)), Segment(line[begin + len(label) :], style)]
        )

    def note(self, text: str, room: int) -> Strip:
        """The last line, cut with an ellipsis if it is too long."""
        return Strip([Segment(" " * MARGIN + fitted(whole_parts(text, room), room, right=False), self.style(NOTE))])

    def _cells_of(
        self, texts: Sequence[str], tones: Sequence[Tone], background: str, marked: int | None, layout: ColumnLayout
    ) -> list[Segment]:
        plain = self.toned(background, Tone.PLAIN)
        segments: list[Segment] = []
        # Neighbours that look alike are one segment, and so fewer bytes.
        pending, pending_style = "", plain
        for slot, (column_index, text, tone) in enumerate(zip(layout.shown, texts, tones, strict=True)):
            is_marked = column_index == marked
            style = self.toned(CURSOR_CELL if is_marked else background, tone)
            if style is not pending_style:
                if pending:
                    segments.append(Segment(pending, pending_style))
                pending, pending_style = "", style
            pending += text
            if is_marked:
                segments.append(Segment(pending, style))
                pending, pending_style = "", plain
            pending += " " * _gap_after(layout, slot)
        segments.append(Segment(pending, pending_style))
        return segments

    def style(self, name: str) -> Style:
        """The style of a part of the table; of the widget itself for none."""
        style = self._styles.get(name)
        if style is None:
            style = self._widget.rich_style
            if name:
                style += self._look(name)
            if name in (CURSOR, CURSOR_CELL):
                style += self._cursor_without_background(name)
            self._styles[name] = style
        return style

    def _look(self, name: str) -> Style:
        return self._widget.app.stylesheet.parse_style(_LOOKS[name]).rich_style

    def _cursor_without_background(self, name: str) -> Style:
        """The cursor's style if no background of ours is known to be visible under every colour."""
        app = self._widget.app
        if app.no_color:
            return Style(reverse=True, bold=True, underline=name == CURSOR_CELL)
        if app.native_ansi_color:
            return Style(reverse=name == CURSOR_CELL, underline=name == CURSOR)
        return Style.null()

    def toned(self, background: str, tone: Tone) -> Style:
        """The style of a cell: the background of its row or of the cursor, and the colour of its tone."""
        if not self.is_live:
            tone = Tone.MUTED
        style = self._toned.get((background, tone))
        if style is None:
            style = self.style(background)
            if tone is not Tone.PLAIN:
                style += self._look(tone)
            self._toned[background, tone] = style
        return style


def _width_of(layout: ColumnLayout) -> int:
    """Cells of a line with its margin; a strip without this number counts them."""
    return MARGIN + layout.width


def _gap_after(layout: ColumnLayout, slot: int) -> int:
    # The gap after the last column is a separate segment: under the scroll bar Rich would cut the texts, and caches
    # sixteen thousand texts that it has cut.
    if slot + 1 == len(layout.starts):
        return 0
    return layout.starts[slot + 1] - layout.starts[slot] - layout.widths[slot]

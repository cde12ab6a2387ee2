"""The cells of a table as text, each exactly as wide as its column, and kept while its row is unchanged.

Also the arithmetic of which columns are visible, where, and how wide. A column has the cells that its figures need, or
it is left out by its rank and reached by scrolling to the right. Only on a screen too narrow for two columns is one of
them cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Generic, NamedTuple

from rich.cells import cell_len, set_cell_size

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import UNREADABLE_MARK, Column, Tone, unreadable_text
from tradetui.desk.tables.rows.row_source import RowSource, RowT
from tradetui.wire.text import scrub

GAP: Final = 1
WIDEST_EXTRA_GAP: Final = 3  # cells by which spare room may widen a gap: further apart the eye loses its row


class ColumnNeed(NamedTuple):
    """A column's widths: it is shown with at least `narrowest` cells, and uses up to `widest`.

    If not all columns fit, those of the highest `rank` are left out first. The first to be left out is still shown if
    it has a shorter text that fits in `shortest` cells.
    """

    rank: int
    narrowest: int
    widest: int
    shortest: int | None = None
    is_whole_or_narrowest: bool = False
    """Whether no width between the two is of use."""


class ColumnLayout(NamedTuple):
    """Columns by their index in the table.

    `order` is every column in the order of scrolling: those that fit, then the others. `shown` are those on the screen,
    from the left, each with its first cell in `starts` and its cells in `widths`. The first column stays while
    `scrolled` columns after it are scrolled out.
    """

    order: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()
    scrolled: int = 0

    @property
    def hidden_after(self) -> int:
        return len(self.order) - len(self.shown) - self.scrolled

    @property
    def beyond(self) -> tuple[int, ...]:
        return self.order[len(self.order) - self.hidden_after :]

    @property
    def width(self) -> int:
        return self.starts[-1] + self.widths[-1] if self.shown else 0

    def neighbour(self, column_index: int, by: int) -> int:
        """The column `by` steps further in the order of scrolling, or the last one that way."""
        slot = self.order.index(column_index) if column_index in self.order else 0
        return self.order[max(0, min(slot + by, len(self.order) - 1))]

    def at(self, x: int) -> int | None:
        """The column `x` cells from the left, with the gap on its right; None right of the last."""
        if x >= self.width + GAP:
            return None
        from_the_right = zip(reversed(self.shown), reversed(self.starts), strict=True)
        return next((column_index for column_index, start in from_the_right if x >= start), None)


def lay_out(needs: Sequence[ColumnNeed], room: int, scrolled: int = 0) -> ColumnLayout:
    """Lay out columns in `room` cells; `scrolled` columns after the first are scrolled out."""
    fitting = _fitting(needs, room)
    order = (*fitting, *(index for index in range(len(needs)) if index not in fitting))
    scrolled = max(0, min(scrolled, len(order) - 2))
    shown = _scrolled_past(needs, order, room, scrolled) if scrolled else fitting
    widths = _widths(needs, shown, room)
    spare = room - sum(widths) - GAP * (len(widths) - 1)
    return ColumnLayout(order, tuple(shown), _starts(widths, spare), tuple(widths), scrolled)


def lay_out_around(needs: Sequence[ColumnNeed], room: int, before: ColumnLayout, column_index: int) -> ColumnLayout:
    """The layout that shows a column, scrolled as little as possible from the one before."""
    slot = before.order.index(column_index)
    scrolled = 0 if slot == 0 else min(before.scrolled, slot - 1)
    layout = lay_out(needs, room, scrolled)
    while column_index not in layout.shown and layout.hidden_after > 0:
        scrolled += 1
        layout = lay_out(needs, room, scrolled)
    return layout


def _fitting(needs: Sequence[ColumnNeed], room: int) -> tuple[int, ...]:
    """Return the columns that fit, in order: those of the lowest rank, and none after the first that does not fit.

    There are at least two, the first to stay and one to scroll, though the second may be cut.
    """
    fitting: list[int] = []
    used = -GAP
    for index in sorted(range(len(needs)), key=lambda index: needs[index].rank):
        need = needs[index]
        used += GAP + need.narrowest
        if used > room and len(fitting) > 1:
            if need.shortest is not None and used - need.narrowest + need.shortest <= room:
                fitting.append(index)
            break
        fitting.append(index)
    return tuple(sorted(fitting))


def _scrolled_past(needs: Sequence[ColumnNeed], order: Sequence[int], room: int, scrolled: int) -> tuple[int, ...]:
    """The first column, and as many as fit beside it after the scrolled ones; at least one of them."""
    shown = [order[0]]
    used = needs[order[0]].narrowest
    for index in order[1 + scrolled :]:
        used += GAP + needs[index].narrowest
        if used > room and len(shown) > 1:
            break
        shown.append(index)
    return tuple(shown)


def _widths(needs: Sequence[ColumnNeed], shown: Sequence[int], room: int) -> list[int]:
    """Return the narrowest widths, widened up to the widest, lowest rank first.

    If they do not fit, columns with a shorter text are cut to that first, then all of them from the right.
    """
    widths = [needs[index].narrowest for index in shown]
    spare = room - sum(widths) - GAP * (len(widths) - 1)
    to_shorter_texts = [(slot, needs[index].shortest) for slot, index in enumerate(shown)]
    to_nothing = [(slot, 0) for slot in reversed(range(len(widths)))]
    for slot, least in (*to_shorter_texts, *to_nothing):
        if spare < 0 and least is not None:
            cut = min(-spare, widths[slot] - least)
            widths[slot] -= cut
            spare += cut
    for slot in sorted(range(len(shown)), key=lambda slot: needs[shown[slot]].rank):
        need = needs[shown[slot]]
        more = max(0, min(spare, need.widest - widths[slot]))
        if need.is_whole_or_narrowest and widths[slot] + more < need.widest:
            continue
        widths[slot] += more
        spare -= more
    return widths


def _starts(widths: Sequence[int], spare: int) -> tuple[int, ...]:
    """The first cell of every column: spare cells widen all gaps alike, and the remainder widens the first ones."""
    gaps = max(1, len(widths) - 1)
    wider, widest_gaps = divmod(min(max(0, spare), WIDEST_EXTRA_GAP * (len(widths) - 1)), gaps)
    return tuple(sum(widths[:slot]) + (GAP + wider) * slot + min(slot, widest_gaps) for slot in range(len(widths)))


ELLIPSIS: Final = "…"
_BETWEEN_PARTS: Final = " · "
_MORE: Final = f" {ELLIPSIS}"
WIDEST_NUMBER: Final = 28
WIDEST_TEXT: Final = 120
ROWS_KEPT: Final = 512  # rows whose cells are cached, more than any screen shows: each keeps its record alive


class Drawn(NamedTuple):
    """A row's cells. Equal texts and tones look the same."""

    record: object
    texts: tuple[str, ...]
    tones: tuple[Tone, ...]


class Cells(Generic[RowT]):
    """The cells of a table's rows, and the layout of its columns.

    A number is never cut: its column is as wide as its setting, or as the widest number so far. A column of text is as
    wide as its longest text, and cut to its setting if room is short. Widths only grow until the rows are measured
    again, so that columns stay in place while figures change.
    """

    def __init__(self, columns: Sequence[Column[RowT]], cell_format: CellFormat) -> None:
        self.columns = tuple(columns)
        self.cell_format = cell_format
        self.sorted_by: str | None = None  # the id of the column that sorts the rows
        self.layout = ColumnLayout()
        self.outgrown = False  # whether a text is longer than its column, so that a new layout is needed
        self._room = 0  # the cells that the columns were laid out in
        self._longest = [0] * len(self.columns)  # the cells of each column's longest text so far
        self._rows: dict[str, Drawn] = {}  # the rows drawn in this layout and format, by id
        self.lay_out(sum(column.width + GAP for column in self.columns))

    # Layout

    def lay_out(self, room: int, *, spare: int = 0) -> bool:
        """Lay the columns out in `room` cells; returns whether the layout has changed.

        `spare` more cells are taken only if that shows another column.
        """
        needs = self._needs()
        if spare and lay_out(needs, room + spare).hidden_after < lay_out(needs, room).hidden_after:
            room += spare
        self._room, self.outgrown = room, False
        return self._use(lay_out(needs, room, self.layout.scrolled))

    def scroll_to(self, column_index: int) -> bool:
        """Scroll to a column; returns whether anything moved."""
        return self._use(lay_out_around(self._needs(), self._room, self.layout, column_index))

    @property
    def full_cells(self) -> int:
        """Return the cells that show every column, gaps included; texts have their shortest allowed width."""
        return sum(need.narrowest + GAP for need in self._needs()) - GAP

    def _use(self, layout: ColumnLayout) -> bool:
        if layout == self.layout:
            return False
        self.layout = layout
        self._rows.clear()
        return True

    def measure(self, rows: Iterable[RowT], totals: Mapping[str, tuple[str, Tone]]) -> None:
        self._longest = [0] * len(self.columns)
        self.measure_totals(totals)
        for row in rows:
            for column_index, column in enumerate(self.columns):
                self._measured_text(column_index, column, row)

    def measure_totals(self, totals: Mapping[str, tuple[str, Tone]]) -> None:
        for column_index, column in enumerate(self.columns):
            if column.id in totals:
                self._note_length(column_index, cells_of(totals[column.id][0]))

    def _needs(self) -> list[ColumnNeed]:
        return [
            _need_of(column, longest, is_sorted=column.id == self.sorted_by)
            for column, longest in zip(self.columns, self._longest, strict=True)
        ]

    def _measured_text(self, column_index: int, column: Column[RowT], record: RowT) -> tuple[str, Tone, bool]:
        """A cell's text and tone, and whether it is a number; its length widens the column."""
        text, tone = column.cell(record, self.cell_format)
        text = scrub(text)
        # An unreadable value is no number: it gets no extra room, and may be cut anywhere.
        is_number = column.right and not (text.endswith(UNREADABLE_MARK) and _is_unreadable(column, record))
        if is_number or not column.right:
            self._note_length(column_index, cells_of(text))
        return text, tone, is_number

    def _note_length(self, column_index: int, length: int) -> None:
        if length > self._longest[column_index]:
            before = _need_of(self.columns[column_index], self._longest[column_index])
            self._longest[column_index] = length
            self.outgrown = self.outgrown or _need_of(self.columns[column_index], length) != before

    # Rows

    def drawn_row(self, row_id: str, record: RowT) -> Drawn:
        """The cells of a row, which are kept as long as its record stays equal."""
        known = self._rows.get(row_id)
        if known is not None and known.record is record:
            return known
        if known is not None and known.record == record:
            # The feed keeps the newer record alive anyway: keep that one here, and release the older one.
            self._rows[row_id] = known = known._replace(record=record)
            return known
        drawn = self._rows[row_id] = self._draw(record)
        if len(self._rows) > ROWS_KEPT:
            del self._rows[next(iter(self._rows))]
        return drawn

    def drawn_totals(self, totals: Mapping[str, tuple[str, Tone]]) -> Drawn:
        texts: list[str] = []
        tones: list[Tone] = []
        for column_index, width in zip(self.layout.shown, self.layout.widths, strict=True):
            column = self.columns[column_index]
            text, tone = totals.get(column.id, ("", Tone.PLAIN))
            text = scrub(text)
            # A total is never shortened like a cell: the note shows it instead.
            fits = column.short is None or cells_of(text) <= width
            texts.append(fitted(text if fits else "", width, right=column.right))
            tones.append(tone)
        return Drawn(None, tuple(texts), tuple(tones))

    def shows_whole(self, totals: Mapping[str, tuple[str, Tone]]) -> bool:
        """Whether all of these totals are under their column, and not cut."""
        columns = zip(self.layout.shown, self.layout.widths, strict=True)
        widths = {self.columns[column_index].id: width for column_index, width in columns}
        return all(cells_of(text) <= widths.get(column_id, -1) for column_id, (text, _) in totals.items())

    def forget_gone(self, rows: RowSource[RowT]) -> None:
        """Release the cells, and with them the records, of rows that are gone."""
        self._rows = {row_id: drawn for row_id, drawn in self._rows.items() if rows.index_of(row_id) is not None}

    def use_format(self, cell_format: CellFormat) -> None:
        self.cell_format = cell_format
        self._rows.clear()

    def _draw(self, record: RowT) -> Drawn:
        texts: list[str] = []
        tones: list[Tone] = []
        for column_index, width in zip(self.layout.shown, self.layout.widths, strict=True):
            column = self.columns[column_index]
            text, tone, is_number = self._measured_text(column_index, column, record)
            if column.short is not None and cells_of(text) > width and not _is_unreadable(column, record):
                text = column.short(record, self.cell_format)
            texts.append(fitted(text, width, right=is_number))
            tones.append(tone)
        return Drawn(record, tuple(texts), tuple(tones))


def _need_of(column: Column[RowT], longest: int, *, is_sorted: bool = False) -> ColumnNeed:
    """Return the width that a column needs for its `longest` text, in cells; 0 for none so far.

    The sorting column is dropped last: without it the order means nothing to a reader.
    """
    title, rank = cells_of(column.title) + is_sorted, -1 if is_sorted else column.rank
    if column.right:
        width = max(title, column.width, min(longest, WIDEST_NUMBER))
        return ColumnNeed(rank, width, width, None if column.short is None else title)
    widest = max(title, min(longest or column.width, WIDEST_TEXT))
    narrowest = max(title, min(widest, column.width))
    return ColumnNeed(rank, narrowest, widest, is_whole_or_narrowest=column.short is not None)


def _is_unreadable(column: Column[RowT], record: RowT) -> bool:
    """Whether the column's field came unreadable: then its text, a number or not, is as received."""
    return unreadable_text(record, column.id) is not None


def cells_of(text: str) -> int:
    # Rich caches thousands of measured texts, and most of ours need no measuring.
    return len(text) if text.isascii() else cell_len(text)


def fitted(text: str, width: int, *, right: bool) -> str:
    """Return the text in exactly `width` cells, cut with an ellipsis; wide characters count as two.

    A number that would lose digits before its point is not shown at all, because the rest would be another number.
    """
    length = cells_of(text)
    if length == width:
        return text
    if length > width:
        if width == 0:
            return ""
        cut = set_cell_size(text, width - 1) + ELLIPSIS
        if right and len(cut) - 1 < len(text.partition(".")[0]):
            return ELLIPSIS.rjust(width)
        return cut
    return " " * (width - length) + text if right else text + " " * (width - length)


def whole_parts(note: str, room: int) -> str:
    """Return the parts of a note that fit, else its words, followed by an ellipsis; the whole note if no word fits."""
    if cells_of(note) <= room:
        return note
    for between in (_BETWEEN_PARTS, " "):
        *parts, _ = note.split(between)
        while parts and cells_of(between.join(parts)) + len(_MORE) > room:
            parts.pop()
        if parts:
            return f"{between.join(parts)}{_MORE}"
    return note

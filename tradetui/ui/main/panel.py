"""One panel: the table of a feed, in a border whose title has the number of rows and their age.

Rows that are old or were not read lose their colours, and an empty panel shows why it is empty.

Also the arithmetic of which panels a terminal of a given size shows, and where. A small terminal shows one panel, a
larger one three, a large one all five. Each panel wants a line for every row and cells for every column. Of the
possible arrangements of five panels, the one that shows most of their content is used. Positions count most, because
money is lost there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeAlias

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region
from textual.widgets import Static

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.rows.row_source import NO_ROWS, FeedRow, FeedRowT_co, loaded_rows
from tradetui.desk.tables.table import PANELS, OtherView, Table, TableName
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.safe_text import sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import TableFrame, nothing_matches
from tradetui.wire.text import counted, shown_of

if TYPE_CHECKING:
    from tradetui.desk.feeds.polling.feed import Feed, FeedError, Snapshot
    from tradetui.desk.tables.rows.date_filter import DateFilter

NARROWEST: Final = 58  # the fewest cells across of a useful panel, its border included
LOWEST: Final = 9  # lines of a panel that shares the screen: border, titles, five rows and a note
_LINES_OUTSIDE: Final = 4  # lines outside the panels: two of the header, one for the hidden panels and one for the keys
_DEFAULT_THREE: Final[tuple[str, ...]] = (TableName.POSITIONS, TableName.ORDERS, TableName.FILLS)
_REPLACES: Final[Mapping[str, str]] = {TableName.ACCOUNTS: TableName.POSITIONS, TableName.TRIGGERS: TableName.ORDERS}
"""If three panels are shown: the default panel that a panel replaces when it gets the focus."""
_WEIGHTS: Final[Mapping[str, int]] = {TableName.POSITIONS: 3, TableName.ORDERS: 2, TableName.FILLS: 2}
"""How much the content of a panel counts, 1 for the others."""
_LOSS_BY_EMPTY_CELLS: Final = 8  # the loss of an arrangement all of whose cells stay empty, in the unit of the weights


class PanelNeed(NamedTuple):
    """The size a panel could use, its border included: lines for all its rows, cells for all its columns."""

    lines: int
    cells: int


class Arrangement(NamedTuple):
    """Parts of a rectangle, one below the other in a stack, else side by side; a part is a panel's name or nested."""

    parts: tuple[ArrangementPart, ...]
    is_stack: bool


ArrangementPart: TypeAlias = str | Arrangement


def _stack(*parts: ArrangementPart) -> Arrangement:
    return Arrangement(parts, is_stack=True)


def _side_by_side(*parts: ArrangementPart) -> Arrangement:
    return Arrangement(parts, is_stack=False)


_ARRANGEMENTS_OF_FIVE: Final = (
    _stack(
        TableName.POSITIONS,
        _side_by_side(_stack(TableName.ORDERS, TableName.ACCOUNTS), _stack(TableName.FILLS, TableName.TRIGGERS)),
    ),
    _stack(
        _side_by_side(TableName.POSITIONS, TableName.ACCOUNTS),
        _side_by_side(_stack(TableName.ORDERS, TableName.TRIGGERS), TableName.FILLS),
    ),
    _stack(
        _side_by_side(TableName.POSITIONS, TableName.ACCOUNTS),
        _side_by_side(TableName.ORDERS, TableName.TRIGGERS, TableName.FILLS),
    ),
)
_FIVE_IN_TWO_COLUMNS: Final = _side_by_side(
    _stack(TableName.POSITIONS, TableName.ORDERS, TableName.TRIGGERS),
    _stack(TableName.ACCOUNTS, TableName.FILLS),
)
_TWO_COLUMNS_FROM: Final = 240
"""Cells across from which five panels may be in two columns: in fewer the right one would hide half its figures."""


def panels_shown(width: int, height: int, focused: str, before: tuple[str, ...], *, zoomed: bool) -> tuple[str, ...]:
    """Return the panels for a terminal: as many as fit, only the focused one on a small terminal or when zoomed.

    `before` are the panels shown so far: if three fit, focusing one of them moves nothing.
    """
    room = height - _LINES_OUTSIDE
    if zoomed or room < 3 * LOWEST - 1:
        return (focused,)
    if width >= 2 * NARROWEST and room >= 4 * LOWEST:
        return tuple(PANELS)
    shown = before if len(before) == len(_DEFAULT_THREE) else _DEFAULT_THREE
    if focused in shown:
        return shown
    index = _DEFAULT_THREE.index(_REPLACES.get(focused, focused))
    return (*shown[:index], focused, *shown[index + 1 :])


def regions(shown: Sequence[str], width: int, height: int, needs: Mapping[str, PanelNeed]) -> dict[str, Region]:
    """The region of every panel, without gaps or overlaps: three are one over two where they fit."""
    screen = Region(0, 0, width, height)
    if len(shown) < len(PANELS):
        first, *others = shown
        below: Sequence[ArrangementPart] = [_side_by_side(*others)] if others and width >= 2 * NARROWEST else others
        return _placed(_stack(first, *below), screen, needs)
    possible = [*_ARRANGEMENTS_OF_FIVE]
    if width >= _TWO_COLUMNS_FROM:
        possible.append(_FIVE_IN_TWO_COLUMNS)
    least_sizes = [(arrangement, _least(arrangement)) for arrangement in possible]
    fitting = [arrangement for arrangement, least in least_sizes if least.cells <= width and least.lines <= height]
    candidates = [_placed(arrangement, screen, needs) for arrangement in fitting or _ARRANGEMENTS_OF_FIVE[:1]]
    return max(candidates, key=lambda placed: _worth(placed, needs))


def divide(total: int, most: Sequence[int], least: Sequence[int], *, favours_first: bool) -> list[int]:
    """Divide lines or cells among parts: each gets its least, then equal amounts up to its most, the last the rest.

    With `favours_first` the first part gets its most before any other gets more than its least. If there is no room for
    the least of all, they are cut in proportion.
    """
    if total < sum(least):
        edges = [total * sum(least[:number]) // max(1, sum(least)) for number in range(len(least) + 1)]
        return [end - start for start, end in pairwise(edges)]
    sizes = list(least)
    if favours_first:
        sizes[0] = max(sizes[0], min(most[0], total - sum(least[1:])))
    spare = total - sum(sizes)
    while spare and (growing := [index for index, size in enumerate(sizes) if size < most[index]]):
        for index in growing:
            sizes[index] += min(max(1, spare // len(growing)), most[index] - sizes[index], total - sum(sizes))
        spare = total - sum(sizes)
    sizes[-1] += spare
    return sizes


def _placed(part: ArrangementPart, region: Region, needs: Mapping[str, PanelNeed]) -> dict[str, Region]:
    """The panels of a part within its region."""
    if isinstance(part, str):
        return {part: region}
    left, top, width, height = region
    needs_of_parts, least = [_need(child, needs) for child in part.parts], [_least(child) for child in part.parts]
    favours_first = _holds_positions(part.parts[0])
    placed: dict[str, Region] = {}
    if part.is_stack:
        most_lines, least_lines = [need.lines for need in needs_of_parts], [need.lines for need in least]
        heights = divide(height, most_lines, least_lines, favours_first=favours_first)
        for child, lines in zip(part.parts, heights, strict=True):
            placed |= _placed(child, Region(left, top, width, lines), needs)
            top += lines
    else:
        most_cells, least_cells = [need.cells for need in needs_of_parts], [need.cells for need in least]
        widths = divide(width, most_cells, least_cells, favours_first=favours_first)
        for child, cells in zip(part.parts, widths, strict=True):
            placed |= _placed(child, Region(left, top, cells, height), needs)
            left += cells
    return placed


def _need(part: ArrangementPart, needs: Mapping[str, PanelNeed]) -> PanelNeed:
    """Return the size that a part could use; a panel of unknown need gets the least useful size."""
    if isinstance(part, str):
        return needs.get(part, PanelNeed(LOWEST, NARROWEST))
    children = [_need(child, needs) for child in part.parts]
    lines, cells = [need.lines for need in children], [need.cells for need in children]
    return PanelNeed(sum(lines), max(cells)) if part.is_stack else PanelNeed(max(lines), sum(cells))


def _least(part: ArrangementPart) -> PanelNeed:
    return _need(part, {})


def _holds_positions(part: ArrangementPart) -> bool:
    return part == TableName.POSITIONS if isinstance(part, str) else any(map(_holds_positions, part.parts))


def _worth(placed: Mapping[str, Region], needs: Mapping[str, PanelNeed]) -> float:
    """Return the visible part of the panels' content by weight, minus the cells that stay empty."""
    worth, empty_cells, all_cells = 0.0, 0, 0
    for name, (_, _, width, height) in placed.items():
        need = _need(name, needs)
        visible_part = min(1.0, height / max(1, need.lines)) * min(1.0, width / max(1, need.cells))
        worth += _WEIGHTS.get(name, 1) * visible_part
        empty_cells += width * height - min(width, need.cells) * min(height, need.lines)
        all_cells += width * height
    return worth - _LOSS_BY_EMPTY_CELLS * empty_cells / max(1, all_cells)


READING: Final = "reading …"
_BORDER: Final = 2
NOT_READ: Final = "not read"
"""Shown in every panel while the exchange refuses the whole account; the reason is above all panels."""
_UNREADABLE: Final = "Rows from the exchange cannot be read, so this list is not complete.\ntradetui doctor says more."


class PanelReading(NamedTuple, Generic[FeedRowT_co]):
    """A feed at one moment; `rows` are those of the panel's view, `error` is why they are not read."""

    feed: Feed[FeedRowT_co]
    now: float
    rows: Snapshot[FeedRowT_co]
    error: FeedError | None


class Panel(TableFrame, Generic[FeedRowT_co]):
    """One feed on the screen; `caption` is its title as plain text."""

    def __init__(self, kind: Table[FeedRowT_co], key_named: Callable[[Action], str]) -> None:
        self.table: RecordTable[FeedRowT_co] = RecordTable(
            kind.columns, id=f"table-{kind.name}", footer=kind.view.footer, newest_first=kind.name == TableName.FILLS
        )
        super().__init__(table=self.table, id=f"panel-{kind.name}", classes="panel -empty")
        self.kind = kind
        self._key_named = key_named
        self.caption = ""
        self.product: str | None = None
        self.dates: DateFilter | None = None
        self._dates_title = ""
        self.in_other_view = False
        self._shown_generation = (False, -1)  # whether it is the other view, and the generation of the rows
        self._sentence: Static | None = None  # made with the first sentence
        self._shown_sentence = ""
        self._shown_trouble = READING
        self.border_subtitle = READING
        self._entitle("", "")

    @property
    def need(self) -> PanelNeed:
        return PanelNeed(self.full_lines, self.table.model.full_cells + _BORDER)

    @property
    def full_lines(self) -> int:
        """The lines of its whole content, which follow from the number of rows and cost nothing to know."""
        return self.table.model.full_lines + _BORDER

    @property
    def title(self) -> str:
        return self.kind.title if self.other_view is None else self.other_view.title

    @property
    def other_view(self) -> OtherView | None:
        return self.kind.other_view if self.in_other_view else None

    def narrow(self, product: str | None, dates: DateFilter | None, cell_format: CellFormat) -> None:
        """Show the rows of a product type (None: of all) and of dates and symbols (None: all)."""
        self.product, self.dates = product, dates
        self.set_format(cell_format)
        if product is None and dates is None:
            self.table.keep_only(None)
            return

        def keeps(row: FeedRow) -> bool:
            if product is not None and str(row.product_type) != product:
                return False
            return dates is None or dates.keeps_row(row)

        self.table.keep_only(keeps)

    def reaches(self, dates: DateFilter) -> bool:
        """Whether the rows reach back to the beginning of the dates.

        The other view of triggers has the waiting ones, all of which are known; the history has none.
        """
        shows_all_waiting = self.kind.name == TableName.TRIGGERS and self.in_other_view
        return shows_all_waiting or dates.begins_within(list(loaded_rows(self.table.model.source)))

    def set_format(self, cell_format: CellFormat) -> None:
        """Use a cell format; with chosen dates, sums are of all rows shown."""
        self._dates_title = "" if self.dates is None else self.dates.title(cell_format.zone, cell_format.today)
        if self.dates is not None and not self.reaches(self.dates):
            self._dates_title += f", newest {counted(self.table.model.source.count, 'row')} only"
        self.table.set_format(cell_format if self.dates is None else replace(cell_format, summed_day=None))

    def compose(self) -> ComposeResult:
        yield self.table

    def show_rows(self, rows: Snapshot[FeedRowT_co]) -> None:
        shown = (self.in_other_view, rows.generation)
        if shown != self._shown_generation:
            self._shown_generation = shown
            self._use_default_columns(rows.rows)
            self.table.set_source(rows)

    def _use_default_columns(self, rows: Iterable[FeedRowT_co]) -> None:
        """Choose columns by the rows, unless a person chose them."""
        columns = self.kind.default_columns(rows)
        before = self.table.default_columns
        if columns != before:
            self.table.default_columns = columns
            if self.table.columns == before:
                self.table.set_columns(columns)

    def show_state(self, reading: PanelReading[FeedRowT_co]) -> None:
        """Update title, age and the sentence of an empty panel; only changes are repainted."""
        feed, now, rows, error = reading
        snapshot, is_in_trouble = feed.snapshot, has_trouble(feed)
        about = [f"no data for {coarse_age(snapshot.age(now) or 0.0)}"] if feed.freshness.aged else []
        if snapshot.undecodable_rows:
            about.append(f"{snapshot.undecodable_rows} unreadable")
        self._entitle("" if rows.read_at is None else shown_of(self.table.rows.count, rows.count), " · ".join(about))
        if error is not None:
            trouble = NOT_READ if error.of_account else error.sentence
        else:
            trouble = READING if snapshot.read_at is None else snapshot.note
        if trouble != self._shown_trouble:
            self._shown_trouble = trouble
            self.border_subtitle = sanitized(trouble)
        self.set_class(error is not None or is_in_trouble, "-trouble")
        self.table.set_live(not is_in_trouble)
        self._show_sentence(reading)

    def reset(self) -> None:
        self._shown_generation = (False, -1)
        self._shown_trouble = READING
        self.border_subtitle = READING
        self.set_class(False, "-trouble")
        self.table.set_live(True)
        self.table.set_source(NO_ROWS)
        self.table.cursor.take_vanished()  # the row did not end: its account is no longer shown
        self._entitle("", "")
        self._say("")
        self.add_class("-empty")

    def use_defaults(self) -> None:
        self.table.default_columns = self.kind.default_columns(loaded_rows(self.table.model.source))
        self.table.set_columns(self.table.default_columns)
        self.table.sort_by(None)

    def say_failure(self, why: str) -> None:
        self.add_class("-empty")
        self._say(why)

    def _entitle(self, count: str, state: str) -> None:
        hint = self.kind.hint if count and not self.in_other_view else ""
        parts = [
            f"{self._key_named(Action(self.kind.name))} {self.title}",
            count,
            (self.product or "").removesuffix("-FUTURES"),
            self._dates_title and f"· {self._dates_title}",
            self.table.sort_filter.pattern_title,
            hint and f"· {hint}",
            state and f"· {state}",
        ]
        caption = sanitized(" ".join(filter(None, parts))).plain
        if caption == self.caption:
            return
        self.caption = caption
        head, tail = caption[: len(caption) - len(state)], caption[len(caption) - len(state) :]
        self.entitle(Content.assemble(head, (tail, "bold $warn")))

    def _show_sentence(self, reading: PanelReading[FeedRowT_co]) -> None:
        is_empty = self.table.rows.count == 0
        self.set_class(is_empty, "-empty")
        if is_empty:
            self._say(self._why_empty(reading))

    def _why_empty(self, reading: PanelReading[FeedRowT_co]) -> str:
        """Return the sentence in place of rows; it never says that there are none if they could not be read."""
        snapshot, error = reading.feed.snapshot, reading.error
        if reading.rows.count:
            return self._why_none_of(reading.rows.count)
        if error is not None and error.of_account:
            return NOT_READ
        if error is not None:
            again = f"Reading is tried again within {math.ceil(reading.feed.longest_pause)} s."
            return "\n".join(filter(None, (error.sentence, error.remedy, again)))
        if snapshot.undecodable_rows and self.other_view is None:
            return _UNREADABLE
        return "" if snapshot.read_at is None else (self.other_view or self.kind).nothing

    def _why_none_of(self, count: int) -> str:
        """Why none of `count` rows is shown, and the key that shows them."""
        if self.table.sort_filter.pattern:
            return nothing_matches(self.table, self._key_named)
        if self.dates is not None:
            return (
                f"None of the newest {counted(count, 'row')}: {self._dates_title}.\n"
                f"{self._key_named(Action.HISTORY)} looks through all that was ever seen; "
                f"{self._key_named(Action.BACK)} clears the dates."
            )
        key = self._key_named(Action.PRODUCT)
        return f"None of {counted(count, 'row')} is of this product type.\n{key} goes on to the next, then to all."

    def _say(self, sentence: str) -> None:
        if sentence == self._shown_sentence:
            return
        self._shown_sentence = sentence
        if self._sentence is None:
            self._sentence = Static(sanitized(sentence), classes="words", markup=False)
            self.mount(Container(self._sentence, classes="nothing"))
        else:
            self._sentence.update(sanitized(sentence))
            self._sentence.display = bool(sentence)


def has_trouble(feed: Feed[FeedRowT_co]) -> bool:
    return feed.freshness.aged or feed.snapshot.error is not None


def coarse_age(seconds: float) -> str:
    """Format an age in steps (10 s, minutes, hours), because each change of a title repaints it."""
    if seconds >= 3600:
        return f"{int(seconds // 3600)} h"
    if seconds >= 60:
        return f"{int(seconds // 60)} min"
    return f"{max(5, int(seconds // 10) * 10)} s"

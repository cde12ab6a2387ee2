"""One panel: the table of a feed, in a border whose title says how many rows there are and how old they are.

Rows that are old or were not read lose their colours, and an empty panel says why it is empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.rows.row_source import NO_ROWS, FeedRow, FeedRowT_co, loaded_rows
from tradetui.desk.tables.table import OtherView, Table, TableName
from tradetui.ui.main.layout import PanelNeed
from tradetui.ui.safe_text import sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import TableFrame, nothing_matches
from tradetui.wire.text import counted, shown_of

if TYPE_CHECKING:
    from tradetui.desk.feeds.polling.feed import Feed
    from tradetui.desk.feeds.polling.snapshot import FeedError, Snapshot
    from tradetui.desk.tables.rows.date_filter import DateFilter

READING: Final = "reading …"
_BORDER: Final = 2
NOT_READ: Final = "not read"
"""Shown in every panel while the exchange refuses the whole account; the reason is above all of them."""
_UNREADABLE: Final = "Rows from the exchange cannot be read, so this list is not complete.\ntradetui doctor says more."


class PanelReading(NamedTuple, Generic[FeedRowT_co]):
    """A feed as it stands at a moment; `rows` are those of the panel's view, `error` says why they are not read."""

    feed: Feed[FeedRowT_co]
    now: float
    rows: Snapshot[FeedRowT_co]
    error: FeedError | None


class Panel(TableFrame, Generic[FeedRowT_co]):
    """One feed on the screen; `caption` is its title as plain text."""

    def __init__(self, kind: Table[FeedRowT_co], key_named: Callable[[str], str]) -> None:
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
        self._shown_generation = (False, -1)  # whether of the other view, and the generation of the rows
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

        The other view of triggers holds those that wait, all of which are known, and the history none.
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
        """Choose columns by the rows, unless somebody chose them."""
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
        self.table.cursor.take_vanished()  # the row did not end: its account is not looked at any more
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
            f"{self._key_named(self.kind.name)} {self.title}",
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
        """The sentence in place of rows; it never says that there are none if they could not be read."""
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
                f"{self._key_named('history')} looks through all that was ever seen; "
                f"{self._key_named('back')} clears the dates."
            )
        key = self._key_named("product")
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
    """An age in steps, since a title that changes every second is repainted every second: 10 s, minutes, hours."""
    if seconds >= 3600:
        return f"{int(seconds // 3600)} h"
    if seconds >= 60:
        return f"{int(seconds // 60)} min"
    return f"{max(5, int(seconds // 10) * 10)} s"

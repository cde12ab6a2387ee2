"""A panel: a bordered table of one feed whose title shows name, count, age and state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Generic

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
from tradetui.wire.text.counted import counted, shown_of

if TYPE_CHECKING:
    from tradetui.desk.feeds.polling.feed import Feed
    from tradetui.desk.feeds.polling.snapshot import FeedError, Snapshot
    from tradetui.desk.tables.rows.date_filter import DateFilter

READING: Final = "reading …"
_BORDER: Final = 2
NOT_READ: Final = "not read"
"""Shown in every panel while the exchange refuses the whole account; the reason is above all of them."""
_UNREADABLE: Final = "Rows from the exchange cannot be read, so this list is not complete.\ntradetui doctor says more."


class Panel(TableFrame, Generic[FeedRowT_co]):
    """One feed on the screen; `caption` is its title as plain text."""

    def __init__(self, kind: Table[FeedRowT_co], key_named: Callable[[str], str]) -> None:
        self.table: RecordTable[FeedRowT_co] = RecordTable(
            kind.columns,
            id=f"table-{kind.name}",
            footer=kind.view.footer,
            newest_first=kind.name == TableName.FILLS,
        )
        super().__init__(table=self.table, id=f"panel-{kind.name}", classes="panel -empty")
        self.kind = kind
        self._key_named = key_named
        self.caption = ""
        self.product: str | None = None
        self.dates: DateFilter | None = None
        self._dates_title = ""
        self.in_other_view = False
        self._shown_generation = (False, -1)
        self._sentence: Static | None = None
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

    def show(self, feed: Feed[FeedRowT_co], now: float, rows: Snapshot[FeedRowT_co], error: FeedError | None) -> None:
        """Show rows and state of the feed as it stands now; only changes are repainted."""
        self.show_rows(rows)
        self.show_state(feed, now, rows, error)

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

    def show_state(
        self, feed: Feed[FeedRowT_co], now: float, rows: Snapshot[FeedRowT_co], error: FeedError | None
    ) -> None:
        """Update title, age and the sentence of an empty panel; `error` says why its rows are not read."""
        snapshot, freshness = feed.snapshot, feed.freshness
        about = [f"no data for {coarse(snapshot.age(now) or 0.0)}"] if freshness.aged else []
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
        self.set_class(error is not None or has_trouble(feed), "-trouble")
        self.table.set_live(not has_trouble(feed))
        self._show_sentence(replace(snapshot, rows=rows.rows, error=error), feed.longest_pause)

    def reset(self) -> None:
        self._shown_generation = (False, -1)
        self._shown_trouble = READING
        self.border_subtitle = READING
        self.set_class(False, "-trouble")
        self.table.set_live(True)
        self.table.set_source(NO_ROWS)
        self.table.cursor.vanished = None  # the row under the cursor did not end: its account is not looked at any more
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

    def _show_sentence(self, snapshot: Snapshot[FeedRowT_co], retry_s: float) -> None:
        empty = self.table.rows.count == 0
        self.set_class(empty, "-empty")
        if not empty:
            return
        if snapshot.count and self.table.sort_filter.pattern:
            self._say(nothing_matches(self.table, self._key_named))
        elif snapshot.count and self.dates is not None:
            self._say(
                f"None of the newest {counted(snapshot.count, 'row')}: {self._dates_title}.\n"
                f"{self._key_named('history')} looks through all that was ever seen; "
                f"{self._key_named('back')} clears the dates."
            )
        elif snapshot.count:
            key = self._key_named("product")
            self._say(
                f"None of {counted(snapshot.count, 'row')} is of this product type.\n"
                f"{key} goes on to the next, then to all."
            )
        elif snapshot.error is not None and snapshot.error.of_account:
            self._say(NOT_READ)
        elif snapshot.error is not None:
            again = f"Reading is tried again within {math.ceil(retry_s)} s."
            self._say("\n".join(filter(None, (snapshot.error.sentence, snapshot.error.remedy, again))))
        elif snapshot.undecodable_rows and self.other_view is None:
            self._say(_UNREADABLE)
        elif snapshot.read_at is not None:
            self._say((self.other_view or self.kind).nothing)
        else:
            self._say("")

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


def coarse(seconds: float) -> str:
    """An age in steps: tens of seconds, minutes, hours."""
    if seconds >= 3600:
        return f"{int(seconds // 3600)} h"
    if seconds >= 60:
        return f"{int(seconds // 60)} min"
    return f"{max(5, int(seconds // 10) * 10)} s"

"""Archived rows as the source of a table: any number of rows, a few pages in memory, read outside the event loop.

A table never waits for the disk: a row whose page is not in memory is None, and `changed` is called when it is. This
module reads rows of the archive: the newest ones, and those of a selection, counted and page by page.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic

from tradetui.desk.archive.schema import ORDER_ID_TEXT
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.desk.tables.rows.row_source import Sort, matcher
from tradetui.storage.disk_thread import Disk
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record, UndecodableRowError

KINDS: Final[Mapping[type[Record], str]] = {FuturesFill: "fill", TriggerOrder: "trigger"}
"""The kinds of archived rows by their names in the file."""
_OF_TYPE: Final = "FROM record WHERE kind = ? AND product_type = ?"
_OWN_ID: Final = "substr(id, 1, instr(id || '|', '|'))"
"""The id that the exchange gave a row; a fill's `id` also ends with its symbol."""


@dataclass(frozen=True, slots=True)
class Selection(Generic[RecordT]):
    """Selects rows of a kind: all, or by symbol, product type and time (Unix ms, both included).

    `symbols` and `ids` select several; an empty tuple selects no row. `id_piece` is consecutive digits of the id of the
    row or its order; `rowids` are the rows found by it earlier. Rows after `newest_row` are left out, so that new rows
    change nothing.
    """

    kind: type[RecordT]
    symbol: str | None = None
    product_type: ProductType | None = None
    since: int | None = None
    until: int | None = None
    symbols: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    id_piece: str = ""
    rowids: tuple[int, ...] | None = None
    newest_row: int | None = None

    def where(self) -> tuple[str, list[str | int]]:
        """Return the SQL condition on `record`, and its values in order."""
        # The plus makes SQLite look at the few rows found, and not use an index of all rows of the kind.
        parts: list[str] = ["kind = ?" if self.rowids is None else "+kind = ?"]
        values: list[str | int] = [KINDS[self.kind]]
        conditions: tuple[tuple[str, str | int | None], ...] = (
            ("symbol = ?", self.symbol.upper() if self.symbol else None),
            ("product_type = ?", str(self.product_type) if self.product_type else None),
            ("time >= ?", self.since),
            ("time <= ?", self.until),
            ("+rowid <= ?", self.newest_row),  # the plus keeps SQLite on the indexes in page order
            ("id IN (SELECT value FROM json_each(?))", None if self.ids is None else dump_json(self.ids)),
            ("rowid IN (SELECT value FROM json_each(?))", None if self.rowids is None else dump_json(self.rowids)),
        )
        for condition, value in conditions:
            if value is not None:
                parts.append(condition)
                values.append(value)
        if self.symbols is not None:
            parts.append(f"symbol IN ({', '.join('?' * len(self.symbols))})")
            values += self.symbols
        if self.id_piece and self.rowids is None:
            # The first two are in an index, and most rows fail there.
            parts.append(f"(instr(ordinal, ?) OR instr({ORDER_ID_TEXT}, ?))")
            parts.append(f"(instr({_OWN_ID}, ?) OR instr(json_extract(body, '$.orderId'), ?))")
            values += [self.id_piece] * 4
        return " AND ".join(parts), values


RowRank = tuple[int, str, str]
"""The sort key of a row: time, ordinal of its id, product type."""


def distinct_texts(connection: sqlite3.Connection, following: str, chosen: str) -> list[str]:
    """Return the distinct texts of an indexed column; `following` is the SQL for the next one within `chosen`."""
    texts: list[str] = []
    while (row := connection.execute(following, (chosen, texts[-1] if texts else "")).fetchone()) is not None:
        texts.append(row[0])
    return texts


class RowQueries:
    """Queries the rows of one archive file. Every call blocks briefly and belongs on the disk thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._unreadable: dict[type[Record], set[int]] = {kind: set() for kind in KINDS}
        self._counts: dict[type[Record], tuple[int, Counter[str]]] = {}

    def newest(self, kind: type[RecordT], product_type: ProductType, limit: int) -> list[ProductRow[RecordT]]:
        of_type = (KINDS[kind], str(product_type))
        # If there are none, the query by time would scan all rows of the kind.
        if not self._connection.execute(f"SELECT 1 {_OF_TYPE} LIMIT 1", of_type).fetchone():
            return []
        cursor = self._connection.execute(
            f"SELECT rowid, product_type, body {_OF_TYPE} ORDER BY time DESC, ordinal DESC LIMIT ?", (*of_type, limit)
        )
        return [row for values in cursor if (row := self._read_row(kind, *values)) is not None]

    def fills_at(self, product_type: ProductType, times: Iterable[int]) -> list[ProductRow[FuturesFill]]:
        """Return the archived fills of these moments (Unix ms)."""
        cursor = self._connection.execute(
            f"SELECT rowid, product_type, body {_OF_TYPE} AND time IN (SELECT value FROM json_each(?))",
            (KINDS[FuturesFill], str(product_type), dump_json(list(times))),
        )
        return [row for values in cursor if (row := self._read_row(FuturesFill, *values)) is not None]

    def fills(self, product_type: ProductType) -> Iterator[FuturesFill]:
        """Yield every archived fill of a product type, oldest first."""
        cursor = self._connection.execute(
            f"SELECT rowid, product_type, body {_OF_TYPE} ORDER BY time, ordinal",
            (KINDS[FuturesFill], str(product_type)),
        )
        for values in cursor:
            if (row := self._read_row(FuturesFill, *values)) is not None:
                yield row.record

    def symbols(self, kind: type[Record]) -> list[str]:
        """Return every symbol that has a row, alphabetically."""
        following = "SELECT symbol FROM record WHERE kind = ? AND symbol > ? ORDER BY symbol LIMIT 1"
        return distinct_texts(self._connection, following, KINDS[kind])

    def newest_row(self) -> int:
        """Return the number of the last row; each new row gets a higher one."""
        return int(self._connection.execute("SELECT coalesce(max(rowid), 0) FROM record").fetchone()[0])

    def unreadable_count(self, kind: type[Record]) -> int:
        """Return how many rows of a kind were unreadable since the file was opened; they stay in the file."""
        return len(self._unreadable[kind])

    def now_readable(self, kind: type[Record], rowid: int) -> None:
        """Count an unreadable row again after it was rewritten."""
        self._unreadable[kind].discard(rowid)

    def _read_row(self, kind: type[RecordT], rowid: int, product_type: str, body: str) -> ProductRow[RecordT] | None:
        """Read a row of the file; an unreadable one is noted, and left out of all counts and pages."""
        try:
            return ProductRow(ProductType(product_type), kind.from_row(load_json(body)))
        except (UndecodableRowError, ValueError):
            self._unreadable[kind].add(rowid)
            return None

    def _where(self, selection: Selection[RecordT]) -> tuple[str, list[str | int]]:
        where, values = selection.where()
        if unreadable := self._unreadable[selection.kind]:
            return f"{where} AND +rowid NOT IN (SELECT value FROM json_each(?))", [*values, dump_json(list(unreadable))]
        return where, values

    def rowids(self, selection: Selection[RecordT], *, limit: int = -1) -> tuple[int, ...]:
        """Return the numbers of a selection's rows, at most `limit` if it is not negative."""
        where, values = self._where(selection)
        rowids = self._connection.execute(
            f"SELECT rowid FROM record INDEXED BY record_by_symbol WHERE {where} LIMIT {limit}", values
        )
        return tuple(rowid for (rowid,) in rowids)

    def matching(
        self, kind: type[RecordT], rowids: Sequence[int], keeps_row: Callable[[ProductRow[RecordT]], bool]
    ) -> list[int]:
        rows = self._connection.execute(
            "SELECT rowid, product_type, body FROM record WHERE rowid IN (SELECT value FROM json_each(?))",
            (dump_json(rowids),),
        )
        return [values[0] for values in rows if (row := self._read_row(kind, *values)) is not None and keeps_row(row)]

    def count(self, selection: Selection[RecordT]) -> int:
        """Count the rows; for whole symbols only rows added since the last count are read."""
        kind, symbols, newest_row = selection.kind, selection.symbols, selection.newest_row
        is_of_symbols = selection == Selection(kind, symbols=symbols, newest_row=newest_row)
        if newest_row is not None and is_of_symbols and not self._unreadable[kind]:
            counts = self._symbol_counts(kind, newest_row)
            return sum(counts.values()) if symbols is None else sum(counts.get(symbol, 0) for symbol in symbols)
        where, values = self._where(selection)
        return int(self._connection.execute(f"SELECT count(*) FROM record WHERE {where}", values).fetchone()[0])

    def _symbol_counts(self, kind: type[Record], newest_row: int) -> Counter[str]:
        """Count the rows of each symbol up to row `newest_row` of the file."""
        counted_rows, counts = self._counts.get(kind, (0, Counter()))
        of_symbol = "SELECT symbol, count(*) FROM record WHERE kind = ? AND symbol = ? AND +rowid <= ?"
        if not 0 < counted_rows <= newest_row:
            values = [(KINDS[kind], symbol, newest_row) for symbol in self.symbols(kind)]
            counts = Counter(dict(self._connection.execute(of_symbol, of_one).fetchone() for of_one in values))
        else:
            since = "SELECT symbol, count(*) FROM record WHERE rowid > ? AND rowid <= ? AND +kind = ? GROUP BY +symbol"
            rows = self._connection.execute(since, (counted_rows, newest_row, KINDS[kind]))
            counts = counts + Counter(dict(rows.fetchall()))
        self._counts[kind] = newest_row, counts
        return counts

    def page(
        self, selection: Selection[RecordT], after: RowRank | None, limit: int, *, newest: bool = True, skip: int = 0
    ) -> list[tuple[RowRank, ProductRow[RecordT]]]:
        """Read the rows that follow `after` (None: from the end) by time, in either direction.

        `skip` first leaves out that many rows; only the index is read for them.
        """
        where, values = self._where(selection)
        way, order = ("<", "DESC") if newest else (">", "ASC")
        page: list[tuple[RowRank, ProductRow[RecordT]]] = []
        rows_left = True
        while rows_left and len(page) < limit:  # once, unless unreadable rows have to be replaced
            beyond = f" AND (time, ordinal, product_type) {way} (?, ?, ?)" if after is not None else ""
            rows_missing = limit - len(page)
            rows = self._connection.execute(
                "SELECT time, ordinal, rowid, product_type, body FROM record"
                f" WHERE rowid IN (SELECT rowid FROM record WHERE {where}{beyond}"
                f" ORDER BY time {order}, ordinal {order}, product_type {order} LIMIT ? OFFSET ?)"
                f" ORDER BY time {order}, ordinal {order}, product_type {order}",
                [*values, *(after or ()), rows_missing, skip],
            ).fetchall()
            for time, ordinal, rowid, product_type, body in rows:
                after = (time, ordinal, product_type)
                if (row := self._read_row(selection.kind, rowid, product_type, body)) is not None:
                    page.append((after, row))
            rows_left, skip = len(rows) == rows_missing, 0
        return page


PAGE: Final = 100
PAGES_KEPT: Final = 8
CHUNK: Final = 500
"""Rows read at a time when all are read."""
ANCHORS_KEPT: Final = 512
SHORTEST_ID_PIECE: Final = 5
"""Fewer digits are not searched in ids; they may belong to a symbol, such as 1000SATS."""
ROWIDS_AT_MOST: Final = 10_000
"""The most row numbers that a search for an id keeps; if more rows match, the next page of matches is near."""
READ_TO_SEARCH: Final[frozenset[type[Record]]] = frozenset({TriggerOrder})
"""Kinds whose rows are all read in a search, since there are few; there may be a million fills."""
SEARCHED_AT_ONCE: Final = 200
"""Rows read in one step of a search; other disk work runs between steps."""
SEARCHED_UNSEEN: Final = 1_000
"""Up to this many rows are searched so fast that the previous rows may be shown until then."""


class ArchiveRows(Generic[RecordT]):
    """A `RowSource` over keyset pages, sorted by time, newest or oldest first.

    A symbol is shown if it passes every test of `keeps_symbol`, and a row if it passes `keeps_row`, which runs on the
    disk thread. Unreadable rows are left out; `unreadable_count` is how many of their kind were met so far. A page is
    read from the nearest known position: the beginning, the end or another page. So a jump to the end of a million rows
    costs no more than a step to the next page. The neighbours of a page in view and the pages at both ends are read
    ahead.
    """

    def __init__(
        self,
        row_queries: RowQueries,
        disk: Disk,
        selection: Selection[RecordT],
        *,
        newest: bool = True,
        changed: Callable[[], None] | None = None,
        keeps_symbol: Sequence[Callable[[str], bool]] = (),
        keeps_row: Callable[[ProductRow[RecordT]], bool] | None = None,
    ) -> None:
        self.selection = selection
        self._keeps_symbol = tuple(keeps_symbol)
        self._keeps_row = keeps_row
        self.newest = newest
        self.generation = 0
        self.count = 0
        self.unreadable_count = 0
        self.error = ""
        """Why the file could not be read, until `refresh` reads it; empty if it could."""
        self._refreshes = 0
        self._row_queries = row_queries
        self._disk = disk
        self._changed = changed or (lambda: None)
        self._pages: OrderedDict[int, list[ProductRow[RecordT]]] = OrderedDict()
        self._indexes: dict[str, int] = {}
        self._page_ends: OrderedDict[int, tuple[RowRank, RowRank]] = OrderedDict()
        self._loading: dict[int, asyncio.Task[None]] = {}
        self._awaited: set[int] = set()
        self._reversed: ArchiveRows[RecordT] | None = None
        self._latest_view: ArchiveRows[RecordT] | None = None
        self._first_reading: asyncio.Task[None] | None = None
        self.is_pending = False
        """Whether the first rows will come in a moment, so that the previous rows had better stay on the screen."""

    async def refresh(self) -> None:
        """Count again and forget the pages: there may be new rows and new symbols."""
        try:
            selection, count = await self._disk.run(self._recount, self.selection)
            if self._keeps_row is not None:
                rowids = await self._search(selection, self._keeps_row)
                selection, count = replace(selection, rowids=rowids), len(rowids)
        except (sqlite3.Error, OSError) as problem:
            self._fail(problem)
            return
        self.selection, self.count, self.error = selection, count, ""
        self.unreadable_count = self._row_queries.unreadable_count(self.selection.kind)
        self._pages.clear()
        self._indexes.clear()
        self._page_ends.clear()
        self._reversed = None
        self.generation += 1
        self._refreshes += 1
        if not self.is_pending:
            self._changed()

    def _fail(self, problem: Exception) -> None:
        self.error = str(problem)
        self._changed()

    async def _search(
        self, selection: Selection[RecordT], keeps_row: Callable[[ProductRow[RecordT]], bool]
    ) -> tuple[int, ...]:
        rowids = await self._disk.run(self._row_queries.rowids, selection)
        kept: list[int] = []
        for first in range(0, len(rowids), SEARCHED_AT_ONCE):
            part = rowids[first : first + SEARCHED_AT_ONCE]
            kept += await self._disk.run(self._row_queries.matching, selection.kind, part, keeps_row)
        return tuple(kept)

    def _recount(self, selection: Selection[RecordT]) -> tuple[Selection[RecordT], int]:
        """Return the selection of the rows there are now, and their count; runs on the disk thread."""
        # Pages, sums and exports cover exactly the rows counted here, even if new rows come in.
        selection = replace(selection, newest_row=self._row_queries.newest_row(), rowids=None)
        if self._keeps_symbol:
            symbols = self._row_queries.symbols(selection.kind)
            kept = tuple(symbol for symbol in symbols if all(keeps(symbol) for keeps in self._keeps_symbol))
            selection = replace(selection, symbols=kept)
        if selection.id_piece:
            rowids = self._row_queries.rowids(selection, limit=ROWIDS_AT_MOST + 1)
            selection = replace(selection, rowids=rowids if len(rowids) <= ROWIDS_AT_MOST else None)
        return selection, self._row_queries.count(selection)

    def ordered(
        self, sort: Sort | None, pattern: str, text_of: Callable[[ProductRow[RecordT]], str] = str
    ) -> ArchiveRows[RecordT]:
        """Return the rows that match a pattern, by time in the direction of the sort.

        Rows of a kind in `READ_TO_SEARCH` are searched in the text of each row. For other kinds the pattern is matched
        with symbols, or with ids if it is digits. The count is read in the background; then `changed` is called.
        """
        newest = self.newest if sort is None else sort.reverse
        if not pattern and newest == self.newest:
            return self
        if self._latest_view is not None and self._latest_view is not self._reversed:
            self._latest_view.close()  # a search for an earlier pattern would delay the next one
        if not pattern and self._reversed is not None:
            return self._reversed
        is_id_piece = pattern.isascii() and pattern.isdigit() and len(pattern) >= SHORTEST_ID_PIECE
        matches, keeps_row, keeps_symbol = matcher(pattern), None, self._keeps_symbol
        if matches is not None and self.selection.kind in READ_TO_SEARCH:
            keeps_row, is_id_piece = (lambda row: matches(text_of(row))), False
        elif matches is not None and not is_id_piece:
            keeps_symbol = (*keeps_symbol, matches)
        self._latest_view = view = ArchiveRows(
            self._row_queries,
            self._disk,
            replace(self.selection, id_piece=pattern) if is_id_piece else self.selection,
            newest=newest,
            changed=self._changed,
            keeps_symbol=keeps_symbol,
            keeps_row=keeps_row,
        )
        view.is_pending = not is_id_piece and (keeps_row is None or self.count <= SEARCHED_UNSEEN)
        counted = self if not pattern and self.generation else None
        begin = view._read_first(counted) if view.is_pending else view.refresh()
        view._first_reading = asyncio.get_running_loop().create_task(begin)
        if not pattern:
            self._reversed = view
        return view

    async def _read_first(self, counted: ArchiveRows[RecordT] | None) -> None:
        """Count the rows, or take the count of the same rows in `counted`; then read the first page."""
        try:
            if counted is None:
                await self.refresh()
            else:
                self.selection, self.count, self.generation = counted.selection, counted.count, counted.generation
                self.unreadable_count = counted.unreadable_count
            if not self.error:
                await self._load(0, self._refreshes)
        finally:
            self.is_pending = False
            self._changed()

    def whole(self) -> WholeArchive[RecordT]:
        """Return the rows in order, read page by page on demand."""
        return WholeArchive(self._row_queries, self._disk, self.selection, self.count, newest=self.newest)

    async def chunks(self) -> AsyncIterator[list[ProductRow[RecordT]]]:
        """Yield all rows in order, `CHUNK` at a time; other disk work runs between."""
        after: RowRank | None = None
        while page := await self._disk.run(self._row_queries.page, self.selection, after, CHUNK, newest=self.newest):
            yield [row for _, row in page]
            after = page[-1][0]

    def row(self, index: int) -> ProductRow[RecordT] | None:
        """Return the row at an index, or None while its page is being read."""
        number, within = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            if 0 <= index < self.count:
                self._awaited.add(number)
                self._fetch(number)
            return None
        return page[within] if within < len(page) else None

    def row_id(self, index: int) -> str | None:
        row = self.row(index)
        return None if row is None else row.row_id

    def index_of(self, row_id: str) -> int | None:
        return self._indexes.get(row_id)

    def read_ahead(self, index: int) -> None:
        """Load the pages that the next key may need: the neighbours of a row's page, and both ends."""
        number, last = index // PAGE, (self.count - 1) // PAGE
        for near in (number + 1, number - 1, last, last - 1, 0):
            if near in self._pages:
                self._pages.move_to_end(near)
            elif 0 <= near <= last:
                self._fetch(near)
        if number in self._pages:
            self._pages.move_to_end(number)

    def close(self) -> None:
        """Stop reading, in this view and in the views derived from it."""
        for task in (*self._loading.values(), *filter(None, [self._first_reading])):
            task.cancel()
        for view in filter(None, (self._latest_view, self._reversed)):
            view.close()

    def _fetch(self, number: int) -> None:
        if number in self._loading or self.error:
            return
        task = asyncio.get_running_loop().create_task(self._load(number, self._refreshes))
        self._loading[number] = task
        task.add_done_callback(lambda _: self._loading.pop(number, None))

    async def _load(self, number: int, refreshes: int) -> None:
        try:
            page = await self._disk.run(self._read, number, self.count, dict(self._page_ends))
        except (sqlite3.Error, OSError) as problem:
            self._fail(problem)
            return
        if refreshes != self._refreshes:
            self._changed()  # the table asks again if it still needs the page
            return
        if self._row_queries.unreadable_count(self.selection.kind) != self.unreadable_count:
            await self.refresh()  # unreadable rows of this page were counted
            return
        rows = [row for _, row in page]
        self._pages[number] = rows
        self._indexes.update((row.row_id, number * PAGE + at) for at, row in enumerate(rows))
        if len(page) == PAGE:
            self._page_ends[number] = page[0][0], page[-1][0]
            if len(self._page_ends) > ANCHORS_KEPT:
                self._page_ends.popitem(last=False)
        while len(self._pages) > PAGES_KEPT:
            _, gone = self._pages.popitem(last=False)
            for row in gone:
                self._indexes.pop(row.row_id, None)
        if number in self._awaited:
            self._awaited.discard(number)
            self.generation += 1
            self._changed()

    def _read(
        self, number: int, count: int, page_ends: dict[int, tuple[RowRank, RowRank]]
    ) -> list[tuple[RowRank, ProductRow[RecordT]]]:
        """Read one page forward or backward from the nearest known page end; runs on the disk thread."""
        first, last = number * PAGE, min((number + 1) * PAGE, count)
        before = max((known_page for known_page in page_ends if known_page < number), default=None)
        after = min((known_page for known_page in page_ends if known_page > number), default=None)
        skip_forward = first - (0 if before is None else (before + 1) * PAGE)
        skip_backward = (count if after is None else after * PAGE) - last
        if skip_backward < skip_forward:
            rank = None if after is None else page_ends[after][0]
            newest, skip = not self.newest, skip_backward
            return self._row_queries.page(self.selection, rank, last - first, newest=newest, skip=skip)[::-1]
        rank = None if before is None else page_ends[before][1]
        return self._row_queries.page(self.selection, rank, last - first, newest=self.newest, skip=skip_forward)


class WholeArchive(Generic[RecordT]):
    """Rows in order for a thread that may block, with one page in memory."""

    def __init__(
        self, row_queries: RowQueries, disk: Disk, selection: Selection[RecordT], count: int, *, newest: bool
    ) -> None:
        self.generation = 0
        self.count = count
        self._row_queries = row_queries
        self._disk = disk
        self._selection = selection
        self._newest = newest
        self._first = 0
        self._page: list[tuple[RowRank, ProductRow[RecordT]]] = []

    def row(self, index: int) -> ProductRow[RecordT] | None:
        """Return the row at an index; call it for each row in order. None after the last."""
        while index >= self._first + len(self._page):
            after = self._page[-1][0] if self._page else None
            page = self._disk.now(self._row_queries.page, self._selection, after, PAGE, newest=self._newest)
            if not page:
                return None
            self._first += len(self._page)
            self._page = page
        return self._page[index - self._first][1]

    def row_id(self, index: int) -> str | None:
        row = self.row(index)
        return None if row is None else row.row_id

    def index_of(self, row_id: str) -> int | None:
        """None: rows are not kept once read."""
        return None

"""Archived rows as a source for a table: any number of them, a few pages in memory, read off the loop.

What a table shows never waits for the disk: a row whose page is not in memory is None, and `changed` says when it is.

Reads the rows that an archive keeps: the newest ones, and those of a selection, counted and page by page.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
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
"""Archived kinds by their names in the file."""
_OF_TYPE: Final = "FROM record WHERE kind = ? AND product_type = ?"
_OWN_ID: Final = "substr(id, 1, instr(id || '|', '|'))"
"""The id that the exchange gave a row, without the symbol that a fill's `id` ends with."""


@dataclass(frozen=True, slots=True)
class Selection(Generic[RecordT]):
    """Chooses rows of a kind: all, or those of a symbol, a product type, a stretch of time (Unix ms, both included).

    `symbols` are those of several, `ids` those of single rows; none at all is no row. `id_piece` are digits that stand
    next to each other in the row's or its order's id; `rowids` are the rows that were found by them before.
    `newest_row` is the number of the last row of the file that counts, so that what comes later changes nothing.
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
        """The SQL condition on `record`, and its values in their order."""
        # The plus keeps SQLite to the few rows that were found, away from an index of all rows of the kind.
        parts: list[str] = ["kind = ?" if self.rowids is None else "+kind = ?"]
        values: list[str | int] = [KINDS[self.kind]]
        conditions: tuple[tuple[str, str | int | None], ...] = (
            ("symbol = ?", self.symbol.upper() if self.symbol else None),
            ("product_type = ?", str(self.product_type) if self.product_type else None),
            ("time >= ?", self.since),
            ("time <= ?", self.until),
            ("+rowid <= ?", self.newest_row),  # the plus keeps SQLite to the indexes, whose order pages follow
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
            # The first two are in an index, and most rows end there.
            parts.append(f"(instr(ordinal, ?) OR instr({ORDER_ID_TEXT}, ?))")
            parts.append(f"(instr({_OWN_ID}, ?) OR instr(json_extract(body, '$.orderId'), ?))")
            values += [self.id_piece] * 4
        return " AND ".join(parts), values


RowRank = tuple[int, str, str]
"""The sort key of a row: time, ordinal of its id, product type."""


def distinct_texts(connection: sqlite3.Connection, following: str, chosen: str) -> list[str]:
    """The texts of an indexed column, each by the SQL that gives the one that follows another among what is chosen."""
    texts: list[str] = []
    while (row := connection.execute(following, (chosen, texts[-1] if texts else "")).fetchone()) is not None:
        texts.append(row[0])
    return texts


class RowQueries:
    """The rows of one archive's file. Every call blocks for a moment and belongs on the disk's thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._unreadable: dict[type[Record], set[int]] = {kind: set() for kind in KINDS}
        self._counts: dict[type[Record], tuple[int, Counter[str]]] = {}

    def newest(self, kind: type[RecordT], product_type: ProductType, limit: int) -> list[ProductRow[RecordT]]:
        of_type = (KINDS[kind], str(product_type))
        # Where there is none, looking by time goes through all rows of the kind.
        if not self._connection.execute(f"SELECT 1 {_OF_TYPE} LIMIT 1", of_type).fetchone():
            return []
        cursor = self._connection.execute(
            f"SELECT rowid, product_type, body {_OF_TYPE} ORDER BY time DESC, ordinal DESC LIMIT ?", (*of_type, limit)
        )
        return [row for values in cursor if (row := self._read_row(kind, *values)) is not None]

    def fills(self, product_type: ProductType) -> Iterator[FuturesFill]:
        """Every fill kept of a product type, oldest first."""
        cursor = self._connection.execute(
            f"SELECT rowid, product_type, body {_OF_TYPE} ORDER BY time, ordinal",
            (KINDS[FuturesFill], str(product_type)),
        )
        for values in cursor:
            if (row := self._read_row(FuturesFill, *values)) is not None:
                yield row.record

    def symbols(self, kind: type[Record]) -> list[str]:
        """Every symbol there is a row of, in the alphabet's order."""
        following = "SELECT symbol FROM record WHERE kind = ? AND symbol > ? ORDER BY symbol LIMIT 1"
        return distinct_texts(self._connection, following, KINDS[kind])

    def newest_row(self) -> int:
        """The number of the last row; in a file that keeps all rows, each row that comes has a higher one."""
        return int(self._connection.execute("SELECT coalesce(max(rowid), 0) FROM record").fetchone()[0])

    def unreadable_count(self, kind: type[Record]) -> int:
        """How many rows of a kind this version could not read since the file was opened; they stay in the file."""
        return len(self._unreadable[kind])

    def now_readable(self, kind: type[Record], rowid: int) -> None:
        """Count a row again that could not be read: it was written anew."""
        self._unreadable[kind].discard(rowid)

    def _read_row(self, kind: type[RecordT], rowid: int, product_type: str, body: str) -> ProductRow[RecordT] | None:
        """A row as the file has it; one that this version cannot read is noted, and is in no count and no page."""
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
        """The numbers of a selection's rows, so many at most; all where no limit is given."""
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
        """How many rows there are; those of whole symbols are counted once, and then only what came in since."""
        kind, symbols, newest_row = selection.kind, selection.symbols, selection.newest_row
        is_of_symbols = selection == Selection(kind, symbols=symbols, newest_row=newest_row)
        if newest_row is not None and is_of_symbols and not self._unreadable[kind]:
            counts = self._symbol_counts(kind, newest_row)
            return sum(counts.values()) if symbols is None else sum(counts.get(symbol, 0) for symbol in symbols)
        where, values = self._where(selection)
        return int(self._connection.execute(f"SELECT count(*) FROM record WHERE {where}", values).fetchone()[0])

    def _symbol_counts(self, kind: type[Record], newest_row: int) -> Counter[str]:
        """Rows of each symbol among the first so many rows of the file."""
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
        """Rows that follow a place (or from the very end where none is given), by time, in either direction.

        `skip` leaves out so many more first; only the index is walked for them.
        """
        where, values = self._where(selection)
        way, order = ("<", "DESC") if newest else (">", "ASC")
        page: list[tuple[RowRank, ProductRow[RecordT]]] = []
        rows_left = True
        while rows_left and len(page) < limit:  # once, unless rows cannot be read and others come in their place
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
"""Rows read at a time of those that are all gone through."""
ANCHORS_KEPT: Final = 512
SHORTEST_ID_PIECE: Final = 5
"""Digits that are looked for in ids; fewer may be of a symbol, such as 1000SATS."""
ROWIDS_AT_MOST: Final = 10_000
"""Rows that a search for an id holds by their numbers; where it matches more, the next page of matches is near."""
READ_TO_SEARCH: Final[frozenset[type[Record]]] = frozenset({TriggerOrder})
"""Kinds of which each row is read in a search, since there are few; of fills there may be a million."""
SEARCHED_AT_ONCE: Final = 200
"""Rows that are read in one go while they are searched; other work of the disk goes between."""
SEARCHED_UNSEEN: Final = 1_000
"""Rows that are searched so soon that those of before may be shown until then."""


class ArchiveRows(Generic[RecordT]):
    """A `RowSource` over keyset pages, sorted by time, newest or oldest first.

    Of the symbols in the archive only those are shown that pass every test of `keeps_symbol`, of the rows those
    that pass `keeps_row`, which is asked in the disk's thread. Rows that this version cannot read are left out;
    `unreadable_count` says how many of their kind came up so far. A page is reached from the nearest place known, be it
    the beginning, the end or a page read before, so that a jump to the end of a million rows costs no more than one to
    the next page. The pages beside one that is looked at and those at both ends are read ahead.
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
        """Why the file could not be read, until it is read again by `refresh`; empty where it could."""
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
        """Whether the first rows are there in a moment, so that those of before are better shown until then."""

    async def refresh(self) -> None:
        """Count again and forget the pages: rows may have come in, of new symbols too."""
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
        """The selection of the rows there are by now, and their count; runs on the disk's thread."""
        # Pages, sums and exports are of the rows that are counted here, whatever comes in meanwhile.
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
        """The rows that a pattern matches, by time in the direction of the sort.

        It is looked for in the text of each row of a kind that is `READ_TO_SEARCH`; of others in the symbols, or where
        it is digits in the ids. Their count is read in the background; `changed` is called when it is there.
        """
        newest = self.newest if sort is None else sort.reverse
        if not pattern and newest == self.newest:
            return self
        if self._latest_view is not None and self._latest_view is not self._reversed:
            self._latest_view.close()  # a search for what is typed no more would keep the next one waiting
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
        """Count the rows, unless the same ones are `counted`, and read those that come first."""
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
        """The rows one after the other, read page by page as they are asked for."""
        return WholeArchive(self._row_queries, self._disk, self.selection, self.count, newest=self.newest)

    async def chunks(self) -> AsyncIterator[list[ProductRow[RecordT]]]:
        """All rows from the first to the last, so many at a time; other work of the disk goes between."""
        after: RowRank | None = None
        while page := await self._disk.run(self._row_queries.page, self.selection, after, CHUNK, newest=self.newest):
            yield [row for _, row in page]
            after = page[-1][0]

    def row(self, index: int) -> ProductRow[RecordT] | None:
        """The row at a place, or None while its page is being read."""
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
        """The place of a row that is in memory."""
        return self._indexes.get(row_id)

    def read_ahead(self, index: int) -> None:
        """Have at hand what the next key may ask for: the pages beside that of a row, and both ends."""
        number, last = index // PAGE, (self.count - 1) // PAGE
        for near in (number + 1, number - 1, last, last - 1, 0):
            if near in self._pages:
                self._pages.move_to_end(near)
            elif 0 <= near <= last:
                self._fetch(near)
        if number in self._pages:
            self._pages.move_to_end(number)

    async def wait_for_pages(self) -> None:
        if self._first_reading is not None:
            await self._first_reading
        while self._loading:
            await asyncio.gather(*self._loading.values(), return_exceptions=True)

    def close(self) -> None:
        """Stop reading, here and in the views on these rows."""
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
            self._changed()  # whoever still wants the page asks again
            return
        if self._row_queries.unreadable_count(self.selection.kind) != self.unreadable_count:
            await self.refresh()  # rows of this page were counted, and cannot be read
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
        """Read one page from the nearest known end, before it or after it; runs on the disk's thread."""
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
    """Rows from the first to the last for a thread that may wait, a page of them in memory."""

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
        """The row at a place, each asked for after the one before it; None behind the last there is."""
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

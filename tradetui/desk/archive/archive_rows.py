"""Archived rows as a source for a table: any number of them, a few pages in memory, read off the loop."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Final, Generic

from tradetui.desk.archive.kept_rows import KeptRows, RowRank, Selection
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.desk.tables.rows.row_source import Sort, matcher
from tradetui.storage.disk_thread import Disk

PAGE: Final = 100
PAGES_KEPT: Final = 8
CHUNK: Final = 500
"""Rows read at a time of those that are all gone through."""
ANCHORS_KEPT: Final = 512
SHORTEST_ID_PIECE: Final = 5
"""Digits that are looked for in ids; fewer may be of a symbol, such as 1000SATS."""


class ArchiveRows(Generic[RecordT]):
    """A `RowSource` over keyset pages, sorted by time, newest or oldest first.

    `row` and `key` give None for what is not in memory yet and have its page read; `changed` is called when it is
    there. Of the symbols in the archive only those are shown that pass every test of `keeps_symbol`. Rows that this
    version cannot read are left out; `unreadable_count` says how many of their kind came up so far. A page is reached
    from the nearest place known, be it the beginning, the end or a page read before, so that a jump to the end of a
    million rows costs no more than one to the next page.
    """

    def __init__(
        self,
        kept_rows: KeptRows,
        disk: Disk,
        selection: Selection[RecordT],
        *,
        newest: bool = True,
        changed: Callable[[], None] | None = None,
        keeps_symbol: Sequence[Callable[[str], bool]] = (),
    ) -> None:
        self.selection = selection
        self._keeps_symbol = tuple(keeps_symbol)
        self.newest = newest
        self.generation = 0
        self.count = 0
        self.unreadable_count = 0
        self._refreshes = 0
        self._kept_rows = kept_rows
        self._disk = disk
        self._changed = changed or (lambda: None)
        self._pages: OrderedDict[int, list[ProductRow[RecordT]]] = OrderedDict()
        self._places: dict[str, int] = {}
        self._ends: OrderedDict[int, RowRank] = OrderedDict()
        self._loading: dict[int, asyncio.Task[None]] = {}
        self._narrowing: asyncio.Task[None] | None = None

    async def refresh(self) -> None:
        """Count again and forget the pages: rows may have come in, of new symbols too."""
        if self._keeps_symbol:
            symbols = await self._disk.run(self._kept_rows.symbols, self.selection.kind)
            kept = tuple(symbol for symbol in symbols if all(keeps(symbol) for keeps in self._keeps_symbol))
            self.selection = replace(self.selection, symbols=kept)
        # Pages, sums and exports are of the rows that are counted here, whatever comes in meanwhile.
        self.selection = replace(self.selection, newest_row=await self._disk.run(self._kept_rows.newest_row))
        if self.selection.id_piece:
            searched = replace(self.selection, rowids=None)
            self.selection = replace(searched, rowids=await self._disk.run(self._kept_rows.rowids, searched))
        self.unreadable_count = self._kept_rows.unreadable_count(self.selection.kind)
        count = await self._disk.run(self._kept_rows.count, self.selection)
        self._pages.clear()
        self._places.clear()
        self._ends.clear()
        self.count = count
        self.generation += 1
        self._refreshes += 1
        self._changed()

    def ordered(self, sort: Sort | None, pattern: str) -> ArchiveRows[RecordT]:
        """The rows whose symbol the pattern matches, or whose id it is digits of, by time in the direction asked for.

        Their count is read in the background; `changed` is called when it is there.
        """
        newest = self.newest if sort is None else sort.reverse
        is_id_piece = pattern.isascii() and pattern.isdigit() and len(pattern) >= SHORTEST_ID_PIECE
        matches = None if is_id_piece else matcher(pattern)
        view = ArchiveRows(
            self._kept_rows,
            self._disk,
            replace(self.selection, id_piece=pattern) if is_id_piece else self.selection,
            newest=newest,
            changed=self._changed,
            keeps_symbol=self._keeps_symbol if matches is None else (*self._keeps_symbol, matches),
        )
        view._narrowing = asyncio.get_running_loop().create_task(view.refresh())
        return view

    def whole(self) -> WholeArchive[RecordT]:
        """The rows one after the other, read page by page as they are asked for."""
        return WholeArchive(self._kept_rows, self._disk, self.selection, self.count, newest=self.newest)

    async def chunks(self) -> AsyncIterator[list[ProductRow[RecordT]]]:
        """All rows from the first to the last, so many at a time; other work of the disk goes between."""
        after: RowRank | None = None
        while page := await self._disk.run(self._kept_rows.page, self.selection, after, CHUNK, newest=self.newest):
            yield [row for _, row in page]
            after = page[-1][0]

    def row(self, index: int) -> ProductRow[RecordT] | None:
        """The row at a place, or None while its page is being read."""
        number, within = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            self._fetch(number)
            return None
        self._pages.move_to_end(number)
        return page[within] if within < len(page) else None

    def key(self, index: int) -> str | None:
        """The key of the row at a place, or None while its page is being read."""
        row = self.row(index)
        return None if row is None else row.key

    def index_of(self, key: str) -> int | None:
        """The place of a row that is in memory."""
        return self._places.get(key)

    async def settled(self) -> None:
        """Wait for the pages being read."""
        if self._narrowing is not None:
            await self._narrowing
        while self._loading:
            await asyncio.gather(*self._loading.values(), return_exceptions=True)

    def close(self) -> None:
        for task in (*self._loading.values(), *filter(None, [self._narrowing])):
            task.cancel()

    def _fetch(self, number: int) -> None:
        if number in self._loading or not 0 <= number * PAGE < self.count:
            return
        task = asyncio.get_running_loop().create_task(self._load(number, self._refreshes))
        self._loading[number] = task
        task.add_done_callback(lambda _: self._loading.pop(number, None))

    async def _load(self, number: int, refreshes: int) -> None:
        page = await self._disk.run(self._read, number, self.count, dict(self._ends))
        if refreshes != self._refreshes:
            self._changed()  # whoever still wants the page asks again
            return
        if self._kept_rows.unreadable_count(self.selection.kind) != self.unreadable_count:
            await self.refresh()  # rows of this page were counted, and cannot be read
            return
        rows = [row for _, row in page]
        self._pages[number] = rows
        self._places.update((row.key, number * PAGE + at) for at, row in enumerate(rows))
        if len(page) == PAGE:
            self._ends[number] = page[-1][0]
            if len(self._ends) > ANCHORS_KEPT:
                self._ends.popitem(last=False)
        while len(self._pages) > PAGES_KEPT:
            _, gone = self._pages.popitem(last=False)
            for row in gone:
                self._places.pop(row.key, None)
        self.generation += 1
        self._changed()

    def _read(self, number: int, count: int, ends: dict[int, RowRank]) -> list[tuple[RowRank, ProductRow[RecordT]]]:
        """Read one page by the shortest way; runs on the disk's thread."""
        first, last = number * PAGE, min((number + 1) * PAGE, count)
        before = max((known_page for known_page in ends if known_page < number), default=None)
        from_known = first - (before + 1) * PAGE if before is not None else first
        from_end = count - last
        if from_end < from_known:
            page = self._kept_rows.page(self.selection, None, last - first, newest=not self.newest, skip=from_end)
            return page[::-1]
        after = ends[before] if before is not None else None
        return self._kept_rows.page(self.selection, after, last - first, newest=self.newest, skip=from_known)


class WholeArchive(Generic[RecordT]):
    """Rows from the first to the last for a thread that may wait, a page of them in memory."""

    def __init__(
        self, kept_rows: KeptRows, disk: Disk, selection: Selection[RecordT], count: int, *, newest: bool
    ) -> None:
        self.generation = 0
        self.count = count
        self._kept_rows = kept_rows
        self._disk = disk
        self._selection = selection
        self._newest = newest
        self._first = 0
        self._page: list[tuple[RowRank, ProductRow[RecordT]]] = []

    def row(self, index: int) -> ProductRow[RecordT] | None:
        """The row at a place, each asked for after the one before it; None behind the last there is."""
        while index >= self._first + len(self._page):
            after = self._page[-1][0] if self._page else None
            page = self._disk.now(self._kept_rows.page, self._selection, after, PAGE, newest=self._newest)
            if not page:
                return None
            self._first += len(self._page)
            self._page = page
        return self._page[index - self._first][1]

    def key(self, index: int) -> str | None:
        row = self.row(index)
        return None if row is None else row.key

    def index_of(self, key: str) -> int | None:
        """Not known: what is read is not kept."""
        return None

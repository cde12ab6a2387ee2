"""Reads the rows that an archive keeps: the newest ones, and those of a selection, counted and page by page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic

from tradetui.desk.archive.schema import ORDER_ID_TEXT
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record, UndecodableRowError

KINDS: Final[Mapping[type[Record], str]] = {FuturesFill: "fill", TriggerOrder: "trigger"}
"""Archived kinds by their names in the file."""
_OF_TYPE: Final = "FROM record WHERE kind = ? AND product_type = ?"


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
            parts.append("(instr(id, ?) OR instr(json_extract(body, '$.orderId'), ?))")
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

    def forget_counts(self) -> None:
        """Count all rows again when they are asked for: some were taken away, or are of another symbol."""
        self._counts.clear()

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

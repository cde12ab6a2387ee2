"""What was seen of fills and trigger orders, on disk: it outlives the exchange's window and the program."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Final, Generic

from tradetui.desk.archive.bill_reading import BillCoverage, BillReading
from tradetui.desk.archive.bills import bill_coverage, keep_bills
from tradetui.desk.archive.equity import (
    THINNED_EVERY_MS,
    EquitySample,
    add_sample,
    thin_samples,
)
from tradetui.desk.archive.gap import Gap
from tradetui.desk.archive.ledger.ledger import Ledger
from tradetui.desk.archive.ledger.placed_fill import placed_fill
from tradetui.desk.archive.pre_ledger_backup import back_up_before_ledger, backup_path, delete_backup
from tradetui.desk.archive.schema import ARCHIVE_VERSIONS, ORDER_ID_TEXT
from tradetui.desk.archive.trips.closed_positions import (
    closed_positions_until,
    keep_closed_positions,
)
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT, id_order, time_of
from tradetui.storage.sqlite_file import FileUnusable, open_file, transaction
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.models.futures_extended import ClosedPosition
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record, UndecodableRowError
from tradetui.wire.text.json_text import dump_json, load_json
from tradetui.wire.unix_time import unix_ms

KINDS: Final[Mapping[type[Record], str]] = {FuturesFill: "fill", TriggerOrder: "trigger"}
"""What is kept, by its name in the file."""
KEPT_IN_MEMORY: Final = 5_000
"""Rows of a kind an archive without a file keeps."""
TRIMMED_KEYS: Final = 50_000
"""Fills that such an archive has let go of and knows by their keys when they come again."""
ROWIDS_AT_MOST: Final = 10_000
"""Rows that a search holds by their numbers; where it matches more, the next page of matches is near anyway."""
CACHE_KIB: Final = 512
"""What SQLite keeps of the file in memory; its own 2 MiB fill up over the hours of a session."""

_INSERT: Final = "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, product_type, id) DO NOTHING"


@dataclass(frozen=True, slots=True)
class Selection(Generic[RecordT]):
    """Which rows of a kind: all, or those of a symbol, a product type, a stretch of time (Unix ms, both included).

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
        """The condition and its values."""
        # The plus keeps SQLite to the few rows that were found, away from an index of all rows of the kind.
        parts: list[str] = ["kind = ?" if self.rowids is None else "+kind = ?"]
        values: list[str | int] = [KINDS[self.kind]]
        conditions: tuple[tuple[str, str | int | None], ...] = (
            ("symbol = ?", self.symbol.upper() if self.symbol else None),
            ("product_type = ?", str(self.product_type) if self.product_type else None),
            ("time >= ?", self.since),
            ("time <= ?", self.until),
            ("+rowid <= ?", self.newest_row),  # the plus keeps SQLite to the indexes, whose order pages follow
        )
        for condition, value in conditions:
            if value is not None:
                parts.append(condition)
                values.append(value)
        if self.symbols is not None:
            parts.append(f"symbol IN ({', '.join('?' * len(self.symbols))})")
            values += self.symbols
        if self.ids is not None:
            parts.append("id IN (SELECT value FROM json_each(?))")
            values.append(dump_json(self.ids))
        if self.rowids is not None:
            parts.append("rowid IN (SELECT value FROM json_each(?))")
            values.append(dump_json(self.rowids))
        elif self.id_piece:
            # The first two are in an index, and most rows end there.
            parts.append(f"(instr(ordinal, ?) OR instr({ORDER_ID_TEXT}, ?))")
            parts.append("(instr(id, ?) OR instr(json_extract(body, '$.orderId'), ?))")
            values += [self.id_piece] * 4
        return " AND ".join(parts), values


RowRank = tuple[int, str, str]
"""Where a row stands: time, ordinal of its id, product type."""


class Archive:
    """One account's archive in a SQLite file (memory only, and bounded, where no file is given).

    Every call blocks for a moment and belongs on the disk's thread.
    """

    def __init__(self, file: Path | None, *, checks: str = "") -> None:
        """Open the file; one that is damaged is set aside and begun anew. Raises FileUnusable.

        All of it is looked at for damage, which takes longer the more it holds; with `checks` one table alone is.
        """
        self._bounded = file is None
        self._copied: Path | None = None
        if file is not None:
            back_up_before_ledger(file)
            self._copied = file if backup_path(file).exists() else None
        try:
            self._connection = open_file(file, ARCHIVE_VERSIONS, checks=checks)
        except FileUnusable:
            if file is None or file.exists():
                raise
            self._connection = open_file(file, ARCHIVE_VERSIONS)
        # What a power cut takes can be read again; the journal, where it cannot, syncs every step.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        self._ledger = Ledger(self._connection)
        self._trimmed_keys: dict[str, None] = {}
        self._unreadable: dict[type[Record], set[int]] = {kind: set() for kind in KINDS}
        self._thinned_hour = 0
        self.fills_to_book = self._tail_length()
        """About how many fills are not in the ledger yet; `settle` books some of them."""

    @property
    def trimmed(self) -> bool:
        """Whether it only holds the newest rows."""
        return self._bounded

    def add(
        self,
        kind: type[RecordT],
        rows: Sequence[ProductRow[RecordT]],
        gaps: Mapping[ProductType, Sequence[Gap]] | None = None,
    ) -> set[str]:
        """Keep rows, and what is still missing between them, in one step; returns the keys that are new or changed."""
        changed: set[str] = set()
        with self._changing():
            for row in rows:
                record = row.record
                if row.key in self._trimmed_keys:
                    continue
                body = dump_json(record.received)
                values = (
                    KINDS[kind],
                    str(row.product_type),
                    record.key,
                    unix_ms(time_of(record)),
                    id_order(record.key),
                    _symbol_of(record),
                    body,
                )
                if self._connection.execute(_INSERT, values).rowcount > 0:
                    changed.add(row.key)
                    self.fills_to_book += kind is FuturesFill
                elif self._update(kind, row, body):
                    changed.add(row.key)
            for product_type, missing in (gaps or {}).items():
                self._connection.execute("DELETE FROM hole WHERE product_type = ?", (str(product_type),))
                self._connection.executemany(
                    "INSERT OR REPLACE INTO hole VALUES (?, ?, ?)",
                    [(str(product_type), gap.cursor, gap.until) for gap in missing],
                )
            if self._bounded and changed:
                self._trim(kind)
        return changed

    def settle(self, *, over_gaps: bool = False) -> bool:
        """Bring the ledger a step forward: book its tail, then take legs forward that a late fill sent back.

        Where older fills are still to come, legs wait for them, which would send them back again, unless `over_gaps`
        says that they are to be read now. Gives whether more is to be done.
        """
        with self._changing():
            self._ledger.prepare()
            self.fills_to_book = self._ledger.book_tail()
            gaps = {product_type for (product_type,) in self._connection.execute("SELECT product_type FROM hole")}
            more = self.fills_to_book > 0 or self._ledger.settle(() if over_gaps else gaps)
            self._ledger.write()
        if self._copied is not None and not self.fills_to_book:
            delete_backup(self._copied)
            self._copied = None
        return more

    def prove_starts(self, product_type: ProductType, held: Mapping[tuple[str, bool], Decimal], at_ms: int) -> bool:
        """Hold what the fills come to against what the exchange says is held; see `Ledger.prove_starts`.

        Nothing is proven while fills wait to be booked or are known to be missing. Gives whether `settle` has to take
        legs up anew.
        """
        tail = "SELECT 1 FROM record WHERE rowid > (SELECT booked_rowid FROM ledger_mark) AND +kind = 'fill' LIMIT 1"
        if self.gaps(product_type) or self._connection.execute(tail).fetchone() is not None:
            return False
        with self._changing():
            self._ledger.prepare()
            anew = self._ledger.prove_starts(product_type, held, at_ms)
            self._ledger.write()
        return anew

    @property
    def ledger_settled(self) -> bool:
        """Whether the ledger is up to date with the fills; changes nothing."""
        behind = (
            "SELECT 1 FROM ledger_mark WHERE booked_rowid < (SELECT max(rowid) FROM record)"
            " UNION ALL SELECT 1 FROM ledger_leg WHERE behind LIMIT 1"
        )
        return self._connection.execute(behind).fetchone() is None

    def note_read(self, product_type: ProductType, until_ms: int) -> None:
        """Keep up to when the fills of a product type were read."""
        with transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO ledger_read VALUES (?, ?)", (str(product_type), until_ms))

    def add_bills(self, product_type: ProductType, reading: BillReading) -> None:
        """Keep bills, each once by its id, and how far they are read now."""
        with transaction(self._connection):
            keep_bills(self._connection, product_type, reading, KEPT_IN_MEMORY if self._bounded else None)

    def bill_coverage(self, product_type: ProductType) -> BillCoverage:
        """How far the bills of a product type are read."""
        return bill_coverage(self._connection, product_type)

    def add_closed_positions(
        self, product_type: ProductType, positions: Sequence[ClosedPosition], until: int | None
    ) -> None:
        """Keep positions that ended, each once; `until` (Unix ms) says that all until then are read."""
        with transaction(self._connection):
            keep_closed_positions(self._connection, product_type, positions, until)

    def closed_positions_until(self, product_type: ProductType) -> int | None:
        """Up to when (Unix ms) the positions that ended are read; None where they are not."""
        return closed_positions_until(self._connection, product_type)

    def add_equity(self, product_types: Sequence[ProductType], sample: EquitySample) -> None:
        """Keep a sample of equity; once an hour those that have grown old are thinned."""
        with transaction(self._connection):
            add_sample(self._connection, product_types, sample)
            if sample.time // THINNED_EVERY_MS != self._thinned_hour:
                thin_samples(self._connection, sample.time)
        self._thinned_hour = sample.time // THINNED_EVERY_MS

    @property
    def connection(self) -> sqlite3.Connection:
        """The open file, for what reads the ledger in it."""
        return self._connection

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """A transaction; where it is undone, the ledger forgets what it had in memory of it."""
        try:
            with transaction(self._connection):
                yield
        except BaseException:
            self._ledger.forget()
            raise

    def _update(self, kind: type[RecordT], row: ProductRow[RecordT], body: str) -> bool:
        """Keep the newer text of a row that is there already; whether it differs."""
        identity = (KINDS[kind], str(row.product_type), row.record.key)
        before: str
        rowid, before = self._connection.execute(
            "SELECT rowid, body FROM record WHERE kind = ? AND product_type = ? AND id = ?", identity
        ).fetchone()
        if before == body:
            return False
        self._connection.execute(
            "UPDATE record SET time = ?, symbol = ?, body = ? WHERE rowid = ?",
            (unix_ms(time_of(row.record)), _symbol_of(row.record), body, rowid),
        )
        self._unreadable[kind].discard(rowid)
        if isinstance(row.record, FuturesFill):
            self._rebook(row.product_type, rowid, before, row.record)
        return True

    def _rebook(self, product_type: ProductType, rowid: int, before: str, fill: FuturesFill) -> None:
        """Let the ledger count a fill as it is now, if it has counted it as it was before."""
        booked_rowid: int = self._connection.execute("SELECT booked_rowid FROM ledger_mark").fetchone()[0]
        if rowid > booked_rowid:
            return
        try:
            fill_before = FuturesFill.from_row(load_json(before))
        except (UndecodableRowError, ValueError):
            return  # the version that wrote it has booked it: booked again, it would count twice
        self._ledger.prepare()
        self._ledger.replace(placed_fill(product_type, fill_before), placed_fill(product_type, fill))
        self._ledger.write()

    def gaps(self, product_type: ProductType) -> list[Gap]:
        """What is known to be missing of a product type's fills."""
        rows = self._connection.execute(
            "SELECT cursor, until FROM hole WHERE product_type = ? ORDER BY cursor DESC", (str(product_type),)
        )
        return [Gap(cursor, until) for cursor, until in rows]

    def newest(self, kind: type[RecordT], product_type: ProductType, limit: int) -> list[ProductRow[RecordT]]:
        """The newest rows of a product type, newest first."""
        cursor = self._connection.execute(
            "SELECT rowid, product_type, body FROM record WHERE kind = ? AND product_type = ?"
            " ORDER BY time DESC, ordinal DESC LIMIT ?",
            (KINDS[kind], str(product_type), limit),
        )
        return [row for values in cursor if (row := self._read_row(kind, *values)) is not None]

    def fills(self, product_type: ProductType) -> Iterator[FuturesFill]:
        """Every fill kept of a product type, oldest first."""
        cursor = self._connection.execute(
            "SELECT rowid, product_type, body FROM record WHERE kind = ? AND product_type = ? ORDER BY time, ordinal",
            (KINDS[FuturesFill], str(product_type)),
        )
        for values in cursor:
            if (row := self._read_row(FuturesFill, *values)) is not None:
                yield row.record

    def symbols(self, kind: type[Record]) -> list[str]:
        """Every symbol there is a row of, in the alphabet's order; each is found by the index from the one before."""
        symbols: list[str] = []
        while True:
            row = self._connection.execute(
                "SELECT symbol FROM record WHERE kind = ? AND symbol > ? ORDER BY symbol LIMIT 1",
                (KINDS[kind], symbols[-1] if symbols else ""),
            ).fetchone()
            if row is None:
                return symbols
            symbols.append(row[0])

    def newest_row(self) -> int:
        """The number of the last row; in a file that keeps all rows, each row that comes has a higher one."""
        newest: int = self._connection.execute("SELECT coalesce(max(rowid), 0) FROM record").fetchone()[0]
        return newest

    def unreadable_count(self, kind: type[Record]) -> int:
        """How many rows of a kind this version could not read since the file was opened; they stay in the file."""
        return len(self._unreadable[kind])

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

    def rowids(self, selection: Selection[RecordT]) -> tuple[int, ...] | None:
        """The numbers of a selection's rows, so that its pages need no second search; None where they are too many."""
        where, values = self._where(selection)
        rowids = self._connection.execute(
            f"SELECT rowid FROM record INDEXED BY record_by_symbol WHERE {where} LIMIT {ROWIDS_AT_MOST + 1}", values
        )
        numbers = tuple(rowid for (rowid,) in rowids)
        return numbers if len(numbers) <= ROWIDS_AT_MOST else None

    def count(self, selection: Selection[RecordT]) -> int:
        """How many rows there are."""
        where, values = self._where(selection)
        row_count: int = self._connection.execute(f"SELECT count(*) FROM record WHERE {where}", values).fetchone()[0]
        return row_count

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
            wanted = limit - len(page)
            rows = self._connection.execute(
                "SELECT time, ordinal, rowid, product_type, body FROM record"
                f" WHERE rowid IN (SELECT rowid FROM record WHERE {where}{beyond}"
                f" ORDER BY time {order}, ordinal {order}, product_type {order} LIMIT ? OFFSET ?)"
                f" ORDER BY time {order}, ordinal {order}, product_type {order}",
                [*values, *(after or ()), wanted, skip],
            ).fetchall()
            for time, ordinal, rowid, product_type, body in rows:
                after = (time, ordinal, product_type)
                if (row := self._read_row(selection.kind, rowid, product_type, body)) is not None:
                    page.append((after, row))
            rows_left, skip = len(rows) == wanted, 0
        return page

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction on the file, for tables other than those of rows; it blocks as every call does."""
        return transaction(self._connection)

    def close(self) -> None:
        self._connection.close()

    def _tail_length(self) -> int:
        length: int = self._connection.execute(
            "SELECT coalesce(max(rowid), 0) - (SELECT booked_rowid FROM ledger_mark) FROM record"
        ).fetchone()[0]
        return max(0, length)

    def _trim(self, kind: type[Record]) -> None:
        if kind is FuturesFill:
            self._ledger.prepare()
            while self._ledger.book_tail():
                pass
            self._ledger.write()
        trimmed = self._connection.execute(
            "DELETE FROM record WHERE kind = ? AND rowid IN (SELECT rowid FROM record WHERE kind = ?"
            " ORDER BY time DESC, ordinal DESC LIMIT -1 OFFSET ?) RETURNING product_type, id",
            (KINDS[kind], KINDS[kind], KEPT_IN_MEMORY),
        ).fetchall()
        if kind is FuturesFill:
            # The ledger has counted them: one that is read again, as where a history begins anew, is not new to it.
            self._trimmed_keys.update(dict.fromkeys(f"{product_type}|{id_}" for product_type, id_ in trimmed))
            for key in list(islice(self._trimmed_keys, max(0, len(self._trimmed_keys) - TRIMMED_KEYS))):
                del self._trimmed_keys[key]
        # A row that went may have been the last one, whose number the next one gets.
        self._ledger.set_mark(self._connection.execute("SELECT coalesce(max(rowid), 0) FROM record").fetchone()[0])


def _symbol_of(record: Record) -> str:
    return str(getattr(record, "symbol", "")).upper()

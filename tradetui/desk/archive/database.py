"""What was seen of fills and trigger orders, on disk: it outlives the exchange's window and the program."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic

from tradetui.desk.tables.product_row import ProductRow, RecordT, id_order, time_of
from tradetui.storage.sqlite_file import FileUnusable, open_file, transaction
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record, UndecodableRowError
from tradetui.wire.text.json_text import dump_json, load_json

KINDS: Final[Mapping[type[Record], str]] = {FuturesFill: "fill", TriggerOrder: "trigger"}
"""What is kept, by its name in the file."""
KEPT_IN_MEMORY: Final = 5_000
"""Rows of a kind an archive without a file keeps."""
CACHE_KIB: Final = 512
"""What SQLite keeps of the file in memory; its own 2 MiB fill up over the hours of a session."""

_MIGRATIONS: Final = (
    """
    CREATE TABLE record (
        kind TEXT NOT NULL, product_type TEXT NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL,
        ordinal TEXT NOT NULL, symbol TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE UNIQUE INDEX record_by_id ON record (kind, product_type, id);
    CREATE INDEX record_by_time ON record (kind, time, ordinal, product_type);
    CREATE INDEX record_by_symbol ON record (kind, symbol, time, ordinal, product_type);
    CREATE TABLE hole (
        product_type TEXT NOT NULL, cursor TEXT NOT NULL, until INTEGER, PRIMARY KEY (product_type, cursor)
    )
    """,
)


@dataclass(frozen=True, slots=True)
class Hole:
    """Fills not read yet: those older than the fill `cursor`, down to `until` (Unix ms; None: as far as is told)."""

    cursor: str
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Selection(Generic[RecordT]):
    """Which rows of a kind: all, or those of a symbol, a product type, a stretch of time (Unix ms, both included).

    `symbols` are those of several; none at all is no row.
    """

    kind: type[RecordT]
    symbol: str | None = None
    product_type: ProductType | None = None
    since: int | None = None
    until: int | None = None
    symbols: tuple[str, ...] | None = None

    def where(self) -> tuple[str, list[str | int]]:
        """The condition and its values."""
        parts: list[str] = ["kind = ?"]
        values: list[str | int] = [KINDS[self.kind]]
        conditions: tuple[tuple[str, str | int | None], ...] = (
            ("symbol = ?", self.symbol.upper() if self.symbol else None),
            ("product_type = ?", str(self.product_type) if self.product_type else None),
            ("time >= ?", self.since),
            ("time <= ?", self.until),
        )
        for condition, value in conditions:
            if value is not None:
                parts.append(condition)
                values.append(value)
        if self.symbols is not None:
            parts.append(f"symbol IN ({', '.join('?' * len(self.symbols))})")
            values += self.symbols
        return " AND ".join(parts), values


Place = tuple[int, str, str]
"""Where a row stands: time, ordinal of its id, product type."""


class Archive:
    """One account's archive in a SQLite file (memory only, and bounded, where no file is given).

    Every call blocks for a moment and belongs on the disk's thread.
    """

    def __init__(self, file: Path | None) -> None:
        """Open the file; one that is damaged is set aside and begun anew. Raises FileUnusable."""
        self._bounded = file is None
        try:
            self._connection = open_file(file, _MIGRATIONS)
        except FileUnusable:
            if file is None or file.exists():
                raise
            self._connection = open_file(file, _MIGRATIONS)
        # What a power cut takes can be read again; the journal, where it cannot, syncs every step.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")

    @property
    def trimmed(self) -> bool:
        """Whether it only holds the newest rows."""
        return self._bounded

    def add(
        self,
        kind: type[RecordT],
        rows: Sequence[ProductRow[RecordT]],
        holes: Mapping[ProductType, Sequence[Hole]] | None = None,
    ) -> set[str]:
        """Keep rows, and what is still missing between them, in one step; returns the keys that are new or changed."""
        changed: set[str] = set()
        with transaction(self._connection):
            for row in rows:
                record = row.record
                values = (
                    KINDS[kind],
                    str(row.product_type),
                    record.key,
                    round(time_of(record).timestamp() * 1000),
                    id_order(record.key),
                    str(getattr(record, "symbol", "")).upper(),
                    dump_json(record.received),
                )
                inserted = self._connection.execute(
                    "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, product_type, id) DO UPDATE"
                    " SET time = excluded.time, body = excluded.body WHERE body <> excluded.body",
                    values,
                )
                if inserted.rowcount > 0:
                    changed.add(row.key)
            for product_type, missing in (holes or {}).items():
                self._connection.execute("DELETE FROM hole WHERE product_type = ?", (str(product_type),))
                self._connection.executemany(
                    "INSERT OR REPLACE INTO hole VALUES (?, ?, ?)",
                    [(str(product_type), hole.cursor, hole.until) for hole in missing],
                )
            if self._bounded and changed:
                self._trim(kind)
        return changed

    def holes(self, product_type: ProductType) -> list[Hole]:
        """What is known to be missing of a product type's fills."""
        rows = self._connection.execute(
            "SELECT cursor, until FROM hole WHERE product_type = ? ORDER BY cursor DESC", (str(product_type),)
        )
        return [Hole(cursor, until) for cursor, until in rows]

    def newest(self, kind: type[RecordT], product_type: ProductType, limit: int) -> list[ProductRow[RecordT]]:
        """The newest rows of a product type, newest first."""
        cursor = self._connection.execute(
            "SELECT product_type, body FROM record WHERE kind = ? AND product_type = ?"
            " ORDER BY time DESC, ordinal DESC LIMIT ?",
            (KINDS[kind], str(product_type), limit),
        )
        return list(_rows(kind, cursor))

    def fills(self, product_type: ProductType) -> Iterator[FuturesFill]:
        """Every fill kept of a product type, oldest first."""
        cursor = self._connection.execute(
            "SELECT product_type, body FROM record WHERE kind = ? AND product_type = ? ORDER BY time, ordinal",
            (KINDS[FuturesFill], str(product_type)),
        )
        for row in _rows(FuturesFill, cursor):
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

    def count(self, selection: Selection[RecordT]) -> int:
        """How many rows there are."""
        where, values = selection.where()
        row_count: int = self._connection.execute(f"SELECT count(*) FROM record WHERE {where}", values).fetchone()[0]
        return row_count

    def page(
        self, selection: Selection[RecordT], after: Place | None, limit: int, *, newest: bool = True, skip: int = 0
    ) -> list[tuple[Place, ProductRow[RecordT]]]:
        """Rows that follow a place (or from the very end where none is given), by time, in either direction.

        `skip` leaves out so many more first; only the index is walked for them.
        """
        where, values = selection.where()
        way, order = ("<", "DESC") if newest else (">", "ASC")
        if after is not None:
            where += f" AND (time, ordinal, product_type) {way} (?, ?, ?)"
            values = [*values, *after]
        cursor = self._connection.execute(
            "SELECT time, ordinal, product_type, body FROM record"
            f" WHERE rowid IN (SELECT rowid FROM record WHERE {where}"
            f" ORDER BY time {order}, ordinal {order}, product_type {order} LIMIT ? OFFSET ?)"
            f" ORDER BY time {order}, ordinal {order}, product_type {order}",
            [*values, limit, skip],
        )
        return [
            (
                (time, ordinal, product_type),
                ProductRow(ProductType(product_type), selection.kind.from_row(load_json(body))),
            )
            for time, ordinal, product_type, body in cursor
        ]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _trim(self, kind: type[Record]) -> None:
        self._connection.execute(
            "DELETE FROM record WHERE kind = ? AND rowid IN (SELECT rowid FROM record WHERE kind = ?"
            " ORDER BY time DESC, ordinal DESC LIMIT -1 OFFSET ?)",
            (KINDS[kind], KINDS[kind], KEPT_IN_MEMORY),
        )


def _rows(kind: type[RecordT], cursor: sqlite3.Cursor) -> Iterator[ProductRow[RecordT]]:
    for product_type, body in cursor:
        try:
            yield ProductRow(ProductType(product_type), kind.from_row(load_json(body)))
        except (UndecodableRowError, ValueError):
            continue  # written by a version that read what this one does not; it stays in the file

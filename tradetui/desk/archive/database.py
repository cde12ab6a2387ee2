"""An account's archive in one file: fills, trigger orders, bills and equity, kept longer than on the exchange.

Feeds write through `Archive`, each call in one transaction. Readers of results query the file itself (`ledger_queries`,
`bills`, `equity`) after the ledger was brought forward.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Final

from tradetui.desk.archive import bills, trip_funding
from tradetui.desk.archive.archive_rows import KINDS, RowQueries
from tradetui.desk.archive.coverage import BillCoverage, Gap, ReadKind, note_rows_read, rows_read_until
from tradetui.desk.archive.equity import THINNED_EVERY_MS, EquitySample, add_sample, thin_samples
from tradetui.desk.archive.ledger.ledger import Ledger
from tradetui.desk.archive.ledger.missing_fills import ends_of_lost_fills, fill_time
from tradetui.desk.archive.ledger.quarter_hours import sequenced_fill
from tradetui.desk.archive.schema import ARCHIVE_SCHEMA, ARCHIVE_VERSION
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT, id_order, time_of
from tradetui.storage.disk_thread import Disk
from tradetui.storage.sqlite_file import FileUnusable, connect_existing, open_file, refuse_other_version, transaction
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import ClosedPosition, FuturesBill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError

CACHE_KIB: Final = 512
"""SQLite's cache of the file in memory; its default of 2 MiB fills up over the hours of a session."""

_INSERT: Final = "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, product_type, id) DO NOTHING"


class Archive:
    """One account's archive in a SQLite file; without a file, in a temporary file that ends with the session.

    Every call blocks briefly and belongs on the disk thread. `connection` is the open file, for readers of the ledger.
    """

    def __init__(self, file: Path | None, *, checks: str = "") -> None:
        """Open the file; set a damaged or older one aside and begin a new one. Raises FileUnusable.

        The whole file is checked for damage, which takes longer for a large one; if `checks` names a table, only that
        table is.
        """
        self.file = file
        self.set_aside = ""
        """The sentence about an earlier file that could not be used; empty if there was none."""
        open_archive = partial(open_file, file, ARCHIVE_SCHEMA, ARCHIVE_VERSION)
        try:
            self.connection = open_archive(checked_table=checks)
        except FileUnusable as problem:
            if file is None or file.exists():
                raise
            self.set_aside = f"{file}: {problem.reason}. What the exchange still keeps is read again."
            self.connection = open_archive()
        # Rows lost in a power cut can be read again. The journal cannot, so it syncs every step.
        self.connection.execute("PRAGMA synchronous=NORMAL")
        self.connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        self.rows = RowQueries(self.connection)
        self._ledger = Ledger(self.connection)
        self._thinned_hour = 0
        tail = "SELECT max(0, coalesce(max(rowid), 0) - (SELECT booked_rowid FROM ledger_mark)) FROM record"
        self.fills_to_book: int = self.connection.execute(tail).fetchone()[0]
        """About how many fills are not in the ledger yet; `advance_ledger` books some of them."""

    def refuse_other_version(self) -> None:
        """Raise FileUnusable if a newer program has migrated the file while this one has it open.

        Any thread may call it. A file that cannot be read does not block sending.
        """
        if self.file is None:
            return
        with suppress(sqlite3.Error), closing(connect_existing(self.file, read_only=True)) as connection:
            refuse_other_version(connection, ARCHIVE_VERSION, str(self.file))

    def add(
        self,
        kind: type[RecordT],
        rows: Sequence[ProductRow[RecordT]],
        gaps: Mapping[ProductType, Sequence[Gap]] | None = None,
    ) -> None:
        """Archive rows and the gaps between them in one transaction."""
        with self._ledger_transaction():
            for row in rows:
                self._keep(kind, row)
            for product_type, missing in (gaps or {}).items():
                self._keep_gaps(product_type, missing)

    def _keep(self, kind: type[RecordT], row: ProductRow[RecordT]) -> None:
        """Archive a row, or the newer text of an archived one."""
        record = row.record
        body, symbol = dump_json(record.received), str(getattr(record, "symbol", "")).upper()
        identity, time = (KINDS[kind], str(row.product_type), record.row_id), unix_ms(time_of(record))
        values = (*identity, time, id_order(record.row_id), symbol, body)
        if self.connection.execute(_INSERT, values).rowcount > 0:
            self.fills_to_book += kind is FuturesFill
            return
        rowid, body_before = self.connection.execute(
            "SELECT rowid, body FROM record WHERE kind = ? AND product_type = ? AND id = ?", identity
        ).fetchone()
        if body_before == body:
            return
        self.connection.execute("UPDATE record SET time = ?, body = ? WHERE rowid = ?", (time, body, rowid))
        self.rows.now_readable(kind, rowid)
        if isinstance(record, FuturesFill):
            self._rebook(row.product_type, rowid, body_before, record)

    def _rebook(self, product_type: ProductType, rowid: int, body_before: str, fill: FuturesFill) -> None:
        """Replace a fill in the ledger if its earlier version was booked."""
        booked_rowid: int = self.connection.execute("SELECT booked_rowid FROM ledger_mark").fetchone()[0]
        if rowid > booked_rowid:
            return
        try:
            fill_before = FuturesFill.from_row(load_json(body_before))
        except (UndecodableRowError, ValueError):
            return  # the version that wrote it has booked it: booked again, it would count twice
        self._ledger.replace(sequenced_fill(product_type, fill_before), sequenced_fill(product_type, fill))

    def _keep_gaps(self, product_type: ProductType, missing: Sequence[Gap]) -> None:
        """Replace the gaps of a product type."""
        self.connection.execute(
            "DELETE FROM fill_gap WHERE product_type = ? AND cursor NOT IN (SELECT value FROM json_each(?))",
            (product_type, dump_json([gap.cursor for gap in missing if gap.kept_from is None])),
        )
        for gap in missing:
            if gap.kept_from is None:
                self.connection.execute(
                    "INSERT INTO fill_gap (product_type, cursor, until) VALUES (?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET until = excluded.until",
                    (str(product_type), gap.cursor, gap.until),
                )
            else:
                self._keep_lost(product_type, gap, gap.kept_from)

    def _keep_lost(self, product_type: ProductType, gap: Gap, kept_from: int) -> None:
        """Archive which fills are lost; the sizes of legs then are unknown."""
        above_ms = fill_time(self.connection, product_type, gap.cursor)
        until = kept_from if above_ms is None else min(kept_from, above_ms)
        is_new = self.connection.execute(
            "INSERT INTO lost_fills VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until"
            " WHERE excluded.until > lost_fills.until",
            (str(product_type), gap.until or 0, until),
        ).rowcount
        if is_new and gap.until:
            self._ledger.break_legs(product_type, until)

    def gaps(self, product_type: ProductType) -> list[Gap]:
        rows = self.connection.execute(
            "SELECT cursor, until FROM fill_gap WHERE product_type = ? ORDER BY cursor DESC", (product_type,)
        )
        return [Gap(cursor, until) for cursor, until in rows]

    def advance_ledger(self, *, over_gaps: bool = False) -> bool:
        """Take a step unless the ledger is current: book new fills, then apply the fills of legs that are behind.

        While older fills are missing, legs that they would rewind again stay behind. With `over_gaps` they do not,
        because those fills will not be read now. True if more is to be done.
        """
        if self.ledger_is_current:
            return False
        with self._ledger_transaction():
            self.fills_to_book = self._ledger.book_tail()
            gaps = {product_type for (product_type,) in self.connection.execute("SELECT product_type FROM fill_gap")}
            more = self.fills_to_book > 0 or self._ledger.catch_up(() if over_gaps else gaps)
        return more

    def prove_starts(self, product_type: ProductType, held: Mapping[tuple[str, bool], Decimal], at_ms: int) -> bool:
        """Compare the sum of the fills with the sizes that the exchange reports; see `Ledger.prove_starts`.

        Nothing is proven while fills wait to be booked or are known to be missing. True if `advance_ledger` has to
        recompute legs.
        """
        # The plus keeps SQLite off an index by kind, which all fills share.
        waiting = "SELECT 1 FROM record WHERE rowid > (SELECT booked_rowid FROM ledger_mark) AND +kind = 'fill' LIMIT 1"
        if self.gaps(product_type) or self.known_from(product_type) or self.connection.execute(waiting).fetchone():
            return False
        with self._ledger_transaction():
            return self._ledger.prove_starts(product_type, held, at_ms)

    @property
    def ledger_is_current(self) -> bool:
        """Whether the ledger is up to date with the fills; changes nothing."""
        behind = (
            "SELECT 1 FROM ledger_mark WHERE booked_rowid < (SELECT max(rowid) FROM record)"
            " UNION ALL SELECT 1 FROM ledger_leg WHERE behind LIMIT 1"
        )
        return self.connection.execute(behind).fetchone() is None

    def note_read(self, product_type: ProductType, until_ms: int) -> None:
        """Store the time (Unix ms) up to which fills were read."""
        with transaction(self.connection):
            note_rows_read(self.connection, ReadKind.FILL, product_type, until_ms)

    def read_until(self, kind: ReadKind, product_type: ProductType) -> int | None:
        """Return the time (Unix ms) up to which rows were read, except for gaps; None before the first read."""
        return rows_read_until(self.connection, kind, product_type)

    def known_from(self, product_type: ProductType) -> int:
        """Return the time (Unix ms) after the last lost fills; 0 if none are lost between others."""
        return max(ends_of_lost_fills(self.connection, product_type), default=0)

    def add_bills(self, product_type: ProductType, rows: Sequence[FuturesBill], coverage: BillCoverage) -> None:
        with transaction(self.connection):
            bills.keep_bills(self.connection, product_type, rows, coverage)

    def bill_coverage(self, product_type: ProductType) -> BillCoverage:
        return bills.bill_coverage(self.connection, product_type)

    def add_closed_positions(
        self, product_type: ProductType, positions: Sequence[ClosedPosition], until: int | None
    ) -> None:
        """Archive closed positions, each once; `until` (Unix ms) means that all up to then are read."""
        with transaction(self.connection):
            trip_funding.keep_closed_positions(self.connection, product_type, positions, until)

    def add_equity(self, product_types: Sequence[ProductType], *samples: EquitySample) -> None:
        """Archive equity samples, oldest first; once an hour old samples are thinned."""
        if not samples:
            return
        hour, newest_ms = samples[-1].time // THINNED_EVERY_MS, samples[-1].time
        with transaction(self.connection):
            for sample in samples:
                add_sample(self.connection, product_types, sample)
            if hour != self._thinned_hour:
                thin_samples(self.connection, newest_ms)
        self._thinned_hour = hour

    @contextmanager
    def _ledger_transaction(self) -> Iterator[None]:
        """Open a transaction that includes the ledger; a rollback also clears the ledger's memory."""
        try:
            with transaction(self.connection):
                self._ledger.prepare()
                yield
                self._ledger.write()
        except BaseException:
            self._ledger.forget()
            raise

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open a transaction for tables other than those of rows; it blocks like every call."""
        return transaction(self.connection)

    def close(self) -> None:
        self.connection.close()


async def bring_ledger_forward(
    archive: Archive, disk: Disk, progress: Callable[[int], None] = lambda fills_to_book: None
) -> None:
    """Bring the ledger up to date with the fills, in steps between which other disk work can run."""
    while await disk.run(archive.advance_ledger):
        progress(archive.fills_to_book)

"""What feeds write to the archive: their rows, and the ledger's steps that follow new fills.

A feed never waits for the archive to be open, and never fails by it: where it is not open yet, or its disk is full,
rows wait in memory, and a step is taken after a later read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Generic

from tradetui.desk.archive.coverage import Gap
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.storage.disk_thread import Disk
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

WAITING_AT_MOST: Final = 20_000
"""Rows that wait in memory; beyond that the first ones that came are given up."""
NOTED_EVERY_MS: Final = 60_000
"""Interval at which the archive notes up to when fills were read."""
BOOKED_AT: Final = 200
"""How many fills may wait to be booked; whoever reads the ledger books them first."""


class WriteBuffer(Generic[RecordT]):
    """Takes rows of one kind; `trouble` says why they cannot be written now, and they are tried again with the next."""

    def __init__(self, kind: type[RecordT], disk: Disk) -> None:
        self.archive: Archive | None = None
        self.trouble: str | None = None
        self._kind = kind
        self._disk = disk
        self._waiting: dict[str, ProductRow[RecordT]] = {}
        self._gaps: Mapping[ProductType, Sequence[Gap]] | None = None

    @property
    def waiting(self) -> list[ProductRow[RecordT]]:
        """The rows that the archive does not have yet, or not as they are now."""
        return list(self._waiting.values())

    def take_back(self, row_id: str) -> None:
        self._waiting.pop(row_id, None)

    async def open(self, archive: Archive, gaps: Mapping[ProductType, Sequence[Gap]] | None = None) -> None:
        """From now on rows go to the archive, first of all those that waited for it."""
        self.archive = archive
        await self.put((), gaps)

    async def put(
        self, rows: Iterable[ProductRow[RecordT]], gaps: Mapping[ProductType, Sequence[Gap]] | None = None
    ) -> None:
        """Keep rows together with the note of what is missing below them. Never fails: what cannot be kept waits."""
        self._waiting.update((row.row_id, row) for row in rows)
        self._gaps = gaps if gaps is not None else self._gaps
        if self.archive is not None:
            await self._write(self.archive)
        while len(self._waiting) > WAITING_AT_MOST:
            del self._waiting[next(iter(self._waiting))]

    async def _write(self, archive: Archive) -> None:
        waiting, missing = self.waiting, self._gaps
        if not waiting and missing is None:
            return
        try:
            await self._disk.run(archive.add, self._kind, waiting, missing)
        except (sqlite3.Error, OSError) as problem:
            self.trouble = f"rows cannot be saved: {problem}"
            return
        self.trouble = None
        for row in waiting:
            if self._waiting.get(row.row_id) is row:
                del self._waiting[row.row_id]
        if self._gaps is missing:
            self._gaps = None


class LedgerUpkeep:
    """Books fills before they are many, notes up to when they were read, and holds the ledger against positions."""

    def __init__(self, product_type: ProductType, disk: Disk) -> None:
        self._product_type = product_type
        self._disk = disk
        self._behind = False
        self._noted_ms = self._proven_ms = 0
        self._held: tuple[Mapping[tuple[str, bool], Decimal], int] | None = None

    def compare(self, held: Mapping[tuple[str, bool], Decimal], at_ms: int | None) -> None:
        """Take note of what the exchange says is held (by symbol, and whether long) at a time in Unix ms.

        Now and then, once fills are read past that time, the ledger is held against it: that proves from which fill
        on positions are known.
        """
        if at_ms is not None and at_ms - self._proven_ms >= NOTED_EVERY_MS:
            self._held = held, at_ms

    async def bring_forward(self, archive: Archive, server_ms: int, *, has_gaps: bool) -> None:
        """Take a step after fills were read up to a time of the exchange (Unix ms), perhaps but for gaps."""
        try:
            if server_ms - self._noted_ms >= NOTED_EVERY_MS:
                await self._disk.run(archive.note_read, self._product_type, server_ms)
                self._noted_ms = server_ms
            held = self._held
            if held is not None or self._behind or archive.fills_to_book >= BOOKED_AT:
                # A step each time, so that nothing waits long for the disk; whoever reads results takes all.
                self._behind = await self._disk.run(archive.advance_ledger)
            if held is not None and not self._behind and not has_gaps and server_ms > held[1]:
                self._held = None
                self._behind = await self._disk.run(archive.prove_starts, self._product_type, *held)
                self._proven_ms = server_ms
        except (sqlite3.Error, OSError):
            return  # the disk may be full; the next read tries again

"""Buffers the rows of one reader until the archive has them: it may not be open yet, or its disk may be full."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Generic

from tradetui.desk.archive.reading_extent import Gap
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.storage.disk_thread import Disk
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

WAITING_AT_MOST: Final = 20_000
"""Rows that wait in memory; beyond that the first ones that came are given up."""


class WriteBuffer(Generic[RecordT]):
    """Takes rows of one kind; `trouble` says why they cannot be written now, and they are tried again with the next."""

    def __init__(self, kind: type[RecordT], disk: Disk) -> None:
        self.archive: Archive | None = None
        self.trouble: str | None = None
        self._kind = kind
        self._disk = disk
        self._waiting: dict[str, ProductRow[RecordT]] = {}
        self._gaps: dict[ProductType, Sequence[Gap]] | None = None

    @property
    def waiting(self) -> list[ProductRow[RecordT]]:
        """The rows that the archive does not have yet, or not as they are now."""
        return list(self._waiting.values())

    def take_back(self, row_id: str) -> None:
        self._waiting.pop(row_id, None)

    async def open(self, archive: Archive, gaps: dict[ProductType, Sequence[Gap]] | None = None) -> None:
        """From now on rows go to the archive, first of all those that waited for it."""
        self.archive = archive
        await self.put((), gaps)

    async def put(
        self, rows: Iterable[ProductRow[RecordT]], gaps: dict[ProductType, Sequence[Gap]] | None = None
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

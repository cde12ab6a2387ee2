"""Keeps the archive's ledger near the fills of one product type, a step after each read of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.storage.disk_thread import Disk
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

NOTED_EVERY_MS: Final = 60_000
"""Interval at which the archive notes up to when fills were read."""
BOOKED_AT: Final = 200
"""How many fills may wait to be booked; whoever reads the ledger books them first."""


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

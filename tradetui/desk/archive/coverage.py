"""How far the fills and bills of a product type are read, for the reader and the archive."""

from __future__ import annotations

import sqlite3
from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.wire.product_types import ProductType

HOUR_MS: Final = 3_600_000
NO_END: Final = 2**62
"""The end (Unix ms) of a period without an end."""
SETTLEMENT_LASTS_MS: Final = 300_000
"""A settlement may be booked up to this long after its full hour."""


class ReadKind(StrEnum):
    """The rows for which the archive keeps how far they are read (`rows_read`)."""

    FILL = "fill"
    BILL = "bill"
    CLOSED_POSITION = "closed position"


def rows_read_until(connection: sqlite3.Connection, kind: ReadKind, product_type: ProductType) -> int | None:
    """Return the time (Unix ms) up to which rows were read, except for gaps; None before the first read."""
    row = connection.execute(
        "SELECT until FROM rows_read WHERE kind = ? AND product_type = ?", (kind, product_type)
    ).fetchone()
    return None if row is None else row[0]


def note_rows_read(connection: sqlite3.Connection, kind: ReadKind, product_type: ProductType, until: int) -> None:
    """Store the time (Unix ms) up to which rows were read; called within a transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO rows_read (kind, product_type, until) VALUES (?, ?, ?)", (kind, product_type, until)
    )


class Gap(NamedTuple):
    """Fills not read yet: older than the fill `cursor`, back to `until` (Unix ms; None: all there are).

    Those before `kept_from` (Unix ms) are lost, since the exchange no longer keeps them; None if none are lost.
    """

    cursor: str
    until: int | None = None
    kept_from: int | None = None


class TimeSpan(NamedTuple):
    """A period in Unix ms, both ends included."""

    since: int
    until: int


class BillCoverage(NamedTuple):
    """How far the bills of a product type are read: from `since` to `until`, except for the gaps.

    The ends are None if nothing was read. `refusal` is why the last read failed.
    """

    since: int | None = None
    until: int | None = None
    gaps: tuple[TimeSpan, ...] = ()
    refusal: str = ""

    def holds(self, since: int, until: int) -> bool:
        """Whether every bill of a period was read."""
        if self.since is None or self.until is None or self.since > since or self.until < until:
            return False
        return not self.misses(since, until)

    def misses(self, since: int, until: int) -> bool:
        """Whether a gap overlaps a period."""
        return any(gap.since <= until and since <= gap.until for gap in self.gaps)

    def holds_settlements(self, since: int, until: int) -> bool:
        """Whether every funding bill of a period was read: an unread part must not hold a settlement.

        Contracts settle at different full hours, so every full hour counts.
        """
        if self.since is None or self.until is None or self.since > since:
            return False
        unread = (TimeSpan(self.until + 1, until), *self.gaps)
        return not any(_may_hold_settlement(max(span.since, since), min(span.until, until)) for span in unread)


def _may_hold_settlement(since: int, until: int) -> bool:
    """Whether funding may be booked between two times (Unix ms, both included)."""
    full_hour = -(-(since - SETTLEMENT_LASTS_MS) // HOUR_MS) * HOUR_MS
    return since <= until and full_hour <= until

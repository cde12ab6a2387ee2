"""Closed positions as the exchange reports them: a second opinion of each round trip, and its funding."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.trading.results.trips import Trip
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures_extended import ClosedPosition
from tradetui.wire.product_types import ProductType

CLOSED_POSITION_TABLES: Final = """
    CREATE TABLE closed_position (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL, closed INTEGER NOT NULL,
        opened INTEGER NOT NULL, funding TEXT NOT NULL, net TEXT,
        PRIMARY KEY (product_type, symbol, side, closed, opened)
    ) WITHOUT ROWID;
    CREATE TABLE closed_position_read (product_type TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID
    """
"""Positions by when they ended, and up to when those of a product type are read."""
APART_MS: Final = 2_000
"""How far apart the exchange's times of a position may lie from those of its first and last fill."""


class ReportedTrip(NamedTuple):
    """Funding of a position that ended, and its net result where the exchange reports it; both in the margin coin."""

    funding: Decimal
    net: Decimal | None


def keep_closed_positions(
    connection: sqlite3.Connection, product_type: ProductType, positions: Sequence[ClosedPosition], until: int | None
) -> None:
    """Keep positions, each once; `until` (Unix ms) says that all until then are read. Called within a transaction."""
    connection.executemany(
        "INSERT OR REPLACE INTO closed_position VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                str(product_type),
                position.symbol.upper(),
                position.hold_side.lower(),
                unix_ms(position.u_time),
                unix_ms(position.c_time),
                str(position.total_funding),
                None if position.net_profit is None else str(position.net_profit),
            )
            for position in positions
            if position.total_funding is not None
        ],
    )
    if until is not None:
        connection.execute("INSERT OR REPLACE INTO closed_position_read VALUES (?, ?)", (str(product_type), until))


def closed_positions_until(connection: sqlite3.Connection, product_type: ProductType) -> int | None:
    """Up to when (Unix ms) the positions that ended are read; None where they are not."""
    row = connection.execute(
        "SELECT until FROM closed_position_read WHERE product_type = ?", (product_type,)
    ).fetchone()
    return None if row is None else int(row[0])


def reported_trip(
    connection: sqlite3.Connection, product_type: ProductType, symbol: str, trip: Trip
) -> ReportedTrip | None:
    """The exchange's report of a trip; None unless one position of its side began and ended with it."""
    if trip.opened_ms is None:
        return None
    side = "long" if trip.long else "short"
    around = [
        moment_ms + apart_ms for moment_ms in (trip.last_ms, trip.opened_ms) for apart_ms in (-APART_MS, APART_MS)
    ]
    rows = connection.execute(
        "SELECT funding, net FROM closed_position WHERE product_type = ? AND symbol = ? AND side = ?"
        " AND closed BETWEEN ? AND ? AND opened BETWEEN ? AND ?",
        (str(product_type), symbol, side, *around),
    ).fetchall()
    if len(rows) != 1:
        return None
    funding, net = rows[0]
    return ReportedTrip(Decimal(funding), None if net is None else Decimal(net))

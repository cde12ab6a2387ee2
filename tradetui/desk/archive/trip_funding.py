"""Funding of a round trip: as the exchange reports it of the closed position, else summed from the bills.

A report also has the exchange's own net result. Bills name a symbol but no leg, so that they tell the funding of a trip
only where no other leg of the symbol was held meanwhile.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal
from functools import cache, partial
from itertools import accumulate
from operator import neg
from typing import Final, NamedTuple

from tradetui.desk.archive.bills import OF_KIND, bill_coverage
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.trips import Trip
from tradetui.wire.enums import PositionSide
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures_accounts import ClosedPosition
from tradetui.wire.product_types import ProductType

APART_MS: Final = 2_000
"""How far apart the exchange's times of a position may lie from those of its first and last fill."""
_SINCE = "CASE WHEN json_extract({0}, '{1}[4]') THEN json_extract({0}, '{1}[2]') ELSE 0 END"
_LAST = "json_extract(body, '$[3]')"
"""When a trip began, with no bound where its start is not proven, and when its last fill was (`trip_as_json`)."""
_FEWEST_READ: Final = 64
"""Trips of a leg that are read at once; then as many more as there are already."""
_OTHER_LEGS = {
    PositionSide.LONG: (PositionSide.SHORT, PositionSide.NET),
    PositionSide.SHORT: (PositionSide.LONG, PositionSide.NET),
    PositionSide.NET: (PositionSide.LONG, PositionSide.SHORT),
}


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


class TripFunding:
    """Funding of the trips of one archive, each symbol's bills read once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._coverage = cache(partial(bill_coverage, connection))
        self._settlements = cache(partial(_settlements_of, connection))
        self._held_times = cache(partial(_HeldTimes, connection))

    def of(self, product_type: ProductType, symbol: str, leg: PositionSide, trip: Trip) -> Decimal | None:
        """The funding of a trip in its coin; below zero where it was paid.

        None where that is not known: its start is not proven, bills of its time were not read, or another leg of the
        symbol was held meanwhile.
        """
        opened = trip.opened_ms
        if opened is None or not trip.start_proven or not trip.ended:
            return None
        if not self._coverage(product_type).holds(opened, trip.last_ms):
            return None
        others = (self._held_times(product_type, symbol, other_leg) for other_leg in _OTHER_LEGS[leg])
        if any(held_times.held_between(opened, trip.last_ms) for held_times in others):
            return None
        return self._settlements(product_type, symbol).between(opened, trip.last_ms)


class _Settlements(NamedTuple):
    """Funding of a symbol: times in Unix ms, oldest first, and what it came to up to each of them."""

    times: Sequence[int]
    sums: Sequence[Decimal]

    def between(self, after: int, until: int) -> Decimal:
        """Funding paid after one moment and not after another."""
        return self._until(until) - self._until(after)

    def _until(self, moment: int) -> Decimal:
        count = bisect_right(self.times, moment)
        return self.sums[count - 1] if count else ZERO


class _HeldTimes:
    """When a leg was held, Unix ms, read from now back as far as needed.

    `ends` are those of its trips, the newest first, and `earliest` the earliest begin of each trip and all after it.
    """

    def __init__(self, connection: sqlite3.Connection, *names: str) -> None:
        self._connection, self._names = connection, names
        running = connection.execute(
            f"SELECT {_SINCE.format('state', '$[4]')} FROM ledger_leg WHERE product_type = ? AND symbol = ? AND leg = ?"
            " AND json_extract(state, '$[4]') IS NOT NULL",
            names,
        ).fetchone()
        self._ends: list[int] = [] if running is None else [2**62]
        self._earliest: list[int] = [] if running is None else [running[0]]
        self._oldest: tuple[int, str, int] | None = (2**62, "", 0)

    def held_between(self, since: int, until: int) -> bool:
        """Whether anything was held between two moments."""
        while self._oldest is not None and (not self._ends or self._ends[-1] > since):
            self._read_older()
        held_count = bisect_left(self._ends, -since, key=neg)
        return held_count > 0 and self._earliest[held_count - 1] < until

    def _read_older(self) -> None:
        limit = max(_FEWEST_READ, len(self._ends))
        rows = self._connection.execute(
            f"SELECT {_SINCE.format('body', '$')}, {_LAST}, closed_time, closed_ordinal, number FROM ledger_trip"
            " WHERE product_type = ? AND symbol = ? AND leg = ? AND (closed_time, closed_ordinal, number) < (?, ?, ?)"
            " ORDER BY closed_time DESC, closed_ordinal DESC, number DESC LIMIT ?",
            (*self._names, *(self._oldest or ()), limit),
        ).fetchall()
        for begin, end, *_ in rows:
            self._ends.append(end)
            self._earliest.append(min(begin, self._earliest[-1]) if self._earliest else begin)
        self._oldest = tuple(rows[-1][2:]) if len(rows) == limit else None


def _settlements_of(connection: sqlite3.Connection, product_type: ProductType, symbol: str) -> _Settlements:
    rows = connection.execute(
        f"SELECT time, amount, fee FROM bill WHERE {OF_KIND} = 'funding' AND +product_type = ? AND symbol = ?"
        " ORDER BY time",
        (str(product_type), symbol),
    ).fetchall()
    sums = accumulate(Decimal(amount) + Decimal(fee) for _, amount, fee in rows)
    return _Settlements([row[0] for row in rows], list(sums))

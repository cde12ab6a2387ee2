"""Funding of a round trip, which is a position from when it was opened until nothing of it is held.

The exchange reports it of a closed position (`ReportedTrip`), with a net result of its own. Else it is summed from the
bills (`TripFunding`). Bills name a symbol but no leg, so that they tell the funding of a trip only where no other leg
of the symbol was held meanwhile.
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
from tradetui.desk.archive.coverage import NO_END
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.trips import RUNNING_TRIP, Trip, trip_path
from tradetui.wire.enums import PositionSide
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures_accounts import ClosedPosition
from tradetui.wire.product_types import ProductType

APART_MS: Final = 2_000
"""How far apart the exchange's times of a position may lie from those of its first and last fill."""
_FEWEST_READ: Final = 64
"""Trips of a leg that are read at once; then as many more as there are already."""


class ReportedTrip(NamedTuple):
    """Funding of a position that ended, and its net result where the exchange reports it; both in the margin coin."""

    funding: Decimal
    net: Decimal | None


def keep_closed_positions(
    connection: sqlite3.Connection, product_type: ProductType, positions: Sequence[ClosedPosition], until: int | None
) -> None:
    """Keep positions, each once; `until` (Unix ms) says that all until then are read. Called within a transaction."""
    connection.executemany(
        "INSERT OR REPLACE INTO closed_position (product_type, symbol, side, closed, opened, funding, net)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
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
        connection.execute(
            "INSERT OR REPLACE INTO closed_position_read (product_type, until) VALUES (?, ?)",
            (str(product_type), until),
        )


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
    rows = connection.execute(
        "SELECT funding, net FROM closed_position WHERE product_type = ?1 AND symbol = ?2 AND side = ?3"
        " AND closed BETWEEN ?4 - ?6 AND ?4 + ?6 AND opened BETWEEN ?5 - ?6 AND ?5 + ?6",
        (str(product_type), symbol, "long" if trip.long else "short", trip.last_ms, trip.opened_ms, APART_MS),
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
        other_legs = (LegKey(product_type, symbol, other) for other in PositionSide if other is not leg)
        if any(self._held_times(key).held_between(opened, trip.last_ms) for key in other_legs):
            return None
        return self._settlements(product_type, symbol).between(opened, trip.last_ms)


class _Settlements(NamedTuple):
    """Funding of a symbol: times in Unix ms, oldest first, and what it came to before the first and after each."""

    times: Sequence[int]
    sums: Sequence[Decimal]

    def between(self, after: int, until: int) -> Decimal:
        """Funding paid after one moment and not after another."""
        return self.sums[bisect_right(self.times, until)] - self.sums[bisect_right(self.times, after)]


def _begin_sql(column: str, trip: str) -> str:
    """SQL for when a trip in a column's JSON began (Unix ms); 0 where more may have been held before."""
    proven, opened = trip_path("start_proven", trip), trip_path("opened_ms", trip)
    return f"CASE WHEN json_extract({column}, '{proven}') THEN json_extract({column}, '{opened}') ELSE 0 END"


class _HeldTimes:
    """When a leg was held, Unix ms, read from now back as far as needed.

    `ends` are those of its trips, the newest first, and `earliest` the earliest begin of each trip and all after it.
    """

    def __init__(self, connection: sqlite3.Connection, key: LegKey) -> None:
        self._connection, self._key = connection, key
        self._ends: list[int] = []
        self._earliest: list[int] = []
        self._oldest: tuple[int, str, int] | None = (NO_END, "", 0)
        """The place of the oldest trip that was read; None once all are."""
        running = connection.execute(
            f"SELECT {_begin_sql('state', RUNNING_TRIP)} FROM ledger_leg"
            " WHERE product_type = ? AND symbol = ? AND leg = ?"
            f" AND json_extract(state, '{RUNNING_TRIP}') IS NOT NULL",
            key,
        ).fetchone()
        if running is not None:
            self._add(running[0], NO_END)

    def held_between(self, since: int, until: int) -> bool:
        while self._oldest is not None and (not self._ends or self._ends[-1] > since):
            self._oldest = self._read_before(self._oldest)
        held_count = bisect_left(self._ends, -since, key=neg)
        return held_count > 0 and self._earliest[held_count - 1] < until

    def _read_before(self, oldest: tuple[int, str, int]) -> tuple[int, str, int] | None:
        """Read older trips, as many as there are already; gives the place of the oldest, None where it is the last."""
        limit = max(_FEWEST_READ, len(self._ends))
        rows = self._connection.execute(
            f"SELECT {_begin_sql('body', '$')}, json_extract(body, '{trip_path('last_ms')}'), closed_time,"
            " closed_ordinal, number FROM ledger_trip"
            " WHERE product_type = ? AND symbol = ? AND leg = ? AND (closed_time, closed_ordinal, number) < (?, ?, ?)"
            " ORDER BY closed_time DESC, closed_ordinal DESC, number DESC LIMIT ?",
            (*self._key, *oldest, limit),
        ).fetchall()
        for begin, end, *_ in rows:
            self._add(begin, end)
        return rows[-1][2:] if len(rows) == limit else None

    def _add(self, begin: int, end: int) -> None:
        self._ends.append(end)
        self._earliest.append(min(begin, self._earliest[-1]) if self._earliest else begin)


def _settlements_of(connection: sqlite3.Connection, product_type: ProductType, symbol: str) -> _Settlements:
    rows = connection.execute(
        f"SELECT time, amount, fee FROM bill WHERE {OF_KIND} = 'funding' AND +product_type = ? AND symbol = ?"
        " ORDER BY time",
        (str(product_type), symbol),
    ).fetchall()
    sums = accumulate((Decimal(amount) + Decimal(fee) for _, amount, fee in rows), initial=ZERO)
    return _Settlements([time for time, *_ in rows], list(sums))

"""Funding of a round trip: of a position from its opening until it is flat.

The exchange reports the funding and the net result of a closed position (`ReportedTrip`). Otherwise the funding is
summed from bills (`TripFunding`). Bills name a symbol but no leg, so they give the funding of a trip only if no other
leg of the symbol was held meanwhile.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from functools import cache, partial
from itertools import accumulate
from typing import Final, NamedTuple

from tradetui.desk.archive.bills import OF_KIND, bill_coverage
from tradetui.desk.archive.coverage import ReadKind, note_rows_read
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.trips import RUNNING_TRIP, Trip, trip_path
from tradetui.wire.enums import PositionSide
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures_accounts import ClosedPosition
from tradetui.wire.product_types import ProductType

APART_MS: Final = 2_000
"""Largest difference between the exchange's times of a position and those of its first and last fill."""


class ReportedTrip(NamedTuple):
    """Funding of a closed position, and its net result if the exchange reports it; both in the margin coin."""

    funding: Decimal
    net: Decimal | None


def keep_closed_positions(
    connection: sqlite3.Connection, product_type: ProductType, positions: Sequence[ClosedPosition], until: int | None
) -> None:
    """Store positions, each once; `until` (Unix ms) means that all up to then are read. Called within a transaction."""
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
        note_rows_read(connection, ReadKind.CLOSED_POSITION, product_type, until)


def reported_trip(
    connection: sqlite3.Connection, product_type: ProductType, symbol: str, trip: Trip
) -> ReportedTrip | None:
    """Return the exchange's report of a trip; None unless exactly one position of its side began and ended with it."""
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
        self._connection = connection

    def of(self, product_type: ProductType, symbol: str, leg: PositionSide, trip: Trip) -> Decimal | None:
        """Return the funding of a trip in its coin; negative if paid.

        None if it is not known: the trip's start is not proven, bills of its time were not read, or another leg of the
        symbol was held meanwhile.
        """
        opened = trip.opened_ms
        if opened is None or not trip.start_proven or not trip.ended:
            return None
        if not self._coverage(product_type).holds(opened, trip.last_ms):
            return None
        other_legs = (LegKey(product_type, symbol, other) for other in PositionSide if other is not leg)
        if any(_was_held(self._connection, key, opened, trip.last_ms) for key in other_legs):
            return None
        return self._settlements(product_type, symbol).between(opened, trip.last_ms)


class _Settlements(NamedTuple):
    """Funding of a symbol: times in Unix ms, oldest first, and the sums before the first and after each."""

    times: Sequence[int]
    sums: Sequence[Decimal]

    def between(self, after: int, until: int) -> Decimal:
        """Funding paid after one moment and not after another."""
        return self.sums[bisect_right(self.times, until)] - self.sums[bisect_right(self.times, after)]


_PROVEN: Final = trip_path("start_proven")
_OPENED: Final = trip_path("opened_ms")
_OF_LEG: Final = "product_type = :product_type AND symbol = :symbol AND leg = :leg"
_WAS_HELD: Final = f"""
    SELECT EXISTS (
        SELECT 1 FROM ledger_trip WHERE {_OF_LEG} AND last_time > :since AND NOT json_extract(body, '{_PROVEN}')
    ) OR EXISTS (
        SELECT 1 FROM (
            SELECT json_extract(body, '{_OPENED}') AS opened FROM ledger_trip
            WHERE {_OF_LEG} AND closed_time > :since AND last_time > :since
            ORDER BY closed_time, closed_ordinal, number LIMIT 1
        ) WHERE opened < :until
    ) OR EXISTS (
        SELECT 1 FROM ledger_leg WHERE {_OF_LEG} AND (
            NOT json_extract(state, '{trip_path("start_proven", RUNNING_TRIP)}')
            OR json_extract(state, '{trip_path("opened_ms", RUNNING_TRIP)}') < :until
        )
    )
    """
"""Whether a leg was held between two times.

Before a trip whose start is not proven, the leg may have been held for any time. Other trips follow each other, so of
those that ended after the earlier time, the first to end also began first. Both are found by an index.
"""


def _was_held(connection: sqlite3.Connection, key: LegKey, since: int, until: int) -> bool:
    values = key._asdict() | {"since": since, "until": until}
    return bool(connection.execute(_WAS_HELD, values).fetchone()[0])


def _settlements_of(connection: sqlite3.Connection, product_type: ProductType, symbol: str) -> _Settlements:
    rows = connection.execute(
        f"SELECT time, amount, fee FROM bill WHERE {OF_KIND} = 'funding' AND +product_type = ? AND symbol = ?"
        " ORDER BY time",
        (str(product_type), symbol),
    ).fetchall()
    sums = accumulate((Decimal(amount) + Decimal(fee) for _, amount, fee in rows), initial=ZERO)
    return _Settlements([time for time, *_ in rows], list(sums))

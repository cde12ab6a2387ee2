"""Which kept fills a round trip is made of."""

from __future__ import annotations

import sqlite3

from tradetui.desk.archive.ledger.placed_fill import Instant, read_booked_fill
from tradetui.desk.archive.ledger_queries import TripRow
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.trips import Trip, trip_from_json
from tradetui.wire.text.json_text import load_json

_NOT_ENDED = Instant(2**62, "")


def trip_fill_ids(connection: sqlite3.Connection, row: TripRow) -> tuple[str, ...]:
    """The ids of a trip's fills, newest first; none where the ledger does not have the trip any more.

    A fill that crosses zero in one-way mode belongs to the trip that it ends and to the one that it begins.
    """
    key = LegKey(row.product_type, row.symbol, row.leg)
    kept_trip = (_NOT_ENDED, row.trip) if row.is_open else _kept_trip(connection, key, row.trip)
    if kept_trip is None:
        return ()
    closed, trip = kept_trip
    # What ended a trip that did not lead to flat is no fill of it.
    bound = "<=" if trip.ended or row.is_open else "<"
    fills = connection.execute(
        "SELECT id, time, body FROM record WHERE kind = 'fill' AND symbol = ? AND product_type = ? AND time >= ?"
        f" AND time <= ? AND (time, ordinal) {bound} (?, ?) ORDER BY time DESC, ordinal DESC",
        (key.symbol, str(key.product_type), trip.opened_ms or 0, trip.last_ms, *closed),
    )
    ids: list[str] = []
    for id_, time, body in fills:
        if len(ids) == trip.fill_count:
            break
        fill = read_booked_fill(str(key.product_type), body, time)
        if fill is not None and fill.key == key and fill.meaning.known and fill.size > ZERO:
            ids.append(id_)
    return tuple(ids)


def _kept_trip(connection: sqlite3.Connection, key: LegKey, listed: Trip) -> tuple[Instant, Trip] | None:
    """A listed trip as the ledger has it now, and the fill that ended it: what came late may have changed it."""
    rows = connection.execute(
        "SELECT closed_time, closed_ordinal, body FROM ledger_trip"
        " WHERE product_type = ? AND symbol = ? AND leg = ? AND last_time = ?",
        (*key, listed.last_ms),
    )
    for closed_time, closed_ordinal, body in rows:
        trip = trip_from_json(load_json(body))
        if (trip.opened_by, trip.closed_by, trip.opened_ms) == (listed.opened_by, listed.closed_by, listed.opened_ms):
            return Instant(closed_time, closed_ordinal), trip
    return None

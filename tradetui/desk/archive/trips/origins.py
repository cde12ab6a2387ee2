"""What opened and closed a round trip: an order, a trigger, a reversal, or the exchange by force."""

from __future__ import annotations

import sqlite3
from enum import StrEnum

from tradetui.desk.archive.trips.trip_queries import TripRow

_OPENED_BY, _RUNNING_OPENED_BY = "$[5]", "$[4][5]"
"""Where a trip, and a leg's state, keep the order that opened it (`trip_as_json`)."""


class TripOrigin(StrEnum):
    """What made a fill; `reversal` is an order that closed one side and opened the other."""

    ORDER = "order"
    TRIGGER = "trigger"
    REVERSAL = "reversal"
    LIQUIDATION = "liquidation"
    DELIVERY = "delivery"
    ADL = "ADL"
    OFFSET = "offset"


class TripOrigins:
    """Reads once which orders triggers made and which opened a trip, then says of each trip what made it.

    It is of trips that ended at a moment (`since`, Unix ms) or later: what one of their closing orders opened ended
    then as well, or still runs.
    """

    def __init__(self, connection: sqlite3.Connection, since: int) -> None:
        self._triggered = {
            order_id
            for (order_id,) in connection.execute(
                "SELECT json_extract(body, '$.executeOrderId') FROM record WHERE kind = 'trigger'"
            )
            if order_id
        }
        opening = connection.execute(
            f"SELECT product_type, json_extract(body, '{_OPENED_BY}') FROM ledger_trip WHERE last_time >= ? UNION ALL"
            f" SELECT product_type, json_extract(state, '{_RUNNING_OPENED_BY}') FROM ledger_leg",
            (since,),
        ).fetchall()
        self._opening = {(product_type, order_id) for product_type, order_id in opening if order_id}
        self._connection = connection

    def of_opening(self, row: TripRow) -> TripOrigin | None:
        return None if row.trip.opened_ms is None else self._origin(row, row.trip.opened_by)

    def of_closing(self, row: TripRow) -> TripOrigin | None:
        if row.trip.forced_by:
            return TripOrigin(row.trip.forced_by)
        return self._origin(row, row.trip.closed_by) if row.trip.closed_size else None

    def _origin(self, row: TripRow, order_id: str) -> TripOrigin:
        if order_id in self._triggered:
            return TripOrigin.TRIGGER
        if (row.product_type, order_id) in self._opening and self._closes(row, order_id):
            return TripOrigin.REVERSAL
        return TripOrigin.ORDER

    def _closes(self, row: TripRow, order_id: str) -> bool:
        return (
            self._connection.execute(
                "SELECT 1 FROM ledger_order WHERE product_type = ? AND symbol = ? AND leg IN ('long', 'short', 'net')"
                " AND order_id = ?",
                (row.product_type, row.symbol, order_id),
            ).fetchone()
            is not None
        )

"""Round trips that are still open, with the funding that the exchange reports of what they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from decimal import Decimal

from tradetui.desk.archive.ledger_queries import ResultQuery, TripRow
from tradetui.desk.archive.trips.closed_positions import APART_MS
from tradetui.trading.contract_math import ZERO
from tradetui.trading.positions import Position
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.trips import Trip, leg_from_json
from tradetui.wire.enums import PositionSide
from tradetui.wire.product_types import ProductType
from tradetui.wire.text.json_text import load_json


def open_trips(connection: sqlite3.Connection, query: ResultQuery, positions: Iterable[Position]) -> list[TripRow]:
    """The trips of what is held, those whose last fill is newest first; a trip that no position holds is left out."""
    held = {(position.product_type, position.symbol, position.is_long): position for position in positions}
    condition, values = query.condition
    legs = connection.execute(
        "SELECT product_type, symbol, leg, state FROM ledger_leg WHERE json_extract(state, '$[4]') IS NOT NULL"
        f"{condition} ORDER BY applied_time DESC",
        values,
    )
    rows = []
    for type_name, symbol, leg_name, state in legs:
        key = LegKey(ProductType(type_name), symbol, PositionSide(leg_name))
        trip = leg_from_json(key, load_json(state)).trip
        position = None if trip is None else held.get((key.product_type, symbol, trip.long))
        if trip is not None and position is not None:
            rows.append(TripRow(*key, trip, _funding_so_far(position, trip), is_open=True))
    return rows


def _funding_so_far(position: Position, trip: Trip) -> Decimal | None:
    """What a position was paid since it was opened, or paid below nothing; None where it began at another time.

    `totalFee` of `/api/v2/mix/position/all-position`: plus was received, as the documented example shows, whose
    break-even price it lowers. It is empty, which is nothing, before the first settlement.
    """
    record = position.record
    if record is None or record.c_time is None or trip.opened_ms is None:
        return None
    began_ms = record.c_time.timestamp() * 1000
    if abs(began_ms - trip.opened_ms) > APART_MS or "totalFee" not in record.received:
        return None
    return record.total_fee or ZERO

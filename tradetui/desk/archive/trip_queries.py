"""Reads round trips from the ledger: ended ones, open ones, their fills, and their origins."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.desk.archive.coverage import NO_END
from tradetui.desk.archive.ledger.quarter_hours import Instant, read_booked_fill
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_funding import APART_MS, ReportedTrip, TripFunding, reported_trip
from tradetui.trading.contract_math import ZERO
from tradetui.trading.positions import Position
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.trips import RUNNING_TRIP, Trip, leg_from_json, trip_from_json, trip_path
from tradetui.wire.enums import PositionSide, SystemClose
from tradetui.wire.json_text import load_json
from tradetui.wire.product_types import ProductType

_NOT_ENDED: Final = Instant(NO_END, "")
_ROUNDED_TO: Final = Decimal("0.00000001")
"""The step to which the exchange rounds an amount of each fill, such as its share of a fee."""


class TripRow(NamedTuple):
    """A round trip of a symbol; `funding` is in the trip's coin, None if it is not known.

    `net_difference` is the exchange's net result of the position minus `net`; None if it reports none. `held_at` is the
    time (Unix ms) at which an open trip was still held; None if it has ended. All figures of an open one are those so
    far. `opened_by` and `closed_by` are the origins of its opening and closing, None if they are not known.
    """

    product_type: ProductType
    symbol: str
    leg: PositionSide
    trip: Trip
    funding: Decimal | None = None
    net_difference: Decimal | None = None
    held_at: int | None = None
    opened_by: TripOrigin | None = None
    closed_by: TripOrigin | None = None

    @property
    def row_id(self) -> str:
        """The leg, its times and the order that closed it."""
        trip = self.trip
        return f"{self.product_type}|{self.symbol}|{self.leg}|{trip.opened_ms}|{trip.last_ms}|{trip.closed_by}"

    @property
    def is_open(self) -> bool:
        return self.held_at is not None

    @property
    def closed_ms(self) -> int | None:
        """When it was closed (Unix ms); None while it is open."""
        return None if self.is_open else self.trip.last_ms

    @property
    def held_ms(self) -> int | None:
        """How long it was or is held; None if its start is not known."""
        until = self.trip.last_ms if self.held_at is None else self.held_at
        return None if self.trip.opened_ms is None else until - self.trip.opened_ms

    @property
    def size(self) -> Decimal:
        """The closed size, or the held size while it is open."""
        return self.trip.opened_size - self.trip.closed_size if self.is_open else self.trip.closed_size

    @property
    def net(self) -> Decimal:
        """Gross, fees and funding; without funding if that is not known."""
        return self.trip.net + (self.funding or ZERO)


def ended_trips(connection: sqlite3.Connection, query: ResultQuery) -> Iterator[TripRow]:
    """Yield round trips by their last close, newest first."""
    condition, values = query.condition
    if query.symbols is None:
        # The plus keeps SQLite from reading and sorting every trip of a product type: they are sorted by time already.
        condition = condition.replace("product_type", "+product_type")
    rows = connection.execute(
        "SELECT product_type, symbol, leg, body FROM ledger_trip WHERE last_time BETWEEN ? AND ?"
        f"{condition} ORDER BY last_time DESC, closed_ordinal DESC, number DESC",
        (*query.bounds, *values),
    )
    funding = TripFunding(connection)
    for type_name, symbol, leg_name, body in rows:
        product_type, leg, trip = ProductType(type_name), PositionSide(leg_name), trip_from_json(load_json(body))
        reported = reported_trip(connection, product_type, symbol, trip)
        if reported is not None:
            yield TripRow(product_type, symbol, leg, trip, reported.funding, _net_difference(reported, trip))
        else:
            yield TripRow(product_type, symbol, leg, trip, funding.of(product_type, symbol, leg, trip))


def _net_difference(reported: ReportedTrip, trip: Trip) -> Decimal | None:
    """Return the exchange's net result of a trip minus that of its fills and funding, except its rounding."""
    if reported.net is None:
        return None
    difference = reported.net - trip.net - reported.funding
    return difference if abs(difference) > _ROUNDED_TO * trip.fill_count else ZERO


def open_trips(connection: sqlite3.Connection, query: ResultQuery, positions: Iterable[Position]) -> list[TripRow]:
    """Return the trips of held positions, by their newest fill; a trip without such a position is left out."""
    held = {(position.product_type, position.symbol, position.is_long): position for position in positions}
    condition, values = query.condition
    legs = connection.execute(
        "SELECT product_type, symbol, leg, state FROM ledger_leg"
        f" WHERE json_extract(state, '{RUNNING_TRIP}') IS NOT NULL{condition} ORDER BY applied_time DESC",
        values,
    )
    rows = []
    for type_name, symbol, leg_name, state in legs:
        key = LegKey(ProductType(type_name), symbol, PositionSide(leg_name))
        trip = leg_from_json(key, load_json(state)).trip
        position = None if trip is None else held.get((key.product_type, symbol, trip.long))
        if trip is not None and position is not None:
            rows.append(TripRow(*key, trip, _funding_so_far(position, trip), held_at=query.now_ms))
    return rows


def _funding_so_far(position: Position, trip: Trip) -> Decimal | None:
    """Return a position's funding since it was opened, negative if paid; None if it began at another time.

    `totalFee` of `/api/v2/mix/position/all-position` is positive if received: in the documented example it lowers the
    break-even price. It is empty, meaning zero, before the first settlement.
    """
    record = position.record
    if record is None or record.c_time is None or trip.opened_ms is None:
        return None
    began_ms = record.c_time.timestamp() * 1000
    if abs(began_ms - trip.opened_ms) > APART_MS or "totalFee" not in record.received:
        return None
    return record.total_fee or ZERO


def trip_fill_ids(connection: sqlite3.Connection, row: TripRow) -> tuple[str, ...]:
    """Return the ids of a trip's fills, newest first; none if the ledger no longer has the trip.

    A fill that crosses zero in one-way mode belongs to the trip that it ends and to the one that it begins.
    """
    key = LegKey(row.product_type, row.symbol, row.leg)
    kept_trip = (_NOT_ENDED, row.trip) if row.is_open else _kept_trip(connection, key, row.trip)
    if kept_trip is None:
        return ()
    closed, trip = kept_trip
    # If a trip ended without being flat, the fill that ended it is not one of its own.
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
        if fill is not None and fill.key == key and fill.terms.effect is not None and fill.size > ZERO:
            ids.append(id_)
    return tuple(ids)


def _kept_trip(connection: sqlite3.Connection, key: LegKey, listed: Trip) -> tuple[Instant, Trip] | None:
    """Return a listed trip as the ledger has it now, and the fill that ended it: a late fill may have changed it."""
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


class TripOrigin(StrEnum):
    """The origin of a fill; `reversal` is an order that closed one side and opened the other."""

    ORDER = "order"
    TRIGGER = "trigger"
    REVERSAL = "reversal"
    LIQUIDATION = SystemClose.LIQUIDATION
    DELIVERY = SystemClose.DELIVERY
    ADL = SystemClose.ADL
    OFFSET = SystemClose.OFFSET


class TripOrigins:
    """Reads once which orders triggers made and which opened a trip, and then gives the origin of a trip.

    It covers trips that ended at `since` (Unix ms) or later. A trip opened by one of their closing orders ended then
    too, or still runs.
    """

    def __init__(self, connection: sqlite3.Connection, since: int) -> None:
        triggered = "SELECT json_extract(body, '$.executeOrderId') FROM record WHERE kind = 'trigger'"
        self._triggered = {order_id for (order_id,) in connection.execute(triggered) if order_id}
        ended, running = trip_path("opened_by"), trip_path("opened_by", RUNNING_TRIP)
        opening = connection.execute(
            f"SELECT product_type, json_extract(body, '{ended}') FROM ledger_trip WHERE last_time >= ? UNION ALL"
            f" SELECT product_type, json_extract(state, '{running}') FROM ledger_leg",
            (since,),
        ).fetchall()
        self._opening = {(product_type, order_id) for product_type, order_id in opening if order_id}
        self._connection = connection

    def named(self, row: TripRow) -> TripRow:
        """Return the round trip with its origins; an open one has no closing yet."""
        closed_by = None if row.is_open else self.of_closing(row)
        return row._replace(opened_by=self.of_opening(row), closed_by=closed_by)

    def of_opening(self, row: TripRow) -> TripOrigin | None:
        """Return the origin of a round trip; None if its beginning is not known."""
        return None if row.trip.opened_ms is None else self._origin(row, row.trip.opened_by)

    def of_closing(self, row: TripRow) -> TripOrigin | None:
        """Return the origin of the closing of a round trip, or of a part; None while all of it is open."""
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
        order = (
            "SELECT 1 FROM ledger_order WHERE product_type = ? AND symbol = ? AND leg IN ('long', 'short', 'net')"
            " AND order_id = ?"
        )
        return self._connection.execute(order, (row.product_type, row.symbol, order_id)).fetchone() is not None

"""The fills of a round trip: those of its leg from flat to flat, and no others of its stretch of time."""

from __future__ import annotations

from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.ledger_histories import START_MS
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.archive_rows import Selection
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import ended_trips, trip_fill_ids
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.results.periods import Grouping
from tradetui.wire.models.futures import FuturesFill

QUERY = ResultQuery(Grouping.TOTAL, START_MS + 1_000_000, product_types=(USDT,))
HEDGE = {"posMode": "hedge_mode"}
ONE_WAY = {"posMode": "one_way_mode", "tradeSide": "buy_single"}


def numbers_by_trip(fills: list[FuturesFill]) -> list[list[int]]:
    """The numbers of the fills of each trip, the trips and their fills oldest first."""
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, row) for row in fills])
    while archive.advance_ledger():
        pass
    trips = [*ended_trips(archive.connection, QUERY)][::-1]
    fills_of_trips = []
    for trip in trips:
        ids = trip_fill_ids(archive.connection, trip)
        page = archive.rows.page(Selection(FuturesFill, ids=ids), None, 100, newest=False)
        assert len(page) == len(ids) == archive.rows.count(Selection(FuturesFill, ids=ids))
        fills_of_trips.append([int(row.record.trade_id) - 10**18 for _, row in page])
    archive.close()
    return fills_of_trips


def test_fills_of_the_other_leg_in_the_same_stretch_of_time_are_not_of_the_trip() -> None:
    fills = [
        fill(1, START_MS, side="buy", tradeSide="open", **HEDGE),
        fill(2, START_MS + 1, side="sell", tradeSide="open", **HEDGE),
        fill(3, START_MS + 2, side="buy", tradeSide="open", **HEDGE),
        fill(4, START_MS + 3, side="sell", tradeSide="close", **HEDGE),
        fill(5, START_MS + 4, side="buy", tradeSide="close", baseVolume="2", **HEDGE),
    ]
    assert numbers_by_trip(fills) == [[2, 4], [1, 3, 5]]


def test_a_fill_that_crosses_zero_belongs_to_both_trips() -> None:
    fills = [
        fill(1, START_MS, side="buy", **ONE_WAY),
        fill(2, START_MS + 1, side="sell", profit="1", **ONE_WAY | {"tradeSide": "reduce_sell_single"}),
        fill(3, START_MS + 2, side="buy", **ONE_WAY),
        fill(4, START_MS + 3, side="sell", baseVolume="3", profit="1", **ONE_WAY | {"tradeSide": "sell_single"}),
        fill(5, START_MS + 4, side="buy", baseVolume="2", profit="1", **ONE_WAY),
    ]
    assert numbers_by_trip(fills) == [[1, 2], [3, 4], [4, 5]]


def test_trips_that_meet_within_a_millisecond_keep_their_own_fills() -> None:
    fills = [
        fill(1, START_MS, side="buy", tradeSide="open", **HEDGE),
        fill(2, START_MS + 1, side="buy", tradeSide="close", **HEDGE),
        fill(3, START_MS + 1, side="buy", tradeSide="open", **HEDGE),
        fill(4, START_MS + 2, side="buy", tradeSide="close", **HEDGE),
    ]
    assert numbers_by_trip(fills) == [[1, 2], [3, 4]]


def test_no_ids_are_no_rows() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1))])
    assert archive.rows.count(Selection(FuturesFill, ids=())) == 0
    assert archive.rows.count(Selection(FuturesFill)) == 1
    archive.close()

"""Funding of a round trip comes from the bills of its symbol, where only one leg was held."""

from __future__ import annotations

from decimal import Decimal

from tests.desk.fixtures.bill_rows import bill
from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.ledger_histories import START_MS
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.coverage import BillCoverage
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import TripRow, ended_trips, open_trips
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.positions import Position, reported
from tradetui.trading.results.periods import Grouping
from tradetui.trading.results.trips import trip_path
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import ClosedPosition, ReportedPosition

HOUR_MS = 3_600_000
NOW_MS = START_MS + 100 * HOUR_MS
LONG = [(1, 1, "buy", "open"), (2, 20, "buy", "close")]
SHORT_AFTER = [(3, 30, "sell", "open"), (4, 40, "sell", "close")]
SHORT_MEANWHILE = [(3, 10, "sell", "open"), (4, 40, "sell", "close")]
FUNDING = [(0, "5"), (8, "-0.3"), (16, "-0.2"), (35, "0.7"), (50, "9")]


def archive_of(
    fills: list[tuple[int, int, str, str]],
    *,
    read_since: int = START_MS - 1,
    proven: bool = True,
    mode: str = "",
    ended: tuple[ClosedPosition, ...] = (),
) -> Archive:
    """An archive of fills (number, hour, side, trade side) and funding of their symbol."""
    archive = Archive(None)
    fields = {"posMode": mode} if mode else {}
    rows = [
        fill(number, START_MS + hour * HOUR_MS, side=side, tradeSide=trade_side, **fields)
        for number, hour, side, trade_side in fills
    ]
    archive.add(FuturesFill, [ProductRow(USDT, row) for row in rows])
    bills = [
        bill(number, START_MS + hour * HOUR_MS, "contract_settle_fee", amount, symbol="BTCUSDT")
        for number, (hour, amount) in enumerate(FUNDING)
    ]
    other = bill(99, START_MS + 8 * HOUR_MS, "contract_settle_fee", "100", symbol="ETHUSDT")
    archive.add_bills(USDT, [*bills, other], BillCoverage(read_since, NOW_MS))
    archive.add_closed_positions(USDT, ended, None)
    while archive.advance_ledger():
        pass
    if proven:
        archive.prove_starts(USDT, {}, NOW_MS)
        while archive.advance_ledger():
            pass
    return archive


QUERY = ResultQuery(Grouping.TOTAL, NOW_MS, product_types=(USDT,))


def trips_of(
    fills: list[tuple[int, int, str, str]],
    *,
    read_since: int = START_MS - 1,
    proven: bool = True,
    mode: str = "",
    ended: tuple[ClosedPosition, ...] = (),
) -> list[TripRow]:
    """The trips of `archive_of` that ended, oldest first."""
    archive = archive_of(fills, read_since=read_since, proven=proven, mode=mode, ended=ended)
    return [*ended_trips(archive.connection, QUERY)][::-1]


def test_each_trip_has_the_funding_between_its_first_fill_and_its_last() -> None:
    long, short = trips_of(LONG + SHORT_AFTER)
    assert (long.funding, short.funding) == (Decimal("-0.5"), Decimal("0.7"))
    assert long.net == long.trip.net + Decimal("-0.5")


def ended_position(since_hour: int, until_hour: int, **other: str) -> ClosedPosition:
    row = {
        "symbol": "BTCUSDT",
        "holdSide": "long",
        "totalFunding": "-0.4",
        "netProfit": "-0.52",
        "ctime": str(START_MS + since_hour * HOUR_MS + 500),
        "utime": str(START_MS + until_hour * HOUR_MS - 500),
    }
    return ClosedPosition.from_row(row | other)


def test_the_exchange_s_own_word_of_the_position_goes_first_and_checks_the_trip() -> None:
    long, _ = trips_of(LONG + SHORT_MEANWHILE, ended=(ended_position(1, 20),), proven=False)
    assert (long.funding, long.net_difference) == (Decimal("-0.4"), Decimal(0))
    (long,) = trips_of(LONG, ended=(ended_position(1, 20, netProfit="-0.5"),))
    assert long.net_difference == Decimal("0.02")
    (long,) = trips_of(LONG, ended=(ended_position(1, 20, netProfit=""),))
    assert (long.funding, long.net_difference) == (Decimal("-0.4"), None)


def test_a_position_of_another_time_or_side_says_nothing_of_a_trip() -> None:
    others = (ended_position(2, 20), ended_position(1, 19), ended_position(1, 20, holdSide="short"))
    (long,) = trips_of(LONG, ended=others)
    assert (long.funding, long.net_difference) == (Decimal("-0.5"), None)


def test_it_is_not_known_where_both_legs_were_held() -> None:
    assert [row.funding for row in trips_of(LONG + SHORT_MEANWHILE)] == [None, None]
    running = [(3, 10, "sell", "open")]
    assert [row.funding for row in trips_of(LONG + running, proven=False)] == [None]
    before = [(5, 0, "sell", "open"), (6, 1, "sell", "close")]
    assert [row.funding for row in trips_of(before + LONG + SHORT_MEANWHILE)] == [0, None, None]


def test_it_is_not_known_where_more_of_the_other_leg_may_have_been_held_before_a_later_trip() -> None:
    archive = archive_of(LONG + SHORT_AFTER + [(5, 60, "sell", "open"), (6, 70, "sell", "close")])
    assert [row.funding for row in ended_trips(archive.connection, QUERY)][-1] == Decimal("-0.5")
    later = "UPDATE ledger_trip SET body = json_set(body, ?, json('false')) WHERE leg = 'short' AND last_time > ?"
    archive.connection.execute(later, (trip_path("start_proven"), START_MS + 50 * HOUR_MS))
    assert [row.funding for row in ended_trips(archive.connection, QUERY)] == [None, Decimal("0.7"), None]


def test_it_is_not_known_without_a_proven_start_or_without_the_bills() -> None:
    assert [row.funding for row in trips_of(LONG, proven=False)] == [None]
    assert [row.funding for row in trips_of(LONG, read_since=START_MS + 2 * HOUR_MS)] == [None]
    (row,) = trips_of(LONG, read_since=START_MS + 2 * HOUR_MS)
    assert row.net == row.trip.net


def test_a_net_that_crosses_zero_at_a_settlement_leaves_it_to_the_trip_that_ends() -> None:
    fills = [(1, 1, "buy", "buy_single"), (2, 16, "sell", "sell_single")]
    (row,) = trips_of(fills, mode="one_way_mode")
    assert row.funding == Decimal("-0.5")


def held(hour: int, funding: str, side: str = "long") -> Position:
    """A position that was opened at an hour, as the exchange reports it."""
    row = {
        "symbol": "BTCUSDT",
        "holdSide": side,
        "total": "1",
        "totalFee": funding,
        "cTime": str(START_MS + hour * HOUR_MS + 400),
    }
    return reported(USDT, ReportedPosition.from_row(row))


def test_a_trip_that_is_open_has_the_funding_that_the_exchange_reports_of_its_position() -> None:
    archive = archive_of([*LONG, (3, 30, "buy", "open"), (4, 31, "sell", "open")], proven=False)

    def open_funding(*positions: Position) -> list[tuple[str, Decimal | None]]:
        rows = open_trips(archive.connection, QUERY, positions)
        assert all(row.is_open and row.trip.opened_ms is not None for row in rows)
        return [(row.leg, row.funding) for row in rows]

    assert open_funding(held(30, "-0.35"), held(31, "0.2", "short")) == [
        ("short", Decimal("0.2")),
        ("long", Decimal("-0.35")),
    ]
    assert open_funding(held(30, "")) == [("long", Decimal(0))], "nothing was settled yet"
    assert open_funding(held(29, "-0.35")) == [("long", None)], "the position began before the fills that are known"
    assert open_funding() == [], "nothing is held any more"

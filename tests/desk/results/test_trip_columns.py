"""Round trips as they are listed: their nets with funding, and the note under them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from tradetui.desk.archive.trip_queries import TripRow
from tradetui.desk.results.result_columns import TRIP_COLUMNS, trips_footer
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.trading.results.trips import Trip
from tradetui.wire.enums import PositionSide
from tradetui.wire.product_types import ProductType


def trip_line(gross: str, funding: str | None, coin: str = "USDT") -> TripRow:
    """A trip that paid one of its coin as fees."""
    trip = Trip(long=True, coin=coin, opened_ms=1, last_ms=2, start_proven=True, gross=Decimal(gross), fees=Decimal(-1))
    known_funding = None if funding is None else Decimal(funding)
    return TripRow(ProductType.USDT_FUTURES, "BTCUSDT", PositionSide.LONG, trip, known_funding)


def net_text(line: TripRow) -> str:
    """The cell of the column Net."""
    column = next(column for column in TRIP_COLUMNS if column.id == "net")
    return column.cell(line, DEFAULT_FORMAT)[0]


def test_the_note_counts_and_sums_the_nets_of_the_rows_with_their_funding() -> None:
    lines = [trip_line("3", "-2.5"), trip_line("2", "-1"), trip_line("1", "0.25"), trip_line("4", "0", "USDC")]
    assert [net_text(line) for line in lines] == ["-0.50", "0.00", "+0.25", "+3.00"]
    assert trips_footer(lines, DEFAULT_FORMAT).note == "won 2, 50.00 % · lost 1 · net +3.00 USDC, -0.25 USDT"


def test_a_net_without_its_funding_is_marked_and_marks_the_sum_of_its_coin() -> None:
    lines = [trip_line("3", None), trip_line("2", "-0.5"), trip_line("4", "0", "USDC")]
    assert [net_text(line) for line in lines] == ["+2.00?", "+0.50", "+3.00"]
    assert trips_footer(lines, DEFAULT_FORMAT).note.endswith("net +3.00 USDC, +2.50? USDT · ? funding not known")


def test_an_open_trip_counts_as_neither_won_nor_lost() -> None:
    line = trip_line("3", "-0.5")
    trip = replace(line.trip, opened_size=Decimal(5), closed_size=Decimal(2))
    still_open = line._replace(trip=trip, held_at=3 * 3_600_000 + 1)
    texts = {column.id: column.cell(still_open, DEFAULT_FORMAT)[0] for column in TRIP_COLUMNS}
    shown = ("closeTime", "size", "held", "net", "funding", "start")
    assert [texts[name] for name in shown] == ["open", "3", "3 h 00 min", "+1.50", "-0.50", ""]
    assert trips_footer([still_open, line], DEFAULT_FORMAT).note == "won 1, 100.00 % · lost 0 · net +1.50 USDT · 1 open"
    assert trips_footer([still_open], DEFAULT_FORMAT).note == "1 open"


def test_a_net_without_a_fee_is_marked_and_said() -> None:
    line = trip_line("3", "0")
    without = line._replace(trip=replace(line.trip, incomplete_fills=1))
    assert net_text(without) == "+2.00?"
    assert next(column for column in TRIP_COLUMNS if column.id == "start").value(without) == "fee not given"
    assert trips_footer([without], DEFAULT_FORMAT).note.endswith("net +2.00? USDT · ? fee or profit not given")


def test_no_trips_have_no_note() -> None:
    assert trips_footer([], DEFAULT_FORMAT).note == ""


def test_a_trip_that_may_have_held_more_before_its_first_known_fill_says_so_beside_how_long_it_was_held() -> None:
    line = trip_line("3", "0")
    doubtful = line._replace(trip=replace(line.trip, start_proven=False))
    texts = {column.id: column.cell(doubtful, DEFAULT_FORMAT)[0] for column in TRIP_COLUMNS}
    assert (texts["held"], texts["start"]) == ("0 s", "start not proven")

"""Round trips: equal to a second computation from the raw rows, and what opened and closed each of them."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from tests.desk.archive.test_ledger import NOW_MS, pages_of, settle
from tests.desk.fixtures.exchange_rows import fill, trigger
from tests.desk.fixtures.ledger_histories import START_MS, made_history
from tests.desk.fixtures.ledger_trips import TripAgain, trips_again
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import TripOrigin, TripOrigins, ended_trips
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.results.periods import Grouping
from tradetui.trading.results.trips import Trip
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.product_types import ProductType

QUERY = ResultQuery(Grouping.TOTAL, NOW_MS)
ROUNDED_TO = Fraction(1, 10**18)
"""Quotients are worked out to 28 digits."""


def differences(trip: Trip, again: TripAgain) -> list[str]:
    """Figures in which a trip differs from what its raw rows come to."""
    exact = {
        "long": (trip.long, again.long),
        "opened at": (trip.opened_ms, again.opened_ms),
        "closed at": (trip.last_ms, again.last_ms),
        "opened by": (trip.opened_by, again.opened_by),
        "closed by": (trip.closed_by, again.closed_by),
        "opened": (trip.opened_size, again.opened),
        "closed": (trip.closed_size, again.closed),
        "gross": (trip.gross, again.gross),
        "fills": (trip.fill_count, again.fills),
    }
    rounded = {
        "entry": (trip.entry, again.opened_value / again.opened),
        "exit": (trip.exit, again.closed_value / again.closed),
        "fees": (trip.fees, again.fees),
    }
    return [
        *(name for name, (shown, expected) in exact.items() if shown != expected),
        *(
            name
            for name, (shown, expected) in rounded.items()
            if shown is None or abs(Fraction(shown) - expected) > ROUNDED_TO
        ),
    ]


def test_trips_equal_the_second_computation() -> None:
    compared, crossed = 0, 0
    for seed in range(50):
        chance = random.Random(seed)
        history = made_history(chance, may_begin_before=False)
        archive = Archive(None)
        for page in pages_of(history, chance):
            archive.add(FuturesFill, page)
        settle(archive)
        for type_name, rows in history.fills.items():
            product_type, has_one_mode = ProductType(type_name), len({row["posMode"] for row in rows}) == 1
            ended, held = trips_again(rows)
            sizes = {key: Decimal(size.numerator) / size.denominator for key, size in held.items()}
            archive.prove_starts(product_type, sizes, NOW_MS)
            settle(archive)
            query = ResultQuery(Grouping.TOTAL, NOW_MS, product_types=(product_type,))
            shown = [row for row in ended_trips(archive.connection, query) if row.trip.start_proven]
            if has_one_mode:
                assert len(shown) == len(ended), f"seed {seed}: every start is proven by what is held"
            by_key = {(trip.symbol, trip.long, trip.opened_ms, trip.last_ms, trip.closed_by): trip for trip in ended}
            for row in shown:
                trip = row.trip
                key = (row.symbol, trip.long, trip.opened_ms or 0, trip.last_ms, trip.closed_by)
                assert key in by_key, f"seed {seed}: {trip}"
                assert differences(trip, by_key[key]) == [], f"seed {seed}: {trip}"
                compared += 1
            closers = {trip.closed_by for trip in ended}
            crossed += sum(trip.opened_by in closers for trip in ended)
        archive.close()
    assert compared > 100
    assert crossed > 5, "a fill ends one trip and begins the next"


def origins_of(
    *fills: FuturesFill, triggers: tuple[TriggerOrder, ...] = ()
) -> list[tuple[TripOrigin | None, TripOrigin | None]]:
    """What opened and what closed each trip of these fills, the trips oldest first."""
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, row) for row in fills])
    archive.add(TriggerOrder, [ProductRow(USDT, row) for row in triggers])
    settle(archive)
    origins = TripOrigins(archive.connection, 0)
    return [(origins.of_opening(row), origins.of_closing(row)) for row in ended_trips(archive.connection, QUERY)][::-1]


def hedge(number: int, trade_side: str, side: str = "buy", order_id: str = "") -> FuturesFill:
    return fill(number, START_MS + number, tradeSide=trade_side, side=side, orderId=order_id or str(number))


@pytest.mark.parametrize(
    ("word", "origin"),
    [
        ("close", TripOrigin.ORDER),
        ("reduce_close_long", TripOrigin.ORDER),
        ("burst_close_long", TripOrigin.LIQUIDATION),
        ("delivery_close_long", TripOrigin.DELIVERY),
        ("dte_sys_adl_close_long", TripOrigin.ADL),
        ("offset_close_long", TripOrigin.OFFSET),
    ],
)
def test_a_trip_says_what_closed_it(word: str, origin: TripOrigin) -> None:
    assert origins_of(hedge(1, "open"), hedge(2, word)) == [(TripOrigin.ORDER, origin)]


def test_an_order_that_a_trigger_made_is_a_trigger_s() -> None:
    made = trigger(9, executeOrderId="2")
    assert origins_of(hedge(1, "open"), hedge(2, "close"), triggers=(made,)) == [(TripOrigin.ORDER, TripOrigin.TRIGGER)]


def test_an_order_that_closes_one_side_and_opens_the_other_is_a_reversal() -> None:
    fills = (
        hedge(1, "open"),
        hedge(2, "close", order_id="7"),
        hedge(3, "open", "sell", "7"),
        hedge(4, "close", "sell"),
    )
    assert origins_of(*fills) == [
        (TripOrigin.ORDER, TripOrigin.REVERSAL),
        (TripOrigin.REVERSAL, TripOrigin.ORDER),
    ]


def test_what_closed_a_trip_that_was_opened_before_the_first_fill_is_known_alone() -> None:
    assert origins_of(hedge(2, "close"), hedge(3, "open"), hedge(4, "close"))[0] == (None, TripOrigin.ORDER)

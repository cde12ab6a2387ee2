"""The ledger: each fill counted once, whatever order it comes in, and every figure equal to a second computation."""

from __future__ import annotations

import random
import tracemalloc
from contextlib import closing
from datetime import UTC, date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.ledger_histories import START_MS, ZONES, MadeHistory, made_history, summed_again
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.coverage import Gap
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger.ledger import ROWS_A_STEP
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import ended_trips
from tradetui.desk.results.period_query import Period, PeriodQuery
from tradetui.desk.results.period_results import read_period_results
from tradetui.desk.results.sums import ResultLine, result_lines
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.results.booking import BookedFill
from tradetui.trading.results.periods import Grouping, period_span
from tradetui.trading.results.trips import FillOutcome, RunningLeg, Trip, trip_as_json, trip_from_json
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

NOW_MS = 1_800_000_000_000
CHECKED = tuple(Grouping)
ROUNDED_TO = Fraction(1, 10**18)
"""What an order won or lost holds shares of fees, which are quotients, worked out to 28 digits."""


def pages_of(history: MadeHistory, chance: random.Random) -> list[list[ProductRow[FuturesFill]]]:
    """The fills as reads bring them: by pages forwards, backwards or at random, some of them twice."""
    rows = [
        ProductRow(ProductType(product_type), FuturesFill.from_row(row))
        for product_type, fills in history.fills.items()
        for row in fills
    ]
    manner = chance.choice(("forwards", "backwards", "mixed", "nearly in order"))
    if manner == "mixed":
        chance.shuffle(rows)
    else:
        rows.sort(key=lambda row: row.time_order, reverse=manner == "backwards")
    if manner == "nearly in order" and len(rows) > 3:
        late = rows.pop(chance.randrange(len(rows)))
        rows.append(late)
    pages = []
    while rows:
        size = chance.choice((1, 2, 5, 100))
        pages.append(rows[:size])
        rows = rows[size:]
        if chance.random() < 0.2:
            pages.append(chance.choice(pages))
    return pages


def settle(archive: Archive) -> None:
    """Bring the ledger up to date, as whoever reads it does."""
    while archive.advance_ledger(over_gaps=True):
        pass


def check(seed: int) -> None:
    chance = random.Random(seed)
    history = made_history(chance)
    archive = Archive(None)
    pages = pages_of(history, chance)
    some_missing = chance.random() < 0.3
    if some_missing:
        pages = [page for page in pages if chance.random() < 0.7]
        came = {row.row_id for page in pages for row in page}
        for product_type, fills in history.fills.items():
            history.fills[product_type] = [
                row for row in fills if f"{product_type}|{row['tradeId']}|{row['symbol'].upper()}" in came
            ]
    for page in pages:
        archive.add(FuturesFill, page)
        if chance.random() < 0.5:  # the ledger is read now and then
            archive.advance_ledger(over_gaps=True)
    settle(archive)
    zone = chance.choice(ZONES)
    for grouping in CHECKED:
        rows = result_lines(archive.connection, ResultQuery(grouping, NOW_MS, zone=ZoneInfo(zone)))
        expected = summed_again(history, zone, grouping)
        figures = {
            (row.group, row.coin): (
                Fraction(row.sums.gross),
                Fraction(row.sums.fees),
                Fraction(row.sums.volume),
                row.sums.trades,
                row.sums.wins,
                row.sums.losses,
            )
            for row in rows
        }
        assert figures == {
            key: (sums.gross, sums.fees, sums.volume, sums.trades, sums.wins, sums.losses)
            for key, sums in expected.items()
        }, f"seed {seed}, {grouping}"
        for row in rows:
            again = expected[row.group, row.coin]
            for shown, exact in ((row.sums.won, again.won), (row.sums.lost, again.lost)):
                assert abs(Fraction(shown) - exact) < ROUNDED_TO, f"seed {seed}, {grouping}"
    for trip_row in ended_trips(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS)):
        if trip_row.trip.start_proven and trip_row.trip.ended and not some_missing:
            assert trip_row.trip.profit_difference == 0, f"seed {seed}"
            assert trip_row.trip.opened_size == trip_row.trip.closed_size, f"seed {seed}"
    archive.close()


@pytest.mark.parametrize("first", (0, 30))
def test_every_figure_equals_the_second_computation(first: int) -> None:
    for seed in range(first, first + 30):
        check(seed)


@pytest.mark.campaign
def test_ten_thousand_histories() -> None:
    for seed in range(10_000):
        check(seed)
    print("10000 generated histories equal their second computation")  # noqa: T201


def fills_of(*rows: tuple[int, str, str, str, str]) -> list[ProductRow[FuturesFill]]:
    """Fills of one order each: number, word of `side`, word of `tradeSide`, size, profit; a minute apart."""
    return [
        ProductRow(
            USDT,
            fill(number, START_MS + number * 60_000, side=side, tradeSide=trade_side, baseVolume=size, profit=profit),
        )
        for number, side, trade_side, size, profit in rows
    ]


def total(archive: Archive) -> ResultLine:
    settle(archive)
    (row,) = result_lines(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS, product_types=(USDT,)))
    return row


def trips(archive: Archive) -> list[Trip]:
    settle(archive)
    return [row.trip for row in ended_trips(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS))]


OPEN_AND_CLOSED = fills_of((1, "buy", "open", "2", "0"), (2, "buy", "close", "1", "5"), (3, "buy", "close", "1", "-2"))


def test_a_fill_that_is_read_again_counts_once_and_one_that_changed_counts_as_it_is_now() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, OPEN_AND_CLOSED)
    archive.add(FuturesFill, OPEN_AND_CLOSED)
    assert [total(archive).sums.gross, total(archive).sums.fees, total(archive).sums.wins] == [3, Decimal("-0.18"), 1]
    archive.add(FuturesFill, fills_of((3, "buy", "close", "1", "-7")))
    assert [total(archive).sums.gross, total(archive).sums.trades, total(archive).sums.losses] == [-2, 2, 1]
    assert [trip.gross for trip in trips(archive)] == [-2]


def test_a_late_fill_takes_its_leg_up_from_the_last_flat_point_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(None)
    rounds = [
        row
        for number in range(0, 3_000, 2)
        for row in fills_of((number, "buy", "open", "1", "0"), (number + 1, "buy", "close", "1", "1"))
    ]
    late = rounds.pop(2_996)
    archive.add(FuturesFill, rounds)
    settle(archive)
    taken_in = []
    add = RunningLeg.add

    def noted(leg: RunningLeg, fill: BookedFill) -> FillOutcome:
        taken_in.append(fill)
        return add(leg, fill)

    monkeypatch.setattr(RunningLeg, "add", noted)
    archive.add(FuturesFill, [late])
    settle(archive)
    assert len(taken_in) < 10
    assert archive.ledger_is_current
    assert len(trips(archive)) == 1_500


def test_one_order_in_twelve_fills_is_one_trade_on_the_day_of_its_last_fill() -> None:
    archive = Archive(None)
    midnight = 1_793_059_200_000
    opened = ProductRow(USDT, fill(0, midnight - 600_000, baseVolume="12"))
    pieces = [
        ProductRow(
            USDT, fill(1 + piece, midnight - 60_000 + piece * 10_000, orderId="7", tradeSide="close", profit="1")
        )
        for piece in range(12)
    ]
    archive.add(FuturesFill, [opened])
    for piece in pieces:
        archive.add(FuturesFill, [piece])
    settle(archive)
    before, after = result_lines(archive.connection, ResultQuery(Grouping.DAY, NOW_MS))
    assert [before.sums.trades, before.sums.gross] == [0, 6]
    assert [after.sums.trades, after.sums.wins, after.sums.gross] == [1, 1, 6]
    (trip,) = trips(archive)
    assert [trip.gross, trip.fill_count, trip.closed_by] == [12, 13, "7"]


def test_a_fee_in_another_coin_is_a_row_of_its_own_and_a_deduction_is_paid_whatever_its_sign() -> None:
    archive = Archive(None)
    fees = [
        {"deduction": "yes", "feeCoin": "BGB", "totalDeductionFee": "0.25", "totalFee": "0.25"},
        {"deduction": "no", "feeCoin": "USDT", "totalDeductionFee": None, "totalFee": "0.01"},
    ]
    archive.add(FuturesFill, [ProductRow(USDT, fill(1, feeDetail=fees))])
    settle(archive)
    rows = result_lines(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS))
    assert [(row.coin, row.net) for row in rows] == [("BGB", Decimal("-0.25")), ("USDT", Decimal("0.01"))]


@pytest.mark.parametrize("shown_mode", ["one_way_mode", None])
def test_a_net_that_crosses_zero_ends_one_trip_and_begins_the_next(shown_mode: str | None) -> None:
    archive = Archive(None)
    hedge, *one_way = [
        ProductRow(
            USDT, fill(number, price=price, side=side, tradeSide=word, baseVolume=size, profit=profit, posMode=mode)
        )
        for number, price, side, word, size, profit, mode in (
            (0, "100", "buy", "close", "1", "1", "hedge_mode"),
            (1, "100", "buy", "buy_single", "2", "0", shown_mode),
            (2, "110", "sell", "sell_single", "5", "20", shown_mode),
            (3, "100", "buy", "buy_single", "3", "30", shown_mode),
        )
    ]
    archive.add(FuturesFill, [hedge, *one_way])
    second, first = trips(archive)
    assert [first.long, first.gross, first.entry, first.exit, first.start_proven] == [True, 20, 100, 110, True]
    assert [second.long, second.gross, second.entry, second.closed_size] == [False, 30, 110, 3]
    assert first.fees + second.fees == Decimal("-0.18")


def test_a_gap_is_said_beside_the_periods_that_it_meets_alone() -> None:
    archive = Archive(None)
    day = 86_400_000
    rows = [ProductRow(USDT, fill(number, START_MS + number * day)) for number in range(5)]
    archive.add(FuturesFill, rows, {USDT: [Gap(rows[2].record.trade_id, START_MS + day)]})
    settle(archive)
    complete = [
        row.is_complete
        for row in result_lines(archive.connection, ResultQuery(Grouping.DAY, NOW_MS, product_types=(USDT,)))
    ]
    assert complete == [True, False, False, True, True]
    archive.note_read(USDT, START_MS + 4 * day)
    newest = result_lines(archive.connection, ResultQuery(Grouping.DAY, NOW_MS, product_types=(USDT,)))[-1]
    assert not newest.is_complete, "what came after the last read is not known"
    until = ResultQuery(Grouping.TOTAL, NOW_MS, START_MS + 3 * day, START_MS + 4 * day - 1, product_types=(USDT,))
    assert all(row.is_complete for row in result_lines(archive.connection, until))


def test_a_period_that_is_over_is_complete_once_fills_were_read_after_its_end() -> None:
    archive, day = Archive(None), 86_400_000
    midnight = START_MS // day * day + day
    archive.add(FuturesFill, [ProductRow(USDT, fill(number, midnight + number - 1)) for number in range(2)])
    settle(archive)
    archive.note_read(USDT, midnight - 30_000)

    def complete(grouping: Grouping, until: int | None = None) -> list[bool]:
        query = ResultQuery(grouping, midnight + 60_000, 0, until, product_types=(USDT,))
        return [row.is_complete for row in result_lines(archive.connection, query)]

    assert complete(Grouping.TOTAL) == [True], "a running session notes once a minute how far it has read"
    assert complete(Grouping.TOTAL, midnight + 59_999) == [False]
    assert complete(Grouping.TOTAL, midnight + day) == [False]
    assert complete(Grouping.TOTAL, midnight - 30_001) == [] and complete(Grouping.TOTAL, midnight - 1) == [False]
    assert complete(Grouping.DAY) == [False, True], "yesterday is over and was not read to its end"
    archive.note_read(USDT, midnight + 30_000)
    assert complete(Grouping.DAY) == [True, True]
    assert complete(Grouping.DAY, midnight + 30_001) == [True, False]


@pytest.mark.parametrize(
    "left_out",
    [{"feeDetail": None}, {"feeDetail": ""}, {"feeDetail": []}, {"feeDetail": [{"feeCoin": "USDT"}]}, {"profit": ""}],
)
def test_a_fill_without_its_fee_or_profit_leaves_its_periods_incomplete(left_out: dict[str, Any]) -> None:
    archive, day = Archive(None), 86_400_000
    rows = [ProductRow(USDT, fill(number, START_MS + number * day, tradeSide="close")) for number in range(3)]
    lacking = ProductRow(USDT, fill(1, START_MS + day, tradeSide="close", **left_out))
    archive.add(FuturesFill, [rows[0], lacking, rows[2]])
    settle(archive)

    def complete(query: ResultQuery) -> list[bool]:
        return [row.is_complete for row in result_lines(archive.connection, query)]

    by_day = ResultQuery(Grouping.DAY, NOW_MS, product_types=(USDT,))
    assert complete(by_day) == [True, False, True]
    assert complete(ResultQuery(Grouping.SYMBOL, NOW_MS, product_types=(USDT,))) == [False]
    assert complete(ResultQuery(Grouping.TOTAL, NOW_MS, START_MS + day, START_MS + day, product_types=(USDT,))) == [
        False
    ], "of the fill alone"
    period = Period(None, date(2027, 1, 1), UTC)
    shown = read_period_results(archive.connection, PeriodQuery(period, NOW_MS, (USDT,)))
    assert (shown.total.is_complete, shown.total.sums.incomplete_fills) == (False, 1)
    assert [line.sums.incomplete_fills for line in shown.days[:3]] == [0, 1, 0]
    archive.add(FuturesFill, [rows[1]])  # it comes again, with everything
    settle(archive)
    assert complete(by_day) == [True, True, True]


def test_a_trip_counts_its_fills_without_fee() -> None:
    archive = Archive(None)
    without = ProductRow(USDT, fill(1, START_MS + 60_000, side="buy", tradeSide="open", baseVolume="1", feeDetail=""))
    archive.add(FuturesFill, [without, OPEN_AND_CLOSED[1]])
    (trip,) = trips(archive)
    assert (trip.incomplete_fills, trip.fees) == (1, Decimal("-0.06"))
    assert trip_from_json(trip_as_json(trip)) == trip


def test_fills_that_this_version_cannot_read_are_counted_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [ProductRow(ProductType.USDT_FUTURES, fill(number, START_MS + number)) for number in (1, 2)]
    with closing(Archive(tmp_path / "archive.sqlite")) as archive:
        archive.add(FuturesFill, rows)
        archive.connection.execute("UPDATE record SET body = '{}' WHERE id = ?", (rows[-1].record.row_id,))
        archive.advance_ledger()
    assert [record.getMessage() for record in caplog.records] == ["results lack 1 fill that this version cannot read"]


@pytest.mark.parametrize("length_ms", [1, 60_000, 899_999, 900_000, 5_000_000])
def test_a_period_may_begin_and_end_within_a_quarter_hour(length_ms: int) -> None:
    chance = random.Random(length_ms)
    archive = Archive(None)
    times = [START_MS + chance.randrange(7_200_000) for _ in range(120)]
    rows = [
        ProductRow(
            USDT, fill(number, at, tradeSide=chance.choice(("open", "close")), profit=str(chance.randint(-9, 9)))
        )
        for number, at in enumerate(times)
    ]
    archive.add(FuturesFill, rows)
    settle(archive)
    for _ in range(20):
        since = START_MS + chance.randrange(7_200_000)
        until = since + length_ms - 1
        within = [row.record for row in rows if since <= round(row.record.c_time.timestamp() * 1000) <= until]
        sums = [row.sums for row in result_lines(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS, since, until))]
        assert sum(entry.gross for entry in sums) == sum(record.profit or 0 for record in within)
        assert sum(entry.trades for entry in sums) == sum(record.trade_side == "close" for record in within)


def test_what_waits_is_booked_in_steps_that_may_be_broken_off(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    archive = Archive(file)
    for number in range(0, 5_000, 2):
        moves = (number, "buy", "open", "1", "0"), (number + 1, "buy", "close", "1", "1")
        archive.add(FuturesFill, fills_of(*moves))
    assert archive.fills_to_book == 5_000
    assert archive.advance_ledger()
    assert archive.fills_to_book == 5_000 - ROWS_A_STEP
    # A fill that came again with other figures, booked or not, and a new one, in the middle of it.
    archive.add(FuturesFill, fills_of((1, "buy", "close", "1", "3"), (4_999, "buy", "close", "1", "3")))
    archive.add(FuturesFill, fills_of((5_000, "buy", "open", "1", "0")))
    archive.close()
    again = Archive(file)
    assert again.fills_to_book == 5_001 - ROWS_A_STEP
    settle(again)
    assert again.ledger_is_current
    assert [total(again).sums.gross, total(again).sums.trades, len(trips(again))] == [2_504, 2_500, 2_500]
    assert total(again).sums.fees == Decimal("-0.06") * 5_001


def test_two_sessions_of_one_account_keep_one_ledger(tmp_path: Path) -> None:
    first, second = Archive(tmp_path / "archive.sqlite"), Archive(tmp_path / "archive.sqlite")
    for number, row in enumerate(OPEN_AND_CLOSED * 2):
        (first, second)[number % 2].add(FuturesFill, [row])
    assert total(first).sums == total(second).sums
    assert total(first).sums.gross == 3
    assert [trip.gross for trip in trips(second)] == [3]


def test_days_of_twenty_three_and_twenty_five_hours() -> None:
    zone = ZoneInfo("Europe/Berlin")
    lengths = [
        (last - first + 1) // 3_600_000
        for first, last in (
            period_span(date(2026, month, day), Grouping.DAY, zone) for month, day in ((3, 29), (10, 25))
        )
    ]
    assert lengths == [23, 25]
    # In Havana the clocks are put on at midnight: the day begins at one o'clock.
    havana = period_span(date(2026, 3, 8), Grouping.DAY, ZoneInfo("America/Havana"))
    assert (havana[1] - havana[0] + 1) // 3_600_000 == 23
    first, last = period_span(date(2026, 11, 1), Grouping.MONTH, UTC)
    assert [first, last] == [1_793_491_200_000, 1_796_083_200_000 - 1]


LONG_HELD = ("BTCUSDT", True)


@pytest.mark.parametrize(
    ("held", "proven"), [({LONG_HELD: Decimal(1)}, True), ({LONG_HELD: Decimal(3)}, False), ({}, False)]
)
def test_what_the_exchange_says_is_held_proves_where_the_fills_begin(
    held: dict[tuple[str, bool], Decimal], proven: bool
) -> None:
    archive = Archive(None)
    rows = fills_of((1, "buy", "open", "2", "0"), (2, "buy", "close", "2", "5"), (3, "buy", "open", "1", "0"))
    archive.add(FuturesFill, rows)
    assert [trip.start_proven for trip in trips(archive)] == [False]
    late = START_MS + 3 * 60_000
    assert not archive.prove_starts(USDT, held, late), "a fill so near may not be in both readings"
    assert archive.prove_starts(USDT, held, late + 60_000) is proven
    assert [trip.start_proven for trip in trips(archive)] == [proven]
    # A fill from before the first one known takes the proof away.
    archive.add(FuturesFill, fills_of((0, "buy", "open", "4", "0")))
    assert not any(trip.start_proven for trip in trips(archive))


def test_a_leg_that_closed_what_it_held_before_has_no_proven_start() -> None:
    archive = Archive(None)
    rows = fills_of((1, "buy", "open", "2", "0"), (2, "buy", "close", "2", "5"), (3, "buy", "close", "3", "5"))
    archive.add(FuturesFill, rows)  # three were held before the first fill, and nothing is held now
    settle(archive)
    assert not archive.prove_starts(USDT, {}, START_MS + 10 * 60_000)
    assert [trip.start_proven for trip in trips(archive)] == [False]


def test_a_proof_that_the_fills_contradict_is_taken_away() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, fills_of((1, "buy", "open", "2", "0"), (2, "buy", "close", "2", "5")))
    settle(archive)
    assert archive.prove_starts(USDT, {}, START_MS + 10 * 60_000)
    archive.add(FuturesFill, fills_of((20, "buy", "close", "3", "5")))
    assert [trip.start_proven for trip in trips(archive)] == [True]
    assert archive.prove_starts(USDT, {}, START_MS + 30 * 60_000)
    assert [trip.start_proven for trip in trips(archive)] == [False]
    assert not archive.prove_starts(USDT, {}, START_MS + 40 * 60_000), "a leg is not taken up anew each time"


def test_in_one_way_mode_a_proven_start_tells_closes_without_profit() -> None:
    archive = Archive(None)
    rows = [
        ProductRow(USDT, fill(number, START_MS + number, side=side, tradeSide=f"{side}_single", posMode="one_way_mode"))
        for number, side in enumerate(("sell", "buy"))
    ]
    archive.add(FuturesFill, rows)
    assert total(archive).sums.trades == 0
    assert archive.prove_starts(USDT, {}, START_MS + 60_000)
    assert (total(archive).sums.trades, total(archive).sums.losses) == (1, 1)


def test_nothing_is_proven_over_a_gap() -> None:
    archive = Archive(None)
    rows = fills_of((1, "buy", "open", "1", "0"))
    archive.add(FuturesFill, rows, {USDT: [Gap(rows[0].record.trade_id)]})
    settle(archive)
    assert not archive.prove_starts(USDT, {LONG_HELD: Decimal(1)}, START_MS + 10_000_000)


def steps_to_book_ten(file: Path, kept_before: int) -> int:
    """Tens of steps that SQLite takes to book ten fills and to look for what is held, behind so many others."""
    with closing(Archive(file)) as archive:
        rows = fills_of(*((number, "buy", "open", "1", "0") for number in range(kept_before + 10)))
        archive.add(FuturesFill, rows[:kept_before])
        settle(archive)
        archive.add(FuturesFill, rows[kept_before:])
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        archive.connection.set_progress_handler(count, 10)
        settle(archive)
        archive.prove_starts(USDT, {}, START_MS)
        return steps


def test_a_fill_costs_the_same_behind_few_and_behind_many(tmp_path: Path) -> None:
    few, many = steps_to_book_ten(tmp_path / "few.sqlite", 100), steps_to_book_ten(tmp_path / "many.sqlite", 3_000)
    assert many <= few * 1.2


def test_a_leg_that_is_taken_up_anew_takes_little_memory_however_long_it_is() -> None:
    archive = Archive(None)
    rows = [
        row
        for number in range(0, 15 * ROWS_A_STEP, 30)  # each in a quarter-hour of its own
        for row in fills_of((number, "buy", "open", "1", "0"), (number + 15, "buy", "close", "1", "1"))
    ]
    archive.add(FuturesFill, rows)
    settle(archive)
    last_ms = unix_ms(rows[-1].record.c_time)
    tracemalloc.start()
    try:
        assert archive.prove_starts(USDT, {}, last_ms + 60_000)
        settle(archive)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 1_000_000
    assert total(archive).sums.trades == ROWS_A_STEP // 2

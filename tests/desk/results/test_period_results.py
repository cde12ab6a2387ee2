"""What a period brought in: equal to a second computation, in USDT where a coin's worth is known, over its days."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.desk.archive.test_ledger import NOW_MS, pages_of, settle
from tests.desk.fixtures.bill_rows import bill
from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.ledger_histories import ZONES, SummedAgain, made_history, summed_again
from tests.desk.fixtures.scripted_exchange import COIN, USDT
from tradetui.desk.archive.coverage import BillCoverage, Gap
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import CoinEquity, EquitySample
from tradetui.desk.archive.ledger.ledger import ROWS_A_STEP
from tradetui.desk.archive.ledger_queries import _groups_of, day_groups
from tradetui.desk.results.period_query import Period, PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import PeriodResults, read_period_results
from tradetui.desk.results.results_reader import ResultsReader
from tradetui.desk.results.sums import ResultLine, result_lines
from tradetui.desk.results.today import opening_by_bills, samples_of_day
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.results.periods import Grouping
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

USDC = ProductType.USDC_FUTURES
TODAY = date(2026, 11, 21)
NOON = round(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000
ALL_TYPES = tuple(ProductType)


def moment(day: int, hour: int = 12) -> int:
    """Unix ms of an hour of a day in November 2026."""
    return round(datetime(2026, 11, day, hour, tzinfo=UTC).timestamp() * 1000)


def closing(
    number: int, at_ms: int, profit: str, product_type: ProductType = USDT, **other: str
) -> ProductRow[FuturesFill]:
    """A closing fill at 100 with a fee of 0.06 USDT."""
    return ProductRow(product_type, fill(number, at_ms, tradeSide="close", profit=profit, **other))


def read(
    archive: Archive,
    choice: PeriodChoice = PeriodChoice.MONTH,
    *,
    product_types: tuple[ProductType, ...] = ALL_TYPES,
    symbols: tuple[str, ...] | None = None,
) -> PeriodResults:
    settle(archive)
    query = PeriodQuery(period_of(choice, NOON, UTC), NOON, product_types, symbols)
    return read_period_results(archive.connection, query)


def differences(line: ResultLine, again: SummedAgain) -> list[str]:
    """Figures that differ from what the raw rows come to; quotients are worked out to 28 digits."""
    pairs: dict[str, tuple[Decimal | int, Fraction | int]] = {
        "gross": (line.sums.gross, again.gross),
        "fees": (line.sums.fees, again.fees),
        "volume": (line.sums.volume, again.volume),
        "orders": (line.sums.trades, again.trades),
        "won": (line.sums.wins, again.wins),
        "lost": (line.sums.losses, again.losses),
        "won amount": (line.sums.won, again.won),
        "lost amount": (line.sums.lost, again.lost),
    }
    return [name for name, (shown, exact) in pairs.items() if abs(Fraction(shown) - exact) > Fraction(1, 10**15)]


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_sums_equal_the_second_computation(first: int) -> None:
    for seed in range(first, first + 10):
        chance = random.Random(seed)
        history = made_history(chance)
        archive = Archive(None)
        zones = chance.sample(ZONES, 2)
        for page in pages_of(history, chance):
            archive.add(FuturesFill, page)
            if chance.random() < 0.5:  # sums of days and months are kept, and made anew where a late fill changes them
                settle(archive)
                early = period_of(chance.choice(list(PeriodChoice)), NOW_MS, ZoneInfo(chance.choice(zones)))
                read_period_results(archive.connection, PeriodQuery(early, NOW_MS, ALL_TYPES))
        settle(archive)
        zone = chance.choice(zones)
        period = period_of(PeriodChoice.ALL, NOW_MS, ZoneInfo(zone))
        results = read_period_results(archive.connection, PeriodQuery(period, NOW_MS, ALL_TYPES))
        expected = summed_again(history, zone, Grouping.TOTAL)
        assert {
            line.coin: (Fraction(line.sums.gross), Fraction(line.sums.fees), line.sums.trades) for line in results.coins
        } == {coin: (sums.gross, sums.fees, sums.trades) for (_, coin), sums in expected.items()}, f"seed {seed}"
        for grouping, lines in (
            (Grouping.DAY, results.days),
            (Grouping.SYMBOL, results.symbols),
            (Grouping.TOTAL, (results.total,)),
        ):
            again = summed_again(history, zone, grouping, in_usdt=True)
            unexpected = {group for group, coin in again if coin == "USDT"} - {line.group for line in lines}
            assert not unexpected, f"seed {seed}, {grouping}"
            for line in lines:
                expected_sums = again.get((line.group, "USDT"), SummedAgain())
                assert differences(line, expected_sums) == [], f"seed {seed}, {grouping} {line.group}"
        others = {line.coin: Fraction(line.sums.fees) for line in results.other_coins}
        totals = summed_again(history, zone, Grouping.TOTAL, in_usdt=True)
        assert others == {coin: sums.fees for (_, coin), sums in totals.items() if coin != "USDT"}, f"seed {seed}"
        assert sum(line.sums.trades for line in results.symbols) == results.total.sums.trades, f"seed {seed}"
        archive.close()


def test_orders_of_coin_margined_contracts_count_at_the_prices_of_their_fills() -> None:
    archive = Archive(None)
    fee = {"feeDetail": [{"feeCoin": "BTC", "totalFee": "-0.0001"}]}
    for number, profit, price in ((1, "0.0101", "50000"), (2, "-0.0099", "40000"), (3, "0.0002", "10")):
        row = dict(fill(number, moment(20), tradeSide="close", profit=profit, symbol="BTCUSD", price=price).received)
        archive.add(FuturesFill, [ProductRow(COIN, FuturesFill.from_row(row | fee))])
    total = read(archive).total
    assert [total.sums.wins, total.sums.losses, total.sums.won, total.sums.lost] == [2, 1, Decimal("500.001"), -400]
    assert total.net == total.sums.won + total.sums.lost


def test_every_day_stands_in_its_period_with_those_that_came_to_nothing() -> None:
    archive = Archive(None)
    archive.add(
        FuturesFill, [closing(1, moment(10), "5"), closing(2, moment(13), "-2"), closing(3, moment(20), "0.06")]
    )
    results = read(archive)
    assert [line.day for line in results.days] == [date(2026, 11, day) for day in range(10, 22)]
    assert (results.green_days, results.red_days, results.flat_days) == (1, 1, 10)
    assert results.best_day is not None and results.best_day.net == Decimal("4.94")
    assert results.worst_day is not None and results.worst_day.group == "2026-11-13"
    assert (results.total.sums.wins, results.total.sums.losses, results.total.sums.trades) == (1, 1, 3)
    assert results.total.profit_factor == Decimal("4.94") / Decimal("2.06")
    assert results.total.average_order == (Decimal("4.94") - Decimal("2.06")) / 3
    assert [len(read(archive, choice).days) for choice in PeriodChoice] == [0, 2, 12, 12, 12]


def test_other_coins_count_in_usdt_only_where_their_worth_is_known() -> None:
    archive = Archive(None)
    archive.add(
        FuturesFill,
        [
            closing(1, moment(20), "10", quoteVolume="100"),
            ProductRow(
                USDT,
                FuturesFill.from_row(
                    dict(fill(2, moment(20)).received) | {"feeDetail": [{"feeCoin": "BGB", "totalFee": "-2"}]}
                ),
            ),
            closing(3, moment(20), "5", USDC, symbol="BTCPERP"),
            closing(4, moment(20), "0.001", COIN, symbol="BTCUSD", price="80000"),
        ],
    )
    results = read(archive)
    assert [(line.coin, line.net) for line in results.other_coins] == [("BGB", Decimal(-2))]
    assert results.total.net == Decimal("9.94") + 5 + 80 - Decimal("0.06") * 2, "the fee in USDT of BTCPERP and BTCUSD"
    assert results.total.is_converted
    account = CoinEquity("USDC", Decimal(1000), Decimal(999), Decimal(0))
    archive.add_equity(ALL_TYPES, EquitySample(moment(21, 11), Decimal(1000), Decimal(0), (account,)))
    results = read(archive)
    assert [line.coin for line in results.other_coins] == ["BGB"]
    by_symbol = {line.group: line for line in results.symbols}
    assert by_symbol["BTCPERP"].sums.gross == Decimal("4.995")
    assert by_symbol["BTCPERP"].is_converted and not by_symbol["BTCUSDT"].is_converted
    assert {line.coin: line.sums.gross for line in results.coins} == {
        "BGB": 0,
        "BTC": Decimal("0.001"),
        "USDC": 5,
        "USDT": 10,
    }


def test_a_gap_touches_the_days_it_meets_and_the_whole() -> None:
    archive = Archive(None)
    fills = [closing(1, moment(18), "1"), closing(2, moment(20), "1"), closing(3, moment(21, 6), "1")]
    archive.add(FuturesFill, fills, {USDT: [Gap(fills[1].record.trade_id, moment(19, 18))]})
    archive.note_read(USDT, NOON)
    results = read(archive, product_types=(USDT,))
    assert [(line.group[-2:], line.is_complete) for line in results.days] == [
        ("18", True),
        ("19", False),
        ("20", False),
        ("21", True),
    ]
    assert not results.total.is_complete
    assert [span.since for span in results.missing] == [moment(19, 18)]
    assert read(archive, PeriodChoice.TODAY, product_types=(USDT,)).total.is_complete


def test_a_product_type_whose_first_page_has_not_come_is_missing_as_a_whole() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [closing(1, moment(20), "1")])
    archive.note_read(USDT, NOON)
    results = read(archive, product_types=(USDT, COIN))
    assert [span.product_type for span in results.missing] == [COIN]
    assert not results.total.is_complete
    archive.note_read(COIN, NOON)
    assert read(archive, product_types=(USDT, COIN)).total.is_complete, "it has no fill"


def test_a_pegged_coin_counts_at_par_until_the_first_sample_tells_what_it_is_worth() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [closing(1, moment(20), "10"), closing(2, moment(20), "-5", USDC, symbol="BTCPERP")])
    for product_type in (USDT, USDC):
        archive.note_read(product_type, NOON)
    total = read(archive, product_types=(USDT, USDC)).total
    assert (total.sums.gross, total.is_converted) == (Decimal(5), True), "as under the fills"
    account = CoinEquity("USDC", Decimal(1000), Decimal(999), Decimal(0))
    archive.add_equity((USDT, USDC), EquitySample(moment(21, 11), Decimal(1000), Decimal(0), (account,)))
    total = read(archive, product_types=(USDT, USDC)).total
    assert (total.sums.gross, total.is_converted) == (Decimal("5.005"), True)


def test_chosen_symbols_have_no_equity() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [closing(1, moment(20), "1"), closing(2, moment(20), "7", symbol="ETHUSDT")])
    archive.add_equity(ALL_TYPES, EquitySample(moment(21, 11), Decimal(1000), Decimal(0)))
    results = read(archive, symbols=("ETHUSDT",))
    assert [line.group for line in results.symbols] == ["ETHUSDT"]
    assert results.equity.sampled_from is None
    assert read(archive).equity.sampled_from == moment(21, 11)


async def test_the_reader_books_what_waits_first_and_reads_the_newest_trips() -> None:
    archive = Archive(None)
    rows = []
    for number in range(3):
        rows.append(ProductRow(USDT, fill(2 * number, moment(20) + number * HOUR)))
        rows.append(closing(2 * number + 1, moment(20) + number * HOUR + 1, str(number)))
    archive.add(FuturesFill, rows)
    reader = ResultsReader(archive, InlineDisk())
    query = PeriodQuery(Period(None, TODAY), NOON, (USDT,))
    assert (await reader.period(query)).total.sums.gross == 3
    assert [line.trip.gross for line in await reader.trips(query, 2)] == [2, 1]
    assert len(await reader.trips(query, 9)) == 3


async def test_the_reader_says_how_many_fills_are_still_to_be_booked(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite")
    fills_to_go: list[int] = []
    count = 2 * ROWS_A_STEP + 500
    archive.add(FuturesFill, [ProductRow(USDT, fill(number, moment(20) + number)) for number in range(count)])
    reader = ResultsReader(archive, InlineDisk())
    results = await reader.period(PeriodQuery(Period(None, TODAY), NOON, (USDT,)), fills_to_go.append)
    assert fills_to_go == [ROWS_A_STEP + 500, 500]
    assert results.total.sums.volume == 100 * count


def test_funding_counts_where_bills_are_read_in_usdt_at_the_price_of_the_time() -> None:
    archive = Archive(None)
    archive.add(
        FuturesFill, [closing(1, moment(20), "10"), closing(2, moment(20), "0", COIN, symbol="BTCUSD", price="80000")]
    )
    for product_type in (USDT, COIN):
        archive.note_read(product_type, NOON)
    assert read(archive, product_types=(USDT, COIN)).total.funding is None
    coverage = BillCoverage(moment(1), NOON)
    funding = [
        bill(1, moment(20, 16), "contract_settle_fee", "-1.5", symbol="BTCUSDT"),
        bill(2, moment(21, 8), "contract_settle_fee", "2", symbol="BTCUSDT"),
    ]
    archive.add_bills(USDT, funding, coverage)
    results = read(archive, product_types=(USDT, COIN))
    assert (results.total.funding, results.total.net) == (None, Decimal("9.88")), "bills of the coins are not read"
    assert {line.group: line.funding for line in results.symbols} == {"BTCUSDT": Decimal("0.5"), "BTCUSD": None}
    in_coin = bill(3, moment(20, 16), "contract_settle_fee", "-0.0001", symbol="BTCUSD", coin="BTC")
    archive.add_bills(COIN, [in_coin], coverage)
    results = read(archive, product_types=(USDT, COIN))
    assert (results.total.funding, results.total.net) == (Decimal("-7.5"), Decimal("2.38"))
    assert [(line.group, line.funding) for line in results.days] == [
        ("2026-11-20", Decimal("-9.5")),
        ("2026-11-21", Decimal(2)),
    ]
    assert {line.coin: line.funding for line in results.coins} == {
        "USDT": Decimal("0.5"),
        "BTC": Decimal("-0.0001"),
    }


def test_equity_is_a_curve_without_deposits_with_its_gaps() -> None:
    archive = Archive(None)
    begin = moment(20, 0)
    for minute, worth in ((0, 1000), (1, 1100), (2, 2090), (9, 2310), (10, 2200)):
        archive.add_equity((USDT,), EquitySample(begin + minute * 60_000, Decimal(worth), Decimal(worth - 1000)))
    archive.add_equity((USDT,), EquitySample(NOON - 60_000, Decimal(2420), Decimal(100)))
    period = Period(date(2026, 11, 20), TODAY)
    query = PeriodQuery(period, NOON, (USDT,))
    deposit = bill(1, begin + 90_000, "trans_from_exchange", "1000")
    archive.add_bills(USDT, [deposit], BillCoverage(moment(1), NOON))
    results = read_period_results(archive.connection, query)
    equity = results.equity
    assert [[point.equity for point in stretch] for stretch in equity.curve] == [
        [1000, 1100, 1090],
        [1310, 1200],
        [1420],
    ]
    growth = Decimal("1.1") * 2090 / 2100
    assert equity.time_weighted == growth * 2420 / 2090 - 1
    assert results.result_part == equity.time_weighted
    assert equity.drawdown is not None
    assert [equity.drawdown.amount, equity.drawdown.trough_time] == [-110, begin + 10 * 60_000]
    assert [equity.transferred, equity.open_change, results.result] == [1000, 100, 100]
    earlier = PeriodQuery(Period(date(2026, 11, 19), TODAY), NOON, (USDT,))
    results = read_period_results(archive.connection, earlier)
    assert (results.result, results.result_part, results.equity.sampled_from) == (None, None, begin)
    assert results.equity.time_weighted == equity.time_weighted, "since sampling began"


async def steps_to_read(trips_before: int) -> dict[str, int]:
    """Hundreds of steps that SQLite takes to read today's results and its trips, behind so many others of October.

    Of one of the two product types there never was a fill.
    """
    archive, types = Archive(None), (USDT, COIN)
    opened = [moment(1) - (trips_before - number) * 300_000 for number in range(trips_before)]
    opened += [moment(21, hour) for hour in (2, 4, 6)]
    rows, bills = [], []
    for number, opened_ms in enumerate(opened):
        rows += [ProductRow(USDT, fill(2 * number, opened_ms)), closing(2 * number + 1, opened_ms + 60_000, "1")]
        bills += [bill(2 * number, opened_ms, "open_long", "0"), bill(2 * number + 1, opened_ms + 60_000, "sell", "1")]
    bills.append(bill(10**6, moment(21, 3), "contract_settle_fee", "1", symbol="BTCUSDT"))
    archive.add(FuturesFill, rows)
    for product_type in types:
        of_type = bills if product_type is USDT else []
        archive.add_bills(product_type, of_type, BillCoverage(opened[0] - 1, NOON))
        archive.note_read(product_type, NOON)
    settle(archive)
    archive.prove_starts(USDT, {}, NOON)
    archive.add_equity(types, EquitySample(moment(21, 0), Decimal(1000), Decimal(0)))
    query = PeriodQuery(Period(TODAY, TODAY), NOON, types)
    reader, steps = ResultsReader(archive, InlineDisk()), 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    taken = {}
    await reader.trips(query, 5)
    archive.connection.set_progress_handler(count, 100)
    for name, reading in (("period", reader.period(query)), ("trips", reader.trips(query, 5))):
        steps = 0
        assert await reading
        taken[name] = steps
    steps = 0
    of_day = samples_of_day(archive.connection, types, UTC, NOON)
    assert of_day is not None and opening_by_bills(archive.connection, types, of_day, NOON) is not None
    return taken | {"day": steps}


async def test_reading_costs_the_same_behind_few_and_behind_many() -> None:
    few, many = await steps_to_read(100), await steps_to_read(1_500)
    assert all(many[name] <= few[name] * 1.2 + 2 for name in few), f"{few}, {many}"


def test_the_screen_and_the_command_show_the_same_lines() -> None:
    archive = Archive(None)
    fills = [
        closing(1, moment(10), "5"),
        closing(2, moment(20), "-2"),
        closing(3, moment(20), "1", USDC, symbol="XRPPERP"),
    ]
    archive.add(FuturesFill, fills, {USDT: [Gap(fills[1].record.row_id, moment(19))]})
    for product_type in ALL_TYPES:
        archive.note_read(product_type, NOON)
        archive.add_bills(product_type, [], BillCoverage(NOON - 40 * 24 * HOUR, NOON))
    coins = [replace(line, symbols=()) for line in read(archive).coins]
    ledger = PeriodQuery(period_of(PeriodChoice.MONTH, NOON, UTC), NOON, ALL_TYPES).ledger
    assert coins == result_lines(archive.connection, replace(ledger, grouping=Grouping.COIN))
    assert [(line.coin, line.net, line.is_complete) for line in coins] == [
        ("USDC", 1, True),
        ("USDT", Decimal("2.82"), False),
    ]
    by_day: defaultdict[str, Decimal] = defaultdict(Decimal)
    for line in result_lines(archive.connection, ledger):
        by_day[line.group] += line.net  # a USDC counts at par
    assert {line.group: line.net for line in read(archive).days if line.sums.volume} == by_day


def test_of_the_kept_sums_those_of_another_zone_are_not_read() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [closing(number, moment(number), str(number)) for number in range(1, 21)])
    settle(archive)
    query = PeriodQuery(period_of(PeriodChoice.WEEK, NOON, UTC), NOON, (USDT,)).ledger
    for zone in ("Asia/Kathmandu", "UTC"):
        assert list(day_groups(archive.connection, replace(query, zone=ZoneInfo(zone), since=None)))
    _groups_of.cache_clear()
    assert list(day_groups(archive.connection, query))
    assert _groups_of.cache_info().misses == len({15, 16, 17, 18, 19, 20})

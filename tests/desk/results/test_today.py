"""Today's result: equity since the day began without transfers, by the bills or by what the wallets show."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.desk.fixtures.bill_rows import bill
from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.coverage import BillCoverage
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import CoinEquity, EquitySample
from tradetui.desk.results.period_query import PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import read_period_results
from tradetui.desk.results.today import DayOpening, TodayTracker, opening_by_fills, samples_of_day
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.storage.disk_thread import Disk, InlineDisk
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesBill

MIDNIGHT = round(datetime(2026, 11, 21, tzinfo=UTC).timestamp() * 1000)
MINUTE = 60_000
HOUR = 60 * MINUTE
NOON = MIDNIGHT + 12 * HOUR


def sampled(archive: Archive, time: int, equity: str, unrealised: str = "0") -> None:
    """Keep a sample of an account of one coin."""
    worth, profit = Decimal(equity), Decimal(unrealised)
    account = CoinEquity("USDT", worth, worth, profit)
    archive.add_equity((USDT,), EquitySample(time, worth, profit, (account,)))


def with_bills(archive: Archive, *bills: FuturesBill, until: int = NOON) -> Archive:
    archive.add_bills(USDT, bills, BillCoverage(MIDNIGHT - 90 * 24 * HOUR, until))
    return archive


def opening(archive: Archive, now_ms: int = NOON, zone: str = "UTC", disk: Disk | None = None) -> DayOpening | None:
    async def read() -> DayOpening | None:
        tracker = TodayTracker(archive, disk or InlineDisk(), (USDT,))
        tracker.accounts_changed(now_ms, ZoneInfo(zone))
        await asyncio.sleep(0)
        return tracker.opening

    return asyncio.run(read())


def test_it_is_the_move_of_equity_since_the_day_began() -> None:
    archive = with_bills(Archive(None))
    sampled(archive, MIDNIGHT + 20_000, "1000", "-50")
    sampled(archive, NOON - MINUTE, "1100", "20")
    day = opening(archive)
    assert day is not None
    result = day.result(Decimal(1200))
    assert [result.amount, result.part, result.is_complete] == [200, Decimal("0.2"), True]
    assert day.result(Decimal(900)).amount == -100


def test_transfers_are_taken_out_and_the_part_is_time_weighted() -> None:
    deposit = bill(1, MIDNIGHT + 6 * HOUR, "trans_from_exchange", "1000")
    withdrawal = bill(2, MIDNIGHT + 8 * HOUR, "trans_to_exchange", "-500")
    archive = with_bills(Archive(None), deposit, withdrawal, until=NOON - 30_000)
    for time, equity in ((-30_000, "1000"), (5 * HOUR, "1100"), (7 * HOUR, "2100"), (9 * HOUR, "1600")):
        sampled(archive, MIDNIGHT + time, equity)
    day = opening(archive)
    assert day is not None
    result = day.result(Decimal(800))
    assert [result.amount, day.moved_in] == [-700, 500]
    assert result.part == Decimal("1.1") / 2 - 1


def test_it_is_split_into_net_and_the_change_of_what_is_open() -> None:
    bills = (
        bill(1, MIDNIGHT + HOUR, "close_long", "30.06", fee="-0.06", symbol="BTCUSDT", balance="1080"),
        bill(2, MIDNIGHT + 8 * HOUR, "contract_settle_fee", "-5", symbol="BTCUSDT", balance="1075"),
        bill(3, MIDNIGHT + 9 * HOUR, "trans_to_exchange", "-75", balance="1000"),
    )
    archive = with_bills(Archive(None), *bills)
    archive.note_read(USDT, NOON)
    closing = fill(1, MIDNIGHT + HOUR, tradeSide="close", profit="30.06")
    archive.add(FuturesFill, [ProductRow(USDT, closing)])
    while archive.advance_ledger():
        pass
    sampled(archive, MIDNIGHT, "1000", "-50")
    sampled(archive, NOON, "1020", "20")
    day = opening(archive)
    assert day is not None
    query = PeriodQuery(period_of(PeriodChoice.TODAY, NOON, UTC), NOON, (USDT,))
    shown = read_period_results(archive.connection, query)
    assert [shown.total.net, shown.equity.open_change, shown.unexplained] == [25, 70, 0]
    assert day.result(Decimal(1020)).amount == shown.result == 95


@pytest.mark.parametrize(
    ("minutes", "since", "amount"),
    [(-3, NOON - MINUTE, 100), (-2, None, 200), (2, None, 200), (3, MIDNIGHT + 3 * MINUTE, 200)],
)
def test_without_a_sample_near_the_days_start_it_is_what_came_since_the_first_of_the_day(
    minutes: int, since: int | None, amount: int
) -> None:
    archive = with_bills(Archive(None))
    assert opening(archive) is None
    sampled(archive, MIDNIGHT + minutes * MINUTE, "1000")
    sampled(archive, NOON - MINUTE, "1100")
    day = opening(archive)
    assert day is not None
    result = day.result(Decimal(1200))
    assert [result.since, result.amount] == [since, amount]
    assert day.samples.is_whole_day is (since is None)


def test_the_day_begins_in_the_zone() -> None:
    archive = with_bills(Archive(None))
    sampled(archive, MIDNIGHT, "1000")
    sampled(archive, MIDNIGHT - HOUR, "700")
    day = opening(archive, zone="Europe/Berlin")
    assert day is not None
    assert day.result(Decimal(1000)).amount == 300


def test_without_bills_what_the_wallets_moved_beyond_fills_is_taken_out() -> None:
    archive = Archive(None)
    archive.note_read(USDT, NOON)
    closing = fill(1, MIDNIGHT + HOUR, tradeSide="close", profit="100.06")
    archive.add(FuturesFill, [ProductRow(USDT, closing)])
    sampled(archive, MIDNIGHT, "1000", "10")
    sampled(archive, NOON - 20_000, "3105", "15")  # closed for +100, a deposit of 2000
    day = opening(archive)
    assert day is not None
    result = day.result(Decimal(3205))
    assert [result.amount, result.is_complete] == [205, False]
    assert [day.moved_in, day.confirmed.time] == [2000, NOON - 20_000]
    without = fill(2, MIDNIGHT + HOUR, tradeSide="close", feeDetail=None)
    archive.add(FuturesFill, [ProductRow(USDT, without)])
    assert opening(archive) is None, "its fee would be taken for money moved out"
    archive.add(FuturesFill, [ProductRow(USDT, fill(2, MIDNIGHT + HOUR, tradeSide="close"))])
    assert opening(archive) is not None
    archive.note_read(USDT, NOON - HOUR)
    assert opening(archive) is None, "the newest fills are not read: nobody knows what the wallets should be"


def test_a_fill_that_comes_in_while_the_day_is_worked_out_is_not_taken_for_a_transfer(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite")
    archive.note_read(USDT, NOON)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1, MIDNIGHT + HOUR))])
    sampled(archive, MIDNIGHT, "1000")
    sampled(archive, NOON - 20_000, "1099.94")  # the fee of the first fill, and +100 by the second
    closing = fill(2, MIDNIGHT + 2 * HOUR, tradeSide="close", profit="100.06")

    class LateFillDisk(InlineDisk):
        async def run(self, work, *args, **kwargs):  # type: ignore[no-untyped-def]
            if work is opening_by_fills:
                archive.add(FuturesFill, [ProductRow(USDT, closing)])
            return work(*args, **kwargs)

    day = opening(archive, disk=LateFillDisk())
    assert day is not None
    assert day.moved_in == 0


def test_without_bills_a_sample_that_is_newer_than_the_fills_says_nothing_yet() -> None:
    archive = Archive(None)
    archive.note_read(USDT, NOON)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1, MIDNIGHT - HOUR))])
    sampled(archive, MIDNIGHT, "1000")
    sampled(archive, NOON - MINUTE, "1000")
    sampled(archive, NOON - 5_000, "900")  # a fill of now that is not read yet
    day = opening(archive)
    assert day is not None
    assert [day.moved_in, day.confirmed.time] == [0, NOON - MINUTE]


def test_a_unified_account_without_bills_has_no_result_by_its_first_sample_alone() -> None:
    archive, account = Archive(None), CoinEquity("USDT", Decimal(1000), Decimal(1000), Decimal(0))
    archive.note_read(USDT, NOON)
    first = EquitySample(NOON - 2 * MINUTE, Decimal(1000), Decimal(0), (account,), is_unified=True)
    archive.add_equity((USDT,), first)
    assert opening(archive) is None, "no transfer is known"
    archive.add_equity((USDT,), first._replace(time=NOON - 20_000))
    assert opening(archive) is not None


def test_what_may_have_been_withdrawn_alerts_nobody_until_it_is_known() -> None:
    archive = with_bills(Archive(None), until=NOON - 30_000)
    for time, equity, unrealised in ((MIDNIGHT, "1000", "0"), (NOON - MINUTE, "1100", "50"), (NOON, "600", "50")):
        sampled(archive, time, equity, unrealised)
    day = opening(archive)
    assert day is not None
    assert [day.result(Decimal(600)).amount, day.confirmed.equity] == [-400, 1100]
    assert day.alerting_result(Decimal(600), Decimal(50)).amount == 100, "500 left the wallet, by whatever way"
    assert day.alerting_result(Decimal(200), Decimal(-350)).amount == -300, "the market took 400 of it"
    assert day.alerting_result(Decimal(700), Decimal(-350)).amount == -300, "and no wallet moved"
    assert day.alerting_result(Decimal(600), None).amount == 100, "nothing says what the market took"
    with_bills(archive, bill(1, NOON - 20_000, "trans_to_exchange", "-500"), until=NOON)
    day = opening(archive)
    assert day is not None
    assert [day.alerting_result(Decimal(600), Decimal(50)).amount, day.moved_in] == [100, -500]


async def test_it_is_worked_out_once_a_minute_and_anew_for_another_day_or_zone() -> None:
    archive = with_bills(Archive(None), until=NOON + 48 * HOUR)
    disk = CountingDisk()
    for hour in (-1, 0, 24):
        sampled(archive, MIDNIGHT + hour * HOUR, str(1000 + hour))
    tracker, zone, berlin = TodayTracker(archive, disk, (USDT,)), ZoneInfo("UTC"), ZoneInfo("Europe/Berlin")

    async def opening_at(now_ms: int, zone: ZoneInfo) -> Decimal | None:
        tracker.accounts_changed(now_ms, zone)
        await asyncio.sleep(0)
        return None if tracker.opening is None else tracker.opening.samples.start.equity

    for seconds in (1, 20, 50):
        assert await opening_at(NOON + seconds * 1000, zone) == 1000
    assert disk.count == 1
    assert await opening_at(NOON + 70_000, zone) == 1000
    assert disk.count == 2
    assert await opening_at(NOON + 71_000, berlin) == 999
    assert await opening_at(NOON + 24 * HOUR, zone) == 1024
    assert await opening_at(NOON + 24 * HOUR, berlin) == 1024
    assert tracker.opening is not None and not tracker.opening.samples.is_whole_day
    await tracker.stop()


async def test_a_day_without_a_sample_begins_with_the_next_reading_of_the_accounts_not_with_the_next_minute() -> None:
    archive = with_bills(Archive(None), until=NOON + HOUR)
    tracker, zone = TodayTracker(archive, CountingDisk(), (USDT,)), ZoneInfo("UTC")
    tracker.accounts_changed(NOON + 1000, zone)
    await asyncio.sleep(0)
    assert tracker.opening is None
    assert tracker.unknown_because == "no equity sample yet"
    sampled(archive, NOON + 2000, "1000")
    tracker.accounts_changed(NOON + 3000, zone)
    await asyncio.sleep(0)
    assert tracker.opening is not None
    await tracker.stop()


async def test_why_there_is_no_opening_is_known() -> None:
    archive, zone = Archive(None), ZoneInfo("UTC")
    archive.note_read(USDT, NOON - HOUR)
    for time in (MIDNIGHT, NOON - MINUTE):
        sampled(archive, time, "1000")
    tracker = TodayTracker(archive, InlineDisk(), (USDT,))
    tracker.accounts_changed(NOON, zone)
    await asyncio.sleep(0)
    assert (tracker.opening, tracker.unknown_because) == (None, "transfers are not known")
    await tracker.stop()


async def test_sums_of_the_days_before_are_kept_once_a_day() -> None:
    archive = with_bills(Archive(None))
    rows = [ProductRow(USDT, fill(number, MIDNIGHT - number * 20 * 24 * HOUR)) for number in range(4)]
    archive.add(FuturesFill, rows)
    while archive.advance_ledger():
        pass
    tracker, zone = TodayTracker(archive, InlineDisk(), (USDT,)), ZoneInfo("America/New_York")

    async def kept_days(now_ms: int) -> int:
        tracker.accounts_changed(now_ms, zone)
        await asyncio.sleep(0)
        days: int = archive.connection.execute("SELECT count(*) FROM ledger_span").fetchone()[0]
        return days

    days_before = (date(2026, 11, 21) - date(2026, 9, 21)).days
    assert await kept_days(NOON) == days_before
    archive.add(FuturesFill, [ProductRow(USDT, fill(9, MIDNIGHT - 30 * 24 * HOUR))])
    while archive.advance_ledger():
        pass
    assert await kept_days(NOON + MINUTE) == days_before - 2, "the two days of that zone that its day of UTC meets"
    assert await kept_days(NOON + 24 * HOUR) == days_before, "the day that is over now had no result"
    await tracker.stop()


class CountingDisk(InlineDisk):
    """Runs work at once and counts how often the opening is read."""

    def __init__(self) -> None:
        self.count = 0

    async def run(self, work, *args, **kwargs):  # type: ignore[no-untyped-def]
        self.count += work is samples_of_day
        return work(*args, **kwargs)

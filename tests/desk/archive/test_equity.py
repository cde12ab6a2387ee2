"""Equity: one sample a minute, thinned with age, and one only where every product type has answered."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from pathlib import Path

from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, THINNED_EVERY_MS, EquitySample, EquitySeries, samples
from tradetui.desk.results.equity_sampler import EquitySampler
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.models.futures_accounts import FuturesAccount

BOTH = (USDT, COIN)


def account(equity: str) -> FuturesAccount:
    return FuturesAccount.from_row(
        {"marginCoin": "USDT", "accountEquity": equity, "usdtEquity": equity, "unrealizedPL": "-1"}
    )


async def test_a_minute_has_one_sample_whoever_takes_it() -> None:
    archive = Archive(None)
    first, second = EquitySampler(BOTH, InlineDisk()), EquitySampler(BOTH[::-1], InlineDisk())
    start = NOW_MS // SAMPLED_EVERY_MS * SAMPLED_EVERY_MS
    await first.take([account("1")], start - SAMPLED_EVERY_MS)
    await first.take([account("2")], start - SAMPLED_EVERY_MS + 1)
    for sampler in (first, second):
        await sampler.attach(archive)
    for second_of_hour in range(0, 180, 20):
        for sampler in (first, second):
            await sampler.take([account(str(second_of_hour))], start + second_of_hour * 1000)
    kept = list(samples(archive.connection, BOTH, 0, NOW_MS * 2))
    assert [(sample.time - start, sample.equity) for sample in kept] == [
        (1 - SAMPLED_EVERY_MS, Decimal(2)),
        (0, Decimal(0)),
        (60_000, Decimal(60)),
        (120_000, Decimal(120)),
    ]
    assert list(samples(archive.connection, (USDT,), 0, NOW_MS * 2)) == []
    await first.take([], start + 10 * SAMPLED_EVERY_MS)
    assert len(list(samples(archive.connection, BOTH, 0, NOW_MS * 2))) == 4, "no account, no sample"


def test_samples_are_thinned_with_age_to_the_last_of_an_hour_and_of_a_day() -> None:
    archive = Archive(None)
    now = NOW_MS // DAY_MS * DAY_MS
    begin = now - 100 * DAY_MS
    for time in range(begin, now + 1, 20 * SAMPLED_EVERY_MS):
        archive.add_equity(BOTH, EquitySample(time, Decimal(time), None))
    times = [sample.time for sample in samples(archive.connection, BOTH, 0, now)]
    ages = [now - time for time in times]
    assert sum(age > 90 * DAY_MS for age in ages) == 10
    assert sum(7 * DAY_MS < age <= 90 * DAY_MS for age in ages) == 83 * 24
    assert sum(age <= 7 * DAY_MS for age in ages) == 7 * 72 + 1
    hours = [time for time in times if 7 * DAY_MS < now - time <= 90 * DAY_MS]
    assert all(time % THINNED_EVERY_MS == 40 * SAMPLED_EVERY_MS for time in hours)


def series_of(archive: Archive, series: EquitySeries | None = None) -> list[tuple[int, Decimal]]:
    """What a series holds once it is brought forward; one that reads the archive for the first time by default."""
    series = series or EquitySeries(archive.connection, BOTH)
    sampled = series.read(0, 2**62)
    assert sampled.values == [float(equity) for equity in sampled.equities]
    return list(zip(sampled.times, map(Decimal, sampled.equities), strict=True))


def test_a_series_that_is_brought_forward_holds_what_one_holds_that_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    with closing(Archive(file)) as archive, closing(Archive(file)) as other_session:
        begin = NOW_MS // DAY_MS * DAY_MS
        series = EquitySeries(archive.connection, BOTH)
        for number in range(8 * 24 * 2):
            writer = other_session if number % 100 == 0 else archive
            writer.add_equity(BOTH, EquitySample(begin + number * 30 * SAMPLED_EVERY_MS, Decimal(number), None))
            if number % 7 == 0:
                assert series_of(archive, series) == series_of(archive)
        held = series_of(archive, series)
        assert held == series_of(archive)
        assert len(held) < 8 * 24 * 2, "what is older than a week was thinned"

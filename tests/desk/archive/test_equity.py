"""Equity: samples are thinned with age, and a series of them is kept in memory."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from pathlib import Path

from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, THINNED_EVERY_MS, EquitySample, EquitySeries, samples
from tradetui.wire.exchange_time import DAY_MS

BOTH = (USDT, COIN)


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
    assert sampled.values == [max(float(equity), 0.0) for equity in sampled.equities]
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


def test_equity_below_zero_counts_as_none_in_the_figures_to_compute_with_alone() -> None:
    with closing(Archive(None)) as archive:
        for number, equity in enumerate(("2.5", "-1.5", "0")):
            archive.add_equity(BOTH, EquitySample(NOW_MS + number * SAMPLED_EVERY_MS, Decimal(equity), None))
        sampled = EquitySeries(archive.connection, BOTH).read(0, 2**62)
    assert sampled.equities == ["2.5", "-1.5", "0"]
    assert sampled.values == [2.5, 0.0, 0.0]

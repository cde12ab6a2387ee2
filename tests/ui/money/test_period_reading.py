"""Which period is looked at: by its name, or dates of one's own and the way back from them."""

from __future__ import annotations

from datetime import UTC

from tradetui.desk.results.period_query import PeriodChoice
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.ui.money.result_panel import PeriodReading

NOW_MS = 1_795_276_800_000
DATES = DateFilter(since=NOW_MS - 86_400_000)


def test_own_dates_give_way_to_the_period_that_was_shown_before() -> None:
    reading = PeriodReading(UTC, NOW_MS)
    reading.choose(PeriodChoice.WEEK)
    week = reading.period
    reading.choose_dates(DATES)
    assert reading.choice is None
    assert reading.period != week
    reading.choose_dates(DateFilter(since=NOW_MS))
    reading.choose_dates(None)
    assert reading.choice is PeriodChoice.WEEK
    assert reading.period == week


def test_from_own_dates_the_next_longer_period_is_that_of_the_one_before() -> None:
    reading = PeriodReading(UTC, NOW_MS)
    reading.choose(PeriodChoice.QUARTER)
    reading.choose_dates(DATES)
    assert reading.step(1)
    assert reading.choice is PeriodChoice.ALL

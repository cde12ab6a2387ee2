"""Moments as text: one way each, and never without what tells them from another day's or year's."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

import tradetui
from tradetui.desk.tables.time_format import (
    date_text,
    exact_moment_text,
    moment_text,
    short_moment_text,
    with_zoned_times,
)

PACKAGE = Path(tradetui.__file__).parent
TODAY = date(2026, 11, 21)
MOMENT = datetime(2026, 11, 21, 14, 3, 22, 120_000, UTC)
EAST = timezone(timedelta(hours=12))
DAY_AND_MONTH = re.compile(r"%b|%m-%d|%d\.%m|\.day\}")
WRITES_DAYS = {
    "desk/tables/time_format.py",
    "ui/money/plot.py",  # ticks, which leave out what the tick before says
    "wire/requests/request.py",  # as a form takes it
    "commands/watch.py",  # lines for programs
    "commands/show/show_results.py",  # cells for programs
    "commands/process/log_file.py",
}
"""Files that write a day by themselves, and why."""


@pytest.mark.parametrize(
    ("moment", "zone", "short", "whole", "narrow"),
    [
        (MOMENT, UTC, "14:03", "14:03:22", "14:03"),
        (MOMENT, EAST, "22 Nov 02:03", "22 Nov 02:03:22", "22 Nov"),
        (MOMENT - timedelta(days=1), UTC, "20 Nov 14:03", "20 Nov 14:03:22", "20 Nov"),
        (MOMENT - timedelta(days=365), UTC, "21 Nov 2025 14:03", "21 Nov 2025 14:03:22", "Nov'25"),
    ],
)
def test_a_moment_says_its_day_unless_it_is_today_and_its_year_unless_it_is_this_one(
    moment: datetime, zone: timezone, short: str, whole: str, narrow: str
) -> None:
    assert moment_text(moment, zone, TODAY) == short
    assert moment_text(moment, zone, TODAY, seconds=True) == whole
    assert narrow == short_moment_text(moment, zone, TODAY)


def test_where_nobody_knows_today_the_year_is_said() -> None:
    assert date_text(TODAY, None) == "21 Nov 2026"
    assert moment_text(MOMENT, UTC, None) == "21 Nov 2026 14:03"


def test_what_must_lose_nothing_has_its_date_in_numbers_and_its_milliseconds() -> None:
    assert exact_moment_text(MOMENT, EAST) == f"2026-11-22 02:03:22.120 {EAST.tzname(None)}"


def test_times_of_a_refusal_are_named_in_the_zone_of_who_reads_it() -> None:
    refusal = "not after endTime; given: 2026-11-21 14:03:22 UTC to 2026-11-20 00:00:00 UTC. Exchange the two."
    east = timezone(timedelta(hours=12), "NZST")
    assert with_zoned_times(refusal, east) == (
        "not after endTime; given: 2026-11-22 02:03:22 NZST to 2026-11-20 12:00:00 NZST. Exchange the two."
    )
    assert with_zoned_times(refusal, UTC) == refusal
    for typed in ("2026-99-99 00:00:00 UTC", "9999-12-31 23:59:59 UTC"):
        assert with_zoned_times(f"must be a symbol; given: {typed}.", east) == f"must be a symbol; given: {typed}."


@pytest.mark.parametrize("typed", ["2026-11-31 10:00:00 UTC", "2026-02-02 25:61:00 UTC", "9999-12-31 23:59:59 UTC"])
def test_what_was_typed_and_is_no_time_is_quoted_as_it_is(typed: str) -> None:
    refusal = f"From: must be a day, a time, or a span; given: {typed}. For example today."
    assert with_zoned_times(refusal, EAST) == refusal


def test_days_are_written_in_one_place() -> None:
    writing = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if "sandbox" not in file.parts and DAY_AND_MONTH.search(file.read_text(encoding="utf-8"))
    }
    assert writing == WRITES_DAYS

"""The calendar of results: days, weeks and months of a time zone, made of quarter-hours of UTC.

Results are kept by quarter-hour, because in every zone a day begins at one; a period sums its quarter-hours.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import lru_cache
from typing import Final

from tradetui.trading.results.booking import QUARTER_MS
from tradetui.wire.exchange_time import unix_ms, utc_moment


class Grouping(StrEnum):
    TOTAL = "total"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SYMBOL = "symbol"
    COIN = "coin"


PERIODS: Final = frozenset({Grouping.DAY, Grouping.WEEK, Grouping.MONTH})
"""The groupings whose groups are periods of time."""


def quarter_of(moment_ms: int) -> int:
    """Return the number of the quarter-hour since 1970 that contains a time (Unix ms)."""
    return moment_ms // QUARTER_MS


def cut_by_quarters(since: int, until: int) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    """Split a period (Unix ms, both included) that begins or ends within a quarter-hour.

    Returns its first whole quarter-hour, the one after its last, and the partial ends (Unix ms, both included).
    """
    first, beyond = -(-since // QUARTER_MS), (until + 1) // QUARTER_MS
    # A period within one quarter-hour has no second end.
    ends = ((since, first * QUARTER_MS - 1), (beyond * QUARTER_MS, until)) if first <= beyond else ((since, until),)
    return first, beyond, tuple(span for span in ends if span[0] <= span[1])


def day_at(moment_ms: int, zone: tzinfo) -> date:
    """Return the calendar day of a time (Unix ms) in a zone."""
    return utc_moment(moment_ms).astimezone(zone).date()


def first_day(day: date, grouping: Grouping) -> date:
    """Return the first day of the period around a day: the day, its week's Monday, or its month's first."""
    if grouping is Grouping.WEEK:
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if grouping is Grouping.MONTH else day


def month_of(day: date, by: int = 0) -> date:
    """Return the first day of a day's month, or of the month `by` later, within the calendar's years."""
    months = max(12, min(9999 * 12 + 11, day.year * 12 + day.month - 1 + by))
    return date(months // 12, months % 12 + 1, 1)


def period_name(day: date, grouping: Grouping) -> str:
    """Name a period by its first day: 2026-11-21, a week by its Monday, a month as 2026-11."""
    return f"{day:%Y-%m}" if grouping is Grouping.MONTH else day.isoformat()


def period_span(day: date, grouping: Grouping, zone: tzinfo) -> tuple[int, int]:
    """Return the first and last millisecond of the period that begins with a day; a day has 23 to 25 hours."""
    days = {Grouping.WEEK: 7, Grouping.MONTH: 32}.get(grouping, 1)
    end = first_day(day + timedelta(days=days), grouping) if grouping is Grouping.MONTH else day + timedelta(days=days)
    return day_start_ms(day, zone), day_start_ms(end, zone) - 1


@lru_cache(maxsize=4096)
def day_start_ms(day: date, zone: tzinfo) -> int:
    """Return the time (Unix ms) at which a day begins in a zone: the first with its date."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    quarter = quarter_of(unix_ms(midnight))
    # If clocks are put forward at midnight, that hour is missing; if they are put back over it, it comes twice.
    while day_at(quarter * QUARTER_MS, zone) < day:
        quarter += 1
    while day_at((quarter - 1) * QUARTER_MS, zone) >= day:
        quarter -= 1
    return quarter * QUARTER_MS

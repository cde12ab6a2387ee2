"""Periods of calendar days, today included, in the zone that the account's days begin in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final

from tradetui.trading.results.periods import day_start_ms


class PeriodChoice(StrEnum):
    """The periods that have a name."""

    TODAY = "today"
    WEEK = "7 d"
    MONTH = "30 d"
    QUARTER = "90 d"
    ALL = "all"


_DAYS: Final = {PeriodChoice.TODAY: 1, PeriodChoice.WEEK: 7, PeriodChoice.MONTH: 30, PeriodChoice.QUARTER: 90}


@dataclass(frozen=True, slots=True)
class Period:
    """Calendar days of a zone, the first and the last included; without a first day all that is known before it."""

    first_day: date | None
    last_day: date
    zone: tzinfo = UTC

    @property
    def since(self) -> int | None:
        """The first millisecond (Unix), None without a first day."""
        return None if self.first_day is None else day_start_ms(self.first_day, self.zone)

    @property
    def until(self) -> int:
        """The last millisecond (Unix)."""
        return day_start_ms(self.last_day + timedelta(days=1), self.zone) - 1


def day_at(moment_ms: int, zone: tzinfo) -> date:
    """The calendar day of a moment (Unix ms) in a zone."""
    return datetime.fromtimestamp(moment_ms / 1000, UTC).astimezone(zone).date()


def period_of(choice: PeriodChoice, now_ms: int, zone: tzinfo) -> Period:
    """The period of a name that ends today: `now_ms` (Unix) says which day that is in the zone."""
    today = day_at(now_ms, zone)
    days = _DAYS.get(choice)
    return Period(None if days is None else today - timedelta(days=days - 1), today, zone)

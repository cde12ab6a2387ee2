"""Periods of calendar days, today included, in the zone of the account's days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, timedelta, tzinfo
from enum import StrEnum
from typing import Final

from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.trading.results.periods import Grouping, day_at, day_start_ms
from tradetui.wire.product_types import ProductType


class PeriodChoice(StrEnum):
    TODAY = "today"
    WEEK = "7 d"
    MONTH = "30 d"
    QUARTER = "90 d"
    ALL = "all"


_DAYS: Final = {PeriodChoice.TODAY: 1, PeriodChoice.WEEK: 7, PeriodChoice.MONTH: 30, PeriodChoice.QUARTER: 90}


@dataclass(frozen=True, slots=True)
class Period:
    """Calendar days of a zone, first and last included; without a first day it includes everything before the last."""

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


@dataclass(frozen=True, slots=True)
class PeriodQuery:
    """A query of results: a period, the product types of the session, and symbols (None: all).

    `now_ms` is the exchange's time (Unix ms), at which figures of unfinished days end. `with_equity` adds equity and
    the unexplained change of the wallets; `audits_days` adds the latter per day.
    """

    period: Period
    now_ms: int
    product_types: tuple[ProductType, ...]
    symbols: tuple[str, ...] | None = None
    with_equity: bool = True
    audits_days: bool = False

    @property
    def ledger(self) -> ResultQuery:
        """The query to the ledger by day; an unfinished period has no end."""
        period = self.period
        until = None if period.until >= self.now_ms else period.until
        return ResultQuery(
            Grouping.DAY, self.now_ms, period.since, until, self.symbols, self.product_types, period.zone
        )


def period_of(choice: PeriodChoice, now_ms: int, zone: tzinfo) -> Period:
    """Return the period of a choice, ending today; `now_ms` (Unix) determines the day in the zone."""
    today = day_at(now_ms, zone)
    days = _DAYS.get(choice)
    return Period(None if days is None else today - timedelta(days=days - 1), today, zone)

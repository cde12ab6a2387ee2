"""Periods of calendar days, today included, in the zone that the account's days begin in."""

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


@dataclass(frozen=True, slots=True)
class PeriodQuery:
    """A query of results: a period, the product types of the session, and of which symbols (None: of all).

    `now_ms` is the exchange's time, Unix ms: figures of days that are not over last until then. `with_equity` says
    whether what the accounts were worth, and what is unexplained, is worked out too; `audits_days` whether the latter
    is of each day.
    """

    period: Period
    now_ms: int
    product_types: tuple[ProductType, ...]
    symbols: tuple[str, ...] | None = None
    with_equity: bool = True
    audits_days: bool = False

    @property
    def ledger(self) -> ResultQuery:
        """The same of the ledger by day; a period that is not over has no end."""
        period = self.period
        until = None if period.until >= self.now_ms else period.until
        return ResultQuery(
            Grouping.DAY, self.now_ms, period.since, until, self.symbols, self.product_types, period.zone
        )


def period_of(choice: PeriodChoice, now_ms: int, zone: tzinfo) -> Period:
    """The period of a name that ends today: `now_ms` (Unix) says which day that is in the zone."""
    today = day_at(now_ms, zone)
    days = _DAYS.get(choice)
    return Period(None if days is None else today - timedelta(days=days - 1), today, zone)

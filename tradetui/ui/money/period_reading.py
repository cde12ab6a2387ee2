"""The period chosen on the screen `m`, and the results that were read last: of the period, and of the calendar's month.

They stay until the next reading has succeeded as a whole, so that figures of two moments never stand together.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta, tzinfo
from typing import Final

from tradetui.desk.desk import Desk
from tradetui.desk.results.period_query import Period, PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import PeriodResults, ResultFigures
from tradetui.desk.results.results_reader import ResultsReader
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.trading.results.periods import day_at, month_of

READ_EVERY_S: Final = 5.0  # seconds between readings of the figures while new fills come in
_PAUSE_PER_READING: Final = 20  # reading takes a twentieth of the time at most, however long one reading is
_CHOICES: Final = tuple(PeriodChoice)


class PeriodReading:
    """The period that is chosen and the newest results of it; days begin in `zone`."""

    def __init__(self, zone: tzinfo, opened_ms: int) -> None:
        """`opened_ms` (Unix) determines today before anything was read."""
        self.zone = zone
        self._named = PeriodChoice.MONTH  # the named period, also while typed dates replace it
        self.dates: DateFilter | None = None
        self.symbols: tuple[str, ...] = ()
        """The chosen symbols; empty for all, and after another choice until the next reading."""
        self.results: PeriodResults | None = None
        self.month: PeriodResults | None = None
        self.audits_days = False
        """Whether the unexplained part is computed for each day, which takes as long as all the rest."""
        self.has_any = True  # whether there is a fill at all, in any period
        self.fills_to_book: int | None = None
        """How many fills the archive still has to book before anything can be read."""
        self.trouble = ""  # why the last reading failed
        self.bills_refused = ""  # why the exchange gives no bills of the account; empty where it does
        self._now_ms = opened_ms
        self._read_at = 0.0
        self._took_s = 0.0
        self._read_state: object = None

    @property
    def choice(self) -> PeriodChoice | None:
        """The named period; None for typed dates."""
        return self._named if self.dates is None else None

    @property
    def period(self) -> Period:
        if self.dates is None:
            return period_of(self._named, self._now_ms, self.zone)
        first = None if self.dates.since is None else day_at(self.dates.since, self.zone)
        last_ms = self._now_ms if self.dates.until is None else min(self.dates.until, self._now_ms)
        return Period(first, max(day_at(last_ms, self.zone), first or date.min), self.zone)

    def total_figures(self) -> ResultFigures | None:
        """The figures of the whole chosen period; None before they were read."""
        results = self.results
        return None if results is None or results.period != self.period else results.total

    def day_figures(self, day: date) -> ResultFigures | None:
        """The figures of a day, of the period or of the calendar's month; None where it has none."""
        known = [results for results in (self.results, self.month) if results is not None]
        return next((line.figures for results in known for line in results.days if line.day == day), None)

    def choose(self, choice: PeriodChoice) -> None:
        self._named, self.dates, self.symbols = choice, None, ()

    def step(self, by: int) -> bool:
        """Choose the next longer or shorter period; returns whether there is one."""
        following = max(0, min(_CHOICES.index(self._named) + by, len(_CHOICES) - 1))
        if _CHOICES[following] is self.choice:
            return False
        self.choose(_CHOICES[following])
        return True

    def choose_dates(self, dates: DateFilter | None) -> None:
        """Choose the days of a filter and its symbols; None goes back to the named period before it."""
        self.dates, self.symbols = dates, ()

    def is_due(self, desk: Desk) -> bool:
        """Whether there is something new to read, and the last reading is long enough ago."""
        waited = desk.clock.monotonic() - self._read_at
        return waited >= max(READ_EVERY_S, _PAUSE_PER_READING * self._took_s) and _state_of(desk) != self._read_state

    async def read(self, desk: Desk, month: date, progress: Callable[[], None]) -> None:
        """Read the period and the calendar's month; `progress` is called whenever `fills_to_book` has changed."""
        reader = desk.results()
        if reader is None:
            return
        begun, state = desk.clock.monotonic(), _state_of(desk)
        self._now_ms = desk.client.server_clock.now_ms

        def show_booking(fills_to_book: int) -> None:
            self.fills_to_book = fills_to_book
            progress()

        try:
            await self._choose_symbols(reader)
            await self._read_figures(desk, reader, month, show_booking)
            self.trouble = ""
        except (sqlite3.Error, OSError) as problem:
            self.trouble = f"The archive cannot be read: {problem}"
        finally:
            self.fills_to_book = None
        self._read_at, self._read_state = desk.clock.monotonic(), state
        self._took_s = self._read_at - begun

    async def _read_figures(
        self, desk: Desk, reader: ResultsReader, month: date, show_booking: Callable[[int], None]
    ) -> None:
        """Read everything, and only then replace what was read before."""
        product_types = desk.settings.product_types
        period_query = replace(self._query(desk, self.period), audits_days=self.audits_days)
        results = await reader.period(period_query, show_booking)
        whole_month = Period(month, month_of(month, 1) - timedelta(days=1), self.zone)
        month_results = await reader.period(replace(self._query(desk, whole_month), with_equity=False))
        has_any = bool(results.days or month_results.days)
        if not has_any:
            every_day = period_of(PeriodChoice.ALL, self._now_ms, self.zone)
            all_days = PeriodQuery(every_day, self._now_ms, product_types, with_equity=False)
            has_any = bool((await reader.period(all_days)).days)
        self.bills_refused = await reader.bills_refused(product_types)
        self.results, self.month, self.has_any = results, month_results, has_any

    async def _choose_symbols(self, reader: ResultsReader) -> None:
        """Find the symbols that the typed pieces of names mean; where there are none, the pieces count as symbols."""
        if self.dates is not None and self.dates.symbols and not self.symbols:
            known = await reader.symbols()
            self.symbols = tuple(filter(self.dates.keeps_symbol, known)) or self.dates.symbols

    def _query(self, desk: Desk, period: Period) -> PeriodQuery:
        return PeriodQuery(period, self._now_ms, desk.settings.product_types, self.symbols or None)


def _state_of(desk: Desk) -> object:
    """The state on which figures depend: new fills, the minute of equity sampling, and whether there is an archive."""
    return desk.fills.snapshot.generation, desk.clock.wall_ms() // 60_000, desk.archive is None

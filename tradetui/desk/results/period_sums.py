"""The sums of a period by symbol, day and coin, from kept sums of days and months. A quarter is one of an hour."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from itertools import count, pairwise, takewhile
from typing import Final

from tradetui.desk.archive.equity import Rates
from tradetui.desk.archive.span_sums import GroupSums, QuarterSpan, span_sums
from tradetui.desk.results.period_query import PeriodQuery
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import day_at, day_of_quarter, day_start_ms, month_of, quarter_of
from tradetui.trading.results.result_sums import ResultSums
from tradetui.wire.product_types import USDT_COINS

_DAY: Final = timedelta(days=1)


@dataclass(slots=True)
class CoinSums:
    """Sums of a group in one coin, and the coins that they were turned over from."""

    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal = ZERO
    coins: set[str] = field(default_factory=set)
    is_converted: bool = False

    def add(self, group: GroupSums, coin: str) -> None:
        self.sums.add(group.sums)
        self.funding += group.funding
        self.coins.add(coin)
        self.is_converted = self.is_converted or group.is_converted


class PeriodSums:
    """The sums of a period: the whole, symbols and days in USDT, coins each in its own."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self.total = CoinSums()
        self.by_symbol: defaultdict[str, CoinSums] = defaultdict(CoinSums)
        self.types_of_symbol: defaultdict[str, set[str]] = defaultdict(set)
        self.by_day: defaultdict[date, CoinSums] = defaultdict(CoinSums)
        self.by_coin: defaultdict[str, CoinSums] = defaultdict(CoinSums)
        self.symbols_of_coin: defaultdict[str, set[str]] = defaultdict(set)
        self.other_coins: defaultdict[str, CoinSums] = defaultdict(CoinSums)  # of the whole period, without a rate

    def add_symbol(self, group: GroupSums) -> None:
        """Add the results of a symbol to everything but its day."""
        coin = group.coin
        self.by_coin[coin].add(group, coin)
        self.symbols_of_coin[coin].add(group.symbol)
        for part in group.in_units():
            if (in_usdt := self._in_usdt(part)) is None:
                self.other_coins[part.coin].add(part, coin)
            else:
                self.types_of_symbol[group.symbol].add(group.product_type)
                self.total.add(in_usdt, coin)
                self.by_symbol[group.symbol].add(in_usdt, coin)

    def add_day(self, day: date, part: GroupSums) -> None:
        """Add results in one unit to their day; `add_symbol` has those without a rate in `other_coins`."""
        if (in_usdt := self._in_usdt(part)) is not None:
            self.by_day[day].add(in_usdt, part.coin)

    def _in_usdt(self, part: GroupSums) -> GroupSums | None:
        """Results in one unit turned over into USDT; None where its coin has no rate."""
        if (rate := self._rates.of_dollar(part.coin)) is None:
            return None
        sums, funding = (part.sums, part.funding) if rate == 1 else (part.sums.converted(rate), part.funding * rate)
        is_converted = part.is_converted or part.coin not in USDT_COINS
        return replace(part, sums=sums, funding=funding, is_converted=is_converted)


def period_sums(
    connection: sqlite3.Connection, query: PeriodQuery, rates: Rates, first: date, last: date
) -> PeriodSums:
    """The sums from the first day to the last, both included. Blocks on the disk, and may write to it."""
    zone, sums = query.period.zone, PeriodSums(rates)
    days = _day_spans(first, last, zone)
    if query.symbols is None:
        for day, part in _groups_by_day(connection, query, days, by_symbol=False):
            sums.add_day(day, part)
        months = _month_spans(first, last, day_at(query.now_ms, zone), zone)
        for _, group in _groups_by_day(connection, query, months, by_symbol=True):
            sums.add_symbol(group)
    else:  # totals of days are of all symbols: those of some are summed from each day's symbols
        for day, group in _groups_by_day(connection, query, days, by_symbol=True):
            sums.add_symbol(group)
            for part in group.in_units():
                sums.add_day(day, part)
    return sums


def _groups_by_day(
    connection: sqlite3.Connection, query: PeriodQuery, spans: Sequence[QuarterSpan], *, by_symbol: bool
) -> Iterator[tuple[date, GroupSums]]:
    """The results in the spans that are the query's, with the first day of their span."""
    zone = query.period.zone
    keep_before = quarter_of(day_start_ms(day_at(query.now_ms, zone), zone))
    for span, groups in span_sums(connection, spans, keep_before, by_symbol=by_symbol):
        day = day_of_quarter(span.first, zone)
        for group in groups:
            if group.product_type in query.product_types and (query.symbols is None or group.symbol in query.symbols):
                yield day, group


def months_with_results(connection: sqlite3.Connection, zone: tzinfo, now_ms: int) -> list[date]:
    """The first days of the months from that of the first fill on; none without a fill."""
    quarter = connection.execute("SELECT min(quarter) FROM ledger_quarter").fetchone()[0]
    if quarter is None:
        return []
    first, last = month_of(day_at(quarter * QUARTER_MS, zone)), day_at(now_ms, zone)
    return list(takewhile(lambda month: month <= last, (month_of(first, by=number) for number in count())))


def keep_sums(connection: sqlite3.Connection, month: date, zone: tzinfo, now_ms: int) -> None:
    """Keep the sums of the days of a month, and of the month itself, that are over; blocks on the disk."""
    today = day_at(now_ms, zone)
    last = min(month_of(month, by=1), today) - _DAY
    keep_before = quarter_of(day_start_ms(today, zone))
    for spans, by_symbol in ((_day_spans(month, last, zone), False), (_month_spans(month, last, today, zone), True)):
        for _ in span_sums(connection, spans, keep_before, by_symbol=by_symbol):
            pass  # they are kept as they are read


@lru_cache(maxsize=8)
def _day_spans(first: date, last: date, zone: tzinfo) -> Sequence[QuarterSpan]:
    return _spans((first + number * _DAY for number in range((last - first).days + 2)), zone)


@lru_cache(maxsize=8)
def _month_spans(first: date, last: date, today: date, zone: tzinfo) -> Sequence[QuarterSpan]:
    """Each month that lies in the period and is over, and the days of the others."""
    return _spans(_starts_of_months_and_days(first, last, today), zone)


def _spans(starts: Iterable[date], zone: tzinfo) -> Sequence[QuarterSpan]:
    """The spans from each of these days to the next."""
    return tuple(QuarterSpan(*pair) for pair in pairwise(quarter_of(day_start_ms(day, zone)) for day in starts))


def _starts_of_months_and_days(first: date, last: date, today: date) -> Iterator[date]:
    """The first days of the months and the single days, and at the end the day after the last."""
    while first <= last:
        yield first
        next_month = month_of(first, by=1)
        first = next_month if first.day == 1 and next_month <= min(today, last + _DAY) else first + _DAY
    yield first

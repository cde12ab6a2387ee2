"""The sums of a period by symbol, day and coin, from the sums that are kept of its days and months."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class CoinSums:
    """Sums of a group in one coin, and the coins that they were turned over from."""

    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal = ZERO
    coins: set[str] = field(default_factory=set)
    is_converted: bool = False

    def add(self, sums: ResultSums, funding: Decimal, coin: str, *, is_converted: bool = False) -> None:
        self.sums.add(sums)
        self.funding += funding
        self.coins.add(coin)
        self.is_converted = self.is_converted or is_converted


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
        self.other_coins: defaultdict[str, CoinSums] = defaultdict(CoinSums)

    def add_symbol(self, group: GroupSums) -> None:
        coin = group.coin
        self.by_coin[coin].add(group.sums, group.funding, coin)
        self.symbols_of_coin[coin].add(group.symbol)
        for part in group.in_units():
            if (rate := self._rates.of_dollar(part.coin)) is None:
                self.other_coins[part.coin].add(part.sums, part.funding, coin)
                continue
            self.types_of_symbol[group.symbol].add(group.product_type)
            sums, funding = self._in_usdt(part, rate)
            for usdt_sums in (self.total, self.by_symbol[group.symbol]):
                usdt_sums.add(sums, funding, coin, is_converted=coin not in USDT_COINS)

    def add_day(self, day: date, group: GroupSums) -> None:
        if (rate := self._rates.of_dollar(group.coin)) is not None:
            sums, funding = self._in_usdt(group, rate)
            is_converted = group.is_converted or group.coin not in USDT_COINS
            self.by_day[day].add(sums, funding, group.coin, is_converted=is_converted)

    @staticmethod
    def _in_usdt(group: GroupSums, rate: Decimal) -> tuple[ResultSums, Decimal]:
        return (group.sums, group.funding) if rate == 1 else (group.sums.converted(rate), group.funding * rate)


def period_sums(
    connection: sqlite3.Connection, query: PeriodQuery, rates: Rates, first: date, last: date
) -> PeriodSums:
    """The sums from the first day to the last, both included. Blocks on the disk, and may write to it."""
    zone, sums = query.period.zone, PeriodSums(rates)
    today = day_at(query.now_ms, zone)
    keep_before = quarter_of(day_start_ms(today, zone))
    days = _day_spans(first, last, zone)
    if query.symbols is None:
        for span_of_day in span_sums(connection, days, keep_before, by_symbol=False):
            day = day_of_quarter(span_of_day.span.first, zone)
            for group in span_of_day.groups:
                if group.product_type in query.product_types:
                    sums.add_day(day, group)
        days = _month_spans(first, last, today, zone)
    for span in span_sums(connection, days, keep_before, by_symbol=True):
        for group in span.groups:
            if group.product_type in query.product_types and (query.symbols is None or group.symbol in query.symbols):
                sums.add_symbol(group)
                if query.symbols is not None:
                    day = day_of_quarter(span.span.first, zone)
                    for part in group.in_units():
                        sums.add_day(day, part)
    return sums


def months_with_results(connection: sqlite3.Connection, zone: tzinfo, now_ms: int) -> list[date]:
    """The first days of the months from that of the first fill on; none without a fill."""
    quarter = connection.execute("SELECT min(quarter) FROM ledger_quarter").fetchone()[0]
    if quarter is None:
        return []
    first, last = month_of(day_at(quarter * QUARTER_MS, zone)), day_at(now_ms, zone)
    return list(takewhile(lambda month: month <= last, (month_of(first, by) for by in count())))


def keep_sums(connection: sqlite3.Connection, month: date, zone: tzinfo, now_ms: int) -> None:
    """Keep the sums of the days of a month, and of the month itself, that are over; blocks on the disk."""
    today = day_at(now_ms, zone)
    last = min(month_of(month, 1), today) - _DAY
    keep_before = quarter_of(day_start_ms(today, zone))
    for spans, by_symbol in ((_day_spans(month, last, zone), False), (_month_spans(month, last, today, zone), True)):
        for _ in span_sums(connection, spans, keep_before, by_symbol=by_symbol):
            pass  # they are kept as they are read


@lru_cache(maxsize=8)
def _day_spans(first: date, last: date, zone: tzinfo) -> Sequence[QuarterSpan]:
    return _spans((first + timedelta(days=number) for number in range((last - first).days + 2)), zone)


@lru_cache(maxsize=8)
def _month_spans(first: date, last: date, today: date, zone: tzinfo) -> Sequence[QuarterSpan]:
    """Each month that lies in the period and is over, and the days of the others."""
    return _spans(_months_and_days(first, last, today), zone)


def _spans(days: Iterable[date], zone: tzinfo) -> Sequence[QuarterSpan]:
    return tuple(QuarterSpan(*pair) for pair in pairwise(quarter_of(day_start_ms(day, zone)) for day in days))


def _months_and_days(first: date, last: date, today: date) -> Iterator[date]:
    """The first days of the months and single days, and the end of the last."""
    while first <= last:
        yield first
        next_month = month_of(first, 1)
        first = next_month if first.day == 1 and next_month <= min(today, last + _DAY) else first + _DAY
    yield first


_DAY: Final = timedelta(days=1)

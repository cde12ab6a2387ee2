"""The results of a period in total and by symbol, day and coin, read from the archive's file in one call."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Final

from tradetui.desk.archive.coverage import TimeSpan
from tradetui.desk.archive.equity import EquitySeries, Rates, first_sample, last_sample
from tradetui.desk.archive.ledger.missing_fills import MissingSpan
from tradetui.desk.archive.ledger_queries import USDT, GroupSums, day_groups, legs_wait
from tradetui.desk.results.equity_of_period import EquityOfPeriod, equity_of_period
from tradetui.desk.results.period_query import Period, PeriodQuery
from tradetui.desk.results.sums import ResultCoverage, ResultLine
from tradetui.desk.results.wallet import unexplained_by_period
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import Grouping, day_at, day_start_ms

_net_of: Final = attrgetter("net")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodResults:
    """The results of a period, in USDT if a coin's rate is known.

    `total` sums all amounts that can be converted into USDT. `other_coins` are fees and profit of other coins, each in
    its own coin and never in a USDT net. `symbols` and `days` are in USDT, `coins` each in its own coin. `days` are all
    calendar days of the period from the first with a fill, oldest first. `unexplained` is the change of the wallets
    beyond net and transfers, None if one of these is not known. `equity` is empty if symbols were chosen or equity was
    not requested. `missing` are the spans whose fills are unread or lost. `orders_complete` is False while closing
    orders of some legs are not counted because older fills are still being read.
    """

    period: Period
    now_ms: int
    total: ResultLine
    other_coins: tuple[ResultLine, ...] = ()
    symbols: tuple[ResultLine, ...] = ()
    days: tuple[ResultLine, ...] = ()
    coins: tuple[ResultLine, ...] = ()
    equity: EquityOfPeriod = field(default_factory=EquityOfPeriod)
    unexplained: Decimal | None = None
    missing: tuple[MissingSpan, ...] = ()
    orders_complete: bool = True

    @property
    def result(self) -> Decimal | None:
        """Net, change of unrealised profit, and the unexplained amount if known; None if the change is not known."""
        change = self.equity.open_change
        return None if change is None else self.total.net + change + (self.unexplained or ZERO)

    @property
    def result_part(self) -> Decimal | None:
        """The result as a time-weighted fraction; None if the equity does not give it.

        It does not if no sample is near the period's start or end, or if the price of a coin moved it.
        """
        is_measured = self.equity.start is not None and self.equity.end is not None and self.equity.is_in_dollars
        return self.equity.time_weighted if is_measured else None

    @property
    def wallet_moved(self) -> Decimal | None:
        """The change of the wallets: net, transfers and the unexplained amount; None if one is not known."""
        transferred = self.equity.transferred
        if transferred is None or self.unexplained is None:
            return None
        return self.total.net + transferred + self.unexplained

    @property
    def green_days(self) -> int:
        return sum(line.net > ZERO for line in self.days)

    @property
    def red_days(self) -> int:
        return sum(line.net < ZERO for line in self.days)

    @property
    def flat_days(self) -> int:
        return len(self.days) - self.green_days - self.red_days

    @property
    def drawdown_by_day(self) -> tuple[Decimal, date] | None:
        """The deepest fall of the summed nets from a peak or from the start, and its last day; None without days."""
        total = peak = deepest = ZERO
        trough: date | None = None
        for line in self.days:
            total += line.net
            peak = max(peak, total)
            if trough is None or total - peak < deepest:
                deepest, trough = total - peak, line.day
        return None if trough is None else (deepest, trough)

    @property
    def best_day(self) -> ResultLine | None:
        """The first day with the highest net; None if no day is above zero."""
        return max((line for line in self.days if line.net > ZERO), key=_net_of, default=None)

    @property
    def worst_day(self) -> ResultLine | None:
        """The first day with the lowest net; None if no day is below zero."""
        return min((line for line in self.days if line.net < ZERO), key=_net_of, default=None)


def read_period_results(
    connection: sqlite3.Connection, query: PeriodQuery, equity_series: EquitySeries | None = None
) -> PeriodResults:
    """Read the results of a period; bring the ledger forward before. Blocks on the disk, and may write to it.

    `equity_series` is the equity of the query's product types, as far as it was read before.
    """
    period, ledger = query.period, query.ledger
    since = _first_known(connection, query) if period.since is None else period.since
    span = TimeSpan(since, min(period.until, query.now_ms))
    rates = Rates.of(last_sample(connection, query.product_types, query.now_ms))
    by_symbol: dict[tuple[str, str, str], GroupSums] = {}
    by_day: dict[date, GroupSums] = {}
    nets: defaultdict[str, defaultdict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for day, of_day in day_groups(connection, ledger):
        by_symbol.setdefault(of_day.key, GroupSums(*of_day.key)).add(of_day)
        if query.audits_days:
            nets[day.isoformat()][of_day.coin] += of_day.net
        for part in of_day.in_usdt(rates):
            if part.coin == USDT:
                by_day.setdefault(day, GroupSums("", "", USDT)).add(part)
    coverage, own = ResultCoverage(connection, ledger), list(by_symbol.values())
    parts = [(group.coin, part) for group in own for part in group.in_usdt(rates)]
    in_usdt = [(coin, part) for coin, part in parts if part.coin == USDT]

    def line_in_usdt(symbol: str = "") -> ResultLine:
        chosen = [(coin, part) for coin, part in in_usdt if symbol in ("", part.symbol)]
        product_types = {part.product_type for _, part in chosen} if symbol else ()
        coins = {coin for coin, _ in chosen}
        return coverage.line((part for _, part in chosen), span, symbol, from_coins=coins, product_types=product_types)

    def line_in_coin(coin: str) -> ResultLine:
        of_coin = [group for group in own if group.coin == coin]
        return coverage.line(of_coin, span, coin, coin, symbols=tuple(sorted({group.symbol for group in of_coin})))

    coins = tuple(map(line_in_coin, sorted({group.coin for group in own})))
    days = tuple(_day_lines(by_day, coverage, query, {coin for coin, _ in in_usdt}))
    equity, unexplained = EquityOfPeriod(), None
    if query.symbols is None:  # wallets and their equity cover all symbols
        if query.with_equity:
            net_of_coins = {"": {line.coin: line.net for line in coins}}
            whole = replace(ledger, grouping=Grouping.TOTAL, since=since)
            unexplained = _in_usdt(unexplained_by_period(connection, whole, net_of_coins), rates).get("")
            equity = equity_of_period(
                connection, query.product_types, since, period.until, query.now_ms, rates, equity_series
            )
        if query.audits_days:
            of_days = _in_usdt(unexplained_by_period(connection, replace(ledger, since=since), nets), rates)
            days = tuple(replace(line, unexplained=of_days.get(line.group)) for line in days)
    return PeriodResults(
        period=period,
        now_ms=query.now_ms,
        total=line_in_usdt(),
        other_coins=tuple(
            coverage.line((part for _, part in parts if part.coin == coin), span, coin, coin)
            for coin in sorted({part.coin for _, part in parts} - {USDT})
        ),
        symbols=tuple(map(line_in_usdt, sorted({part.symbol for _, part in in_usdt}))),
        days=days,
        coins=coins,
        equity=equity,
        unexplained=unexplained,
        missing=coverage.missing,
        orders_complete=not legs_wait(connection),
    )


def _first_known(connection: sqlite3.Connection, query: PeriodQuery) -> int:
    """Return the time (Unix ms) of the first sample or of the first fill's quarter-hour; now if there is none."""
    types = query.product_types
    quarter = connection.execute(
        f"SELECT quarter FROM ledger_quarter WHERE product_type IN ({', '.join('?' * len(types))})"
        " ORDER BY quarter LIMIT 1",
        types,
    ).fetchone()
    sample = first_sample(connection, types)
    first_fill = query.now_ms if quarter is None else int(quarter[0]) * QUARTER_MS
    return min(first_fill, query.now_ms if sample is None else sample.time)


def _day_lines(
    by_day: Mapping[date, GroupSums], coverage: ResultCoverage, query: PeriodQuery, from_coins: set[str]
) -> Iterator[ResultLine]:
    """Yield every calendar day from the first with a fill to the last one of the period that has begun."""
    if not by_day:
        return
    zone, until = query.period.zone, min(query.period.until, query.now_ms)
    day, last_day = min(by_day), max(day_at(until, zone), *by_day)
    while day <= last_day:
        following = day + timedelta(days=1)
        span = TimeSpan(day_start_ms(day, zone), min(day_start_ms(following, zone) - 1, until))
        groups = [by_day[day]] if day in by_day else []
        yield coverage.line(groups, span, day.isoformat(), from_coins=from_coins, day=day)
        day = following


def _in_usdt(by_period: Mapping[str, Mapping[str, Decimal]], rates: Rates) -> dict[str, Decimal]:
    """Return the amounts of each period in USDT, without periods that have a coin of unknown rate."""
    in_usdt = {period: rates.in_usdt(amounts) for period, amounts in by_period.items()}
    return {period: amount for period, amount in in_usdt.items() if amount is not None}

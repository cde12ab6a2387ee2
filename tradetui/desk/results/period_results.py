"""The results of a period, the whole and by symbol, day and coin, read from the archive's file at once.

A figure never looks better known than it is: where fills are missing it is marked, and where a bill, a rate or a sample
is missing it is None, not zero.

The sums of a period by symbol, day and coin, from kept sums of days and months. A quarter is one of an hour.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from itertools import count, pairwise, takewhile
from operator import attrgetter
from typing import Final

from tradetui.desk.archive.equity import EquitySeries, Rates, first_sample, last_sample
from tradetui.desk.archive.ledger.missing_fills import MissingSpan, missing_spans, spans_never_kept, were_read
from tradetui.desk.archive.ledger_queries import BillsRead, ResultQuery, legs_wait
from tradetui.desk.archive.span_sums import USDT, GroupSums, QuarterSpan, span_sums
from tradetui.desk.results.equity_of_period import EquityOfPeriod, equity_of_period
from tradetui.desk.results.period_query import Period, PeriodQuery
from tradetui.desk.results.wallet import WalletAudit, unexplained_by_day
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import Grouping, day_at, day_of_quarter, day_start_ms, month_of, quarter_of
from tradetui.trading.results.trips import ResultSums
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


_NOTHING: Final = CoinSums()
_net_of: Final = attrgetter("figures.net")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFigures:
    """Trading results, all amounts in one coin; paid fees and funding are negative.

    `sums` count closing orders (`trades`) by profit and own fees; zero is neither won nor lost. `funding` is None where
    it is not known, and not in `net` then. `is_converted` says that some of it was converted from another coin,
    `is_complete` that no fill of it is known to be missing, or to have come without its fee or profit. `unexplained` is
    the change of the wallets beyond net and transfers; None where that is not known, or was not requested.
    """

    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal | None = None
    is_converted: bool = False
    is_complete: bool = True
    unexplained: Decimal | None = None

    @property
    def net(self) -> Decimal:
        """Gross, fees and funding; without funding where that is not known."""
        return self.sums.net + (self.funding or ZERO)

    @property
    def fees_part(self) -> Decimal | None:
        """Fees that were paid as a fraction of the gross profit; None where there is none."""
        return -self.sums.fees / self.sums.gross if self.sums.gross > ZERO else None

    @property
    def won_part(self) -> Decimal | None:
        return Decimal(self.sums.wins) / self.sums.trades if self.sums.trades else None

    @property
    def lost_part(self) -> Decimal | None:
        return Decimal(self.sums.losses) / self.sums.trades if self.sums.trades else None

    @property
    def average_won(self) -> Decimal | None:
        return self.sums.won / self.sums.wins if self.sums.wins else None

    @property
    def average_lost(self) -> Decimal | None:
        return self.sums.lost / self.sums.losses if self.sums.losses else None

    @property
    def average_order(self) -> Decimal | None:
        return (self.sums.won + self.sums.lost) / self.sums.trades if self.sums.trades else None

    @property
    def profit_factor(self) -> Decimal | None:
        """Sum of wins ÷ sum of losses; None without losses."""
        return self.sums.won / -self.sums.lost if self.sums.lost else None


@dataclass(frozen=True, slots=True)
class ResultLine:
    """Figures of one group: a symbol, a coin, a day (`day` is it too), or empty for the whole; `coin` is their unit.

    `symbols` are those that the results of a coin are of. `marks_conversion` is False where one mark for all lines says
    that their amounts were converted.
    """

    group: str
    coin: str
    figures: ResultFigures
    day: date | None = None
    symbols: tuple[str, ...] = ()
    marks_conversion: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodResults:
    """The results of a period, in USDT where a coin's rate is known.

    `total` sums all that can be converted into USDT; `other_coins` are fees and profit of other coins, each in its own
    and never in a USDT net. `symbols` and `days` are in USDT, `coins` each in its own. `days` are all calendar days of
    the period from the first with a fill, oldest first. `unexplained` is the change of the wallets beyond net and
    transfers, None where one of these is not known; `equity` is empty where symbols were chosen, or it was not
    requested. `missing` are the stretches of the period of which fills are not read, yet or for good. `orders_complete`
    is False while closing orders of some legs are not counted: they wait for older fills, whose reading is under way.
    """

    period: Period
    now_ms: int
    total: ResultFigures
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
        """Net, the change of what is open, and what is unexplained where that is known; None without the change."""
        change = self.equity.open_change
        return None if change is None else self.total.net + change + (self.unexplained or ZERO)

    @property
    def result_part(self) -> Decimal | None:
        """The result as a fraction, time-weighted; None where the equity does not tell it.

        It does not where no sample is near the period's start or end, or where it moved with the price of a coin.
        """
        is_measured = self.equity.start is not None and self.equity.end is not None and self.equity.is_in_dollars
        return self.equity.time_weighted if is_measured else None

    @property
    def wallet_moved(self) -> Decimal | None:
        """The change of the wallets: net, transfers and the unexplained; None where one is not known."""
        transferred = self.equity.transferred
        if transferred is None or self.unexplained is None:
            return None
        return self.total.net + transferred + self.unexplained

    @property
    def green_days(self) -> int:
        return sum(line.figures.net > ZERO for line in self.days)

    @property
    def red_days(self) -> int:
        return sum(line.figures.net < ZERO for line in self.days)

    @property
    def flat_days(self) -> int:
        return len(self.days) - self.green_days - self.red_days

    @property
    def drawdown_by_day(self) -> tuple[Decimal, date] | None:
        """The deepest fall of the summed nets from a peak, or from the start, and its last day; None without days."""
        total = peak = deepest = ZERO
        trough: date | None = None
        for line in self.days:
            total += line.figures.net
            peak = max(peak, total)
            if trough is None or total - peak < deepest:
                deepest, trough = total - peak, line.day
        return None if trough is None else (deepest, trough)

    @property
    def best_day(self) -> ResultLine | None:
        """The day of the greatest net, the first of several; None where no day is above zero."""
        return max((line for line in self.days if line.figures.net > ZERO), key=_net_of, default=None)

    @property
    def worst_day(self) -> ResultLine | None:
        """The day of the least net, the first of several; None where no day is below zero."""
        return min((line for line in self.days if line.figures.net < ZERO), key=_net_of, default=None)


def read_period_results(
    connection: sqlite3.Connection, query: PeriodQuery, equity_series: EquitySeries | None = None
) -> PeriodResults:
    """The results of a period; the ledger is to be brought forward before. Blocks on the disk, and may write to it.

    `equity_series` is the equity of the query's product types, as far as it was read before.
    """
    period, zone, product_types = query.period, query.period.zone, query.product_types
    since = _first_known(connection, query) if period.since is None else period.since
    last_ms = min(period.until, query.now_ms)
    rates = Rates.of(last_sample(connection, product_types, query.now_ms))
    sums = period_sums(connection, query, rates, day_at(since, zone), day_at(last_ms, zone))
    coverage = _PeriodCoverage(connection, query, since, last_ms)
    coins = tuple(
        replace(_coin_line(coin, coin_sums, coverage), symbols=tuple(sorted(sums.symbols_of_coin[coin])))
        for coin, coin_sums in sorted(sums.by_coin.items())
    )
    days = tuple(_day_lines(sums, coverage, zone))
    equity, unexplained = EquityOfPeriod(), None
    if query.symbols is None:  # neither a wallet nor its equity is of single symbols
        ledger_query = ResultQuery(Grouping.TOTAL, query.now_ms, since, last_ms, product_types=product_types, zone=zone)
        if query.with_equity:
            unexplained = _unexplained(connection, ledger_query, coins, rates)
            equity = equity_of_period(
                connection, product_types, since, period.until, query.now_ms, rates, equity_series
            )
        if query.audits_days:
            by_day = replace(ledger_query, grouping=Grouping.DAY, until=period.until)
            unexplained_of = unexplained_by_day(connection, by_day, rates)
            days = tuple(
                replace(line, figures=replace(line.figures, unexplained=unexplained_of.get(line.group)))
                for line in days
            )
    return PeriodResults(
        period=period,
        now_ms=query.now_ms,
        total=coverage.figures(sums.total, is_complete=not coverage.missing),
        other_coins=tuple(_coin_line(coin, own, coverage) for coin, own in sorted(sums.other_coins.items())),
        symbols=tuple(
            ResultLine(symbol, USDT, coverage.figures(own, is_complete=coverage.is_symbol_complete(sums, symbol)))
            for symbol, own in sorted(sums.by_symbol.items())
        ),
        days=days,
        coins=coins,
        equity=equity,
        unexplained=unexplained,
        missing=coverage.missing,
        orders_complete=not legs_wait(connection),
    )


def _first_known(connection: sqlite3.Connection, query: PeriodQuery) -> int:
    """When the first fill or sample is from, Unix ms: its quarter-hour's begin; now where there is none."""
    types = query.product_types
    quarter = connection.execute(
        f"SELECT quarter FROM ledger_quarter WHERE product_type IN ({', '.join('?' * len(types))})"
        " ORDER BY quarter LIMIT 1",
        types,
    ).fetchone()
    sample = first_sample(connection, types)
    first_fill = query.now_ms if quarter is None else int(quarter[0]) * QUARTER_MS
    return min(first_fill, query.now_ms if sample is None else sample.time)


class _PeriodCoverage:
    """Which fills of a period are missing, and which funding is known; `since` and `until` in Unix ms, included."""

    def __init__(self, connection: sqlite3.Connection, query: PeriodQuery, since: int, until: int) -> None:
        product_types = query.product_types
        # Of product types whose first page of fills has not come yet all of the time is missing.
        never_read = [
            MissingSpan(product_type, 0, query.now_ms)
            for product_type in product_types
            if not were_read(connection, product_type)
        ]
        never_kept = spans_never_kept(connection, product_types, query.period.since)
        self.missing = tuple(
            span
            for span in (*missing_spans(connection, query.now_ms), *never_read, *never_kept)
            if span.product_type in product_types and span.meets(since, until)
        )
        self.since, self.until = since, until
        self._bills = BillsRead(connection, product_types)

    def is_coin_complete(self, coin: str) -> bool:
        """Whether no fill that may be settled in a coin is missing."""
        return not any(span.touches(self.since, self.until, coin) for span in self.missing)

    def is_symbol_complete(self, sums: PeriodSums, symbol: str) -> bool:
        """Whether no fill of a product type that trades a symbol is missing."""
        return not any(span.product_type in sums.types_of_symbol[symbol] for span in self.missing)

    def is_part_complete(self, since: int, until: int) -> bool:
        """Whether no fill of a part of the period (Unix ms) is missing."""
        return not any(span.meets(since, until) for span in self.missing)

    def is_funding_known(self, coins: Collection[str], since: int, until: int) -> bool:
        """Whether all bills of a part of the period are read that may tell of funding in the coins."""
        return all(self._bills.hold(since, until, coin) for coin in coins or (USDT,))

    def figures(self, sums: CoinSums, *, is_complete: bool) -> ResultFigures:
        """The figures of sums over the whole period."""
        funding_known = self.is_funding_known(sums.coins, self.since, self.until)
        return _figures(sums, is_complete=is_complete, funding_known=funding_known)


def _figures(sums: CoinSums, *, is_complete: bool, funding_known: bool) -> ResultFigures:
    return ResultFigures(
        sums=sums.sums,
        funding=sums.funding if funding_known else None,
        is_converted=sums.is_converted,
        is_complete=is_complete and not sums.sums.incomplete_fills,
    )


def _coin_line(coin: str, sums: CoinSums, coverage: _PeriodCoverage) -> ResultLine:
    figures = coverage.figures(sums, is_complete=coverage.is_coin_complete(coin))
    return ResultLine(coin, coin, replace(figures, is_converted=False))


def _day_lines(sums: PeriodSums, coverage: _PeriodCoverage, zone: tzinfo) -> Iterator[ResultLine]:
    """Every calendar day from the first with a fill to the last of the period that has begun."""
    last_ms, coins = coverage.until, sums.total.coins
    day, last_day = min(sums.by_day, default=None), day_at(last_ms, zone)
    rest_known = not coverage.missing and coverage.is_funding_known(coins, coverage.since, last_ms)
    while day is not None and day <= last_day:
        following = day + timedelta(days=1)
        is_complete, funding_known = True, True
        if not rest_known:
            since, until = day_start_ms(day, zone), min(day_start_ms(following, zone) - 1, last_ms)
            is_complete = coverage.is_part_complete(since, until)
            funding_known = coverage.is_funding_known(coins, since, until)
            # Once nothing is missing any more, as mostly, the days that follow need not be asked for one by one.
            rest = (until + 1, last_ms)
            rest_known = coverage.is_part_complete(*rest) and coverage.is_funding_known(coins, *rest)
        day_sums = sums.by_day.get(day, _NOTHING)
        figures = _figures(day_sums, is_complete=is_complete, funding_known=funding_known)
        yield ResultLine(day.isoformat(), USDT, figures, day)
        day = following


def _unexplained(
    connection: sqlite3.Connection, query: ResultQuery, coins: Sequence[ResultLine], rates: Rates
) -> Decimal | None:
    """The change of the wallets beyond net and transfers, in USDT; None where that, or a coin's rate, is not known."""
    if any(line.figures.funding is None for line in coins):
        return None
    moves = WalletAudit(connection, query).moves(*query.span, {line.group: line.figures.net for line in coins})
    return None if moves is None else rates.in_usdt({move.coin: move.unexplained for move in moves})

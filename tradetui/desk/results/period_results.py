"""Everything that is known of what a period brought in, read from the archive's file in one go."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta, tzinfo
from decimal import Decimal

from tradetui.desk.archive.equity import end_sample
from tradetui.desk.archive.results import MissingSpan, QuarterSums, ResultQuery, missing_spans, quarter_sums
from tradetui.desk.results.conversion import DOLLAR_COINS, Rates, in_usdt
from tradetui.desk.results.equity_of_period import EquityOfPeriod, equity_of_period
from tradetui.desk.results.figures import ResultFigures, ResultLine
from tradetui.desk.results.period import Period, day_at
from tradetui.trading.money import ZERO
from tradetui.trading.results.periods import Grouping, ResultSums, day_of_quarter, day_start_ms
from tradetui.trading.results.returns import CashFlow
from tradetui.wire.product_types import ProductType

USDT = "USDT"


@dataclass(frozen=True, slots=True)
class PeriodQuery:
    """Which results: a period, the product types of the session, and of which symbols (None: of all).

    `now_ms` is the exchange's time, Unix ms: figures of days that are not over last until then.
    """

    period: Period
    now_ms: int
    product_types: tuple[ProductType, ...]
    symbols: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodResults:
    """What a period brought in, in USDT where a coin's worth is known.

    `total` sums what can be turned over into USDT; `other_coins` are fees and profit of coins that cannot, each in
    its own and never in a USDT net. `symbols` and `days` are in USDT, `coins` each in its own. `days` are all calendar
    days of the period from the first with a fill, oldest first. `unexplained` is what the wallets moved by beyond net
    and transfers, None where one of these is not known; `equity` is empty where symbols were chosen. `missing` are the
    stretches of the period of which fills are not read yet.
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

    @property
    def result(self) -> Decimal | None:
        """Net, the change of what is open, and what is unexplained where that is known; None without the change."""
        change = self.equity.open_change
        return None if change is None else self.total.net + change + (self.unexplained or ZERO)

    @property
    def result_part(self) -> Decimal | None:
        """The result as a fraction, time-weighted; None where no sample is near the period's start."""
        return self.equity.time_weighted if self.equity.start is not None and self.equity.end is not None else None

    @property
    def wallet_moved(self) -> Decimal | None:
        """What the wallets moved by: net, transfers and what is unexplained; None where one is not known."""
        transferred = self.equity.transferred
        if transferred is None or self.unexplained is None:
            return None
        return self.total.net + transferred + self.unexplained

    @property
    def green_days(self) -> int:
        """Days whose net is above zero."""
        return sum(line.figures.net > ZERO for line in self.days)

    @property
    def red_days(self) -> int:
        """Days whose net is below zero."""
        return sum(line.figures.net < ZERO for line in self.days)

    @property
    def flat_days(self) -> int:
        """Days that came to nothing."""
        return len(self.days) - self.green_days - self.red_days

    @property
    def best_day(self) -> ResultLine | None:
        """The day of the greatest net, the first of several; None where no day is above zero."""
        best = max(self.days, key=lambda line: line.figures.net, default=None)
        return best if best is not None and best.figures.net > ZERO else None

    @property
    def worst_day(self) -> ResultLine | None:
        """The day of the least net, the first of several; None where no day is below zero."""
        worst = min(self.days, key=lambda line: line.figures.net, default=None)
        return worst if worst is not None and worst.figures.net < ZERO else None


def read_period_results(connection: sqlite3.Connection, query: PeriodQuery) -> PeriodResults:
    """The results of a period; the ledger is to be brought forward before. Blocks on the disk."""
    period, zone = query.period, query.period.zone
    ledger_query = ResultQuery(
        Grouping.DAY, query.now_ms, period.since, period.until, query.symbols, query.product_types, zone
    )
    rates = Rates.of(end_sample(connection, query.product_types, newest=True))
    sums = _PeriodSums(rates, zone)
    for quarter in quarter_sums(connection, ledger_query):
        sums.add(quarter)
    last_ms = min(period.until, query.now_ms)
    missing = tuple(
        span
        for span in missing_spans(connection, query.now_ms)
        if span.product_type in query.product_types and span.since <= last_ms and (period.since or 0) <= span.until
    )
    completeness = _Completeness(missing, period.since or 0, last_ms)
    transfers: Sequence[CashFlow] | None = None
    equity = EquityOfPeriod()
    if query.symbols is None:
        equity = equity_of_period(connection, query.product_types, period.since, period.until, query.now_ms, transfers)
    return PeriodResults(
        period=period,
        now_ms=query.now_ms,
        total=sums.total.figures(is_complete=not missing),
        other_coins=tuple(
            ResultLine(coin, coin, _Sums(own).figures(is_complete=completeness.of_coin(coin)))
            for coin, own in sorted(sums.other_coins.items())
        ),
        symbols=tuple(
            ResultLine(symbol, USDT, own.figures(is_complete=completeness.of_types(sums.types_of_symbol[symbol])))
            for symbol, own in sorted(sums.by_symbol.items())
        ),
        days=tuple(_days(sums, completeness, day_at(last_ms, zone), zone)),
        coins=tuple(
            ResultLine(coin, coin, _Sums(own).figures(is_complete=completeness.of_coin(coin)))
            for coin, own in sorted(sums.by_coin.items())
        ),
        equity=equity,
        missing=missing,
    )


@dataclass(slots=True)
class _Sums:
    sums: ResultSums = field(default_factory=ResultSums)
    is_converted: bool = False

    def add(self, sums: ResultSums, *, is_converted: bool) -> None:
        self.sums.add(sums)
        self.is_converted = self.is_converted or is_converted

    def figures(self, *, is_complete: bool) -> ResultFigures:
        sums = self.sums
        return ResultFigures(
            gross=sums.gross,
            fees=sums.fees,
            volume=sums.volume,
            orders=sums.trades,
            won=sums.wins,
            lost=sums.losses,
            won_amount=sums.won,
            lost_amount=sums.lost,
            is_converted=self.is_converted,
            is_complete=is_complete,
        )


class _PeriodSums:
    """The sums of a period by symbol, day and coin, taken in quarter-hour by quarter-hour."""

    def __init__(self, rates: Rates, zone: tzinfo) -> None:
        self._rates = rates
        self._zone = zone
        self.total = _Sums()
        self.by_symbol: defaultdict[str, _Sums] = defaultdict(_Sums)
        self.types_of_symbol: defaultdict[str, set[str]] = defaultdict(set)
        self.by_day: defaultdict[date, _Sums] = defaultdict(_Sums)
        self.by_coin: defaultdict[str, ResultSums] = defaultdict(ResultSums)
        self.other_coins: defaultdict[str, ResultSums] = defaultdict(ResultSums)

    def add(self, quarter: QuarterSums) -> None:
        """Take in the figures of a leg's quarter-hour."""
        self.by_coin[quarter.coin].add(quarter.sums)
        rate = self._rates.rate_of(quarter.product_type, quarter.symbol, quarter.coin)
        day = self.by_day[day_of_quarter(quarter.quarter, self._zone)]
        self.types_of_symbol[quarter.symbol].add(quarter.product_type)
        if rate is None:
            self.other_coins[quarter.coin].add(quarter.sums)
            return
        sums, is_converted = in_usdt(quarter.sums, rate), quarter.coin not in DOLLAR_COINS
        for group in (self.total, self.by_symbol[quarter.symbol], day):
            group.add(sums, is_converted=is_converted)


class _Completeness:
    """Whether fills of a group are missing."""

    def __init__(self, missing: Sequence[MissingSpan], since: int, until: int) -> None:
        self._missing, self._since, self._until = missing, since, until

    def of_coin(self, coin: str) -> bool:
        return not any(span.touches(self._since, self._until, coin) for span in self._missing)

    def of_types(self, product_types: Iterable[str]) -> bool:
        return not any(span.product_type in product_types for span in self._missing)

    def of_span(self, since: int, until: int) -> bool:
        return not any(span.since <= until and since <= span.until for span in self._missing)


def _days(sums: _PeriodSums, completeness: _Completeness, last_day: date, zone: tzinfo) -> Iterable[ResultLine]:
    """Every calendar day from the first with a fill to the last of the period that has begun."""
    day = min(sums.by_day, default=None)
    while day is not None and day <= last_day:
        following = day + timedelta(days=1)
        is_complete = completeness.of_span(day_start_ms(day, zone), day_start_ms(following, zone) - 1)
        figures = sums.by_day.get(day, _Sums()).figures(is_complete=is_complete)
        yield ResultLine(day.isoformat(), USDT, figures, day)
        day = following

"""Everything that is known of what a period brought in, read from the archive's file in one go."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo
from decimal import Decimal

from tradetui.desk.archive.bills import FundingSum, funding_by_quarter, price_near
from tradetui.desk.archive.equity import first_sample, last_sample
from tradetui.desk.archive.results import (
    BillsRead,
    MissingSpan,
    QuarterSums,
    ResultQuery,
    legs_wait,
    missing_spans,
    quarter_sums,
)
from tradetui.desk.results.conversion import DOLLAR_COINS, Rates, in_usdt
from tradetui.desk.results.equity_of_period import EquityOfPeriod, equity_of_period
from tradetui.desk.results.figures import ResultFigures, ResultLine
from tradetui.desk.results.period import Period, day_at
from tradetui.desk.results.wallet import wallet_moves
from tradetui.trading.money import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import Grouping, ResultSums, day_of_quarter, day_start_ms
from tradetui.wire.product_types import ProductType
from tradetui.wire.time_windows import DAY_MS

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
    stretches of the period of which fills are not read yet. `orders_complete` is False while closing orders of some
    legs are not counted: they wait for older fills, whose reading is under way.
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
    rates = Rates.of(last_sample(connection, query.product_types, query.now_ms))
    sums = _PeriodSums(rates, zone)
    for quarter in quarter_sums(connection, ledger_query):
        sums.add(quarter)
    prices = _FundingPrices(connection)
    for funding in funding_by_quarter(connection, period.since, period.until, *ledger_query.condition):
        sums.add_funding(funding, prices)
    last_ms = min(period.until, query.now_ms)
    missing = tuple(
        span
        for span in missing_spans(connection, query.now_ms)
        if span.product_type in query.product_types and span.since <= last_ms and (period.since or 0) <= span.until
    )
    since = _first_known(connection, query) if period.since is None else period.since
    known = _Known(missing, BillsRead(connection, ledger_query), since, last_ms)
    coins = tuple(
        replace(_coin_line(coin, own, known), symbols=tuple(sorted(sums.symbols_of_coin[coin])))
        for coin, own in sorted(sums.by_coin.items())
    )
    equity, unexplained = EquityOfPeriod(), None
    if query.symbols is None:
        unexplained = _unexplained(connection, replace(ledger_query, until=last_ms), coins, rates)
        equity = equity_of_period(connection, query.product_types, since, period.until, query.now_ms, rates)
    return PeriodResults(
        period=period,
        now_ms=query.now_ms,
        total=sums.total.figures(known, is_complete=not missing),
        other_coins=tuple(_coin_line(coin, own, known) for coin, own in sorted(sums.other_coins.items())),
        symbols=tuple(
            ResultLine(symbol, USDT, own.figures(known, is_complete=known.types_complete(sums.types_of_symbol[symbol])))
            for symbol, own in sorted(sums.by_symbol.items())
        ),
        days=tuple(_days(sums, known, last_ms, zone)),
        coins=coins,
        equity=equity,
        unexplained=unexplained,
        missing=missing,
        orders_complete=not legs_wait(connection),
    )


def _unexplained(
    connection: sqlite3.Connection, query: ResultQuery, coins: Sequence[ResultLine], rates: Rates
) -> Decimal | None:
    """What the wallets did beyond net and transfers, in USDT; None where that, or a coin's worth, is not known."""
    if any(line.figures.funding is None for line in coins):
        return None
    moves = wallet_moves(connection, query, {line.group: line.figures.net for line in coins})
    total = ZERO
    for move in () if moves is None else moves:
        rate = rates.of_coin(move.coin)
        if move.unexplained and rate is None:
            return None
        total += move.unexplained * (rate or ZERO)
    return None if moves is None else total


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


@dataclass(slots=True)
class _Sums:
    """Sums of a group in one coin, and the coins that it was turned over from."""

    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal = ZERO
    coins: set[str] = field(default_factory=set)

    def add(self, sums: ResultSums, coin: str) -> None:
        self.sums.add(sums)
        self.coins.add(coin)

    def add_funding(self, amount: Decimal, coin: str) -> None:
        self.funding += amount
        self.coins.add(coin)

    def figures(
        self, known: _Known, *, is_complete: bool, since: int | None = None, until: int | None = None
    ) -> ResultFigures:
        """The figures; `since` and `until` (Unix ms) are the group's own period, where it is a part of the whole."""
        sums = self.sums
        return ResultFigures(
            gross=sums.gross,
            fees=sums.fees,
            funding=self.funding if known.funding_known(self.coins, since, until) else None,
            volume=sums.volume,
            orders=sums.trades,
            won=sums.wins,
            lost=sums.losses,
            won_amount=sums.won,
            lost_amount=sums.lost,
            is_converted=not self.coins <= DOLLAR_COINS,
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
        self.by_coin: defaultdict[str, _Sums] = defaultdict(_Sums)
        self.symbols_of_coin: defaultdict[str, set[str]] = defaultdict(set)
        self.other_coins: defaultdict[str, _Sums] = defaultdict(_Sums)

    def add(self, quarter: QuarterSums) -> None:
        """Take in the figures of a leg's quarter-hour."""
        coin = quarter.coin
        self.by_coin[coin].add(quarter.sums, coin)
        self.symbols_of_coin[coin].add(quarter.symbol)
        rate = self._rates.rate_of(quarter.product_type, quarter.symbol, coin)
        if rate is None:
            self.other_coins[coin].add(quarter.sums, coin)
            return
        sums = in_usdt(quarter.sums, rate)
        for group in self._groups(quarter.quarter, quarter.product_type, quarter.symbol):
            group.add(sums, coin)

    def add_funding(self, funding: FundingSum, prices: _FundingPrices) -> None:
        """Take in the funding of a symbol's quarter-hour."""
        coin, amount = funding.coin, funding.amount
        self.by_coin[coin].add_funding(amount, coin)
        self.symbols_of_coin[coin].add(funding.symbol)
        rate: Decimal | None = self._rates.rate_of(funding.product_type, funding.symbol, coin)
        if rate == ZERO:
            rate = prices.price_of(funding)
        if rate is None:
            self.other_coins[coin].add_funding(amount, coin)
            return
        for group in self._groups(funding.quarter, funding.product_type, funding.symbol):
            group.add_funding(amount * rate, coin)

    def _groups(self, quarter: int, product_type: str, symbol: str) -> tuple[_Sums, ...]:
        self.types_of_symbol[symbol].add(product_type)
        return self.total, self.by_symbol[symbol], self.by_day[day_of_quarter(quarter, self._zone)]


class _FundingPrices:
    """What a coin was worth when funding was paid in it: the price of the fill nearest to the day's first payment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._prices: dict[tuple[str, str, int], Decimal | None] = {}

    def price_of(self, funding: FundingSum) -> Decimal | None:
        """USDT for one coin; None without a fill of the coin's contract."""
        time = funding.quarter * QUARTER_MS
        key = (funding.product_type, funding.coin, time // DAY_MS)
        if key not in self._prices:
            self._prices[key] = price_near(self._connection, funding.product_type, funding.coin, time)
        return self._prices[key]


class _Known:
    """Whether fills of a group are missing, and whether its funding is known."""

    def __init__(self, missing: Sequence[MissingSpan], bills: BillsRead, since: int, until: int) -> None:
        self._missing, self._bills, self._since, self._until = missing, bills, since, until

    def coin_complete(self, coin: str) -> bool:
        """Whether no fill that may be settled in a coin is missing."""
        return not any(span.touches(self._since, self._until, coin) for span in self._missing)

    def types_complete(self, product_types: Iterable[str]) -> bool:
        """Whether no fill of the product types is missing."""
        return not any(span.product_type in product_types for span in self._missing)

    def span_complete(self, since: int, until: int) -> bool:
        """Whether no fill of a part of the period (Unix ms) is missing."""
        return not any(span.since <= until and since <= span.until for span in self._missing)

    def funding_known(self, coins: Collection[str], since: int | None, until: int | None) -> bool:
        """Whether all bills are read that may tell of funding in the coins, of the whole period or a part of it."""
        first, last = self._since if since is None else since, self._until if until is None else until
        return all(self._bills.hold(first, last, coin) for coin in coins or (USDT,))


def _coin_line(coin: str, sums: _Sums, known: _Known) -> ResultLine:
    figures = sums.figures(known, is_complete=known.coin_complete(coin))
    return ResultLine(coin, coin, replace(figures, is_converted=False))


def _days(sums: _PeriodSums, known: _Known, last_ms: int, zone: tzinfo) -> Iterable[ResultLine]:
    """Every calendar day from the first with a fill to the last of the period that has begun."""
    day, last_day = min(sums.by_day, default=None), day_at(last_ms, zone)
    while day is not None and day <= last_day:
        following = day + timedelta(days=1)
        since, until = day_start_ms(day, zone), min(day_start_ms(following, zone) - 1, last_ms)
        own = sums.by_day.get(day, _Sums())
        figures = own.figures(known, is_complete=known.span_complete(since, until), since=since, until=until)
        yield ResultLine(day.isoformat(), USDT, figures, day)
        day = following

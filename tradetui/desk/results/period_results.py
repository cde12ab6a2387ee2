"""All results of a period, read from the archive's file at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo
from decimal import Decimal
from operator import attrgetter
from typing import Final

from tradetui.desk.archive.equity import EquitySeries, Rates, first_sample, last_sample
from tradetui.desk.archive.ledger.missing_fills import MissingSpan, missing_spans, spans_never_kept, were_read
from tradetui.desk.archive.ledger_queries import BillsRead, ResultQuery, legs_wait
from tradetui.desk.archive.span_sums import USDT
from tradetui.desk.results.equity_of_period import EquityOfPeriod, equity_of_period
from tradetui.desk.results.period import Period, PeriodQuery
from tradetui.desk.results.period_sums import CoinSums, Known, PeriodSums, period_sums
from tradetui.desk.results.result_figures import ResultFigures, ResultLine
from tradetui.desk.results.wallet import WalletAudit, unexplained_by_day
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import Grouping, day_at, day_start_ms


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
        """The result as a fraction, time-weighted; None where no sample is near the period's start."""
        return self.equity.time_weighted if self.equity.start is not None and self.equity.end is not None else None

    @property
    def wallet_moved(self) -> Decimal | None:
        """The change of the wallets: net, transfers and the unexplained; None where one is not known."""
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
        return max((line for line in self.days if line.figures.net > ZERO), key=_net_of, default=None)

    @property
    def worst_day(self) -> ResultLine | None:
        """The day of the least net, the first of several; None where no day is below zero."""
        return min((line for line in self.days if line.figures.net < ZERO), key=_net_of, default=None)


def read_period_results(
    connection: sqlite3.Connection, query: PeriodQuery, sampled: EquitySeries | None = None
) -> PeriodResults:
    """The results of a period; the ledger is to be brought forward before. Blocks on the disk, and may write to it.

    `sampled` is the equity of the query's product types, as far as it was read before.
    """
    period, zone = query.period, query.period.zone
    since = _first_known(connection, query) if period.since is None else period.since
    last_ms = min(period.until, query.now_ms)
    rates = Rates.of(last_sample(connection, query.product_types, query.now_ms))
    sums = period_sums(connection, query, rates, day_at(since, zone), day_at(last_ms, zone))
    missing = tuple(
        span
        for span in (
            *missing_spans(connection, query.now_ms),
            # Of product types whose first page of fills has not come yet it is all of the time.
            *(MissingSpan(kind, 0, query.now_ms) for kind in query.product_types if not were_read(connection, kind)),
            *spans_never_kept(connection, query.product_types, period.since),
        )
        if span.product_type in query.product_types and span.meets(since, last_ms)
    )
    ledger_query = ResultQuery(Grouping.TOTAL, query.now_ms, since, period.until, None, query.product_types)
    known = Known(missing, BillsRead(connection, ledger_query), since, last_ms)
    coins = tuple(
        replace(_coin_line(coin, own, known), symbols=tuple(sorted(sums.symbols_of_coin[coin])))
        for coin, own in sorted(sums.by_coin.items())
    )
    equity, unexplained = EquityOfPeriod(), None
    if query.symbols is None and query.with_equity:
        unexplained = _unexplained(connection, replace(ledger_query, until=last_ms), coins, rates)
        equity = equity_of_period(connection, query.product_types, since, period.until, query.now_ms, rates, sampled)
    days = tuple(_days(sums, known, last_ms, zone))
    if query.symbols is None and query.audits_days:
        by_day = replace(ledger_query, grouping=Grouping.DAY, zone=zone)
        beyond = unexplained_by_day(connection, by_day, rates)
        days = tuple(replace(line, figures=replace(line.figures, unexplained=beyond.get(line.group))) for line in days)
    return PeriodResults(
        period=period,
        now_ms=query.now_ms,
        total=sums.total.figures(known, is_complete=not missing),
        other_coins=tuple(_coin_line(coin, own, known) for coin, own in sorted(sums.other_coins.items())),
        symbols=tuple(
            ResultLine(symbol, USDT, own.figures(known, is_complete=known.types_complete(sums.types_of_symbol[symbol])))
            for symbol, own in sorted(sums.by_symbol.items())
        ),
        days=days,
        coins=coins,
        equity=equity,
        unexplained=unexplained,
        missing=missing,
        orders_complete=not legs_wait(connection),
    )


def _unexplained(
    connection: sqlite3.Connection, query: ResultQuery, coins: Sequence[ResultLine], rates: Rates
) -> Decimal | None:
    """The change of the wallets beyond net and transfers, in USDT; None where that, or a coin's rate, is not known."""
    if any(line.figures.funding is None for line in coins):
        return None
    moves = WalletAudit(connection, query).moves(*query.span, {line.group: line.figures.net for line in coins})
    return None if moves is None else rates.in_usdt({move.coin: move.unexplained for move in moves})


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


def _coin_line(coin: str, sums: CoinSums, known: Known) -> ResultLine:
    figures = sums.figures(known, is_complete=known.coin_complete(coin))
    return ResultLine(coin, coin, replace(figures, is_converted=False))


def _days(sums: PeriodSums, known: Known, last_ms: int, zone: tzinfo) -> Iterable[ResultLine]:
    """Every calendar day from the first with a fill to the last of the period that has begun."""
    day, last_day = min(sums.by_day, default=None), day_at(last_ms, zone)
    coins = sums.total.coins
    rest_known = not known.missing and known.funding_known(coins)
    while day is not None and day <= last_day:
        following = day + timedelta(days=1)
        own, is_complete, funding_known = sums.by_day.get(day, _NOTHING), True, True
        if not rest_known:
            since, until = day_start_ms(day, zone), min(day_start_ms(following, zone) - 1, last_ms)
            is_complete, funding_known = known.span_complete(since, until), known.funding_known(coins, since, until)
            # Once nothing is missing any more, as mostly, the days that follow need not be asked for one by one.
            rest_known = known.span_complete(until + 1, last_ms) and known.funding_known(coins, until + 1, last_ms)
        figures = own.figures(known, is_complete=is_complete, funding_known=funding_known)
        yield ResultLine(day.isoformat(), USDT, figures, day)
        day = following


_NOTHING: Final = CoinSums()
_net_of: Final = attrgetter("figures.net")

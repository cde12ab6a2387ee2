"""Sums of results as shown: one line per group and coin, and whether a part of it is missing.

A figure never looks more certain than it is: it is marked if fills are missing, and funding is None, not zero, if bills
are missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from tradetui.desk.archive.coverage import TimeSpan
from tradetui.desk.archive.ledger.missing_fills import MissingSpan, missing_spans, spans_never_kept, were_read
from tradetui.desk.archive.ledger_queries import USDT, BillsRead, GroupSums, ResultQuery, day_groups
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import PERIODS, Grouping, first_day, period_name, period_span
from tradetui.trading.results.trips import ResultSums


@dataclass(frozen=True, slots=True)
class ResultLine:
    """Trading results of one group, all amounts in `coin`; paid fees and funding are negative.

    `group` is a symbol, a coin, or the name of a day, week or month (`day` is set for a day); it is empty for the
    total. `sums` count closing orders (`trades`) by profit and own fees; zero is neither won nor lost. `funding` is
    None if not known, and then not in `net`. `is_converted` is set if a part was converted from another coin;
    `marks_conversion` is False if one mark stands for all lines. `is_complete` is set if no fill is known to be
    missing, or to lack its fee or profit. `unexplained` is the change of the wallets beyond net and transfers; None if
    not known or not requested. `symbols` are the symbols of a coin's results.
    """

    group: str = ""
    coin: str = USDT
    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal | None = None
    is_converted: bool = False
    is_complete: bool = True
    unexplained: Decimal | None = None
    day: date | None = None
    symbols: tuple[str, ...] = ()
    marks_conversion: bool = True

    @property
    def net(self) -> Decimal:
        """Gross, fees and funding; without funding if that is not known."""
        return self.sums.net + (self.funding or ZERO)

    @property
    def fees_part(self) -> Decimal | None:
        """Paid fees as a fraction of the gross profit; None without gross profit."""
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


class ResultCoverage:
    """The missing fills of a query's period, and the parts of it whose funding is known."""

    def __init__(self, connection: sqlite3.Connection, query: ResultQuery) -> None:
        self._query = query
        self._held_coins: dict[str, bool] = {}
        # For product types whose fills were never read, the whole time is missing.
        never_read = [
            MissingSpan(product_type, 0, query.now_ms)
            for product_type in query.product_types
            if not were_read(connection, product_type)
        ]
        never_kept = spans_never_kept(connection, query.product_types, query.since)
        self._spans = tuple(
            span
            for span in (*missing_spans(connection, query.now_ms, is_over=True), *never_read, *never_kept)
            if span.product_type in query.product_types and span.meets(*query.span)
        )
        self._bills = BillsRead(connection, query.product_types)

    @property
    def missing(self) -> tuple[MissingSpan, ...]:
        """Spans of missing fills; for an unfinished period without the short time since the last read."""
        return tuple(span for span in self._spans if self._query.until is not None or not span.is_recent)

    def is_complete(self, since: int, until: int, coin: str = "", product_types: Collection[str] = ()) -> bool:
        """Whether no fill of a part of the period (Unix ms) is missing, in `coin` and `product_types` if given."""
        goes_on = self._query.until is None and until >= self._query.now_ms
        return not any(
            (span.touches(since, until, coin) if coin else span.meets(since, until))
            and (not product_types or span.product_type in product_types)
            and not (goes_on and span.is_recent)
            for span in self._spans
        )

    def is_funding_known(self, since: int, until: int, coins: Iterable[str]) -> bool:
        """Whether all bills are read that may hold funding in these coins in a part of the period (Unix ms)."""
        return all(self._holds_all(coin) or self._bills.hold(since, until, coin) for coin in coins)

    def _holds_all(self, coin: str) -> bool:
        """Whether the funding in a coin is known for the whole period, and so for every part of it."""
        if coin not in self._held_coins:
            self._held_coins[coin] = self._bills.hold(*self._query.span, coin)
        return self._held_coins[coin]

    def line(
        self,
        groups: Iterable[GroupSums],
        span: TimeSpan,
        group: str = "",
        coin: str = USDT,
        *,
        from_coins: Collection[str] | None = None,
        product_types: Collection[str] = (),
        day: date | None = None,
        symbols: tuple[str, ...] = (),
    ) -> ResultLine:
        """Sum results in a coin over a part of the period.

        `from_coins` are the coins that the results were converted from, if any. Then missing fills in any coin count,
        limited to `product_types` if given.
        """
        whole = GroupSums("", "", coin)
        for part in groups:
            whole.add(part)
        is_complete = self.is_complete(*span, coin if from_coins is None else "", product_types)
        is_funding_known = self.is_funding_known(*span, from_coins or (coin,))
        return ResultLine(
            group=group,
            coin=coin,
            sums=whole.sums,
            funding=whole.funding if is_funding_known else None,
            is_converted=whole.is_converted,
            is_complete=is_complete and not whole.sums.incomplete_fills,
            day=day,
            symbols=symbols,
        )


def result_lines(connection: sqlite3.Connection, query: ResultQuery) -> list[ResultLine]:
    """Return the results of a period by group and coin, not converted; a group has at least a fill or funding."""
    folds: dict[tuple[str, str], GroupSums] = {}
    days: dict[str, date] = {}
    for day, results in day_groups(connection, query):
        name = {Grouping.SYMBOL: results.symbol, Grouping.COIN: results.coin}.get(query.grouping, "")
        if query.grouping in PERIODS:
            first = first_day(day, query.grouping)
            name = period_name(first, query.grouping)
            days[name] = first
        folds.setdefault((name, results.coin), GroupSums("", "", results.coin)).add(results)
    coverage = ResultCoverage(connection, query)
    lines = []
    for (name, coin), fold in sorted(folds.items(), key=lambda entry: entry[0]):
        span = TimeSpan(*query.span)
        if name in days:
            first_ms, last_ms = period_span(days[name], query.grouping, query.zone)
            span = TimeSpan(max(span.since, first_ms), min(span.until, last_ms))
        lines.append(coverage.line((fold,), span, name, coin))
    return lines

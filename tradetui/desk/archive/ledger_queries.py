"""Reads the ledger: results of a period by day, symbol or coin, and their missing parts."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, timedelta, tzinfo
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from tradetui.desk.archive.bills import bill_coverage, funding_by_quarter
from tradetui.desk.archive.coverage import NO_END, BillCoverage, TimeSpan
from tradetui.desk.archive.ledger.missing_fills import (
    READ_LATELY_MS,
    fills_read_until,
    first_quarter_before,
    has_booked_fills,
    missing_spans,
    settles_in,
    spans_never_kept,
)
from tradetui.desk.archive.ledger.quarter_hours import FIGURES, read_booked_fill, sums_of
from tradetui.desk.archive.span_sums import QuarterSpan, span_sums
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import (
    PERIODS,
    Grouping,
    cut_by_quarters,
    day_at,
    day_of_quarter,
    day_start_ms,
    first_day,
    period_name,
    period_span,
    quarter_of,
)
from tradetui.trading.results.trips import ResultSums
from tradetui.wire.product_types import ProductType


@dataclass(frozen=True, slots=True)
class ResultQuery:
    """A query of results: from `since` to `until` (Unix ms, both included; None: no bound), of these symbols or of all.

    Days, weeks and months begin in `zone`. `now_ms` is where a period without an end ends.
    """

    grouping: Grouping
    now_ms: int
    since: int | None = None
    until: int | None = None
    symbols: tuple[str, ...] | None = None
    product_types: tuple[ProductType, ...] | None = None
    zone: tzinfo = UTC

    @property
    def condition(self) -> tuple[str, list[str]]:
        """The SQL condition on symbols and product types, to be put behind another condition, and its values."""
        parts, values = "", []
        for column, chosen in (("symbol", self.symbols), ("product_type", self.product_types)):
            if chosen is not None:
                parts += f" AND {column} IN ({', '.join('?' * len(chosen))})"
                values += [str(name) for name in chosen]
        return parts, values

    @property
    def bounds(self) -> TimeSpan:
        """The first and last moment of the period (Unix ms); one without an end lasts until `NO_END`."""
        return TimeSpan(self.since or 0, NO_END if self.until is None else self.until)

    @property
    def span(self) -> tuple[int, int]:
        """The first and last moment of the period; one without an end lasts until now."""
        return self.since or 0, self.now_ms if self.until is None else self.until


@dataclass(frozen=True, slots=True)
class ResultRow:
    """Results of one group in one coin; `funding` is None where bills of the period were not read.

    `group` is a symbol or a coin, the name of a period, or empty for the total. `complete` is False where fills of
    the period are known to be missing, or came without their fee or profit. `unexplained` is what the wallet did
    beyond net and transfers, None where that was not requested or is not known.
    """

    group: str
    coin: str
    sums: ResultSums
    complete: bool
    funding: Decimal | None = None
    unexplained: Decimal | None = None

    @property
    def net(self) -> Decimal:
        """Gross, fees and funding; without funding where that is not known."""
        return self.sums.net + (self.funding or ZERO)


def results(connection: sqlite3.Connection, query: ResultQuery) -> list[ResultRow]:
    """The results of a period, by group and coin; groups without a fill and without funding are left out."""
    missing = missing_spans(connection, query.now_ms, is_over=True)
    missing += spans_never_kept(connection, query.product_types, query.since)
    bills = BillsRead(connection, query.product_types)
    rows = []
    for (group, coin), figures in sorted(
        _groups(connection, query).items(), key=lambda entry: (str(entry[0][0]), entry[0][1])
    ):
        since, until = query.span
        if isinstance(group, date):
            first, last = period_span(group, query.grouping, query.zone)
            since, until = max(since, first), min(until, last)
        goes_on = query.until is None and until == query.now_ms
        lacks_fills = any(span.touches(since, until, coin) for span in missing if not (goes_on and span.is_recent))
        complete = not figures.sums.incomplete_fills and not lacks_fills
        name = period_name(group, query.grouping) if isinstance(group, date) else group
        funding = figures.funding if bills.hold(since, until, coin) else None
        rows.append(ResultRow(name, coin, figures.sums, complete, funding))
    return rows


@dataclass(slots=True)
class _Figures:
    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal = ZERO


def _groups(connection: sqlite3.Connection, query: ResultQuery) -> Mapping[tuple[date | str, str], _Figures]:
    """The period's figures by group and coin; a day, week or month goes by its first day."""
    groups: defaultdict[tuple[date | str, str], _Figures] = defaultdict(_Figures)
    for quarter, _, symbol, coin, sums in _day_sums(connection, query):
        groups[_group_of(query, quarter, symbol, coin), coin].sums.add(sums)
    for quarter, _, symbol, coin, amount in funding_by_quarter(connection, query.since, query.until, *query.condition):
        groups[_group_of(query, quarter, symbol, coin), coin].funding += amount
    return groups


class _ReadExtent(NamedTuple):
    """How far bills and fills of a product type are read; no funding was paid before its first fill (Unix ms)."""

    product_type: ProductType
    bills: BillCoverage
    first_fill: int | None
    fills_until: int | None


class BillsRead:
    """How far bills of some product types (None: of all) are read, beside how far fills are."""

    def __init__(self, connection: sqlite3.Connection, product_types: Sequence[ProductType] | None) -> None:
        self._extents: list[_ReadExtent] = []
        for product_type in product_types or tuple(ProductType):
            coverage = bill_coverage(connection, product_type)
            has_fills = has_booked_fills(connection, product_type)
            if not has_fills and coverage.until is None:
                continue
            first_fill = None
            if has_fills and coverage.since is not None:
                # A fill earlier than the stretch of bills without a gap makes it matter whether older bills are read.
                read_from = max([coverage.since, *(gap.until + 1 for gap in coverage.gaps)])
                earlier = first_quarter_before(connection, product_type, read_from)
                first_fill = read_from if earlier is None else earlier
            fills_until = fills_read_until(connection, product_type)
            self._extents.append(_ReadExtent(product_type, coverage, first_fill, fills_until))

    def hold(self, since: int, until: int, coin: str) -> bool:
        """Whether the funding in a coin is known of a period, as far as fills are read; nothing was before the first.

        Fills are read more often than bills: what bills may lack of the newest is what `READ_LATELY_MS` allows.
        """
        for product_type, bills, first_fill, fills_until in self._extents:
            if not settles_in(product_type, coin):
                continue
            start = since if first_fill is None else max(since, first_fill)
            end = until if fills_until is None else min(until, fills_until - READ_LATELY_MS)
            if not bills.holds_settlements(min(start, end), end):
                return False
        return True


def bills_behind(connection: sqlite3.Connection, product_type: ProductType, until: int) -> bool:
    """Whether fills were read further than bills, and a settlement up to `until` (Unix ms) may have come since."""
    read_until = bill_coverage(connection, product_type).until
    fills_until = fills_read_until(connection, product_type)
    if read_until is None or fills_until is None:
        return False
    end = min(until, fills_until - READ_LATELY_MS)
    return not BillCoverage(read_until, read_until).holds_settlements(read_until, end)


def legs_wait(connection: sqlite3.Connection) -> bool:
    """Whether some legs are not brought forward: they wait for older fills, which would send them back again."""
    return connection.execute("SELECT 1 FROM ledger_leg WHERE behind LIMIT 1").fetchone() is not None


class QuarterSums(NamedTuple):
    """Figures of a leg's fills in one coin within one quarter-hour of UTC, counted from 1970."""

    quarter: int
    product_type: str
    symbol: str
    coin: str
    sums: ResultSums


def _day_sums(connection: sqlite3.Connection, query: ResultQuery) -> Iterator[QuarterSums]:
    """The period's figures by day, under the day's first quarter-hour, and by quarter-hour where no day is whole.

    Whole days are those of the zone that are over.
    """
    since, until = query.span
    first_quarter = connection.execute("SELECT min(quarter) FROM ledger_quarter").fetchone()[0]
    until = min(until, query.now_ms)
    if first_quarter is None or until < since:
        return
    day, beyond = day_at(max(since, first_quarter * QUARTER_MS), query.zone), day_at(until + 1, query.zone)
    if day_start_ms(day, query.zone) < since:
        day += timedelta(days=1)
    if day >= beyond:
        yield from quarter_sums(connection, query)
        return
    starts = [day_start_ms(day + timedelta(days=number), query.zone) for number in range((beyond - day).days + 1)]
    if query.since is not None and query.since < starts[0]:
        yield from quarter_sums(connection, replace(query, until=starts[0] - 1))
    spans = [QuarterSpan(quarter_of(start), quarter_of(end)) for start, end in pairwise(starts)]
    for span, groups in span_sums(connection, spans, spans[-1].beyond, by_symbol=True):
        for group in groups:
            of_type = query.product_types is None or group.product_type in query.product_types
            if of_type and (query.symbols is None or group.symbol in query.symbols):
                yield QuarterSums(span.first, group.product_type, group.symbol, group.coin, group.sums)
    yield from quarter_sums(connection, replace(query, since=starts[-1]))


def quarter_sums(connection: sqlite3.Connection, query: ResultQuery) -> Iterator[QuarterSums]:
    """The period's figures by quarter-hour; where it begins or ends within one, of the part that counts."""
    first, beyond, ends = cut_by_quarters(query.since, query.until)
    condition, values = query.condition
    rows = connection.execute(
        f"SELECT quarter, product_type, symbol, coin, {FIGURES} FROM ledger_quarter"
        f" WHERE quarter >= ? AND quarter < ?{condition}",
        (first, beyond, *values),
    )
    for quarter, product_type, symbol, coin, *figures in rows:
        yield QuarterSums(quarter, product_type, symbol, coin, sums_of(figures))
    for since, until in ends:
        yield from _part(connection, query, since, until)


def _part(connection: sqlite3.Connection, query: ResultQuery, since: int, until: int) -> Iterator[QuarterSums]:
    """Figures of a part of one quarter-hour, from its fills and closing orders themselves."""
    quarter = quarter_of(since)
    condition, values = query.condition
    fills = connection.execute(
        f"SELECT product_type, time, body FROM record WHERE kind = 'fill' AND time BETWEEN ? AND ?{condition}",
        (since, until, *values),
    )
    for product_type, time, body in fills:
        fill = read_booked_fill(product_type, body, time)
        if fill is None:
            continue
        for booking in fill.bookings():
            sums = ResultSums()
            sums.book(booking)
            yield QuarterSums(quarter, product_type, fill.key.symbol, booking.coin, sums)
    # A cross join has SQLite look leg by leg, since the index by time begins with the leg.
    orders = connection.execute(
        "SELECT product_type, symbol, coin, profit, fees, in_usd"
        " FROM ledger_leg CROSS JOIN ledger_order USING (product_type, symbol, leg)"
        f" WHERE last_time BETWEEN ? AND ?{condition}",
        (since, until, *values),
    )
    for product_type, symbol, coin, profit, fees, in_usd in orders:
        sums = ResultSums()
        sums.count_order(Decimal(profit) + Decimal(fees), Decimal(in_usd))
        yield QuarterSums(quarter, product_type, symbol, coin, sums)


def _group_of(query: ResultQuery, quarter: int, symbol: str, coin: str) -> date | str:
    if query.grouping in PERIODS:
        return first_day(day_of_quarter(quarter, query.zone), query.grouping)
    return {Grouping.SYMBOL: symbol, Grouping.COIN: coin}.get(query.grouping, "")

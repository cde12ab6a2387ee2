"""Reads the ledger: the results of a period by day, symbol and coin, and how far its bills are read.

Every displayed sum is a fold of `day_groups`. Past days are summed from their quarter-hours once and then kept, however
many fills they hold.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from itertools import count, takewhile
from typing import Final, NamedTuple, TypeAlias

from tradetui.desk.archive.bills import OF_KIND, bill_coverage, price_near
from tradetui.desk.archive.coverage import NO_END, BillCoverage, ReadKind, TimeSpan, rows_read_until
from tradetui.desk.archive.equity import Rates
from tradetui.desk.archive.ledger.missing_fills import (
    READ_LATELY_MS,
    first_quarter_before,
    has_booked_fills,
    settles_in,
)
from tradetui.desk.archive.ledger.quarter_hours import FIGURES, ledger_figures, read_booked_fill, sums_of
from tradetui.storage.sqlite_file import transaction
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.periods import (
    Grouping,
    cut_by_quarters,
    day_at,
    day_start_ms,
    month_of,
    quarter_of,
)
from tradetui.trading.results.trips import ResultSums
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.product_types import USDT_COINS, ProductType, margin_coin

USDT: Final = "USDT"
DAYS_A_STEP: Final = 32
"""Days summed in one transaction, so that none blocks the disk for long."""
_DAYS_A_READ: Final = 512
"""Days whose texts are in memory at a time."""
_DAY: Final = timedelta(days=1)
_GroupKey: TypeAlias = tuple[str, str, str]
"""Product type, symbol and coin."""


@dataclass(frozen=True, slots=True)
class ResultQuery:
    """A query of results: from `since` to `until` (Unix ms, both included; None: no bound), of some symbols or of all.

    Days, weeks and months begin in `zone`. A period without an end ends at `now_ms`.
    """

    grouping: Grouping
    now_ms: int
    since: int | None = None
    until: int | None = None
    symbols: tuple[str, ...] | None = None
    product_types: tuple[ProductType, ...] = tuple(ProductType)
    zone: tzinfo = UTC

    @property
    def condition(self) -> tuple[str, list[str]]:
        """The SQL condition on symbols and product types, to follow another condition, and its values."""
        parts, values = "", []
        for column, chosen in (("symbol", self.symbols), ("product_type", self.product_types)):
            if chosen is not None:
                parts += f" AND {column} IN ({', '.join('?' * len(chosen))})"
                values += [str(name) for name in chosen]
        return parts, values

    @property
    def bounds(self) -> TimeSpan:
        """The first and last moment of the period (Unix ms); without an end, `NO_END`."""
        return TimeSpan(self.since or 0, NO_END if self.until is None else self.until)

    @property
    def span(self) -> tuple[int, int]:
        """The first and last moment of the period (Unix ms); without an end, now."""
        return self.since or 0, self.now_ms if self.until is None else self.until


@dataclass(slots=True)
class GroupSums:
    """The results of a symbol in one coin; in a fold of several, product type and symbol are empty.

    `funding_in_usd` is the funding of coin-margined contracts at the price of its time. It lacks `unpriced`, which is
    in the coin, from times without a price. `is_converted` means that some of it was converted from another coin.
    """

    product_type: str
    symbol: str
    coin: str
    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal = ZERO
    funding_in_usd: Decimal = ZERO
    unpriced: Decimal = ZERO
    is_converted: bool = False

    @property
    def key(self) -> _GroupKey:
        return self.product_type, self.symbol, self.coin

    @property
    def net(self) -> Decimal:
        return self.sums.net + self.funding

    def add(self, other: GroupSums) -> None:
        self.sums.add(other.sums)
        self.funding += other.funding
        self.funding_in_usd += other.funding_in_usd
        self.unpriced += other.unpriced
        self.is_converted = self.is_converted or other.is_converted

    def in_usdt(self, rates: Rates) -> Iterator[GroupSums]:
        """Yield the results in USDT, and apart from them, in its own coin, any part without a rate.

        Results of coin-margined contracts count at the price of each fill, dollar coins at their current rate.
        """
        names, sums = (self.product_type, self.symbol), self.sums
        if _is_own_coin(*self.key):
            in_usd = replace(
                sums, gross=sums.gross_in_usd, fees=sums.fees_in_usd, won=sums.won_in_usd, lost=sums.lost_in_usd
            )
            yield GroupSums(*names, USDT, in_usd, self.funding_in_usd, is_converted=True)
            if self.unpriced:
                yield GroupSums(*names, self.coin, funding=self.unpriced)
        elif (rate := rates.of_dollar(self.coin)) is None:
            yield self
        else:
            sums, funding = (sums, self.funding) if rate == 1 else (sums.converted(rate), self.funding * rate)
            yield GroupSums(*names, USDT, sums, funding, is_converted=self.coin not in USDT_COINS)


@lru_cache(maxsize=4_096)
def _is_own_coin(product_type: str, symbol: str, coin: str) -> bool:
    """Whether a coin is the margin coin of a coin-margined contract, whose fills carry its price."""
    known_type = ProductType(product_type)
    return known_type.is_coin_margined and coin == margin_coin(known_type, symbol)


def day_groups(connection: sqlite3.Connection, query: ResultQuery) -> Iterator[tuple[date, GroupSums]]:
    """Yield the results of a query's period by day, product type, symbol and coin, the oldest day first.

    Do not change a group: the next reader may get the same object. Blocks on the disk and may write to it, so never
    call it within a transaction.
    """
    known = _known_quarters(connection)
    since, until = query.bounds
    if known is None or until < since:
        return
    first_quarter, last_quarter = known
    day = day_at(max(since, first_quarter * QUARTER_MS), query.zone)
    last = day_at(min(until, (last_quarter + 1) * QUARTER_MS - 1), query.zone)
    today_begins = day_start_ms(day_at(query.now_ms, query.zone), query.zone)
    while day <= last:
        spans: dict[date, TimeSpan] = {}
        while day <= last and len(spans) < _DAYS_A_READ:
            spans[day] = TimeSpan(day_start_ms(day, query.zone), day_start_ms(day + _DAY, query.zone) - 1)
            day += _DAY
        over = [span for span in spans.values() if since <= span.since and span.until <= min(until, today_begins - 1)]
        kept = _kept(connection, over)
        for of_day, span in spans.items():
            groups = kept.get(span)
            if groups is None:
                groups = _summed(connection, TimeSpan(max(span.since, since), min(span.until, until)))
            for group in groups:
                of_symbol = query.symbols is None or group.symbol in query.symbols
                if of_symbol and group.product_type in query.product_types:
                    yield of_day, group


def _known_quarters(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the first and last UTC quarter-hour with a result, counted from 1970; None without any."""
    ends = [
        connection.execute(f"SELECT {end}(quarter) FROM {table}").fetchone()[0]
        for table in ("ledger_quarter", "bill_funding")
        for end in ("min", "max")
    ]
    known = [quarter for quarter in ends if quarter is not None]
    return (min(known), max(known)) if known else None


def _kept(connection: sqlite3.Connection, spans: Sequence[TimeSpan]) -> Mapping[TimeSpan, Sequence[GroupSums]]:
    """Return the sums of whole past days, oldest first; missing ones are made and kept."""
    if not spans:
        return {}
    quarters = {(quarter_of(span.since), quarter_of(span.until) + 1): span for span in spans}
    rows = connection.execute(
        "SELECT first, beyond, groups FROM ledger_span WHERE by_symbol = 1 AND first BETWEEN ? AND ?",
        (quarter_of(spans[0].since), quarter_of(spans[-1].since)),
    )
    # The file also holds the days of other time zones.
    texts = {quarters[first, beyond]: text for first, beyond, text in rows if (first, beyond) in quarters}
    kept = {span: _groups_of(text) for span, text in texts.items()}
    missing = [span for span in spans if span not in kept]
    for step in range(0, len(missing), DAYS_A_STEP):
        kept |= _sum_and_keep(connection, missing[step : step + DAYS_A_STEP])
    return kept


def _sum_and_keep(connection: sqlite3.Connection, spans: Sequence[TimeSpan]) -> Mapping[TimeSpan, Sequence[GroupSums]]:
    """Sum days from the ledger; keep the sums if the disk accepts them."""
    with suppress(sqlite3.OperationalError), transaction(connection):
        summed = {span: _summed(connection, span) for span in spans}
        connection.executemany(
            "INSERT OR REPLACE INTO ledger_span (by_symbol, first, beyond, groups) VALUES (1, ?, ?, ?)",
            [
                (quarter_of(span.since), quarter_of(span.until) + 1, dump_json([_as_json(group) for group in groups]))
                for span, groups in summed.items()
            ],
        )
        return summed
    return {span: _summed(connection, span) for span in spans}


def _summed(connection: sqlite3.Connection, span: TimeSpan) -> Sequence[GroupSums]:
    """Sum the results of a span from quarter-hours; at its ends within a quarter-hour, from the fills."""
    groups: dict[_GroupKey, GroupSums] = {}

    def group(product_type: str, symbol: str, coin: str) -> GroupSums:
        key = (product_type, symbol, coin)
        if key not in groups:
            groups[key] = GroupSums(*key)
        return groups[key]

    first, beyond, ends = cut_by_quarters(*span)
    rows = connection.execute(
        f"SELECT product_type, symbol, coin, {FIGURES} FROM ledger_quarter WHERE quarter >= ? AND quarter < ?",
        (first, beyond),
    )
    for product_type, symbol, coin, *figures in rows:
        group(product_type, symbol, coin).sums.add(sums_of(figures))
    funding = connection.execute(
        f"SELECT quarter * {QUARTER_MS}, product_type, symbol, coin, amount, '0' FROM bill_funding"
        " WHERE quarter >= ? AND quarter < ?",
        (first, beyond),
    ).fetchall()
    for end in ends:
        fills = connection.execute(
            "SELECT product_type, time, body FROM record WHERE kind = 'fill' AND time BETWEEN ? AND ?", end
        )
        for product_type, time, body in fills:
            if (fill := read_booked_fill(product_type, body, time)) is not None:
                for booking in fill.bookings():
                    group(product_type, fill.key.symbol, booking.coin).sums.book(booking)
        # A cross join makes SQLite search leg by leg, since the index by time begins with the leg.
        orders = connection.execute(
            "SELECT product_type, symbol, coin, profit, fees, in_usd"
            " FROM ledger_leg CROSS JOIN ledger_order USING (product_type, symbol, leg)"
            " WHERE last_time BETWEEN ? AND ?",
            end,
        )
        for product_type, symbol, coin, profit, fees, in_usd in orders:
            group(product_type, symbol, coin).sums.count_order(Decimal(profit) + Decimal(fees), Decimal(in_usd))
        # Settlements are at full hours, and also count in partial quarter-hours.
        funding += connection.execute(
            f"SELECT time, product_type, symbol, coin, amount, fee FROM bill WHERE {OF_KIND} = 'funding'"
            " AND time BETWEEN ? AND ?",
            end,
        )
    for time, product_type, symbol, coin, amount_text, fee in funding:
        amount, of_funding = Decimal(amount_text) + Decimal(fee), group(product_type, symbol, coin)
        of_funding.funding += amount
        if _is_own_coin(product_type, symbol, coin):
            price = price_near(connection, product_type, coin, time)
            if price is None:
                of_funding.unpriced += amount
            else:
                of_funding.funding_in_usd += amount * price
    return list(groups.values())


def _as_json(group: GroupSums) -> list[object]:
    funding = (str(group.funding), str(group.funding_in_usd), str(group.unpriced))
    return [group.key, funding, ledger_figures(group.sums)]


@lru_cache(maxsize=2_048)
def _groups_of(groups_text: str) -> Sequence[GroupSums]:
    return [_group_of(*values) for values in load_json(groups_text)]


def _group_of(key: _GroupKey, funding: tuple[str, str, str], figures: Sequence[str | int]) -> GroupSums:
    of_coin, in_usd, unpriced = map(Decimal, funding)
    return GroupSums(*key, sums_of(figures), of_coin, in_usd, unpriced)


def months_with_results(connection: sqlite3.Connection, zone: tzinfo, now_ms: int) -> list[date]:
    """Return the first days of the months since the first result; none without a result."""
    known = _known_quarters(connection)
    if known is None:
        return []
    first, last = month_of(day_at(known[0] * QUARTER_MS, zone)), day_at(now_ms, zone)
    return list(takewhile(lambda month: month <= last, (month_of(first, by=number) for number in count())))


def keep_sums(connection: sqlite3.Connection, month: date, zone: tzinfo, now_ms: int) -> None:
    """Make and keep the sums of a month's past days; blocks on the disk."""
    since, until = day_start_ms(month, zone), day_start_ms(month_of(month, by=1), zone) - 1
    deque(day_groups(connection, ResultQuery(Grouping.DAY, now_ms, since, until, zone=zone)), maxlen=0)


class _ReadExtent(NamedTuple):
    """How far bills and fills of a product type are read; no funding was paid before its first fill (Unix ms)."""

    product_type: ProductType
    bills: BillCoverage
    first_fill: int | None
    fills_until: int | None


class BillsRead:
    """How far the bills of some product types are read, compared with the fills."""

    def __init__(self, connection: sqlite3.Connection, product_types: Sequence[ProductType]) -> None:
        self._extents: list[_ReadExtent] = []
        for product_type in product_types:
            coverage = bill_coverage(connection, product_type)
            has_fills = has_booked_fills(connection, product_type)
            if not has_fills and coverage.until is None:
                continue
            first_fill = None
            if has_fills and coverage.since is not None:
                # Older bills matter only if there is a fill before the gapless part of the bills.
                read_from = max([coverage.since, *(gap.until + 1 for gap in coverage.gaps)])
                earlier = first_quarter_before(connection, product_type, read_from)
                first_fill = read_from if earlier is None else earlier
            fills_until = rows_read_until(connection, ReadKind.FILL, product_type)
            self._extents.append(_ReadExtent(product_type, coverage, first_fill, fills_until))

    def hold(self, since: int, until: int, coin: str) -> bool:
        """Whether a period's funding in a coin is known as far as fills are read; there is none before the first fill.

        Fills are read more often than bills, so the newest bills may lack up to `READ_LATELY_MS`.
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
    """Whether fills were read further than bills and a settlement up to `until` (Unix ms) may have come since."""
    read_until = rows_read_until(connection, ReadKind.BILL, product_type)
    fills_until = rows_read_until(connection, ReadKind.FILL, product_type)
    if read_until is None or fills_until is None:
        return False
    end = min(until, fills_until - READ_LATELY_MS)
    return not BillCoverage(read_until, read_until).holds_settlements(read_until, end)


def legs_wait(connection: sqlite3.Connection) -> bool:
    """Whether some legs are behind: they wait for older fills, which would send them back again."""
    return connection.execute("SELECT 1 FROM ledger_leg WHERE behind LIMIT 1").fetchone() is not None

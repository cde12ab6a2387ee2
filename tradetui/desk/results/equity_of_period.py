"""Equity over a period: change of unrealised profit, the curve without deposits, return and drawdown.

A period has up to thirteen thousand samples, too many for exact arithmetic whenever results are shown. So the growth at
all samples is computed in binary floating point, and with it the few samples are chosen whose exact growth gives the
same figures. Transfers cut the samples into segments, within which growth is proportional to equity. The return depends
on the ends of the segments, and the drawdown on the peak and the trough of the deepest fall. A chart shows the lowest
and the highest sample of each of its parts. Floating point could only confuse two falls that agree to 14 digits.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, chain, pairwise
from typing import Final, NamedTuple

from tradetui.desk.archive.bills import bill_coverage, transfers
from tradetui.desk.archive.equity import (
    PEGGED,
    EquitySample,
    EquitySeries,
    Rates,
    SampledEquity,
    nearest_sample,
    spacing_at,
)
from tradetui.desk.archive.ledger.missing_fills import READ_LATELY_MS, were_read
from tradetui.trading.results.returns import (
    CashFlow,
    CurvePoint,
    Drawdown,
    EquityPoint,
    equity_curve,
    max_drawdown,
    time_weighted_return,
)
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.product_types import USDT_COINS, ProductType

_DRAWN: Final = 400
"""Number of parts of the chart; the lowest and the highest sample of each are drawn."""


class _Segment(NamedTuple):
    """The samples between two transfers, by first and last index."""

    first: int
    last: int


def curve_samples(sampled: SampledEquity, flows: Sequence[CashFlow]) -> set[int]:
    """Return the indexes of the chosen samples; `flows` are the transfers since the first sample, oldest first."""
    segments = _segments(sampled.times, flows)
    growth = _growth(sampled, segments, flows)
    return {*chain.from_iterable(segments), *_deepest_fall(growth), *_extremes(growth)}


def points_at(sampled: SampledEquity, indexes: Iterable[int]) -> list[EquityPoint]:
    return [EquityPoint(sampled.times[index], Decimal(sampled.equities[index])) for index in indexes]


def _segments(times: Sequence[int], flows: Sequence[CashFlow]) -> list[_Segment]:
    firsts = sorted({0, *(bisect_left(times, flow.time) for flow in flows)} - {len(times)})
    return [_Segment(first, following - 1) for first, following in pairwise([*firsts, len(times)])]


def _growth(sampled: SampledEquity, segments: Sequence[_Segment], flows: Sequence[CashFlow]) -> list[float]:
    """Return the growth at every sample: exact at the start of each segment, then in proportion to equity."""
    ends = sorted(set(chain.from_iterable(segments)))
    exact = dict(zip(ends, equity_curve(points_at(sampled, ends), flows), strict=True))
    growth: list[float] = []
    for first, last in segments:
        equities = sampled.values[first : last + 1]
        growth_of_one = float(exact[first].growth) / equities[0] if equities[0] else 0.0
        growth += [equity * growth_of_one for equity in equities]
    return growth


def _deepest_fall(growth: Sequence[float]) -> tuple[int, int]:
    """Return the indexes of the peak and the trough of the fall that is the largest fraction of its peak."""
    peaks = list(accumulate(growth, max))
    parts_left = [value / peak if peak else 1.0 for value, peak in zip(growth, peaks, strict=True)]
    trough = parts_left.index(min(parts_left))
    return growth.index(peaks[trough]), trough


def _extremes(growth: Sequence[float]) -> set[int]:
    """Return the indexes of the lowest and the highest sample of each part; all indexes if there are few samples."""
    part_size = -(-len(growth) // _DRAWN)
    if part_size <= 2:
        return set(range(len(growth)))
    extremes: set[int] = set()
    for begin in range(0, len(growth), part_size):
        part = growth[begin : begin + part_size]
        extremes |= {begin + part.index(min(part)), begin + part.index(max(part))}
    return extremes


NEAR: Final = 2
"""A sample stands for a moment if it is at most this many sampling intervals away."""
_GAP: Final = 2.5
"""Two samples this many sampling intervals apart have a gap between them."""


@dataclass(frozen=True, slots=True)
class KnownTransfers:
    """Transfers in USDT, oldest first, and up to when (Unix ms) their bills are read."""

    flows: tuple[CashFlow, ...]
    until: int


def known_transfers(
    connection: sqlite3.Connection,
    product_types: Sequence[ProductType],
    rates: Rates,
    since: int,
    until: int,
    now_ms: int,
) -> KnownTransfers | None:
    """Return the transfers of a period (Unix ms); None if not all its bills are read.

    Bills are read less often than fills, so the newest `READ_LATELY_MS` may be unread. A product type is left out if it
    was never traded and the exchange never sends its bills. Also None if the value of a transferred coin is not known.
    """
    last_ms = max(since, min(until, now_ms - READ_LATELY_MS))
    known_until = min(until, now_ms)
    for product_type in product_types:
        coverage = bill_coverage(connection, product_type)
        is_used = coverage.until is not None or were_read(connection, product_type)
        if is_used and not coverage.holds(since, last_ms):
            return None
        if coverage.until is not None:
            known_until = min(known_until, coverage.until)
    flows = []
    for transfer in transfers(connection, product_types, since, min(until, now_ms)):
        amount = transfer.amount_in_usd
        if amount is None:
            rate = rates.of_coin(transfer.coin)
            if rate is None:
                return None
            amount = transfer.amount * rate
        flows.append(CashFlow(transfer.time, amount))
    return KnownTransfers(tuple(flows), known_until)


@dataclass(frozen=True, slots=True, kw_only=True)
class EquityOfPeriod:
    """Equity in USDT. `start` and `end` are the samples near the period's bounds, None if there is none.

    `curve` is the equity without deposits, oldest first, in parts without a gap; of many samples it has those that a
    chart shows, with the lowest and the highest among them. `transfers` are those of the whole period, None if they are
    not known. If they are not known since the first sample, there is no curve. `time_weighted` is a fraction from
    `sampled_from` (Unix ms) on, which is the period's start only if `start` is set.
    """

    start: EquitySample | None = None
    end: EquitySample | None = None
    transfers: tuple[CashFlow, ...] | None = None
    curve: tuple[tuple[CurvePoint, ...], ...] = ()
    time_weighted: Decimal | None = None
    drawdown: Drawdown | None = None
    sampled_from: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the curve covers the whole period, from near its start to near its end without a gap of a day."""
        gaps = (after[0].time - before[-1].time for before, after in pairwise(self.curve))
        return self.start is not None and self.end is not None and bool(self.curve) and max(gaps, default=0) <= DAY_MS

    @property
    def is_in_dollars(self) -> bool:
        """Whether no account is in a coin whose price changes the equity without a trading result."""
        accounts = (account for sample in (self.start, self.end) if sample is not None for account in sample.accounts)
        return not any(account.equity and account.coin not in USDT_COINS | PEGGED for account in accounts)

    @property
    def open_change(self) -> Decimal | None:
        """The unrealised profit at the end minus that at the start."""
        if self.start is None or self.end is None or self.start.unrealised is None or self.end.unrealised is None:
            return None
        return self.end.unrealised - self.start.unrealised

    @property
    def transferred(self) -> Decimal | None:
        """Deposits minus withdrawals."""
        return None if self.transfers is None else sum((flow.amount for flow in self.transfers), Decimal(0))


def sample_near(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], moment_ms: int, now_ms: int
) -> EquitySample | None:
    """Return the sample that stands for a moment (Unix ms): the nearest within two sampling intervals before or after.

    The interval depends on the age of the samples: a minute for a week, an hour for ninety days, then a day.
    """
    return nearest_sample(connection, product_types, moment_ms, NEAR * spacing_at(now_ms - moment_ms))


def equity_of_period(
    connection: sqlite3.Connection,
    product_types: Sequence[ProductType],
    since: int,
    until: int,
    now_ms: int,
    rates: Rates,
    equity_series: EquitySeries | None = None,
) -> EquityOfPeriod:
    """Return the equity of a period from `since` to `until` or now (Unix ms).

    `equity_series` has the samples read so far, and is extended.
    """
    last_ms = min(until, now_ms)
    start = sample_near(connection, product_types, since, now_ms)
    end = sample_near(connection, product_types, last_ms, now_ms)
    if start is not None and end is not None and end.time <= start.time:
        end = None
    of_period = known_transfers(connection, product_types, rates, since, last_ms, now_ms)
    equity = EquityOfPeriod(start=start, end=end, transfers=None if of_period is None else of_period.flows)
    equity_series = equity_series or EquitySeries(connection, product_types)
    sampled = equity_series.read(since if start is None else start.time, last_ms)
    if not sampled.times:
        return equity
    equity = replace(equity, sampled_from=sampled.times[0])
    since_first_sample = known_transfers(connection, product_types, rates, sampled.times[0], last_ms, now_ms)
    return equity if since_first_sample is None else _with_curve(equity, sampled, since_first_sample.flows, now_ms)


def _with_curve(
    equity: EquityOfPeriod, sampled: SampledEquity, flows: Sequence[CashFlow], now_ms: int
) -> EquityOfPeriod:
    after_gaps = _after_gaps(sampled.times, now_ms)
    chosen = sorted(curve_samples(sampled, flows).union(after_gaps, (index - 1 for index in after_gaps)))
    curve = list(equity_curve(points_at(sampled, chosen), flows))
    cuts = [0, *(bisect_left(chosen, index) for index in after_gaps), len(chosen)]
    return replace(
        equity,
        curve=tuple(tuple(curve[begin:end]) for begin, end in pairwise(cuts)),
        time_weighted=time_weighted_return(curve),
        drawdown=max_drawdown(curve),
    )


def _after_gaps(times: Sequence[int], now_ms: int) -> list[int]:
    """Return the indexes of the first samples after a gap, which is longer than the sampling interval of that age."""
    return [
        index
        for index, (before, after) in enumerate(pairwise(times), 1)
        if after - before > _GAP * spacing_at(now_ms - before)
    ]

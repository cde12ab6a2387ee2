"""Equity over a period: change of open profit, the curve without deposits, return and drawdown."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, pairwise
from operator import sub, truediv
from typing import Final

from tradetui.desk.archive.bills import bill_coverage, transfers
from tradetui.desk.archive.equity import EquitySample, EquitySeries, Rates, ages_of_spacing, nearest_sample, spacing_at
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
from tradetui.wire.product_types import ProductType

NEAR: Final = 2
"""How many sampling intervals a sample may be from a moment to stand for it."""
_GAP: Final = 2.5
"""From how many sampling intervals on two samples have a gap between them."""
_DRAWN: Final = 400
"""Into how many parts a series is divided, of each of which the lowest and the highest sample are drawn."""


@dataclass(frozen=True, slots=True)
class KnownTransfers:
    """Transfers in USDT, oldest first, and up to when (Unix ms) the bills of them are read."""

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
    """The transfers of a period (Unix ms); None where not all of its bills are read.

    Bills are read less often than fills: what they may lack of the newest is what `READ_LATELY_MS` allows. A product
    type that was never traded, and whose bills the exchange never sends, is left out. None too where what was moved in
    a coin has no known worth.
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
    """Equity in USDT. `start` and `end` are the samples near the period's bounds, None where there is none.

    `curve` is the equity without deposits in stretches without a gap, oldest first: of many samples those that a chart
    shows, the lowest and the highest among them. `transfers` are those of the whole period, None where they are not
    known; where they are not known since the first sample, there is no curve either. `time_weighted` is a fraction from
    `sampled_from` (Unix ms) on, which is the period's start only where `start` is there.
    """

    start: EquitySample | None = None
    end: EquitySample | None = None
    transfers: tuple[CashFlow, ...] | None = None
    curve: tuple[tuple[CurvePoint, ...], ...] = ()
    time_weighted: Decimal | None = None
    drawdown: Drawdown | None = None
    sampled_from: int | None = None

    @property
    def open_change(self) -> Decimal | None:
        """The unrealised profit at the end less that at the start."""
        if self.start is None or self.end is None or self.start.unrealised is None or self.end.unrealised is None:
            return None
        return self.end.unrealised - self.start.unrealised

    @property
    def transferred(self) -> Decimal | None:
        """Deposits less withdrawals."""
        return None if self.transfers is None else sum((flow.amount for flow in self.transfers), Decimal(0))


def sample_near(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], moment_ms: int, now_ms: int
) -> EquitySample | None:
    """The sample that stands for a moment (Unix ms): the nearest of at most two sampling intervals before or after.

    The interval is the one that samples of that age are kept at: a minute for a week, an hour for ninety days, a day
    from then on.
    """
    return nearest_sample(connection, product_types, moment_ms, NEAR * spacing_at(now_ms - moment_ms))


def equity_of_period(
    connection: sqlite3.Connection,
    product_types: Sequence[ProductType],
    since: int,
    until: int,
    now_ms: int,
    rates: Rates,
    sampled: EquitySeries | None = None,
) -> EquityOfPeriod:
    """The equity of a period from `since` to `until` or now, Unix ms; `sampled` is what was read of it before."""
    start = sample_near(connection, product_types, since, now_ms)
    last_ms = min(until, now_ms)
    end = sample_near(connection, product_types, last_ms, now_ms)
    if start is not None and end is not None and end.time <= start.time:
        end = None
    known = known_transfers(connection, product_types, rates, since, last_ms, now_ms)
    sampled = sampled or EquitySeries(connection, product_types)
    series = _series(sampled, since if start is None else start.time, last_ms)
    equity = EquityOfPeriod(start=start, end=end, transfers=None if known is None else known.flows)
    if not series.times:
        return equity
    since_first = known_transfers(connection, product_types, rates, series.times[0], last_ms, now_ms)
    if since_first is None:
        return replace(equity, sampled_from=series.times[0])
    gaps = _gaps(series.times, now_ms)
    chosen = series.notable(since_first.flows) | {index for gap in gaps for index in (gap - 1, gap)}
    order = sorted(chosen)
    curve = list(equity_curve([series.point(index) for index in order], since_first.flows))
    stretches: list[list[CurvePoint]] = [[] for _ in range(len(gaps) + 1)]
    for index, point in zip(order, curve, strict=True):
        stretches[bisect_right(gaps, index)].append(point)
    return replace(
        equity,
        sampled_from=series.times[0],
        curve=tuple(map(tuple, stretches)),
        time_weighted=time_weighted_return(curve),
        drawdown=max_drawdown(curve),
    )


@dataclass(frozen=True, slots=True)
class _Series:
    """Samples of equity, oldest first: Unix ms, and equity as the file has it and in binary floating point."""

    times: Sequence[int]
    equities: Sequence[str]
    values: Sequence[float]

    def point(self, index: int) -> EquityPoint:
        return EquityPoint(self.times[index], Decimal(self.equities[index]))

    def notable(self, flows: Sequence[CashFlow]) -> set[int]:
        """The samples that the curve without deposits needs for its return, its drawdown and its chart.

        They are found by binary floating point. It can only mistake two falls that agree to 14 digits for each other:
        every figure is worked out from the samples chosen, exactly.
        """
        last = len(self.times) - 1
        before_flows = sorted({bisect_right(self.times, flow.time - 1) - 1 for flow in flows} - {-1, last})
        at_flows = {0, last, *before_flows, *(before + 1 for before in before_flows)}
        growth = self._growth(before_flows, at_flows, flows)
        peaks = list(accumulate(growth, max))
        if peaks[0] > 0:  # no peak is zero then, and a year of samples is divided without a test of each
            falls = list(map(truediv, growth, peaks))
        else:
            falls = [value / peak if peak else 1.0 for value, peak in zip(growth, peaks, strict=True)]
        trough = falls.index(min(falls))
        chosen = at_flows | {trough, growth.index(peaks[trough])}
        step = -(-len(growth) // _DRAWN)
        if step <= 2:
            return chosen | set(range(len(growth)))
        for begin in range(0, len(growth), step):
            part = growth[begin : begin + step]
            chosen |= {begin + part.index(min(part)), begin + part.index(max(part))}
        return chosen

    def _growth(self, before_flows: Iterable[int], at_flows: Iterable[int], flows: Sequence[CashFlow]) -> list[float]:
        """The growth at every sample: between two flows it moves as equity does."""
        order = sorted(at_flows)
        exact = dict(zip(order, equity_curve([self.point(index) for index in order], flows), strict=True))
        growth: list[float] = []
        for before, end in pairwise([-1, *before_flows, len(self.times) - 1]):
            values = self.values[before + 1 : end + 1]
            factor = float(exact[before + 1].growth) / values[0] if values[0] > 0 else 0.0
            if min(values) < 0:
                values = [max(value, 0.0) for value in values]
            growth += [value * factor for value in values]
        return growth


def _series(sampled: EquitySeries, since: int, until: int) -> _Series:
    sampled.bring_forward()
    first, beyond = bisect_left(sampled.times, since), bisect_right(sampled.times, until)
    return _Series(sampled.times[first:beyond], sampled.equities[first:beyond], sampled.values[first:beyond])


def _gaps(times: Sequence[int], now_ms: int) -> list[int]:
    gaps: list[int] = []
    begin = 0
    for youngest in (*ages_of_spacing(), 0):
        # Samples of about one age: the first of the younger ones is the last that they are followed by.
        end = bisect_right(times, now_ms - youngest - 1) if youngest else len(times)
        if end <= begin:
            continue
        limit = _GAP * spacing_at(now_ms - times[begin])
        steps = map(sub, times[begin + 1 : end + 1], times[begin:end])
        gaps += [index for index, step in enumerate(steps, begin + 1) if step > limit]
        begin = end
    return gaps

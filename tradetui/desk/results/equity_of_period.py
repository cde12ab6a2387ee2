"""What the accounts were worth over a period: open profit's change, the curve without deposits, return, drawdown."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from tradetui.desk.archive.equity import EquitySample, nearest_sample, samples, spacing_at
from tradetui.desk.results.cash_flows import known_transfers
from tradetui.desk.results.conversion import Rates
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EquityOfPeriod:
    """Equity in USDT. `start` and `end` are the samples near the period's bounds, None where there is none.

    `curve` is the equity without deposits in stretches without a gap, oldest first. `transfers` are those of the whole
    period, None where they are not known; where they are not known since the first sample, there is no curve either.
    `time_weighted` is a fraction from `sampled_from` (Unix ms) on, which is the period's start only where `start` is
    there.
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
        """How much more is unrealised at the end than at the start."""
        if self.start is None or self.end is None or self.start.unrealised is None or self.end.unrealised is None:
            return None
        return self.end.unrealised - self.start.unrealised

    @property
    def transferred(self) -> Decimal | None:
        """What was moved in, less what was moved out."""
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
) -> EquityOfPeriod:
    """The equity of a period from `since` to `until` or now, Unix ms."""
    start = sample_near(connection, product_types, since, now_ms)
    last_ms = min(until, now_ms)
    end = sample_near(connection, product_types, last_ms, now_ms)
    if start is not None and end is not None and end.time <= start.time:
        end = None
    transfers = known_transfers(connection, product_types, rates, since, last_ms, now_ms)
    points = [EquityPoint(sample.time, sample.equity) for sample in samples(connection, product_types, since, last_ms)]
    if start is not None and (not points or start.time < points[0].time):
        points.insert(0, EquityPoint(start.time, start.equity))
    equity = EquityOfPeriod(start=start, end=end, transfers=None if transfers is None else transfers.flows)
    if not points:
        return equity
    since_first = known_transfers(connection, product_types, rates, points[0].time, last_ms, now_ms)
    if since_first is None:
        return replace(equity, sampled_from=points[0].time)
    curve = list(equity_curve(points, since_first.flows))
    return replace(
        equity,
        sampled_from=points[0].time,
        curve=_without_gaps(curve, now_ms),
        time_weighted=time_weighted_return(curve),
        drawdown=max_drawdown(curve),
    )


def _without_gaps(curve: Sequence[CurvePoint], now_ms: int) -> tuple[tuple[CurvePoint, ...], ...]:
    """The curve in stretches: where samples are further apart than they are kept at, nothing was running."""
    stretches: list[list[CurvePoint]] = []
    last_time: int | None = None
    for point in curve:
        if last_time is None or point.time - last_time > _GAP * spacing_at(now_ms - last_time):
            stretches.append([])
        stretches[-1].append(point)
        last_time = point.time
    return tuple(map(tuple, stretches))

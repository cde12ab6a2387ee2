"""Time-weighted return and drawdown of a series of equity samples, without deposits and withdrawals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.trading.contract_math import ZERO

_ONE: Final = Decimal(1)


class EquityPoint(NamedTuple):
    """Equity at a time in Unix ms."""

    time: int
    equity: Decimal


class CashFlow(NamedTuple):
    """A deposit (positive) or withdrawal (negative) at a time in Unix ms."""

    time: int
    amount: Decimal


class CurvePoint(NamedTuple):
    """A sample of equity on the curve without deposits.

    `equity` is reduced by deposits since the first sample, and increased by withdrawals. `growth` is the present value
    of one unit of money invested at the first sample: 1 there, 0 after a total loss.
    """

    time: int
    equity: Decimal
    growth: Decimal


@dataclass(frozen=True, slots=True)
class Drawdown:
    """The deepest fall from a peak of the curve to the lowest sample after it.

    `fraction` is zero or negative, relative to the peak; `amount` is the fall in the curve's coin. Times are Unix ms.
    """

    fraction: Decimal
    amount: Decimal
    trough_time: int


def equity_curve(samples: Sequence[EquityPoint], flows: Sequence[CashFlow]) -> Iterator[CurvePoint]:
    """Yield the curve without deposits from samples and cash flows, both oldest first.

    Between two samples the return is (equity after + withdrawals) ÷ (equity before + deposits) - 1: deposits count from
    the beginning of the interval, withdrawals until its end, so that no flow looks like a result. Negative equity
    counts as zero, and without equity at stake there is no return.
    """
    if not samples:
        return
    next_flow = 0
    while next_flow < len(flows) and flows[next_flow].time <= samples[0].time:
        next_flow += 1
    moved_in = ZERO
    stake, growth_at_stake = samples[0].equity, _ONE
    last = samples[0].equity
    for sample in samples:
        deposits = withdrawals = ZERO
        while next_flow < len(flows) and flows[next_flow].time <= sample.time:
            amount = flows[next_flow].amount
            if amount > ZERO:
                deposits += amount
            else:
                withdrawals -= amount
            next_flow += 1
        if deposits or withdrawals:
            growth_at_stake *= _ratio(last, stake) * _ratio(sample.equity + withdrawals, last + deposits)
            stake = sample.equity
            moved_in += deposits - withdrawals
        elif stake <= ZERO:
            stake = sample.equity
        last = sample.equity
        yield CurvePoint(sample.time, sample.equity - moved_in, growth_at_stake * _ratio(sample.equity, stake))


def time_weighted_return(curve: Sequence[CurvePoint]) -> Decimal | None:
    """Return the growth from the first sample to the last, as a fraction; None for fewer than two samples."""
    return curve[-1].growth - _ONE if len(curve) > 1 else None


def max_drawdown(curve: Sequence[CurvePoint]) -> Drawdown | None:
    """Return the deepest fall relative to its peak; None for fewer than two samples.

    A curve that never falls has a drawdown of zero, at its last sample.
    """
    if len(curve) < 2:
        return None
    peak = curve[0]
    lowest = _ONE
    fall = (curve[-1], curve[-1])
    for point in curve:
        if point.growth >= peak.growth:
            peak = point
        elif point.growth < lowest * peak.growth:
            lowest = point.growth / peak.growth
            fall = (peak, point)
    top, bottom = fall
    return Drawdown(lowest - _ONE, bottom.equity - top.equity, bottom.time)


def _ratio(after: Decimal, before: Decimal) -> Decimal:
    return max(after, ZERO) / before if before > ZERO else _ONE

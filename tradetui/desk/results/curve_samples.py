"""Chooses the samples of equity that the curve without deposits is worked out from.

A period has up to thirteen thousand samples, too many for exact arithmetic each time that results are shown. So the
growth of all is worked out in binary floating point, and by it those few are chosen whose exact growth tells as much:
transfers cut the samples into segments, within which growth moves as equity does. The return rests on the ends of the
segments, the drawdown on the peak and the trough of the deepest fall, and a chart shows the lowest and the highest
sample of each of its parts. Floating point could only mistake two falls that agree to 14 digits for each other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import accumulate, chain, pairwise
from typing import Final, NamedTuple

from tradetui.desk.archive.equity import SampledEquity
from tradetui.trading.results.returns import CashFlow, EquityPoint, equity_curve

_DRAWN: Final = 400
"""Into how many parts the samples are divided, of each of which the lowest and the highest are drawn."""


class _Segment(NamedTuple):
    """The samples between two transfers, by the indexes of the first and the last of them."""

    first: int
    last: int


def curve_samples(sampled: SampledEquity, flows: Sequence[CashFlow]) -> set[int]:
    """The chosen samples by their indexes; `flows` are the transfers since the first sample, oldest first."""
    segments = _segments(sampled.times, flows)
    growth = _growth(sampled, segments, flows)
    return {*chain.from_iterable(segments), *_deepest_fall(growth), *_extremes(growth)}


def points_at(sampled: SampledEquity, indexes: Iterable[int]) -> list[EquityPoint]:
    return [EquityPoint(sampled.times[index], Decimal(sampled.equities[index])) for index in indexes]


def _segments(times: Sequence[int], flows: Sequence[CashFlow]) -> list[_Segment]:
    firsts = sorted({0, *(bisect_left(times, flow.time) for flow in flows)} - {len(times)})
    return [_Segment(first, following - 1) for first, following in pairwise([*firsts, len(times)])]


def _growth(sampled: SampledEquity, segments: Sequence[_Segment], flows: Sequence[CashFlow]) -> list[float]:
    """The growth at every sample: exact at the first of each segment, from there on in proportion to equity."""
    ends = sorted(set(chain.from_iterable(segments)))
    exact = dict(zip(ends, equity_curve(points_at(sampled, ends), flows), strict=True))
    growth: list[float] = []
    for first, last in segments:
        equities = sampled.values[first : last + 1]
        growth_of_one = float(exact[first].growth) / equities[0] if equities[0] else 0.0
        growth += [equity * growth_of_one for equity in equities]
    return growth


def _deepest_fall(growth: Sequence[float]) -> tuple[int, int]:
    """The peak and the trough of the fall that is the greatest part of its peak, by their indexes."""
    peaks = list(accumulate(growth, max))
    parts_left = [value / peak if peak else 1.0 for value, peak in zip(growth, peaks, strict=True)]
    trough = parts_left.index(min(parts_left))
    return growth.index(peaks[trough]), trough


def _extremes(growth: Sequence[float]) -> set[int]:
    """The lowest and the highest sample of each part that is drawn, by their indexes; all where there are few."""
    part_size = -(-len(growth) // _DRAWN)
    if part_size <= 2:
        return set(range(len(growth)))
    extremes: set[int] = set()
    for begin in range(0, len(growth), part_size):
        part = growth[begin : begin + part_size]
        extremes |= {begin + part.index(min(part)), begin + part.index(max(part))}
    return extremes

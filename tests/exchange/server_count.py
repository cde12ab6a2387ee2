"""Counts calls as the exchange would: by when they arrive there."""

from __future__ import annotations

from collections.abc import Iterable


def most_in_one_second(arrivals: Iterable[float]) -> int:
    """Return the largest number of arrivals in any half-open second."""
    times = sorted(arrivals)
    worst = first = 0
    for last, moment in enumerate(times):
        while moment - times[first] >= 1.0:
            first += 1
        worst = max(worst, last - first + 1)
    return worst

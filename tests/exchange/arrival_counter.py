"""Counts calls as the exchange would: by when they arrive there."""

from __future__ import annotations

from collections.abc import Iterable


def most_in_one_second(arrivals: Iterable[float]) -> int:
    """Return the largest number of arrivals in any half-open second."""
    return most_in(arrivals, 1.0)


def most_in(arrivals: Iterable[float], seconds: float) -> int:
    """Return the largest number of arrivals in any half-open stretch of so many seconds."""
    times = sorted(arrivals)
    worst = first = 0
    for last, moment in enumerate(times):
        while moment - times[first] >= seconds:
            first += 1
        worst = max(worst, last - first + 1)
    return worst

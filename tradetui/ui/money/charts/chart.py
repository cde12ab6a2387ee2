"""What a chart shows, before anything is drawn: pieces of a curve or a bar a day, over a stretch of time.

It imports no library that draws. Where there is no room for a chart, it is a sparkline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

SMALLEST_WIDTH: Final = 40
SMALLEST_HEIGHT: Final = 10
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS: Final = "_.-~:=*#"


class ChartInk(StrEnum):
    """What a piece of a chart is; a theme gives each a colour."""

    AXIS = "axis"
    CURVE = "curve"
    GAIN = "gain"
    LOSS = "loss"


ChartText: TypeAlias = tuple[tuple[tuple[str, ChartInk], ...], ...]


class ChartPoint(NamedTuple):
    """An amount at a time (Unix ms)."""

    at_ms: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve in pieces, nothing being known between two of them, or bars; from `since` to `until` (Unix ms).

    A bar stands at its day's noon. Transfers are deposits and, below zero, withdrawals.
    """

    since: int
    until: int
    zone: tzinfo = UTC
    segments: tuple[tuple[ChartPoint, ...], ...] = ()
    bars: tuple[ChartPoint, ...] = ()
    transfers: tuple[ChartPoint, ...] = ()

    @property
    def amounts(self) -> list[Decimal]:
        """Every amount it shows, oldest first."""
        return [point.amount for segment in self.segments for point in segment] or [bar.amount for bar in self.bars]

    @property
    def range(self) -> tuple[Decimal, Decimal]:
        """The least and the greatest amount; bars stand on zero."""
        amounts = [*self.amounts, *([Decimal(0)] if self.bars else [])]
        return min(amounts), max(amounts)


def thinned(points: Sequence[ChartPoint], chart: Chart, slots: int) -> list[ChartPoint]:
    """The points that are seen where there are so many slots for them: of each slot first, least, greatest and last."""
    if len(points) <= 4 * slots:
        return list(points)
    span = max(1, chart.until - chart.since)
    kept: list[ChartPoint] = []
    slot_points: list[ChartPoint] = []
    slot_before = -1
    for point in points:
        slot = (point.at_ms - chart.since) * slots // span
        if slot != slot_before and slot_points:
            kept += _outline(slot_points)
            slot_points = []
        slot_before = slot
        slot_points.append(point)
    return kept + _outline(slot_points)


def _outline(points: list[ChartPoint]) -> list[ChartPoint]:
    least, greatest = min(points, key=lambda point: point.amount), max(points, key=lambda point: point.amount)
    return sorted({points[0], least, greatest, points[-1]})


def sparkline(chart: Chart, width: int, *, has_utf8: bool) -> str:
    """One line of so many cells, each as high as what its stretch of time ended with; blank where nothing is known."""
    levels = _LEVELS if has_utf8 else _ASCII_LEVELS
    low, high = chart.range
    span = max(1, chart.until - chart.since)
    last_of_cell: dict[int, Decimal] = {}
    points = [point for segment in chart.segments for point in segment] or chart.bars
    for point in points:
        last_of_cell[min(width - 1, (point.at_ms - chart.since) * width // span)] = point.amount
    cells = []
    for cell in range(width):
        amount = last_of_cell.get(cell)
        if amount is None:
            cells.append(" ")
        else:
            share = (amount - low) / (high - low) if high > low else Decimal("0.5")
            cells.append(levels[min(len(levels) - 1, int(share * len(levels)))])
    return "".join(cells)

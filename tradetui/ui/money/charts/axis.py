"""The ticks of a chart's axes and their labels: round amounts, days, hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Final, NamedTuple

from tradetui.trading.results.periods import day_start_ms, month_of
from tradetui.wire.exchange_time import DAY_MS, unix_ms, utc_moment

_ROUND: Final = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10), Decimal(20))
_HOUR_MS: Final = 3_600_000
_MOST_AMOUNTS: Final = 9
_NARROWEST_TICK: Final = 8
"""Columns from one tick of time to the next: a label such as `23 Oct` and a gap."""
_HOURS: Final = (1, 2, 3, 4, 6, 8, 12)
_DAYS: Final = (1, 2, 7, 14)
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60)
_HOURS_UNTIL_MS: Final = 2 * DAY_MS
_DAYS_UNTIL: Final = 100


class AmountTick(NamedTuple):
    amount: Decimal
    label: str


class TimeTick(NamedTuple):
    """A tick of the axis of time, in Unix milliseconds."""

    at_ms: int
    label: str


@dataclass(frozen=True, slots=True)
class AmountAxis:
    """The amounts in the middle of the lowest row and of the highest row, and the ticks between them."""

    low: Decimal
    high: Decimal
    ticks: tuple[AmountTick, ...]

    @property
    def label_width(self) -> int:
        return max(len(tick.label) for tick in self.ticks)


def amount_axis(low: Decimal, high: Decimal, rows: int, *, signed: bool = False) -> AmountAxis:
    """The axis of so many rows from `low` to `high` at least, each tick in the middle of a row.

    Of the round steps it takes the one that leaves the least room unused. `signed` writes a plus before amounts above
    zero.
    """
    steps = max(2, rows - 1)
    # With two distances between ticks there is always an axis that holds amounts on both sides of zero.
    most = steps // 2
    least = min(most, max(2, -(-steps // _MOST_AMOUNTS)))
    if high == low:
        around = abs(low) / 200 or Decimal(1)
        low, high = low - around, high + around
    spans = [_round_span(low, high, steps, rows_a_tick) for rows_a_tick in range(least, min(2 * least, most) + 1)]
    begin, end, step = min(spans, key=lambda span: span[1] - span[0])
    places = max(0, -int(step.normalize().as_tuple().exponent))
    amounts = [begin + number * step for number in range(int((end - begin) // step) + 1)]
    return AmountAxis(
        begin, end, tuple(AmountTick(amount, _amount_label(amount, places, signed)) for amount in amounts)
    )


def _round_span(low: Decimal, high: Decimal, steps: int, rows_a_tick: int) -> tuple[Decimal, Decimal, Decimal]:
    """Begin, end and step of an axis with a tick every `rows_a_tick` of its steps."""
    step = Decimal(1).scaleb(((high - low) * rows_a_tick / steps).adjusted())
    while True:
        begin = (low / step).to_integral_value(ROUND_FLOOR) * step
        end = begin + step * steps / rows_a_tick
        if end >= high:
            # Room that is left over is shared between above and below.
            spare = int((end - high) / step / 2) * step
            return begin - spare, end - spare, step
        magnitude = Decimal(1).scaleb(step.adjusted())
        step = next(factor * magnitude for factor in _ROUND if factor * magnitude > step)


def _amount_label(amount: Decimal, places: int, signed: bool) -> str:
    text = f"{amount:,.{places}f}"
    if not amount:
        return text.removeprefix("-")
    return f"+{text}" if signed and amount > 0 else text


def time_ticks(since: int, until: int, zone: tzinfo, columns: int) -> tuple[TimeTick, ...]:
    """Ticks from `since` to `until` (Unix ms) in so many columns: hours of a day or two, days, or months.

    Days are counted from the first one on; a month is named by the first of its days that has a tick.
    """
    if until - since <= _HOURS_UNTIL_MS:
        return _hour_ticks(since, until, zone, columns)
    first = _local(since, zone).date()
    day_count = (_local(until, zone).date() - first).days + 1
    if day_count > _DAYS_UNTIL:
        return _month_ticks(since, until, zone, columns)
    step = next((step for step in _DAYS if step * columns >= _NARROWEST_TICK * day_count), None)
    if step is None:
        return _month_ticks(since, until, zone, columns)
    days = [first + timedelta(days=number) for number in range(0, day_count, step)]
    days = [day for day in days if since <= day_start_ms(day, zone) <= until]
    named = [
        f"{day.day} {day:%b}" if before is None or day.month != before.month else str(day.day)
        for before, day in pairwise([None, *days])
        if day is not None
    ]
    return tuple(TimeTick(day_start_ms(day, zone), label) for day, label in zip(days, named, strict=True))


def _hour_ticks(since: int, until: int, zone: tzinfo, columns: int) -> tuple[TimeTick, ...]:
    hours = max(1, -(-(until - since) // _HOUR_MS))
    step = next((step for step in _HOURS if step * columns >= _NARROWEST_TICK * hours), 24)
    # A local hour: zones may be half an hour off UTC.
    first_ms = unix_ms(_local(since, zone).replace(minute=0, second=0, microsecond=0))
    moments = [(at_ms, _local(at_ms, zone)) for at_ms in range(first_ms, until + 1, _HOUR_MS)]
    return tuple(
        TimeTick(at_ms, f"{moment:%H:%M}" if moment.hour else f"{moment.day} {moment:%b}")
        for at_ms, moment in moments
        if moment.hour % step == 0 and since <= at_ms
    )


def _month_ticks(since: int, until: int, zone: tzinfo, columns: int) -> tuple[TimeTick, ...]:
    first, last = _local(since, zone).date(), _local(until, zone).date()
    month_count = (last.year - first.year) * 12 + last.month - first.month + 1
    step = next((step for step in _MONTHS if step * columns >= _NARROWEST_TICK * month_count), _MONTHS[-1])
    months = [month_of(first, number) for number in range(month_count)]
    return tuple(
        TimeTick(day_start_ms(month, zone), f"{month:%b}" if month.month > 1 and step < 12 else f"{month.year}")
        for month in months
        if (month.year * 12 + month.month - 1) % step == 0 and since <= day_start_ms(month, zone) <= until
    )


def _local(moment_ms: int, zone: tzinfo) -> datetime:
    return utc_moment(moment_ms).astimezone(zone)

"""A month of days in weeks that begin on Monday: what each day and week came to, in cells of one width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final, NamedTuple

DAYS: Final = 7
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
SMALLEST_CELL: Final = 8
LARGEST_CELL: Final = 14
_NARROWEST_CELL: Final = 4
_NARROWEST_AMOUNT: Final = 5
_CENTS_FROM: Final = 12
_DAY_WIDTH: Final = 2
_MARK_WIDTH: Final = 1
_UNITS: Final = ((Decimal(10) ** 9, "b"), (Decimal(10) ** 6, "m"), (Decimal(10) ** 3, "k"))
MISSING_MARK: Final = "?"


class DayNet(NamedTuple):
    """What a day came to; `is_complete` is False where fills of it are known to be missing."""

    net: Decimal
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class MonthGrid:
    """The weeks that a month's days lie in; `nets` are by day, days without one are not known or not over yet."""

    first_day: date
    nets: Mapping[date, DayNet]

    @property
    def weeks(self) -> tuple[tuple[date | None, ...], ...]:
        """Days from Monday to Sunday, week by week; None outside the month."""
        day = self.first_day - timedelta(days=self.first_day.weekday())
        weeks = []
        while day.replace(day=1) <= self.first_day:
            days = [day + timedelta(days=number) for number in range(DAYS)]
            weeks.append(tuple(day if day.month == self.first_day.month else None for day in days))
            day += timedelta(days=DAYS)
        return tuple(weeks)

    def week_net(self, week: Iterable[date | None]) -> DayNet | None:
        """The sum of a week's days in the month; None where none of them is known."""
        known = [self.nets[day] for day in week if day is not None and day in self.nets]
        if not known:
            return None
        return DayNet(sum((day.net for day in known), Decimal(0)), all(day.is_complete for day in known))

    @property
    def whole(self) -> DayNet | None:
        return self.week_net(self.nets)

    @property
    def signs(self) -> tuple[int, int, int]:
        """How many days are above zero, below, and at zero."""
        nets = [day.net for day in self.nets.values()]
        green, red = sum(net > 0 for net in nets), sum(net < 0 for net in nets)
        return green, red, len(nets) - green - red

    def average(self, *, green: bool) -> Decimal | None:
        """What a day above zero, or one below, came to on average; None without one."""
        nets = [day.net for day in self.nets.values() if (day.net > 0 if green else day.net < 0)]
        return sum(nets, Decimal(0)) / len(nets) if nets else None


def cell_width(room: int) -> int:
    """The width of a day's cell where so many cells are there for seven days and the week.

    Where amounts do not fit, the weeks' sums go and a day shows its sign alone.
    """
    if room < SMALLEST_CELL * (DAYS + 1):
        return max(_NARROWEST_CELL, min(SMALLEST_CELL, room // DAYS))
    return min(LARGEST_CELL, room // (DAYS + 1))


def has_week_sums(room: int) -> bool:
    """Whether the sums of weeks are beside the days in so many cells."""
    return room >= SMALLEST_CELL * (DAYS + 1)


def day_text(day: date, net: DayNet | None, width: int) -> str:
    """The day of the month and what it came to, without the cell's first column, which belongs to the cursor."""
    amount_width = width - _MARK_WIDTH - _DAY_WIDTH
    amount = "" if net is None else short_amount(net, amount_width, has_cents=has_cents(width))
    return f"{day.day:>{_DAY_WIDTH}}{amount:>{amount_width}}"


def has_cents(cell: int) -> bool:
    """Whether amounts have cents where days have cells of this width."""
    return cell >= _CENTS_FROM


def short_amount(net: DayNet, width: int, *, has_cents: bool = False) -> str:
    """An amount with its sign in so many cells, in whole dollars or with cents, thousands with a k where it must."""
    if width < _NARROWEST_AMOUNT:
        return "0" if not net.net else "+" if net.net > 0 else "-"
    mark = "" if net.is_complete else MISSING_MARK
    room = width - len(mark)
    for text in _shorter_and_shorter(net.net, has_cents=has_cents):
        if len(text) <= room:
            return text + mark
    return f"{'+' if net.net > 0 else '-'}…{mark}"


def _shorter_and_shorter(amount: Decimal, *, has_cents: bool) -> Iterable[str]:
    if not amount:
        yield "0"
    if has_cents:
        yield f"{amount:+,.2f}"
    whole = amount.quantize(Decimal(1), ROUND_HALF_EVEN)
    if not whole:
        yield f"{'+' if amount > 0 else '-'}<1"
    else:
        yield f"{whole:+,}"
    for unit, letter in _UNITS:
        # What is rounded up to the unit is told in it.
        if abs(amount) >= unit * Decimal("0.9995"):
            yield f"{amount / unit:+.1f}{letter}"
            yield f"{amount / unit:+.0f}{letter}"


def month_of(day: date, by: int = 0) -> date:
    """The first day of a day's month, or of the one so many later; it stays within the calendar's years."""
    months = max(12, min(9999 * 12 + 11, day.year * 12 + day.month - 1 + by))
    return date(months // 12, months % 12 + 1, 1)

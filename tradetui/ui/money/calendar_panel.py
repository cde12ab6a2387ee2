"""The panel of the calendar: a month of days in weeks from Monday on, with the result of each day and week.

A cell shows an amount as exactly as its width allows, but always its sign. A day without a result is blank, and a day
with missing fills is marked.
"""

from __future__ import annotations

from calendar import Calendar
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final, NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tradetui.desk.tables.cells.column import UNREADABLE_MARK, Tone, tone_of
from tradetui.trading.results.periods import month_of
from tradetui.ui.key_bindings.actions import Move
from tradetui.ui.settings.themes import CURSOR_STYLE, REVERSED_CURSOR_STYLE, TONE_STYLES

DAYS_A_WEEK: Final = 7
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
SMALLEST_CELL: Final = 8  # the narrowest cell with an amount; a narrower one, of at least four, has only its sign
LARGEST_CELL: Final = 14
_NARROWEST_CELL: Final = 4
_NARROWEST_AMOUNT: Final = 5
_CENTS_FROM: Final = 12  # the width of a cell from which amounts have cents
_DAY_WIDTH: Final = 2
_CURSOR_WIDTH: Final = 1
_UNITS: Final = ((Decimal(10) ** 9, "b"), (Decimal(10) ** 6, "m"), (Decimal(10) ** 3, "k"))


class DayNet(NamedTuple):
    """A day's result; `is_complete` is False if fills of it are known to be missing."""

    net: Decimal
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class MonthGrid:
    """The weeks of a month; `nets` are by day, without days that are unknown or not over yet."""

    first_day: date
    nets: Mapping[date, DayNet]

    @property
    def weeks(self) -> tuple[tuple[date | None, ...], ...]:
        """Days from Monday to Sunday, week by week; None outside the month."""
        year, month = self.first_day.year, self.first_day.month
        weeks = Calendar().monthdayscalendar(year, month)
        return tuple(tuple(date(year, month, day) if day else None for day in week) for week in weeks)

    def week_net(self, week: Iterable[date | None]) -> DayNet | None:
        """The sum of a week's days in the month; None if all are unknown."""
        known = [self.nets[day] for day in week if day is not None and day in self.nets]
        if not known:
            return None
        return DayNet(sum((day.net for day in known), Decimal(0)), all(day.is_complete for day in known))

    @property
    def whole(self) -> DayNet | None:
        return self.week_net(self.nets)

    @property
    def days_by_sign(self) -> tuple[int, int, int]:
        """How many days are green, red and flat."""
        nets = [day.net for day in self.nets.values()]
        green, red = sum(net > 0 for net in nets), sum(net < 0 for net in nets)
        return green, red, len(nets) - green - red

    def average(self, *, green: bool) -> Decimal | None:
        """The average result of the days above zero, or of those below; None without one."""
        nets = [day.net for day in self.nets.values() if (day.net > 0 if green else day.net < 0)]
        return sum(nets, Decimal(0)) / len(nets) if nets else None


def cell_width(room: int) -> int:
    """Return the width of a day's cell; if amounts do not fit, weeks have no sums and days only their sign."""
    if has_week_sums(room):
        return min(LARGEST_CELL, room // (DAYS_A_WEEK + 1))
    return max(_NARROWEST_CELL, min(SMALLEST_CELL, room // DAYS_A_WEEK))


def has_week_sums(room: int) -> bool:
    return room >= SMALLEST_CELL * (DAYS_A_WEEK + 1)


def day_text(day: date, net: DayNet | None, width: int) -> str:
    """The day of the month and its result, without the cell's first column, which belongs to the cursor."""
    amount_width = width - _CURSOR_WIDTH - _DAY_WIDTH
    amount = "" if net is None else short_amount(net, amount_width, has_cents=width >= _CENTS_FROM)
    return f"{day.day:>{_DAY_WIDTH}}{amount:>{amount_width}}"


def short_amount(net: DayNet, width: int, *, has_cents: bool = False) -> str:
    """An amount with its sign in `width` cells: in whole dollars or with cents, in thousands (k) if necessary."""
    if width < _NARROWEST_AMOUNT:
        return "0" if not net.net else "+" if net.net > 0 else "-"
    mark = "" if net.is_complete else UNREADABLE_MARK
    room = width - len(mark)
    for text in _texts_from_longest(net.net, has_cents=has_cents):
        if len(text) <= room:
            return text + mark
    return f"{'+' if net.net > 0 else '-'}…{mark}"


def _texts_from_longest(amount: Decimal, *, has_cents: bool) -> Iterable[str]:
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
        # An amount that rounds up to the unit is written in that unit.
        if abs(amount) >= unit * Decimal("0.9995"):
            yield f"{amount / unit:+.1f}{letter}"
            yield f"{amount / unit:+.0f}{letter}"


class CalendarPanel(Widget, can_focus=True):
    """The grid of one month and, below it, the totals of its days."""

    class MonthChanged(Message):
        """Another month is to be shown."""

    @dataclass(eq=False)
    class Opened(Message):
        """Enter, or a second click, on a day."""

        day: date

    def __init__(self, today: date) -> None:
        super().__init__(id="calendar-days")
        self.day = today  # the day under the cursor, whose month is shown
        self._grid = MonthGrid(month_of(today), {})
        self._notes: tuple[Content, ...] = ()

    @property
    def month(self) -> date:
        return month_of(self.day)

    def show(self, grid: MonthGrid, notes: tuple[Content, ...]) -> None:
        if (grid, notes) != (self._grid, self._notes):
            self._grid, self._notes = grid, notes
            self.refresh()

    def go_to(self, day: date) -> None:
        """Put the cursor on a day, and request its month if it is another."""
        before, self.day = self.month, day
        if self.month != before:
            # Nothing is known of the month's days before they are read.
            self._grid, self._notes = MonthGrid(self.month, {}), ()
            self.post_message(self.MonthChanged())
        self.refresh()

    @property
    def _first_week(self) -> int:
        """The first visible week: if there is no room for all, the cursor's is among them."""
        weeks, rows = self._grid.weeks, self.size.height - 1
        of_cursor = next(index for index, week in enumerate(weeks) if self.day in week)
        return max(0, min(of_cursor - rows // 2, len(weeks) - rows))

    def render(self) -> Content:
        cell, width = cell_width(self.size.width), self.size.width
        head = "".join(f"{name:>{cell}}" for name in WEEKDAYS) + (f"{'week':>{cell}}" if has_week_sums(width) else "")
        lines = [Content.styled(head, "bold $quiet")]
        lines += [self._week_line(week, cell) for week in self._grid.weeks[self._first_week :]]
        spare = self.size.height - len(lines)
        notes = [Content(" ") + note for note in self._notes]
        if spare > len(notes) > 0:
            notes = [Content("")] * min(1, spare - len(notes)) + notes
        lines += notes[: max(0, spare)]
        return Content("\n").join(line.truncate(width, ellipsis=True) for line in lines)

    def _week_line(self, week: tuple[date | None, ...], cell: int) -> Content:
        parts = [self._day_cell(day, cell) for day in week]
        if not has_week_sums(self.size.width):
            return Content("").join(parts)
        total = self._grid.week_net(week)
        text, tone = "", Tone.PLAIN
        if total is not None:
            text, tone = short_amount(total, cell - 1, has_cents=cell >= _CENTS_FROM), tone_of(total.net)
        return Content("").join([*parts, Content.styled(f"{text:>{cell}}", TONE_STYLES[tone])])

    def _day_cell(self, day: date | None, cell: int) -> Content:
        if day is None:
            return Content(" " * cell)
        net = self._grid.nets.get(day)
        text = day_text(day, net, cell)
        tone = Tone.MUTED if net is None else tone_of(net.net)
        number, amount = text[:_DAY_WIDTH], text[_DAY_WIDTH:]
        if day != self.day or not self.has_focus:
            return Content.assemble(" ", (number, "$quiet"), (amount, TONE_STYLES[tone]))
        plain = self.app.no_color or self.app.native_ansi_color
        marked = Content.assemble("▸", (number, "$foreground"), (amount, TONE_STYLES[tone]))
        return marked.stylize(REVERSED_CURSOR_STYLE if plain else CURSOR_STYLE)

    def move(self, way: Move) -> None:
        days = {Move.UP: -DAYS_A_WEEK, Move.DOWN: DAYS_A_WEEK, Move.LEFT: -1, Move.RIGHT: 1}
        if way in days:
            ordinal = self.day.toordinal() + days[way]
            if date.min.toordinal() <= ordinal <= date.max.toordinal():
                self.go_to(date.fromordinal(ordinal))
        elif way in (Move.FIRST, Move.LAST):
            self.go_to(self.month if way is Move.FIRST else month_of(self.day, 1) - timedelta(days=1))
        else:
            self.go_to_month(-1 if way is Move.PAGE_UP else 1)

    def action_select(self) -> None:
        self.post_message(self.Opened(self.day))

    def go_to_month(self, by: int) -> None:
        first = month_of(self.day, by)
        last = month_of(first, 1) - timedelta(days=1)
        self.go_to(first.replace(day=min(self.day.day, last.day)))

    def on_click(self, event: events.Click) -> None:
        week, column = event.y - 1, event.x // cell_width(self.size.width)
        weeks = self._grid.weeks[self._first_week :]
        day = weeks[week][column] if 0 <= week < len(weeks) and column < DAYS_A_WEEK else None
        if day is None:
            return
        again = day == self.day and event.chain > 1
        self.go_to(day)
        if again:
            self.action_select()

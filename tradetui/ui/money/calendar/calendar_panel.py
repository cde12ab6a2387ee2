"""A month on the screen: arrows move from day to day, Enter opens the day."""

from __future__ import annotations

from datetime import date, timedelta

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tradetui.desk.tables.cells.column import Tone, tone_of
from tradetui.ui.money.calendar.month_grid import (
    DAYS,
    WEEKDAYS,
    DayNet,
    MonthGrid,
    cell_width,
    day_text,
    has_cents,
    has_week_sums,
    month_of,
    short_amount,
)
from tradetui.ui.money.tone_styles import CURSOR_STYLE, REVERSED_CURSOR_STYLE, TONE_STYLES


class CalendarPanel(Widget, can_focus=True):
    """The grid of one month and, below it, what its days came to together."""

    class MonthChanged(Message):
        """Another month is to be shown."""

    class Opened(Message):
        """Enter, or a second click, on a day."""

        def __init__(self, day: date) -> None:
            super().__init__()
            self.day = day

    def __init__(self, today: date) -> None:
        super().__init__(id="calendar-days")
        self.day = today
        """The day under the cursor, whose month is shown."""
        self._grid = MonthGrid(month_of(today), {})
        self._notes: tuple[Content, ...] = ()

    @property
    def month(self) -> date:
        """The first day of the month that is shown."""
        return month_of(self.day)

    def show(self, grid: MonthGrid, notes: tuple[Content, ...]) -> None:
        """Show what a month's days came to, with sentences below."""
        if (grid, notes) != (self._grid, self._notes):
            self._grid, self._notes = grid, notes
            self.refresh()

    def go_to(self, day: date) -> None:
        """Put the cursor on a day; where it is of another month, that is asked for."""
        before, self.day = self.month, day
        if self.month != before:
            # Until it is read nothing is known of its days.
            self._grid, self._notes = MonthGrid(self.month, {}), ()
            self.post_message(self.MonthChanged())
        self.refresh()

    def render(self) -> Content:
        cell, width = cell_width(self.size.width), self.size.width
        head = "".join(f"{name:>{cell}}" for name in WEEKDAYS) + (f"{'week':>{cell}}" if has_week_sums(width) else "")
        lines = [Content.styled(head, "bold $quiet")]
        lines += [self._week_line(week, cell) for week in self._grid.weeks]
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
        text = "" if total is None else short_amount(total, cell - 1, has_cents=has_cents(cell))
        parts.append(Content.styled(f"{text:>{cell}}", TONE_STYLES[_tone(total)]))
        return Content("").join(parts)

    def _day_cell(self, day: date | None, cell: int) -> Content:
        if day is None:
            return Content(" " * cell)
        net = self._grid.nets.get(day)
        text = day_text(day, net, cell)
        tone = Tone.MUTED if net is None else _tone(net)
        number, amount = text[:2], text[2:]
        if day != self.day or not self.has_focus:
            return Content.assemble(" ", (number, "$quiet"), (amount, TONE_STYLES[tone]))
        plain = self.app.no_color or self.app.native_ansi_color
        marked = Content.assemble("▸", (number, "$foreground"), (amount, TONE_STYLES[tone]))
        return marked.stylize(REVERSED_CURSOR_STYLE if plain else CURSOR_STYLE)

    def _move(self, days: int) -> None:
        if date.min.toordinal() <= self.day.toordinal() + days <= date.max.toordinal():
            self.go_to(self.day + timedelta(days=days))

    def action_cursor_up(self) -> None:
        self._move(-DAYS)

    def action_cursor_down(self) -> None:
        self._move(DAYS)

    def action_cursor_left(self) -> None:
        self._move(-1)

    def action_cursor_right(self) -> None:
        self._move(1)

    def action_page_up(self) -> None:
        self.go_to_month(-1)

    def action_page_down(self) -> None:
        self.go_to_month(1)

    def action_first(self) -> None:
        self.go_to(self.month)

    def action_last(self) -> None:
        self.go_to(month_of(self.day, 1) - timedelta(days=1))

    def action_select(self) -> None:
        self.post_message(self.Opened(self.day))

    def go_to_month(self, by: int) -> None:
        """So many months on, on the same day of it where it has one."""
        first = month_of(self.day, by)
        last = month_of(first, 1) - timedelta(days=1)
        self.go_to(first.replace(day=min(self.day.day, last.day)))

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on a day, a second one opens it."""
        week, column = event.y - 1, event.x // cell_width(self.size.width)
        weeks = self._grid.weeks
        day = weeks[week][column] if 0 <= week < len(weeks) and column < DAYS else None
        if day is None:
            return
        again = day == self.day and event.chain > 1
        self.go_to(day)
        if again:
            self.action_select()


def _tone(net: DayNet | None) -> Tone:
    return Tone.PLAIN if net is None else tone_of(net.net)

"""A period's figures: lines of a name, an amount, its share or average, and the panel that Enter opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tradetui.desk.archive.span_sums import USDT
from tradetui.desk.results.period_results import PeriodResults, ResultFigures, ResultLine
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import UNREADABLE_MARK, Tone, tone_of
from tradetui.desk.tables.cells.figure_columns import money
from tradetui.desk.tables.cells.number_format import CONVERTED, UNKNOWN, number, percent
from tradetui.desk.tables.time_format import date_text, dated_text
from tradetui.trading.contract_math import exact_digits
from tradetui.trading.results.periods import day_at
from tradetui.ui.key_bindings.binding_registry import Move
from tradetui.ui.settings.themes import CURSOR_STYLE, REVERSED_CURSOR_STYLE, TONE_STYLES
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text.sanitize import scrub

_NAME, _FIGURE, _SHARE, _ASIDE, _MARK, _MARGIN = 13, 10, 9, 10, 1, 1
INNER_WIDTH = _MARGIN + _NAME + _FIGURE + _MARK + _SHARE + _ASIDE + _MARGIN
_MANY_TIMES: Final = 10
"""From this multiple on, a ratio of figures is shown as a multiple, and not in per cent."""


class Opens(StrEnum):
    """The kind of rows behind a figure."""

    FILLS = "fills"
    DAYS = "days"
    DAY = "day"
    EQUITY = "equity"
    COINS = "coins"


@dataclass(frozen=True, slots=True)
class FigureLine:
    """One line: `figure` is the amount as shown, with `mark` behind it where rows of it are missing.

    `share` and `aside` stand right of it; `exact` is copied; `day` is the day of a figure that has one.
    """

    name: str
    figure: str
    exact: str
    opens: Opens = Opens.FILLS
    tone: Tone = Tone.PLAIN
    mark: str = ""
    share: str = ""
    aside: str = ""
    day: date | None = None


def result_rows(results: PeriodResults, cell_format: CellFormat) -> tuple[FigureLine, ...]:
    total, sums, drawdown = results.total, results.total.sums, results.equity.drawdown
    amount = partial(_amount_row, cell_format=cell_format)
    average = partial(_money, figures=total, cell_format=cell_format)
    share, of_gross = "", ""
    if total.fees_part is not None:
        is_part = total.fees_part < _MANY_TIMES
        share = percent(total.fees_part) if is_part else f"{number(total.fees_part, places=0)} ×"
        of_gross = "of gross" if is_part else "gross"
    result_share = "" if results.result_part is None else _signed_percent(results.result_part)
    orders_mark = _mark(total) if results.orders_complete else UNREADABLE_MARK
    rows = [
        amount("Gross", sums.gross, figures=total),
        amount("Fees", sums.fees, figures=total, share=share, aside=of_gross),
        amount("Funding", total.funding, figures=total, opens=Opens.COINS),
        amount("Net realised", total.net, figures=total),
        amount("Open, change", results.equity.open_change, opens=Opens.EQUITY),
        amount("Unexplained", results.unexplained, opens=Opens.EQUITY),
        amount("Result", results.result, figures=total, opens=Opens.DAYS, share=result_share),
        _count_row("Closed orders", sums.trades, orders_mark, aside="average"),
        _count_row("  won", sums.wins, orders_mark, total.won_part, average(total.average_won)),
        _count_row("  lost", sums.losses, orders_mark, total.lost_part, average(total.average_lost)),
        FigureLine(
            "Profit factor",
            number(total.profit_factor, places=2),
            _exact(total.profit_factor),
            mark=orders_mark,
            share="an order",
            aside=average(total.average_order),
        ),
        FigureLine(
            "Green days",
            str(results.green_days),
            str(results.green_days),
            Opens.DAYS,
            mark=_mark(total),
            share=f"red {results.red_days}",
            aside=f"flat {results.flat_days}",
        ),
        _day_row("Best day", results.best_day, cell_format),
        _day_row("Worst day", results.worst_day, cell_format),
        amount(
            "Max drawdown",
            None if drawdown is None else drawdown.amount,
            opens=Opens.EQUITY,
            share="" if drawdown is None else _signed_percent(drawdown.fraction),
            aside="" if drawdown is None or not drawdown.amount else f"to {_day_of(drawdown.trough_time, results)}",
        ),
    ]
    other_coins = [
        FigureLine(
            f"in {line.coin}",
            money(line.figures.net, line.coin, cell_format, signed=True),
            _exact(line.figures.net),
            Opens.COINS,
            tone_of(line.figures.net),
            _mark(line.figures),
            aside="not included",
        )
        for line in results.other_coins
    ]
    return (*rows, *other_coins)


def _amount_row(
    name: str,
    value: Decimal | None,
    *,
    cell_format: CellFormat,
    opens: Opens = Opens.FILLS,
    figures: ResultFigures | None = None,
    share: str = "",
    aside: str = "",
    day: date | None = None,
) -> FigureLine:
    mark = "" if figures is None or value is None else _mark(figures)
    text = _money(value, figures, cell_format)
    return FigureLine(name, text, _exact(value), opens, tone_of(value), mark, share, aside, day)


def _money(value: Decimal | None, figures: ResultFigures | None, cell_format: CellFormat) -> str:
    """An amount in USDT with its sign, marked if its figures are converted."""
    text = money(value, USDT, cell_format, signed=True)
    return f"{CONVERTED}{text}" if value and figures is not None and figures.is_converted else text


def _count_row(name: str, count: int, mark: str, part: Decimal | None = None, aside: str = "") -> FigureLine:
    share = "" if part is None else percent(part)
    return FigureLine(name, number(count), str(count), mark=mark, share=share, aside=aside)


def _day_row(name: str, line: ResultLine | None, cell_format: CellFormat) -> FigureLine:
    if line is None or line.day is None:
        return FigureLine(name, UNKNOWN, UNKNOWN, Opens.DAYS)
    return _amount_row(
        name,
        line.figures.net,
        cell_format=cell_format,
        opens=Opens.DAY,
        figures=line.figures,
        aside=date_text(line.day, cell_format.today),
        day=line.day,
    )


def _mark(figures: ResultFigures) -> str:
    return "" if figures.is_complete else UNREADABLE_MARK


def _exact(value: Decimal | None) -> str:
    return UNKNOWN if value is None else exact_digits(value)


def _signed_percent(part: Decimal | None) -> str:
    text = percent(part)
    return f"+{text}" if part is not None and part > 0 and not text.startswith("+") else text


def _day_of(moment_ms: int, results: PeriodResults) -> str:
    zone = results.period.zone
    return date_text(day_at(moment_ms, zone), day_at(results.now_ms, zone))


def dated_in_period(moment_ms: int, results: PeriodResults) -> str:
    """Such as `8 Nov 14:03`, for a moment in Unix ms, in the period's zone."""
    zone = results.period.zone
    return dated_text(utc_moment(moment_ms).astimezone(zone), day_at(results.now_ms, zone))


class ResultPanel(Widget, can_focus=True):
    """Lines of figures; where there is less room it shows those around the cursor, and no shares."""

    @dataclass(eq=False)
    class Opened(Message):
        """Enter, or a second click, on a figure."""

        row: FigureLine

    def __init__(self) -> None:
        super().__init__(id="result-lines")
        self._rows: tuple[FigureLine, ...] = ()
        self._cursor = 0

    def show(self, rows: Sequence[FigureLine]) -> None:
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            self._cursor = max(0, min(self._cursor, len(self._rows) - 1))
            self.refresh()

    @property
    def cursor_row(self) -> FigureLine | None:
        return self._rows[self._cursor] if self._rows else None

    @property
    def _top(self) -> int:
        return max(0, min(self._cursor - self.size.height // 2, len(self._rows) - self.size.height))

    def render(self) -> Content:
        shown = self._rows[self._top : self._top + self.size.height]
        figure_width = max(_FIGURE, *(len(row.figure) for row in self._rows)) if self._rows else _FIGURE
        cursor = self._cursor - self._top if self.has_focus else None
        lines = (self._line(row, figure_width, has_cursor=index == cursor) for index, row in enumerate(shown))
        return Content("\n").join(lines)

    def _line(self, row: FigureLine, figure_width: int, *, has_cursor: bool) -> Content:
        mark = "▸" if has_cursor else " "
        room = self.size.width - _MARGIN - _NAME - figure_width - _MARK
        parts = [
            (f"{mark}{scrub(row.name):<{_NAME}}", "$foreground"),
            (f"{row.figure:>{figure_width}}", TONE_STYLES[row.tone]),
            (row.mark or " ", "$warn"),
        ]
        if room >= _SHARE:
            parts.append((f"{row.share:>{_SHARE}}", "$quiet"))
        if room >= _SHARE + _ASIDE:
            parts.append((f"{row.aside:>{_ASIDE}}", "$quiet"))
        line = Content.assemble(*parts)
        line = line.truncate(self.size.width, ellipsis=True, pad=True)
        if not has_cursor:
            return line
        if self.app.native_ansi_color and not self.app.no_color:
            # Reversed whole, each colour of the line would be a block of its own: as in tables one cell is.
            return line.stylize("underline").stylize(REVERSED_CURSOR_STYLE, _MARGIN, _MARGIN + _NAME)
        return line.stylize(REVERSED_CURSOR_STYLE if self.app.no_color else CURSOR_STYLE)

    def _move_to(self, row_index: int) -> None:
        self._cursor = max(0, min(row_index, len(self._rows) - 1))
        self.refresh()

    def move(self, way: Move) -> None:
        page, last = self.size.height, len(self._rows) - 1
        steps = {Move.UP: -1, Move.DOWN: 1, Move.PAGE_UP: -page, Move.PAGE_DOWN: page}
        steps |= {Move.FIRST: -last, Move.LAST: last}
        self._move_to(self._cursor + steps.get(way, 0))

    def action_select(self) -> None:
        if (row := self.cursor_row) is not None:
            self.post_message(self.Opened(row))

    def on_click(self, event: events.Click) -> None:
        row_index = self._top + event.y
        again = row_index == self._cursor and event.chain > 1
        self._move_to(row_index)
        if again:
            self.action_select()

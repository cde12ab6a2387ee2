"""The panel "Result": what a period brought in, a row for each figure, from gross profit to the greatest drawdown.

Enter on a row opens what the figure was summed of. An amount that is not known is a dash, and one of which rows are
missing is marked: a sum of what happens to be known is never shown as whole. That some of it was converted stands in
the panel's title.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from tradetui.desk.tables.cells.number_format import UNKNOWN, number, percent, percent_points
from tradetui.desk.tables.time_format import date_text
from tradetui.trading.contract_math import exact_digits
from tradetui.trading.results.periods import day_at
from tradetui.ui.key_bindings.binding_registry import Move
from tradetui.ui.settings.themes import CURSOR_STYLE, REVERSED_CURSOR_STYLE, TONE_STYLES
from tradetui.wire.text import scrub

_MARGIN, _NAME, _AMOUNT, _MARK, _LEFT_NOTE, _RIGHT_NOTE = 1, 13, 10, 1, 9, 10
INNER_WIDTH = _MARGIN + _NAME + _AMOUNT + _MARK + _LEFT_NOTE + _RIGHT_NOTE + _MARGIN
_MANY_TIMES: Final = 10  # from this multiple of gross on, fees are shown as a multiple of it, and not in per cent


class Opens(StrEnum):
    """The kind of rows behind a figure."""

    FILLS = "fills"
    DAYS = "days"
    DAY = "day"
    EQUITY = "equity"
    COINS = "coins"


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One row: `amount` as shown, with `mark` behind it where something of it is missing; `exact` is copied.

    The notes stand right of it, where there is room for them. `day` is the day of a figure that has one.
    """

    name: str
    amount: str
    exact: str
    opens: Opens = Opens.FILLS
    tone: Tone = Tone.PLAIN
    mark: str = ""
    left_note: str = ""
    right_note: str = ""
    day: date | None = None


class ResultPanel(Widget, can_focus=True):
    """Where there is less room, the rows around the cursor are shown, and no notes."""

    @dataclass(eq=False)
    class Opened(Message):
        """Enter, or a second click, on a figure."""

        row: FigureRow

    def __init__(self) -> None:
        super().__init__(id="result-lines")
        self._rows: tuple[FigureRow, ...] = ()
        self._cursor = 0

    def show(self, rows: Sequence[FigureRow]) -> None:
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            self._cursor = max(0, min(self._cursor, len(self._rows) - 1))
            self.refresh()

    @property
    def cursor_row(self) -> FigureRow | None:
        return self._rows[self._cursor] if self._rows else None

    @property
    def _top(self) -> int:
        return max(0, min(self._cursor - self.size.height // 2, len(self._rows) - self.size.height))

    def render(self) -> Content:
        shown = self._rows[self._top : self._top + self.size.height]
        amount_width = max((len(row.amount) for row in self._rows), default=0)
        cursor = self._cursor - self._top if self.has_focus else None
        return Content("\n").join(
            self._text_of(row, max(_AMOUNT, amount_width), has_cursor=index == cursor)
            for index, row in enumerate(shown)
        )

    def _text_of(self, row: FigureRow, amount_width: int, *, has_cursor: bool) -> Content:
        room = self.size.width - _MARGIN - _NAME - amount_width - _MARK
        parts = [
            (f"{'▸' if has_cursor else ' '}{scrub(row.name):<{_NAME}}", "$foreground"),
            (f"{row.amount:>{amount_width}}", TONE_STYLES[row.tone]),
            (row.mark or " ", "$warn"),
        ]
        if room >= _LEFT_NOTE:
            parts.append((f"{row.left_note:>{_LEFT_NOTE}}", "$quiet"))
        if room >= _LEFT_NOTE + _RIGHT_NOTE:
            parts.append((f"{row.right_note:>{_RIGHT_NOTE}}", "$quiet"))
        text = Content.assemble(*parts).truncate(self.size.width, ellipsis=True, pad=True)
        if not has_cursor:
            return text
        if self.app.native_ansi_color and not self.app.no_color:
            # In a row reversed as a whole each colour would become a block, so only the name is reversed.
            return text.stylize("underline").stylize(REVERSED_CURSOR_STYLE, _MARGIN, _MARGIN + _NAME)
        return text.stylize(REVERSED_CURSOR_STYLE if self.app.no_color else CURSOR_STYLE)

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


def result_rows(results: PeriodResults, cell_format: CellFormat) -> tuple[FigureRow, ...]:
    """All rows of the panel: amounts in USDT, closed orders, days, the drawdown, then coins without a rate."""
    return (
        *_amount_rows(results, cell_format),
        *_order_rows(results, cell_format),
        *_day_rows(results, cell_format),
        _drawdown_row(results, cell_format),
        *_other_coin_rows(results, cell_format),
    )


def _amount_rows(results: PeriodResults, cell_format: CellFormat) -> list[FigureRow]:
    total, sums, fees_part = results.total, results.total.sums, results.total.fees_part
    of_fills = partial(_amount_row, cell_format=cell_format, figures=total)
    of_equity = partial(_amount_row, cell_format=cell_format, opens=Opens.EQUITY)
    part, of_gross = "", ""
    if fees_part is not None and fees_part < _MANY_TIMES:
        part, of_gross = percent(fees_part), "of gross"
    elif fees_part is not None:
        part, of_gross = f"{number(fees_part, places=0)} ×", "gross"
    result_part = "" if results.result_part is None else _signed_percent(results.result_part)
    return [
        of_fills("Gross", sums.gross),
        of_fills("Fees", sums.fees, left_note=part, right_note=of_gross),
        of_fills("Funding", total.funding, opens=Opens.COINS),
        of_fills("Net realised", total.net),
        of_equity("Open, change", results.equity.open_change),
        of_equity("Unexplained", results.unexplained),
        of_fills("Result", results.result, opens=Opens.DAYS, left_note=result_part),
    ]


def _order_rows(results: PeriodResults, cell_format: CellFormat) -> list[FigureRow]:
    total, sums = results.total, results.total.sums
    mark = _mark(total) if results.orders_complete else UNREADABLE_MARK

    def signed(average: Decimal | None) -> str:
        return money(average, USDT, cell_format, signed=True)

    def counted(name: str, count: int, average_text: str, part: Decimal | None = None) -> FigureRow:
        percent_text = "" if part is None else percent(part)
        return FigureRow(name, number(count), str(count), mark=mark, left_note=percent_text, right_note=average_text)

    return [
        counted("Closed orders", sums.trades, "average"),
        counted("  won", sums.wins, signed(total.average_won), total.won_part),
        counted("  lost", sums.losses, signed(total.average_lost), total.lost_part),
        FigureRow(
            "Profit factor",
            number(total.profit_factor, places=2),
            _exact(total.profit_factor),
            mark=mark,
            left_note="an order",
            right_note=signed(total.average_order),
        ),
    ]


def _day_rows(results: PeriodResults, cell_format: CellFormat) -> list[FigureRow]:
    green = str(results.green_days)
    red, flat = f"red {results.red_days}", f"flat {results.flat_days}"
    return [
        FigureRow("Green days", green, green, Opens.DAYS, mark=_mark(results.total), left_note=red, right_note=flat),
        _day_row("Best day", results.best_day, cell_format),
        _day_row("Worst day", results.worst_day, cell_format),
    ]


def _day_row(name: str, line: ResultLine | None, cell_format: CellFormat) -> FigureRow:
    if line is None or line.day is None:
        return FigureRow(name, UNKNOWN, UNKNOWN, Opens.DAYS)
    day = date_text(line.day, cell_format.today)
    row = _amount_row(name, line.figures.net, cell_format=cell_format, figures=line.figures, right_note=day)
    return replace(row, opens=Opens.DAY, day=line.day)


def _drawdown_row(results: PeriodResults, cell_format: CellFormat) -> FigureRow:
    """The deepest fall of the equity, with its part; of the results by day where equity is not known throughout."""
    drawdown, by_day, zone = results.equity.drawdown, results.drawdown_by_day, results.period.zone
    row, today = partial(_amount_row, "Max drawdown", cell_format=cell_format), day_at(results.now_ms, zone)
    if drawdown is not None and results.equity.is_whole:
        amount, trough_day = drawdown.amount, day_at(drawdown.trough_time, zone)
        row, note = partial(row, opens=Opens.EQUITY), _signed_percent(drawdown.fraction)
    elif by_day is not None:
        amount, trough_day = by_day
        row, note = partial(row, opens=Opens.DAYS, figures=results.total), "by day"
    else:
        return row(None, opens=Opens.DAYS)
    return row(amount, left_note=note, right_note=f"to {date_text(trough_day, today)}" if amount else "")


def _other_coin_rows(results: PeriodResults, cell_format: CellFormat) -> list[FigureRow]:
    return [
        FigureRow(
            f"in {line.coin}",
            money(line.figures.net, line.coin, cell_format, signed=True),
            _exact(line.figures.net),
            Opens.COINS,
            tone=tone_of(line.figures.net),
            mark=_mark(line.figures),
            right_note="not included",
        )
        for line in results.other_coins
    ]


def _amount_row(
    name: str,
    value: Decimal | None,
    *,
    cell_format: CellFormat,
    figures: ResultFigures | None = None,
    opens: Opens = Opens.FILLS,
    left_note: str = "",
    right_note: str = "",
) -> FigureRow:
    """A row of an amount in USDT; `figures` are those it is of, None where it comes from sampled equity."""
    return FigureRow(
        name,
        money(value, USDT, cell_format, signed=True),
        _exact(value),
        opens,
        tone=tone_of(value),
        mark="" if figures is None or value is None else _mark(figures),
        left_note=left_note,
        right_note=right_note,
    )


def _mark(figures: ResultFigures) -> str:
    return "" if figures.is_complete else UNREADABLE_MARK


def _exact(value: Decimal | None) -> str:
    return UNKNOWN if value is None else exact_digits(value)


def _signed_percent(part: Decimal | None) -> str:
    return UNKNOWN if part is None else f"{percent_points(part, signed=True)} %"

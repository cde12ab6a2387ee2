"""The panel "Result": the results of a period, a row for each figure, from gross profit to the greatest drawdown.

Enter on a row opens the records that the figure sums. An unknown amount is a dash, and an amount with missing rows is
marked: a partial sum is never shown as complete. The panel's title shows if a part of it was converted.

Also the period chosen on the screen `m`, and the last results read for it and for the calendar's month. They stay until
the next reading has succeeded as a whole, so that figures of two moments never mix.

Also the sentences beside the figures: what the wallet did, and why a figure is unknown or missing. They decide nothing:
each is made from results read before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta, tzinfo
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tradetui.desk.archive.ledger.missing_fills import MissingSpan
from tradetui.desk.archive.ledger_queries import USDT
from tradetui.desk.desk import Desk
from tradetui.desk.results.period_query import Period, PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import PeriodResults
from tradetui.desk.results.result_columns import amount_text
from tradetui.desk.results.results_reader import ResultsReader
from tradetui.desk.results.sums import ResultLine
from tradetui.desk.results.today import TodayResult
from tradetui.desk.tables.cells.cell_format import CONVERTED, UNKNOWN, CellFormat, number, percent, percent_points
from tradetui.desk.tables.cells.column import UNREADABLE_MARK, Tone, money, tone_of
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.desk.tables.time_format import date_text, dated_text
from tradetui.desk.tables.time_zones import zone_label
from tradetui.trading.contract_math import exact_digits
from tradetui.trading.results.periods import day_at, month_of
from tradetui.ui.key_bindings.actions import Action, Move
from tradetui.ui.money.calendar_panel import MonthGrid
from tradetui.ui.settings.themes import CURSOR_STYLE, REVERSED_CURSOR_STYLE, TONE_STYLES
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import counted, scrub

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
    """One row: `amount` as shown, with `mark` after it if a part is missing; `exact` is copied.

    The notes are to its right, if there is room. `day` is the day of a figure that has one.
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
    """With little room it shows the rows around the cursor, and no notes."""

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
    of_fills = partial(_amount_row, cell_format=cell_format, line=total)
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
    row = _amount_row(name, line.net, cell_format=cell_format, line=line, right_note=day)
    return replace(row, opens=Opens.DAY, day=line.day)


def _drawdown_row(results: PeriodResults, cell_format: CellFormat) -> FigureRow:
    """Return the deepest fall of the equity, or that of daily results if equity has unknown parts.

    The fall has its fraction, unless coins are part of the equity: then it is also a fall of their prices.
    """
    drawdown, by_day, zone = results.equity.drawdown, results.drawdown_by_day, results.period.zone
    row, today = partial(_amount_row, "Max drawdown", cell_format=cell_format), day_at(results.now_ms, zone)
    if drawdown is not None and results.equity.is_whole:
        amount, trough_day = drawdown.amount, day_at(drawdown.trough_time, zone)
        row = partial(row, opens=Opens.EQUITY)
        note = _signed_percent(drawdown.fraction) if results.equity.is_in_dollars else "coins too"
    elif by_day is not None:
        amount, trough_day = by_day
        row, note = partial(row, opens=Opens.DAYS, line=results.total), "by day"
    else:
        return row(None, opens=Opens.DAYS)
    return row(amount, left_note=note, right_note=f"to {date_text(trough_day, today)}" if amount else "")


def _other_coin_rows(results: PeriodResults, cell_format: CellFormat) -> list[FigureRow]:
    return [
        FigureRow(
            f"in {line.coin}",
            money(line.net, line.coin, cell_format, signed=True),
            _exact(line.net),
            Opens.COINS,
            tone=tone_of(line.net),
            mark=_mark(line),
            right_note="not included",
        )
        for line in results.other_coins
    ]


def _amount_row(
    name: str,
    value: Decimal | None,
    *,
    cell_format: CellFormat,
    line: ResultLine | None = None,
    opens: Opens = Opens.FILLS,
    left_note: str = "",
    right_note: str = "",
) -> FigureRow:
    """A row of an amount in USDT; `line` is its source, None if it comes from sampled equity."""
    return FigureRow(
        name,
        money(value, USDT, cell_format, signed=True),
        _exact(value),
        opens,
        tone=tone_of(value),
        mark="" if line is None or value is None else _mark(line),
        left_note=left_note,
        right_note=right_note,
    )


def _mark(line: ResultLine) -> str:
    return "" if line.is_complete else UNREADABLE_MARK


def _exact(value: Decimal | None) -> str:
    return UNKNOWN if value is None else exact_digits(value)


def _signed_percent(part: Decimal | None) -> str:
    return UNKNOWN if part is None else f"{percent_points(part, signed=True)} %"


READ_EVERY_S: Final = 5.0  # seconds between readings of the figures while new fills come in
_PAUSE_PER_READING: Final = 20  # reading takes at most a twentieth of the time, however long one reading is
_CHOICES: Final = tuple(PeriodChoice)


class PeriodReading:
    """The chosen period and its newest results; days begin in `zone`."""

    def __init__(self, zone: tzinfo, opened_ms: int) -> None:
        """`opened_ms` (Unix) determines today before anything was read."""
        self.zone = zone
        self._named = PeriodChoice.MONTH  # the named period, also while typed dates replace it
        self.dates: DateFilter | None = None
        self.symbols: tuple[str, ...] = ()
        """The chosen symbols; empty for all, and after another choice until the next reading."""
        self.results: PeriodResults | None = None
        self.month: PeriodResults | None = None
        self.audits_days = False
        """Whether the unexplained part is computed for each day, which takes as long as all the rest."""
        self.has_any = True  # whether there is a fill at all, in any period
        self.fills_to_book: int | None = None
        """How many fills the archive still has to book before anything can be read."""
        self.trouble = ""  # why the last reading failed
        self.bills_refused = ""  # why the exchange gives no bills of the account; empty if it does
        self._now_ms = opened_ms
        self._read_at = 0.0
        self._took_s = 0.0
        self._read_state: object = None

    @property
    def choice(self) -> PeriodChoice | None:
        """The named period; None for typed dates."""
        return self._named if self.dates is None else None

    @property
    def period(self) -> Period:
        if self.dates is None:
            return period_of(self._named, self._now_ms, self.zone)
        first = None if self.dates.since is None else day_at(self.dates.since, self.zone)
        last_ms = self._now_ms if self.dates.until is None else min(self.dates.until, self._now_ms)
        return Period(first, max(day_at(last_ms, self.zone), first or date.min), self.zone)

    def total_line(self) -> ResultLine | None:
        """The figures of the whole chosen period; None before they were read."""
        results = self.results
        return None if results is None or results.period != self.period else results.total

    def day_line(self, day: date) -> ResultLine | None:
        """The figures of a day, of the period or of the calendar's month; None if it has none."""
        known = [results for results in (self.results, self.month) if results is not None]
        return next((line for results in known for line in results.days if line.day == day), None)

    def choose(self, choice: PeriodChoice) -> None:
        self._named, self.dates, self.symbols = choice, None, ()

    def step(self, by: int) -> bool:
        """Choose the next longer or shorter period; returns whether there is one."""
        following = max(0, min(_CHOICES.index(self._named) + by, len(_CHOICES) - 1))
        if _CHOICES[following] is self.choice:
            return False
        self.choose(_CHOICES[following])
        return True

    def choose_dates(self, dates: DateFilter | None) -> None:
        """Choose the days of a filter and its symbols; None goes back to the named period before it."""
        self.dates, self.symbols = dates, ()

    def is_due(self, desk: Desk) -> bool:
        """Whether there is something new to read, and the last reading is long enough ago."""
        waited = desk.clock.monotonic() - self._read_at
        return waited >= max(READ_EVERY_S, _PAUSE_PER_READING * self._took_s) and _state_of(desk) != self._read_state

    async def read(self, desk: Desk, month: date, progress: Callable[[], None]) -> None:
        """Read the period and the calendar's month; `progress` is called whenever `fills_to_book` has changed."""
        reader = desk.results()
        if reader is None:
            return
        begun, state = desk.clock.monotonic(), _state_of(desk)
        self._now_ms = desk.client.server_clock.now_ms

        def show_booking(fills_to_book: int) -> None:
            self.fills_to_book = fills_to_book
            progress()

        try:
            await self._choose_symbols(reader)
            await self._read_figures(desk, reader, month, show_booking)
            self.trouble = ""
        except (sqlite3.Error, OSError) as problem:
            self.trouble = f"The archive cannot be read: {problem}"
        finally:
            self.fills_to_book = None
        self._read_at, self._read_state = desk.clock.monotonic(), state
        self._took_s = self._read_at - begun

    async def _read_figures(
        self, desk: Desk, reader: ResultsReader, month: date, show_booking: Callable[[int], None]
    ) -> None:
        """Read everything, and only then replace what was read before."""
        product_types = desk.settings.product_types
        period_query = replace(self._query(desk, self.period), audits_days=self.audits_days)
        results = await reader.period(period_query, show_booking)
        whole_month = Period(month, month_of(month, 1) - timedelta(days=1), self.zone)
        month_results = await reader.period(replace(self._query(desk, whole_month), with_equity=False))
        has_any = bool(results.days or month_results.days)
        if not has_any:
            every_day = period_of(PeriodChoice.ALL, self._now_ms, self.zone)
            all_days = PeriodQuery(every_day, self._now_ms, product_types, with_equity=False)
            has_any = bool((await reader.period(all_days)).days)
        self.bills_refused = await reader.bills_refused(product_types)
        self.results, self.month, self.has_any = results, month_results, has_any

    async def _choose_symbols(self, reader: ResultsReader) -> None:
        """Find the symbols that the typed parts of names match; if there are none, the parts count as symbols."""
        if self.dates is not None and self.dates.symbols and not self.symbols:
            known = await reader.symbols()
            self.symbols = tuple(filter(self.dates.keeps_symbol, known)) or self.dates.symbols

    def _query(self, desk: Desk, period: Period) -> PeriodQuery:
        return PeriodQuery(period, self._now_ms, desk.settings.product_types, self.symbols or None)


def _state_of(desk: Desk) -> object:
    """The state on which figures depend: new fills, the minute of equity sampling, and whether there is an archive."""
    return desk.fills.snapshot.generation, desk.clock.wall_ms() // 60_000, desk.archive is None


def wallet_sentence(
    results: PeriodResults, cell_format: CellFormat, bills_refused: str, *, is_short: bool = False
) -> str:
    """Describe the wallet's change with its parts, or which part is unknown; then the parts that are unread.

    `bills_refused` is why the exchange gives no bills, if so. `is_short` leaves out what the panel of results also has.
    """
    moved, transferred = results.wallet_moved, results.equity.transferred

    def signed(amount: Decimal | None) -> str:
        return money(amount, USDT, cell_format, signed=True)

    net = signed(results.total.net)
    if moved is not None and is_short:
        parts = [f"Wallet moved {signed(moved)}, transfers {signed(transferred)}"]
    elif moved is not None:
        beyond = f"transfers {signed(transferred)}, unexplained {signed(results.unexplained)}"
        parts = [f"Wallet moved {signed(moved)}: net {net}, {beyond}"]
    else:
        mark = CONVERTED if results.total.is_converted else ""
        parts = [f"Net {mark}{net}"]
    misses_bills = results.total.funding is None and not bills_refused
    if results.total.funding is not None and moved is None:
        parts.append("the wallet's move is not known")
    elif results.total.funding is None and (bills_refused or not results.missing):
        parts.append(f"funding and wallet not known: {bills_refused or 'bills are being read'}")
    if results.missing:
        parts.append(missing_sentence(results, "bills" if misses_bills else ""))
    if results.total.sums.incomplete_fills:
        parts.append(f"? no fee or profit given for {counted(results.total.sums.incomplete_fills, 'fill')}")
    return " · ".join(parts)


def open_change_reason(results: PeriodResults, symbols: tuple[str, ...]) -> str:
    """Why the change of open profit, and with it the result, is unknown; empty if it is known."""
    equity = results.equity
    if equity.open_change is not None:
        return ""
    if symbols:
        return "— equity is of the whole account"
    if equity.start is None:
        if equity.sampled_from is None:
            return "— no equity was sampled"
        return f"— no equity sample until {dated_in_period(equity.sampled_from, results)}"
    if equity.end is None:
        return "— no equity sample near the end"
    return "— an account reports no open profit"


def today_reason(today: TodayResult | None, unknown_because: str, zone: tzinfo, *, is_short: bool = False) -> str:
    """Return why the header has no result of today, or only a part of it; empty if it has one or none was computed."""
    if today is None:
        return f"today —: {unknown_because}" if unknown_because else ""
    if today.since is None:
        return ""
    return f"today: {'' if is_short else 'from the '}first sample at {utc_moment(today.since).astimezone(zone):%H:%M}"


def funding_beyond_fills(line: ResultLine | None, cell_format: CellFormat) -> str:
    """The funding in the net of a line beside its fills; empty if there is none."""
    if line is None or line.funding == 0:
        return ""
    if line.funding is None:
        return "funding that is not known"
    return f"funding {amount_text(line.funding, replace(line, marks_conversion=True), cell_format)} {line.coin}"


def missing_sentence(results: PeriodResults, also_missing: str = "") -> str:
    """Describe the unread parts of the period, with `also_missing`, and those that the exchange no longer keeps."""
    sentences = []
    for is_lost, end in ((False, "being read"), (True, "not kept by the exchange any longer")):
        spans = [span for span in results.missing if span.is_lost is is_lost]
        pieces = [_span_text(span, results) for span in spans[:1]]
        if len(spans) > 1:
            pieces.append(f"{len(spans) - 1} more")
        if also_missing and not is_lost:
            pieces.append(also_missing)
        if pieces:
            before_last = ", ".join(pieces[:-1])
            sentences.append(f"? {before_last}{' and ' if before_last else ''}{pieces[-1]} are {end}")
    return " · ".join(sentences)


def _span_text(span: MissingSpan, results: PeriodResults) -> str:
    period = results.period
    end = dated_in_period(span.until, results)
    if span.since <= (period.since or 0):
        return "fills of the whole period" if span.until >= results.now_ms else f"fills before {end}"
    begin = dated_in_period(span.since, results)
    if begin.rpartition(" ")[0] == end.rpartition(" ")[0]:
        end = end.rpartition(" ")[2]
    return f"fills from {begin} to {end}"


def dated_in_period(moment_ms: int, results: PeriodResults) -> str:
    """Such as `8 Nov 14:03`, for a moment in Unix ms, in the period's zone."""
    zone = results.period.zone
    return dated_text(utc_moment(moment_ms).astimezone(zone), day_at(results.now_ms, zone))


def period_sentences(
    period: Period, first_known: date | None, symbols: tuple[str, ...], today: date | None
) -> tuple[str, ...]:
    """Return the figures' days and symbols, the end of a day, and the coin; then shorter versions."""
    first, last = period.first_day or first_known, period.last_day
    if first is None or first == last:
        plain = date_text(last, today)
        days = f"{last:%a} {plain}"
    else:
        begin, end = date_text(first, today), date_text(last, today)
        plain = f"{begin} to {end}"
        days = f"{first:%a} {begin} to {last:%a} {end}"
    zone, chosen = zone_label(period.zone), ", ".join(symbols)
    with_zone = f"a day ends at 00:00 {zone}"
    from_longest = (
        (days, with_zone, f"in {USDT}", chosen or "all symbols"),
        (days, chosen, with_zone),
        (days, chosen, zone),
        (plain, zone, chosen),
    )
    return tuple(" · ".join(filter(None, parts)) for parts in from_longest)


def calendar_notes(grid: MonthGrid, cell_format: CellFormat, rows_key: str) -> tuple[Content, ...]:
    """The totals of a month's days, in the lines below its weeks; `rows_key` opens its fills."""
    whole = grid.whole
    if whole is None:
        return (Content.styled("Nothing was traded in this month.", "$quiet"),)
    averages = [
        f"{name} {money(average, USDT, cell_format, signed=True)}"
        for name, is_green in (("green days average", True), ("red days", False))
        if (average := grid.average(green=is_green)) is not None
    ]
    green, red, flat = grid.days_by_sign
    mark = "" if whole.is_complete else UNREADABLE_MARK
    net = money(whole.net, USDT, cell_format, signed=True)
    lines = [
        " · ".join(averages),
        f"{'? not all fills and fees are known · ' if mark else ''}{rows_key}: the day's fills",
        f"{counted(len(grid.nets), 'day')}  net {net}{mark}   green {green}   red {red}   flat {flat}",
    ]
    return tuple(Content.styled(line, "$quiet") for line in lines if line)


def nothing_sentence(reading: PeriodReading, results: PeriodResults, key_named: Callable[[Action], str]) -> str:
    """Why the results of a reading have no row, and what happens next or which key helps."""
    if not reading.has_any:
        is_missing = any(not span.is_lost for span in results.missing)
        older = "Fills of the last ninety days are being read." if is_missing else "This account has none to be read."
        return f"No fills are kept yet.\n{older}\nWhat you trade from now on stays here for good."
    if reading.dates is None:
        keys = f"{key_named(Action.PERIOD_BEFORE)} and {key_named(Action.PERIOD_AFTER)}"
        return f"Nothing was traded in this period.\n{keys} choose another period."
    typed = ", ".join(reading.dates.symbols)
    nothing = f"No fill of {typed}" if typed else "Nothing was traded"
    return f"{nothing} in this period.\n{key_named(Action.BACK)} goes back from these dates."

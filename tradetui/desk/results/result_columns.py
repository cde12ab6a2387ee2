"""Columns of results by symbol, day and coin, of their totals, and of round trips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from tradetui.desk.archive.trip_queries import TripRow
from tradetui.desk.results.sums import ResultLine
from tradetui.desk.tables.cells.cell_format import (
    CONVERTED,
    UNKNOWN,
    CellFormat,
    number,
    percent,
    percent_points,
    text_or_unknown,
)
from tradetui.desk.tables.cells.column import (
    UNREADABLE_MARK,
    Column,
    Footer,
    Tone,
    money,
    money_column,
    price_column,
    ranked,
    size_column,
    text_column,
    time_column,
    tone_of,
)
from tradetui.desk.tables.time_format import date_text, moment_text
from tradetui.trading.contract_math import exact_digits, known_sum
from tradetui.trading.results.periods import Grouping
from tradetui.trading.results.trips import ResultSums, TripCounts
from tradetui.wire.exchange_time import utc_moment

_MINUTE_MS: Final = 60_000


def _amount_column(
    id_: str, title: str, width: int, value: Callable[[ResultLine], Decimal | None], *, signed: bool = True
) -> Column[ResultLine]:
    def shown(line: ResultLine, cell_format: CellFormat) -> str:
        return amount_text(value(line), line, cell_format, signed=signed)

    def tone(line: ResultLine) -> Tone:
        return tone_of(value(line)) if signed else Tone.PLAIN

    return Column(id_, title, width, value, shown, right=True, tone=tone, unit="coin")


def amount_text(amount: Decimal | None, line: ResultLine, cell_format: CellFormat, *, signed: bool = True) -> str:
    """Format an amount of a line: `~` before it if converted from another coin, `?` after it if fills are missing."""
    text = money(amount, line.coin, cell_format, signed=signed)
    if not amount:
        return text
    mark = CONVERTED if line.is_converted and line.marks_conversion else ""
    return f"{mark}{text}{'' if line.is_complete else UNREADABLE_MARK}"


def are_all_converted(lines: Iterable[ResultLine]) -> bool:
    """Whether every line with an amount was converted in part, so that one mark for all is enough."""
    converted = {line.is_converted for line in lines if line.sums.volume or line.funding}
    return converted == {True}


def _day_text(line: ResultLine, cell_format: CellFormat) -> str:
    return f"{line.day:%a} {date_text(line.day, cell_format.today)}" if line.day else text_or_unknown(line.group)


_GROUP: Final[Mapping[Grouping, Column[ResultLine]]] = {
    Grouping.SYMBOL: text_column("symbol", "Symbol", 8, lambda line: line.group),
    Grouping.DAY: Column("day", "Day", 10, lambda line: line.group, _day_text, order=lambda line: line.group),
    Grouping.COIN: text_column("coin", "Coin", 8, lambda line: line.group),
}
_FIGURES: Final[tuple[Column[ResultLine], ...]] = (
    _amount_column("net", "Net", 9, lambda line: line.net),
    _amount_column("fees", "Fees", 9, lambda line: line.sums.fees),
    _amount_column("funding", "Funding", 7, lambda line: line.funding),
    # Exported columns have the names of `tradetui show pnl --json`.
    Column(
        "trades",
        "Orders",
        6,
        lambda line: Decimal(line.sums.trades),
        lambda line, _: f"{number(line.sums.trades)}{'' if line.is_complete else UNREADABLE_MARK}",
        right=True,
    ),
    Column(
        "wonPercent",
        "Won %",
        5,
        lambda line: None if line.won_part is None else line.won_part * 100,
        lambda line, cell_format: percent_points(line.won_part, exact=cell_format.exact),
        right=True,
        unit="of the closing orders",
        sources=(
            ("wins", lambda line: Decimal(line.sums.wins)),
            ("losses", lambda line: Decimal(line.sums.losses)),
        ),
    ),
    _amount_column("gross", "Gross", 9, lambda line: line.sums.gross),
    _amount_column("volume", "Volume", 10, lambda line: line.sums.volume, signed=False),
    _amount_column("average", "An order", 8, lambda line: line.average_order),
    Column(
        "factor",
        "Factor",
        6,
        lambda line: line.profit_factor,
        lambda line, cell_format: number(line.profit_factor, places=None if cell_format.exact else 2),
        right=True,
        unit="won ÷ lost",
    ),
)
_UNEXPLAINED: Final = _amount_column("unexplained", "Unexplained", 11, lambda line: line.unexplained)


def result_columns(grouping: Grouping) -> tuple[Column[ResultLine], ...]:
    """Return the columns of results by symbol, day or coin; only days have the wallets' column."""
    group = _GROUP[grouping]
    shown = (group, *_FIGURES, _UNEXPLAINED) if grouping is Grouping.DAY else (group, *_FIGURES)
    unexplained = f"{_UNEXPLAINED.id}," if grouping is Grouping.DAY else ""
    kept_longest = f"{group.id},net,fees,funding,trades,wonPercent,{unexplained}gross,volume,average,factor"
    return ranked(*shown, kept_longest=kept_longest)


def result_totals(
    lines: Iterable[ResultLine], cell_format: CellFormat, group_column: str
) -> Mapping[str, tuple[str, Tone]]:
    """Return the row under the lines: their number, and the sum of each column; empty if their coins differ."""
    known = list(lines)
    if len({line.coin for line in known}) != 1:
        return {}
    total, columns = sum_of(known), (*_FIGURES, _UNEXPLAINED)
    return {group_column: (str(len(known)), Tone.PLAIN)} | {
        column.id: column.cell(total, cell_format) for column in columns
    }


def sum_of(lines: Sequence[ResultLine]) -> ResultLine:
    """Sum lines in one coin; funding or the unexplained amount is None if one line does not know it."""
    total = ResultSums()
    for line in lines:
        total.add(line.sums)
    return ResultLine(
        coin=lines[0].coin,
        sums=total,
        funding=known_sum(line.funding for line in lines),
        is_converted=any(line.is_converted for line in lines),
        is_complete=all(line.is_complete for line in lines),
        unexplained=known_sum(line.unexplained for line in lines),
        marks_conversion=any(line.marks_conversion for line in lines),
    )


def held_text(held_ms: int | None) -> str:
    """Format a duration in its two greatest units, such as `2 d 4 h`."""
    if held_ms is None:
        return UNKNOWN
    minutes = held_ms // _MINUTE_MS
    if minutes < 60:
        return f"{minutes} min" if minutes else f"{held_ms // 1000} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes:02} min"
    return f"{hours // 24} d {hours % 24} h"


def trips_footer(lines: Iterable[TripRow], cell_format: CellFormat) -> Footer:
    """Return the numbers of won, lost and open trips, and the sum of their nets in each coin."""
    trips = list(lines)
    rows = [row for row in trips if not row.is_open]
    still_open = f"{len(trips) - len(rows)} open" if len(rows) < len(trips) else ""
    if not rows:
        return Footer(note=still_open)
    counts = TripCounts.of_nets([row.net for row in rows])
    coins = sorted({row.trip.coin for row in rows})
    amounts = ", ".join(f"{_net_text(coin, rows, cell_format)} {coin}" for coin in coins)
    unknown = f" · {UNREADABLE_MARK} funding not known" if any(row.funding is None for row in rows) else ""
    if any(row.trip.incomplete_fills for row in rows):
        unknown += f" · {UNREADABLE_MARK} fee or profit not given"
    ended = f"won {counts.won}, {percent(counts.won_part)} · lost {counts.lost} · net {amounts}{unknown}"
    return Footer(note=" · ".join(filter(None, (ended, still_open))))


def _net_text(coin: str, rows: Iterable[TripRow], cell_format: CellFormat) -> str:
    """Format the net of trips in a coin, with `?` after it if their funding, a fee or a profit is not known."""
    of_coin = [row for row in rows if row.trip.coin == coin]
    net = sum((row.net for row in of_coin), Decimal(0))
    is_known = all(row.funding is not None and not row.trip.incomplete_fills for row in of_coin)
    return f"{money(net, coin, cell_format, signed=True)}{'' if is_known else UNREADABLE_MARK}"


def _time_column(
    id_: str, title: str, value: Callable[[TripRow], int | None], without: str = UNKNOWN
) -> Column[TripRow]:
    def moment(line: TripRow) -> datetime | None:
        at_ms = value(line)
        return None if at_ms is None else utc_moment(at_ms)

    def shown(line: TripRow, cell_format: CellFormat) -> str:
        at = moment(line)
        return without if at is None else moment_text(at, cell_format.zone, cell_format.today)

    return time_column(id_, title, moment, received=False)._replace(text=shown, width=12)


def _coin(line: TripRow) -> str:
    return line.trip.coin


def _symbol(line: TripRow) -> str:
    return line.symbol


def _side(line: TripRow) -> str:
    return "LONG" if line.trip.long else "SHORT"


def _start(line: TripRow) -> str:
    if not line.trip.start_proven:
        return "start not proven"
    if line.trip.incomplete_fills:
        return "fee not given"
    if not line.trip.ended and not line.is_open:
        return "end not known"
    difference = line.net_difference
    return f"net off {exact_digits(difference)}" if difference else ""


TRIP_COLUMNS: Final[tuple[Column[TripRow], ...]] = ranked(
    _time_column("closeTime", "Closed", lambda line: line.closed_ms, without="open"),
    text_column("symbol", "Symbol", 8, _symbol),
    text_column("side", "Side", 5, _side, lambda line: Tone.LONG if line.trip.long else Tone.SHORT),
    size_column("size", "Size", 7, lambda line: line.size, _symbol),
    price_column("entry", "Entry", 9, lambda line: line.trip.entry, _symbol, derived=True),
    price_column("exit", "Exit", 9, lambda line: line.trip.exit, _symbol, derived=True),
    Column(
        "held",
        "Held",
        10,
        lambda line: None if line.held_ms is None else Decimal(line.held_ms) / 1000,
        lambda line, _: held_text(line.held_ms),
        right=True,
        unit="seconds",
    ),
    Column(
        "net",
        "Net",
        10,
        lambda line: line.net,
        lambda line, cell_format: _net_text(_coin(line), (line,), cell_format),
        right=True,
        tone=lambda line: tone_of(line.net),
        unit="margin coin",
    ),
    text_column("coin", "Coin", 4, _coin),
    money_column("gross", "Gross", 9, lambda line: line.trip.gross, _coin, profit=True),
    money_column("fees", "Fees", 8, lambda line: line.trip.fees, _coin, profit=True),
    money_column("funding", "Funding", 8, lambda line: line.funding, _coin, profit=True),
    text_column("openedBy", "Opened by", 9, lambda line: line.opened_by),
    text_column("closedBy", "Closed by", 9, lambda line: line.closed_by),
    Column("start", "Note", 16, _start, lambda line, _: _start(line), tone=lambda line: Tone.WARN),
    _time_column("openTime", "Opened", lambda line: line.trip.opened_ms),
    kept_longest="closeTime,symbol,side,net,coin,held,size,entry,exit,start,fees,funding,gross,closedBy,openedBy"
    ",openTime",
)

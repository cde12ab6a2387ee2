"""The rows of `tradetui show pnl`, `trips` and `equity`: the fields of each, and how JSON, CSV and text write them.

JSON and CSV give programs every digit, and times in Unix ms; CSV repeats each time in UTC, as exported tables do. Text
is for a person: money and prices are rounded as on the screen, and times are in the profile's time zone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, tzinfo
from decimal import Context, Decimal
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from tradetui.commands.process.output import row_writer
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import EquitySample
from tradetui.desk.archive.ledger_queries import ResultRow
from tradetui.desk.archive.row_queries import Selection
from tradetui.desk.archive.trip_queries import TripOrigins, TripRow
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, SeenPrecisions
from tradetui.desk.tables.cells.figure_columns import money
from tradetui.desk.tables.cells.number_format import decimals, instant, number
from tradetui.trading.contract_math import exact_digits, exact_digits_if_known
from tradetui.trading.results.periods import Grouping
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.models.futures import FuturesFill

ResultT = TypeVar("ResultT")
_FILLS_LOOKED_AT: Final = 100
_AVERAGE_PRICE: Final = Context(prec=12)
"""Significant digits of an average price, which is a quotient and may have no end."""


class Printed(NamedTuple):
    """How many rows were printed, and how many fills of theirs the exchange gave without fee or profit."""

    row_count: int
    incomplete_fills: int


def print_rows(
    results: Iterable[ResultT], fields: ResultFields[ResultT], options: argparse.Namespace, text_style: TextStyle
) -> Printed:
    """Print results of one kind as rows in the format that the options choose: `--json`, `--csv` or text."""
    utc_names = {name: f"{name}Utc" for name in fields.times} if options.csv else {}
    columns = [column for name in fields.values for column in (name, utc_names.get(name)) if column]
    writer = row_writer(options, columns)
    row_count = incomplete_fills = 0
    for result in results:
        values = {name: value(result) for name, value in fields.values.items()}
        if options.json or options.csv:
            row = {name: _exact(value) for name, value in values.items()}
            writer.write(row | {utc_name: _in_utc(values[name]) for name, utc_name in utc_names.items()})
        else:
            writer.write({name: text_style.readable(value) for name, value in values.items()})
        row_count += 1
        incomplete_fills += fields.incomplete_fills(result)
    writer.close()
    return Printed(row_count, incomplete_fills)


class Money(NamedTuple):
    amount: Decimal | None
    coin: str


class AveragePrice(NamedTuple):
    price: Decimal | None
    symbol: str


class UnixTime(NamedTuple):
    at_ms: int | None


Value: TypeAlias = Money | AveragePrice | UnixTime | str | int | None
"""What is neither money, a price nor a time is the same in every format. None is unknown."""


class ResultFields(NamedTuple, Generic[ResultT]):
    """The fields of a kind of result in their order, by name, and which of them are times."""

    values: Mapping[str, Callable[[ResultT], Value]]
    times: tuple[str, ...] = ()
    incomplete_fills: Callable[[ResultT], int] = lambda _: 0


def sums_fields(grouping: Grouping) -> ResultFields[ResultRow]:
    """The fields of `show pnl`; the first names the group, unless that is all results or their coin."""
    names_group = grouping not in (Grouping.TOTAL, Grouping.COIN)
    group: dict[str, Callable[[ResultRow], Value]] = {str(grouping): lambda row: row.group} if names_group else {}
    return ResultFields(
        {
            **group,
            "coin": lambda row: row.coin,
            "gross": lambda row: Money(row.sums.gross, row.coin),
            "fees": lambda row: Money(row.sums.fees, row.coin),
            "funding": lambda row: Money(row.funding, row.coin),
            "net": lambda row: Money(row.net, row.coin),
            "volume": lambda row: Money(row.sums.volume, row.coin),
            "trades": lambda row: row.sums.trades,
            "wins": lambda row: row.sums.wins,
            "losses": lambda row: row.sums.losses,
            "complete": lambda row: row.complete,
            "unexplained": lambda row: Money(row.unexplained, row.coin),
        },
        incomplete_fills=lambda row: row.sums.incomplete_fills,
    )


def trip_fields(origins: TripOrigins) -> ResultFields[TripRow]:
    """The fields of `show trips`."""
    return ResultFields(
        {
            "productType": lambda row: str(row.product_type),
            "symbol": lambda row: row.symbol,
            "side": lambda row: "long" if row.trip.long else "short",
            "openTime": lambda row: UnixTime(row.trip.opened_ms),
            "closeTime": lambda row: UnixTime(row.trip.last_ms),
            "entry": lambda row: AveragePrice(row.trip.entry, row.symbol),
            "exit": lambda row: AveragePrice(row.trip.exit, row.symbol),
            "size": lambda row: exact_digits(row.trip.closed_size),
            "coin": lambda row: row.trip.coin,
            "gross": lambda row: Money(row.trip.gross, row.trip.coin),
            "fees": lambda row: Money(row.trip.fees, row.trip.coin),
            "funding": lambda row: Money(row.funding, row.trip.coin),
            "net": lambda row: Money(row.net, row.trip.coin),
            "openedBy": origins.of_opening,
            "closedBy": origins.of_closing,
            "startProven": lambda row: row.trip.start_proven,
            "endKnown": lambda row: row.trip.ended,
            "profitDifference": lambda row: Money(row.trip.profit_difference, row.trip.coin),
            "netDifference": lambda row: Money(row.net_difference, row.trip.coin),
            "complete": lambda row: not row.trip.incomplete_fills,
        },
        times=("openTime", "closeTime"),
        incomplete_fills=lambda row: row.trip.incomplete_fills,
    )


EQUITY_FIELDS: Final = ResultFields[EquitySample](
    {
        "time": lambda sample: UnixTime(sample.time),
        "equity": lambda sample: Money(sample.equity, "USDT"),
        "unrealised": lambda sample: Money(sample.unrealised, "USDT"),
    },
    times=("time",),
)
"""The fields of `show equity`."""


class TextStyle:
    """Writes values for a person: times in the zone, prices with the decimals that the archive's fills of it have."""

    def __init__(self, zone: tzinfo, archive: Archive) -> None:
        self._zone = zone
        self._archive = archive
        self._price_places: dict[str, int | None] = {}

    def readable(self, value: Value) -> Value:
        match value:
            case Money(Decimal() as amount, coin):
                return _ungrouped(money(amount, coin, DEFAULT_FORMAT))
            case AveragePrice(Decimal() as price, symbol) if (places := self._places_of(symbol)) is not None:
                return _ungrouped(number(price, places=places))
            case UnixTime(int() as at_ms):
                return readable_time(at_ms, self._zone)
        return _exact(value)

    def _places_of(self, symbol: str) -> int | None:
        """The most decimals of the prices in a symbol's newest fills, which are those of its contract."""
        if symbol not in self._price_places:
            precisions = SeenPrecisions()
            page = self._archive.rows.page(Selection(FuturesFill, symbol=symbol), None, _FILLS_LOOKED_AT)
            precisions.see((symbol, row.record.price, None) for _, row in page)
            precision = precisions.by_symbol.get(symbol)
            self._price_places[symbol] = None if precision is None else precision.price
        return self._price_places[symbol]


def readable_time(at_ms: int, zone: tzinfo) -> str:
    """The day and time of a moment (Unix ms), to the second."""
    return f"{utc_moment(at_ms).astimezone(zone):%Y-%m-%d %H:%M:%S}"


def _ungrouped(figure: str) -> str:
    """A figure of the screen without marks between thousands, for other programs."""
    return figure.replace(",", "")


def _exact(value: Value) -> str | int | None:
    """A value for programs: amounts as text with every digit, an average price with twelve, a time in Unix ms."""
    match value:
        case Money(amount, _):
            return exact_digits_if_known(amount)
        case AveragePrice(price, _):
            return None if price is None else exact_digits(_AVERAGE_PRICE.plus(price) if decimals(price) else price)
        case UnixTime(at_ms):
            return None if at_ms is None else str(at_ms)
    return value


def _in_utc(time: Value) -> str | None:
    return instant(utc_moment(time.at_ms), UTC) if isinstance(time, UnixTime) and time.at_ms is not None else None

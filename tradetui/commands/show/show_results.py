"""`tradetui show pnl`, `trips` and `equity`: results of the archive's fills, and missing fills of the period.

Figures with unread fills would look complete, so every gap is reported on standard error or makes `complete` false.

JSON and CSV have every digit, and times in Unix ms; CSV repeats each time in UTC, like exported tables. Text is for a
person: money and prices are rounded as on the screen, and times are in the profile's time zone.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, tzinfo
from decimal import Context, Decimal
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from tradetui.commands.process.console import ATTENTION, DONE, say
from tradetui.commands.process.failures import report
from tradetui.commands.process.output import row_writer
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.show.archive_reading import READ_ANEW, open_archive
from tradetui.commands.show.options import EQUITY, PNL, TRIPS
from tradetui.desk.archive.archive_rows import Selection
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, EquitySample, samples
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import TripOrigins, TripRow, ended_trips
from tradetui.desk.results.sums import ResultCoverage, ResultLine, result_lines
from tradetui.desk.results.wallet import with_unexplained
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, SeenPrecisions, decimals, instant, number
from tradetui.desk.tables.cells.column import money
from tradetui.exchange.clock import SystemClock
from tradetui.profiles.errors import ConfigurationError
from tradetui.trading.contract_math import exact_digits, exact_digits_if_known
from tradetui.trading.results.periods import Grouping
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import milliseconds, utc_moment
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.text import counted

ResultT = TypeVar("ResultT")
_FILLS_LOOKED_AT: Final = 100
_AVERAGE_PRICE: Final = Context(prec=12)
"""Significant digits of an average price, a quotient whose digits may have no end."""


class Printed(NamedTuple):
    """The number of printed rows, and of their fills without fee or profit."""

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
"""Values other than money, prices and times are the same in every format. None is unknown."""


class ResultFields(NamedTuple, Generic[ResultT]):
    """The fields of a kind of result by name, in order, and which of them are times."""

    values: Mapping[str, Callable[[ResultT], Value]]
    times: tuple[str, ...] = ()
    incomplete_fills: Callable[[ResultT], int] = lambda _: 0


def sums_fields(grouping: Grouping) -> ResultFields[ResultLine]:
    """Return the fields of `show pnl`; the first is the group, unless results are grouped in total or by coin."""
    names_group = grouping not in (Grouping.TOTAL, Grouping.COIN)
    group: dict[str, Callable[[ResultLine], Value]] = {str(grouping): lambda row: row.group} if names_group else {}
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
            "complete": lambda row: row.is_complete,
            "unexplained": lambda row: Money(row.unexplained, row.coin),
        },
        incomplete_fills=lambda row: row.sums.incomplete_fills,
    )


def trip_fields(origins: TripOrigins) -> ResultFields[TripRow]:
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


class TextStyle:
    """Formats values for a person: times in the zone, prices with as many decimals as the archive's fills."""

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
        """Return the most decimals of the prices in a symbol's newest fills, which are those of its contract."""
        if symbol not in self._price_places:
            precisions = SeenPrecisions()
            page = self._archive.rows.page(Selection(FuturesFill, symbol=symbol), None, _FILLS_LOOKED_AT)
            precisions.see((symbol, row.record.price, None) for _, row in page)
            precision = precisions.by_symbol.get(symbol)
            self._price_places[symbol] = None if precision is None else precision.price
        return self._price_places[symbol]


def readable_time(at_ms: int, zone: tzinfo) -> str:
    """Format a time (Unix ms) to the second."""
    return f"{utc_moment(at_ms).astimezone(zone):%Y-%m-%d %H:%M:%S}"


def _ungrouped(figure: str) -> str:
    """Remove the screen's thousands separators, for other programs."""
    return figure.replace(",", "")


def _exact(value: Value) -> str | int | None:
    """Return a value for programs: amounts with every digit, an average price with twelve, a time in Unix ms."""
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


_SYMBOLS_NAMED: Final = 12
_MISSING: Final = (
    "tradetui: some fills of this period are not read yet: rows with complete false miss them. tradetui reads them "
    "while it runs, --fresh now."
)
_NEVER_KEPT: Final = (
    "tradetui: fills before {} are not known: the exchange keeps ninety days of them. Rows with complete false begin "
    "earlier and miss them."
)
_LOST: Final = (
    "tradetui: fills from {} to {} are not known: they were not read while the exchange kept them, which is ninety "
    "days. Rows with complete false miss them."
)
_NO_FUNDING: Final = (
    "tradetui: some bills of this period are not read: funding is null there, and net leaves it out. The exchange "
    "keeps bills for ninety days; tradetui reads them while it runs, --fresh now."
)
_NO_RESULT: Final = (
    "No {} in this period. Choose another with --since and --until, or read the newest fills first with --fresh."
)
_WHY_NOTHING: Final = {
    EQUITY: "No equity was sampled in this period: every session samples it once a minute while it runs, and --fresh "
    "does so now. Leave out --since and --until to see all samples.",
    TRIPS: _NO_RESULT.format("round trip ended"),
    PNL: _NO_RESULT.format("fill was made"),
}
"""The sentence and the remedy for an empty result."""


def show_results(options: argparse.Namespace, profile: OpenProfile) -> int:
    """Print the results chosen by the options, and on standard error what is missing; return the exit code."""
    try:
        query = _query(options, profile.settings_without_key)
    except InvalidRequest as problem:
        return report(problem)
    first_ms, last_ms = query.span
    if options.what == TRIPS:
        first_ms = 0  # a trip that ended in the period may have begun at any time before
    try:
        with closing(
            open_archive(profile, first_ms, last_ms, fresh=options.fresh, of_equity=options.what == EQUITY)
        ) as archive:
            return _print_results(archive, options, query)
    except sqlite3.Error as problem:
        return report(ConfigurationError(f"it cannot be read ({problem})", location="the archive", remedy=READ_ANEW))


def _query(options: argparse.Namespace, settings: DeskSettings) -> ResultQuery:
    """Make the query from the options; raises InvalidRequest."""
    now_ms, zone = SystemClock().wall_ms(), settings.zone
    since = milliseconds(options.since, now_ms, "--since", zone) if options.since is not None else None
    last = _last_moment(options.until, now_ms, zone) if options.until is not None else None
    if since is not None and last is None and since > now_ms:
        raise InvalidRequest("--since", "must not be in the future", options.since, "Give an earlier time.")
    if since is not None and last is not None and since > last:
        raise InvalidRequest("--since", "must be before --until", options.since, "Give an earlier time.")
    symbols = _symbols(options.symbol) if options.what != EQUITY else None
    grouping = Grouping(options.by) if options.what == PNL else Grouping.TOTAL
    return ResultQuery(grouping, now_ms, since, last, symbols, settings.product_types, zone)


def _print_results(archive: Archive, options: argparse.Namespace, query: ResultQuery) -> int:
    print_kind = {PNL: _print_sums, TRIPS: _print_trips, EQUITY: _print_equity}[options.what]
    printed = print_kind(archive, options, query)
    if printed.incomplete_fills:
        fills = counted(printed.incomplete_fills, "fill")
        say(f"tradetui: the exchange gave no fee or no profit for {fills}: rows with complete false lack it.")
    unknown = _without_fills(archive, query)
    if unknown:
        say(f"tradetui: {unknown}")
    elif not printed.row_count:
        say(f"tradetui: {_WHY_NOTHING[options.what]}")
    if options.what != EQUITY:
        _say_what_is_missing(archive, query)
    return ATTENTION if unknown else DONE


def _print_sums(archive: Archive, options: argparse.Namespace, query: ResultQuery) -> Printed:
    sums = with_unexplained(archive.connection, query, result_lines(archive.connection, query))
    printed = print_rows(sums, sums_fields(query.grouping), options, TextStyle(query.zone, archive))
    if any(row.funding is None for row in sums):
        say(_why_no_funding(archive, query.product_types))
    return printed


def _print_trips(archive: Archive, options: argparse.Namespace, query: ResultQuery) -> Printed:
    fields = trip_fields(TripOrigins(archive.connection, query.span[0]))
    return print_rows(ended_trips(archive.connection, query), fields, options, TextStyle(query.zone, archive))


def _print_equity(archive: Archive, options: argparse.Namespace, query: ResultQuery) -> Printed:
    first_ms, last_ms = query.span
    if options.until is None:
        last_ms += SAMPLED_EVERY_MS  # samples have the exchange's time, which may be ahead of this machine's
    sampled = samples(archive.connection, query.product_types, first_ms, last_ms)
    return print_rows(sampled, EQUITY_FIELDS, options, TextStyle(query.zone, archive))


def _say_what_is_missing(archive: Archive, query: ResultQuery) -> None:
    missing = ResultCoverage(archive.connection, query).missing
    if any(not span.is_lost for span in missing):
        say(_MISSING)
    for since, until in sorted({(span.since, span.until) for span in missing if span.is_lost and span.since}):
        say(_LOST.format(readable_time(since, query.zone), readable_time(until, query.zone)))
    if never_kept := [span.until for span in missing if span.is_lost and not span.since]:
        say(_NEVER_KEPT.format(readable_time(max(never_kept) + 1, query.zone)))


def _last_moment(until: str, now_ms: int, zone: tzinfo) -> int:
    """Return the last millisecond of a period.

    If `until` is a time, the period ends before it, so that consecutive periods share no millisecond.
    """
    first, last = (milliseconds(until, now_ms, "--until", zone, at_end=at_end) for at_end in (False, True))
    return last - (first == last)


def _symbols(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    symbols = tuple(symbol.strip().upper() for symbol in text.split(",") if symbol.strip())
    if not symbols:
        raise InvalidRequest("--symbol", "must name a symbol, or several with commas", text, "For example BTCUSDT.")
    return symbols


def _why_no_funding(archive: Archive, product_types: Sequence[ProductType]) -> str:
    refusals = [archive.bill_coverage(product_type).refusal for product_type in product_types]
    refusal = next(filter(None, refusals), None)
    return _NO_FUNDING if refusal is None else f"tradetui: funding is null, and not in net, without bills: {refusal}."


def _without_fills(archive: Archive, query: ResultQuery) -> str:
    """Return the requested symbols without a fill in the archive, and the remedy; empty if there are none."""
    if not query.symbols:
        return ""
    known = archive.rows.symbols(FuturesFill)
    unknown = [symbol for symbol in query.symbols if symbol not in known]
    if not unknown:
        return ""
    listed = ", ".join(known[:_SYMBOLS_NAMED]) + (", …" if len(known) > _SYMBOLS_NAMED else "")
    remedy = f"symbols with fills are {listed}" if known else "it holds no fill at all; --fresh reads the newest"
    return f"--symbol: the archive has no fill of {', '.join(unknown)}; {remedy}."

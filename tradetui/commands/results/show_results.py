"""Prints results, round trips and equity of a profile's account."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from typing import Final

from tradetui.commands.process.console import say, stdout
from tradetui.commands.process.exit_codes import DONE
from tradetui.commands.process.failures import report
from tradetui.commands.results.archive_reading import Needed, open_archive
from tradetui.commands.results.flags import EQUITY, PNL, TRIPS
from tradetui.commands.rows.output import CsvWriter, JsonWriter, RowWriter, TableWriter
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, EquitySample, samples
from tradetui.desk.archive.results import ResultQuery, ResultRow, TripRow, ended_trips, missing_spans, results
from tradetui.desk.archive.trip_origins import TripOrigins
from tradetui.exchange.clock import SystemClock
from tradetui.profiles.load import LoadedProfile
from tradetui.trading.money import exact_digits
from tradetui.trading.results.periods import Grouping
from tradetui.ui.time_zones import zone_named
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.product_types import ProductType
from tradetui.wire.time_points import milliseconds

_FIGURES: Final = ("coin", "gross", "fees", "funding", "net", "volume", "trades", "wins", "losses", "complete")
_TRIP_FIELDS: Final = (
    "productType",
    "symbol",
    "side",
    "openTime",
    "closeTime",
    "entry",
    "exit",
    "size",
    "coin",
    "gross",
    "fees",
    "funding",
    "net",
    "openedBy",
    "closedBy",
    "startProven",
    "endKnown",
    "profitDifference",
)
_EQUITY_FIELDS: Final = ("time", "equity", "unrealised")
_MISSING: Final = (
    "tradetui: fills of this period are not all read yet: what has complete false is a part. tradetui reads the rest "
    "while it runs, --fresh does so now."
)


def show_results(options: argparse.Namespace, loaded: LoadedProfile) -> int:
    """Print what was requested; exit code as of every command."""
    now_ms, zone = SystemClock().wall_ms(), zone_named(loaded.profile.timezone)
    try:
        since = milliseconds(options.since, now_ms, "--since", zone) if options.since is not None else None
        until = milliseconds(options.until, now_ms, "--until", zone) if options.until is not None else None
        if since is not None and since > (now_ms if until is None else until):
            raise InvalidRequest("--since", "must not be after --until", options.since, "Exchange the two.")
    except InvalidRequest as problem:
        return report(problem)
    product_types = tuple(map(ProductType, loaded.profile.product_types))
    grouping = Grouping(options.by) if options.what == PNL else Grouping.TOTAL
    symbols = _symbols(options.symbol) if options.what != EQUITY else None
    query = ResultQuery(grouping, now_ms, since, until, symbols, product_types, zone)
    needed = Needed.EQUITY if options.what == EQUITY else Needed.FILLS
    with closing(open_archive(loaded, needed, *query.span, fresh=options.fresh)) as archive:
        writer = _writer(options, query.grouping)
        incomplete = False
        if options.what == PNL:
            for row in results(archive.connection, query):
                writer.write(_result_as_json(row, query.grouping))
                incomplete = incomplete or not row.complete
        elif options.what == EQUITY:
            # What was sampled just now, and by the exchange's clock, may be a moment ahead of this machine's.
            last_ms = query.span[1] + (SAMPLED_EVERY_MS if until is None else 0)
            for sample in samples(archive.connection, product_types, query.span[0], last_ms):
                writer.write(_sample_as_json(sample))
        else:
            origins = TripOrigins(archive.connection)
            for trip_row in ended_trips(archive.connection, query):
                writer.write(_trip_as_json(trip_row, origins))
            first, last = query.span
            spans = missing_spans(archive.connection, now_ms)
            incomplete = any(span.since <= last and first <= span.until for span in spans)
        writer.close()
    if incomplete:
        say(_MISSING)
    return DONE


def _symbols(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(symbol.strip().upper() for symbol in text.split(",") if symbol.strip())


def _writer(options: argparse.Namespace, grouping: Grouping) -> RowWriter:
    columns: tuple[str, ...] = _TRIP_FIELDS if options.what == TRIPS else _EQUITY_FIELDS
    if options.what == PNL:
        columns = _FIGURES if grouping in (Grouping.TOTAL, Grouping.COIN) else (str(grouping), *_FIGURES)
    if options.json:
        return JsonWriter(stdout())
    return CsvWriter(stdout(), columns) if options.csv else TableWriter(stdout(), columns)


def _result_as_json(row: ResultRow, grouping: Grouping) -> Mapping[str, object]:
    group = {} if grouping is Grouping.TOTAL else {str(grouping): row.group}
    return {
        **group,
        "coin": row.coin,
        "gross": exact_digits(row.sums.gross),
        "fees": exact_digits(row.sums.fees),
        "funding": None if row.funding is None else exact_digits(row.funding),
        "net": exact_digits(row.net),
        "volume": exact_digits(row.sums.volume),
        "trades": row.sums.trades,
        "wins": row.sums.wins,
        "losses": row.sums.losses,
        "complete": row.complete,
    }


def _sample_as_json(sample: EquitySample) -> Mapping[str, object]:
    return {
        "time": str(sample.time),
        "equity": exact_digits(sample.equity),
        "unrealised": None if sample.unrealised is None else exact_digits(sample.unrealised),
    }


def _trip_as_json(row: TripRow, origins: TripOrigins) -> Mapping[str, object]:
    trip = row.trip
    optional = {"entry": trip.entry, "exit": trip.exit}
    return {
        "productType": str(row.product_type),
        "symbol": row.symbol,
        "side": "long" if trip.long else "short",
        "openTime": None if trip.opened_ms is None else str(trip.opened_ms),
        "closeTime": str(trip.last_ms),
        **{name: None if value is None else exact_digits(value) for name, value in optional.items()},
        "size": exact_digits(trip.closed_size),
        "coin": trip.coin,
        "gross": exact_digits(trip.gross),
        "fees": exact_digits(trip.fees),
        "funding": None,
        "net": exact_digits(trip.net),
        "openedBy": origins.of_opening(row),
        "closedBy": origins.of_closing(row),
        "startProven": trip.start_proven,
        "endKnown": trip.ended,
        "profitDifference": exact_digits(trip.profit_difference),
    }

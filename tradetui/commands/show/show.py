"""`tradetui show`: one read of any reading endpoint, for scripts; data on stdout, everything else on stderr.

Also the rows of `tradetui show endpoints`: parameters, results and limits of every endpoint in the catalogue.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import Any, Final, TypeAlias

from tradetui.commands.process.console import ATTENTION, DONE, say, stdout
from tradetui.commands.process.failures import report
from tradetui.commands.process.output import CsvWriter, RowWriter, row_writer
from tradetui.commands.session.open_profile import OpenProfile, open_privately
from tradetui.commands.show.bittytax import BittyTaxWriter, write_funding
from tradetui.commands.show.options import (
    BITTYTAX,
    RESULTS,
    in_options,
    requests_of,
    show_parser,
    shown_endpoint,
)
from tradetui.commands.show.reading import ReadingProgress, RowsReader, held_positions, writes_desk_rows
from tradetui.desk.tables.export import CsvTable
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.table import TABLES, TableName
from tradetui.desk.tables.time_format import zoned_text
from tradetui.profiles.load import Flags
from tradetui.trading.contract_math import exact_digits_if_known
from tradetui.trading.positions import FromFills, Position
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS, unix_ms, utc_moment
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Parameter
from tradetui.wire.requests.request import Request
from tradetui.wire.text import counted

ROWS_AT_A_TIME = 25
"""Rows written before the event loop can read from the exchange again."""
ShownRow: TypeAlias = Record | ProductRow[Record] | Position


def run(args: argparse.Namespace) -> int:
    """Parse the options, read page by page and print each row as it comes."""
    parser = show_parser()
    options, unknown = parser.parse_known_args(args.rest)
    if unknown:
        parser.refuse_rest(options.what, unknown)
    if options.what == "endpoints":
        return _show_endpoints(options)
    # A global flag may stand before or after `show`.
    global_flags = {name: value for name, value in vars(options).items() if name in Flags.__dataclass_fields__}
    flags = replace(Flags.of(args), **global_flags)
    if getattr(options, "log", None) is not None:
        from tradetui.commands.process.log_file import start_log

        start_log(options.log)
    if options.what == TableName.OVERVIEW:
        from tradetui.commands.show.show_overview import show_overview

        return asyncio.run(show_overview(options, flags))
    profile = open_privately(os.environ, flags)
    if options.what in RESULTS:
        from tradetui.commands.show.show_results import show_results

        return show_results(options, profile)
    return asyncio.run(_show(options, profile))


def _show_endpoints(options: argparse.Namespace) -> int:
    writer = row_writer(options, COLUMNS)
    for row in rows():
        writer.write(row)
    writer.close()
    return DONE


async def _show(options: argparse.Namespace, profile: OpenProfile) -> int:
    settings = profile.settings_without_key
    zone = settings.zone
    try:
        endpoint = shown_endpoint(options)
    except InvalidRequest as problem:
        return report(problem)
    async with profile.reader() as client:
        try:
            requests = requests_of(options, endpoint, settings, client.clock.wall_ms())
        except InvalidRequest as problem:
            return report(in_options(problem, endpoint, zone))
        reader = RowsReader(options, client, endpoint, requests.span, ReadingProgress(options.what))
        tax_writer = BittyTaxWriter(stdout()) if options.format == BITTYTAX else None
        writer = tax_writer or _writer(options, endpoint)
        failure: Exception | None = None
        try:
            await _write_rows(reader, requests.groups, writer)
            if tax_writer is not None and options.what == TableName.FILLS and options.orderId is None:
                await write_funding(reader, requests.groups, tax_writer)
        except BrokenPipeError:
            raise
        except Exception as problem:
            failure = problem
        # Rows read before a failure are printed, and JSON is completed in any case.
        if failure is None or reader.progress.rows or options.json:
            writer.close()
        reader.progress.end()
    if failure is not None:
        return report(failure)
    _say_what_is_left_out(options, reader.progress, requests.groups, zone)
    for remark in tax_writer.remarks() if tax_writer is not None else ():
        say(f"tradetui: {remark}")
    has_unknown = tax_writer is not None and bool(tax_writer.unknown or tax_writer.incomplete)
    return ATTENTION if reader.progress.undecodable_rows or has_unknown else DONE


async def _write_rows(reader: RowsReader, groups: list[list[Any]], writer: RowWriter[ShownRow]) -> None:
    rows: AsyncIterator[ShownRow] = reader.rows(groups)
    if reader.options.what == TableName.POSITIONS:
        of_product_types, with_market = [group[0] for group in groups], writes_desk_rows(reader.options)
        rows = held_positions(reader.client, of_product_types, reader.progress, with_market=with_market)
    async for row in rows:
        writer.write(row)
        reader.progress.rows += 1
        if reader.progress.rows % ROWS_AT_A_TIME == 0:
            await asyncio.sleep(0)  # the next page is being read meanwhile


def _say_what_is_left_out(
    options: argparse.Namespace, progress: ReadingProgress, requests: list[list[Any]], zone: tzinfo
) -> None:
    newest = counted(progress.rows, "row")
    if progress.has_more:
        way = f"{'--limit N' if options.limit is None else 'a larger --limit'} prints more, --all "
        way += "without --limit reads every page" if options.all else "reads every page"
        say(f"tradetui: these are the newest {newest}; there are more: {way}.")
    elif progress.may_have_more:
        say(f"tradetui: these are the newest {newest}; whether there are more could not be read.")
    if progress.refused_before is not None:
        before_ms, refusal = progress.refused_before
        moment = zoned_text(utc_moment(before_ms), zone)
        say(f"tradetui: these are all rows the exchange still gives; of those before {moment}: {refusal.sentence}")
    if progress.left_out:
        from tradetui.desk.feeds.polling.multi_product import left_out_sentence

        product_types = [ProductType.parse(group[0].product_type) for group in requests]
        if sentence := left_out_sentence(product_types, progress.left_out, progress.kept_symbols):
            say(f"tradetui: {sentence}.")
    if progress.undecodable_rows:
        unreadable = counted(progress.undecodable_rows, "row")
        say(f"tradetui: not shown, since unreadable: {unreadable}. `tradetui doctor` says more.")
    if options.what == TableName.TRIGGERS and not options.waiting:
        say("tradetui: these trigger orders have ended; --waiting prints those that still wait.")


def _writer(options: argparse.Namespace, endpoint: Endpoint) -> RowWriter[ShownRow]:
    """Return the writer of CSV as the screen exports it, or of rows as received."""
    if not options.csv:
        return _ReceivedRowWriter(row_writer(options, _columns(options.what, endpoint)), as_sent=options.json)
    table = CsvTable(TABLES[options.what].every_column)
    return CsvWriter(stdout(), table.heading(), table.cells)


class _ReceivedRowWriter:
    """Writes records with the interface's names and the values as received.

    Rows of a unified account have the names of interface v3 if `as_sent`, else those of the table's columns.
    """

    def __init__(self, writer: RowWriter[Mapping[str, object]], *, as_sent: bool) -> None:
        self._writer = writer
        self._as_sent = as_sent
        self.close = writer.close

    def write(self, row: ShownRow) -> None:
        if isinstance(row, Position):
            self._writer.write(_position_fields(row, as_sent=self._as_sent))
        else:
            self._writer.write(row.original if self._as_sent else row.received)


def _position_fields(position: Position, *, as_sent: bool) -> dict[str, object]:
    """Return a position with the interface's names, without unknown fields, and whether it was reported or summed."""
    origin: dict[str, object] = {"source": "reported", "since": None, "provenFlat": None}
    if isinstance(source := position.source, FromFills):
        since = None if source.since is None else str(unix_ms(source.since))
        origin = {"source": "fills", "since": since, "provenFlat": source.proven}
    if position.record is not None:
        return {**(position.record.original if as_sent else position.record.received), **origin}
    values: dict[str, Any] = {
        "marginCoin": position.margin_coin,
        "symbol": position.symbol,
        "holdSide": position.shown_leg,
        "total": exact_digits_if_known(position.size),
        "openPriceAvg": exact_digits_if_known(position.entry),
        "markPrice": exact_digits_if_known(position.mark),
        "unrealizedPL": exact_digits_if_known(position.unrealised),
        "achievedProfits": exact_digits_if_known(position.realised),
        "posMode": position.mode.value if position.mode else None,
    }
    return {**{name: value for name, value in values.items() if value is not None}, **origin}


def _columns(what: str, endpoint: Endpoint) -> tuple[str, ...]:
    names = endpoint.row.names()
    return (*names, "source", "since", "provenFlat") if what == TableName.POSITIONS else names


_CELLS: Final[Mapping[str, Callable[[Endpoint], object]]] = {
    "number": lambda endpoint: endpoint.number,
    "name": lambda endpoint: endpoint.name,
    "method": lambda endpoint: endpoint.method,
    "path": lambda endpoint: endpoint.path,
    "core": lambda endpoint: endpoint.core,
    "interface": lambda endpoint: endpoint.interface,
    "perSecond": lambda endpoint: endpoint.limit.calls if endpoint.limit.window_s == 1 else endpoint.limit.per_second,
    "copyTrader": lambda endpoint: endpoint.limit.copy_trader,
    "scope": lambda endpoint: endpoint.limit.scope,
    "writes": lambda endpoint: endpoint.writes,
    "law": lambda endpoint: str(endpoint.law),
    "limit": lambda endpoint: f"{page.default}, at most {page.maximum}" if (page := endpoint.page) else None,
    "span": lambda endpoint: f"{time.span_ms // DAY_MS} days" if (time := endpoint.time) and time.span_ms else None,
}
COLUMNS: Final = tuple(_CELLS)


def rows() -> Iterator[dict[str, object]]:
    """Yield a row per endpoint: its columns, and for JSON its purpose, paging, time rule and parameters too."""
    for endpoint in CATALOGUE.values():
        yield {name: cell(endpoint) for name, cell in _CELLS.items()} | {
            "signed": endpoint.signed,
            "purpose": inspect.getdoc(endpoint.request),
            "paging": _paging(endpoint),
            "time": _time(endpoint),
            "parameters": _parameters(endpoint.request),
        }


def _paging(endpoint: Endpoint) -> Mapping[str, object] | None:
    page = endpoint.page
    if page is None:
        return None
    return {
        page.parameter: page.cursor_field,
        "firstPage": page.first,
        "default": page.default,
        "maximum": page.maximum,
        "overMaximum": "maximum" if page.capped else "refused",
    }


def _time(endpoint: Endpoint) -> Mapping[str, object] | None:
    time = endpoint.time
    if time is None:
        return None
    return {
        "ends": str(time.both),
        "missing": str(time.missing),
        "longestDays": time.span_ms // DAY_MS,
        "windowDays": time.window_ms // DAY_MS if time.window_ms else None,
        "fromBinding": time.from_binding,
    }


def _parameters(request: type[Request[Any]]) -> list[dict[str, object]]:
    return [_parameter(parameter) for parameter in request.parameters.values()]


def _parameter(parameter: Parameter) -> dict[str, object]:
    row: dict[str, object] = {
        "name": parameter.name,
        "type": parameter.value_type,
        "required": parameter.required,
        "rule": parameter.rule,
        "values": list(parameter.choices) or None,
        "liveValues": dict(parameter.alternatives) or None,
        **parameter.limits,
    }
    if parameter.element is not None:
        row["elements"] = _parameters(parameter.element)
    return row

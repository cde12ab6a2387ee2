"""`tradetui show`: one read of any reading endpoint, for scripts; data on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from tradetui.commands.process.console import ATTENTION, DONE, say, stdout
from tradetui.commands.process.failures import report
from tradetui.commands.process.output import CsvWriter, row_writer
from tradetui.commands.session.bootstrap import open_reader
from tradetui.commands.session.data_directory import load_privately
from tradetui.commands.show import endpoints_table
from tradetui.commands.show.options import BITTYTAX, RESULTS, ReadSpan, in_options, requests_of, show_parser
from tradetui.commands.show.reading import ReadingProgress, RowsReader, writes_desk_rows
from tradetui.desk.tables.export import CsvTable
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.table import TABLES, TableName
from tradetui.desk.tables.time_format import zoned_text
from tradetui.profiles.load import Flags, LoadedProfile
from tradetui.trading.positions import Position
from tradetui.ui.settings.time_zones import zone_named
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record
from tradetui.wire.text.counted import counted

if TYPE_CHECKING:
    from tradetui.commands.show.bittytax import BittyTaxWriter

ROWS_AT_A_TIME = 25
"""Rows written before the loop reads from the exchange again."""


def run(args: argparse.Namespace) -> int:
    """Parse the options, read page by page and print each row as it comes."""
    parser = show_parser()
    options, unknown = parser.parse_known_args(args.rest)
    if unknown:
        parser.refuse_rest(options.what, unknown)
    if options.what == "endpoints":
        writer = row_writer(options, endpoints_table.COLUMNS)
        for row in endpoints_table.rows():
            writer.write(row)
        writer.close()
        return DONE
    # A global flag may stand before `show` or behind it.
    global_flags = {name: value for name, value in vars(options).items() if name in Flags.__dataclass_fields__}
    flags = replace(Flags.of(args), **global_flags)
    if getattr(options, "log", None) is not None:
        from tradetui.commands.process.log_file import start_log

        start_log(options.log)
    loaded = load_privately(os.environ, flags)
    if options.what in RESULTS:
        from tradetui.commands.show.show_results import show_results

        return show_results(options, loaded)
    return asyncio.run(_show(options, loaded))


async def _show(options: argparse.Namespace, loaded: LoadedProfile) -> int:
    endpoint = TABLES[options.what].endpoint
    async with open_reader(loaded) as client:
        try:
            requests, span = requests_of(options, endpoint, loaded, client.clock.wall_ms())
        except InvalidRequest as problem:
            return report(in_options(problem, endpoint, zone_named(loaded.profile.timezone)))
        writer: Any = _writer_of_rows(options) or row_writer(options, _columns(options.what, endpoint))
        reader = RowsReader(options, client, endpoint, span, ReadingProgress(options.what))
        progress = reader.progress
        failure: Exception | None = None
        try:
            async for row in _rows(reader, requests):
                writer.write(row if writes_desk_rows(options) else _as_received(row))
                progress.rows += 1
                if progress.rows % ROWS_AT_A_TIME == 0:
                    await asyncio.sleep(0)  # the next page is being read meanwhile
            if options.format == BITTYTAX and options.what == TableName.FILLS and options.orderId is None:
                await _write_funding(reader, writer, requests)
        except BrokenPipeError:
            raise
        except Exception as problem:
            failure = problem
        if failure is None or progress.rows or options.json:
            writer.close()
        progress.end()
    if failure is not None:
        return report(failure)
    _say_what_is_left_out(options, progress, requests, zone_named(loaded.profile.timezone))
    has_unknown = False
    if options.format == BITTYTAX:
        has_unknown = bool(writer.unknown or writer.incomplete)
        for remark in writer.remarks():
            say(f"tradetui: {remark}")
    return ATTENTION if progress.undecodable_rows or has_unknown else DONE


def _rows(reader: RowsReader, requests: list[list[Any]]) -> AsyncIterator[Record | ProductRow[Record] | Position]:
    if reader.options.what != TableName.POSITIONS:
        return reader.rows(requests)
    from tradetui.commands.show.position_rows import held_positions

    of_product_types, with_market = [group[0] for group in requests], writes_desk_rows(reader.options)
    return held_positions(reader.client, of_product_types, reader.progress, with_market=with_market)


async def _write_funding(reader: RowsReader, writer: BittyTaxWriter, requests: list[list[Any]]) -> None:
    """Write the funding of the fills' period, which no fill contains."""
    from tradetui.commands.show.bittytax import write_funding

    period = _period_of_funding(reader, requests[0][0], writer.oldest_ms)
    product_types = [ProductType(group[0].product_type) for group in requests]
    await write_funding(reader.client, writer, product_types, period, reader.options.symbol)


def _period_of_funding(reader: RowsReader, request: Any, oldest_ms: int | None) -> ReadSpan:
    """The period of the printed fills: as requested, or since the oldest of them where not all were read."""
    now_ms = reader.client.server_clock.now_ms
    since_ms, until_ms = reader.span or (request.start_time, request.end_time)
    if since_ms is None and reader.options.all:
        since_ms = 0
    elif since_ms is None or reader.progress.has_more:
        since_ms = now_ms if oldest_ms is None else oldest_ms
    return since_ms, until_ms or now_ms


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


def _writer_of_rows(options: argparse.Namespace) -> CsvWriter[object] | BittyTaxWriter | None:
    """The writer of the desk's rows; None where they are written as received."""
    if options.format == BITTYTAX:
        from tradetui.commands.show.bittytax import BittyTaxWriter

        return BittyTaxWriter(stdout())
    if not options.csv:
        return None
    table = CsvTable(TABLES[options.what].every_column)
    return CsvWriter(stdout(), table.heading(), table.cells)


def _as_received(row: Record | ProductRow[Record] | Position) -> Mapping[str, object]:
    from tradetui.commands.show.position_rows import position_as_json

    return position_as_json(row) if isinstance(row, Position) else row.received


def _columns(what: str, endpoint: Endpoint) -> tuple[str, ...]:
    names = endpoint.row.names()
    return (*names, "source", "since", "provenFlat") if what == TableName.POSITIONS else names

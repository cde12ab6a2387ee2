"""`tradetui show`: one read of any reading endpoint, for scripts; data on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tradetui.commands.process.console import say, show_progress, stderr_is_terminal, stdout
from tradetui.commands.process.exit_codes import ATTENTION, DONE
from tradetui.commands.process.failures import report
from tradetui.commands.process.flags import CommandParser, global_flags_into
from tradetui.commands.results.flags import RESULTS, add_result_commands
from tradetui.commands.rows import endpoints_table
from tradetui.commands.rows.merge_streams import merged
from tradetui.commands.rows.output import CsvWriter, JsonWriter, RowWriter, TableCsvWriter, TableWriter
from tradetui.commands.session.bootstrap import flags_of, open_reader
from tradetui.commands.session.data_directory import load_privately
from tradetui.desk.tables.export import CsvTable
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.table import TABLES, TableName
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError
from tradetui.profiles.load import LoadedProfile
from tradetui.trading.positions import Position
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import QUERIED_PLAN_TYPES, OrderStatus
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.product_types import ProductType, may_trade
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Parameter
from tradetui.wire.requests.request import check_window
from tradetui.wire.time_points import milliseconds
from tradetui.wire.time_windows import DAY_MS, Ends, TimeRule, split_span

if TYPE_CHECKING:
    from tradetui.commands.rows.bittytax import BittyTaxWriter

MERGED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    TableName.ORDERS: ("status", (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)),
    TableName.TRIGGERS: ("planType", QUERIED_PLAN_TYPES),
}
"""What a panel shows is several reads of one parameter, unless the person gives that parameter."""

TAXED = frozenset({TableName.FILLS, TableName.SPOT_FILLS, TableName.SPOT_BILLS, TableName.CONVERT})
BITTYTAX = "bittytax"
_TAX_HELP = (
    "CSV of transaction records for BittyTax, oldest first; a record always gives the same line, so that lines two "
    "exports share are one event. fills: profit, fees and funding; spot-bills: what spot-fills do not hold"
)
CONVERT_DEFAULT_DAYS = 90
_Span: TypeAlias = tuple[int, int]
"""Start and end in Unix milliseconds, both included."""
ROWS_AT_A_TIME = 25
"""Rows written before what comes in from the exchange is looked at."""
_OWN = frozenset({"productType", "startTime", "endTime", "limit", "idLessThan"})


def run(args: argparse.Namespace) -> int:
    """Parse what is asked, read it page by page and print each row as it comes."""
    options = show_parser().parse_args(args.rest)
    if options.what == "endpoints":
        writer = _writer(options, endpoints_table.COLUMNS)
        for row in endpoints_table.rows():
            writer.write(row)
        writer.close()
        return DONE
    for name in ("config", "profile", "base_url", "product_type", "proxy", "data_dir", "read_only"):
        if getattr(options, name, None) is not None:
            setattr(args, name, getattr(options, name))
    if getattr(options, "log", None) is not None:
        from tradetui.commands.process.log_file import start_log

        start_log(options.log)
    loaded = load_privately(os.environ, flags_of(args))
    if options.what in RESULTS:
        from tradetui.commands.results.show_results import show_results

        return show_results(options, loaded)
    return asyncio.run(_show(options, loaded))


async def _show(options: argparse.Namespace, loaded: LoadedProfile) -> int:
    endpoint = TABLES[options.what].endpoint
    async with open_reader(loaded) as client:
        try:
            requests, span = _requests(options, endpoint, loaded, client.clock.wall_ms())
        except InvalidRequest as problem:
            return report(_in_options(problem, endpoint))
        writer: Any = _writer_of_rows(options) or _writer(options, _columns(options.what, endpoint))
        progress = _Progress(options.what)
        failure: Exception | None = None
        try:
            async for row in _rows(options, client, endpoint, requests, span, progress):
                writer.write(row if _needs_rows(options) else _as_received(row))
                progress.row()
                if progress.rows % ROWS_AT_A_TIME == 0:
                    await asyncio.sleep(0)  # the next page is being read meanwhile
            if options.format == BITTYTAX and options.what == TableName.FILLS and options.orderId is None:
                from tradetui.commands.rows.funding import write_funding

                request, now_ms = requests[0][0], client.server_clock.now_ms
                period = _period_of_funding(options, request, span, writer.oldest_ms, now_ms, cut=progress.cut)
                product_types = [ProductType(group[0].product_type) for group in requests]
                await write_funding(client, writer, product_types, *period, options.symbol)
        except BrokenPipeError:
            raise
        except Exception as problem:
            failure = problem
        if failure is None or progress.rows or options.json:
            writer.close()
        progress.end()
    if failure is not None:
        return report(failure)
    if progress.cut:
        way = f"{'--limit N' if options.limit is None else 'a larger --limit'} prints more, --all "
        way += "without --limit reads every page" if options.all else "reads every page"
        say(f"tradetui: these are the newest {progress.rows} rows of at least {progress.rows + 1}: {way}.")
    elif progress.may_be_cut:
        say(f"tradetui: these are the newest {progress.rows} rows; whether there are more could not be read.")
    if progress.undecodable_rows:
        say(
            f"tradetui: {progress.undecodable_rows} rows could not be read and are not shown; "
            "`tradetui doctor` says more."
        )
        return ATTENTION
    if options.format == BITTYTAX:
        for remark in writer.remarks():
            say(f"tradetui: {remark}")
        return ATTENTION if writer.unknown else DONE
    return DONE


def _period_of_funding(
    options: argparse.Namespace, request: Any, span: _Span | None, oldest_ms: int | None, now_ms: int, *, cut: bool
) -> _Span:
    """The period that the fills printed are of: as requested, or since the oldest of them where not all were read."""
    since_ms, until_ms = span or (request.start_time, request.end_time)
    if since_ms is None and options.all:
        since_ms = 0
    elif since_ms is None or cut:
        since_ms = now_ms if oldest_ms is None else oldest_ms
    return since_ms, until_ms or now_ms


def _needs_rows(options: argparse.Namespace) -> bool:
    """Whether rows are written from the desk's, with their product type, and not as received."""
    return options.csv or options.format is not None


def _writer_of_rows(options: argparse.Namespace) -> TableCsvWriter | BittyTaxWriter | None:
    """What writes the desk's rows; None where they are written as received."""
    if options.format == BITTYTAX:
        from tradetui.commands.rows.bittytax import BittyTaxWriter

        return BittyTaxWriter(stdout())
    if not options.csv:
        return None
    from tradetui.desk.tables.every_field import every_column

    return TableCsvWriter(stdout(), CsvTable(every_column(TABLES[options.what])))


def _as_received(row: Record | ProductRow[Record] | Position) -> Mapping[str, object]:
    from tradetui.commands.rows.positions import position_as_json

    return position_as_json(row) if isinstance(row, Position) else row.received


class _Progress:
    """Counts rows and pages; tells them on stderr when that is a terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shows = stderr_is_terminal()
        self.rows = 0
        self.cut = False
        self.may_be_cut = False
        self._pages = 0
        self.undecodable_rows = 0

    def page(self, reply: Reply[Any]) -> None:
        self._pages += 1
        self.undecodable_rows += len(reply.undecodable_rows)
        if self._shows:
            show_progress(f"{self._what}: {self.rows} rows, {self._pages} pages")

    def row(self) -> None:
        self.rows += 1

    def unreadable(self, rows: int) -> None:
        self.undecodable_rows += rows

    def end(self) -> None:
        if self._shows and self._pages:
            show_progress(f"{self._what}: {self.rows} rows, {self._pages} pages", last=True)


async def _rows(
    options: argparse.Namespace,
    client: ExchangeReader,
    endpoint: Endpoint,
    requests: list[list[Any]],
    span: _Span | None,
    progress: _Progress,
) -> AsyncIterator[Record | ProductRow[Record] | Position]:
    """Rows of every product type, newest first; where a record has no time, one product type after the other.

    Where the desk's rows are written each has the product type that it was read under.
    """
    if options.what == TableName.POSITIONS:
        from tradetui.commands.rows.positions import held_positions

        async for position in held_positions(client, [group[0] for group in requests], progress.unreadable):
            yield position
        return
    groups = [
        merged(
            [_stream(client, endpoint, request, span, options, progress) for request in group],
            id_field=endpoint.id_field,
            time_field=endpoint.time_field,
        )
        for group in requests
    ]
    given, most = 0, _most(options, endpoint)
    # An id is one record's within a product type only, so each is freed of repetitions before they are merged.
    records = merged(groups, id_field=None, time_field=endpoint.time_field)
    while most is None or given < most:
        record = await anext(records, None)
        if record is None:
            return
        given += 1
        yield record
    try:
        progress.cut = await anext(records, None) is not None
    except ExchangeError:
        progress.may_be_cut = True  # what was requested is complete; only whether there is more is not known


def _most(options: argparse.Namespace, endpoint: Endpoint) -> int | None:
    """Rows in all: what was requested, or one page, beyond which one product type may reach further than another."""
    if options.all and options.limit is None:
        return None
    return options.limit if options.limit is not None or endpoint.page is None else endpoint.page.default


async def _stream(
    client: ExchangeReader,
    endpoint: Endpoint,
    request: Any,
    span: _Span | None,
    options: argparse.Namespace,
    progress: _Progress,
) -> AsyncIterator[Record | ProductRow[Record]]:
    """Rows of one request page after page, read only as they are taken, or one page ahead where all are wanted."""
    product_type = getattr(request, "product_type", None)

    def tagged(record: Record) -> Record | ProductRow[Record]:
        return ProductRow(product_type, record) if _needs_rows(options) and product_type is not None else record

    if endpoint.page is None:
        reply = await client.read(request)
        progress.page(reply)
        for record in reply.rows:
            yield tagged(record)
        return
    taken, most = 0, _most(options, endpoint)
    start, end = span if span is not None else (None, None)
    pages = client.pages(request, start_time=start, end_time=end)
    try:
        async for reply in ahead(pages) if most is None else pages:
            progress.page(reply)
            for record in reply.rows:
                yield tagged(record)
            taken += len(reply.rows)
    except ExchangeError:
        if most is None or taken < most:
            raise
        progress.may_be_cut = True


async def ahead(pages: AsyncIterator[Reply[Any]]) -> AsyncIterator[Reply[Any]]:
    """The same pages; while one of them is used, the next is being read."""
    following = asyncio.ensure_future(anext(pages, None))
    try:
        while (page := await following) is not None:
            following = asyncio.ensure_future(anext(pages, None))
            yield page
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def _requests(
    options: argparse.Namespace, endpoint: Endpoint, loaded: LoadedProfile, now_ms: int
) -> tuple[list[list[Any]], _Span | None]:
    """One group of requests a product type, which is merged into one stream, and the span that all are read over.

    Without a span each request is read as it stands; raises InvalidRequest.
    """
    values = {
        name: getattr(options, name) for name in _parameters(endpoint) if getattr(options, name, None) is not None
    }
    for name, flag in (("startTime", "--since"), ("endTime", "--until")):
        if (text := getattr(options, name, None)) is not None:
            values[name] = milliseconds(text, now_ms, flag)
    check_window(endpoint.time, values.get("startTime"), values.get("endTime"), now_ms)
    if options.what == TableName.TRANSFERS and "startTime" in values:
        values.setdefault("endTime", now_ms)  # the interface wants both or neither
    if options.what == TableName.CONVERT:
        values.setdefault("endTime", now_ms)
        values.setdefault("startTime", values["endTime"] - CONVERT_DEFAULT_DAYS * DAY_MS)
    span = _span_in_pieces(options, endpoint, values, now_ms)
    if getattr(options, "idLessThan", None) is not None:
        values["idLessThan"] = options.idLessThan
    if endpoint.page is not None:
        wanted = options.limit if options.limit is not None else endpoint.page.default
        values["limit"] = endpoint.page.maximum if options.all else min(wanted, endpoint.page.maximum)
    product_types: Iterable[str | None] = [None]
    if "productType" in _parameters(endpoint):
        product_types = loaded.profile.product_types
        if getattr(options, "product_type", None) is None and (symbol := values.get("symbol")):
            likely = [
                product_type for product_type in product_types if may_trade(ProductType(product_type), str(symbol))
            ]
            product_types = likely or product_types
    groups = []
    for product_type in product_types:
        base = values if product_type is None else {**values, "productType": product_type}
        name, choices = MERGED.get(options.what, ("", ()))
        chosen = [{}] if name in base or not choices else [{name: choice} for choice in choices]
        groups.append([endpoint.request(**base, **more) for more in chosen])
    return groups, span


def _in_options(problem: InvalidRequest, endpoint: Endpoint) -> InvalidRequest:
    """The same, with the interface's parameters called by the options that give them."""
    options = {
        name: {"startTime": "--since", "endTime": "--until"}.get(name, f"--{_kebab(name)}")
        for name in _parameters(endpoint)
    }

    def with_options(sentence: str) -> str:
        # A name without capitals may be a common word: coin, symbol, type.
        return re.sub(r"\b[a-z]+[A-Z]\w*", lambda name: options.get(name[0], name[0]), sentence)

    name, remedy = problem.parameter, with_options(problem.remedy)
    if name == "endTime" and problem.remedy.startswith("Cut it into pieces"):
        remedy += " With --all that is done for you."
    return InvalidRequest(options.get(name, name), with_options(problem.rule), problem.value, remedy)


def _span_in_pieces(
    options: argparse.Namespace, endpoint: Endpoint, values: dict[str, Any], now_ms: int
) -> _Span | None:
    """The span from --since to --until (or now) where all of it is wanted and is more than one request may ask for.

    The times in `values` are then those of its newest piece; reading goes on from there piece by piece.
    """
    rule, start = endpoint.time, values.get("startTime")
    end = values.get("endTime", now_ms)
    if not options.all or rule is None or start is None or end - start <= rule.span_ms:
        return None
    newest_start, newest_end = next(split_span(start, end, rule.piece_ms))
    values |= {"startTime": newest_start, "endTime": newest_end}
    return start, end


def _parameters(endpoint: Endpoint) -> tuple[str, ...]:
    return tuple(parameter.name for parameter in endpoint.request.parameters())


def _columns(what: str, endpoint: Endpoint) -> tuple[str, ...]:
    names = endpoint.row.names()
    return (*names, "source", "since", "provenFlat") if what == TableName.POSITIONS else names


def _writer(options: argparse.Namespace, columns: tuple[str, ...]) -> RowWriter:
    if options.json:
        return JsonWriter(stdout())
    if options.csv:
        return CsvWriter(stdout(), columns)
    return TableWriter(stdout(), columns)


def show_parser() -> argparse.ArgumentParser:
    """The parser of `show` with the options of everything it reads."""
    parser = CommandParser(
        prog="tradetui show",
        description="One read of any reading endpoint; JSON, CSV, or aligned text.",
        epilog="Each has its own options, with all parameters of the interface: tradetui show WHAT --help",
    )
    whats = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for what, table in TABLES.items():
        endpoint = table.endpoint
        _add_flags(whats.add_parser(str(what), help=f"{endpoint.name}, {endpoint.path}"), what, endpoint)
    add_result_commands(whats)
    endpoints = whats.add_parser("endpoints", help="the catalogue of endpoints")
    _add_format(endpoints)
    return parser


def _add_flags(parser: argparse.ArgumentParser, what: str, endpoint: Endpoint) -> None:
    global_flags_into(parser, f"product type, or several with commas: {', '.join(ProductType)}")
    _add_format(parser, taxed=what in TAXED)
    for parameter in endpoint.request.parameters():
        if parameter.name not in _OWN:
            rule = _rule_of_flag(what, parameter)
            parser.add_argument(f"--{_kebab(parameter.name)}", dest=parameter.name, metavar="VALUE", help=rule)
    if endpoint.time is not None:
        times = "ISO 8601, a span such as 7d, or milliseconds"
        parser.add_argument("--since", "--start-time", dest="startTime", metavar="TIME", help=times)
        until = f"{times}; {_rule_of_times(endpoint.time)}"
        parser.add_argument("--until", "--end-time", dest="endTime", metavar="TIME", help=until)
    if endpoint.page is not None:
        older = endpoint.request.parameter("idLessThan").explanation
        parser.add_argument("--id-less-than", dest="idLessThan", metavar="ID", help=older)
        rows = f"rows in all (default: one page, {endpoint.page.default} rows; a page holds {endpoint.page.maximum})"
        parser.add_argument("--limit", type=_count, metavar="ROWS", help=rows)
        parser.add_argument("--all", action="store_true", help="every page; a longer span is read in pieces")
    else:
        parser.set_defaults(limit=None, all=False)


def _rule_of_flag(what: str, parameter: Parameter) -> str:
    merged, defaults = MERGED.get(what, ("", ()))
    if parameter.name != merged:
        return parameter.explanation
    return f"{replace(parameter, required=False).explanation} (default: {', '.join(defaults)}, merged)"


def _rule_of_times(rule: TimeRule) -> str:
    both = {
        Ends.BOTH_OR_NEITHER: ", both or neither",
        Ends.REQUIRED: f", the last {CONVERT_DEFAULT_DAYS} days if left out",
    }
    window = f", within the last {rule.window_ms // DAY_MS} days" if rule.window_ms else ""
    return f"at most {rule.span_words.rstrip(',')} from --since to --until{window}{both.get(rule.both, '')}"


def _add_format(parser: argparse.ArgumentParser, *, taxed: bool = False) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="an array of objects with the interface's field names")
    form.add_argument("--csv", action="store_true", help="CSV as the screen exports it; formulas made safe")
    parser.set_defaults(format=None)
    if taxed:
        form.add_argument("--format", choices=(BITTYTAX,), help=_TAX_HELP)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)


def _kebab(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)

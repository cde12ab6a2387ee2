"""The parser of `tradetui show`, made of the parameters of the interface's requests."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Final

from tradetui.commands.process.flags import CommandParser, global_flags_into
from tradetui.desk.tables.table import TABLES, TableName
from tradetui.trading.results.periods import Grouping
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.enums import QUERIED_PLAN_TYPES, OrderStatus
from tradetui.wire.exchange_time import DAY_MS, Ends, TimeRule
from tradetui.wire.product_types import ProductType
from tradetui.wire.requests.parameter import Parameter

PNL: Final = "pnl"
TRIPS: Final = "trips"
EQUITY: Final = "equity"
RESULTS: Final = (PNL, TRIPS, EQUITY)
_PNL_HELP: Final = (
    "What closing trades brought in, before fees (gross), fees (minus is paid), and net, by the exchange's own profit "
    "of each fill. A row holds one coin. trades, wins and losses count closing orders by profit and own fees, on the "
    "day of the order's last fill. funding is null where it cannot be read, and not in net then. complete is false "
    "where fills of the row's period are not read, lie before what the exchange kept, or came without their fee or "
    "profit, which is not in the figures then; a period that lasts until now counts as read for two minutes. "
    "unexplained is what the wallet moved by beyond net and transfers; null by symbol, and where not all fills and "
    "bills of it are read."
)
_TRIPS_HELP: Final = (
    "Round trips from flat to flat, by symbol and side, newest first, each in the period of its last close. "
    "startProven is false where more may have been held before the first fill that is known. funding is null where "
    "it is not known, and not in net then; netDifference is what the exchange's own net result of the position has "
    "beyond net, null where it gives none. complete is false where the exchange gave no fee or no profit for a fill "
    "of it, which is not in fees, gross and net then. entry and exit are "
    "averages: JSON and CSV give them 12 significant digits, text as many decimals as the symbol's prices have. Times "
    "are in milliseconds, in CSV also in UTC, and in text in the profile's time zone."
)
_EQUITY_HELP: Final = (
    "What the accounts of the profile's product types were worth together, in USDT, oldest first: sampled once a "
    "minute by every session, one an hour kept after a week and one a day after a quarter."
)
MERGED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    TableName.ORDERS: ("status", (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)),
    TableName.TRIGGERS: ("planType", QUERIED_PLAN_TYPES),
}
"""The parameter whose values a panel reads one by one, unless the person gives it."""
CONVERT_DEFAULT_DAYS = 90
BITTYTAX = "bittytax"
_TAXED = frozenset({TableName.FILLS, TableName.SPOT_FILLS, TableName.SPOT_BILLS, TableName.CONVERT})
_TAX_HELP = (
    "CSV of transaction records for BittyTax, oldest first; a record gives the same line in every export, so equal "
    "lines of two exports are one event. fills: profit, fees and funding; spot-bills: all but spot trades"
)
_OWN = frozenset({"productType", "startTime", "endTime", "limit", "idLessThan"})


def add_result_commands(whats: argparse._SubParsersAction[CommandParser]) -> None:
    pnl = whats.add_parser(PNL, help="results: gross, fees and net of a period", description=_PNL_HELP)
    by = "what to sum by (default total); days, weeks (from Monday) and months are those of the profile's time zone"
    pnl.add_argument("--by", choices=tuple(map(str, Grouping)), default=Grouping.TOTAL, type=str.lower, help=by)
    trips = whats.add_parser(TRIPS, help="round trips, from flat to flat", description=_TRIPS_HELP)
    equity = whats.add_parser(EQUITY, help="equity over time", description=_EQUITY_HELP)
    for parser in (pnl, trips, equity):
        global_flags_into(parser)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="an array of objects, decimals as text")
        form.add_argument("--csv", action="store_true", help="CSV; formulas made safe")
        times = "ISO 8601 in the profile's time zone, a span such as 7d, or milliseconds"
        parser.add_argument("--since", metavar="TIME", help=f"{times}: the first moment; all that is known if left out")
        until = f"{times}: a day alone is included, a period ends before any other time; now if left out"
        parser.add_argument("--until", metavar="TIME", help=until)
        fresh = "first read the newest fills, even where there is an archive"
        parser.add_argument("--fresh", action="store_true", help=fresh)
        if parser is not equity:
            chosen = "only this symbol, or several with commas"
            parser.add_argument("--symbol", metavar="SYMBOL", help=chosen)


def show_parser() -> CommandParser:
    parser = CommandParser(
        prog="tradetui show",
        description="Read one kind of record once, as aligned text, JSON or CSV.",
        epilog="Each takes every parameter of its endpoint as an option: tradetui show WHAT --help",
    )
    whats = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for what, table in TABLES.items():
        endpoint = table.endpoint
        _add_flags(whats.add_parser(str(what), help=f"{table.subject} ({endpoint.path})"), what, endpoint)
    add_result_commands(whats)
    endpoints = whats.add_parser("endpoints", help="every endpoint, with its limits and parameters")
    _add_format(endpoints)
    return parser


def _add_flags(parser: argparse.ArgumentParser, what: str, endpoint: Endpoint) -> None:
    global_flags_into(parser, tuple(ProductType))
    _add_format(parser, taxed=what in _TAXED)
    for parameter in endpoint.request.parameters():
        if parameter.name not in _OWN:
            rule = _rule_of_flag(what, parameter)
            parser.add_argument(f"--{option_name(parameter.name)}", dest=parameter.name, metavar="VALUE", help=rule)
    if endpoint.time is not None:
        times = "ISO 8601 in the profile's time zone, a span such as 7d, or milliseconds"
        parser.add_argument("--since", "--start-time", dest="startTime", metavar="TIME", help=times)
        until = f"{times}; a day alone is included; {_rule_of_times(endpoint.time)}"
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
    return f"{parameter.changed(required=False).explanation} (default: {', '.join(defaults)}, merged)"


def _rule_of_times(rule: TimeRule) -> str:
    both = {
        Ends.BOTH_OR_NEITHER: ", both or neither",
        Ends.REQUIRED: f", the last {CONVERT_DEFAULT_DAYS} days if left out",
    }
    window = f", within the last {rule.window_ms // DAY_MS} days" if rule.window_ms else ""
    return f"at most {rule.span_text.rstrip(',')} from --since to --until{window}{both.get(rule.both, '')}"


def _add_format(parser: argparse.ArgumentParser, *, taxed: bool = False) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="an array of objects with the interface's field names")
    form.add_argument("--csv", action="store_true", help="CSV as the screen exports it; formulas made safe")
    parser.set_defaults(format=None)
    if taxed:
        form.add_argument("--format", choices=(BITTYTAX,), help=_TAX_HELP)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of rows, at least 1; given: {text}. For example 50")
    return int(text)


def option_name(name: str) -> str:
    """The option of a parameter of the interface: `productType` is `product-type`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)

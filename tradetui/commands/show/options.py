"""What `tradetui show` can be asked for: its parser, made of the parameters of the interface's requests."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tradetui.commands.process.flags import CommandParser, global_flags_into
from tradetui.commands.show.results.flags import add_result_commands
from tradetui.desk.tables.table import TABLES, TableName
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.enums import QUERIED_PLAN_TYPES, OrderStatus
from tradetui.wire.product_types import ProductType
from tradetui.wire.requests.parameter import Parameter
from tradetui.wire.time_windows import DAY_MS, Ends, TimeRule

MERGED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    TableName.ORDERS: ("status", (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)),
    TableName.TRIGGERS: ("planType", QUERIED_PLAN_TYPES),
}
"""What a panel shows is several reads of one parameter, unless the person gives that parameter."""

CONVERT_DEFAULT_DAYS = 90
BITTYTAX = "bittytax"
_TAXED = frozenset({TableName.FILLS, TableName.SPOT_FILLS, TableName.SPOT_BILLS, TableName.CONVERT})
_TAX_HELP = (
    "CSV of transaction records for BittyTax, oldest first; a record gives the same line in every export, so equal "
    "lines of two exports are one event. fills: profit, fees and funding; spot-bills: all but spot trades"
)
_OWN = frozenset({"productType", "startTime", "endTime", "limit", "idLessThan"})


def show_parser() -> CommandParser:
    """The parser of `show` with the options of everything it reads."""
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
    global_flags_into(parser, f"product type, or several with commas: {', '.join(ProductType)}")
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
        raise argparse.ArgumentTypeError(f"must be a whole number of rows, at least 1; given: {text}. For example 50")
    return int(text)


def option_name(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)

"""The options of `tradetui show`, and the requests made from them.

Each parameter of an endpoint becomes an option, directly from the catalogue. The endpoint's rules are checked before
anything is sent.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final, NamedTuple

from tradetui.commands.process.flags import CommandParser, global_flags_into
from tradetui.desk.archive.coverage import TimeSpan
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.table import TABLES, TableName
from tradetui.desk.tables.time_format import with_zoned_times
from tradetui.trading.results.periods import Grouping
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.enums import QUERIED_PLAN_TYPES, OrderStatus
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import (
    DAY_MS,
    SHORTEST_THREE_MONTHS_MS,
    Ends,
    TimeRule,
    end_until_now,
    milliseconds,
    split_span,
)
from tradetui.wire.product_types import ProductType, may_trade
from tradetui.wire.requests.parameter import Parameter
from tradetui.wire.requests.request import check_window

PNL: Final = "pnl"
TRIPS: Final = "trips"
EQUITY: Final = "equity"
RESULTS: Final = (PNL, TRIPS, EQUITY)
BITTYTAX: Final = "bittytax"
_TAXED: Final = frozenset({TableName.FILLS, TableName.SPOT_FILLS, TableName.SPOT_BILLS, TableName.CONVERT})
CONVERT_DEFAULT_DAYS: Final = 90
_TIME_HELP: Final = (
    "yesterday, 'last week', november, 2026-11 or ISO 8601, all in the profile's time zone; a span such as 7d; or "
    "milliseconds"
)
_MERGED: Final[Mapping[str, Sequence[Mapping[str, str]]]] = {
    TableName.ORDERS: [{"status": status} for status in (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)],
    TableName.TRIGGERS: [{"planType": plan_type} for plan_type in QUERIED_PLAN_TYPES],
}
"""The requests whose rows are merged, by the one parameter in which they differ, unless the person gives it."""
_OWN: Final = frozenset({"productType", "startTime", "endTime", "limit", "idLessThan"})
"""Parameters with special options instead of the generic one."""


class ShowRequests(NamedTuple):
    """The requests of one `tradetui show`: a group per product type, whose rows are merged.

    `span` is the whole span if it is longer than one request may ask for: then the requests have its newest piece.
    """

    groups: list[list[Any]]
    span: TimeSpan | None


def show_parser() -> CommandParser:
    parser = CommandParser(
        prog="tradetui show",
        description="Read one kind of record once, as aligned text, JSON or CSV.",
        epilog="Each takes every parameter of its endpoint as an option: tradetui show WHAT --help",
    )
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for what, table in TABLES.items():
        endpoint = table.endpoint
        _add_flags(kinds.add_parser(str(what), help=f"{table.subject} ({endpoint.path})"), what, endpoint)
    _add_result_commands(kinds)
    _add_overview(
        kinds.add_parser(str(TableName.OVERVIEW), help="your accounts, a row each", description=_OVERVIEW_HELP)
    )
    _add_format(kinds.add_parser("endpoints", help="every endpoint, with its limits and parameters"))
    return parser


def shown_endpoint(options: argparse.Namespace) -> Endpoint:
    """Return the endpoint to read; raises InvalidRequest for an option that only its counterpart takes."""
    if not options.waiting:
        return TABLES[options.what].endpoint
    if options.planStatus is not None:
        raise InvalidRequest(
            "--plan-status", "of orders that ended, not with --waiting", options.planStatus, "Leave one of the two out."
        )
    return CATALOGUE["futures.live_triggers"]


def requests_of(options: argparse.Namespace, endpoint: Endpoint, settings: DeskSettings, now_ms: int) -> ShowRequests:
    """Make the requests from the options; raises InvalidRequest."""
    values = _values_of(options, endpoint, settings.zone, now_ms)
    span = _span_in_pieces(options, endpoint, values, now_ms)
    if span is not None and endpoint.time is not None:
        values["startTime"], values["endTime"] = next(split_span(*span, endpoint.time.piece_ms))
    groups = []
    for product_type in _product_types(options, endpoint, settings.product_types, values.get("symbol")):
        base = values if product_type is None else {**values, "productType": product_type}
        variants = [variant for variant in _MERGED.get(options.what, ()) if not variant.keys() & base.keys()]
        groups.append([endpoint.request(**base, **variant) for variant in variants or [{}]])
    return ShowRequests(groups, span)


def in_options(problem: InvalidRequest, endpoint: Endpoint, zone: tzinfo) -> InvalidRequest:
    """Return the same error with names of options instead of parameters, and times in `zone`."""
    options = {
        name: {"startTime": "--since", "endTime": "--until"}.get(name, f"--{option_name(name)}")
        for name in _parameters(endpoint)
    }

    def with_options(sentence: str) -> str:
        # A name without capitals may be an ordinary word: coin, symbol, type.
        return re.sub(r"\b[a-z]+[A-Z]\w*", lambda name: options.get(name[0], name[0]), sentence)

    name, remedy = problem.parameter, with_options(problem.remedy)
    if name == "endTime" and problem.remedy.startswith("Cut it into pieces"):
        remedy += " With --all that is done for you."
    return InvalidRequest(
        options.get(name, name), with_options(problem.rule), with_zoned_times(problem.value, zone), remedy
    )


def option_name(name: str) -> str:
    """Return the option of a parameter of the interface: `productType` is `product-type`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


_PNL_HELP: Final = (
    "Results of closing trades: before fees (gross), fees (minus is paid), and net, by the exchange's own profit "
    "of each fill. A row holds one coin. trades, wins and losses count closing orders by profit and own fees, on the "
    "day of the order's last fill. funding is null where it cannot be read, and not in net then. complete is false "
    "where fills of the row's period are not read, lie before what the exchange kept, or came without their fee or "
    "profit, which is not in the figures then; a period that lasts until now counts as read for two minutes. "
    "unexplained is the change of the wallet beyond net and transfers; null by symbol, and where fills or bills "
    "are not read."
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


def _add_result_commands(kinds: argparse._SubParsersAction[CommandParser]) -> None:
    pnl = kinds.add_parser(PNL, help="results: gross, fees and net of a period", description=_PNL_HELP)
    by = "what to sum by (default total); days, weeks (from Monday) and months are those of the profile's time zone"
    pnl.add_argument("--by", choices=tuple(map(str, Grouping)), default=Grouping.TOTAL, type=str.lower, help=by)
    trips = kinds.add_parser(TRIPS, help="round trips, from flat to flat", description=_TRIPS_HELP)
    equity = kinds.add_parser(EQUITY, help="equity over time", description=_EQUITY_HELP)
    for parser in (pnl, trips, equity):
        global_flags_into(parser)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="an array of objects, decimals as text")
        form.add_argument("--csv", action="store_true", help="CSV; formulas made safe")
        since = f"{_TIME_HELP}. The first moment; all that is known if left out"
        parser.add_argument("--since", metavar="TIME", help=since)
        until = f"{_TIME_HELP}. Named days are included, a period ends before any other time; now if left out"
        parser.add_argument("--until", metavar="TIME", help=until)
        fresh = "first read the newest fills, even where there is an archive"
        parser.add_argument("--fresh", action="store_true", help=fresh)
        if parser is not equity:
            parser.add_argument("--symbol", metavar="SYMBOL", help="only this symbol, or several with commas")


_OVERVIEW_HELP: Final = (
    "Accounts of several profiles, a row each, those that need a person first. Money is in USDT, age in seconds since "
    "the row was read, marginRatio and liquidation are fractions; null is unknown. The sums of each environment are "
    "printed on standard error with the number of accounts in them. Ends with 3 where an account needs a person."
)


def _add_overview(parser: CommandParser) -> None:
    global_flags_into(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="an array of objects, decimals as text")
    form.add_argument("--csv", action="store_true", help="CSV as the screen exports it; formulas made safe")
    parser.add_argument("--profiles", metavar="a,b", help="which profiles, with commas; all if left out")


_WAITING_HELP: Final = "trigger orders that still wait, which not every exchange reports, in place of those that ended"


def _add_flags(parser: argparse.ArgumentParser, what: str, endpoint: Endpoint) -> None:
    global_flags_into(parser, tuple(ProductType))
    _add_format(parser, taxed=what in _TAXED)
    parser.set_defaults(waiting=False)
    if what == TableName.TRIGGERS:
        parser.add_argument("--waiting", action="store_true", help=_WAITING_HELP)
    for parameter in endpoint.request.parameters.values():
        if parameter.name not in _OWN:
            rule = _rule_of_flag(what, parameter)
            parser.add_argument(f"--{option_name(parameter.name)}", dest=parameter.name, metavar="VALUE", help=rule)
    if endpoint.time is not None:
        parser.add_argument("--since", "--start-time", dest="startTime", metavar="TIME", help=_TIME_HELP)
        until = f"{_TIME_HELP}. Named days are included; {_rule_of_times(endpoint.time)}"
        parser.add_argument("--until", "--end-time", dest="endTime", metavar="TIME", help=until)
    if endpoint.page is not None:
        older = endpoint.request.parameters["idLessThan"].explanation
        parser.add_argument("--id-less-than", dest="idLessThan", metavar="ID", help=older)
        rows = f"rows in all (default: one page, {endpoint.page.default} rows; a page holds {endpoint.page.maximum})"
        parser.add_argument("--limit", type=_count, metavar="ROWS", help=rows)
        parser.add_argument("--all", action="store_true", help="every page; a longer span is read in pieces")
    else:
        parser.set_defaults(limit=None, all=False)


def _rule_of_flag(what: str, parameter: Parameter) -> str:
    merged = ", ".join(variant[parameter.name] for variant in _MERGED.get(what, ()) if parameter.name in variant)
    if not merged:
        return parameter.explanation
    return f"{parameter.changed(required=False).explanation} (default: {merged}, merged)"


def _rule_of_times(rule: TimeRule) -> str:
    both = {
        Ends.BOTH_OR_NEITHER: ", both or neither",
        Ends.REQUIRED: f", the last {CONVERT_DEFAULT_DAYS} days if left out",
    }
    window = f", within the last {rule.window_ms // DAY_MS} days" if rule.window_ms else ""
    return f"at most {rule.span_text.rstrip(',')} from --since to --until{window}{both.get(rule.both, '')}"


_TAX_HELP: Final = (
    "CSV of transaction records for BittyTax, oldest first; a record gives the same line in every export, so equal "
    "lines of two exports are one event. fills: profit, fees and funding; spot-bills: all but spot trades"
)


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


def _values_of(options: argparse.Namespace, endpoint: Endpoint, zone: tzinfo, now_ms: int) -> dict[str, Any]:
    """Return the request's parameters by name, from the options or with the interface's defaults."""
    typed = {name: getattr(options, name, None) for name in _parameters(endpoint)}
    values = {name: value for name, value in typed.items() if value is not None}
    values |= _times(options, endpoint, zone, now_ms)
    older_than = values.get("idLessThan")
    if older_than is not None and not older_than.isdecimal():
        raise InvalidRequest("idLessThan", "an id, which has digits alone", older_than, "Copy it from a row.")
    if endpoint.page is not None:
        row_limit = options.limit if options.limit is not None else endpoint.page.default
        values["limit"] = endpoint.page.maximum if options.all else min(row_limit, endpoint.page.maximum)
    return values


def _times(options: argparse.Namespace, endpoint: Endpoint, zone: tzinfo, now_ms: int) -> dict[str, int]:
    """Return `startTime` and `endTime` (Unix ms) if typed, or if the endpoint needs them."""
    times: dict[str, int] = {}
    if (since := getattr(options, "startTime", None)) is not None:
        times["startTime"] = milliseconds(since, now_ms, "--since", zone)
    if (until := getattr(options, "endTime", None)) is not None:
        moment_ms = milliseconds(until, now_ms, "--until", zone, at_end=True)
        times["endTime"] = end_until_now(moment_ms, now_ms, "--until", until, zone)
    rule, start = endpoint.time, times.get("startTime")
    check_window(rule, start, times.get("endTime"), now_ms)
    if rule is not None and start is not None:
        times["startTime"] = rule.kept_since(start, now_ms)
        if rule.both is Ends.BOTH_OR_NEITHER or now_ms - start > rule.span_ms:
            times.setdefault("endTime", now_ms)  # without an end, the exchange's default end may be long ago
    if options.what == TableName.CONVERT:
        times.setdefault("endTime", now_ms)
        times.setdefault("startTime", times["endTime"] - CONVERT_DEFAULT_DAYS * DAY_MS)
    return times


def _product_types(
    options: argparse.Namespace, endpoint: Endpoint, product_types: Sequence[ProductType], symbol: str | None
) -> Sequence[ProductType | None]:
    """Return the product types to read, all or those that may trade the symbol; None alone if the endpoint has none."""
    if "productType" not in _parameters(endpoint):
        return [None]
    if symbol is None or getattr(options, "product_type", None) is not None:
        return product_types
    return [product_type for product_type in product_types if may_trade(product_type, symbol)] or product_types


def _span_in_pieces(
    options: argparse.Namespace, endpoint: Endpoint, values: Mapping[str, Any], now_ms: int
) -> TimeSpan | None:
    """Return the span from --since to --until (or now) if all of it is wanted and takes several requests.

    It does if it exceeds the limit of one request, or begins close to the exchange's oldest records: that limit moves
    while pages are read.
    """
    rule, start = endpoint.time, values.get("startTime")
    end = values.get("endTime", now_ms)
    if not options.all or rule is None or start is None:
        return None
    if end - start <= rule.span_ms and start >= now_ms - SHORTEST_THREE_MONTHS_MS:
        return None
    return TimeSpan(start, end)


def _parameters(endpoint: Endpoint) -> tuple[str, ...]:
    return tuple(parameter.name for parameter in endpoint.request.parameters.values())

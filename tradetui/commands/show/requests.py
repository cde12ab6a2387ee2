"""The requests of one `tradetui show`: by product type, and by piece of a long span."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from datetime import tzinfo
from typing import Any, TypeAlias

from tradetui.commands.show.options import CONVERT_DEFAULT_DAYS, MERGED, option_name
from tradetui.desk.tables.table import TableName
from tradetui.desk.tables.time_format import with_zoned_times
from tradetui.profiles.load import LoadedProfile
from tradetui.ui.settings.time_zones import zone_named
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS, SHORTEST_THREE_MONTHS_MS, Ends, split_span
from tradetui.wire.product_types import ProductType, may_trade
from tradetui.wire.requests.request import check_window
from tradetui.wire.typed_time import end_until_now, milliseconds

ReadSpan: TypeAlias = tuple[int, int]
"""Start and end in Unix milliseconds, both included."""


def requests_of(
    options: argparse.Namespace, endpoint: Endpoint, loaded: LoadedProfile, now_ms: int
) -> tuple[list[list[Any]], ReadSpan | None]:
    """One group of requests per product type, and the span of all, if any; raises InvalidRequest."""
    values = _values_of(options, endpoint, loaded, now_ms)
    span = _span_in_pieces(options, endpoint, values, now_ms)
    groups = []
    for product_type in _product_types(options, endpoint, loaded, values.get("symbol")):
        base = values if product_type is None else {**values, "productType": product_type}
        name, choices = MERGED.get(options.what, ("", ()))
        chosen = [{}] if name in base or not choices else [{name: choice} for choice in choices]
        groups.append([endpoint.request(**base, **more) for more in chosen])
    return groups, span


def _values_of(options: argparse.Namespace, endpoint: Endpoint, loaded: LoadedProfile, now_ms: int) -> dict[str, Any]:
    """The parameters of the request by name, from the options or with the interface's defaults."""
    values = {
        name: getattr(options, name) for name in _parameters(endpoint) if getattr(options, name, None) is not None
    }
    for name, flag in (("startTime", "--since"), ("endTime", "--until")):
        if (text := getattr(options, name, None)) is not None:
            zone, at_end = zone_named(loaded.profile.timezone), name == "endTime"
            moment_ms = milliseconds(text, now_ms, flag, zone, at_end=at_end)
            values[name] = end_until_now(moment_ms, now_ms, flag, text, zone) if at_end else moment_ms
    check_window(endpoint.time, values.get("startTime"), values.get("endTime"), now_ms)
    rule, start = endpoint.time, values.get("startTime")
    if rule is not None and start is not None:
        values["startTime"] = rule.kept_since(start, now_ms)
        if rule.both is Ends.BOTH_OR_NEITHER or now_ms - start > rule.span_ms:
            values.setdefault("endTime", now_ms)  # without an end, the exchange's own may lie long ago
    if options.what == TableName.CONVERT:
        values.setdefault("endTime", now_ms)
        values.setdefault("startTime", values["endTime"] - CONVERT_DEFAULT_DAYS * DAY_MS)
    if (older_than := getattr(options, "idLessThan", None)) is not None:
        if not older_than.isdecimal():
            raise InvalidRequest("idLessThan", "an id, which has digits alone", older_than, "Copy it from a row.")
        values["idLessThan"] = older_than
    if endpoint.page is not None:
        row_limit = options.limit if options.limit is not None else endpoint.page.default
        values["limit"] = endpoint.page.maximum if options.all else min(row_limit, endpoint.page.maximum)
    return values


def _product_types(
    options: argparse.Namespace, endpoint: Endpoint, loaded: LoadedProfile, symbol: str | None
) -> Iterable[str | None]:
    """The product types to read, of a symbol those that may trade it; None alone if the endpoint has none."""
    if "productType" not in _parameters(endpoint):
        return [None]
    product_types = loaded.profile.product_types
    if symbol is None or getattr(options, "product_type", None) is not None:
        return product_types
    return [
        product_type for product_type in product_types if may_trade(ProductType(product_type), symbol)
    ] or product_types


def in_options(problem: InvalidRequest, endpoint: Endpoint, zone: tzinfo) -> InvalidRequest:
    """The same error with the options' names in place of the parameters', and times in the zone."""
    options = {
        name: {"startTime": "--since", "endTime": "--until"}.get(name, f"--{option_name(name)}")
        for name in _parameters(endpoint)
    }

    def with_options(sentence: str) -> str:
        # A name without capitals may be a common word: coin, symbol, type.
        return re.sub(r"\b[a-z]+[A-Z]\w*", lambda name: options.get(name[0], name[0]), sentence)

    name, remedy = problem.parameter, with_options(problem.remedy)
    if name == "endTime" and problem.remedy.startswith("Cut it into pieces"):
        remedy += " With --all that is done for you."
    return InvalidRequest(
        options.get(name, name), with_options(problem.rule), with_zoned_times(problem.value, zone), remedy
    )


def _span_in_pieces(
    options: argparse.Namespace, endpoint: Endpoint, values: dict[str, Any], now_ms: int
) -> ReadSpan | None:
    """The span from --since to --until (or now) where all of it is wanted and exceeds the limit of one request.

    So is a span that begins about where the exchange's records do, a limit that moves on while pages are read.
    The times in `values` become those of its newest piece; reading goes on from there piece by piece.
    """
    rule, start = endpoint.time, values.get("startTime")
    end = values.get("endTime", now_ms)
    if not options.all or rule is None or start is None:
        return None
    if end - start <= rule.span_ms and start >= now_ms - SHORTEST_THREE_MONTHS_MS:
        return None
    newest_start, newest_end = next(split_span(start, end, rule.piece_ms))
    values |= {"startTime": newest_start, "endTime": newest_end}
    return start, end


def _parameters(endpoint: Endpoint) -> tuple[str, ...]:
    return tuple(parameter.name for parameter in endpoint.request.parameters())

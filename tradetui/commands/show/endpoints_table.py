"""The catalogue as rows, for `tradetui show endpoints`: what each endpoint takes, gives and allows."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.requests.parameter import Parameter
from tradetui.wire.requests.request import Request

COLUMNS = (
    "number",
    "name",
    "method",
    "path",
    "core",
    "perSecond",
    "copyTrader",
    "scope",
    "writes",
    "law",
    "limit",
    "span",
)


def rows() -> Iterator[dict[str, object]]:
    """Yield one row an endpoint: its columns, and for JSON its purpose, paging, time rule and parameters too."""
    for endpoint in CATALOGUE.values():
        page, time = endpoint.page, endpoint.time
        yield {
            "number": endpoint.number,
            "name": endpoint.name,
            "method": endpoint.method,
            "path": endpoint.path,
            "core": endpoint.core,
            "perSecond": endpoint.limit.per_second,
            "copyTrader": endpoint.limit.copy_trader,
            "scope": endpoint.limit.scope,
            "writes": endpoint.writes,
            "law": str(endpoint.law),
            "limit": f"{page.default}, at most {page.maximum}" if page else None,
            "span": f"{time.span_ms // DAY_MS} days" if time and time.span_ms else None,
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
        "idLessThan": page.cursor_field,
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
    return [_parameter(parameter) for parameter in request.parameters()]


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

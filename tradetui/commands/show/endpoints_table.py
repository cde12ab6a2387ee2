"""The catalogue as rows, for `tradetui show endpoints`: parameters, results and limits of every endpoint."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.requests.parameter import Parameter
from tradetui.wire.requests.request import Request

_CELLS: Final[Mapping[str, Callable[[Endpoint], object]]] = {
    "number": lambda endpoint: endpoint.number,
    "name": lambda endpoint: endpoint.name,
    "method": lambda endpoint: endpoint.method,
    "path": lambda endpoint: endpoint.path,
    "core": lambda endpoint: endpoint.core,
    "perSecond": lambda endpoint: endpoint.limit.per_second,
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

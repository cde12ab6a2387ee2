"""The catalogue as rows, for `tradetui show endpoints` and the README."""

from __future__ import annotations

from collections.abc import Iterator

from tradetui.wire.catalogue import CATALOGUE

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
    """Yield one row an endpoint: its limits a second, row law, page sizes and longest span in days."""
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
            "span": f"{time.span_ms // 86_400_000} days" if time and time.span_ms else None,
        }

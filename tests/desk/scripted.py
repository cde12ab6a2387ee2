"""An exchange in a few lines: rows by endpoint, served in pages, with whatever a test wants to happen in between."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from tradetui.exchange import paging
from tradetui.exchange.capabilities import Capabilities
from tradetui.wire.endpoints.catalogue import endpoint, endpoint_of
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.request import Request

NOW_MS = 1_790_000_000_000
USDT = ProductType.USDT_FUTURES
COIN = ProductType.COIN_FUTURES


class Clock:
    """A clock that stands where it is put."""

    boot = ""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.now_ms = NOW_MS

    def monotonic(self) -> float:
        return self.seconds

    def wall_ms(self) -> int:
        return self.now_ms


class ScriptedClient:
    """Serves `rows[endpoint name, product type]` newest first; `before` is called ahead of every read.

    `failing` maps an endpoint's name to what its reads raise; of those in `unreadable` no row can be read.
    """

    def __init__(self, page: int = 100) -> None:
        self.clock = self.server_clock = Clock()
        self.rows: dict[tuple[str, ProductType], list[Record]] = {}
        self.failing: dict[str, Exception] = {}
        self.unreadable: set[str] = set()
        self.requests: list[tuple[str, Request[Any]]] = []
        self.before: Callable[[str, Request[Any]], None] = lambda name, request: None
        self.page = page
        self.capabilities = Capabilities(self.clock)

    async def read(self, request: Request[Any]) -> Reply[Any]:
        name = endpoint_of(type(request)).name
        self.requests.append((name, request))
        self.before(name, request)
        if (error := self.failing.get(name)) is not None:
            raise error
        product_type = ProductType.parse(getattr(request, "product_type", USDT))
        rows = [row for row in self.rows.get((name, product_type), []) if _wanted(row, request)]
        rows.sort(key=lambda row: (_ms(row), row.key), reverse=True)
        cursor = getattr(request, "id_less_than", None)
        if cursor is not None:
            rows = [row for row in rows if row.key < cursor]
        served = rows[: self.page]
        if name in self.unreadable:
            return Reply(
                rows=(),
                undecodable_rows=tuple(UndecodableRow(index, "total", row.key) for index, row in enumerate(served)),
            )
        paged = endpoint(name).page is not None
        return Reply(
            rows=tuple(served),
            request_time=self.clock.now_ms,
            cursor=served[-1].key if served and paged else None,
        )

    def pages(self, request: Request[Any]) -> AsyncIterator[Reply[Any]]:
        return paging.replies(paging.walk(self.read, request))

    def count(self, name: str) -> int:
        """How often an endpoint was asked."""
        return sum(1 for endpoint, _ in self.requests if endpoint == name)


def _ms(row: Any) -> int:
    moment = getattr(row, "c_time", None)
    return 0 if moment is None else round(moment.timestamp() * 1000)


def _wanted(row: Any, request: Any) -> bool:
    for name in ("status", "order_id", "plan_type"):
        value = getattr(request, name, None)
        if value is not None and hasattr(row, name) and str(getattr(row, name)) != str(value):
            return False
    start, end = getattr(request, "start_time", None), getattr(request, "end_time", None)
    return (start is None or _ms(row) >= start) and (end is None or _ms(row) <= end)

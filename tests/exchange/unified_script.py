"""A unified account as a script: interface v3 with its pages, spans and refusals, and v2 that refuses everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.exchange.scripted_exchange import START_MS, ArrivedRequest, Say
from tests.wire.unified_rows import UNIFIED_ASSETS, UNIFIED_FILL, UNIFIED_ORDER, UNIFIED_ROWS

DAY_MS = 86_400_000
_HISTORIES = {
    "/api/v3/trade/fills": ("execId", "createdTime"),
    "/api/v3/trade/history-strategy-orders": ("orderId", "createdTime"),
    "/api/v3/position/history-position": ("positionId", "updatedTime"),
}


def refused(code: str, msg: str = "no") -> Say:
    return Say(code=code, msg=msg, status=400)


def unified_fill(number: int, age_ms: int, **changes: Any) -> dict[str, Any]:
    """A fill with an id that follows its number, so many milliseconds before `START_MS`."""
    return {
        **UNIFIED_FILL,
        "execId": str(10**18 + number),
        "createdTime": str(START_MS - age_ms),
        **changes,
    }


def unified_order(number: int, **changes: Any) -> dict[str, Any]:
    return {**UNIFIED_ORDER, "orderId": str(10**18 + number), "createdTime": str(START_MS - number), **changes}


@dataclass
class UnifiedScript:
    """Answers like the exchange; `mode` is the account's: classic, unified, upgrading or switching."""

    mode: str = "unified"
    classic: Callable[[ArrivedRequest], Say] = lambda _: Say(data=[])
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    refusals: dict[str, Say] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    widest_page: int = 100

    def __call__(self, request: ArrivedRequest) -> Say:
        path, values = request.path, request.values
        self.calls.append(path)
        if request.method != "GET":
            self.writes.append(path)
        if path.startswith("/api/v2/"):
            if not request.headers.get("access-sign") or self.mode == "classic":
                return self.classic(request)
            return refused("40085", "You are in Unified Account mode")
        if self.mode == "classic":
            return refused("40084", "You are in Classic Account mode")
        if path in self.refusals:
            return self.refusals[path]
        if path.endswith("account/settings"):
            return Say(data={**UNIFIED_ROWS["unified.settings"], "accountMode": self.mode, **self.settings})
        if self.mode != "unified":
            return refused("25245", "not the unified account mode")
        if path.endswith("account/assets"):
            return Say(data=self.rows.get(path, [UNIFIED_ASSETS])[0])
        if path.endswith("account/info"):
            return Say(data=UNIFIED_ROWS["unified.key"])
        rows = [row for row in self.rows.get(path, []) if row["category"] == values.get("category")]
        if path.endswith("unfilled-strategy-orders"):
            return Say(data=[row for row in rows if row.get("type") == values.get("type")])
        if path.endswith("current-position"):
            return Say(data={"list": rows or None})
        if path in _HISTORIES:
            id_name, time_name = _HISTORIES[path]
            start, end = int(values["startTime"]), int(values["endTime"])
            if end - start > 30 * DAY_MS or start < START_MS - 90 * DAY_MS:
                return refused("400172", "the time range is too long")
            kind = values.get("type")
            rows = [row for row in rows if start <= int(row[time_name]) <= end and kind in (None, row.get("type"))]
        else:
            id_name, time_name = "orderId", "createdTime"
        return self._page(path, rows, id_name, time_name, values)

    def _page(self, path: str, rows: list[dict[str, Any]], id_name: str, time_name: str, values: dict[str, str]) -> Say:
        def order(row: dict[str, Any]) -> tuple[int, int]:
            return int(row[time_name]), int(row[id_name])

        rows = sorted(rows, key=order, reverse=True)
        if cursor := values.get("cursor"):
            below = next(order(row) for row in self.rows[path] if row[id_name] == cursor)
            rows = [row for row in rows if order(row) < below]
        size = min(int(values.get("limit", "100")), self.widest_page)
        page = rows[:size]
        return Say(data={"list": page or None, "cursor": page[-1][id_name] if page else None})

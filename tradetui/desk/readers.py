"""How each of the five panels is read: accounts, orders, fills and triggers, each by its endpoint's row law."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tradetui.desk.feed import Reading
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError
from tradetui.wire.catalogue import endpoint
from tradetui.wire.futures import (
    AccountListRequest,
    FuturesAccount,
    FuturesFill,
    FuturesFillsRequest,
    PendingOrder,
    PendingOrdersRequest,
    TriggerHistoryRequest,
    TriggerOrder,
)
from tradetui.wire.product_types import ProductType
from tradetui.wire.records import Record
from tradetui.wire.vocabulary import OrderStatus, PlanType

_BEGINNING: Final = datetime.fromtimestamp(0, UTC)
OVERLAP: Final = timedelta(minutes=1)
"""Rows this much older than the newest known one are read again: late ones may come in below it."""
MUTABLE_WINDOW: Final = timedelta(days=8)
"""How far back a past trigger order may still appear: a plan made last week and cancelled now."""
MUTABLE_REREAD_S: Final = 300.0
KEPT: Final = 1000
PANEL_PLANS: Final = (PlanType.NORMAL_PLAN, PlanType.TRACK_PLAN, PlanType.PROFIT_LOSS)
PANEL_STATUSES: Final = (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)


class Tagged:
    """A record with the product type it was read under, which the interface's rows do not carry."""

    __slots__ = ("key", "product_type", "record")

    def __init__(self, product_type: ProductType, record: Record) -> None:
        self.product_type = product_type
        self.record = record
        self.key = f"{product_type}|{record.key}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tagged) and self.key == other.key and self.record == other.record

    def __hash__(self) -> int:
        return hash(self.key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.record, name)


class AccountsReader:
    """Endpoint 7, one call a product type."""

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType]) -> None:
        self._client = client
        self._product_types = product_types

    def key(self, row: Tagged) -> str:
        return row.key

    async def read(self) -> Reading:
        rows: list[Tagged] = []
        lost = 0
        for product_type in self._product_types:
            reply = await self._client.read(endpoint("futures.accounts"), AccountListRequest(product_type=product_type))
            rows += (Tagged(product_type, row) for row in reply.rows if isinstance(row, FuturesAccount))
            lost += len(reply.lost)
        return Reading(rows, lost)


class OrdersReader:
    """Endpoint 12: every page each time, live and partially filled, merged by order id; what is absent is gone."""

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType]) -> None:
        self._client = client
        self._product_types = product_types

    def key(self, row: Tagged) -> str:
        return row.key

    async def read(self) -> Reading:
        found: dict[str, Tagged] = {}
        lost = 0
        for product_type in self._product_types:
            for status in PANEL_STATUSES:
                request = PendingOrdersRequest(product_type=product_type, status=status)
                async for reply in self._client.pages(endpoint("futures.pending_orders"), request):
                    lost += len(reply.lost)
                    for row in reply.rows:
                        tagged = Tagged(product_type, row)
                        # An order that filled in part between the two reads is in both; the later one says more.
                        found[tagged.key] = tagged
        return Reading(_newest_first(found.values()), lost)


class FillsReader:
    """Endpoint 13: back to the newest known fill and a minute further; at the first read as far as one page goes."""

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType], *, history: bool = False) -> None:
        self._client = client
        self._product_types = product_types
        self._history = history
        self._known: dict[ProductType, dict[str, Tagged]] = {product_type: {} for product_type in product_types}
        self._lost: dict[ProductType, int] = dict.fromkeys(product_types, 0)

    def key(self, row: Tagged) -> str:
        return row.key

    def fills(self, product_type: ProductType) -> list[FuturesFill]:
        """Every fill kept of a product type, oldest first."""
        tagged = reversed(_newest_first(self._known[product_type].values()))
        return [row.record for row in tagged if isinstance(row.record, FuturesFill)]

    async def read(self) -> Reading:
        for product_type in self._product_types:
            known = self._known[product_type]
            fresh = await self._read_since(product_type, known)
            known.update(fresh)
            if not self._history and len(known) > KEPT:
                kept = _newest_first(known.values())[:KEPT]
                self._known[product_type] = {row.key: row for row in kept}
        rows = _newest_first(row for known in self._known.values() for row in known.values())
        return Reading(rows[:KEPT], sum(self._lost.values()))

    async def _read_since(self, product_type: ProductType, known: dict[str, Tagged]) -> dict[str, Tagged]:
        newest = max((_time(row) for row in known.values()), default=None)
        fresh: dict[str, Tagged] = {}
        request = FuturesFillsRequest(product_type=product_type)
        lost = 0
        async for reply in self._client.pages(endpoint("futures.fills"), request):
            lost += len(reply.lost)
            tagged = [Tagged(product_type, row) for row in reply.rows]
            fresh.update((row.key, row) for row in tagged)
            if newest is None and not self._history:
                break
            if newest is not None and tagged and min(map(_time, tagged)) < newest - OVERLAP:
                break
        self._lost[product_type] = max(self._lost[product_type], lost)
        return fresh


class TriggersReader:
    """Endpoint 6: the three plan types merged; the newest page each time, the window of change every few minutes."""

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType]) -> None:
        self._client = client
        self._product_types = product_types
        self._known: dict[str, Tagged] = {}
        self._turn = 0
        self._every = 30

    def key(self, row: Tagged) -> str:
        return row.key

    async def read(self) -> Reading:
        whole = self._turn % self._every == 0
        lost = 0
        for product_type in self._product_types:
            for plan_type in PANEL_PLANS:
                lost += await self._read_plans(product_type, plan_type, whole=whole)
        self._turn += 1
        rows = _newest_first(self._known.values())[:KEPT]
        self._known = {row.key: row for row in rows}
        return Reading(rows, lost)

    async def _read_plans(self, product_type: ProductType, plan_type: str, *, whole: bool) -> int:
        request = TriggerHistoryRequest(product_type=product_type, plan_type=plan_type)
        lost = 0
        oldest_wanted: datetime | None = None
        async for reply in self._client.pages(endpoint("futures.triggers"), request):
            lost += len(reply.lost)
            tagged = [Tagged(product_type, row) for row in reply.rows if isinstance(row, TriggerOrder)]
            if not tagged:
                break
            oldest_wanted = oldest_wanted or max(map(_time, tagged)) - MUTABLE_WINDOW
            self._known.update((row.key, row) for row in tagged)
            if not whole or min(map(_time, tagged)) < oldest_wanted:
                break
        return lost


def _time(row: Tagged) -> datetime:
    value = row.record.c_time if isinstance(row.record, FuturesFill | TriggerOrder | PendingOrder) else None
    return value or _BEGINNING


def _newest_first(rows: Iterable[Tagged]) -> list[Tagged]:
    return sorted(rows, key=lambda row: (_time(row), len(row.key), row.key), reverse=True)


__all__ = ["AccountsReader", "ExchangeError", "FillsReader", "OrdersReader", "Tagged", "TriggersReader"]

"""Orders with a client id of this program that are in no journal: a machine without the store has sent them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Final

from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.states import Withheld, scope_of
from tradetui.desk.reversal.tracking.evidence import ABSENCE_S
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.task_groups import BackgroundTasks
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError
from tradetui.wire.models.futures import FuturesFill, PendingOrder

OUR_CLIENT_OID: Final = re.compile(r"tt-[0-9a-f]{25}")
_LOOK_UP_EVERY_S: Final = 1.0
_MOST_WAITING: Final = 20
"""So many orders wait for their look-up at most; older ones are not looked up."""


class UnjournaledOrders:
    """Locks a symbol while such an order is shown, and for 35 s after its last sign.

    A fill does not have its order's client id, so the order of each new fill is looked up, once a second at most.
    """

    def __init__(self, client: ExchangeReader, intents: Intents, tasks: BackgroundTasks) -> None:
        self._client = client
        self._intents = intents
        self._tasks = tasks
        self._looked_up: set[str] | None = None
        """The orders of fills that need no look-up; None before the first fills, which are from before this session."""
        self._waiting: dict[str, ProductRow[FuturesFill]] = {}
        self._is_looking_up = False
        self._known: set[str] = set()
        self._newest_sign: dict[str, object] = {}

    def see_orders(self, rows: Iterable[ProductRow[PendingOrder]]) -> None:
        for row in rows:
            self._saw(row.record.client_oid, scope_of(row.product_type, row.record.symbol))

    def see_fills(self, rows: Iterable[ProductRow[FuturesFill]]) -> None:
        orders = {row.record.order_id: row for row in rows if row.record.order_id is not None}
        if self._looked_up is None:
            self._looked_up = set(orders)
        for order_id in orders.keys() - self._looked_up:
            self._looked_up.add(order_id)
            self._waiting[order_id] = orders[order_id]
        if self._waiting and not self._is_looking_up:
            self._is_looking_up = True
            self._tasks.begin(self._look_up())

    async def _look_up(self) -> None:
        try:
            while self._waiting:
                for order_id in list(self._waiting)[:-_MOST_WAITING]:
                    del self._waiting[order_id]
                order_id, row = self._waiting.popitem()
                try:
                    reply = await self._client.futures.order_detail(
                        symbol=row.record.symbol, product_type=row.product_type, order_id=order_id
                    )
                except ExchangeError:
                    pass  # such as an exchange that reports no single orders
                else:
                    for detail in reply.rows:
                        self._saw(detail.client_oid, scope_of(row.product_type, row.record.symbol))
                await asyncio.sleep(_LOOK_UP_EVERY_S)
        finally:
            self._is_looking_up = False

    def _saw(self, client_oid: str | None, scope: str) -> None:
        if client_oid is not None and client_oid not in self._known and OUR_CLIENT_OID.fullmatch(client_oid):
            self._tasks.begin(self._check(client_oid, scope))

    async def _check(self, client_oid: str, scope: str) -> None:
        """Lock the scope unless a journal has the order; without an answer it is checked when it is seen again."""
        try:
            await self._intents.read(client_oid)
        except Withheld:
            return
        except KeyError:
            await self._lock(client_oid, scope)
        else:
            self._known.add(client_oid)

    async def _lock(self, client_oid: str, scope: str) -> None:
        sign = self._newest_sign[scope] = object()
        self._intents.lock_unjournaled(scope, client_oid)
        await asyncio.sleep(ABSENCE_S)
        if self._newest_sign[scope] is sign:
            self._intents.lock_unjournaled(scope, None)

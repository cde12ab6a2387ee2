"""Reads the pending orders, all of them at every poll: what does not come is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart
from tradetui.desk.tables.rows.product_row import MarkedRow, ProductRow, newest_first
from tradetui.exchange.client import ExchangeReader
from tradetui.wire.enums import OrderStatus
from tradetui.wire.models.futures import PendingOrder, PendingOrdersRequest
from tradetui.wire.product_types import ProductType

PANEL_STATUSES: Final = (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)
"""In this order: an order can go from live to partially filled between the two reads, and never back."""


class OrdersReader:
    """Reads every page of the pending orders, live and partially filled, merged by order id.

    No times are given, since an order that is good till cancelled is older than any window. `mark_of` gives the mark
    of a symbol, where marks are read.
    """

    def __init__(
        self,
        client: ExchangeReader,
        product_types: Sequence[ProductType],
        mark_of: Callable[[ProductType, str], Decimal | None] = lambda *_: None,
    ) -> None:
        self._client = client
        self._mark_of = mark_of
        self._parts = JoinedReads[ProductRow[PendingOrder]](product_types)

    async def read(self) -> Reading[ProductRow[PendingOrder]]:
        error = await self._parts.read(self._read)
        rows = [
            MarkedRow(row.product_type, row.record, self._mark_of(row.product_type, row.record.symbol))
            for row in newest_first(self._parts.rows)
        ]
        return self._parts.reading(rows, error)

    async def _read(self, product_type: ProductType) -> ProductPart[ProductRow[PendingOrder]]:
        part = ProductPart[ProductRow[PendingOrder]]()
        rows_by_id: dict[str, ProductRow[PendingOrder]] = {}
        for status in PANEL_STATUSES:
            request = PendingOrdersRequest(product_type=product_type, status=status)
            async for reply in self._client.pages(request):
                part.note_reply(reply)
                # An order that filled in part between the two reads is in both; the later one says more.
                rows = (ProductRow(product_type, order) for order in reply.rows)
                rows_by_id.update((row.row_id, row) for row in rows)
        part.rows = list(rows_by_id.values())
        return part

"""Fills for the panel: the newest of all product types, and the same grouped by order."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tradetui.desk.feeds.fills.fill_history import KEPT, FillHistory
from tradetui.desk.feeds.polling.feed import Reading, Snapshot
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart
from tradetui.desk.tables.rows.filled_order import FilledOrder, row_id_of_order
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first, time_of
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType


class FillsReader:
    """Reads the newest fills of every product type each time, and one page of a gap."""

    def __init__(self, histories: Mapping[ProductType, FillHistory], clock: Clock) -> None:
        self._histories = histories
        self._clock = clock
        self._parts = JoinedReads[ProductRow[FuturesFill]](tuple(histories))
        self._rows: list[ProductRow[FuturesFill]] = []
        self._changes_merged: tuple[int, ...] = ()

    async def read(self) -> Reading[ProductRow[FuturesFill]]:
        error = await self._parts.read(self._read_newest)
        note = await self._read_missing_page() if error is None else ""
        if self._changes != self._changes_merged:
            self._merge()
            self._changes_merged = self._changes
        histories = self._histories.values()
        for history in histories:
            self._parts.last[history.product_type] = history.part()
        disk_troubles = (history.write_buffer.trouble for history in histories)
        notes = [*disk_troubles, note, *(history.correction for history in histories)]
        return self._parts.reading(self._rows, error, next(filter(None, notes), ""))

    async def _read_newest(self, product_type: ProductType) -> ProductPart[ProductRow[FuturesFill]]:
        await self._histories[product_type].read_newest(self._clock.monotonic())
        return ProductPart()  # `read` makes the part after it has read the page of a gap

    async def _read_missing_page(self) -> str:
        """Read one page, of the product type with the fewest pages read so far, and return a note on it."""
        behind = [history for history in self._histories.values() if history.gaps]
        if not behind:
            return ""
        try:
            await min(behind, key=lambda history: history.pages_read).read_gap()
        except ExchangeError as problem:
            return f"older fills wait: {problem.reason}"
        return "older fills are being read"

    def _merge(self) -> None:
        """Merge the newest fills of all product types, and drop the others from the histories' memory."""
        self._rows = newest_first(row for history in self._histories.values() for row in history.rows)[:KEPT]
        if len(self._rows) == KEPT:
            for history in self._histories.values():
                history.let_go(time_of(self._rows[-1].record))

    @property
    def _changes(self) -> tuple[int, ...]:
        return tuple(history.changes for history in self._histories.values())


class FilledOrders:
    """Groups the fills of a snapshot into one row per order, the order that filled last first.

    A new fill costs the same however many are known. An order's row is the same object while none of its fills changes.
    Fills that the feed drops stay with their order until its last fill is dropped. If the feed is at its limit, the
    order of its oldest fill may have older fills.
    """

    def __init__(self) -> None:
        self.snapshot: Snapshot[FilledOrder] = Snapshot()
        self._fills: Snapshot[ProductRow[FuturesFill]] = Snapshot()
        self._order_row_ids: dict[str, str] = {}
        self._orders: dict[str, FilledOrder] = {}

    def update(self, fills: Snapshot[ProductRow[FuturesFill]]) -> None:
        """Take the changes of a snapshot; one with the same rows costs nothing."""
        before = self._fills
        self._fills = fills
        if fills.rows is not before.rows:
            self._group(before, fills)
        self.snapshot = self.snapshot.read_like(fills)

    def _group(self, before: Snapshot[ProductRow[FuturesFill]], fills: Snapshot[ProductRow[FuturesFill]]) -> None:
        changed_fills = self._changed_fills(before, fills)
        oldest_order_id = self._order_row_ids[fills.rows[-1].row_id] if fills.count >= KEPT else None
        orders: dict[str, FilledOrder] = {}
        for fill_row in fills.rows:
            order_row_id = self._order_row_ids[fill_row.row_id]
            if order_row_id in orders:
                continue
            order = self._orders.get(order_row_id)
            older_unknown = order_row_id == oldest_order_id or (order is not None and order.older_unknown)
            if order is None or order_row_id in changed_fills or older_unknown != order.older_unknown:
                known_fills = order.fills if order is not None else ()
                order_fills = newest_first(changed_fills.get(order_row_id, known_fills))
                order = FilledOrder(order_fills, older_unknown=older_unknown)
            orders[order_row_id] = order
        self._orders = orders
        self._order_row_ids = {fill_row.row_id: self._order_row_ids[fill_row.row_id] for fill_row in fills.rows}
        self.snapshot = Snapshot.of(tuple(orders.values()), self.snapshot.generation + 1)

    def _changed_fills(
        self, before: Snapshot[ProductRow[FuturesFill]], fills: Snapshot[ProductRow[FuturesFill]]
    ) -> dict[str, Collection[ProductRow[FuturesFill]]]:
        """Return all fills of each order that has a new or changed fill, by the order's row id."""
        changed: dict[str, dict[str, ProductRow[FuturesFill]]] = {}
        for fill_row in fills.changed_since(before):
            now_id = row_id_of_order(fill_row)
            for order_row_id in {now_id, self._order_row_ids.get(fill_row.row_id, now_id)}:
                if order_row_id not in changed:
                    known = self._orders.get(order_row_id)
                    changed[order_row_id] = {} if known is None else {fill.row_id: fill for fill in known.fills}
                changed[order_row_id].pop(fill_row.row_id, None)  # a changed fill may now belong to another order
            self._order_row_ids[fill_row.row_id] = now_id
            changed[now_id][fill_row.row_id] = fill_row
        return {order_row_id: fills_by_id.values() for order_row_id, fills_by_id in changed.items()}

"""Fills as the panel shows them: the newest of all product types, and the same gathered by their order."""

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
    """Reads the newest fills of every product type each time, and one page of the older ones that are missing."""

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
        return ProductPart()  # `read` makes the part once the missing page is read as well

    async def _read_missing_page(self) -> str:
        """Read a page of the product type that has read least, so that new fills are never late; a note on that."""
        behind = [history for history in self._histories.values() if history.gaps]
        if not behind:
            return ""
        try:
            await min(behind, key=lambda history: history.pages_read).read_gap()
        except ExchangeError as problem:
            return f"older fills wait: {problem.reason}"
        return "older fills are being read"

    def _merge(self) -> None:
        """The newest fills of all product types; the histories let go of those that are not among them."""
        self._rows = newest_first(row for history in self._histories.values() for row in history.rows)[:KEPT]
        if len(self._rows) == KEPT:
            for history in self._histories.values():
                history.let_go(time_of(self._rows[-1].record))

    @property
    def _changes(self) -> tuple[int, ...]:
        return tuple(history.changes for history in self._histories.values())


class FilledOrders:
    """One row an order over the snapshots of the fills, the order that filled last first; a fill costs the same however
    many are known.

    An order's row is the same object for as long as none of its fills changed. Fills that the feed lets go of stay
    with their order until the last of them is gone. Where the feed holds as many fills as it keeps, the order of the
    oldest may have older fills.
    """

    def __init__(self) -> None:
        self.snapshot: Snapshot[FilledOrder] = Snapshot()
        self._fills: Snapshot[ProductRow[FuturesFill]] = Snapshot()
        self._order_row_ids: dict[str, str] = {}
        self._orders: dict[str, FilledOrder] = {}

    def update(self, fills: Snapshot[ProductRow[FuturesFill]]) -> None:
        """Take in what is new in a snapshot; one with the same rows costs nothing."""
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
        """By the order's row, all fills of the orders of which one is new or other than before."""
        changed: dict[str, dict[str, ProductRow[FuturesFill]]] = {}
        for fill_row in fills.changed_since(before):
            now_id = row_id_of_order(fill_row)
            for order_row_id in {now_id, self._order_row_ids.get(fill_row.row_id, now_id)}:
                if order_row_id not in changed:
                    known = self._orders.get(order_row_id)
                    changed[order_row_id] = {} if known is None else {fill.row_id: fill for fill in known.fills}
                changed[order_row_id].pop(fill_row.row_id, None)  # a fill that came again may be another order's now
            self._order_row_ids[fill_row.row_id] = now_id
            changed[now_id][fill_row.row_id] = fill_row
        return {order_row_id: fills_by_id.values() for order_row_id, fills_by_id in changed.items()}

"""Fills for the panel: the newest of all product types, and the same grouped by order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

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

    An order's row is the same object while none of its fills changes. Fills that the feed drops stay with their order
    until its last fill is dropped. If the feed is at its limit, the order of its oldest fill may have older fills.
    """

    def __init__(self) -> None:
        self.snapshot: Snapshot[FilledOrder] = Snapshot()
        self._fills: Snapshot[ProductRow[FuturesFill]] = Snapshot()

    def update(self, fills: Snapshot[ProductRow[FuturesFill]]) -> None:
        """Take the changes of a snapshot; one with the same rows costs nothing."""
        before, self._fills = self._fills, fills
        if fills.rows is not before.rows:
            self.snapshot = Snapshot.of(tuple(self._orders_of(fills)), self.snapshot.generation + 1)
        self.snapshot = self.snapshot.read_like(fills)

    def _orders_of(self, fills: Snapshot[ProductRow[FuturesFill]]) -> Iterator[FilledOrder]:
        fills_of_order: defaultdict[str, list[ProductRow[FuturesFill]]] = defaultdict(list)
        for fill in fills.rows:
            fills_of_order[row_id_of_order(fill)].append(fill)
        oldest_id = row_id_of_order(fills.rows[-1]) if fills.count >= KEPT else None
        known = {order.row_id: order for order in self.snapshot.rows}
        for order_id, order_fills in fills_of_order.items():
            before = known.get(order_id)
            if before is not None:
                order_fills += (fill for fill in before.fills if fill.row_id not in fills.index)
            older_unknown = order_id == oldest_id or (before is not None and before.older_unknown)
            newest = tuple(newest_first(order_fills))
            if before is not None and before.fills == newest and before.older_unknown is older_unknown:
                yield before
            else:
                yield FilledOrder(newest, older_unknown=older_unknown)

"""Fills grouped by their order as they come in: a fill costs the same however many are known."""

from __future__ import annotations

from tradetui.desk.feeds.fills.fill_history import KEPT
from tradetui.desk.feeds.polling.snapshot import Snapshot, indexed
from tradetui.desk.tables.rows.filled_order import FilledOrder, order_key
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.wire.models.futures import FuturesFill


class FilledOrders:
    """One row an order over the snapshots of the fills, the order that filled last first.

    An order's row is the same object for as long as none of its fills changed. Fills that the feed lets go of stay
    with their order until the last of them is gone. `kept` is how many fills a feed holds at most: where it holds so
    many, the order of the oldest may have older fills.
    """

    def __init__(self, *, kept: int = KEPT) -> None:
        self.snapshot: Snapshot[FilledOrder] = Snapshot()
        self._kept = kept
        self._fills: Snapshot[ProductRow[FuturesFill]] = Snapshot()
        self._order_keys: dict[str, str] = {}
        self._orders: dict[str, FilledOrder] = {}

    def update(self, fills: Snapshot[ProductRow[FuturesFill]]) -> None:
        """Take in what is new in a snapshot; one with the same rows costs nothing."""
        before = self._fills
        self._fills = fills
        if fills.rows is not before.rows:
            self._group(before, fills)
        self.snapshot = self.snapshot.read_like(fills)

    def _group(self, before: Snapshot[ProductRow[FuturesFill]], fills: Snapshot[ProductRow[FuturesFill]]) -> None:
        changed: dict[str, dict[str, ProductRow[FuturesFill]]] = {}
        for row in fills.rows:
            index = before.index.get(row.row_id)
            if index is not None and (before.rows[index] is row or before.rows[index] == row):
                continue
            key = order_key(row)
            for changed_key in {key, self._order_keys.get(row.row_id, key)}:
                if changed_key not in changed:
                    known = self._orders.get(changed_key)
                    changed[changed_key] = {} if known is None else {fill.row_id: fill for fill in known.fills}
                changed[changed_key].pop(row.row_id, None)  # a fill that came again may be another order's now
            self._order_keys[row.row_id] = key
            changed[key][row.row_id] = row
        cut = self._order_keys[fills.rows[-1].row_id] if fills.count >= self._kept else None
        orders: dict[str, FilledOrder] = {}
        for row in fills.rows:
            key = self._order_keys[row.row_id]
            if key in orders:
                continue
            order = self._orders.get(key)
            older_unknown = key == cut or (order is not None and order.older_unknown)
            if order is None or key in changed or older_unknown != order.older_unknown:
                parts = changed[key].values() if key in changed else self._orders[key].fills
                newest_first = sorted(parts, key=lambda fill: fill.time_order, reverse=True)
                order = FilledOrder(newest_first, older_unknown=older_unknown)
            orders[key] = order
        self._orders = orders
        self._order_keys = {row.row_id: self._order_keys[row.row_id] for row in fills.rows}
        keys = tuple(orders)
        self.snapshot = Snapshot(tuple(orders.values()), keys, self.snapshot.generation + 1, index=indexed(keys))

"""The two views of the panel of stops: those that wait, and those that wait followed by those that ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from tradetui.desk.feeds.polling.snapshot import Snapshot, indexed
from tradetui.desk.tables.rows.product_row import MarkedRow, ProductRow
from tradetui.wire.models.futures import TriggerOrder
from tradetui.wire.product_types import ProductType

Stops = Snapshot[ProductRow[TriggerOrder]]


class StopViews:
    """Two snapshots of stops and other trigger orders, which are made anew only where their rows changed.

    `mark_of` gives a symbol's mark price, from which the distance of a stop that waits is measured.
    """

    def __init__(self, mark_of: Callable[[ProductType, str], Decimal | None] = lambda *_: None) -> None:
        self._mark_of = mark_of
        self.waiting: Stops = Snapshot()
        """Those that wait, newest first."""
        self.all: Stops = Snapshot()
        """Those that wait, then those that ended, each newest first."""
        self._made_of = (-1, -1)

    def update(self, ended: Stops, waiting: Sequence[ProductRow[TriggerOrder]]) -> None:
        """Take in what was read."""
        marked = tuple(
            MarkedRow(row.product_type, row.record, self._mark_of(row.product_type, row.record.symbol))
            for row in waiting
        )
        if marked == self.waiting.rows:
            self.waiting = replace(self.waiting, read_at=ended.read_at)
        else:
            self.waiting = _snapshot(marked, self.waiting.generation + 1, ended)
        made_of = (ended.generation, self.waiting.generation)
        if made_of != self._made_of:
            self._made_of = made_of
            # The history says more of one that was read as waiting a moment before.
            still = tuple(row for row in marked if row.key not in ended.index)
            self.all = _snapshot(still + ended.rows, self.all.generation + 1, ended)
        self.all = self.all.read_like(ended)


def _snapshot(rows: tuple[ProductRow[TriggerOrder], ...], generation: int, ended: Stops) -> Stops:
    keys = tuple(row.key for row in rows)
    return Snapshot(rows, keys, generation, ended.read_at, index=indexed(keys))

"""The stops and trigger orders as a panel shows them: those that wait, and before all that ended."""

from __future__ import annotations

from dataclasses import replace

from tradetui.desk.feeds.snapshot import Snapshot, indexed
from tradetui.desk.tables.product_row import ProductRow
from tradetui.wire.models.futures import TriggerOrder

Stops = Snapshot[ProductRow[TriggerOrder]]


class StopViews:
    """Two snapshots that follow the feed of those that ended; nothing is made anew while both stand still."""

    def __init__(self) -> None:
        self.waiting: Stops = Snapshot()
        """Those that wait, newest first."""
        self.all: Stops = Snapshot()
        """Those that wait, then those that ended, each newest first."""
        self._made_of = (-1, -1)

    def update(self, ended: Stops, waiting: tuple[ProductRow[TriggerOrder], ...]) -> None:
        """Take in what was read."""
        if waiting == self.waiting.rows:
            self.waiting = replace(self.waiting, read_at=ended.read_at)
        else:
            self.waiting = _snapshot(waiting, self.waiting.generation + 1, ended)
        made_of = (ended.generation, self.waiting.generation)
        if made_of != self._made_of:
            self._made_of = made_of
            # The history says more of one that was read as waiting a moment before.
            still = tuple(row for row in waiting if row.key not in ended.index)
            self.all = _snapshot(still + ended.rows, self.all.generation + 1, ended)
        self.all = replace(
            self.all,
            read_at=ended.read_at,
            server_ms=ended.server_ms,
            error=ended.error,
            undecodable_rows=ended.undecodable_rows,
            note=ended.note,
        )


def _snapshot(rows: tuple[ProductRow[TriggerOrder], ...], generation: int, ended: Stops) -> Stops:
    keys = tuple(row.key for row in rows)
    return Snapshot(rows, keys, generation, ended.read_at, index=indexed(keys))

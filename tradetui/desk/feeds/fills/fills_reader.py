"""Reads fills: the newest of every product type each time, and one page of the missing ones."""

from __future__ import annotations

from collections.abc import Mapping

from tradetui.desk.feeds.fills.fill_history import KEPT, FillHistory
from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import ProductRead, ProductReads
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first, time_of
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType


class FillsReader:
    """Endpoint 13 over the histories of all product types; the newest of them all are shown."""

    def __init__(self, histories: Mapping[ProductType, FillHistory], clock: Clock) -> None:
        self._histories = histories
        self._clock = clock
        self._parts = ProductReads[ProductRow[FuturesFill]](tuple(histories))
        self._rows: list[ProductRow[FuturesFill]] = []
        self._changes_merged: tuple[int, ...] = ()

    async def read(self) -> Reading[ProductRow[FuturesFill]]:
        error = await self._parts.read(self._read)
        # Every product type's older fills come in turn, one page a poll, so that what is new is never late.
        note = ""
        behind = [history for history in self._histories.values() if history.gaps]
        if behind and error is None:
            note = "older fills are being read"
            try:
                await min(behind, key=lambda history: history.pages_read).read_gap()
            except ExchangeError as problem:
                note = f"older fills wait: {problem.reason}"
        if self._changes != self._changes_merged:
            self._rows = newest_first(row for history in self._histories.values() for row in history.rows)[:KEPT]
            if len(self._rows) == KEPT:
                for history in self._histories.values():
                    history.let_go(time_of(self._rows[-1].record))
            self._changes_merged = self._changes
        for product_type, history in self._histories.items():
            self._parts.last[product_type] = ProductRead(
                undecodable_rows=len(history.undecodable_pages.undecodable_rows),
                server_ms=history.server_ms,
                left_out=history.left_out,
                kept_symbols=history.kept_symbols,
            )
        histories = self._histories.values()
        troubles = (history.write_buffer.trouble for history in histories)
        notes = [*troubles, note, *(history.correction for history in histories)]
        return self._parts.reading(self._rows, error, next(filter(None, notes), ""))

    @property
    def _changes(self) -> tuple[int, ...]:
        return tuple(history.changes for history in self._histories.values())

    async def _read(self, product_type: ProductType) -> ProductRead[ProductRow[FuturesFill]]:
        await self._histories[product_type].read_newest(self._clock.monotonic())
        return ProductRead()

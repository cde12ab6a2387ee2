"""Positions: as the exchange reports them where it does, else summed from fills; the source is chosen once."""

from __future__ import annotations

from collections.abc import Sequence

from tradetui.desk.feed import Reading
from tradetui.desk.readers import FillsReader
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, PermissionRefused
from tradetui.trading.positions import Position, PositionBook, reported, with_mark
from tradetui.wire.catalogue import endpoint
from tradetui.wire.futures import PositionsRequest, ReportedPosition
from tradetui.wire.product_types import ProductType


class PositionsReader:
    """Reads all-position; where that is missing or not permitted, every fill the exchange still tells."""

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType]) -> None:
        self._client = client
        self._product_types = product_types
        self._fills = FillsReader(client, product_types, history=True)
        self._books: dict[ProductType, PositionBook] = {}
        self.source: str | None = None

    def key(self, row: Position) -> str:
        return row.key

    async def read(self) -> Reading:
        if self.source != "fills":
            try:
                reading = await self._reported()
            except (EndpointMissing, PermissionRefused):
                if self.source == "reported":
                    raise
                self.source = "fills"
            else:
                self.source = "reported"
                return reading
        return await self._from_fills()

    async def _reported(self) -> Reading:
        rows: list[Position] = []
        lost = 0
        for product_type in self._product_types:
            reply = await self._client.read(endpoint("futures.positions"), PositionsRequest(product_type=product_type))
            lost += len(reply.lost)
            rows += (
                reported(product_type, row) for row in reply.rows if isinstance(row, ReportedPosition) and row.total > 0
            )
        return Reading(_ordered(rows), lost)

    async def _from_fills(self) -> Reading:
        reading = await self._fills.read()
        rows: list[Position] = []
        for product_type in self._product_types:
            book = self._books.setdefault(product_type, PositionBook(product_type))
            fills = self._fills.fills(product_type)
            book.extend(fills)
            if book.disordered:
                book = self._books[product_type] = PositionBook(product_type)
                book.extend(fills)
            last = {fill.symbol.upper(): fill.price for fill in fills}
            rows += (with_mark(position, last.get(position.symbol)) for position in book.positions())
        note = "summed from fills; marks are the last fill's price"
        return Reading(_ordered(rows), reading.lost, note)


def _ordered(rows: list[Position]) -> list[Position]:
    return sorted(rows, key=lambda row: (row.product_type, row.symbol, row.leg))

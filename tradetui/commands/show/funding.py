"""Funding of futures accounts, read from their bills, which are beyond the interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from tradetui.commands.process.console import say
from tradetui.commands.show.bittytax import BittyTaxWriter
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, PermissionRefused
from tradetui.trading.results.bill_kinds import BillKind, bill_kind
from tradetui.wire.models.futures_extended import FuturesBill
from tradetui.wire.models.futures_requests import FuturesBillsRequest
from tradetui.wire.product_types import ProductType


async def write_funding(
    client: ExchangeReader,
    writer: BittyTaxWriter,
    product_types: Iterable[ProductType],
    since_ms: int,
    until_ms: int,
    symbol: str | None,
) -> None:
    """Write the funding of a period (Unix ms); where the exchange does not give it, say so. Raises ExchangeError."""
    try:
        async for row in funding_bills(client, product_types, since_ms, until_ms, symbol):
            writer.write(row)
    except (EndpointMissing, PermissionRefused) as problem:
        say(f"tradetui: funding is not in this, since it cannot be read: {problem}")


async def funding_bills(
    client: ExchangeReader, product_types: Iterable[ProductType], since_ms: int, until_ms: int, symbol: str | None
) -> AsyncIterator[ProductRow[FuturesBill]]:
    """Funding that was settled in a period (Unix ms, as far as the exchange keeps bills), of one symbol or of all.

    Raises:
        ExchangeError: it cannot be read, EndpointMissing and PermissionRefused among it.
    """
    for product_type in product_types:
        request = FuturesBillsRequest(product_type=product_type, limit=100)
        async for reply in client.pages(request, start_time=since_ms, end_time=until_ms):
            for bill in reply.rows:
                if bill_kind(bill.business_type) is not BillKind.FUNDING:
                    continue
                if symbol is None or (bill.symbol or "").upper() == symbol.upper():
                    yield ProductRow(product_type, bill)

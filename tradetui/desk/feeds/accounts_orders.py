"""The readers of what is read whole at every poll, accounts and pending orders: what does not come is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart
from tradetui.desk.results.equity_sampler import EquitySampler
from tradetui.desk.tables.rows.product_row import MarkedRow, ProductRow, newest_first
from tradetui.exchange.client import ExchangeReader
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.enums import OrderStatus
from tradetui.wire.models.futures import PendingOrder, PendingOrdersRequest
from tradetui.wire.models.futures_accounts import AccountListRequest, FuturesAccount
from tradetui.wire.product_types import ProductType, may_hold

PANEL_STATUSES: Final = (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)
"""In this order: an order can go from live to partially filled between the two reads, and never back."""


class AccountsReader:
    """Reads the futures accounts, one call a product type; where all have answered, equity is sampled."""

    def __init__(
        self, client: ExchangeReader, product_types: Sequence[ProductType], sampler: EquitySampler | None = None
    ) -> None:
        self._client = client
        self._sampler = sampler
        self._parts = JoinedReads[ProductRow[FuturesAccount]](product_types)

    async def read(self) -> Reading[ProductRow[FuturesAccount]]:
        error = await self._parts.read(self._read)
        rows = without_repeated_accounts(self._parts.rows)
        if error is None and self._sampler is not None and not self._parts.undecodable_rows:
            await self._sampler.take([row.record for row in rows], self._client.server_clock.now_ms)
        return self._parts.reading(rows, error)

    async def _read(self, product_type: ProductType) -> ProductPart[ProductRow[FuturesAccount]]:
        reply = without_repeated_coins(await self._client.read(AccountListRequest(product_type=product_type)))
        part = ProductPart([ProductRow(product_type, account) for account in reply.rows])
        part.note_reply(reply)
        return part


def without_repeated_coins(reply: Reply[FuturesAccount]) -> Reply[FuturesAccount]:
    """A coin's account that came twice is one, nothing of it counts twice; of rows that differ none can be believed."""
    accounts: dict[str, FuturesAccount] = {}
    differing: dict[str, UndecodableRow] = {}
    for index, account in enumerate(reply.rows):
        if accounts.setdefault(account.row_id, account).received != account.received:
            differing[account.row_id] = UndecodableRow(index, "marginCoin", account.received)
    kept = tuple(account for coin, account in accounts.items() if coin not in differing)
    return replace(reply, rows=kept, undecodable_rows=(*reply.undecodable_rows, *differing.values()))


def without_repeated_accounts(rows: Sequence[ProductRow[FuturesAccount]]) -> list[ProductRow[FuturesAccount]]:
    """The accounts of all product types, where an exchange may give each product type every account.

    A coin's account under a product type that is not settled in it is left out where the coin comes under its own as
    well. USDC may have an account of its own behind inverse contracts, unless something else shows that the exchange
    gives all of them to each.
    """
    first_of_coin: dict[str, ProductType] = {}
    settled_in: dict[str, list[ProductType]] = {}
    for row in rows:
        coin = row.record.margin_coin.upper()
        first_of_coin.setdefault(coin, row.product_type)
        if may_hold(row.product_type, coin):
            settled_in.setdefault(coin, []).append(row.product_type)
    shown_under = {coin: settled_in.get(coin, [first]) for coin, first in first_of_coin.items()}
    gives_all = sum(map(len, shown_under.values())) < len(rows)
    if gives_all:
        for coin, owners in shown_under.items():
            shown_under[coin] = [next((owner for owner in owners if not owner.is_coin_margined), owners[0])]
    return [row for row in rows if row.product_type in shown_under[row.record.margin_coin.upper()]]


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

"""Reads all pending orders at every poll: an order that is absent from the reply is gone.

Also reads all futures accounts at every poll, and samples their equity once a minute.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, CoinEquity, EquitySample
from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart
from tradetui.desk.tables.rows.product_row import MarkedRow, ProductRow, newest_first
from tradetui.exchange.client import ExchangeReader
from tradetui.storage.disk_thread import Disk
from tradetui.trading.account_totals import totals_of
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.enums import OrderStatus
from tradetui.wire.models.futures import PendingOrder, PendingOrdersRequest
from tradetui.wire.models.futures_accounts import AccountListRequest, FuturesAccount
from tradetui.wire.product_types import ProductType, may_hold

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

PANEL_STATUSES: Final = (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)
"""In this order, because an order can change from live to partially filled between the two reads, but never back."""


UNIFIED_NOTE: Final = "unified account: one wallet for all product types; — is what interface v3 does not report"


class OrdersReader:
    """Reads every page of the pending orders, live and partially filled, merged by order id.

    No times are given, because a good-till-cancelled order may be older than any window. `mark_of` gives the mark price
    of a symbol where marks are read.
    """

    def __init__(
        self,
        client: ExchangeReader,
        product_types: Sequence[ProductType],
        mark_of: Callable[[ProductType, str], Decimal | None] = lambda *_: None,
    ) -> None:
        self._client = client
        self._mark_of = mark_of
        self._parts = JoinedReads[ProductRow[PendingOrder]](product_types, lambda: client.interface_changes)

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
                # An order that filled in part between the two reads is in both; the later one is newer.
                rows = (ProductRow(product_type, order) for order in reply.rows)
                rows_by_id.update((row.row_id, row) for row in rows)
        part.rows = list(rows_by_id.values())
        return part


class AccountsReader:
    """Reads the futures accounts, one call per product type; equity is sampled if all have answered."""

    def __init__(
        self, client: ExchangeReader, product_types: Sequence[ProductType], sampler: EquitySampler | None = None
    ) -> None:
        self._client = client
        self._sampler = sampler
        self._parts = JoinedReads[ProductRow[FuturesAccount]](product_types, lambda: client.interface_changes)

    async def read(self) -> Reading[ProductRow[FuturesAccount]]:
        error = await self._parts.read(self._read)
        rows = without_repeated_accounts(self._parts.rows)
        if error is None and self._sampler is not None and not self._parts.undecodable_rows:
            await self._sampler.take([row.record for row in rows], self._client.server_clock.now_ms)
        is_unified = any(row.record.is_whole for row in rows)
        return self._parts.reading(rows, error, UNIFIED_NOTE if is_unified else "")

    async def _read(self, product_type: ProductType) -> ProductPart[ProductRow[FuturesAccount]]:
        reply = without_repeated_coins(await self._client.read(AccountListRequest(product_type=product_type)))
        part = ProductPart([ProductRow(product_type, account) for account in reply.rows])
        part.note_reply(reply)
        return part


def without_repeated_coins(reply: Reply[FuturesAccount]) -> Reply[FuturesAccount]:
    """Drop the repetition of a coin's account; if its rows differ, count them as undecodable.

    So no amount counts twice, and no row is believed that another contradicts.
    """
    accounts: dict[str, FuturesAccount] = {}
    differing: dict[str, UndecodableRow] = {}
    for index, account in enumerate(reply.rows):
        if accounts.setdefault(account.row_id, account).received != account.received:
            differing[account.row_id] = UndecodableRow(index, "marginCoin", account.received)
    kept = tuple(account for coin, account in accounts.items() if coin not in differing)
    return replace(reply, rows=kept, undecodable_rows=(*reply.undecodable_rows, *differing.values()))


def without_repeated_accounts(rows: Sequence[ProductRow[FuturesAccount]]) -> list[ProductRow[FuturesAccount]]:
    """Return the accounts of all product types without repetitions.

    An exchange may return every account for each product type. A coin's account under a product type that is not
    settled in it is left out if the coin also comes under its own product type. USDC may have a separate account for
    inverse contracts; it is kept unless another coin shows that the exchange returns every account for each product
    type. A unified account has one wallet for all product types: the first has its rows.
    """
    if (whole := next((row for row in rows if row.record.is_whole), None)) is not None:
        return [row for row in rows if row.product_type is whole.product_type]
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


class EquitySampler:
    """Keeps equity samples in the archive once one is attached; a sample that cannot be written is dropped.

    Of the samples before that the newest is kept, so that the day's result need not wait for the next one.
    `past_equity` gives the equity known from before the session.
    """

    def __init__(
        self,
        product_types: Sequence[ProductType],
        disk: Disk,
        past_equity: Callable[[], Iterable[EquitySample]] = tuple,
    ) -> None:
        self._product_types = product_types
        self._disk = disk
        self._past_equity = past_equity
        self._archive: Archive | None = None
        self._sampled: tuple[int, bool] | None = None
        """The minute of the newest sample, and whether the account was a unified one."""
        self._early: EquitySample | None = None

    async def attach(self, archive: Archive) -> None:
        """Write samples to this archive from now on, and first the newest earlier one."""
        self._archive = archive
        past = self._past_equity()
        await self._disk.run(lambda: archive.add_equity(self._product_types, *past))
        if self._early is not None:
            await self._keep(archive, self._early)
            self._early = None

    async def take(self, accounts: Sequence[FuturesAccount], now_ms: int) -> None:
        """Sample the equity of all the session's accounts, unless this minute has a sample."""
        is_unified = any(row.is_whole for row in accounts)
        if (now_ms // SAMPLED_EVERY_MS, is_unified) == self._sampled:
            return
        totals = totals_of(accounts)
        if totals.equity is None:
            return
        coins = tuple(
            CoinEquity(row.margin_coin.upper(), row.account_equity, row.usdt_equity, row.unrealized_pl)
            for row in accounts
            if not row.is_union
        )
        sample = EquitySample(now_ms, totals.equity, totals.unrealised, coins, is_unified)
        if self._archive is None:
            self._early = sample
        else:
            await self._keep(self._archive, sample)

    async def _keep(self, archive: Archive, sample: EquitySample) -> None:
        try:
            await self._disk.run(archive.add_equity, self._product_types, sample)
        except (sqlite3.Error, OSError):
            return
        self._sampled = sample.time // SAMPLED_EVERY_MS, sample.is_unified

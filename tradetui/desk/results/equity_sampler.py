"""Takes a sample of the account's equity once a minute, with what the accounts' feed has just read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, CoinEquity, EquitySample
from tradetui.storage.disk_thread import Disk
from tradetui.trading.account_totals import totals_of
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive


class EquitySampler:
    """Keeps samples in the archive once one is attached; one that cannot be kept is let go, the next is soon.

    Of what was read before that the newest is kept, so that the day's result need not wait for the next reading.
    """

    def __init__(self, product_types: Sequence[ProductType], disk: Disk) -> None:
        self._product_types = product_types
        self._disk = disk
        self._archive: Archive | None = None
        self._minute = 0
        self._early: EquitySample | None = None

    async def attach(self, archive: Archive) -> None:
        """From now on samples are kept, and the newest that was taken before is."""
        self._archive = archive
        if self._early is not None:
            await self._keep(archive, self._early)
            self._early = None

    async def take(self, accounts: Sequence[FuturesAccount], now_ms: int) -> None:
        """Take a sample of these accounts, all of the session's, unless this minute has one."""
        if now_ms // SAMPLED_EVERY_MS == self._minute:
            return
        totals = totals_of(accounts)
        if totals.equity is None:
            return
        coins = tuple(
            CoinEquity(row.margin_coin.upper(), row.account_equity, row.usdt_equity, row.unrealized_pl)
            for row in accounts
            if not row.is_union
        )
        sample = EquitySample(now_ms, totals.equity, totals.unrealised, coins)
        if self._archive is None:
            self._early = sample
        else:
            await self._keep(self._archive, sample)

    async def _keep(self, archive: Archive, sample: EquitySample) -> None:
        try:
            await self._disk.run(archive.add_equity, self._product_types, sample)
        except (sqlite3.Error, OSError):
            return
        self._minute = sample.time // SAMPLED_EVERY_MS

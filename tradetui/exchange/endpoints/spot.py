"""Spot: fills, the ledger, and whose key this is."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tradetui.exchange.endpoints.group import EndpointGroup, Time
from tradetui.wire.models.spot import AccountInfo, SpotBill, SpotFill
from tradetui.wire.reply import Reply


class SpotReading(EndpointGroup):
    """Reading of the spot account."""

    _name = "spot"

    async def fills(
        self,
        *,
        symbol: str | None = None,
        order_id: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        id_less_than: str | None = None,
        limit: int | None = None,
    ) -> Reply[SpotFill]:
        """A page of spot fills, newest first (endpoint 3)."""
        return await self._read("fills", locals())

    def iter_fills(
        self,
        *,
        symbol: str | None = None,
        order_id: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_spans: bool = False,
    ) -> AsyncIterator[Reply[SpotFill]]:
        """All pages of spot fills (endpoint 3)."""
        return self._pages("fills", locals())

    async def bills(
        self,
        *,
        coin: str | None = None,
        group_type: str | None = None,
        business_type: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        id_less_than: str | None = None,
        limit: int | None = None,
    ) -> Reply[SpotBill]:
        """A page of the ledger, newest first (endpoint 11)."""
        return await self._read("bills", locals())

    def iter_bills(
        self,
        *,
        coin: str | None = None,
        group_type: str | None = None,
        business_type: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_spans: bool = False,
    ) -> AsyncIterator[Reply[SpotBill]]:
        """All pages of the ledger (endpoint 11)."""
        return self._pages("bills", locals())

    async def account_info(self) -> Reply[AccountInfo]:
        """UID, permissions and trader kind of the key (beyond the interface)."""
        return await self._read("account_info", {})

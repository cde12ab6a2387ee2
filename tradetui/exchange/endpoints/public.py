"""What needs no key."""

from __future__ import annotations

from tradetui.exchange.endpoints.group import EndpointGroup
from tradetui.wire.models.public import ServerTime
from tradetui.wire.reply import Reply


class PublicReading(EndpointGroup):
    """Public endpoints."""

    _name = "public"

    async def time(self) -> Reply[ServerTime]:
        """The exchange's clock (beyond the interface)."""
        return await self._read("time", {})

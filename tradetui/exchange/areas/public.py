"""What needs no key."""

from __future__ import annotations

from tradetui.exchange.areas.asking import Area
from tradetui.wire.public import ServerTime
from tradetui.wire.replies import Reply


class PublicReading(Area):
    """Public endpoints."""

    _name = "public"

    async def time(self) -> Reply[ServerTime]:
        """The exchange's clock (beyond the interface)."""
        return await self._read("time", {})

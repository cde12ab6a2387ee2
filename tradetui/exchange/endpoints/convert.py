"""Instant swaps."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tradetui.exchange.endpoints.group import EndpointGroup, Time
from tradetui.wire.models.convert import ConvertRecord
from tradetui.wire.reply import Reply


class ConvertReading(EndpointGroup):
    """Reading of instant swaps."""

    _name = "convert"

    async def history(
        self, *, start_time: Time, end_time: Time, id_less_than: str | None = None, limit: int | None = None
    ) -> Reply[ConvertRecord]:
        """A page of instant swaps, newest first (endpoint 9); both times are required, at most 90 days apart."""
        return await self._read("history", locals())

    def iter_history(
        self,
        *,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_spans: bool = True,
    ) -> AsyncIterator[Reply[ConvertRecord]]:
        """All pages of instant swaps (endpoint 9), back to the start or as far as there are any."""
        return self._pages("history", locals())

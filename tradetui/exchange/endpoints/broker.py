"""Broker: transfers of sub-accounts, their e-mail, and creating one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from tradetui.exchange.endpoints.group import EndpointGroup, Reader, Time, Writer, request_of
from tradetui.wire.catalogue import endpoint
from tradetui.wire.models.broker import BrokerSubaccount, CreateSubaccountRequest, SubaccountEmail, SubaccountTransfer
from tradetui.wire.reply import Reply

if TYPE_CHECKING:
    from tradetui.exchange.signed_call import BeforeSend


class BrokerReading(EndpointGroup):
    """What a broker's main account can read of its sub-accounts."""

    _name = "broker"

    async def transfers(
        self,
        *,
        start_time: Time = None,
        end_time: Time = None,
        type: str | None = None,
        id_less_than: str | None = None,
        limit: int | None = None,
    ) -> Reply[SubaccountTransfer]:
        """A page of deposits and withdrawals (endpoint 4): at most 7 days; without times the previous day (UTC)."""
        return await self._read("transfers", locals())

    def iter_transfers(
        self,
        *,
        start_time: Time = None,
        end_time: Time = None,
        type: str | None = None,
        limit: int | None = None,
        all_spans: bool = False,
    ) -> AsyncIterator[Reply[SubaccountTransfer]]:
        """All pages of deposits and withdrawals (endpoint 4), in pieces of 7 days; `all_spans`: the last 90 days."""
        return self._pages("transfers", locals())

    async def subaccount_email(self, *, sub_uid: str) -> Reply[SubaccountEmail]:
        """The e-mail of a sub-account (endpoint 10)."""
        return await self._read("subaccount_email", locals())


class BrokerWriting(BrokerReading):
    """A broker's main account that may create sub-accounts."""

    def __init__(self, reader: Reader, write: Writer) -> None:
        super().__init__(reader)
        self._write = write

    async def create_subaccount(
        self, request: CreateSubaccountRequest | None = None, *, before_send: BeforeSend | None = None, **fields: Any
    ) -> Reply[BrokerSubaccount]:
        """Create a sub-account (endpoint 8). Sent at most once; see `futures.reverse` for what it raises."""
        request_body = request_of(CreateSubaccountRequest, request, fields)
        return await self._write(endpoint("broker.create_subaccount"), request_body, before_send=before_send)

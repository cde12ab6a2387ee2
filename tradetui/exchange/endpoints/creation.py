"""Creating keys: virtual sub-accounts with theirs, and the key of a copy trader. Both replies hold secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tradetui.exchange.endpoints.group import Writer, request_of
from tradetui.wire.catalogue import endpoint
from tradetui.wire.models.copytrading import CopyApiKey, CreateCopyKeyRequest
from tradetui.wire.models.subaccounts import CreateBatchRequest, VirtualSubaccount, VirtualSubaccountRequest
from tradetui.wire.reply import Reply

if TYPE_CHECKING:
    from tradetui.exchange.signed_call import BeforeSend


class SubaccountCreation:
    """Virtual sub-accounts."""

    def __init__(self, write: Writer) -> None:
        self._write = write

    async def create_batch(
        self,
        accounts: CreateBatchRequest | Sequence[VirtualSubaccountRequest],
        *,
        before_send: BeforeSend | None = None,
    ) -> Reply[VirtualSubaccount]:
        """Create up to five virtual sub-accounts with a key each (endpoint 2). Sent at most once."""
        request_body = (
            accounts if isinstance(accounts, CreateBatchRequest) else CreateBatchRequest(accounts=tuple(accounts))
        )
        return await self._write(endpoint("subaccounts.create_batch"), request_body, before_send=before_send)


class CopyKeyCreation:
    """The API key of a copy trader."""

    def __init__(self, write: Writer) -> None:
        self._write = write

    async def create_api_key(
        self, request: CreateCopyKeyRequest | None = None, *, before_send: BeforeSend | None = None, **fields: Any
    ) -> Reply[CopyApiKey]:
        """Create the copy-trading key (endpoint 1), once per user. Sent at most once."""
        request_body = request_of(CreateCopyKeyRequest, request, fields)
        return await self._write(endpoint("copytrading.create_api_key"), request_body, before_send=before_send)

"""Futures: accounts, pending orders, fills, trigger history, what completes them, and the reversal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from tradetui.exchange.endpoints.group import EndpointGroup, Reader, Time, Writer, request_of
from tradetui.exchange.errors import OutcomeUnknown
from tradetui.wire.catalogue import endpoint
from tradetui.wire.enums import OrderStatus, PlanType
from tradetui.wire.models.futures import FuturesAccount, FuturesFill, PendingOrder, ReversalResult, TriggerOrder
from tradetui.wire.models.futures_extended import AccountSettings, Contract, OrderDetail, ReportedPosition, Ticker
from tradetui.wire.models.futures_requests import ReversalRequest
from tradetui.wire.reply import Reply, UndecodableRow

if TYPE_CHECKING:
    from tradetui.exchange.signed_call import BeforeSend

Ordered = TypeVar("Ordered", PendingOrder, TriggerOrder)

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
PLAN_TYPES = (PlanType.NORMAL_PLAN, PlanType.TRACK_PLAN, PlanType.PROFIT_LOSS)


class FuturesReading(EndpointGroup):
    """Reading of futures; every method raises `ExchangeError`, and `InvalidRequest` before anything is sent."""

    _name = "futures"

    async def accounts(self, *, product_type: str) -> Reply[FuturesAccount]:
        """The accounts of a product type (endpoint 7)."""
        return await self._read("accounts", locals())

    async def pending_orders(
        self,
        *,
        product_type: str,
        symbol: str | None = None,
        status: str | None = None,
        order_id: str | None = None,
        client_oid: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        id_less_than: str | None = None,
        limit: int | None = None,
    ) -> Reply[PendingOrder]:
        """A page of pending orders (endpoint 12); without status only those not filled at all, of any age."""
        return await self._read("pending_orders", locals())

    def iter_pending_orders(
        self,
        *,
        product_type: str,
        symbol: str | None = None,
        status: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_spans: bool = False,
    ) -> AsyncIterator[Reply[PendingOrder]]:
        """All pages of pending orders (endpoint 12)."""
        return self._pages("pending_orders", locals())

    async def open_orders(self, *, product_type: str, symbol: str | None = None) -> Reply[PendingOrder]:
        """Every pending order, filled in part or not, newest first.

        Reads every page of both states without naming times, so that an order older than any window is found. The
        untouched ones are read first: an order filled in part in between is then in both, and the later reading holds.
        """
        orders_by_id: dict[str, PendingOrder] = {}
        last: Reply[PendingOrder] = Reply(())
        undecodable_rows: list[UndecodableRow] = []
        for status in (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED):
            async for page in self.iter_pending_orders(product_type=product_type, symbol=symbol, status=status):
                orders_by_id.update((order.order_id, order) for order in page.rows)
                undecodable_rows.extend(page.undecodable_rows)
                last = page
        return replace(
            last,
            rows=newest_first(list(orders_by_id.values())),
            undecodable_rows=tuple(undecodable_rows),
            end_id=None,
            cursor=None,
        )

    async def fills(
        self,
        *,
        product_type: str,
        symbol: str | None = None,
        order_id: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        id_less_than: str | None = None,
        limit: int | None = None,
    ) -> Reply[FuturesFill]:
        """A page of fills, newest first (endpoint 13)."""
        return await self._read("fills", locals())

    def iter_fills(
        self,
        *,
        product_type: str,
        symbol: str | None = None,
        order_id: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_spans: bool = False,
    ) -> AsyncIterator[Reply[FuturesFill]]:
        """All pages of fills, newest first (endpoint 13); a stretch of any length is cut into allowed spans."""
        return self._pages("fills", locals())

    async def triggers(
        self,
        *,
        product_type: str,
        plan_type: str,
        plan_status: str | None = None,
        symbol: str | None = None,
        order_id: str | None = None,
        client_oid: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        id_less_than: str | None = None,
        limit: int | None = None,
    ) -> Reply[TriggerOrder]:
        """A page of past trigger orders of one plan type (endpoint 6)."""
        return await self._read("triggers", locals())

    def iter_triggers(
        self,
        *,
        product_type: str,
        plan_type: str,
        plan_status: str | None = None,
        symbol: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_spans: bool = False,
    ) -> AsyncIterator[Reply[TriggerOrder]]:
        """All pages of past trigger orders of one plan type (endpoint 6)."""
        return self._pages("triggers", locals())

    async def trigger_history(
        self,
        *,
        product_type: str,
        symbol: str | None = None,
        plan_status: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_pages: bool = False,
    ) -> Reply[TriggerOrder]:
        """Past trigger orders of all three plan types, newest first: a page of each, or with `all_pages` everything."""
        orders_by_id: dict[str, TriggerOrder] = {}
        last: Reply[TriggerOrder] = Reply(())
        undecodable_rows: list[UndecodableRow] = []
        for plan_type in PLAN_TYPES:
            query: dict[str, Any] = {
                "product_type": product_type,
                "plan_type": plan_type,
                "plan_status": plan_status,
                "symbol": symbol,
                "start_time": start_time,
                "end_time": end_time,
                "limit": limit,
            }
            if all_pages:
                pages = [page async for page in self.iter_triggers(**query)]
            else:
                pages = [await self.triggers(**query)]
            for page in pages:
                orders_by_id.update((order.order_id, order) for order in page.rows)
                undecodable_rows.extend(page.undecodable_rows)
                last = page
        return replace(
            last,
            rows=newest_first(list(orders_by_id.values())),
            undecodable_rows=tuple(undecodable_rows),
            end_id=None,
            cursor=None,
        )

    async def positions(self, *, product_type: str, margin_coin: str | None = None) -> Reply[ReportedPosition]:
        """Every open position (beyond the interface)."""
        return await self._read("positions", locals())

    async def order_detail(
        self, *, symbol: str, product_type: str, order_id: str | None = None, client_oid: str | None = None
    ) -> Reply[OrderDetail]:
        """One order by id, whatever its state (beyond the interface); `Rejected` with 40109 when there is none."""
        return await self._read("order_detail", locals())

    async def live_triggers(
        self,
        *,
        product_type: str,
        plan_type: str,
        symbol: str | None = None,
        order_id: str | None = None,
        client_oid: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        id_less_than: str | None = None,
        limit: int | None = None,
    ) -> Reply[TriggerOrder]:
        """A page of trigger orders that still wait (beyond the interface)."""
        return await self._read("live_triggers", locals())

    def iter_live_triggers(
        self,
        *,
        product_type: str,
        plan_type: str,
        symbol: str | None = None,
        start_time: Time = None,
        end_time: Time = None,
        limit: int | None = None,
        all_spans: bool = False,
    ) -> AsyncIterator[Reply[TriggerOrder]]:
        """All pages of trigger orders that still wait (beyond the interface)."""
        return self._pages("live_triggers", locals())

    async def account(self, *, symbol: str, product_type: str, margin_coin: str) -> Reply[AccountSettings]:
        """Position mode, margin mode and leverage (beyond the interface)."""
        return await self._read("account", locals())

    async def contracts(self, *, product_type: str, symbol: str | None = None) -> Reply[Contract]:
        """The contracts' rules (beyond the interface)."""
        return await self._read("contracts", locals())

    async def ticker(self, *, product_type: str, symbol: str) -> Reply[Ticker]:
        """The last prices of a symbol (beyond the interface)."""
        return await self._read("ticker", locals())


class FuturesTrading(FuturesReading):
    """Futures with the reversal."""

    def __init__(self, reader: Reader, write: Writer) -> None:
        super().__init__(reader)
        self._write = write

    async def reverse(
        self, request: ReversalRequest | None = None, *, before_send: BeforeSend | None = None, **fields: Any
    ) -> Reply[ReversalResult]:
        """Reverse a position (endpoint 5): a `ReversalRequest`, or its fields. Sent at most once.

        `before_send` is awaited with the request's time stamp (ms) when only the sending is left to do; if it raises,
        nothing is sent. Raises `NotSent`, `Rejected` (and its like), or `OutcomeUnknown`: also where the reply names
        another `clientOid` than the request, since it is then no reply to it. One that names none is.
        """
        reversal_request = request_of(ReversalRequest, request, fields)
        reply: Reply[ReversalResult] = await self._write(
            endpoint("futures.reverse"), reversal_request, before_send=before_send
        )
        if reversal_request.client_oid and any(
            (row.client_oid or reversal_request.client_oid) != reversal_request.client_oid for row in reply.rows
        ):
            raise OutcomeUnknown(
                "the reply is about an order of another clientOid",
                endpoint="futures.reverse",
                remedy="Look at positions, pending orders and fills before doing anything again.",
            )
        return reply


def newest_first(orders: Sequence[Ordered]) -> tuple[Ordered, ...]:
    """Sort orders by creation, then by id, ids being text; those without a time come last."""
    return tuple(sorted(orders, key=_age, reverse=True))


def _age(order: PendingOrder | TriggerOrder) -> tuple[datetime, int, str]:
    return order.c_time or _NEVER, len(order.order_id), order.order_id

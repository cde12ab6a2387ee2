"""Reads of an account of either kind: classic, by interface v2, or unified, by interface v3 and converted.

The program asks for what it wants in the requests of v2. Of a unified account each is answered from v3, by `_ANSWERS`,
in the rows of v2; what v3 does not offer is refused as `ClassicOnly`. Which kind the account is, the exchange says: v2
refuses a unified account (40085, or 40731 for an elite trader), and v3 refuses a classic one (40084). An account may be
moved while the session runs, and then changes over here. Meanwhile every read fails, so that no figure is of both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tradetui.exchange.errors import (
    AccountMoving,
    ClassicAccount,
    ClassicOnly,
    EndpointMissing,
    PermissionRefused,
    Rejected,
    UnifiedAccount,
)
from tradetui.exchange.paging import walk
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.wire import classic_rows
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.endpoints.reply import Reply, of_product_type, reply_of
from tradetui.wire.enums import OrderStatus, PlanType, same
from tradetui.wire.error_codes import (
    MOVING_REMEDY,
    SET_AUTO,
    UNIFIED_ACCOUNT,
    UNIFIED_ACCOUNT_REMEDY,
    UNIFIED_TRADER,
    meaning,
)
from tradetui.wire.exchange_time import DAY_MS, unix_ms
from tradetui.wire.models.api_key import AccountInfo, AccountInfoRequest
from tradetui.wire.models.futures import (
    FuturesFill,
    FuturesFillsRequest,
    LiveTriggersRequest,
    PendingOrder,
    PendingOrdersRequest,
    TriggerHistoryRequest,
    TriggerOrder,
)
from tradetui.wire.models.futures_accounts import (
    AccountListRequest,
    ClosedPosition,
    ClosedPositionsRequest,
    FuturesAccount,
    PositionsRequest,
    ReportedPosition,
)
from tradetui.wire.models.unified import (
    FUTURES_CATEGORIES,
    UnifiedAssetsRequest,
    UnifiedClosedPositionsRequest,
    UnifiedFillsRequest,
    UnifiedKeyRequest,
    UnifiedLiveTriggersRequest,
    UnifiedOrdersRequest,
    UnifiedPositionsRequest,
    UnifiedSettingsRequest,
    UnifiedTriggersRequest,
)
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.request import Request

if TYPE_CHECKING:
    from tradetui.exchange.calls.reads import Reads
    from tradetui.exchange.capabilities import Capabilities
    from tradetui.exchange.clock import ServerClock

Row = TypeVar("Row", bound=Record)

UNIFIED_SENTENCE: Final = (
    "This is a unified account: it is watched by interface v3, and nothing is sent for it. To trade here: "
    f"{UNIFIED_ACCOUNT_REMEDY}"
)
_UNIFIED_MODES: Final = ("unified", "hybrid")
_STRATEGY_TYPES: Final[Mapping[str, str]] = {PlanType.NORMAL_PLAN: "trigger", PlanType.PROFIT_LOSS: "tpsl"}
"""The types of strategy orders by the plan type that a request names; v3 has no trailing orders."""
_THIRTY_DAYS_MS: Final = 30 * DAY_MS
_MARK: Final = ":"
"""Stands in a cursor of a history between the end of its piece (Unix ms) and the cursor that v3 gave."""


class Interface(StrEnum):
    """The profile's choice of the interface; `AUTO` goes by what the exchange says."""

    AUTO = "auto"
    CLASSIC = "classic"
    UNIFIED = "unified"


class AccountReads:
    """Every read of one account, in the rows of the classic interface.

    `is_unified` says which kind of account it is, as far as is known; `changes` counts how often it was moved after
    something of it had been read.
    """

    def __init__(
        self,
        reads: Reads,
        *,
        interface: Interface,
        capabilities: Capabilities,
        server_clock: ServerClock,
    ) -> None:
        self.is_unified = interface is Interface.UNIFIED
        self.changes = 0
        self._has_rows = False
        self._interface = interface
        self._reads = reads
        self._capabilities = capabilities
        self._server_clock = server_clock
        self._mode_is_known = False
        self._hold_mode: str | None = None
        self._asking = asyncio.Lock()

    @property
    def is_classic(self) -> bool:
        """Whether the account is in classic mode, as far as is known: not unified, and not being moved."""
        return not (self.is_unified or isinstance(self._capabilities.account_refusal, UnifiedAccount))

    async def read(self, request: Request[Any], priority: Priority) -> Reply[Any]:
        """Read one page; raises `ExchangeError`."""
        endpoint = endpoint_of(type(request))
        if endpoint.signed:
            self._capabilities.check_account(may_probe=True)
        if not endpoint.signed or endpoint.interface == "v3":
            return await self._reads.read(endpoint, request, priority)
        if self.is_unified:
            try:
                return await self._read_unified(request, priority)
            except ClassicAccount as refusal:
                if self._interface is Interface.UNIFIED:
                    self._capabilities.refuse_account(refusal)
                    raise
                self._become(unified=False)
        try:
            reply = await self._reads.read(endpoint, _without_piece(request), priority)
            self._has_rows = True
            return reply
        except UnifiedAccount as refusal:
            await self._change_over(refusal, priority)
        return await self._read_unified(request, priority)

    async def _change_over(self, refusal: UnifiedAccount, priority: Priority) -> None:
        """Ask v3 which mode the account is in; raises if it is not a unified one, or not yet."""
        if self._interface is Interface.CLASSIC:
            refusal.remedy = f"To watch it: {SET_AUTO} {refusal.remedy}"
            self._capabilities.refuse_account(refusal)
            raise refusal
        async with self._asking:
            if self.is_unified:
                return
            try:
                await self._ask_mode(refusal.endpoint, priority)
            except AccountMoving as moving:
                self._capabilities.refuse_account(moving)
                raise
            except (ClassicAccount, UnifiedAccount, EndpointMissing):
                if refusal.code == UNIFIED_TRADER:  # of a classic account it is about this endpoint alone
                    raise _of_copy_trader(refusal) from None
                self._capabilities.refuse_account(refusal)
                raise refusal from None
            self._become(unified=True)

    async def _ask_mode(self, endpoint_name: str | None, priority: Priority) -> None:
        """Read the account's settings; raises if it is not in unified mode. A key that may not read them is no reason.

        `endpoint_name` is the endpoint whose rows are wanted.
        """
        try:
            reply = await self._reads.read(endpoint_of(UnifiedSettingsRequest), UnifiedSettingsRequest(), priority)
        except PermissionRefused:
            self._mode_is_known, self._hold_mode = True, None
            return
        settings = next(iter(reply.rows), None)
        mode = None if settings is None else settings.account_mode
        if settings is None or not any(same(mode, word) for word in _UNIFIED_MODES):
            raise AccountMoving(
                f"its mode is {mode!r}", code=UNIFIED_ACCOUNT, endpoint=endpoint_name, remedy=MOVING_REMEDY
            )
        self._mode_is_known, self._hold_mode = True, settings.hold_mode

    def _become(self, *, unified: bool) -> None:
        if unified is not self.is_unified:
            self.changes += self._has_rows
            self._mode_is_known = unified
        self.is_unified = unified

    async def _read_unified(self, request: Request[Any], priority: Priority) -> Reply[Any]:
        """Answer a request of the classic interface from v3; raises `ExchangeError`."""
        endpoint = endpoint_of(type(request))
        answer = _ANSWERS.get(type(request))
        if answer is None:
            raise ClassicOnly(
                "interface v3 of unified accounts has no such rows",
                endpoint=endpoint.name,
                remedy="Look at the exchange's own site.",
            )
        if not self._mode_is_known:
            async with self._asking:
                if not self._mode_is_known:
                    await self._ask_mode(endpoint.name, priority)
        product_type = getattr(request, "product_type", None)
        category = None if product_type is None else ProductType.parse(product_type)
        if category is not None and category not in FUTURES_CATEGORIES:
            raise ClassicOnly(
                f"a unified account has no {category}",
                endpoint=endpoint.name,
                remedy="Leave the product type out of the profile.",
            )
        reply = await answer(self, request, priority)
        self._has_rows = True
        return reply if category is None else _of_category(reply, category)

    async def _ask(self, request: Request[Row], priority: Priority) -> Reply[Row]:
        return await self._reads.read(endpoint_of(type(request)), request, priority)

    async def _accounts(self, _: AccountListRequest, priority: Priority) -> Reply[FuturesAccount]:
        """Read the wallet, which is one for all product types: each of them has all of its rows."""
        reply = await self._ask(UnifiedAssetsRequest(), priority)
        return _converted(
            FuturesAccount, reply, [row for raw in _raw(reply) for row in classic_rows.classic_accounts(raw)]
        )

    async def _positions(self, request: PositionsRequest, priority: Priority) -> Reply[ReportedPosition]:
        reply = await self._ask(UnifiedPositionsRequest(category=request.product_type), priority)
        return _converted(ReportedPosition, reply, list(map(classic_rows.classic_position, _raw(reply))))

    async def _orders(self, request: PendingOrdersRequest, priority: Priority) -> Reply[PendingOrder]:
        """Read all pages, since a page without orders of the status is not the last one.

        An order in a status that is not known comes with the live ones.
        """
        whole = UnifiedOrdersRequest(category=request.product_type, symbol=request.symbol)
        rows: list[dict[str, Any]] = []
        reply: Reply[Any] = Reply(())
        async for reply in walk(lambda page: self._ask(page, priority), whole):
            rows += map(classic_rows.classic_order, _raw(reply))
        partially_filled = OrderStatus.PARTIALLY_FILLED
        chosen = [
            row
            for row in rows
            if (request.status is None or same(row["status"], partially_filled) is (request.status == partially_filled))
            and request.order_id in (None, row.get("orderId"))
            and request.client_oid in (None, row.get("clientOid"))
        ]
        return replace(_converted(PendingOrder, reply, chosen), cursor=None)

    async def _fills(self, request: FuturesFillsRequest, priority: Priority) -> Reply[FuturesFill]:
        async def convert(reply: Reply[Any]) -> list[dict[str, Any]]:
            fills = _raw(reply)
            paid = await self._paid_sign(fills, request.product_type, priority)
            rows = [classic_rows.classic_fill(fill, self._hold_mode, paid) for fill in fills]
            return [row for row in rows if request.symbol in (None, str(row.get("symbol")).upper())]

        whole = UnifiedFillsRequest(category=request.product_type, order_id=request.order_id, limit=request.limit)
        return await self._history(FuturesFill, request, whole, convert, priority)

    async def _paid_sign(self, fills: Sequence[Any], category: str, priority: Priority) -> int | None:
        """Return the sign of a paid fee by the taker fills of a reply, or if it has none, by those of the newest page.

        None if there are none, or if they contradict each other. A sign is never kept for later replies.
        """
        signs = classic_rows.paid_signs(fills)
        if fills and not signs:
            now_ms = self._server_clock.now_ms
            newest = UnifiedFillsRequest(category=category, start_time=now_ms - _THIRTY_DAYS_MS, end_time=now_ms)
            signs = classic_rows.paid_signs(_raw(await self._ask(newest, priority)))
        return signs.pop() if len(signs) == 1 else None

    async def _triggers(self, request: TriggerHistoryRequest, priority: Priority) -> Reply[TriggerOrder]:
        strategy_type = _STRATEGY_TYPES.get(request.plan_type)
        if strategy_type is None:
            return Reply(())

        async def convert(reply: Reply[Any]) -> list[dict[str, Any]]:
            return self._trigger_rows(reply, request, strategy_type, waits=False)

        whole = UnifiedTriggersRequest(category=request.product_type, type=strategy_type, limit=request.limit)
        # A feed asks for one order that has just ended; if it was made long ago, the feed's own sweep finds it.
        first_page_only = priority is Priority.FEED and request.order_id is not None
        return await self._history(TriggerOrder, request, whole, convert, priority, first_page_only=first_page_only)

    async def _live_triggers(self, request: LiveTriggersRequest, priority: Priority) -> Reply[TriggerOrder]:
        strategy_type = _STRATEGY_TYPES.get(request.plan_type)
        if strategy_type is None:
            return Reply(())
        reply = await self._ask(UnifiedLiveTriggersRequest(category=request.product_type, type=strategy_type), priority)
        return _converted(TriggerOrder, reply, self._trigger_rows(reply, request, strategy_type, waits=True))

    def _trigger_rows(
        self,
        reply: Reply[Any],
        request: TriggerHistoryRequest | LiveTriggersRequest,
        strategy_type: str,
        *,
        waits: bool,
    ) -> list[dict[str, Any]]:
        """Convert strategy orders, and keep those of the ids, symbol and status that a request names: v3 takes none."""
        converted = (
            classic_rows.classic_triggers(trigger, strategy_type, self._hold_mode, waits=waits)
            for trigger in _raw(reply)
        )
        status = request.plan_status if isinstance(request, TriggerHistoryRequest) else None
        return [
            row
            for row in chain.from_iterable(converted)
            if request.order_id in (None, row.get("orderId"))
            and request.client_oid in (None, row.get("clientOid"))
            and request.symbol in (None, str(row.get("symbol")).upper())
            and status in (None, row["planStatus"])
        ]

    async def _closed_positions(self, request: ClosedPositionsRequest, priority: Priority) -> Reply[ClosedPosition]:
        async def convert(reply: Reply[Any]) -> list[dict[str, Any]]:
            return list(map(classic_rows.classic_closed_position, _raw(reply)))

        whole = UnifiedClosedPositionsRequest(category=request.product_type, symbol=request.symbol, limit=request.limit)
        return await self._history(ClosedPosition, request, whole, convert, priority)

    async def _key(self, _: AccountInfoRequest, priority: Priority) -> Reply[AccountInfo]:
        reply = await self._ask(UnifiedKeyRequest(), priority)
        return _converted(AccountInfo, reply, list(map(classic_rows.classic_key, _raw(reply))))

    async def _history(
        self,
        kind: type[Row],
        request: Any,
        whole: Request[Any],
        convert: Callable[[Reply[Any]], Awaitable[list[dict[str, Any]]]],
        priority: Priority,
        *,
        first_page_only: bool = False,
    ) -> Reply[Row]:
        """Read one page of a history, which v3 gives in pieces of 30 days, newest first.

        The cursor of the converted reply names the piece as well. A cursor without one is an id in the newest piece,
        and older pieces are read whole. Once the account was moved such an id may be of v2, and all is read again.
        A page without rows of the request is passed over, since readers take an empty page for the end.
        """
        now_ms, rule = self._server_clock.now_ms, whole.time_rule
        assert rule is not None
        since = rule.kept_since(request.start_time or 0, now_ms)
        until = now_ms if request.end_time is None else request.end_time
        is_of_v2 = bool(self.changes) and _MARK not in (request.id_less_than or "")
        piece_end, cursor = _page_at(None if is_of_v2 else request.id_less_than, until)
        page_cursor = f"{piece_end}{_MARK}{cursor or ''}"
        time_field = endpoint_of(type(request)).time_field or ""
        rows: list[dict[str, Any]] = []
        while True:
            piece_start = max(since, piece_end - rule.span_ms)
            if piece_start > piece_end:
                return Reply(())
            page = whole.changed(start_time=piece_start, end_time=piece_end, cursor=cursor)
            reply = await self._ask(page, priority)
            next_page: tuple[int, str | None] | None = None
            if reply.cursor not in (None, cursor):
                next_page = piece_end, reply.cursor
            elif piece_start > since:
                next_page = piece_start, None
            rows += await convert(reply)
            converted = _converted(kind, reply, rows)
            # Rows at the very end of a piece came with the piece after it: a page of these alone would seem to be the
            # last one.
            moments = (getattr(row, time_field) for row in converted.rows)
            is_new = any(moment is None or unix_ms(moment) < piece_end for moment in moments)
            if next_page is None or is_new or converted.undecodable_rows or first_page_only:
                next_cursor = None if next_page is None else f"{next_page[0]}{_MARK}{next_page[1] or ''}"
                return replace(converted, cursor=next_cursor, page_cursor=page_cursor)
            piece_end, cursor = next_page


_Answer = Callable[[AccountReads, Any, Priority], Awaitable[Reply[Any]]]
_ANSWERS: Final[Mapping[type[Request[Any]], _Answer]] = {
    AccountListRequest: AccountReads._accounts,
    PositionsRequest: AccountReads._positions,
    PendingOrdersRequest: AccountReads._orders,
    FuturesFillsRequest: AccountReads._fills,
    TriggerHistoryRequest: AccountReads._triggers,
    LiveTriggersRequest: AccountReads._live_triggers,
    ClosedPositionsRequest: AccountReads._closed_positions,
    AccountInfoRequest: AccountReads._key,
}
"""The requests of v2 that v3 answers, and how."""


def _of_copy_trader(refusal: UnifiedAccount) -> Rejected:
    """Return the refusal of a read that copy traders may not make."""
    return Rejected(
        refusal.message,
        code=refusal.code,
        endpoint=refusal.endpoint,
        http_status=refusal.http_status,
        remedy=meaning(UNIFIED_TRADER).remedy,
    )


def _raw(reply: Reply[Any]) -> list[Any]:
    """Return every row of a reply as received, also those that could not be read, in their order."""
    raw = [row.received for row in reply.rows]
    for undecodable in reply.undecodable_rows:
        raw.insert(undecodable.index, undecodable.received)
    return [row for row in raw if isinstance(row, Mapping)]


def _converted(kind: type[Row], reply: Reply[Any], rows: list[dict[str, Any]]) -> Reply[Row]:
    """Read converted rows; what was no row at all stays undecodable."""
    converted = reply_of(kind, rows, reply.request_time, reply.cursor)
    no_rows = tuple(row for row in reply.undecodable_rows if not isinstance(row.received, Mapping))
    return replace(converted, undecodable_rows=(*converted.undecodable_rows, *no_rows))


def _of_category(reply: Reply[Row], category: ProductType) -> Reply[Row]:
    """Leave out rows of other categories, such as spot and margin, and of other product types by their symbols."""
    kept = [row for row in reply.rows if _category_of(row) in ("", str(category))]
    others = [str(row.original.get("symbol")) for row in reply.rows if _category_of(row) not in ("", str(category))]
    reply = of_product_type(replace(reply, rows=tuple(kept)), category)
    return replace(reply, left_out=(*reply.left_out, *others))


def _category_of(row: Record) -> str:
    return str(row.original.get("category") or "").upper()


def _page_at(cursor: str | None, until: int) -> tuple[int, str | None]:
    """Return the end of a piece (Unix ms), and the cursor within it."""
    end, mark, within = (cursor or "").partition(_MARK)
    if mark and end.isascii() and end.isdigit():
        return min(int(end), until), within or None
    return until, cursor or None


def _without_piece(request: Request[Any]) -> Request[Any]:
    """Return a request for the classic interface: a cursor of v3 says nothing there, so all is read again."""
    cursor = getattr(request, "id_less_than", None)
    return request.changed(id_less_than=None) if cursor is not None and _MARK in cursor else request

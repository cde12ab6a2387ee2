"""Reads one observation of a sent reversal: its order, pending orders, positions, and fills since sending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tradetui.desk.reversal.market_state import Held, MarketState
from tradetui.desk.reversal.progress import Sent
from tradetui.desk.reversal.tracking.evidence import ABSENCE_S
from tradetui.desk.reversal.tracking.own_legs import Observation, OrderAnswer, contradiction, traded_as_planned
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, PermissionRefused, Rejected, UnreadableReply
from tradetui.trading.fill_terms import terms_of
from tradetui.trading.positions import holdings_of, unproven_since
from tradetui.trading.positions_from_fills import holdings_after
from tradetui.trading.reversal import ReversalParams
from tradetui.wire.enums import OrderSource, PositionMode, known, same
from tradetui.wire.error_codes import says_no_such_order
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.models.futures import FuturesFill, OrderDetail, PendingOrder
from tradetui.wire.text import counted

_WINDOW_MS = 35_000
"""A request stamped this much before the exchange's time is no longer taken; this includes five seconds of reserve."""
MOST_PAGES = 10
MOST_ORDERS_LOOKED_UP = 5
"""Per look: this many unknown orders, and this many live ones."""
_ENDED_AGAIN_S = 10.0
"""An ended order whose source was left out is looked up again after this long."""
_MOVED = (
    "the account was moved to unified mode after this was sent, and the order's own fills do not show what came of it"
)
_REVERSALS = (OrderSource.REVERSE, OrderSource.TRADER_REVERSE)


@dataclass(frozen=True, slots=True)
class OrderReading:
    """The exchange's answer about an order: the order, or why there is none, and when it answered (its own ms)."""

    answer: OrderAnswer
    detail: OrderDetail | None = None
    request_time: int | None = None


class OrderReads:
    """Observes one account's reversals; remembers the source, size and last look-up of orders of others."""

    def __init__(self, client: ExchangeReader, market_state: MarketState) -> None:
        self._client = client
        self._market_state = market_state
        self._sources: dict[str, str] = {}
        self._sizes: dict[str, Decimal] = {}
        self._live_orders: dict[str, float] = {}
        """Live orders that a reversal made, and when (monotonic s) each was last shown live."""
        self._looked_up_s: dict[str, float] = {}
        """When (monotonic s) each order of others was last looked up, or first seen."""

    async def order(self, params: ReversalParams, client_oid: str, replied_order_id: str | None = None) -> OrderReading:
        """Return the order of our own clientOid, or by the id in the reply if the exchange has not kept our clientOid.

        An unreadable answer, or one about another order, counts as no answer. Raises ExchangeError if it could not be
        read now.
        """
        reading = await self._order(params, client_oid)
        if reading.answer is OrderAnswer.NO_SUCH_ORDER and replied_order_id is not None:
            return await self._order(params, client_oid, replied_order_id)
        return reading

    async def _order(self, params: ReversalParams, client_oid: str, order_id: str | None = None) -> OrderReading:
        try:
            reply = await self._client.futures.order_detail(
                symbol=params.symbol,
                product_type=params.product_type,
                order_id=order_id,
                client_oid=client_oid if order_id is None else None,
            )
        except (EndpointMissing, PermissionRefused, UnreadableReply):
            return OrderReading(OrderAnswer.NOT_REPORTED)
        except Rejected as refusal:
            if not says_no_such_order(refusal.code):
                return OrderReading(OrderAnswer.NOT_REPORTED)
            return OrderReading(OrderAnswer.NO_SUCH_ORDER, request_time=refusal.request_time)
        detail = reply.rows[0] if reply.rows else None
        if detail is None or (detail.client_oid or client_oid) != client_oid:
            return OrderReading(OrderAnswer.NOT_REPORTED)
        self._market_state.observed_orders.remember(client_oid, detail.order_id, detail.size)
        return OrderReading(OrderAnswer.SHOWN, detail, reply.request_time)

    async def is_shown(self, sent: Sent) -> bool:
        """Whether the exchange shows an order of our own clientOid; raises `ExchangeError`."""
        return (await self.order(sent.plan.params, sent.intent)).answer is OrderAnswer.SHOWN

    async def is_pending(self, sent: Sent) -> bool:
        """Whether an order of our own clientOid is pending, live or partially filled; raises `ExchangeError`."""
        params = sent.plan.params
        orders = await self._market_state.orders(params.product_type, params.symbol)
        return any(order.client_oid == sent.intent for order in orders)

    async def has_effect(self, sent: Sent) -> bool:
        """Whether a planned result is held, or new fills of an order closed as planned; raises `ExchangeError`."""
        plan, params = sent.plan, sent.plan.params
        held = await self._market_state.held(params.product_type, params.symbol)
        if traded_as_planned(plan, new_fills(held.fills, sent)):
            return True
        if _unreadable(held, params.symbol):
            return False
        holdings = holdings_of(held.positions, params.product_type, params.symbol, _mode(held, params.mode))
        return any(holdings == result.after for result in plan.results)

    async def observe(self, sent: Sent, *, replied_order_id: str | None, waited_s: float) -> Observation:
        """Make one observation: the order first, then pending orders, then positions and fills.

        Orders seen by an earlier look count too, even if that look failed half-way. `replied_order_id` is from the
        reply to the reversal. `waited_s` are seconds that have certainly passed since the call ended. Raises
        `ExchangeError`.
        """
        params = sent.plan.params
        order = await self.order(params, sent.intent, replied_order_id)
        orders = await self._market_state.orders(params.product_type, params.symbol)
        order_id, order_size = self._id_and_size(sent, order, orders, replied_order_id)
        held = await self._market_state.held(params.product_type, params.symbol)
        all_fills = await self._page_back(sent, held)
        fills = new_fills(all_fills, sent)
        own = tuple(fill for fill in fills if _is_of_our_order(fill, sent, order_id))
        reaches_back = sent.newest_fill in (None, *(fill.trade_id for fill in all_fills))
        renumbered = self._client.is_unified and not reaches_back
        # Fills from before sending would seem to be trades of others, since they are not known by their other ids.
        others = () if renumbered else tuple(fill for fill in fills if fill not in own)
        foreign, kindred = await self._orders_by_source(sent, self._source_of(order, order_id), others)
        contradicting = contradiction(sent.plan, own, held.positions)
        holdings = holdings_of(held.positions, params.product_type, params.symbol, _mode(held, params.mode))
        pending = tuple(row for row in orders if _is_ours(row, sent, order_id))
        is_certain = bool(own) and (not renumbered or holdings_after(sent.plan.before, own) == holdings)
        in_doubt = _MOVED if self._client.is_unified and not (pending or is_certain) else ""
        times = [held.server_ms] if order.answer is OrderAnswer.NOT_REPORTED else [order.request_time, held.server_ms]
        return Observation(
            answer=order.answer,
            order=order.detail,
            pending=pending,
            held=holdings,
            own_fills=own,
            other_fills=others,
            foreign_orders=foreign,
            kindred_orders=kindred,
            kindred_sizes={id_: self._sizes[id_] for id_ in kindred if id_ in self._sizes},
            live_orders=kindred & self._recently_live(),
            order_id=order_id,
            order_size=order_size,
            waited_s=waited_s,
            after_window=all(time is not None and time > sent.stamp_ms + _WINDOW_MS for time in times),
            reaches_back=reaches_back,
            unreadable=_unreadable(held, params.symbol) or contradicting or in_doubt,
            contradiction=contradicting,
            proven=not unproven_since(held.positions, params.symbol),
            positions=held.positions,
            renumbered=renumbered,
        )

    def _id_and_size(
        self, sent: Sent, order: OrderReading, orders: Sequence[PendingOrder], replied_order_id: str | None
    ) -> tuple[str | None, Decimal | None]:
        """Return our order's id and size (base coin) if ever seen; both are remembered for the next look."""
        observed_orders = self._market_state.observed_orders
        for row in orders:
            if replied_order_id is not None and row.order_id == replied_order_id and not row.client_oid:
                observed_orders.remember(sent.intent, row.order_id, row.size)
        observed = observed_orders.get(sent.intent)
        order_id, size = (replied_order_id, None) if observed is None else (observed.order_id, observed.size)
        return order_id, (order.detail.size if order.detail is not None else None) or size

    def _source_of(self, order: OrderReading, order_id: str | None) -> str | None:
        """Return the source of our order by the exchange's name; empty if it may be any reversal, None if unknown."""
        if order_id is None:
            # An exchange that has not kept our id still names the source of its orders.
            return "" if order.answer is OrderAnswer.NO_SUCH_ORDER else None
        if order.detail is not None and order.detail.order_source:
            self._sources[order_id] = order.detail.order_source
        return self._sources.get(order_id) or None

    async def _page_back(self, sent: Sent, held: Held) -> Sequence[FuturesFill]:
        """Return the symbol's fills, newest first, back to those before sending."""
        params, fills = sent.plan.params, list(held.fills)
        if _reaches_back(fills, sent):
            return fills
        met = {fill.unique_key for fill in fills}
        pages = 0
        async for reply in self._client.futures.iter_fills(product_type=params.product_type, symbol=params.symbol):
            fills += [fill for fill in reply.rows if fill.unique_key not in met and same(fill.symbol, params.symbol)]
            met.update(fill.unique_key for fill in reply.rows)
            pages += 1
            if reply.undecodable_rows:
                raise UnreadableReply("rows of fills", endpoint="futures.fills")
            if pages == MOST_PAGES or _reaches_back(fills, sent):
                break
        return fills

    async def _orders_by_source(
        self, sent: Sent, source: str | None, fills: Sequence[FuturesFill]
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return foreign and kindred orders, as `evidence` defines them, by order id.

        `source` is the source of ours: empty if it may be a reversal of any kind, None if others are not looked up.
        """
        if source is None:
            return frozenset(), frozenset()
        order_ids = list(dict.fromkeys(fill.order_id for fill in fills if fill.order_id))
        unknown = [id_ for id_ in order_ids if not self._sources.get(id_) and not self._looked_up_recently(id_)]
        live = [id_ for id_ in order_ids if id_ in self._live_orders]
        for order_id in (*self._next_to_look_up(unknown), *self._next_to_look_up(live)):
            # If nothing is known of ours, this order may be ours, and must not be taken for absent.
            await self._look_up(sent, order_id, must_be_read=not source)
        sources = {id_: theirs.lower() for id_ in order_ids if (theirs := self._sources.get(id_))}
        reversals = {id_ for id_, theirs in sources.items() if known(OrderSource, theirs) in _REVERSALS}
        alike = {id_ for id_, theirs in sources.items() if theirs == source.lower()} if source else reversals
        return frozenset(sources.keys() - alike), frozenset(alike & reversals)

    async def _look_up(self, sent: Sent, order_id: str, *, must_be_read: bool) -> None:
        """Look up an order's source and size, and whether it is live; an unknown one is looked up again."""
        self._looked_up_s[order_id] = self._client.clock.monotonic()
        try:
            order = await self._order_of_others(sent, order_id)
        except (Rejected, UnreadableReply):
            if must_be_read:
                raise
            return
        if order is None:
            return
        if order.size:
            self._sizes[order_id] = order.size
        is_over = order.status is not None and order.status.is_over
        source = order.order_source or self._sources.get(order_id, "")
        if not (source or is_over):
            return
        self._sources[order_id] = source  # empty if an ended order leaves it out; then it is looked up again later
        if known(OrderSource, source) in _REVERSALS and order.status is not None and not is_over:
            self._live_orders[order_id] = self._client.clock.monotonic()
        else:
            self._live_orders.pop(order_id, None)

    def _next_to_look_up(self, order_ids: list[str]) -> list[str]:
        """Return the orders to look up next: at most `MOST_ORDERS_LOOKED_UP`, those not looked up for longest."""
        oldest_first, now_s = order_ids[::-1], self._client.clock.monotonic()
        return sorted(oldest_first, key=lambda id_: self._looked_up_s.setdefault(id_, now_s))[:MOST_ORDERS_LOOKED_UP]

    def _looked_up_recently(self, order_id: str) -> bool:
        """Whether an ended order was looked up within `_ENDED_AGAIN_S`; only a more complete reply could tell more."""
        now_s = self._client.clock.monotonic()
        return order_id in self._sources and now_s - self._looked_up_s[order_id] < _ENDED_AGAIN_S

    def _recently_live(self) -> frozenset[str]:
        """Return the orders shown live within `ABSENCE_S`, so that a denied order does not stay live for ever."""
        since_s = self._client.clock.monotonic() - ABSENCE_S
        return frozenset(id_ for id_, shown_s in self._live_orders.items() if shown_s > since_s)

    async def _order_of_others(self, sent: Sent, order_id: str) -> OrderDetail | None:
        """Return an order by the exchange's id; None if the exchange does not report it. Raises `ExchangeError`."""
        params = sent.plan.params
        try:
            reply = await self._client.futures.order_detail(
                symbol=params.symbol, product_type=params.product_type, order_id=order_id
            )
        except (EndpointMissing, PermissionRefused):
            return None
        except Rejected as refusal:
            if not says_no_such_order(refusal.code):
                raise
            return None
        detail = next((row for row in reply.rows if row.order_id == order_id), None)
        if detail is None:
            raise UnreadableReply("it is about another order", endpoint="futures.order_detail")
        return detail


def new_fills(fills: Sequence[FuturesFill], sent: Sent) -> tuple[FuturesFill, ...]:
    """Return the symbol's fills, newest first, that may have come after the plan was made.

    Fills above the newest earlier fill are new. Below it late ones may be booked; ours are not older than the window in
    which its request was taken.
    """
    ids = [fill.trade_id for fill in fills]
    above = ids.index(sent.newest_fill) if sent.newest_fill in ids else None
    if sent.newest_fill is None:
        return tuple(fills)
    since = _earliest(sent)
    return tuple(
        fill
        for index, fill in enumerate(fills)
        if fill.trade_id not in sent.recent_fills
        and fill.trade_id != sent.newest_fill
        and ((above is not None and index < above) or fill.c_time >= since)
    )


def _earliest(sent: Sent) -> datetime:
    return utc_moment(max(0, sent.stamp_ms - _WINDOW_MS))


def _reaches_back(fills: Sequence[FuturesFill], sent: Sent) -> bool:
    if not fills:
        return sent.newest_fill is None
    # A page that is not full proves nothing: an exchange may return fewer rows, or other symbols' fills too.
    return any(fill.trade_id == sent.newest_fill for fill in fills) or fills[-1].c_time < _earliest(sent)


def _is_of_our_order(fill: FuturesFill, sent: Sent, order_id: str | None) -> bool:
    """Whether a fill has our order's id; fills of a unified account also have our clientOid."""
    return fill.original.get("clientOid") == sent.intent or (order_id is not None and fill.order_id == order_id)


def _is_ours(order: PendingOrder, sent: Sent, order_id: str | None) -> bool:
    """Whether a pending order is ours: by our ids, or made by a reversal unless ours was refused."""
    if order.client_oid == sent.intent or (order_id is not None and order.order_id == order_id):
        return True
    return (
        not sent.refused
        and known(OrderSource, order.order_source) in _REVERSALS
        and order.c_time is not None
        and order.c_time >= _earliest(sent)
    )


def _mode(held: Held, planned: PositionMode) -> PositionMode:
    """Return the mode of the present holdings; the planned mode if nothing shows it."""
    modes = {position.mode for position in held.positions if position.mode is not None}
    if held.fills and not modes:
        newest = terms_of(held.fills[0]).mode
        modes = {newest} if newest is not None else set()
    return modes.pop() if len(modes) == 1 else planned


def _unreadable(held: Held, symbol: str) -> str:
    """Return why the holdings are not known from these rows; empty if they are."""
    if held.unread:
        return f"{counted(held.unread, 'row')} of positions or fills cannot be read"
    return held.doubt(symbol)

"""Reads account and market anew for a reversal: for its preview, before it is sent, and after it has ended.

If a fact that the preview needs cannot be read, the preview fails. A fact that only estimates need is left out.

Also remembers orders that the exchange has shown, by clientOid: one shown once, however briefly, proves that the
request was taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Final, NamedTuple, TypeVar

from tradetui.desk.feeds.orders import without_repeated_coins
from tradetui.desk.feeds.positions import PositionsReader, earlier_contradiction
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.reversal.progress import Aftermath
from tradetui.desk.settings import DeskSettings
from tradetui.desk.task_groups import ReadGroup
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused
from tradetui.trading.estimates.cost_estimates import Basis, PriceSource
from tradetui.trading.estimates.reversal_actuals import reversal_actuals
from tradetui.trading.fill_terms import terms_of
from tradetui.trading.holdings import Holdings
from tradetui.trading.orders_after_reversal import resting_after
from tradetui.trading.positions import Position, doubt_of_held, holdings_of, mode_of
from tradetui.trading.reversal import CannotReverse, ReversalParams, ReversalPlan, opening_risks, plan_reversal
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import QUERIED_PLAN_TYPES, OrderStatus, PositionMode, Side, known, same
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.models.public import Contract, Ticker
from tradetui.wire.product_types import ProductType, margin_coin, may_trade
from tradetui.wire.text import counted

_MOST_ORDERS: Final = 500
"""Number of orders remembered, the newest ones; a reversal is found while its order is among them."""


@dataclass(frozen=True, slots=True)
class ObservedOrder:
    """An order's id at the exchange, and its size in the base coin if known."""

    order_id: str
    size: Decimal | None


class ObservedOrders:
    """Remembers every order as soon as it is read, even if the other reads of that look fail."""

    def __init__(self) -> None:
        self._orders: dict[str, ObservedOrder] = {}

    def remember(self, client_oid: str | None, order_id: str, size: Decimal | None) -> None:
        """Remember an order that was just read; an order without a clientOid is never looked up."""
        if not client_oid:
            return
        earlier = self._orders.pop(client_oid, None)
        self._orders[client_oid] = ObservedOrder(order_id, size or (earlier.size if earlier else None))
        if len(self._orders) > _MOST_ORDERS:
            del self._orders[next(iter(self._orders))]

    def get(self, client_oid: str) -> ObservedOrder | None:
        return self._orders.get(client_oid)


_Row = TypeVar("_Row", Contract, Ticker)
_NOT_OFFERED = (EndpointMissing, PermissionRefused)
_LATE = timedelta(minutes=1)
"""Ids of fills are known from one minute before the newest fill on; later fills of that minute may still be booked."""
MARKET_S: Final = 1.5
"""Longest wait for bid and ask, without which estimates use the mark price, and for rereading a contract."""


@dataclass(frozen=True, slots=True)
class Held:
    """The positions of a product type, and the newest fills of the symbol."""

    positions: tuple[Position, ...]
    fills: tuple[FuturesFill, ...]
    unread: int = 0
    """Number of rows of positions or fills that could not be read."""
    server_ms: int | None = None
    """The exchange's time of the oldest of these replies; None if one of them had no time."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """By symbol, why its position may not be the sum of its fills."""

    def doubt(self, symbol: str) -> str:
        """Return why a symbol's position is not known; empty if it is."""
        return doubt_of_held(self.positions, symbol) or self.doubts.get(symbol.upper(), "")

    @property
    def recent_fills(self) -> frozenset[str]:
        if not self.fills:
            return frozenset()
        since = max(fill.c_time for fill in self.fills) - _LATE
        return frozenset(fill.trade_id for fill in self.fills if fill.c_time >= since)


@dataclass(frozen=True, slots=True)
class _ChangingFacts:
    """The facts of a preview that may change within moments."""

    held: Held
    orders: Sequence[PendingOrder]
    unread_orders: int
    accounts: Sequence[FuturesAccount]
    ticker: Ticker | None
    contract: Contract | None
    requested_at: float


class _Stops(NamedTuple):
    """A symbol's live stops, None if the exchange does not offer them; and the number of unreadable rows of stops."""

    rows: tuple[TriggerOrder, ...] | None
    unread: int

    @property
    def whole_rows(self) -> tuple[TriggerOrder, ...] | None:
        """The rows if all could be read, else None: an unreadable one may be the nearest stop."""
        return None if self.unread else self.rows


class MarketState:
    """Reads for a person: these reads go ahead of polling, and a temporary failure is retried once."""

    def __init__(self, client: ExchangeReader, settings: DeskSettings, clock: Clock) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._readers: dict[ProductType, PositionsReader] = {}
        self.observed_orders = ObservedOrders()
        self.contradiction = ""
        """Why sums of this account's hedge-mode fills are not its positions; empty unless a reversal showed it."""

    async def preview(self, target: Target) -> Preview:
        """Read everything that a preview shows; raises `ExchangeError` if a fact that it needs cannot be read."""
        product_type = target.product_type or await self._product_type_of(target.symbol)
        symbol = target.symbol.upper()
        async with ReadGroup() as group:
            stops, facts = await asyncio.gather(
                group.begin(self._stops(product_type, symbol)),
                group.begin(self._what_may_change(product_type, symbol)),
            )
        return await self._preview(target, product_type, stops, facts)

    async def reread(self, shown: Preview) -> Preview:
        """Read again all facts that may have changed; live stops stay as shown."""
        product_type = shown.target.product_type
        assert product_type is not None
        facts = await self._what_may_change(product_type, shown.target.symbol, contract_within_s=MARKET_S)
        facts = replace(facts, contract=facts.contract or shown.contract)
        return await self._preview(shown.target, product_type, _Stops(shown.stops, shown.unread_stops), facts)

    async def _what_may_change(
        self, product_type: ProductType, symbol: str, *, contract_within_s: float | None = None
    ) -> _ChangingFacts:
        requested_at, futures = self._clock.monotonic(), self._client.futures
        read_contracts = partial(futures.contracts, product_type=product_type, symbol=symbol)
        read_tickers = partial(futures.ticker, product_type=product_type, symbol=symbol)
        async with ReadGroup() as group:
            contract, held, (orders, unread_orders), accounts, ticker = await asyncio.gather(
                group.begin(_row_if_read(read_contracts, symbol, within_s=contract_within_s)),
                group.begin(self.held(product_type, symbol)),
                group.begin(self._orders_and_unread(product_type, symbol)),
                group.begin(self._accounts(product_type)),
                group.begin(_row_if_read(read_tickers, symbol, within_s=MARKET_S)),
            )
        return _ChangingFacts(held, orders, unread_orders, accounts, ticker, contract, requested_at)

    async def _preview(
        self, target: Target, product_type: ProductType, stops: _Stops, facts: _ChangingFacts
    ) -> Preview:
        symbol, held, orders, contract = target.symbol.upper(), facts.held, facts.orders, facts.contract
        coin = _margin_coin(held.positions, orders, product_type, symbol)
        mode, mode_from = await self._mode(held, orders, product_type, symbol, coin)
        account = next((row for row in facts.accounts if row.margin_coin.upper() == (coin or "").upper()), None)
        plan: ReversalPlan | None = None
        reason = _why_not_planned(held, symbol, mode, mode_from, coin)
        if not reason and mode is not None and coin is not None:
            try:
                plan = plan_reversal(self._params(target, product_type, symbol, coin, mode, held.positions))
            except CannotReverse as cannot:
                # A position that seems to be missing may be in an unreadable row.
                reason = "" if held.unread else f"{cannot}."
        of_symbol = [leg for leg in held.positions if leg.symbol == symbol]
        position = next((leg for leg in of_symbol if plan is None or leg.is_long == plan.reverses_long), None)
        basis: Basis | None = None
        if plan is not None:
            others = [leg for leg in of_symbol if leg is not position]
            other_leg = others[0] if mode is PositionMode.HEDGE and others else None
            price, price_from = _price(plan, facts.ticker, held, symbol)
            basis = Basis(position, price, price_from, account, contract, fills=held.fills, other_leg=other_leg)
            risks = () if contract is None else opening_risks(plan, contract, price)
            plan = replace(
                plan,
                size_places=0 if contract is None else contract.volume_place or 0,
                assumptions=(*risks, *_not_shown(facts.unread_orders + stops.unread), *plan.assumptions),
            )
        return Preview(
            target=Target(symbol, product_type, target.side, target.size),
            plan=plan,
            mode=mode,
            mode_from=mode_from,
            position=position,
            positions=held.positions,
            basis=basis,
            orders=tuple(orders),
            stops=stops.rows,
            unread_stops=stops.unread,
            requested_at=facts.requested_at,
            read_at=self._clock.monotonic(),
            newest_fill=held.fills[0].trade_id if held.fills else None,
            recent_fills=held.recent_fills,
            contract=contract,
            doubts=tuple(filter(None, (_unread_rows(held), reason))),
        )

    async def held(self, product_type: ProductType, symbol: str) -> Held:
        """Return the positions and the newest page of the symbol's fills, newest first, without repetitions."""
        if (reader := self._readers.get(product_type)) is None:
            reader = self._readers[product_type] = PositionsReader(self._client, [product_type])
        async with ReadGroup() as group:
            reading, fills = await asyncio.gather(
                group.begin(reader.read()),
                group.begin(self._client.futures.fills(product_type=product_type, symbol=symbol)),
            )
        times = [time for time in (reading.server_ms, fills.request_time) if time is not None]
        server_ms = min(times) if len(times) == 2 else None
        unread = reading.undecodable_rows + len(fills.undecodable_rows)
        once = {fill.trade_id: fill for fill in fills.rows if same(fill.symbol, symbol)}
        doubts = reader.doubts
        if self.contradiction and reader.source == "fills" and _names_its_leg(next(iter(once.values()), None)):
            doubts.setdefault(symbol.upper(), earlier_contradiction(self.contradiction))
        return Held(tuple(reading.rows), tuple(once.values()), unread, server_ms, doubts)

    async def read_aftermath(
        self, plan: ReversalPlan, held: Holdings, positions: Sequence[Position], fills: Sequence[FuturesFill]
    ) -> Aftermath:
        """Return the symbol's orders and live stops after the end, compared with the holdings, and the costs and risks.

        `positions` are those of the product type, `fills` all of our own order, or none if some are unknown.
        Raises `ExchangeError`.
        """
        product_type, symbol = plan.params.product_type, plan.params.symbol
        async with ReadGroup() as group:
            (orders, unread_orders), stops, accounts = await asyncio.gather(
                group.begin(self._orders_and_unread(product_type, symbol)),
                group.begin(self._stops(product_type, symbol)),
                group.begin(self._accounts(product_type)),
            )
        account = next((row for row in accounts if same(row.margin_coin, plan.params.margin_coin)), None)
        market = next((leg.mark for leg in positions if leg.symbol == symbol and leg.mark), None)
        return Aftermath(
            resting=resting_after(plan, orders, stops.rows or (), held, market=market),
            actuals=reversal_actuals(plan, fills, positions, account, stops.whole_rows),
            orders_are_whole=not unread_orders,
            # Interface v3 of unified accounts reports no trailing stops, and no side of some stops.
            stops_are_whole=stops.whole_rows is not None and not self._client.is_unified,
        )

    async def _product_type_of(self, symbol: str) -> ProductType:
        every = self._settings.product_types
        likely = [product_type for product_type in every if may_trade(product_type, symbol)] or every
        for product_type in likely if len(likely) > 1 else ():
            held = await self.held(product_type, symbol.upper())
            if any(position.symbol == symbol.upper() for position in held.positions):
                return product_type
        return likely[0]

    async def orders(self, product_type: ProductType, symbol: str) -> Sequence[PendingOrder]:
        return (await self._orders_and_unread(product_type, symbol))[0]

    async def _orders_and_unread(self, product_type: ProductType, symbol: str) -> tuple[Sequence[PendingOrder], int]:
        """Return the symbol's open orders, and the number of unreadable rows of orders."""
        unread = 0

        async def resting(status: str) -> list[PendingOrder]:
            nonlocal unread
            pages = self._client.futures.iter_pending_orders(product_type=product_type, symbol=symbol, status=status)
            orders: list[PendingOrder] = []
            async for reply in pages:
                for order in reply.rows:
                    self.observed_orders.remember(order.client_oid, order.order_id, order.size)
                orders += reply.rows
                unread += len(reply.undecodable_rows)
            return orders

        # An order that begins to fill between the reads may be in neither; the read before sending finds it and
        # reports it.
        # If one read fails, the other still runs to its end, so that the orders that it shows are remembered.
        parts = await asyncio.gather(resting("live"), resting("partially_filled"), return_exceptions=True)
        orders: dict[str, PendingOrder] = {}
        for part in parts:
            if isinstance(part, BaseException):
                raise part
            orders |= {order.order_id: order for order in part if same(order.symbol, symbol) and _may_fill(order)}
        return tuple(orders.values()), unread

    async def _accounts(self, product_type: ProductType) -> Sequence[FuturesAccount]:
        """Return each coin's account; if rows of one coin differ, none is believed."""
        return without_repeated_coins(await self._client.futures.accounts(product_type=product_type)).rows

    async def _mode(
        self, held: Held, orders: Sequence[PendingOrder], product_type: ProductType, symbol: str, coin: str | None
    ) -> tuple[PositionMode | None, str]:
        """Return the position mode and its source; the account is asked only if nothing else shows the mode."""
        newest_fill = held.fills[0] if held.fills else None
        mode, mode_from = mode_of(held.positions, orders, newest_fill)
        if mode is not None or coin is None:
            return mode, mode_from
        try:
            reply = await self._client.futures.account(symbol=symbol, product_type=product_type, margin_coin=coin)
        except ExchangeError:
            return mode, mode_from
        return mode_of(held.positions, orders, newest_fill, next((row.pos_mode for row in reply.rows), None))

    async def _stops(self, product_type: ProductType, symbol: str) -> _Stops:
        async def waiting(plan_type: str) -> list[Reply[TriggerOrder]]:
            pages = self._client.futures.iter_live_triggers(
                product_type=product_type, plan_type=plan_type, symbol=symbol
            )
            return [reply async for reply in pages]

        try:
            async with ReadGroup() as group:
                pages = await asyncio.gather(*(group.begin(waiting(plan_type)) for plan_type in QUERIED_PLAN_TYPES))
        except _NOT_OFFERED:
            return _Stops(None, 0)
        replies = [reply for of_plan_type in pages for reply in of_plan_type]
        stops = tuple(row for reply in replies for row in reply.rows if same(row.symbol, symbol))
        return _Stops(stops, sum(len(reply.undecodable_rows) for reply in replies))

    def _params(
        self,
        target: Target,
        product_type: ProductType,
        symbol: str,
        coin: str,
        mode: PositionMode,
        positions: Sequence[Position],
    ) -> ReversalParams:
        held = holdings_of(positions, product_type, symbol, mode)
        side = target.side
        if mode is PositionMode.HEDGE and side is None:
            legs = [position for position in positions if position.symbol == symbol]
            side = (Side.BUY if legs[0].is_long else Side.SELL) if len(legs) == 1 else None
        return ReversalParams(
            product_type=product_type,
            symbol=symbol,
            margin_coin=coin,
            mode=mode,
            held=held,
            side=side,
            size=target.size,
            trade_side=self._settings.trade_side,
            one_way_side=self._settings.one_way_side,
        )


async def _row_if_read(
    read: Callable[[], Awaitable[Reply[_Row]]], symbol: str, *, within_s: float | None
) -> _Row | None:
    """Return the symbol's row; None if it cannot be read in time, because only estimates and limits need it."""
    try:
        async with asyncio.timeout(within_s):
            rows = (await read()).rows
    except (ExchangeError, TimeoutError):
        return None
    return next((row for row in rows if row.symbol.upper() == symbol), None)


def _margin_coin(
    positions: Sequence[Position], orders: Sequence[PendingOrder], product_type: ProductType, symbol: str
) -> str | None:
    reported = next((held.margin_coin for held in positions if held.symbol == symbol and held.margin_coin), None)
    resting = next((order.margin_coin for order in orders if order.margin_coin), None)
    return reported or resting or margin_coin(product_type, symbol)


def _price(plan: ReversalPlan, ticker: Ticker | None, held: Held, symbol: str) -> tuple[Decimal | None, PriceSource]:
    """Return the price that both market orders would be filled at, and its source.

    Reversing a long leg sells at the bid, reversing a short one buys at the ask.
    """
    marks = (leg.mark for leg in held.positions if leg.symbol == symbol and leg.record is not None)
    prices: list[tuple[Decimal | None, PriceSource]] = [(mark, PriceSource.MARK) for mark in marks]
    if ticker is not None:
        hit = (ticker.bid_pr, PriceSource.BID) if plan.reverses_long else (ticker.ask_pr, PriceSource.ASK)
        prices = [hit, *prices, (ticker.last_pr, PriceSource.LAST)]
    prices += ((fill.price, PriceSource.FILL) for fill in held.fills[:1])
    # A price of zero or less means that there is none: compared with a limit, it would allow everything.
    return next(((price, source) for price, source in prices if price and price > 0), (None, PriceSource.FILL))


def _names_its_leg(newest_fill: FuturesFill | None) -> bool:
    """Whether the `side` of fills names a leg now; in one-way mode it is always the direction of the trade."""
    return newest_fill is not None and terms_of(newest_fill).mode is not PositionMode.ONE_WAY


def _unread_rows(held: Held) -> str:
    if not held.unread:
        return ""
    return f"The position is not certain: {counted(held.unread, 'row')} of positions or fills could not be read."


def _not_shown(unread: int) -> Iterator[str]:
    """Describe the unreadable orders and stops of a preview."""
    if unread:
        yield f"{counted(unread, 'row')} of orders and stops cannot be read: their effect is not shown"


def _why_not_planned(held: Held, symbol: str, mode: PositionMode | None, mode_from: str, coin: str | None) -> str:
    """Return which unknown fact prevents planning; empty if none does."""
    if doubt := held.doubt(symbol):
        return f"The position in {symbol} is not certain: {doubt}."
    if mode is None:
        return f"The position mode is not known: {mode_from}."
    return "The margin coin is not known." if coin is None else ""


def _may_fill(order: PendingOrder) -> bool:
    """Whether an order may still fill; an unknown status means that it may."""
    status = known(OrderStatus, order.status)
    return status is None or not status.is_over

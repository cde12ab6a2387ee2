"""Fresh reads around a reversal: what is held, what rests, what it would cost, and whether an order came to be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from tradetui.desk.positions_reader import PositionsReader
from tradetui.desk.preview import Preview, Target
from tradetui.desk.settings import DeskSettings
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused, Rejected
from tradetui.trading.estimates import Basis, Figure, estimates, margin_is_short
from tradetui.trading.holdings import Holdings
from tradetui.trading.positions import Position, holdings_of, leg_of, mode_of
from tradetui.trading.resting_orders import Resting, resting_after
from tradetui.trading.reversal import CannotReverse, ReversalPlan, Wish, plan_reversal
from tradetui.wire.futures import (
    Contract,
    FuturesAccount,
    FuturesFill,
    OrderDetail,
    PendingOrder,
    TriggerOrder,
)
from tradetui.wire.product_types import ProductType, margin_coin, may_trade
from tradetui.wire.vocabulary import PositionMode, Side

_FREELY_MISSING = (EndpointMissing, PermissionRefused)
_CLOCKS_APART_MS = 2_000
_THE_SYSTEM = ("burst_", "delivery_", "dte_sys_adl_")
"""What closing words begin with where the exchange closed by itself, whatever anybody ordered."""
_PLANS = ("normal_plan", "track_plan", "profit_loss")


@dataclass(frozen=True, slots=True)
class Held:
    """What is held of a product type, where it is known from, and the newest fill of the symbol."""

    positions: tuple[Position, ...]
    fills: tuple[FuturesFill, ...]
    unread: int = 0
    """Rows of positions or fills that could not be read."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What a preview rests on that may have changed a moment later."""

    held: Held
    orders: Sequence[PendingOrder]
    accounts: Sequence[FuturesAccount]
    asked_at: float


class Evidence:
    """Reads for a person: they go ahead of polling, and one that fails for a passing reason is tried once more."""

    def __init__(self, client: ExchangeReader, settings: DeskSettings, clock: Clock) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._readers: dict[ProductType, PositionsReader] = {}

    async def preview(self, target: Target) -> tuple[Preview, Contract | None]:
        """Read everything a preview shows; raises `ExchangeError` where what it must know cannot be read."""
        product_type = target.product_type or await self._product_type_of(target.symbol)
        symbol = target.symbol.upper()
        contract, stops, known = await asyncio.gather(
            self._contract(product_type, symbol),
            self._stops(product_type, symbol),
            self._what_may_change(product_type, symbol),
        )
        return await self._preview(target, product_type, contract, stops, known), contract

    async def again(self, shown: Preview, contract: Contract | None) -> Preview:
        """Read again all that may make a preview untrue; contract and live stops are as they were shown."""
        product_type = shown.target.product_type
        assert product_type is not None
        known = await self._what_may_change(product_type, shown.target.symbol)
        return await self._preview(shown.target, product_type, contract, shown.stops, known)

    async def _what_may_change(self, product_type: ProductType, symbol: str) -> _Known:
        asked_at = self._clock.monotonic()
        held, orders, accounts = await asyncio.gather(
            self.held(product_type, symbol),
            self._orders(product_type, symbol),
            self._client.futures.accounts(product_type=product_type),
        )
        return _Known(held, orders, accounts.rows, asked_at)

    async def _preview(
        self,
        target: Target,
        product_type: ProductType,
        contract: Contract | None,
        stops: Sequence[TriggerOrder] | None,
        known: _Known,
    ) -> Preview:
        symbol, held, orders = target.symbol.upper(), known.held, known.orders
        mode, mode_from = mode_of(held.positions, orders, held.fills[0] if held.fills else None)
        coin = self._margin_coin(held.positions, orders, product_type, symbol)
        account = next((row for row in known.accounts if row.margin_coin.upper() == (coin or "").upper()), None)
        price, price_from = await self._price(product_type, symbol, held)
        doubts = _doubts_of(held)
        plan: ReversalPlan | None = None
        if mode is None:
            doubts.append(f"The position mode is not known: {mode_from}.")
        elif coin is None:
            doubts.append("The margin coin is not known.")
        else:
            try:
                plan = plan_reversal(self._wish(target, product_type, symbol, coin, mode, held.positions))
            except CannotReverse as reason:
                doubts.append(f"{reason}.")
        position = self._position(held.positions, symbol, plan)
        figures: tuple[Figure, ...] = ()
        if plan is not None:
            basis = Basis(position, price, price_from, account, contract, held.fills)
            figures = estimates(plan, basis)
        return Preview(
            target=Target(symbol, product_type, target.side, target.size),
            plan=plan,
            mode=mode,
            mode_from=mode_from,
            position=position,
            positions=held.positions,
            figures=figures,
            resting=() if plan is None else resting_after(plan, orders, stops or ()),
            order_ids=frozenset(order.order_id for order in orders),
            stops_known=stops is not None,
            stops=None if stops is None else tuple(stops),
            margin_short=margin_is_short(figures, None),
            asked_at=known.asked_at,
            read_at=self._clock.monotonic(),
            newest_fill=held.fills[0].trade_id if held.fills else None,
            doubts=tuple(doubts),
        )

    async def held(self, product_type: ProductType, symbol: str) -> Held:
        """What is held now and the newest page of the symbol's fills, newest first."""
        reader = self._readers.setdefault(product_type, PositionsReader(self._client, [product_type]))
        reading, fills = await asyncio.gather(
            reader.read(), self._client.futures.fills(product_type=product_type, symbol=symbol)
        )
        return Held(tuple(reading.rows), fills.rows, reading.lost + len(fills.lost))

    async def order(self, product_type: ProductType, symbol: str, client_oid: str) -> OrderDetail | bool | None:
        """The order of our own id; False where the exchange says there is none, None where it cannot be asked."""
        try:
            reply = await self._client.futures.order_detail(
                symbol=symbol, product_type=product_type, client_oid=client_oid
            )
        except _FREELY_MISSING:
            return None
        except Rejected:
            return False
        return reply.rows[0] if reply.rows else False

    async def left_over(self, plan: ReversalPlan, held: Holdings) -> tuple[Resting, ...]:
        """The symbol's orders and live stops as they stand now, seen from what is held."""
        orders = await self._orders(plan.wish.product_type, plan.wish.symbol)
        stops = await self._stops(plan.wish.product_type, plan.wish.symbol)
        return resting_after(plan, orders, stops or (), held)

    async def _product_type_of(self, symbol: str) -> ProductType:
        every = self._settings.product_types
        likely = [each for each in every if may_trade(each, symbol)] or every
        for product_type in likely if len(likely) > 1 else ():
            held = await self.held(product_type, symbol.upper())
            if any(position.symbol == symbol.upper() for position in held.positions):
                return product_type
        return likely[0]

    async def _orders(self, product_type: ProductType, symbol: str) -> Sequence[PendingOrder]:
        async def resting(status: str) -> list[PendingOrder]:
            pages = self._client.futures.iter_pending_orders(product_type=product_type, symbol=symbol, status=status)
            return [order async for reply in pages for order in reply.rows]

        # One that begins to fill meanwhile may be in neither; reading again before sending finds it, and says so.
        live, partly = await asyncio.gather(resting("live"), resting("partially_filled"))
        return tuple({order.order_id: order for order in (*live, *partly)}.values())

    async def _stops(self, product_type: ProductType, symbol: str) -> Sequence[TriggerOrder] | None:
        """Live trigger orders, None where the exchange does not tell them."""

        async def waiting(plan_type: str) -> list[TriggerOrder]:
            pages = self._client.futures.iter_live_triggers(
                product_type=product_type, plan_type=plan_type, symbol=symbol
            )
            return [row async for reply in pages for row in reply.rows]

        try:
            found = await asyncio.gather(*map(waiting, _PLANS))
        except _FREELY_MISSING:
            return None
        return [row for rows in found for row in rows]

    async def _contract(self, product_type: ProductType, symbol: str) -> Contract | None:
        try:
            reply = await self._client.futures.contracts(product_type=product_type, symbol=symbol)
        except ExchangeError:
            return None
        return next((row for row in reply.rows if row.symbol.upper() == symbol), None)

    async def _price(self, product_type: ProductType, symbol: str, held: Held) -> tuple[Decimal | None, str]:
        for position in held.positions:
            if position.symbol == symbol and position.mark is not None and position.record is not None:
                return position.mark, "mark price"
        try:
            reply = await self._client.futures.ticker(product_type=product_type, symbol=symbol)
        except ExchangeError:
            reply = None
        if reply is not None and reply.rows and reply.rows[0].last_pr is not None:
            return reply.rows[0].last_pr, "last price"
        if held.fills:
            return held.fills[0].price, "the newest fill"
        return None, ""

    def _margin_coin(
        self, positions: Sequence[Position], orders: Sequence[PendingOrder], product_type: ProductType, symbol: str
    ) -> str | None:
        reported = next((each.margin_coin for each in positions if each.symbol == symbol and each.margin_coin), None)
        resting = next((order.margin_coin for order in orders if order.margin_coin), None)
        return reported or resting or margin_coin(product_type, symbol)

    def _wish(
        self,
        target: Target,
        product_type: ProductType,
        symbol: str,
        coin: str,
        mode: PositionMode,
        positions: Sequence[Position],
    ) -> Wish:
        held = holdings_of(positions, product_type, symbol, mode)
        side = target.side
        if mode is PositionMode.HEDGE and side is None:
            legs = [each for each in positions if each.symbol == symbol]
            side = (Side.BUY if legs[0].is_long else Side.SELL) if len(legs) == 1 else None
        return Wish(
            product_type=product_type,
            symbol=symbol,
            margin_coin=coin,
            mode=mode,
            held=held,
            side=side if mode is PositionMode.HEDGE else None,
            size=target.size,
            trade_side=self._settings.trade_side,
            one_way_side=self._settings.one_way_side,
        )

    def _position(self, positions: Sequence[Position], symbol: str, plan: ReversalPlan | None) -> Position | None:
        of_symbol = [each for each in positions if each.symbol == symbol]
        if plan is None:
            return of_symbol[0] if of_symbol else None
        return next((each for each in of_symbol if each.is_long == plan.reverses_long), None)


def _doubts_of(held: Held) -> list[str]:
    if not held.unread:
        return []
    rows = "a row" if held.unread == 1 else f"{held.unread} rows"
    return [f"What is held is in doubt: {rows} of positions or fills could not be read."]


def fills_since(fills: Sequence[FuturesFill], newest_before: str | None, stamp_ms: int) -> tuple[FuturesFill, ...]:
    """Of a page of a symbol's fills, newest first, those that came after what was there when the plan was made.

    `newest_before` is the newest fill's id then, None where there was none. Clocks decide only where so much was
    traded since that it is no longer on the page.
    """
    if newest_before is None:
        return tuple(fills)
    ids = [fill.trade_id for fill in fills]
    if newest_before in ids:
        return tuple(fills[: ids.index(newest_before)])
    since = datetime.fromtimestamp((stamp_ms - _CLOCKS_APART_MS) / 1000, UTC)
    return tuple(fill for fill in fills if fill.c_time >= since)


def burst_among(fills: Sequence[FuturesFill]) -> bool:
    """Whether the system closed something by force."""
    return any((fill.trade_side or "").lower().startswith("burst_") for fill in fills)


def traded_as_planned(plan: ReversalPlan, fills: Sequence[FuturesFill]) -> bool:
    """Whether an order among new fills closed what the plan closes, in direction and size.

    It is all there is to infer from where an order cannot be asked for by its own id. One-way, closing and opening
    may be one order.
    """
    sizes: dict[str | None, Decimal] = {}
    for fill in fills:
        if _closes(plan, fill):
            sizes[fill.order_id] = sizes.get(fill.order_id, Decimal(0)) + (fill.base_volume or 0)
    planned = {size for result in plan.results for size in (result.closed, result.traded)}
    return any(size in planned for size in sizes.values())


def _closes(plan: ReversalPlan, fill: FuturesFill) -> bool:
    if (fill.trade_side or "").lower().startswith(_THE_SYSTEM):
        return False
    if plan.wish.mode is PositionMode.HEDGE:
        return leg_of(fill) == ("long" if plan.reverses_long else "short", False)
    return fill.is_buy is not plan.reverses_long

"""One account's futures in one product type: balance, positions, orders and fills that always balance."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

from tradetui.sandbox.books.futures_history import FUNDING, Bills, Movement
from tradetui.sandbox.books.market import FUNDING_RATE, MAINTENANCE, MAKER_FEE, TAKER_FEE, ContractSpec
from tradetui.sandbox.books.numbers import PLACES, ZERO, Identifiers, booked_amount, text
from tradetui.sandbox.books.orders import ONE_WAY, PROFIT_LOSS, Order, closed_leg, ended

_QUOTE_PLACES: Final = Decimal("0.0001")


@dataclass(slots=True)
class Holding:
    """The position in one leg; in one-way mode the net position is a long or a short holding, never both.

    `opened` and `closed` are the sizes of all its fills so far, with their values at the fills' prices. Fees are those
    of the fills, negative.
    """

    spec: ContractSpec
    leg: str
    size: Decimal
    entry: Decimal
    leverage: int
    opened_ms: int
    changed_ms: int
    realised: Decimal = ZERO
    isolated: bool = False
    opened: Decimal = ZERO
    open_value: Decimal = ZERO
    open_fee: Decimal = ZERO
    closed: Decimal = ZERO
    close_value: Decimal = ZERO
    close_fee: Decimal = ZERO
    funding: list[Decimal] = field(default_factory=list)
    """The funding of every settlement since the account was built: positive received, negative paid."""

    @property
    def fees(self) -> Decimal:
        """The fees paid so far for opening and partly closing it, in the margin coin, positive."""
        return -self.open_fee - self.close_fee

    def profit(self, price: Decimal, size: Decimal | None = None) -> Decimal:
        """Return the profit at a price, of `size` or the whole holding, in the margin coin."""
        moved = price - self.entry if self.leg == "long" else self.entry - price
        amount = moved * (self.size if size is None else size)
        return amount / price if self.spec.inverse else amount

    def margin(self) -> Decimal:
        return self.size * (Decimal(1) if self.spec.inverse else self.entry) / self.leverage

    def maintenance(self, price: Decimal) -> Decimal:
        """Return the maintenance margin, in the margin coin; with less margin it is liquidated."""
        return self.size * MAINTENANCE * (Decimal(1) if self.spec.inverse else price)


def funding(spec: ContractSpec, leg: str, size: Decimal, mark: Decimal) -> Decimal:
    """Return a leg's funding at a settlement, in the margin coin, positive received: a long pays a positive rate."""
    value = size if spec.inverse else size * mark
    return (value * (-FUNDING_RATE if leg == "long" else FUNDING_RATE)).quantize(PLACES)


@dataclass
class FuturesBook:
    """Balances by margin coin, holdings, orders (resting, and `done`), fills and triggers of one product type.

    `ids` is the account's source of ids, shared by its product types. `assets` back the margin besides the margin coin,
    by coin; with any, the account is in multi-assets mode. `isolated` names the symbols with isolated margin.
    `movements` are funding and transfers since `begun_ms`; `make_past_movements` makes the earlier ones, oldest first,
    at the first read. Earlier ones change no balance: `started_with` is the balance after them.
    """

    product_type: str
    mode: str
    balances: dict[str, Decimal]
    ids: Identifiers
    leverage: int = 10
    holdings: dict[tuple[str, str], Holding] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    done: dict[str, Order] = field(default_factory=dict)
    fills: list[dict[str, Any]] = field(default_factory=list)
    triggers: list[dict[str, Any]] = field(default_factory=list)
    live_triggers: dict[str, dict[str, Any]] = field(default_factory=dict)
    assets: dict[str, Decimal] = field(default_factory=dict)
    isolated: frozenset[str] = frozenset()
    started_with: dict[str, Decimal] = field(init=False)
    movements: list[Movement] = field(default_factory=list)
    make_past_movements: Callable[[], list[Movement]] | None = None
    begun_ms: int = 0
    keeps_attached: bool = False
    """Whether closing orders and stops stay after the position is closed; the live exchange reportedly cancels them."""
    closed: list[tuple[str, Holding]] = field(default_factory=list)
    """The positions that were closed, oldest first, each with the position mode at that time."""
    _closed_rows: list[dict[str, Any]] = field(default_factory=list)
    _closed_ids: Identifiers = field(default_factory=Identifiers)
    _bills: Bills = field(default_factory=Bills)

    def __post_init__(self) -> None:
        self.started_with = dict(self.balances)

    @cached_property
    def past_movements(self) -> list[Movement]:
        return [] if self.make_past_movements is None else self.make_past_movements()

    @property
    def asset_mode(self) -> str:
        return "union" if self.assets else "single"

    def use_assets(self, coin: str, balance: Decimal, assets: dict[str, Decimal]) -> None:
        """Switch the account to multi-assets mode before any trade: a balance of the coin, and assets."""
        self.balances[coin] = self.started_with[coin] = balance
        self.assets = assets

    def margin_mode(self, symbol: str) -> str:
        return "isolated" if symbol in self.isolated else "crossed"

    def held(self, symbol: str, leg: str) -> Holding | None:
        return self.holdings.get((symbol, leg))

    def net(self, symbol: str) -> Holding | None:
        return self.held(symbol, "long") or self.held(symbol, "short")

    def new_order(
        self,
        spec: ContractSpec,
        side: str,
        trade_side: str,
        size: Decimal,
        now_ms: int,
        *,
        price: Decimal | None = None,
        source: str = "normal",
        enter_point: str = "API",
    ) -> Order:
        """Make an unfilled order under the account's present settings; a market order without a price."""
        order_id = self.ids.at(now_ms)
        return Order(
            spec=spec,
            order_id=order_id,
            client_oid=f"c{order_id[-15:]}",
            side=side,
            trade_side=trade_side,
            order_type="market" if price is None else "limit",
            size=size,
            price=price,
            mode=self.mode,
            leverage=self.leverage,
            margin_mode=self.margin_mode(spec.symbol),
            created_ms=now_ms,
            changed_ms=now_ms,
            source=source,
            enter_point=enter_point,
        )

    def order(self, symbol: str, order_id: str | None, client_oid: str | None) -> Order | None:
        """Return the newest order of a symbol, resting or done, by its id, or else by its clientOid."""
        for order in (*self.orders.values(), *reversed(self.done.values())):
            same = order.order_id == order_id if order_id else order.client_oid == client_oid
            if same and order.spec.symbol == symbol:
                return order
        return None

    def resting_size(self, symbol: str, leg: str, *, closes: bool) -> Decimal:
        """Return the size of a leg that resting orders would close, or would add."""
        of_symbol = (order for order in self.orders.values() if order.spec.symbol == symbol)
        chosen = (order for order in of_symbol if order.closes == closes and order.works_on(leg))
        return sum((order.size - order.filled for order in chosen), ZERO)

    def execute(self, order: Order, size: Decimal, price: Decimal, now_ms: int, *, maker: bool = False) -> None:
        """Fill a size of an order: holding, balance, order and fills change together."""
        spec = order.spec
        fee = -size * (MAKER_FEE if maker else TAKER_FEE)
        fee = (fee if spec.inverse else fee * price).quantize(PLACES)
        against = "short" if order.buys else "long"
        was_held = self.held(spec.symbol, against) is not None
        profit = self._apply(order, size, price, fee, now_ms)
        self.balances[spec.margin_coin] += profit + fee
        order.filled += size
        order.quote_filled += size * price
        order.fee += fee
        order.profit += profit
        order.changed_ms = now_ms
        order.state = "filled" if order.filled == order.size else "partially_filled"
        if order.state == "filled":
            self.orders.pop(order.order_id, None)
            self.done[order.order_id] = order
        if was_held and self.held(spec.symbol, against) is None and not self.keeps_attached:
            self._cancel_attached(spec.symbol, against, now_ms)
        self.fills.append(self._fill_row(order, size, price, now_ms, profit=profit, fee=fee, maker=maker))

    def cancel(self, order: Order, now_ms: int) -> None:
        order.state, order.changed_ms = "canceled", now_ms
        del self.orders[order.order_id]
        self.done[order.order_id] = order

    def _cancel_attached(self, symbol: str, leg: str, now_ms: int) -> None:
        """Cancel the orders and stops that can only close a leg, once the leg is closed."""
        for order in list(self.orders.values()):
            if order.spec.symbol == symbol and order.closes and order.works_on(leg):
                self.cancel(order, now_ms)
        for row in list(self.live_triggers.values()):
            if row["symbol"] == symbol and row["planType"] in PROFIT_LOSS and closed_leg(row) == leg:
                del self.live_triggers[row["orderId"]]
                self.triggers.append(ended(row, "cancelled", now_ms))

    def settle_funding(self, marks: Mapping[str, Decimal], time_ms: int) -> None:
        """Pay and charge the funding of all holdings at a settlement."""
        for held in self.holdings.values():
            spec, leg = held.spec, held.leg
            amount = funding(spec, leg, held.size, marks[spec.symbol])
            held.funding.append(amount)
            self.balances[spec.margin_coin] += amount
            self.movements.append(Movement(time_ms, FUNDING, spec.margin_coin, amount, spec.symbol, leg))

    def funding_paid(self, held: Holding) -> Decimal | None:
        """Return the funding of a holding from its opening to its close or now; None before the first settlement."""
        amounts = list(held.funding)
        if held.opened_ms < self.begun_ms:
            leg, past, time_of = (held.spec.symbol, held.leg), self.past_movements, attrgetter("time_ms")
            end = None if held.size else bisect_right(past, held.changed_ms, key=time_of)
            while_held = past[bisect_left(past, held.opened_ms, key=time_of) : end]
            amounts += [movement.amount for movement in while_held if (movement.symbol, movement.leg) == leg]
        return sum(amounts, ZERO) if amounts else None

    def bills(self) -> list[dict[str, Any]]:
        """Return all bills, oldest first: fills, funding and transfers, each with the balance after it."""
        balances = dict(self.started_with)
        for movement in self.past_movements:
            balances[movement.coin] -= movement.amount
        return self._bills.rows(balances, self.past_movements, self.fills, self.movements)

    def closed_positions(self) -> list[dict[str, Any]]:
        """Return a row of each closed position, oldest first."""
        self._closed_rows += [self._closed_row(mode, held) for mode, held in self.closed[len(self._closed_rows) :]]
        return self._closed_rows

    def _closed_row(self, mode: str, held: Holding) -> dict[str, Any]:
        funding_paid = self.funding_paid(held) or ZERO
        return {
            "positionId": self._closed_ids.at(held.changed_ms),
            "marginCoin": held.spec.margin_coin,
            "symbol": held.spec.symbol,
            "holdSide": held.leg,
            "posMode": mode,
            "openAvgPrice": booked_amount(held.open_value / held.opened),
            "closeAvgPrice": booked_amount(held.close_value / held.closed),
            "openTotalPos": text(held.opened),
            "closeTotalPos": text(held.closed),
            "pnl": text(held.realised),
            "netProfit": text(held.realised + funding_paid - held.fees),
            "totalFunding": text(funding_paid),
            "openFee": text(held.open_fee),
            "closeFee": text(held.close_fee),
            "ctime": str(held.opened_ms),
            "utime": str(held.changed_ms),
        }

    def _apply(self, order: Order, size: Decimal, price: Decimal, fee: Decimal, now_ms: int) -> Decimal:
        """Change the holdings and return the profit. Raises ValueError, before any change, for an unavailable size."""
        symbol = order.spec.symbol
        against, along = ("short", "long") if order.buys else ("long", "short")
        held = self.held(symbol, against) if order.closes or order.mode == ONE_WAY else None
        closing = min(size, held.size) if held else ZERO
        left = order.size - order.filled
        if size > left or (order.closes and size > closing):
            raise ValueError(f"{size} of order {order.order_id}: {left} of it is left, it can close {closing}")
        # A fill that closes one side and opens the other splits its fee by size.
        close_fee = (fee * closing / size).quantize(PLACES)
        profit = self._close(order, against, closing, price, close_fee, now_ms) if closing else ZERO
        if size > closing:
            self._open(order, along, size - closing, price, fee - close_fee, now_ms)
        return profit

    def _open(self, order: Order, leg: str, size: Decimal, price: Decimal, fee: Decimal, now_ms: int) -> None:
        spec, held = order.spec, self.held(order.spec.symbol, leg)
        if held is None:
            isolated = spec.symbol in self.isolated
            held = Holding(spec, leg, size, price, order.leverage, now_ms, now_ms, isolated=isolated)
            self.holdings[spec.symbol, leg] = held
        else:
            # Sizes are in the base coin even if the contract is inverse: with another weight, adding to a position at
            # the mark would change its profit.
            total = held.size + size
            held.entry = (held.entry * held.size + price * size) / total
            held.size, held.changed_ms = total, now_ms
        held.opened += size
        held.open_value += size * price
        held.open_fee += fee

    def _close(self, order: Order, leg: str, size: Decimal, price: Decimal, fee: Decimal, now_ms: int) -> Decimal:
        held = self.holdings[order.spec.symbol, leg]
        profit = held.profit(price, size).quantize(PLACES)
        held.size -= size
        held.realised += profit
        held.closed += size
        held.close_value += size * price
        held.close_fee += fee
        held.changed_ms = now_ms
        if not held.size:
            del self.holdings[order.spec.symbol, leg]
            self.closed.append((order.mode, held))
        return profit

    def _fill_row(
        self, order: Order, size: Decimal, price: Decimal, now_ms: int, *, profit: Decimal, fee: Decimal, maker: bool
    ) -> dict[str, Any]:
        trade_side = order.trade_side
        if order.mode == ONE_WAY and not trade_side.endswith("_single"):
            trade_side = f"{order.side}_single"
        return {
            "tradeId": self.ids.at(now_ms),
            "symbol": order.spec.symbol,
            "orderId": order.order_id,
            "price": text(price),
            "baseVolume": text(size),
            "feeDetail": [
                {"deduction": "no", "feeCoin": order.spec.margin_coin, "totalDeductionFee": "0", "totalFee": text(fee)}
            ],
            "side": order.side,
            "quoteVolume": text((size * price).quantize(_QUOTE_PLACES, ROUND_DOWN)),
            "profit": text(profit),
            "enterPointSource": order.enter_point,
            "tradeSide": trade_side,
            "posMode": order.mode,
            "tradeScope": "maker" if maker else "taker",
            "cTime": str(now_ms),
        }

    def unrealised(self, coin: str, marks: Mapping[str, Decimal], *, isolated: bool | None = None) -> Decimal:
        """Return the unrealised profit in a margin coin, of all holdings or of those in one margin mode."""
        return sum((held.profit(marks[held.spec.symbol]) for held in self._of(coin, isolated)), ZERO)

    def margin_held(self, coin: str, *, isolated: bool | None = None) -> Decimal:
        """Return the margin of all holdings in a coin, or of those in one margin mode."""
        return sum((held.margin() for held in self._of(coin, isolated)), ZERO)

    def maintenance(self, coin: str, marks: Mapping[str, Decimal], *, isolated: bool | None = None) -> Decimal:
        """Return the margin below which holdings are liquidated."""
        return sum((held.maintenance(marks[held.spec.symbol]) for held in self._of(coin, isolated)), ZERO)

    def _of(self, coin: str, isolated: bool | None) -> Iterator[Holding]:
        for held in self.holdings.values():
            if held.spec.margin_coin == coin and isolated in (None, held.isolated):
                yield held

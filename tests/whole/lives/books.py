"""What the second exchange holds: legs, orders and fills of one account, and how each of them looked before."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Generic, TypeVar

from tests.whole.lives.clocks import START_MS
from tests.whole.lives.plan import Leg, Matching

ZERO = Decimal(0)
PRICES = {"BTCUSDT": Decimal(60000), "ETHUSDT": Decimal(3000)}


@dataclass(frozen=True, slots=True)
class Holding:
    """Both legs of a symbol; in one-way mode one of them is zero."""

    long: Decimal = ZERO
    short: Decimal = ZERO

    @property
    def net(self) -> Decimal:
        """Long minus short."""
        return self.long - self.short


Value = TypeVar("Value")


class Past(Generic[Value]):
    """A value and what it was at every earlier time."""

    def __init__(self, value: Value) -> None:
        self._times = [-1.0]
        self._values = [value]

    @property
    def now(self) -> Value:
        """The value now."""
        return self._values[-1]

    def at(self, time_s: float) -> Value:
        """The value as it was then."""
        return self._values[max(0, bisect_right(self._times, time_s) - 1)]

    def between(self, first_s: float, last_s: float) -> list[Value]:
        """Every value it had from one time to another."""
        first = max(0, bisect_right(self._times, first_s) - 1)
        last = max(0, bisect_right(self._times, last_s) - 1)
        return self._values[first : last + 1]

    def set(self, value: Value) -> None:
        """From now on it is this."""
        self._times.append(asyncio.get_running_loop().time())
        self._values.append(value)

    @property
    def changed_at_s(self) -> float:
        """When it changed last."""
        return self._times[-1]


@dataclass(frozen=True, slots=True)
class Fill:
    """One fill as the exchange tells it, and when it begins to tell it."""

    trade_id: int
    symbol: str
    order_id: str
    at_s: float
    visible_at_s: float
    side: str
    trade_side: str
    size: Decimal


@dataclass(frozen=True, slots=True)
class OrderState:
    """How far a reversal has come: its state as the interface names it, and what each half has filled."""

    state: str
    closed: Decimal = ZERO
    opened: Decimal = ZERO


@dataclass(slots=True)
class Reversal:
    """A reversal the exchange has taken. Sizes in the base coin, times in seconds of the life."""

    order_id: str
    close_order_id: str
    open_order_id: str
    client_oid: str
    symbol: str
    reverses_long: bool
    hedge: bool
    to_close: Decimal
    to_open: Decimal
    has_size: bool
    matching: Matching
    accepted_at_s: float
    past: Past[OrderState] = field(default_factory=lambda: Past(OrderState("live")))

    @property
    def order_ids(self) -> frozenset[str]:
        """The ids of every order that it is carried out by."""
        return frozenset((self.order_id, self.close_order_id, self.open_order_id))

    @property
    def is_over(self) -> bool:
        """Whether nothing of it can fill any more."""
        return self.past.now.state in ("filled", "canceled")


class Books:
    """One account of USDT-margined futures. Everything happens at the time of the running loop."""

    def __init__(self, *, hedge: bool, fill_lag_s: Callable[[], float]) -> None:
        self.hedge = hedge
        self.held: dict[str, Past[Holding]] = {symbol: Past(Holding()) for symbol in PRICES}
        self.fills: list[Fill] = []
        self.reversals: dict[str, Reversal] = {}
        self.others: dict[str, Fill] = {}
        """Orders of others by their id; each is one fill."""
        self._fill_lag_s = fill_lag_s
        self._trade_ids = 1_500_000_000_000_000_000
        self._order_ids = 1_400_000_000_000_000_000

    def new_order_id(self) -> str:
        """An id of nineteen digits that grows."""
        self._order_ids += 7
        return str(self._order_ids)

    def open_before(self, symbol: str, long: Decimal, short: Decimal) -> None:
        """What was held before the life began, with the fills that prove it from a flat start."""
        for is_long, size in ((True, long), (False, short)):
            if size:
                self.trade(symbol, is_long, size, self.new_order_id(), at_s=-3600.0)

    def stranger_trades(self, symbol: str, is_long: bool, size: Decimal) -> None:
        """Somebody else of the account opens or closes."""
        holding = self.held[symbol].now
        if not self.hedge and (holding.short if is_long else holding.long):
            is_long, size = not is_long, -abs(size)
            holding = self.held[symbol].now
        leg = holding.long if is_long else holding.short
        size = max(size, -leg)
        if size:
            order_id = self.new_order_id()
            self.trade(symbol, is_long, size, order_id)
            self.others[order_id] = self.fills[-1]

    def trade(self, symbol: str, is_long: bool, size: Decimal, order_id: str, *, at_s: float | None = None) -> None:
        """Fill now, or at an earlier time: a leg grows by the size, or shrinks where it is negative."""
        holding = self.held[symbol].now
        now_s = asyncio.get_running_loop().time() if at_s is None else at_s
        opens = size > 0
        if not self.hedge:
            net = holding.net + (size if is_long else -size)
            changed = Holding(max(net, ZERO), max(-net, ZERO))
        elif is_long:
            changed = Holding(holding.long + size, holding.short)
        else:
            changed = Holding(holding.long, holding.short + size)
        assert changed.long >= 0 and changed.short >= 0
        if at_s is None:
            self.held[symbol].set(changed)
        else:
            self.held[symbol] = Past(changed)
        self._trade_ids += 11
        if self.hedge:
            side, trade_side = ("buy" if is_long else "sell"), ("open" if opens else "close")
        else:
            side = "buy" if is_long == opens else "sell"
            trade_side = f"{side}_single"
        lag_s = self._fill_lag_s() if at_s is None else 0.0
        self.fills.append(Fill(self._trade_ids, symbol, order_id, now_s, now_s + lag_s, side, trade_side, abs(size)))

    def summed_between(self, symbol: str, first_s: float, last_s: float) -> list[Holding]:
        """Every sum of the symbol's fills that the exchange showed at a time, from one time to another."""
        moments = {first_s, *(fill.visible_at_s for fill in self.fills if first_s < fill.visible_at_s <= last_s)}
        return [self._sum(symbol, moment) for moment in sorted(moments)]

    def _sum(self, symbol: str, shown_by_s: float) -> Holding:
        long = short = net = ZERO
        for fill in self.fills:
            if fill.symbol != symbol or fill.visible_at_s > shown_by_s:
                continue
            size = fill.size if fill.trade_side == "open" else -fill.size
            if not self.hedge:
                net += fill.size if fill.side == "buy" else -fill.size
            elif fill.side == "buy":
                long = max(ZERO, long + size)
            else:
                short = max(ZERO, short + size)
        return Holding(long, short) if self.hedge else Holding(max(net, ZERO), max(-net, ZERO))

    def accept(self, reversal: Reversal) -> None:
        """Take a reversal and let it fill as its matching says."""
        self.reversals[reversal.client_oid] = reversal
        loop = asyncio.get_running_loop()
        for step in reversal.matching.fills:
            loop.call_later(step.after_s, self._fill, reversal, step.leg, step.share)
        loop.call_later(reversal.matching.ends_after_s, self._end, reversal)

    def _fill(self, reversal: Reversal, leg: Leg, share: Decimal) -> None:
        if reversal.is_over:
            return
        now = reversal.past.now
        closes = leg is Leg.CLOSE
        whole, done = (reversal.to_close, now.closed) if closes else (reversal.to_open, now.opened)
        size = _rounded(whole * share) if share != 1 else whole - done
        is_long = reversal.reverses_long if closes else not reversal.reverses_long
        if closes:
            holding = self.held[reversal.symbol].now
            size = min(size, holding.long if is_long else holding.short)
        size = min(size, whole - done) if share <= 1 else size
        if size > 0:
            order_id = reversal.close_order_id if closes else reversal.open_order_id
            self.trade(reversal.symbol, is_long, -size if closes else size, order_id)
        closed, opened = (now.closed + size, now.opened) if closes else (now.closed, now.opened + size)
        whole_done = closed >= reversal.to_close and opened >= reversal.to_open
        any_done = closed > 0 or opened > 0
        state = "filled" if whole_done else "partially_filled" if any_done else "live"
        reversal.past.set(OrderState(state, closed, opened))

    def _end(self, reversal: Reversal) -> None:
        if not reversal.is_over:
            now = reversal.past.now
            reversal.past.set(OrderState("canceled", now.closed, now.opened))

    def end_all(self) -> None:
        """Cancel the rest of every reversal: the weather is over."""
        for reversal in self.reversals.values():
            self._end(reversal)


def _rounded(size: Decimal) -> Decimal:
    return size.quantize(Decimal("0.001"))


def trade_time_ms(at_s: float) -> int:
    """The time of a fill by the matching engine's own clock, which does not step."""
    return START_MS + round(at_s * 1000)

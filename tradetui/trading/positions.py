"""Positions, reported or summed from fills, and the holdings and position mode of a symbol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, Final, NamedTuple

from tradetui.trading.contract_math import ZERO, exact_digits, profit
from tradetui.trading.fill_terms import terms_of
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.wire.enums import MarginMode, PositionMode, PositionSide, known
from tradetui.wire.models.futures import FuturesFill, PendingOrder
from tradetui.wire.models.futures_accounts import ReportedPosition
from tradetui.wire.product_types import ProductType

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT
_ABSURDLY_FAR: Final = 100
"""A liquidation price beyond this many times the mark is the exchange's way of saying that there is none."""


class StopState(StrEnum):
    """Whether the stop-losses of a position are known."""

    NOT_READ = "not read"
    UNREADABLE = "unreadable"
    NONE = "none"
    TRAILING = "trailing"
    WAITING = "waiting"


class PositionMarket(NamedTuple):
    """Market figures of a position beside its size.

    `stop` is the trigger price of the stop-loss that fires first, if one waits; a trailing stop alone has none.
    `stop_part` is the fraction of the position that its stops close together, None if they close all of it, or none
    waits. `mark_is_live` is whether the position's mark is the market's, and not the last fill's price. `funding_rate`
    is the fraction of the value that a LONG pays at `next_funding`.
    """

    stop_state: StopState = StopState.NOT_READ
    stop: Decimal | None = None
    stop_part: Decimal | None = None
    funding_rate: Decimal | None = None
    next_funding: datetime | None = None
    mark_is_live: bool = False


NO_MARKET: Final = PositionMarket()


@dataclass(frozen=True, slots=True)
class Reported:
    """The exchange reported the position (all-position), which proves it."""

    proven: ClassVar[bool] = True

    def __str__(self) -> str:
        return "reported"


@dataclass(frozen=True, slots=True)
class FromFills:
    """Summed from fills: since when, whether the start is proven flat, and whether opening fills are proven missing.

    `unknown_word` is an unknown term of a fill that the sum leaves out. `contradicted` is set if a reversal has shown
    that the account's fills do not name the leg they move.
    """

    since: datetime | None = None
    proven_flat: bool = False
    opens_missing: bool = False
    unknown_word: str = ""
    contradicted: bool = False

    @property
    def proven(self) -> bool:
        """Whether the sum is the position: it starts flat and nothing contradicts it."""
        return self.proven_flat and not (self.opens_missing or self.unknown_word or self.contradicted)

    def __str__(self) -> str:
        return "from fills" if self.proven else "from fills?"


Source = Reported | FromFills


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """One leg of a symbol. Sizes are in the base coin; `leg` is the side, None if not known.

    Profit and fees are in the margin coin. None is unknown. `shown_leg` is the side as received. `market` has figures
    of market and waiting stops, if they were read.
    """

    product_type: ProductType
    symbol: str
    leg: PositionSide | None
    size: Decimal
    mode: PositionMode | None
    source: Source
    entry: Decimal | None = None
    mark: Decimal | None = None
    unrealised: Decimal | None = None
    realised: Decimal | None = None
    liquidation: Decimal | None = None
    leverage: Decimal | None = None
    margin_mode: str | None = None
    margin_coin: str | None = None
    locked: Decimal | None = None
    take_profit: Decimal | None = None
    stop_loss: Decimal | None = None
    margin_ratio: Decimal | None = None
    market: PositionMarket = NO_MARKET
    record: ReportedPosition | None = field(default=None, repr=False, compare=False)

    @property
    def row_id(self) -> str:
        """The row's identity: product type, symbol and leg."""
        return f"{self.product_type}|{self.symbol}|{self.shown_leg}"

    @property
    def is_long(self) -> bool | None:
        """Whether it gains when the price rises; None if the side is not known."""
        return None if self.leg is None else self.leg is LONG

    @property
    def summed_since(self) -> datetime | None:
        """The time since which fills were summed; None if the position was reported or the sum has no limit."""
        return self.source.since if isinstance(self.source, FromFills) else None

    @property
    def shown_leg(self) -> str:
        """`long`, `short`, or the unknown word received instead."""
        if self.leg is None and self.record is not None:
            return self.record.hold_side
        return str(self.leg or "")

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """The unknown terms that describe the position, with their fields, as received."""
        unknown = []
        if self.record is not None:
            if self.leg is None:
                unknown.append(f"holdSide {self.record.hold_side!r}")
            if self.record.pos_mode is not None and self.mode is None:
                unknown.append(f"posMode {self.record.pos_mode!r}")
            if self.size < ZERO:
                unknown.append(f"total {exact_digits(self.size)}")
        if isinstance(self.source, FromFills) and self.source.unknown_word:
            unknown.append(self.source.unknown_word)
        return tuple(unknown)

    @property
    def margin_unclear(self) -> bool:
        """Whether its margin mode is unknown, so that nothing shows which assets back it."""
        return bool(self.margin_mode) and MarginMode.parse(self.margin_mode) is None

    @property
    def has_no_liquidation(self) -> bool:
        """Whether the liquidation price means that there is none: it is negative, zero or absurdly far."""
        return self.liquidation is not None and sensible_liquidation(self.liquidation, self.mark) is None

    @property
    def liquidation_distance(self) -> Decimal | None:
        """The distance from mark to liquidation as a fraction of the mark; None if either is missing."""
        if self.liquidation is None or not self.mark or self.has_no_liquidation:
            return None
        return abs(self.mark - self.liquidation) / self.mark


def sensible_liquidation(price: Decimal | None, mark: Decimal | None) -> Decimal | None:
    """Return a liquidation price; None if it is at or below zero or absurdly far, which means that there is none."""
    if price is None or price <= ZERO or (mark is not None and price > mark * _ABSURDLY_FAR):
        return None
    return price


def reported(product_type: ProductType, row: ReportedPosition) -> Position:
    return Position(
        product_type=product_type,
        symbol=row.symbol.upper(),
        leg=row.leg,
        size=row.total,
        mode=row.position_mode,
        source=Reported(),
        entry=row.open_price_avg,
        mark=row.mark_price,
        unrealised=row.unrealized_pl,
        realised=row.achieved_profits,
        liquidation=row.liquidation_price,
        leverage=row.leverage,
        margin_mode=row.margin.value if row.margin else row.margin_mode,
        margin_coin=row.margin_coin,
        locked=row.locked,
        take_profit=row.take_profit or None,
        stop_loss=row.stop_loss or None,
        margin_ratio=row.margin_ratio,
        record=row,
    )


def holdings_of(positions: Iterable[Position], product_type: ProductType, symbol: str, mode: PositionMode) -> Holdings:
    """Return the holdings of a symbol in the shape of the mode, without positions of unknown side."""
    sizes = {LONG: ZERO, SHORT: ZERO}
    for position in positions:
        if position.product_type is product_type and position.symbol == symbol.upper() and position.leg is not None:
            sizes[position.leg] += position.size
    if mode is PositionMode.HEDGE:
        return Legs(sizes[LONG], sizes[SHORT])
    return Net(sizes[LONG] - sizes[SHORT])


def doubt_of_held(positions: Iterable[Position], symbol: str) -> str:
    """Return why a symbol's positions do not give its holdings: an unknown term, or too many rows; empty if they do.

    Hedge mode has one row per leg, one-way mode one row per symbol.
    """
    of_symbol = [position for position in positions if position.symbol == symbol.upper()]
    unknown = dict.fromkeys(word for position in of_symbol for word in position.unknown_fields)
    if unknown:
        return f"{', '.join(unknown)} is not known"
    one_way = any(position.mode is PositionMode.ONE_WAY for position in of_symbol)
    rows = Counter(None if one_way else position.leg for position in of_symbol)
    if any(count > 1 for count in rows.values()):
        legs = ", ".join(f"{position.shown_leg.upper()} {exact_digits(position.size)}" for position in of_symbol)
        return f"the exchange reports more rows of it than {'one-way' if one_way else 'hedge'} mode has ({legs})"
    return ""


def unproven_since(positions: Iterable[Position], symbol: str) -> list[datetime | None]:
    """Return the start times of those of a symbol's legs whose sum of fills may be incomplete."""
    sources = [position.source for position in positions if position.symbol == symbol.upper()]
    return [source.since for source in sources if isinstance(source, FromFills) and not source.proven]


def mode_of(
    positions: Iterable[Position],
    orders: Iterable[PendingOrder],
    newest_fill: FuturesFill | None,
    account_word: str | None = None,
) -> tuple[PositionMode | None, str]:
    """Return the position mode and its source, or None and why it is not known.

    Reported positions come first, then pending orders, then the newest fill, then the account itself. A level that
    contradicts itself or has an unknown term gives no mode.
    """
    held, fills = tuple(positions), [newest_fill] if newest_fill is not None else []
    # If the exchange reports no positions, they are sums of fills, and so is their mode.
    summed = bool(held) and all(position.record is None for position in held)
    for origin, reported_modes in (
        ("the fills" if summed else "the positions", [_mode_word(position) for position in held]),
        ("the pending orders", [order.pos_mode for order in orders]),
        ("the newest fill", [fill.pos_mode or terms_of(fill).mode for fill in fills]),
        ("the account", [account_word]),
    ):
        modes = {word: known(PositionMode, word) for word in reported_modes if word}
        for word, mode in modes.items():
            if mode is None:
                return None, f"{origin} name the mode {word!r}, which is not known"
        if len(set(modes.values())) > 1:
            return None, f"{origin} name both position modes"
        if modes:
            return next(iter(modes.values())), origin
    return None, "no position, order or fill shows the position mode"


def _mode_word(position: Position) -> str | None:
    if position.record is not None and position.record.pos_mode:
        return position.record.pos_mode
    return str(position.mode) if position.mode is not None else None


def with_mark(position: Position, mark: Decimal | None) -> Position:
    """Return the position with a mark price and the resulting profit; unchanged profit if either is unknown."""
    if mark is None or position.entry is None or position.is_long is None:
        return replace(position, mark=mark)
    gained = profit(position.product_type, long=position.is_long, size=position.size, entry=position.entry, price=mark)
    return replace(position, mark=mark, unrealised=gained)

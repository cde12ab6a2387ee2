"""Figures of a position from market and stops: value, return, liquidation distance, nearest stop, next funding.

Money is in the margin coin's dollars (USDT, USDC), counted as USDT; amounts of coin-margined positions are converted at
the mark. None is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.trading.contract_math import ZERO
from tradetui.trading.positions import PositionMarket, StopState
from tradetui.trading.trigger_orders import stops_of_leg

if TYPE_CHECKING:
    from tradetui.trading.positions import Position
    from tradetui.wire.models.futures import TriggerOrder


def nearest_stop(position: Position, stops: Iterable[TriggerOrder]) -> PositionMarket:
    """Return the figures of a position's waiting stops; those of its market are left out."""
    of_symbol = (stop for stop in stops if stop.symbol.upper() == position.symbol)
    waiting = stops_of_leg(of_symbol, position.leg, position.mode, position.stop_loss)
    nearest, stopped = waiting.nearest, waiting.stopped_size(position.size)
    if nearest is None and not waiting.trailing:
        return PositionMarket(StopState.NONE)
    part = stopped / position.size if stopped < position.size else None
    return PositionMarket(StopState.TRAILING if nearest is None else StopState.WAITING, nearest and nearest.price, part)


def value_of(position: Position) -> Decimal | None:
    """Return size times mark; None without a mark, and for a negative size, which has no meaning."""
    return None if position.mark is None or position.size < ZERO else position.size * position.mark


def in_dollars(position: Position, amount: Decimal | None) -> Decimal | None:
    """Convert an amount in the position's margin coin to dollars."""
    if amount is None or not position.product_type.is_coin_margined:
        return amount
    return None if position.mark is None else amount * position.mark


def return_on_margin(position: Position) -> Decimal | None:
    """Return the unrealised profit as a fraction of the opening margin: size times entry, divided by the leverage.

    For a coin-margined position both are in the coin, where the margin is the size divided by the leverage.
    """
    if position.unrealised is None or not position.leverage or not position.size:
        return None
    if position.product_type.is_coin_margined:
        return position.unrealised * position.leverage / position.size
    if not position.entry:
        return None
    return position.unrealised * position.leverage / (position.size * position.entry)


def signed_liquidation_distance(position: Position) -> Decimal | None:
    """Return the distance from mark to liquidation as a fraction of the mark; negative if liquidation is below."""
    distance = position.liquidation_distance
    if distance is None or position.liquidation is None or position.mark is None:
        return None
    return distance if position.liquidation > position.mark else -distance


def next_funding_payment(position: Position) -> Decimal | None:
    """Return the next funding payment in dollars; negative if it is paid."""
    value, rate = value_of(position), position.market.funding_rate
    if value is None or rate is None or position.is_long is None:
        return None
    return -rate * value if position.is_long else rate * value


class Exposure(NamedTuple):
    """Value of the LONGs and of the SHORTs in dollars; `unknown` counts positions of unknown value or side."""

    long: Decimal = ZERO
    short: Decimal = ZERO
    unknown: int = 0

    @property
    def gross(self) -> Decimal:
        """LONGs plus SHORTs."""
        return self.long + self.short

    @property
    def net(self) -> Decimal:
        """LONGs minus SHORTs."""
        return self.long - self.short


NO_EXPOSURE: Final = Exposure()


def exposure_of(positions: Iterable[Position]) -> Exposure:
    long = short = ZERO
    unknown = 0
    for position in positions:
        value = value_of(position)
        if value is None or position.is_long is None:
            unknown += 1
        elif position.is_long:
            long += value
        else:
            short += value
    return Exposure(long, short, unknown)

"""Margin ratio and liquidation price of a margin account, from maintenance margin and equity.

The exchange does not document whether the two legs of a hedged contract both count towards maintenance margin or only
the larger one. A caller applies each way of counting to what is held now and keeps those that meet the reported price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from typing import Final

from tradetui.trading.contract_math import ZERO

MEETS_WITHIN: Final = Decimal("0.01")
"""A formula is not used for afterwards if its price for the current position is further from the reported one."""
_CLEARLY_FURTHER: Final = Decimal("0.0002")
_ABSURD: Final = 100
"""A liquidation price beyond so many times the mark is the exchange's way of saying that there is none."""


class LegCounting(Enum):
    """The legs of a contract that count towards maintenance margin."""

    LARGER_LEG = auto()
    BOTH_LEGS = auto()


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg of a contract: its size in the base coin, never negative, and its entry price."""

    is_long: bool
    size: Decimal
    entry: Decimal

    @property
    def signed(self) -> Decimal:
        """The size, negative for a short leg."""
        return self.size if self.is_long else -self.size


@dataclass(frozen=True, slots=True)
class MarginedContract:
    """The legs of one contract that share their margin, with what stands behind them at the mark.

    `backing` is equity in the margin coin: the account's for crossed margin, the position's own for isolated.
    `maintenance_elsewhere` is what other contracts need of it. `rate` is the maintenance margin rate, a fraction.
    """

    legs: tuple[Leg, ...]
    mark: Decimal
    backing: Decimal
    maintenance_elsewhere: Decimal
    rate: Decimal
    inverse: bool
    counting: LegCounting

    @property
    def maintenance(self) -> Decimal:
        return self.maintenance_elsewhere + self.maintenance_at(self.mark)

    @property
    def ratio(self) -> Decimal | None:
        """Maintenance margin as a part of what stands behind it, a fraction; None where nothing does."""
        return self.maintenance / self.backing if self.backing > ZERO else None

    def maintenance_at(self, price: Decimal) -> Decimal:
        return self.rate * counted_size(self.legs, self.counting) * (1 if self.inverse else price)

    def backing_at(self, price: Decimal) -> Decimal:
        """The backing at another price of this contract, all other prices unchanged."""
        net, cost = self._net_and_cost()
        if self.inverse:
            return self.backing + cost / self.mark - cost / price
        return self.backing + net * (price - self.mark)

    def liquidation_price(self) -> Decimal | None:
        """The price at which what stands behind it equals maintenance margin; None where no sensible price does."""
        net, cost = self._net_and_cost()
        counted = counted_size(self.legs, self.counting)
        if self.inverse:
            above = cost
            below = self.backing + cost / self.mark - self.maintenance_elsewhere - self.rate * counted
        else:
            above = self.maintenance_elsewhere - self.backing + net * self.mark
            below = net - self.rate * counted
        return sensible_liquidation(above / below if below else None, self.mark)

    def _net_and_cost(self) -> tuple[Decimal, Decimal]:
        return sum((leg.signed for leg in self.legs), ZERO), sum((leg.signed * leg.entry for leg in self.legs), ZERO)


def counted_size(legs: Iterable[Leg], counting: LegCounting) -> Decimal:
    """The size of a contract's legs that counts towards maintenance margin, in the base coin."""
    sizes: dict[bool, Decimal] = {True: ZERO, False: ZERO}
    for leg in legs:
        sizes[leg.is_long] += leg.size
    return max(sizes.values()) if counting is LegCounting.LARGER_LEG else sum(sizes.values(), ZERO)


def sensible_liquidation(price: Decimal | None, mark: Decimal) -> Decimal | None:
    """A liquidation price; None for one at or below zero or absurdly far, which both mean that there is none."""
    if price is None or price <= ZERO or price > mark * _ABSURD:
        return None
    return price


def best_meeting(estimates: Sequence[Decimal | None], reported: Decimal | None) -> list[int]:
    """The indices of the formulas whose price for the current position is within one per cent of the reported one.

    One that is clearly further from it than the best is left out: the two marks are moments apart.
    """
    distances = [_distance(estimate, reported) for estimate in estimates]
    best = min(distances, default=Decimal(1))
    return [
        index
        for index, distance in enumerate(distances)
        if distance <= MEETS_WITHIN and distance - best <= _CLEARLY_FURTHER
    ]


def _distance(estimate: Decimal | None, reported: Decimal | None) -> Decimal:
    if estimate is None or reported is None:
        return ZERO if estimate is reported else Decimal(1)
    return abs(estimate - reported) / reported


def nearest_to(mark: Decimal, prices: Sequence[Decimal | None]) -> Decimal | None:
    """The liquidation price nearest to the mark, the most careful one; None where there is none."""
    return min((price for price in prices if price is not None), key=lambda price: abs(price - mark), default=None)

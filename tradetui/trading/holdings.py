"""Holdings of one symbol: two legs in hedge mode, one signed net in one-way mode; and a leg summed from fills."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from tradetui.trading.contract_math import ZERO, exact_digits, grouped_digits, profit
from tradetui.wire.enums import PositionSide
from tradetui.wire.product_types import ProductType


def side_text(net: Decimal, least_places: int = 0) -> str:
    """Format a signed size with at least `least_places` decimals: `SHORT 8` for -8, `flat` for zero."""
    return f"{'LONG' if net > ZERO else 'SHORT'} {grouped_digits(abs(net), least_places)}" if net else "flat"


@dataclass(frozen=True, slots=True)
class Legs:
    """Hedge mode: a long and a short leg side by side, each a size in the base coin, never negative."""

    long: Decimal = ZERO
    short: Decimal = ZERO

    def size_of(self, leg: PositionSide) -> Decimal:
        return self.long if leg is PositionSide.LONG else self.short

    def moved(self, leg: PositionSide, size: Decimal) -> Legs:
        """Return the legs after adding a size to one of them; a negative size is taken off."""
        return replace(self, **{leg: self.size_of(leg) + size})

    def as_json(self) -> dict[str, str]:
        """Return `{"long", "short"}` with decimals as text."""
        return {"long": exact_digits(self.long), "short": exact_digits(self.short)}

    def __str__(self) -> str:
        return " and ".join(side_text(net) for net in (self.long, -self.short) if net) or "flat"


@dataclass(frozen=True, slots=True)
class Net:
    """One-way mode: one signed net, positive for long."""

    net: Decimal = ZERO

    def size_of(self, leg: PositionSide) -> Decimal:
        return max(self.net if leg is PositionSide.LONG else -self.net, ZERO)

    def moved(self, leg: PositionSide, size: Decimal) -> Net:
        """Return the net after adding a size on one side; a negative size is taken off."""
        return Net(self.net + (size if leg is PositionSide.LONG else -size))

    def as_json(self) -> dict[str, str]:
        """Return `{"net"}` with the decimal as text."""
        return {"net": exact_digits(self.net)}

    def __str__(self) -> str:
        return side_text(self.net)


Holdings = Legs | Net


@dataclass(slots=True)
class HeldLeg:
    """A leg summed fill by fill. `value` is the size (base coin) times the average entry."""

    long: bool
    size: Decimal = ZERO
    value: Decimal = ZERO

    @property
    def entry(self) -> Decimal | None:
        """The average entry, weighted by size; None if nothing is held."""
        return self.value / self.size if self.size else None

    def open(self, size: Decimal, value: Decimal) -> None:
        self.size += size
        self.value += value

    def close(self, size: Decimal) -> None:
        """Take a size off at the average entry, at most the whole leg."""
        if size < self.size:
            self.value -= self.value * size / self.size
            self.size -= size
        else:
            self.size = self.value = ZERO

    def profit_of(self, product_type: ProductType, size: Decimal, price: Decimal) -> Decimal:
        """Return the profit of closing a size at a price, in the margin coin; zero if nothing is held."""
        entry = self.entry
        return ZERO if entry is None else profit(product_type, long=self.long, size=size, entry=entry, price=price)

"""Holdings of one symbol: two legs in hedge mode, one signed net in one-way mode."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from tradetui.trading.contract_math import ZERO, exact_digits, grouped_digits
from tradetui.wire.enums import PositionSide


def side_text(net: Decimal, least_places: int = 0) -> str:
    """A signed size as side and size, `SHORT 8` for -8, with at least so many decimals; `flat` for zero."""
    return f"{'LONG' if net > ZERO else 'SHORT'} {grouped_digits(abs(net), least_places)}" if net else "flat"


@dataclass(frozen=True, slots=True)
class Legs:
    """Hedge mode: a long and a short leg side by side, each a size of the base coin, never negative."""

    long: Decimal = ZERO
    short: Decimal = ZERO

    def size_of(self, leg: PositionSide) -> Decimal:
        return self.long if leg is PositionSide.LONG else self.short

    def moved(self, leg: PositionSide, size: Decimal) -> Legs:
        """The legs after adding a size to one of them; below zero it is taken off."""
        return replace(self, **{leg: self.size_of(leg) + size})

    def as_json(self) -> dict[str, str]:
        """`{"long", "short"}` with decimals as text."""
        return {"long": exact_digits(self.long), "short": exact_digits(self.short)}

    def __str__(self) -> str:
        return " and ".join(side_text(net) for net in (self.long, -self.short) if net) or "flat"


@dataclass(frozen=True, slots=True)
class Net:
    """One-way mode: one signed net, above zero long."""

    net: Decimal = ZERO

    def size_of(self, leg: PositionSide) -> Decimal:
        return max(self.net if leg is PositionSide.LONG else -self.net, ZERO)

    def moved(self, leg: PositionSide, size: Decimal) -> Net:
        """The net after adding a size on one side; below zero it is taken off."""
        return Net(self.net + (size if leg is PositionSide.LONG else -size))

    def as_json(self) -> dict[str, str]:
        """`{"net"}` with the decimal as text."""
        return {"net": exact_digits(self.net)}

    def __str__(self) -> str:
        return side_text(self.net)


Holdings = Legs | Net

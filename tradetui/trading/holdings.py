"""What is held of one symbol: two legs in hedge mode, one signed net in one-way mode."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from tradetui.trading.contract_math import ZERO, exact_digits, grouped_digits


@dataclass(frozen=True, slots=True)
class Legs:
    """Hedge mode: a long and a short leg side by side, each a size of the base coin, never negative."""

    long: Decimal = ZERO
    short: Decimal = ZERO

    def moved(self, *, long: Decimal = ZERO, short: Decimal = ZERO) -> Legs:
        """The legs after adding to each."""
        return replace(self, long=self.long + long, short=self.short + short)

    def as_json(self) -> dict[str, str]:
        """`{"long", "short"}` with decimals as text."""
        return {"long": exact_digits(self.long), "short": exact_digits(self.short)}

    def __str__(self) -> str:
        parts = [
            f"LONG {grouped_digits(self.long)}" if self.long else "",
            f"SHORT {grouped_digits(self.short)}" if self.short else "",
        ]
        return " and ".join(filter(None, parts)) or "flat"


@dataclass(frozen=True, slots=True)
class Net:
    """One-way mode: one signed net, above zero long."""

    net: Decimal = ZERO

    def as_json(self) -> dict[str, str]:
        """`{"net"}` with the decimal as text."""
        return {"net": exact_digits(self.net)}

    def __str__(self) -> str:
        if not self.net:
            return "flat"
        return f"{'LONG' if self.net > 0 else 'SHORT'} {grouped_digits(abs(self.net))}"


Holdings = Legs | Net

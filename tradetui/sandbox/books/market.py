"""A moving market: seeded price paths in fixed steps, the same for a seed however time is cut."""

from __future__ import annotations

import random
from decimal import Decimal

from tradetui.sandbox.books.contracts import CONTRACTS, ContractSpec

STEP_MS = 250


class Market:
    """Last prices of every contract; `step` moves them all by one step of time."""

    def __init__(self, seed: int) -> None:
        self._chance = {symbol: random.Random(f"{seed}/{symbol}") for symbol in CONTRACTS}
        self._units = {spec.symbol: int(spec.start_price / spec.tick) for spec in CONTRACTS.values()}
        self._home = dict(self._units)

    def step(self) -> None:
        for spec in CONTRACTS.values():
            chance = self._chance[spec.symbol]
            units, home = self._units[spec.symbol], self._home[spec.symbol]
            # A pull of a thousandth of the distance keeps a day's path within a few per cent of where it began.
            pull = (home - units) // 1000
            self._units[spec.symbol] = max(1, units + pull + chance.randint(-spec.swing, spec.swing))

    def last(self, symbol: str) -> Decimal:
        return self._units[symbol] * CONTRACTS[symbol].tick

    def set_price(self, symbol: str, price: Decimal) -> None:
        spec = CONTRACTS[symbol]
        self._units[symbol] = self._home[symbol] = max(1, int(spec.price(price) / spec.tick))

    def spread(self, spec: ContractSpec) -> tuple[Decimal, Decimal]:
        """Best bid and best ask: one price step to either side."""
        last = self.last(spec.symbol)
        return last - spec.tick, last + spec.tick

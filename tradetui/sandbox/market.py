"""A moving market: seeded price paths in fixed ticks, the same for a seed however time is cut."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Final

from tradetui.sandbox.contracts import CONTRACTS, ContractSpec

TICK_MS: Final = 250
_FRACTION: Final = 16
"""Prices are kept in ticks times two to this power, so that slow pulls are not lost in rounding."""
_HOMEWARD: Final = 18
"""Each step pulls by distance / 2^18: over a day the path stays within a few per cent of where it began."""
_MOOD_STEPS: Final = 240
"""A symbol keeps its drift and restlessness for about a minute."""


class _Path:
    """The price of one contract, in ticks."""

    __slots__ = ("_at", "_chance", "_drift", "_home", "_mark", "_mood_left", "_reach", "_swing", "last", "mark")

    def __init__(self, spec: ContractSpec, seed: int) -> None:
        # Contracts of one coin move alike, as arbitrage would have it.
        self._chance = random.Random(f"{seed}/{spec.base}")
        self._swing = spec.swing << _FRACTION
        self._mood_left = 0
        self._drift = 0
        self._reach = self._swing
        self.put(int(spec.start_price / spec.tick))

    def put(self, units: int) -> None:
        self._at = self._home = self._mark = max(1, units) << _FRACTION
        self.last = self.mark = max(1, units)

    def step(self) -> None:
        if not self._mood_left:
            self._mood_left = _MOOD_STEPS
            self._drift = int((self._chance.random() - 0.5) * 0.06 * self._swing)
            lively = self._chance.random()
            self._reach = self._swing * (3 if lively < 0.06 else 1) // (2 if lively > 0.6 else 1)
        self._mood_left -= 1
        noise = int((self._chance.random() * 2 - 1) * self._reach)
        self._at += noise + self._drift + ((self._home - self._at) >> _HOMEWARD)
        if self._at < 1 << _FRACTION:
            self._at = 1 << _FRACTION
        self._mark += (self._at - self._mark) >> 3
        self.last, self.mark = self._at >> _FRACTION, max(1, self._mark >> _FRACTION)


class Market:
    """Last and mark prices of every contract; `step` moves them all by one tick of time.

    What is set by hand is remembered with the step it was set at, so that `from_start` can give the same path again.
    """

    def __init__(self, seed: int, set_by_hand: list[tuple[int, str, int]] | None = None) -> None:
        self.seed = seed
        self.steps = 0
        self._paths = {symbol: _Path(spec, seed) for symbol, spec in CONTRACTS.items()}
        self._set_by_hand = set_by_hand if set_by_hand is not None else []
        self._replayed = 0
        self._follows = set_by_hand is not None
        if self._follows:
            self._follow()

    def from_start(self) -> Market:
        """The same market as it was at the beginning, to be stepped again."""
        return Market(self.seed, self._set_by_hand)

    def step(self) -> None:
        for path in self._paths.values():
            path.step()
        self.steps += 1
        if self._follows:
            self._follow()

    def _follow(self) -> None:
        while self._replayed < len(self._set_by_hand) and self._set_by_hand[self._replayed][0] <= self.steps:
            _, symbol, units = self._set_by_hand[self._replayed]
            self._paths[symbol].put(units)
            self._replayed += 1

    def last(self, symbol: str) -> Decimal:
        """The price of the last trade."""
        return self._paths[symbol].last * CONTRACTS[symbol].tick

    def mark(self, symbol: str) -> Decimal:
        """The mark price: the last price, smoothed over about two seconds."""
        return self._paths[symbol].mark * CONTRACTS[symbol].tick

    def last_ticks(self, symbol: str) -> int:
        """The last price in ticks."""
        return self._paths[symbol].last

    def set_price(self, symbol: str, price: Decimal) -> None:
        """Put last and mark price somewhere; the path goes on from there."""
        spec = CONTRACTS[symbol]
        units = max(1, int(spec.price(price) / spec.tick))
        self._paths[symbol].put(units)
        self._set_by_hand.append((self.steps, symbol, units))

    def move(self, symbol: str, percent: Decimal) -> None:
        """Move last and mark price by so many per cent at once."""
        self.set_price(symbol, self.last(symbol) * (1 + percent / 100))

    def spread(self, spec: ContractSpec) -> tuple[Decimal, Decimal]:
        """Best bid and best ask: one price step to either side."""
        last = self.last(spec.symbol)
        return max(spec.tick, last - spec.tick), last + spec.tick

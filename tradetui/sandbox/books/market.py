"""The contracts of the embedded exchange, with their rules for prices and sizes, and their price paths.

A price path is seeded and moves in fixed steps: a seed gives the same path, however time is divided.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Final

TAKER_FEE: Final = Decimal("0.0006")
MAKER_FEE: Final = Decimal("0.0002")
MAINTENANCE: Final = Decimal("0.005")
FUNDING_RATE: Final = Decimal("0.0001")
FUNDING_HOURS: Final = 8
FUNDING_INTERVAL_MS: Final = FUNDING_HOURS * 3_600_000
STEP_MS: Final = 250
COLLATERAL_WEIGHT: Final[Mapping[str, Decimal]] = {"BTC": Decimal("0.95"), "ETH": Decimal("0.9")}
"""The fraction of an asset's value that counts in multi-assets mode; dollars count in full."""


@dataclass(frozen=True)
class ContractSpec:
    """One contract. Prices are multiples of `tick`, sizes multiples of `step` in the base coin."""

    symbol: str
    product_type: str
    base: str
    quote: str
    margin_coin: str
    price_place: int
    volume_place: int
    start_price: Decimal
    swing: int
    max_leverage: int = 100

    @cached_property
    def tick(self) -> Decimal:
        return Decimal(1).scaleb(-self.price_place)

    @cached_property
    def step(self) -> Decimal:
        return Decimal(1).scaleb(-self.volume_place)

    @cached_property
    def inverse(self) -> bool:
        """Whether profit and margin are in the base coin."""
        return self.product_type.endswith("COIN-FUTURES")

    def price(self, value: Decimal) -> Decimal:
        return value.quantize(self.tick, ROUND_HALF_UP)

    def size(self, value: Decimal) -> Decimal:
        return value.quantize(self.step, ROUND_DOWN)


def _spec(symbol: str, product: str, places: tuple[int, int], price: str, swing: int) -> ContractSpec:
    suffix, quote = {
        "USDT-FUTURES": ("USDT", "USDT"),
        "COIN-FUTURES": ("USD", "USD"),
        "USDC-FUTURES": ("PERP", "USDC"),
    }[product]
    base = symbol.removesuffix(suffix)
    margin = base if product == "COIN-FUTURES" else quote
    return ContractSpec(symbol, product, base, quote, margin, places[0], places[1], Decimal(price), swing)


CONTRACTS: Final[Mapping[str, ContractSpec]] = {
    spec.symbol: spec
    for spec in (
        _spec("BTCUSDT", "USDT-FUTURES", (1, 4), "84210.5", 60),
        _spec("ETHUSDT", "USDT-FUTURES", (2, 2), "2945.30", 40),
        _spec("SOLUSDT", "USDT-FUTURES", (3, 1), "138.420", 45),
        _spec("XRPUSDT", "USDT-FUTURES", (4, 0), "2.1475", 6),
        _spec("DOGEUSDT", "USDT-FUTURES", (5, 0), "0.15342", 5),
        _spec("BTCUSD", "COIN-FUTURES", (1, 4), "84195.0", 60),
        _spec("ETHUSD", "COIN-FUTURES", (2, 2), "2944.80", 40),
        _spec("BTCPERP", "USDC-FUTURES", (1, 4), "84188.0", 60),
        _spec("ETHPERP", "USDC-FUTURES", (2, 2), "2944.10", 40),
    )
}


class Market:
    """Last prices of every contract, which are also its mark prices; `step` moves them all by one step of time."""

    def __init__(self, seed: int) -> None:
        self._rng = {symbol: random.Random(f"{seed}/{symbol}") for symbol in CONTRACTS}
        self._units = {spec.symbol: int(spec.start_price / spec.tick) for spec in CONTRACTS.values()}
        self._home = dict(self._units)
        self._prices = {symbol: units * CONTRACTS[symbol].tick for symbol, units in self._units.items()}

    def step(self) -> None:
        for spec in CONTRACTS.values():
            rng = self._rng[spec.symbol]
            units, home = self._units[spec.symbol], self._home[spec.symbol]
            # A pull of a thousandth of the distance keeps a day's path within a few per cent of its start.
            pull = (home - units) // 1000
            self._move(spec, units + pull + rng.randint(-spec.swing, spec.swing))

    def last(self, symbol: str) -> Decimal:
        return self._prices[symbol]

    def marks(self) -> dict[str, Decimal]:
        return dict(self._prices)

    def set_price(self, symbol: str, price: Decimal) -> None:
        spec = CONTRACTS[symbol]
        self._move(spec, int(spec.price(price) / spec.tick))
        self._home[symbol] = self._units[symbol]

    def spread(self, spec: ContractSpec) -> tuple[Decimal, Decimal]:
        """Return best bid and best ask: one price step to either side."""
        last = self.last(spec.symbol)
        return last - spec.tick, last + spec.tick

    def _move(self, spec: ContractSpec, units: int) -> None:
        self._units[spec.symbol] = max(1, units)
        self._prices[spec.symbol] = self._units[spec.symbol] * spec.tick

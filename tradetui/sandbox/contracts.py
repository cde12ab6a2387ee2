"""The contracts the embedded exchange lists, with the rules each has for prices, sizes, fees and margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Final

MIN_VALUE: Final = Decimal(5)
"""Least value of an order, in the quote coin."""


@dataclass(frozen=True, slots=True)
class ContractSpec:
    """One contract. Prices are whole numbers of `tick`; sizes whole multiples of `step`, in the base coin.

    `swing` is how far the price may move in a quarter of a second, in ticks.
    """

    symbol: str
    product_type: str
    base: str
    quote: str
    margin_coin: str
    price_place: int
    volume_place: int
    start_price: Decimal
    swing: int
    step: Decimal
    min_size: Decimal
    max_leverage: int
    maintenance: Decimal
    taker_fee: Decimal
    maker_fee: Decimal
    tick: Decimal = field(init=False)
    inverse: bool = field(init=False)
    """Whether profit and margin are in the base coin."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tick", Decimal(1).scaleb(-self.price_place))
        object.__setattr__(self, "inverse", self.product_type == "COIN-FUTURES")

    def price(self, value: Decimal) -> Decimal:
        """A price that can be quoted, the nearest."""
        return value.quantize(self.tick, ROUND_HALF_UP)

    def size(self, value: Decimal) -> Decimal:
        """A size that can be traded, never more than the value."""
        return (value / self.step).to_integral_value(ROUND_DOWN) * self.step

    def value(self, size: Decimal, price: Decimal) -> Decimal:
        """What a size is worth in the margin coin."""
        return size if self.inverse else size * price


def _spec(
    symbol: str,
    product: str,
    places: tuple[int, int],
    price: str,
    swing: int,
    *,
    step: str = "",
    least: str = "",
    leverage: int = 100,
    maintenance: str = "0.005",
) -> ContractSpec:
    quote = {"USDT-FUTURES": "USDT", "COIN-FUTURES": "USD", "USDC-FUTURES": "USDC"}[product]
    base = symbol.removesuffix("PERP").removesuffix(quote)
    unit = Decimal(step) if step else Decimal(1).scaleb(-places[1])
    return ContractSpec(
        symbol,
        product,
        base,
        quote,
        base if product == "COIN-FUTURES" else quote,
        places[0],
        places[1],
        Decimal(price),
        swing,
        unit,
        Decimal(least) if least else unit,
        leverage,
        Decimal(maintenance),
        Decimal("0.0006"),
        Decimal("0.0002"),
    )


CONTRACTS: Final[Mapping[str, ContractSpec]] = {
    spec.symbol: spec
    for spec in (
        _spec("BTCUSDT", "USDT-FUTURES", (1, 4), "84210.5", 60, leverage=125, maintenance="0.004"),
        _spec("ETHUSDT", "USDT-FUTURES", (2, 2), "2945.30", 28, maintenance="0.005"),
        _spec("SOLUSDT", "USDT-FUTURES", (3, 1), "138.420", 16, leverage=75, maintenance="0.01"),
        _spec("XRPUSDT", "USDT-FUTURES", (4, 0), "2.1475", 3, leverage=75, maintenance="0.01"),
        _spec(
            "DOGEUSDT", "USDT-FUTURES", (5, 0), "0.15342", 2, step="5", least="50", leverage=75, maintenance="0.01"
        ),
        _spec("BTCUSD", "COIN-FUTURES", (1, 4), "84195.0", 60, leverage=125, maintenance="0.004"),
        _spec("ETHUSD", "COIN-FUTURES", (2, 2), "2944.80", 28),
        _spec("BTCPERP", "USDC-FUTURES", (1, 4), "84188.0", 60, leverage=125, maintenance="0.004"),
        _spec("ETHPERP", "USDC-FUTURES", (2, 2), "2944.10", 28),
    )
}
SPECS_OF: Final[Mapping[str, tuple[ContractSpec, ...]]] = {
    product: tuple(spec for spec in CONTRACTS.values() if spec.product_type == product)
    for product in ("USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES")
}
MARGIN_COINS: Final[Mapping[str, tuple[str, ...]]] = {
    product: tuple(dict.fromkeys(spec.margin_coin for spec in specs)) for product, specs in SPECS_OF.items()
}

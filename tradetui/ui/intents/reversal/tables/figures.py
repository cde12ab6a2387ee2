"""Figures of the reversal dialog as text. Sizes are exact; what was worked out carries `~`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.desk.reversal.preview import Preview
from tradetui.desk.tables.cells.number_format import MONEY_PLACES, UNKNOWN, decimals, number
from tradetui.trading.contract_math import exact_digits, is_dollar

_PLACES_OF_COINS: Final = 6
_LIQUIDATION_FIGURES: Final = 4


@dataclass(frozen=True, slots=True)
class Figures:
    """Writes prices with `price_places` decimals, or their own where None; sizes with at least theirs; money."""

    price_places: int | None
    margin_coin: str
    size_places: int = 0

    def size(self, amount: Decimal, *, signed: bool = False) -> str:
        """A size with every digit, and with the zeros of the contract's step."""
        exact = Decimal(exact_digits(amount))
        return number(exact, signed=signed, places=max(self.size_places, decimals(exact)) if exact else None)

    def price(self, price: Decimal | None, *, signed: bool = False) -> str:
        """A price, or a distance between two."""
        return number(price, signed=signed, places=self.price_places)

    def money(self, amount: Decimal | None, *, signed: bool = False) -> str:
        places = MONEY_PLACES if is_dollar(self.margin_coin) else _PLACES_OF_COINS
        return number(amount, signed=signed, places=places)


def figures_of(preview: Preview) -> Figures:
    """The figures of a preview's contract, with the most decimals that any of its prices has where it says nothing."""
    places = preview.contract.price_place if preview.contract is not None else None
    if places is None:
        prices = [order.price for order in preview.resting]
        prices += [leg.mark for leg in preview.positions if leg.symbol == preview.target.symbol]
        if preview.estimates is not None:
            prices.append(preview.estimates.costs.price)
        places = max((decimals(price.normalize()) for price in prices if price is not None), default=None)
    size_places = (preview.contract.volume_place if preview.contract is not None else None) or 0
    return Figures(places, preview.plan.params.margin_coin if preview.plan is not None else "", size_places)


def per_cent(part: Decimal | None, *, signed: bool = False, places: int = 2) -> str:
    """A fraction as per cent."""
    return UNKNOWN if part is None else f"{number(part * 100, signed=signed, places=places)} %"


def liquidation(price: Decimal) -> str:
    """A liquidation price of ours, to as many figures as it is worth."""
    exponent = price.adjusted() - _LIQUIDATION_FIGURES + 1
    rounded = price.quantize(Decimal((0, (1,), exponent)))
    return number(Decimal(f"{rounded:f}"))


def estimate(text: str) -> str:
    """The figure marked as worked out; what is not known stays as it is."""
    return text if text == UNKNOWN else f"~{text}"

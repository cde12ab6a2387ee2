"""How many decimals a symbol's prices and sizes have, as far as rows have shown: the most that were met."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from tradetui.desk.tables.cells.cell_format import Precision
from tradetui.desk.tables.cells.number_format import decimals

MOST_DECIMALS: Final = 18
"""Decimals that a contract may have; a figure with more says nothing about its contract."""


class SeenPrecisions:
    """The most decimals met, by symbol in capitals; `by_symbol` is another mapping whenever something was learned."""

    def __init__(self) -> None:
        self.by_symbol: Mapping[str, Precision] = MappingProxyType({})

    def see(self, figures: Iterable[tuple[str, Decimal | None, Decimal | None]], *, known: Container[str] = ()) -> bool:
        """Take in symbols with a price and a size, but those `known` otherwise; whether something was learned."""
        learned: dict[str, Precision] = {}
        for symbol, price, size in figures:
            symbol = symbol.upper()
            if symbol in known:
                continue
            before = learned.get(symbol) or self.by_symbol.get(symbol) or Precision()
            now = Precision(_most_decimals(before.price, price), _most_decimals(before.size, size))
            if now != before:
                learned[symbol] = now
        if learned:
            self.by_symbol = MappingProxyType({**self.by_symbol, **learned})
        return bool(learned)


def _most_decimals(most: int | None, figure: Decimal | None) -> int | None:
    places = None if figure is None else decimals(figure)
    return most if places is None or places > MOST_DECIMALS else max(most or 0, places)

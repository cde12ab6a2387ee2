"""The format of a table's cells: the zone of its times, the places of prices and sizes that rows have shown."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, tzinfo
from decimal import Decimal
from types import MappingProxyType
from typing import Final, NamedTuple

from tradetui.desk.tables.cells.number_format import decimals


class Precision(NamedTuple):
    """Decimals of a symbol's prices and of its sizes; None where unknown."""

    price: int | None = None
    size: int | None = None


UNKNOWN_PRECISION: Final = Precision()


@dataclass(frozen=True, slots=True)
class CellFormat:
    """The format of a cell's text beside its row.

    `precisions` are by symbol, `coin_places` the decimals of money by coin, both in capitals. `exact` shows every
    digit. `today` is the day in the zone: its moments show their time, others their day. `summed_day` is the day of the
    sums; None sums all there is. Export, copy, order and requests never depend on this.
    """

    zone: tzinfo = UTC
    precisions: Mapping[str, Precision] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    exact: bool = False
    coin_places: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    today: date | None = None
    summed_day: date | None = None

    def precision_of(self, symbol: str | None) -> Precision:
        return self.precisions.get((symbol or "").upper(), UNKNOWN_PRECISION)


DEFAULT_FORMAT: Final = CellFormat()
"""Times in UTC, figures rounded, no symbol's places known."""


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

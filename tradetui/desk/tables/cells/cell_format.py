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
    """The decimals of a symbol's prices and of its sizes; None where unknown."""

    price: int | None = None
    size: int | None = None


UNKNOWN_PRECISION: Final = Precision()


@dataclass(frozen=True, slots=True)
class CellFormat:
    """What the text of a cell depends on beside its row. Export, copy, order and requests never depend on it."""

    zone: tzinfo = UTC
    precisions: Mapping[str, Precision] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """By symbol in capitals."""
    exact: bool = False  # whether figures show every digit
    coin_places: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """The decimals of money, by coin in capitals."""
    today: date | None = None  # in `zone`: a moment of this day shows its time, one of another day its day
    summed_day: date | None = None  # the day that the sums are of; None where they are of all rows

    def precision_of(self, symbol: str | None) -> Precision:
        return self.precisions.get((symbol or "").upper(), UNKNOWN_PRECISION)


DEFAULT_FORMAT: Final = CellFormat()  # times in UTC, figures rounded, no symbol's decimals known
DECIMALS_LIMIT: Final = 18  # that a contract may have; a figure with more says nothing about its contract


class SeenPrecisions:
    """The precision of each symbol, as far as the figures of its rows have shown it."""

    def __init__(self) -> None:
        self.by_symbol: Mapping[str, Precision] = MappingProxyType({})
        """By symbol in capitals; it is never changed, but replaced when something was learned."""

    def see(self, figures: Iterable[tuple[str, Decimal | None, Decimal | None]], *, known: Container[str] = ()) -> bool:
        """Learn from symbols with a price and a size; returns whether something was learned.

        Symbols in `known`, in capitals, are passed over: their precision is known from elsewhere.
        """
        learned: dict[str, Precision] = {}
        for symbol, price, size in figures:
            symbol = symbol.upper()
            if symbol in known:
                continue
            before = learned.get(symbol) or self.by_symbol.get(symbol, UNKNOWN_PRECISION)
            now = Precision(_more_decimals(before.price, price), _more_decimals(before.size, size))
            if now != before:
                learned[symbol] = now
        if learned:
            self.by_symbol = MappingProxyType({**self.by_symbol, **learned})
        return bool(learned)


def _more_decimals(before: int | None, figure: Decimal | None) -> int | None:
    """The decimals known so far, or those of a figure where it has more and is within the limit."""
    places = None if figure is None else decimals(figure)
    return before if places is None or places > DECIMALS_LIMIT else max(before or 0, places)

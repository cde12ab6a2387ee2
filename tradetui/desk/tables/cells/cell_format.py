"""The format of a table's cells: the zone of its times, the places of prices and sizes that rows have shown.

Values as text: thousands apart, signs where profit is meant, `—` for unknown, `<0.01` for what rounds to nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from decimal import ROUND_HALF_EVEN, Context, Decimal
from types import MappingProxyType
from typing import Final, NamedTuple

UNKNOWN: Final = "—"
CONVERTED: Final = "~"
"""Before a figure that was worked out, or turned over from another coin."""
# Roomy enough that no figure the models let through is refused; what is beyond it is shown with its exponent.
_ROOMY: Final = Context(prec=200, rounding=ROUND_HALF_EVEN)
_LARGEST_EXPONENT: Final = 60
_MOST_PLACES: Final = 100
_TWO_DIGITS: Final = Context(prec=2, rounding=ROUND_HALF_EVEN)
MONEY_PLACES: Final = 2
"""Decimals of money in a dollar coin, and of per cent."""
FEE_PLACES: Final = 4
"""Decimals of a fee in a dollar coin that stands alone."""
LONGEST_DERIVED: Final = 8
"""Decimals of a figure that was worked out, where nothing says how many suit it."""
FEWEST_COIN_PLACES: Final = 4
MOST_COIN_PLACES: Final = 8
"""Decimals of money in another coin, if its price is unknown."""


def number(
    value: Decimal | int | None, *, signed: bool = False, places: int | None = None, at_most: int | None = None
) -> str:
    """A number with thousands apart and its own digits.

    `places` gives it exactly so many, and shows what would round to nothing as less than the last of them, `<0.01`;
    `at_most` cuts a derived figure's endless ones and idle zeros, and leaves a small one its first two digits.
    `signed` writes a plus before what is above zero.
    """
    if value is None:
        return UNKNOWN
    exact = Decimal(value)
    if not exact.is_finite() or abs(exact.adjusted()) > _LARGEST_EXPONENT:
        return str(value)
    if places is not None:
        rounded = _rounded(exact, places)
        if exact and not rounded:
            sign = "-" if exact < 0 else "+" if signed else ""
            return f"{sign}<{Decimal((0, (1,), -places)):f}"
        exact = rounded
    elif at_most is not None and decimals(exact) > at_most:
        # A small amount is not nothing: it keeps its first two digits.
        exact = (_rounded(exact, at_most) or _TWO_DIGITS.plus(exact)).normalize(_ROOMY)
    text = f"{exact:,f}"
    if not exact:
        return text.removeprefix("-")
    return f"+{text}" if signed and exact > 0 else text


def percent(value: Decimal | None) -> str:
    """A part as per cent with two places and the sign of per cent."""
    return UNKNOWN if value is None else f"{percent_points(value)} %"


def percent_points(value: Decimal | None, *, signed: bool = False, exact: bool = False) -> str:
    """A part in per cent with two places, or all where it is to be exact, for a column whose title says per cent."""
    if value is None:
        return UNKNOWN
    hundredfold = value.scaleb(2, _ROOMY) if value.is_finite() else value
    if exact:
        return number(hundredfold, signed=signed, at_most=LONGEST_DERIVED)
    return number(hundredfold, signed=signed, places=MONEY_PLACES)


def coin_places(price: Decimal) -> int:
    """Decimals of an amount of a coin that is worth so many dollars: the last of them is worth about a cent."""
    return min(MOST_COIN_PLACES, max(FEWEST_COIN_PLACES, price.adjusted() + 3))


def instant(value: datetime, zone: tzinfo) -> str:
    """A moment without loss: ISO 8601 with milliseconds and the zone's offset."""
    return value.astimezone(zone).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_or_unknown(value: object) -> str:
    return UNKNOWN if value is None or value == "" else str(value)


def decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal((0, (1,), -min(places, _MOST_PLACES))), context=_ROOMY)


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

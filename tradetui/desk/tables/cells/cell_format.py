"""The format of a table's cells: the time zone, and the decimals of prices and sizes seen in rows.

Values as text: thousands separated, signs for profits, `—` for unknown, `<0.01` for a value that would round to zero.
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
"""Marks a figure that was computed, or converted from another coin."""
# Large enough for every figure the models accept; a larger one is shown with its exponent.
_ROOMY: Final = Context(prec=200, rounding=ROUND_HALF_EVEN)
_LARGEST_EXPONENT: Final = 60
_MOST_PLACES: Final = 100
_TWO_DIGITS: Final = Context(prec=2, rounding=ROUND_HALF_EVEN)
MONEY_PLACES: Final = 2
"""Decimals of money in a dollar coin, and of percentages."""
FEE_PLACES: Final = 4
"""Decimals of a single fee in a dollar coin."""
LONGEST_DERIVED: Final = 8
"""Decimals of a computed figure without a known precision."""
FEWEST_COIN_PLACES: Final = 4
MOST_COIN_PLACES: Final = 8
"""Decimals of money in another coin whose price is unknown."""


def number(
    value: Decimal | int | None, *, signed: bool = False, places: int | None = None, at_most: int | None = None
) -> str:
    """Write a number with thousands separated and its own digits.

    `places` gives it exactly that many decimals, and writes a value that would round to zero as `<0.01`. `at_most` cuts
    the decimals of a computed figure and its trailing zeros, but keeps two significant digits. `signed` writes a plus
    before a positive number.
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
        # A small amount is not zero: it keeps two significant digits.
        exact = (_rounded(exact, at_most) or _TWO_DIGITS.plus(exact)).normalize(_ROOMY)
    text = f"{exact:,f}"
    if not exact:
        return text.removeprefix("-")
    return f"+{text}" if signed and exact > 0 else text


def percent(value: Decimal | None) -> str:
    """Write a fraction as per cent with two decimals and the sign %."""
    return UNKNOWN if value is None else f"{percent_points(value)} %"


def percent_points(value: Decimal | None, *, signed: bool = False, exact: bool = False) -> str:
    """Write a fraction in per cent with two decimals, or all if `exact`, for a column whose title says per cent."""
    if value is None:
        return UNKNOWN
    hundredfold = value.scaleb(2, _ROOMY) if value.is_finite() else value
    if exact:
        return number(hundredfold, signed=signed, at_most=LONGEST_DERIVED)
    return number(hundredfold, signed=signed, places=MONEY_PLACES)


def coin_places(price: Decimal) -> int:
    """Return the decimals of an amount of a coin at this dollar price: the last decimal is worth about a cent."""
    return min(MOST_COIN_PLACES, max(FEWEST_COIN_PLACES, price.adjusted() + 3))


def instant(value: datetime, zone: tzinfo) -> str:
    """Write a time without loss: ISO 8601 with milliseconds and the zone's offset."""
    return value.astimezone(zone).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_or_unknown(value: object) -> str:
    return UNKNOWN if value is None or value == "" else str(value)


def decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal((0, (1,), -min(places, _MOST_PLACES))), context=_ROOMY)


class Precision(NamedTuple):
    """The decimals of a symbol's prices and sizes; None if unknown."""

    price: int | None = None
    size: int | None = None


UNKNOWN_PRECISION: Final = Precision()


@dataclass(frozen=True, slots=True)
class CellFormat:
    """The settings that a cell's text depends on besides its row; export, copy, order and requests ignore them."""

    zone: tzinfo = UTC
    precisions: Mapping[str, Precision] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """By upper-case symbol."""
    exact: bool = False  # whether figures show every digit
    coin_places: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """The decimals of money, by upper-case coin."""
    today: date | None = None  # in `zone`: a time of this day shows its time, one of another day its date
    summed_day: date | None = None  # the day whose rows are summed; None for all rows

    def precision_of(self, symbol: str | None) -> Precision:
        return self.precisions.get((symbol or "").upper(), UNKNOWN_PRECISION)


DEFAULT_FORMAT: Final = CellFormat()  # times in UTC, figures rounded, no symbol's decimals known
DECIMALS_LIMIT: Final = 18  # the most a contract may have; a figure with more says nothing about its contract


class SeenPrecisions:
    """The precision of each symbol, as far as its rows have shown it."""

    def __init__(self) -> None:
        self.by_symbol: Mapping[str, Precision] = MappingProxyType({})
        """By upper-case symbol; it is never changed, but replaced."""

    def see(self, figures: Iterable[tuple[str, Decimal | None, Decimal | None]], *, known: Container[str] = ()) -> bool:
        """Learn from symbols with a price and a size; True if anything was learned.

        Symbols in `known` (upper case) are skipped: their precision is known from elsewhere.
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
    """Return the decimals known so far, or a figure's if it has more and is within the limit."""
    places = None if figure is None else decimals(figure)
    return before if places is None or places > DECIMALS_LIMIT else max(before or 0, places)

"""Values as text: every digit the exchange sent, thousands apart, signs where profit is meant, `—` for unknown."""

from __future__ import annotations

from datetime import datetime, tzinfo
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Final

from tradetui.wire.text.decimal_text import trimmed_digits

UNKNOWN: Final = "—"
# Roomy enough that no figure the models let through is refused; what is beyond it is shown with its exponent.
_ROOMY: Final = Context(prec=200, rounding=ROUND_HALF_EVEN)
_LARGEST_EXPONENT: Final = 60
_TWO_DIGITS: Final = Context(prec=2, rounding=ROUND_HALF_EVEN)


def number(
    value: Decimal | int | None, *, signed: bool = False, places: int | None = None, at_most: int | None = None
) -> str:
    """A number with thousands apart and its own digits.

    `places` gives it exactly so many, `at_most` cuts a derived figure's endless ones and idle zeros; neither makes
    nothing of something. `signed` writes a plus before what is above zero.
    """
    if value is None:
        return UNKNOWN
    exact = Decimal(value)
    if not exact.is_finite() or abs(exact.adjusted()) > _LARGEST_EXPONENT:
        return str(value)
    if places is not None:
        exact = _rounded(exact, places)
    elif at_most is not None and decimals(exact) > at_most:
        exact = _rounded(exact, at_most)
        exact = (
            exact.quantize(Decimal(1), context=_ROOMY)
            if exact == exact.to_integral_value()
            else exact.normalize(_ROOMY)
        )
    text = _grouped(trimmed_digits(exact))
    if not exact:
        return text.removeprefix("-")
    return f"+{text}" if signed and exact > 0 else text


def percent(value: Decimal | None) -> str:
    """A part as per cent with two places."""
    if value is None:
        return UNKNOWN
    hundredfold = value.scaleb(2, _ROOMY) if value.is_finite() else value
    return f"{number(hundredfold, places=2)}%"


def moment(value: datetime | None, zone: tzinfo) -> str:
    """Month, day and time to the second in a zone."""
    return UNKNOWN if value is None else value.astimezone(zone).strftime("%m-%d %H:%M:%S")


def instant(value: datetime, zone: tzinfo) -> str:
    """A moment without loss: ISO 8601 with milliseconds and the zone's offset."""
    return value.astimezone(zone).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_as_given(value: object) -> str:
    """Text as received, or the mark of what is not given."""
    return UNKNOWN if value is None or value == "" else str(value)


def decimals(value: Decimal) -> int:
    """How many decimals a number was written with."""
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _rounded(value: Decimal, places: int) -> Decimal:
    rounded = value.quantize(Decimal((0, (1,), -places)), context=_ROOMY)
    # A small amount is not nothing: it keeps its first two digits.
    return rounded if rounded or not value else _TWO_DIGITS.plus(value)


def _grouped(text: str) -> str:
    sign = "-" if text.startswith("-") else ""
    whole, point, part = text.removeprefix("-").partition(".")
    return f"{sign}{int(whole):,}{point}{part}"

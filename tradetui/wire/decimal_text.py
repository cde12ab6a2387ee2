"""Exact text of decimals: typed, sent in a request, or shown in a cell."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Final

# Beyond this many decimals a number is shown with its exponent: "1E+999999999" must not become a gigabyte of zeros.
_LONGEST: Final = 100


def typed_number(text: str) -> Decimal | None:
    """Parse a typed finite number; None if it is not one.

    Python ignores an underscore, which is a typing error for the decimal point: `0_1` must not become 1.
    """
    if "_" in text or not text.isascii():
        return None
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def trimmed_digits(number: Decimal) -> str:
    """Write the number in digits without an exponent, with its trailing zeros."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _LONGEST:
        return str(number)
    return format(number, "f")

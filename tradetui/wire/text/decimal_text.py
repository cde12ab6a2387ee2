"""Exact text of decimals: what goes into a request and what stands in a cell."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

# Beyond this many places a number is shown with its exponent: "1E+999999999" must not become a gigabyte of zeros.
_LONGEST: Final = 100


def trimmed_digits(number: Decimal) -> str:
    """The number in digits without an exponent, trailing zeros kept: `plain(Decimal(text)) == text` for plain text."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _LONGEST:
        return str(number)
    return format(number, "f")

"""Numbers as the exchange books and writes them."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

ZERO: Final = Decimal(0)
PLACES: Final = Decimal("0.00000001")
"""Sums of a coin are booked to eight places."""


def text(value: Decimal) -> str:
    """A number as the interface writes it: no exponent, no idle zeros."""
    if not value:
        return "0"
    plain = str(value)
    if "E" in plain:
        plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def amount(value: Decimal) -> str:
    """A sum of a coin as text, to eight places."""
    return text(value.quantize(PLACES))

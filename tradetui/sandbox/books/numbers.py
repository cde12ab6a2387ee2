"""Numbers as the exchange books and writes them, and the ids it issues."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

ZERO: Final = Decimal(0)
PLACES: Final = Decimal("0.00000001")
"""Amounts of a coin are booked to eight decimals."""


def text(value: Decimal) -> str:
    """Write a number as the interface does: no exponent, no trailing zeros."""
    if not value:
        return "0"
    plain = str(value)
    if "E" in plain:
        plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def booked_amount(value: Decimal) -> str:
    """Write an amount of a coin to eight decimals."""
    return text(value.quantize(PLACES))


_EPOCH_MS = 1_436_000_000_000
_ROOM = 22
"""Low bits of an id below its time: two to this power ids fit into one millisecond."""


class Identifiers:
    """The one source of an account's ids, for times in any order: no id is issued twice."""

    def __init__(self) -> None:
        self._issued_counts: dict[int, int] = {}

    def at(self, now_ms: int) -> str:
        """Return a new id, above every id of an earlier time and every earlier id of this time."""
        issued_count = self._issued_counts.get(now_ms, 0)
        self._issued_counts[now_ms] = issued_count + 1
        return str(((now_ms - _EPOCH_MS) << _ROOM) + issued_count)

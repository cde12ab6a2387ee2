"""Numbers as the exchange books and writes them, and the ids it issues."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

ZERO: Final = Decimal(0)
PLACES: Final = Decimal("0.00000001")
"""Sums of a coin are booked to eight places."""


def text(value: Decimal) -> str:
    """A number as the interface writes it: no exponent, no trailing zeros."""
    if not value:
        return "0"
    plain = str(value)
    if "E" in plain:
        plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def booked_amount(value: Decimal) -> str:
    """A sum of a coin as text, to eight places."""
    return text(value.quantize(PLACES))


_EPOCH_MS = 1_436_000_000_000
_ROOM = 22
"""Bits of an id below its moment: as many ids (as a power of two) fit into one millisecond."""


class Identifiers:
    """The one source of an account's ids, for moments in any order: none is ever issued twice."""

    def __init__(self) -> None:
        self._issued_counts: dict[int, int] = {}

    def at(self, now_ms: int) -> str:
        """A new id, above every id of an earlier moment and every earlier one of this moment."""
        issued_count = self._issued_counts.get(now_ms, 0)
        self._issued_counts[now_ms] = issued_count + 1
        return str(((now_ms - _EPOCH_MS) << _ROOM) + issued_count)

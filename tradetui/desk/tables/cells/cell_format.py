"""How the cells of a table are written: the zone of its times, the places of its prices and sizes, exact or rounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, tzinfo
from types import MappingProxyType
from typing import Final, NamedTuple


class Precision(NamedTuple):
    """Decimals of a symbol's prices and of its sizes; None where unknown."""

    price: int | None = None
    size: int | None = None


UNKNOWN_PRECISION: Final = Precision()


@dataclass(frozen=True, slots=True)
class CellFormat:
    """What the text of a cell depends on beside its row.

    `precisions` are by symbol, `coin_places` the decimals of money by coin, both in capitals. `exact` shows every
    digit. `today` is the day in the zone: its moments show their time, others their day. `summed_day` is the day that
    sums are of; None sums all there is. What is exported, copied, sorted by and sent never depends on this.
    """

    zone: tzinfo = UTC
    precisions: Mapping[str, Precision] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    exact: bool = False
    coin_places: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    today: date | None = None
    summed_day: date | None = None

    def precision_of(self, symbol: str | None) -> Precision:
        """The decimals of a symbol's prices and sizes."""
        return self.precisions.get((symbol or "").upper(), UNKNOWN_PRECISION)


DEFAULT_FORMAT: Final = CellFormat()
"""Times in UTC, figures rounded, no symbol's places known."""

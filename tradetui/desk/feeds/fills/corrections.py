"""Fills of one product type that came again with other figures, and those whose figures keep changing.

The latest figures of such a fill count. But each correction makes sums over fills start anew, so a fill that keeps
changing waits until its figures are steady.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from tradetui.desk.tables.rows.product_row import ProductRow, time_of
from tradetui.exchange.clock import Clock
from tradetui.wire.enums import TradeSide
from tradetui.wire.enums import known as known_word
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.text import counted

MOST_CORRECTIONS: Final = 3
"""If a fill's figures change more often, the last ones stay, and nothing that depends on it is trusted."""
STEADY_S: Final = 30.0
"""Figures count again after they have not changed for this long; shorter than the overlap in which a fill is reread."""

_Rows = Mapping[str, ProductRow[FuturesFill]]


class Corrections:
    """Counts how often the figures of a fill changed, by row id."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: dict[str, int] = {}
        self._unsteady: dict[str, tuple[FuturesFill, float]] = {}

    @property
    def unsteady(self) -> dict[str, str]:
        """By symbol, the id of a fill whose figures keep changing."""
        return {fill.symbol.upper(): fill.trade_id for fill, _ in self._unsteady.values()}

    def sentence(self, rows: _Rows) -> str:
        """Describe which of these fills came again with other figures; empty if none did."""
        if self._unsteady:
            return "; ".join(map(unsteady_sentence, self.unsteady.values()))
        ids = [rows[row_id].record.trade_id for row_id in self._counts if row_id in rows]
        return f"{counted(len(ids), 'fill')} corrected by the exchange, last {ids[-1]}" if ids else ""

    def watch(self, known: ProductRow[FuturesFill], row: ProductRow[FuturesFill]) -> None:
        """Start to count the changes of a fill if its figures differ from the known ones."""
        if known is not row and known.record.effect_key != row.record.effect_key:
            self._counts.setdefault(row.row_id, 0)

    def accept(self, known: ProductRow[FuturesFill] | None, row: ProductRow[FuturesFill]) -> bool:
        """Count a row's change; return whether the row is news that counts. One change too many does not count."""
        if known is None:
            return True
        if row.row_id in self._unsteady and not self._steadied(row):
            return False
        if known is row or known.record.effect_key == row.record.effect_key:
            return known is not row
        self._counts[row.row_id] += 1
        if self._counts[row.row_id] <= MOST_CORRECTIONS:
            return True
        self._unsteady[row.row_id] = row.record, self._clock.monotonic()
        return False

    def release_old(self, latest: _Rows, reread_since: datetime) -> Sequence[FuturesFill]:
        """Drop unsteady fills that are too old to be reread, and return them; their last figures count once steady."""
        now = self._clock.monotonic()
        ended = [
            row_id
            for row_id, (fill, since) in self._unsteady.items()
            if row_id not in latest and time_of(fill) < reread_since and now - since >= STEADY_S
        ]
        for row_id in ended:
            self._counts.pop(row_id, None)
        return [self._unsteady.pop(row_id)[0] for row_id in ended]

    def _steadied(self, row: ProductRow[FuturesFill]) -> bool:
        """Return whether an unsteady fill has kept its figures long enough, and count it again then."""
        (fill, since), now = self._unsteady[row.row_id], self._clock.monotonic()
        if fill.effect_key != row.record.effect_key:
            self._unsteady[row.row_id] = row.record, now
        elif now - since >= STEADY_S:
            del self._unsteady[row.row_id]
            self._counts[row.row_id] = 0
            return True
        return False


def halves(known: ProductRow[FuturesFill], row: ProductRow[FuturesFill]) -> list[ProductRow[FuturesFill]]:
    """Return the row that came under a known id.

    If one of both opens and the other closes, return both with distinct ids.
    """
    fills = known.record, row.record
    trade_sides = {known_word(TradeSide, fill.trade_side) for fill in fills}
    if trade_sides != {TradeSide.OPEN, TradeSide.CLOSE} or fills[0].order_id != fills[1].order_id:
        return [row]
    rows = FuturesFill.with_distinct_ids([fill.received for fill in fills])
    return [ProductRow(row.product_type, FuturesFill.from_row(received)) for received in rows]


def unsteady_sentence(trade_id: str) -> str:
    steady = f"after {STEADY_S:.0f} s without a change, or with the next start"
    return f"the figures of fill {trade_id} keep changing; they count again {steady}"

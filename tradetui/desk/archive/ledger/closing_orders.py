"""Closing orders: profit and own fees of each order that closed something, counted in the quarter of its last fill."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from tradetui.desk.archive.ledger.fill_sequence import Instant, SequencedFill
from tradetui.desk.archive.ledger.quarter_figures import ChangedQuarters
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.periods import quarter_of
from tradetui.trading.results.result_sums import ResultSums
from tradetui.trading.results.trips import Closing

_SINCE = "product_type = ? AND symbol = ? AND leg = ? AND last_time >= ? AND (last_time, last_ordinal) > (?, ?)"
_FIELDS = "coin, first_time, first_ordinal, last_time, last_ordinal, profit, fees, in_usd"


@dataclass(slots=True)
class ClosingOrder:
    """One order's closing fills, from its first to its last; amounts in its coin, `in_usd` at the fills' prices."""

    coin: str
    first: Instant
    last: Instant
    profit: Decimal
    fees: Decimal
    in_usd: Decimal

    @property
    def result(self) -> Decimal:
        return self.profit + self.fees


class ClosingOrders:
    """Keeps closing orders in the archive, and counts them in `quarters`."""

    def __init__(self, connection: sqlite3.Connection, quarters: ChangedQuarters) -> None:
        self._connection = connection
        self._quarters = quarters

    def add(self, sequenced: SequencedFill, closing: Closing) -> None:
        """Count the closed part of a fill as part of its order."""
        instant, fill = sequenced
        order_key = (*fill.key, fill.order_id)
        row = self._connection.execute(
            f"SELECT {_FIELDS} FROM ledger_order WHERE product_type = ? AND symbol = ? AND leg = ? AND order_id = ?",
            order_key,
        ).fetchone()
        if row is None:
            order = ClosingOrder(fill.coin, instant, instant, ZERO, ZERO, ZERO)
        else:
            order = _order_of(row)
            self._quarter_sums(fill.key, order).uncount_order(order.result, order.in_usd)
        order.profit += closing.profit
        order.fees += closing.fees
        if fill.inverse:
            order.in_usd += (closing.profit + closing.fees) * fill.price
        order.last = instant
        self._quarter_sums(fill.key, order).count_order(order.result, order.in_usd)
        self._connection.execute(
            "INSERT OR REPLACE INTO ledger_order VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*order_key, order.coin, *order.first, *order.last, str(order.profit), str(order.fees), str(order.in_usd)),
        )

    def since(self, key: LegKey, flat: Instant) -> Iterator[ClosingOrder]:
        """Orders of a leg whose last fill lies after an instant, read one by one."""
        rows = self._connection.execute(f"SELECT {_FIELDS} FROM ledger_order WHERE {_SINCE}", (*key, flat.time, *flat))
        return map(_order_of, rows)

    def undo_since(self, key: LegKey, flat: Instant) -> None:
        """Let go of the orders of a leg whose last fill lies after an instant, and take them off their quarters."""
        for order in self.since(key, flat):
            self._quarter_sums(key, order).uncount_order(order.result, order.in_usd)
        self._connection.execute(f"DELETE FROM ledger_order WHERE {_SINCE}", (*key, flat.time, *flat))

    def _quarter_sums(self, key: LegKey, order: ClosingOrder) -> ResultSums:
        """The sums of the quarter-hour in which an order counts, that of its last fill."""
        return self._quarters.sums((quarter_of(order.last.time), *key, order.coin))


def _order_of(row: tuple[str, int, str, int, str, str, str, str]) -> ClosingOrder:
    coin, first_time, first_ordinal, last_time, last_ordinal, profit, fees, in_usd = row
    first, last = Instant(first_time, first_ordinal), Instant(last_time, last_ordinal)
    return ClosingOrder(coin, first, last, Decimal(profit), Decimal(fees), Decimal(in_usd))

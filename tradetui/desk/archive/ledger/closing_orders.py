"""Closing orders: each order that closed something, with the profit and the fees of all its closing fills.

Results say how many orders won and lost. An order counts once, in the quarter-hour of its last fill so far: with each
further fill it is taken off the quarter-hour in which it counted, and counted anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.desk.archive.ledger.fill_sequence import Instant, SequencedFill
from tradetui.desk.archive.ledger.quarter_hours import ChangedQuarters, QuarterKey
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.periods import quarter_of
from tradetui.trading.results.result_sums import ResultSums
from tradetui.trading.results.trips import Closing

_OF_LEG: Final = "FROM ledger_order WHERE product_type = :product_type AND symbol = :symbol AND leg = :leg"
_SELECT: Final = f"SELECT coin, first_time, first_ordinal, last_time, last_ordinal, profit, fees, in_usd {_OF_LEG}"
_LAST_FILL_AFTER: Final = " AND last_time >= :time AND (last_time, last_ordinal) > (:time, :ordinal)"
"""The first comparison lets SQLite use the index by time; the second leaves out fills of that millisecond."""
_REPLACE: Final = (
    "INSERT OR REPLACE INTO ledger_order (product_type, symbol, leg, order_id, coin, first_time, first_ordinal,"
    " last_time, last_ordinal, profit, fees, in_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(slots=True)
class ClosingOrder:
    """The closing fills of one order, from the first to the last; profit and fees are in `coin`.

    `in_usd` is profit and fees in dollars, each fill's at its own price. Only coin-margined contracts have it: of the
    others, whose coin is a dollar coin, it stays zero.
    """

    coin: str
    first: Instant
    last: Instant
    profit: Decimal = ZERO
    fees: Decimal = ZERO
    in_usd: Decimal = ZERO

    @property
    def result(self) -> Decimal:
        return self.profit + self.fees


class ClosingOrders:
    """Keeps closing orders in the archive, and counts them in `quarters`. Called within a transaction."""

    def __init__(self, connection: sqlite3.Connection, quarters: ChangedQuarters) -> None:
        self._connection = connection
        self._quarters = quarters

    def add(self, sequenced: SequencedFill, closing: Closing) -> None:
        instant, fill = sequenced
        order = self._find(fill.key, fill.order_id)
        if order is None:
            order = ClosingOrder(fill.coin, first=instant, last=instant)
        else:
            self._quarter_sums(fill.key, order).uncount_order(order.result, order.in_usd)
        order.last = instant
        order.profit += closing.profit
        order.fees += closing.fees
        if fill.inverse:
            order.in_usd += (closing.profit + closing.fees) * fill.price
        self._quarter_sums(fill.key, order).count_order(order.result, order.in_usd)
        self._keep(fill.key, fill.order_id, order)

    def after(self, key: LegKey, flat: Instant) -> Iterator[ClosingOrder]:
        """The orders of a leg whose last fill lies after an instant, read one by one."""
        return map(_order_of, self._connection.execute(_SELECT + _LAST_FILL_AFTER, key._asdict() | flat._asdict()))

    def undo_after(self, key: LegKey, flat: Instant) -> None:
        """Delete the orders of a leg whose last fill lies after an instant, and take them off their quarter-hours."""
        for order in self.after(key, flat):
            self._quarter_sums(key, order).uncount_order(order.result, order.in_usd)
        self._connection.execute(f"DELETE {_OF_LEG}{_LAST_FILL_AFTER}", key._asdict() | flat._asdict())

    def _find(self, key: LegKey, order_id: str) -> ClosingOrder | None:
        row = self._connection.execute(
            f"{_SELECT} AND order_id = :order_id", {**key._asdict(), "order_id": order_id}
        ).fetchone()
        return None if row is None else _order_of(row)

    def _keep(self, key: LegKey, order_id: str, order: ClosingOrder) -> None:
        amounts = (str(order.profit), str(order.fees), str(order.in_usd))
        self._connection.execute(_REPLACE, (*key, order_id, order.coin, *order.first, *order.last, *amounts))

    def _quarter_sums(self, key: LegKey, order: ClosingOrder) -> ResultSums:
        """The sums of the quarter-hour in which an order counts, that of its last fill."""
        return self._quarters.sums(QuarterKey(quarter_of(order.last.time), *key, order.coin))


def _order_of(row: tuple[str, int, str, int, str, str, str, str]) -> ClosingOrder:
    coin, first_time, first_ordinal, last_time, last_ordinal, profit, fees, in_usd = row
    first, last = Instant(first_time, first_ordinal), Instant(last_time, last_ordinal)
    return ClosingOrder(coin, first, last, Decimal(profit), Decimal(fees), Decimal(in_usd))

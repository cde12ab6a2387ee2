"""Groups the fills of one order that did the same within two seconds, so that they make one event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.desk.tables.cells.number_format import decimals
from tradetui.desk.tables.rows.filled_order import average_price, fees_by_coin, row_id_of_order
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.contract_math import ZERO, known_sum
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

TOGETHER_S: Final = 2.0
"""Seconds from an order's first fill, by the exchange's time, and from when it was seen, within which more are one."""
MOST_PLACES: Final = 12
"""Places of an average price, whatever an exchange sends."""


class OrderFills(NamedTuple):
    """Fills of one order that did the same, oldest first, at least one."""

    product_type: ProductType
    fills: tuple[FuturesFill, ...]

    @property
    def first(self) -> FuturesFill:
        """The oldest fill; what it says of side and leg counts for all."""
        return self.fills[0]

    @property
    def key(self) -> str:
        """Identifies the group in every session that sees it: its first fill."""
        return f"fill|{self.product_type}|{self.first.trade_id}"

    @property
    def size(self) -> Decimal:
        """The filled size, in the base coin."""
        return sum((fill.base_volume for fill in self.fills), ZERO)

    @property
    def price(self) -> Decimal:
        """The average by size, unrounded."""
        return average_price(self.fills)

    @property
    def price_places(self) -> int:
        """Places of the most exact of the prices."""
        return min(MOST_PLACES, max(decimals(fill.price) for fill in self.fills))

    @property
    def profit(self) -> Decimal | None:
        """In the margin coin; None where a fill has none."""
        return known_sum(fill.profit for fill in self.fills)

    @property
    def fees(self) -> dict[str, Decimal]:
        """By coin, those of which the coin is known; minus is paid."""
        totals = fees_by_coin(fee for fill in self.fills for fee in fill.fee_detail)
        return {coin: total for coin, total in totals.items() if coin}


def order_fills(rows: Iterable[ProductRow[FuturesFill]], product_type: ProductType, order_id: str) -> OrderFills | None:
    """All fills of an order among these rows; None where there is none."""
    fills = [row.record for row in rows if row.product_type is product_type and row.record.order_id == order_id]
    return _joined(product_type, fills) if fills else None


def _joined(product_type: ProductType, fills: Iterable[FuturesFill]) -> OrderFills:
    oldest_first = sorted(fills, key=lambda fill: (fill.c_time, len(fill.trade_id), fill.trade_id))
    return OrderFills(product_type, tuple(oldest_first))


@dataclass(slots=True)
class _Group:
    order_row_id: str
    began: datetime
    fills: list[FuturesFill]
    due_s: float


class FillGroups:
    """Gathers fills until no more can belong to them. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._groups: dict[tuple[ProductType, str], list[_Group]] = {}

    def add(self, row: ProductRow[FuturesFill], now_s: float) -> None:
        fill = row.record
        groups = self._groups.setdefault((row.product_type, fill.order_id or fill.trade_id), [])
        row_id, together = row_id_of_order(row), timedelta(seconds=TOGETHER_S)
        for group in groups:
            if group.order_row_id == row_id and abs(fill.c_time - group.began) <= together:
                group.fills.append(fill)
                return
        groups.append(_Group(row_id, fill.c_time, [fill], now_s + TOGETHER_S))

    def take(self, product_type: ProductType, order_id: str) -> OrderFills | None:
        """The fills of an order that are being gathered, which are forgotten with that; None where there are none."""
        groups = self._groups.pop((product_type, order_id), None)
        if groups is None:
            return None
        return _joined(product_type, (fill for group in groups for fill in group.fills))

    @property
    def next_due_s(self) -> float | None:
        """When the first group is complete; None where there is none."""
        return min((group.due_s for groups in self._groups.values() for group in groups), default=None)

    def take_due(self, now_s: float) -> list[OrderFills]:
        """The groups that are complete, which are forgotten with that."""
        due: list[OrderFills] = []
        for (product_type, order_id), groups in self._groups.items():
            due += [_joined(product_type, group.fills) for group in groups if group.due_s <= now_s]
            self._groups[product_type, order_id] = [group for group in groups if group.due_s > now_s]
        self._groups = {order: groups for order, groups in self._groups.items() if groups}
        return due

"""An order's fills as one row: sizes, profit and fees summed, the size-weighted average price, the last time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.desk.tables.rows.row_source import MemoryRows, RowSource
from tradetui.trading.contract_math import ZERO, known_sum

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.wire.models.futures import FeeDetail, FuturesFill
    from tradetui.wire.product_types import ProductType

SEVERAL: Final = "several"
"""Replaces a field in which an order's fills differ."""


class FillSum(NamedTuple):
    """The sums of an order's fills, under the names of a fill's fields.

    `price` is the average by size. An amount that one fill lacks is None, since the sum would be wrong.
    """

    symbol: str
    order_id: str | None
    side: str
    trade_side: str | None
    pos_mode: str | None
    price: Decimal
    base_volume: Decimal
    quote_volume: Decimal | None
    profit: Decimal | None
    fee_detail: tuple[FeeDetail, ...]
    trade_scope: str | None
    enter_point_source: str | None
    c_time: datetime


class FilledOrder:
    """The fills of one order with the same effect, newest first, and their sums.

    `older_unknown` means that the order may have older fills than the session knows.
    """

    __slots__ = ("fills", "older_unknown", "product_type", "record", "row_id")

    def __init__(self, fills: Sequence[ProductRow[FuturesFill]], *, older_unknown: bool = False) -> None:
        self.fills = tuple(fills)
        self.product_type: ProductType = fills[0].product_type
        self.row_id = row_id_of_order(fills[0])
        self.older_unknown = older_unknown
        self.record = _sum_of([row.record for row in fills])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FilledOrder) and self.fills == other.fills and self.older_unknown == other.older_unknown
        )

    def __hash__(self) -> int:
        return hash(self.row_id)


def row_id_of_order(row: ProductRow[FuturesFill]) -> str:
    """Return the id of a fill's order and effect: a reversal may close and open under one order id.

    A fill without an order id counts as an order.
    """
    fill = row.record
    if not fill.order_id:
        return row.row_id
    return f"{row.product_type}|order {fill.order_id}|{fill.symbol}|{fill.side}|{fill.trade_side}".lower()


def average_price(fills: Sequence[FuturesFill]) -> Decimal:
    """Return the size-weighted average of fills' prices, unrounded; the price itself if all have the same."""
    size = sum((fill.base_volume for fill in fills), ZERO)
    if len({fill.price for fill in fills}) == 1 or not size:
        return fills[0].price
    return sum((fill.price * fill.base_volume for fill in fills), ZERO) / size


def fees_by_coin(fees: Iterable[FeeDetail]) -> dict[str, Decimal]:
    """Sum the known fees by coin, in order of appearance; "" stands for an unnamed coin."""
    totals: dict[str, Decimal] = {}
    for fee in fees:
        if fee.total_fee is not None:
            coin = fee.fee_coin or ""
            totals[coin] = totals.get(coin, ZERO) + fee.total_fee
    return totals


def _sum_of(fills: Sequence[FuturesFill]) -> FillSum:
    newest = fills[0]
    return FillSum(
        symbol=newest.symbol,
        order_id=newest.order_id,
        side=newest.side,
        trade_side=newest.trade_side,
        pos_mode=newest.pos_mode,
        price=average_price(fills),
        base_volume=sum((fill.base_volume for fill in fills), ZERO),
        quote_volume=known_sum(fill.quote_volume for fill in fills),
        profit=known_sum(fill.profit for fill in fills),
        fee_detail=tuple(fee for fill in fills for fee in fill.fee_detail),
        trade_scope=_shared(fills, lambda fill: fill.trade_scope),
        enter_point_source=_shared(fills, lambda fill: fill.enter_point_source),
        c_time=newest.c_time,
    )


def _shared(fills: Sequence[FuturesFill], word_of: Callable[[FuturesFill], str | None]) -> str | None:
    received = {word_of(fill) for fill in fills}
    return received.pop() if len(received) == 1 else SEVERAL


def fill_by_fill(rows: RowSource[object]) -> RowSource[object]:
    """Replace each order by its fills, newest first, as they are exported."""
    held = [rows.row(index) for index in range(rows.count)]
    if not any(isinstance(row, FilledOrder) for row in held):
        return rows
    fills = [fill for row in held if isinstance(row, FilledOrder) for fill in row.fills]
    return MemoryRows(fills, [fill.row_id for fill in fills], rows.generation)

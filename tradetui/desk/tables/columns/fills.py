"""Columns of the futures fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from tradetui.desk.tables.columns.column import Column, id_column, number_column, text_column, time_column
from tradetui.desk.tables.columns.shared import PRODUCT, effect_column, fee_coin_column, fee_column
from tradetui.trading.trade_effect import effect_of_fill

if TYPE_CHECKING:
    from tradetui.desk.tables.filled_order import FilledOrder
    from tradetui.desk.tables.product_row import ProductRow
    from tradetui.wire.models.futures import FuturesFill

    FillRow: TypeAlias = ProductRow[FuturesFill] | FilledOrder
    """A fill, or an order's fills together."""

FILL_COLUMNS: Final[tuple[Column[FillRow], ...]] = (
    time_column("cTime", "Time", lambda row: row.record.c_time),
    text_column("symbol", "Symbol", 10, lambda row: row.record.symbol),
    effect_column(
        "did",
        "Did",
        lambda row: effect_of_fill(row.record),
        lambda effect: effect.past,
        lambda row: row.record.side,
        lambda row: row.record.trade_side,
    ),
    number_column("price", "Price", 11, lambda row: row.record.price, unit="quote coin"),
    number_column("baseVolume", "Size", 10, lambda row: row.record.base_volume, unit="base coin"),
    number_column("profit", "Profit", 12, lambda row: row.record.profit, profit=True, unit="margin coin"),
    fee_column(lambda row: row.record.fee_detail),
    fee_coin_column(lambda row: row.record.fee_detail),
    number_column("quoteVolume", "Value", 13, lambda row: row.record.quote_volume, unit="quote coin"),
    text_column("tradeScope", "Scope", 6, lambda row: row.record.trade_scope),
    text_column("enterPointSource", "Via", 7, lambda row: row.record.enter_point_source),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
)

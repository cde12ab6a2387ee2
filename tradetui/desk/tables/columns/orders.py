"""Columns of the pending orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.column import Column, id_column, number_column, text_column, time_column
from tradetui.desk.tables.columns.shared import PRODUCT, effect_column
from tradetui.trading.trade_effect import effect_of_order

if TYPE_CHECKING:
    from tradetui.desk.tables.product_row import ProductRow
    from tradetui.wire.models.futures import PendingOrder

ORDER_COLUMNS: Final[tuple[Column[ProductRow[PendingOrder]], ...]] = (
    text_column("symbol", "Symbol", 10, lambda row: row.record.symbol),
    effect_column(
        "does",
        "Does",
        lambda row: effect_of_order(row.record),
        lambda effect: effect.present,
        lambda row: row.record.side,
        lambda row: row.record.trade_side,
    ),
    number_column("price", "Price", 11, lambda row: row.record.price, unit="quote coin"),
    number_column("size", "Size", 10, lambda row: row.record.size, unit="base coin"),
    number_column("baseVolume", "Filled", 10, lambda row: row.record.base_volume, unit="base coin"),
    text_column("orderType", "Kind", 6, lambda row: row.record.order_type),
    text_column("status", "Status", 16, lambda row: row.record.status),
    number_column(
        "presetStopSurplusPrice", "TP", 10, lambda row: row.record.preset_stop_surplus_price, unit="quote coin"
    ),
    number_column("presetStopLossPrice", "SL", 10, lambda row: row.record.preset_stop_loss_price, unit="quote coin"),
    text_column("force", "Force", 9, lambda row: row.record.force),
    text_column("reduceOnly", "Reduce", 6, lambda row: row.record.reduce_only),
    time_column("cTime", "Created", lambda row: row.record.c_time),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
)

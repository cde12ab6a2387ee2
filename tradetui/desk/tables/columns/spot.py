"""Columns of spot fills and of the spot ledger."""

from __future__ import annotations

from typing import Final

from tradetui.desk.tables.columns.column import id_column, number_column, text_column, time_column
from tradetui.desk.tables.columns.shared import FEE, FEE_COIN, side_column

SPOT_FILLS: Final = (
    time_column("cTime", "Time", "c_time"),
    text_column("symbol", "Symbol", 10),
    side_column(),
    text_column("orderType", "Kind", 6, "order_type"),
    number_column("priceAvg", "Price", 12, "price_avg", unit="quote coin"),
    number_column("size", "Size", 12, unit="base coin"),
    number_column("amount", "Value", 14, unit="quote coin"),
    FEE,
    FEE_COIN,
    text_column("tradeScope", "Scope", 6, "trade_scope"),
    id_column("orderId", "Order", 19, "order_id"),
    id_column("tradeId", "Trade id", 19, "trade_id"),
)

SPOT_BILLS: Final = (
    time_column("cTime", "Time", "c_time"),
    text_column("coin", "Coin", 6),
    number_column("size", "Change", 16, profit=True, unit="coin"),
    number_column("balance", "Balance", 16, unit="coin"),
    number_column("fees", "Fees", 12, unit="coin"),
    text_column("groupType", "Group", 12, "group_type"),
    text_column("businessType", "Business", 22, "business_type"),
    id_column("billId", "Bill", 19, "bill_id"),
)

"""Columns of spot fills and of the spot ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.column import Column, id_column, number_column, text_column, time_column
from tradetui.desk.tables.columns.shared import fee_coin_column, fee_column, side_column

if TYPE_CHECKING:
    from tradetui.wire.models.spot import SpotBill, SpotFill

SPOT_FILL_COLUMNS: Final[tuple[Column[SpotFill], ...]] = (
    time_column("cTime", "Time", lambda row: row.c_time),
    text_column("symbol", "Symbol", 10, lambda row: row.symbol),
    side_column(lambda row: row.side),
    text_column("orderType", "Kind", 6, lambda row: row.order_type),
    number_column("priceAvg", "Price", 12, lambda row: row.price_avg, unit="quote coin"),
    number_column("size", "Size", 12, lambda row: row.size, unit="base coin"),
    number_column("amount", "Value", 14, lambda row: row.amount, unit="quote coin"),
    fee_column(lambda row: row.fee_detail),
    fee_coin_column(lambda row: row.fee_detail),
    text_column("tradeScope", "Scope", 6, lambda row: row.trade_scope),
    id_column("orderId", "Order", 19, lambda row: row.order_id),
    id_column("tradeId", "Trade id", 19, lambda row: row.trade_id),
)

SPOT_BILL_COLUMNS: Final[tuple[Column[SpotBill], ...]] = (
    time_column("cTime", "Time", lambda row: row.c_time),
    text_column("coin", "Coin", 6, lambda row: row.coin),
    number_column("size", "Change", 16, lambda row: row.size, profit=True, unit="coin"),
    number_column("balance", "Balance", 16, lambda row: row.balance, unit="coin"),
    number_column("fees", "Fees", 12, lambda row: row.fees, unit="coin"),
    text_column("groupType", "Group", 12, lambda row: row.group_type),
    text_column("businessType", "Business", 22, lambda row: row.business_type),
    id_column("billId", "Bill", 19, lambda row: row.bill_id),
)

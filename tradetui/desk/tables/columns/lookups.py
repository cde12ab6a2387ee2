"""Columns of spot fills and of the spot ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.column import Column, id_column, ranked, text_column, time_column
from tradetui.desk.tables.cells.figure_columns import money_column, price_column, size_column
from tradetui.desk.tables.columns.trade_columns import fee_coin_column, fee_column, side_column

if TYPE_CHECKING:
    from tradetui.wire.models.spot import SpotBill, SpotFill


def _symbol(fill: SpotFill) -> str:
    return fill.symbol


def _quote_coin(fill: SpotFill) -> str | None:
    from tradetui.trading.coin_totals import coins_of

    coins = coins_of(fill.symbol)
    return None if coins is None else coins[1]


def _coin(bill: SpotBill) -> str | None:
    return bill.coin


_SPOT_FILL_COLUMNS: Final[tuple[Column[SpotFill], ...]] = (
    time_column("cTime", "Time", lambda row: row.c_time),
    text_column("symbol", "Symbol", 10, lambda row: row.symbol),
    side_column(lambda row: row.side),
    text_column("orderType", "Kind", 6, lambda row: row.order_type),
    price_column("priceAvg", "Price", 12, lambda row: row.price_avg, _symbol),
    size_column("size", "Size", 12, lambda row: row.size, _symbol),
    money_column("amount", "Value", 14, lambda row: row.amount, _quote_coin, unit="the coin of the price"),
    fee_column(lambda row: row.fee_detail),
    fee_coin_column(lambda row: row.fee_detail),
    text_column("tradeScope", "Role", 6, lambda row: row.trade_scope),
    id_column("orderId", "Order", 19, lambda row: row.order_id),
    id_column("tradeId", "Trade id", 19, lambda row: row.trade_id),
)
SPOT_FILL_COLUMNS: Final[tuple[Column[SpotFill], ...]] = ranked(
    _SPOT_FILL_COLUMNS, "cTime", "symbol", "side", "priceAvg", "size", "amount"
)

_SPOT_BILL_COLUMNS: Final[tuple[Column[SpotBill], ...]] = (
    time_column("cTime", "Time", lambda row: row.c_time),
    text_column("coin", "Coin", 6, lambda row: row.coin),
    money_column("size", "Change", 12, lambda row: row.size, _coin, profit=True, unit="coin"),
    money_column("balance", "Balance", 12, lambda row: row.balance, _coin, unit="coin"),
    money_column("fees", "Fees", 12, lambda row: row.fees, _coin, unit="coin"),
    text_column("groupType", "Group", 12, lambda row: row.group_type),
    text_column("businessType", "Business", 22, lambda row: row.business_type),
    id_column("billId", "Bill", 19, lambda row: row.bill_id),
)
SPOT_BILL_COLUMNS: Final[tuple[Column[SpotBill], ...]] = ranked(
    _SPOT_BILL_COLUMNS, "cTime", "coin", "size", "businessType", "balance", "fees"
)

"""Columns of the futures fills, each for itself or those of an order as one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column, id_column, narrow_time, ranked, text_column, time_column
from tradetui.desk.tables.cells.figure_columns import money_column, price_column, size_column
from tradetui.desk.tables.cells.number_format import UNKNOWN
from tradetui.desk.tables.columns.trade_columns import (
    PRODUCT,
    effect_column,
    fee_coin_column,
    fee_column,
    quote_coin,
    worded_column,
)
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.trading.trade_effect import TradeAction, effect_of_fill
from tradetui.wire.product_types import margin_coin

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.wire.models.futures import FuturesFill

    FillRow: TypeAlias = ProductRow[FuturesFill] | FilledOrder
    """A fill, or an order's fills together."""


_CLIENTS: Final[Mapping[str, str]] = {"web": "web", "android": "Android", "ios": "iOS"}


def _symbol(row: FillRow) -> str:
    return row.record.symbol


def _margin_coin(row: FillRow) -> str | None:
    return margin_coin(row.product_type, row.record.symbol)


_PROFIT: Final[Column[FillRow]] = money_column(
    "profit", "Profit", 10, lambda row: row.record.profit, _margin_coin, profit=True
)


_MAY_OPEN: Final = (TradeAction.OPEN, TradeAction.BUY, TradeAction.SELL)


def _profit(row: FillRow, cell_format: CellFormat) -> str:
    """The profit; unknown for a fill that opens, for which the exchange reports 0.

    In one-way mode the words do not tell an open from a close: there 0 is what opens, or closed at its very entry.
    """
    effect = effect_of_fill(row.record)
    if row.record.profit == 0 and effect is not None and effect.action in _MAY_OPEN:
        return UNKNOWN
    return _PROFIT.text(row, cell_format)


FILL_COLUMNS: Final[tuple[Column[FillRow], ...]] = ranked(
    time_column("cTime", "Time", lambda row: row.record.c_time),
    text_column("symbol", "Symbol", 8, _symbol),
    effect_column("did", "Did", lambda row: effect_of_fill(row.record), lambda effect: effect.past),
    size_column("baseVolume", "Size", 7, lambda row: row.record.base_volume, _symbol),
    price_column("price", "Price", 9, lambda row: row.record.price, _symbol, derived=True),
    _PROFIT._replace(text=_profit),
    fee_column(lambda row: row.record.fee_detail),
    fee_coin_column(lambda row: row.record.fee_detail),
    money_column("quoteVolume", "Value", 10, lambda row: row.record.quote_volume, quote_coin, unit="USDT, USDC or USD"),
    text_column("tradeScope", "Role", 7, lambda row: row.record.trade_scope),
    worded_column("enterPointSource", "Via", 7, lambda row: row.record.enter_point_source, _CLIENTS),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
    kept_longest="cTime,symbol,did,baseVolume,profit,price,fee,feeCoin,quoteVolume,tradeScope",
)


FILL_COUNT: Final[Column[FillRow]] = Column(
    "fills",
    "Fills",
    lambda row: Decimal(len(row.fills)) if isinstance(row, FilledOrder) else Decimal(1),
    lambda row, _: f"{len(row.fills)}{'+' if row.older_unknown else ''}" if isinstance(row, FilledOrder) else "1",
    5,
    right=True,
)
"""How many fills an order has; with a plus where older ones may not be known."""


FILLED_ORDER_COLUMNS: Final[tuple[Column[FillRow], ...]] = (
    narrow_time(FILL_COLUMNS[0]),
    *FILL_COLUMNS[1:10],
    FILL_COUNT,
    *FILL_COLUMNS[10:],
)


def fill_columns(rows: Iterable[FillRow]) -> tuple[Column[FillRow], ...]:
    """The columns of these rows: of orders the day or time that tells them apart, and the number of their fills."""
    return FILLED_ORDER_COLUMNS if isinstance(next(iter(rows), None), FilledOrder) else FILL_COLUMNS

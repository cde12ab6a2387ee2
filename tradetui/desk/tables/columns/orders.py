"""The table of the pending orders: its columns, and their total value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.cell_format import UNKNOWN, CellFormat, number
from tradetui.desk.tables.cells.column import (
    Column,
    Footer,
    TableView,
    Tone,
    id_column,
    money,
    money_column,
    price_column,
    ranked,
    size_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.columns.shared_columns import PRODUCT, away_column, effect_column, quote_coin, worded_column
from tradetui.trading.fill_terms import effect_of_order

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.wire.models.futures import PendingOrder

_STATUSES: Final[Mapping[str, str]] = {"live": "open", "partially_filled": "partly filled"}
_FORCES: Final[Mapping[str, str]] = {"gtc": "GTC", "ioc": "IOC", "fok": "FOK", "post_only": "post only"}


def _symbol(row: ProductRow[PendingOrder]) -> str:
    return row.record.symbol


def _filled(row: ProductRow[PendingOrder]) -> Decimal | None:
    order = row.record
    return None if order.base_volume is None or not order.size else order.base_volume / order.size


def _whole_percent(part: Decimal | None) -> str:
    if part is None:
        return UNKNOWN
    if 0 < part < Decimal("0.01"):
        return "<1 %"
    return f"{min(round(part * 100), 99) if part < 1 else round(part * 100):,} %"


def rest_value(order: PendingOrder) -> Decimal | None:
    """Return the value of an order's unfilled part at its own price, in the quote coin; None without a price."""
    return None if order.price is None else (order.size - (order.base_volume or 0)) * order.price


ORDER_COLUMNS: Final[tuple[Column[ProductRow[PendingOrder]], ...]] = ranked(
    text_column("symbol", "Symbol", 8, _symbol),
    effect_column("does", "Does", lambda row: effect_of_order(row.record), lambda effect: effect.present),
    size_column("size", "Size", 7, lambda row: row.record.size, _symbol),
    price_column("price", "Price", 9, lambda row: row.record.price, _symbol),
    Column("filled", "Filled", 6, _filled, lambda row, _: _whole_percent(_filled(row)), right=True, unit="of the size"),
    away_column(),
    money_column(
        "value", "Value", 10, lambda row: rest_value(row.record), quote_coin, unit="USDT, USDC or USD, of the rest"
    ),
    size_column("baseVolume", "Filled size", 11, lambda row: row.record.base_volume, _symbol),
    text_column("orderType", "Kind", 6, lambda row: row.record.order_type),
    worded_column("status", "Status", 13, lambda row: row.record.status, _STATUSES),
    price_column(
        "presetStopSurplusPrice", "Take-profit", 11, lambda row: row.record.preset_stop_surplus_price, _symbol
    ),
    price_column("presetStopLossPrice", "Stop-loss", 9, lambda row: row.record.preset_stop_loss_price, _symbol),
    worded_column("force", "TIF", 9, lambda row: row.record.force, _FORCES),
    worded_column("reduceOnly", "Reduce-only", 11, lambda row: row.record.reduce_only, {"yes": "yes", "no": "no"}),
    time_column("cTime", "Created", lambda row: row.record.c_time),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
    kept_longest="symbol,does,price,size,away,filled,value",
)


def orders_footer(rows: Iterable[ProductRow[PendingOrder]], cell_format: CellFormat) -> Footer:
    """Total the value of all unfilled parts, in dollars; `?` if an order has no price."""
    orders = list(rows)
    values = [rest_value(row.record) for row in orders]
    known = [value for value in values if value is not None]
    doubt = "" if len(known) == len(values) else "?"
    note = orders_headline(orders, cell_format)
    return Footer({"value": (f"{money(sum(known, Decimal(0)), 'USDT', cell_format)}{doubt}", Tone.PLAIN)}, note, note)


def orders_headline(rows: Iterable[ProductRow[PendingOrder]], cell_format: CellFormat) -> str:
    """Total the values to buy and to sell, in dollars at the orders' own prices; `?` if one has no price."""
    bought, sold, unknown = Decimal(0), Decimal(0), ""
    for row in rows:
        effect, value = effect_of_order(row.record), rest_value(row.record)
        if effect is None or value is None:
            unknown = "?"
        elif effect.buys:
            bought += value
        else:
            sold += value
    places = None if cell_format.exact else 0
    return f"buys {number(bought, places=places)}{unknown} · sells {number(sold, places=places)}{unknown} USDT"


ORDERS_VIEW: Final[TableView[ProductRow[PendingOrder]]] = TableView(
    ORDER_COLUMNS, footer=orders_footer, headline=orders_headline
)

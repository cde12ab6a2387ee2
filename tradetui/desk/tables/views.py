"""What every table shows: its columns, and the sums under its rows. Loaded when the first row is to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.column import TableView
from tradetui.desk.tables.columns.accounts import ACCOUNT_COLUMNS, account_columns, accounts_footer
from tradetui.desk.tables.columns.fills import FILL_COLUMNS, FILL_COUNT, fill_columns
from tradetui.desk.tables.columns.lookups import (
    CONVERT_COLUMNS,
    EMAIL_COLUMNS,
    SPOT_BILL_COLUMNS,
    SPOT_FILL_COLUMNS,
    TRANSFER_COLUMNS,
)
from tradetui.desk.tables.columns.orders import ORDER_COLUMNS
from tradetui.desk.tables.columns.positions import (
    POSITION_COLUMNS,
    SHARED_COLUMNS,
    SUMMED_SINCE,
    position_columns,
    positions_footer,
)
from tradetui.desk.tables.columns.triggers import TRIGGER_COLUMNS, trigger_columns
from tradetui.desk.tables.row_sums import (
    accounts_headline,
    fills_footer,
    fills_headline,
    orders_footer,
    orders_headline,
    positions_headline,
    stops_footer,
    stops_headline,
)

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.trading.positions import Position
    from tradetui.wire.models.broker import SubaccountEmail, SubaccountTransfer
    from tradetui.wire.models.convert import ConvertRecord
    from tradetui.wire.models.futures import FuturesAccount, FuturesFill, PendingOrder, TriggerOrder
    from tradetui.wire.models.spot import SpotBill, SpotFill

_ACCOUNTS: Final[TableView[ProductRow[FuturesAccount]]] = TableView(
    columns=ACCOUNT_COLUMNS,
    columns_for=account_columns,
    footer=accounts_footer,
    headline=accounts_headline,
)
_POSITIONS: Final[TableView[Position]] = TableView(
    columns=POSITION_COLUMNS,
    columns_for=position_columns,
    more_columns=(*SHARED_COLUMNS, SUMMED_SINCE),
    footer=positions_footer,
    headline=positions_headline,
)
_ORDERS: Final[TableView[ProductRow[PendingOrder]]] = TableView(
    columns=ORDER_COLUMNS, footer=orders_footer, headline=orders_headline
)
_FILLS: Final[TableView[ProductRow[FuturesFill]]] = TableView(
    columns=FILL_COLUMNS,
    columns_for=fill_columns,
    more_columns=(FILL_COUNT,),
    footer=fills_footer,
    headline=fills_headline,
)
_TRIGGERS: Final[TableView[ProductRow[TriggerOrder]]] = TableView(
    columns=TRIGGER_COLUMNS, columns_for=trigger_columns, footer=stops_footer, headline=stops_headline
)
_SPOT_FILLS: Final[TableView[SpotFill]] = TableView(SPOT_FILL_COLUMNS)
_SPOT_BILLS: Final[TableView[SpotBill]] = TableView(SPOT_BILL_COLUMNS)
_CONVERTS: Final[TableView[ConvertRecord]] = TableView(CONVERT_COLUMNS)
_TRANSFERS: Final[TableView[SubaccountTransfer]] = TableView(TRANSFER_COLUMNS)
_EMAILS: Final[TableView[SubaccountEmail]] = TableView(EMAIL_COLUMNS)
VIEWS: Final[Mapping[str, object]] = {
    "accounts": _ACCOUNTS,
    "positions": _POSITIONS,
    "orders": _ORDERS,
    "fills": _FILLS,
    "triggers": _TRIGGERS,
    "spot-fills": _SPOT_FILLS,
    "spot-bills": _SPOT_BILLS,
    "convert": _CONVERTS,
    "transfers": _TRANSFERS,
    "email": _EMAILS,
}
"""Every view by the name of its table, which knows of what rows it is."""

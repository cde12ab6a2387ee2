"""What every table shows: its columns, and the sums under its rows. Loaded when the first row is to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.accounts import ACCOUNT_COLUMNS, account_columns, account_totals, accounts_note
from tradetui.desk.tables.columns.broker import EMAIL_COLUMNS, TRANSFER_COLUMNS
from tradetui.desk.tables.columns.convert import CONVERT_COLUMNS
from tradetui.desk.tables.columns.fills import FILL_COLUMNS, FILL_COUNT, fill_columns
from tradetui.desk.tables.columns.orders import ORDER_COLUMNS
from tradetui.desk.tables.columns.positions import (
    POSITION_COLUMNS,
    SHARED_COLUMNS,
    SUMMED_SINCE,
    position_columns,
    position_note,
    position_note_without_stop_column,
    position_totals,
)
from tradetui.desk.tables.columns.spot import SPOT_BILL_COLUMNS, SPOT_FILL_COLUMNS
from tradetui.desk.tables.columns.triggers import TRIGGER_COLUMNS, trigger_columns
from tradetui.desk.tables.row_sums import (
    accounts_headline,
    fills_note,
    fills_short_note,
    fills_totals,
    orders_note,
    orders_totals,
    positions_headline,
    stops_headline,
    stops_note,
)
from tradetui.desk.tables.table_view import TableView

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.trading.positions import Position
    from tradetui.wire.models.broker import SubaccountEmail, SubaccountTransfer
    from tradetui.wire.models.convert import ConvertRecord
    from tradetui.wire.models.futures import FuturesAccount, FuturesFill, PendingOrder, TriggerOrder
    from tradetui.wire.models.spot import SpotBill, SpotFill

ACCOUNTS_VIEW: Final[TableView[ProductRow[FuturesAccount]]] = TableView(
    columns=ACCOUNT_COLUMNS,
    columns_for=account_columns,
    totals=account_totals,
    note=accounts_note,
    headline=accounts_headline,
)
POSITIONS_VIEW: Final[TableView[Position]] = TableView(
    columns=POSITION_COLUMNS,
    columns_for=position_columns,
    more_columns=(*SHARED_COLUMNS, SUMMED_SINCE),
    totals=position_totals,
    note=position_note_without_stop_column,
    short_note=position_note,
    headline=positions_headline,
)
ORDERS_VIEW: Final[TableView[ProductRow[PendingOrder]]] = TableView(
    columns=ORDER_COLUMNS,
    totals=orders_totals,
    note=orders_note,
    short_note=orders_note,
    headline=orders_note,
)
FILLS_VIEW: Final[TableView[ProductRow[FuturesFill]]] = TableView(
    columns=FILL_COLUMNS,
    columns_for=fill_columns,
    more_columns=(FILL_COUNT,),
    totals=fills_totals,
    note=fills_note,
    short_note=fills_short_note,
    headline=fills_note,
)
TRIGGERS_VIEW: Final[TableView[ProductRow[TriggerOrder]]] = TableView(
    columns=TRIGGER_COLUMNS,
    columns_for=trigger_columns,
    note=stops_note,
    headline=stops_headline,
)
SPOT_FILLS_VIEW: Final[TableView[SpotFill]] = TableView(
    columns=SPOT_FILL_COLUMNS,
)
SPOT_BILLS_VIEW: Final[TableView[SpotBill]] = TableView(
    columns=SPOT_BILL_COLUMNS,
)
CONVERTS_VIEW: Final[TableView[ConvertRecord]] = TableView(
    columns=CONVERT_COLUMNS,
)
TRANSFERS_VIEW: Final[TableView[SubaccountTransfer]] = TableView(
    columns=TRANSFER_COLUMNS,
)
EMAILS_VIEW: Final[TableView[SubaccountEmail]] = TableView(
    columns=EMAIL_COLUMNS,
)

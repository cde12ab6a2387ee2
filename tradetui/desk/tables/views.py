"""The columns of every table, and the sums under its rows. Loaded when the first row is to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tradetui.desk.tables.cells.column import TableView
from tradetui.desk.tables.columns.accounts import ACCOUNT_COLUMNS, account_columns, accounts_footer, accounts_headline
from tradetui.desk.tables.columns.fills import FILL_COLUMNS, FILL_COUNT, fill_columns, fills_footer, fills_headline
from tradetui.desk.tables.columns.lookups import (
    CONVERT_COLUMNS,
    EMAIL_COLUMNS,
    SPOT_BILL_COLUMNS,
    SPOT_FILL_COLUMNS,
    TRANSFER_COLUMNS,
)
from tradetui.desk.tables.columns.orders import ORDER_COLUMNS, orders_footer, orders_headline
from tradetui.desk.tables.columns.positions import (
    POSITION_COLUMNS,
    SHARED_COLUMNS,
    SUMMED_SINCE,
    position_columns,
    positions_footer,
    positions_headline,
)
from tradetui.desk.tables.columns.triggers import TRIGGER_COLUMNS, stops_footer, stops_headline, trigger_columns

VIEWS: Final[Mapping[str, object]] = {
    "accounts": TableView(
        columns=ACCOUNT_COLUMNS, columns_for=account_columns, footer=accounts_footer, headline=accounts_headline
    ),
    "positions": TableView(
        columns=POSITION_COLUMNS,
        columns_for=position_columns,
        more_columns=(*SHARED_COLUMNS, SUMMED_SINCE),
        footer=positions_footer,
        headline=positions_headline,
    ),
    "orders": TableView(columns=ORDER_COLUMNS, footer=orders_footer, headline=orders_headline),
    "fills": TableView(
        columns=FILL_COLUMNS,
        columns_for=fill_columns,
        more_columns=(FILL_COUNT,),
        footer=fills_footer,
        headline=fills_headline,
    ),
    "triggers": TableView(
        columns=TRIGGER_COLUMNS, columns_for=trigger_columns, footer=stops_footer, headline=stops_headline
    ),
    "spot-fills": TableView(SPOT_FILL_COLUMNS),
    "spot-bills": TableView(SPOT_BILL_COLUMNS),
    "convert": TableView(CONVERT_COLUMNS),
    "transfers": TableView(TRANSFER_COLUMNS),
    "email": TableView(EMAIL_COLUMNS),
}
"""Every view by the name of its table, which knows of what rows it is."""

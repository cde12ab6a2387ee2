"""The columns of every table, and the sums under its rows. Loaded when the first row is to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tradetui.desk.tables.cells.column import TableView
from tradetui.desk.tables.columns import accounts, fills, lookups, orders, positions, triggers

VIEWS: Final[Mapping[str, object]] = {
    "accounts": TableView(
        columns=accounts.ACCOUNT_COLUMNS,
        columns_for=accounts.account_columns,
        footer=accounts.accounts_footer,
        headline=accounts.accounts_headline,
    ),
    "positions": TableView(
        columns=positions.POSITION_COLUMNS,
        columns_for=positions.position_columns,
        more_columns=(*positions.SHARED_COLUMNS, positions.SUMMED_SINCE),
        footer=positions.positions_footer,
        headline=positions.positions_headline,
    ),
    "orders": TableView(columns=orders.ORDER_COLUMNS, footer=orders.orders_footer, headline=orders.orders_headline),
    "fills": TableView(
        columns=fills.FILL_COLUMNS,
        columns_for=fills.fill_columns,
        more_columns=(fills.FILL_COUNT,),
        footer=fills.fills_footer,
        headline=fills.fills_headline,
    ),
    "triggers": TableView(
        columns=triggers.TRIGGER_COLUMNS,
        columns_for=triggers.trigger_columns,
        footer=triggers.stops_footer,
        headline=triggers.stops_headline,
    ),
    "spot-fills": TableView(lookups.SPOT_FILL_COLUMNS),
    "spot-bills": TableView(lookups.SPOT_BILL_COLUMNS),
    "convert": TableView(lookups.CONVERT_COLUMNS),
    "transfers": TableView(lookups.TRANSFER_COLUMNS),
    "email": TableView(lookups.EMAIL_COLUMNS),
}
"""Every view by the name of its table, which knows of what rows it is."""

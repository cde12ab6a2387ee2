"""Which columns each table shows when nobody chose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tradetui.desk.tables.columns.broker import EMAILS, TRANSFERS
from tradetui.desk.tables.columns.column import Column
from tradetui.desk.tables.columns.convert import CONVERTS
from tradetui.desk.tables.columns.futures import ACCOUNTS, FILLS, ORDERS, POSITIONS, TRIGGERS, UNION_ACCOUNTS
from tradetui.desk.tables.columns.spot import SPOT_BILLS, SPOT_FILLS

COLUMNS: Final[Mapping[str, Sequence[Column[Any]]]] = {
    "accounts": ACCOUNTS,
    "positions": POSITIONS,
    "orders": ORDERS,
    "fills": FILLS,
    "triggers": TRIGGERS,
    "spot-fills": SPOT_FILLS,
    "spot-bills": SPOT_BILLS,
    "convert": CONVERTS,
    "transfers": TRANSFERS,
    "email": EMAILS,
}


def default_columns(table: str, rows: Iterable[Any]) -> Sequence[Column[Any]]:
    """The columns of a table that holds these rows, where nobody chose any."""
    if table == "accounts" and any(row.record.is_union for row in rows):
        return UNION_ACCOUNTS
    return COLUMNS[table]

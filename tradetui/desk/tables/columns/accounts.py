"""Columns of the futures accounts."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.column import Column, number_column, percent_column, text_column
from tradetui.desk.tables.columns.shared import PRODUCT

if TYPE_CHECKING:
    from tradetui.desk.tables.product_row import ProductRow
    from tradetui.wire.models.futures import FuturesAccount

RISK_WORTH_A_WARNING: Final = Decimal("0.5")


ACCOUNT_COLUMNS: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = (
    PRODUCT,
    text_column("marginCoin", "Coin", 5, lambda row: row.record.margin_coin),
    number_column("accountEquity", "Equity", 14, lambda row: row.record.account_equity, unit="margin coin"),
    number_column(
        "unrealizedPL", "Unrealised", 13, lambda row: row.record.unrealized_pl, profit=True, unit="margin coin"
    ),
    percent_column(
        "crossedRiskRate",
        "Risk",
        8,
        lambda row: row.record.crossed_risk_rate,
        warns=lambda risk: risk >= RISK_WORTH_A_WARNING,
        unit="of the margin",
    ),
    number_column("available", "Available", 14, lambda row: row.record.available, unit="margin coin"),
    number_column("locked", "Locked", 12, lambda row: row.record.locked, unit="margin coin"),
    number_column("usdtEquity", "In USDT", 14, lambda row: row.record.usdt_equity, unit="USDT"),
    number_column(
        "crossedMaxAvailable", "Max open", 14, lambda row: row.record.crossed_max_available, unit="margin coin"
    ),
    number_column("maxTransferOut", "Max out", 14, lambda row: row.record.max_transfer_out, unit="margin coin"),
    text_column("assetMode", "Assets", 6, lambda row: row.record.asset_mode),
)

UNION_ACCOUNT_COLUMNS: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = (
    PRODUCT,
    text_column("marginCoin", "Coin", 5, lambda row: row.record.margin_coin),
    number_column("unionTotalMargin", "Union margin", 13, lambda row: row.record.union_total_margin, unit="USDT"),
    number_column("unionAvailable", "Union avail.", 13, lambda row: row.record.union_available, unit="USDT"),
    percent_column(
        "marginRatio",
        "Ratio",
        7,
        lambda row: row.record.margin_ratio,
        warns=lambda ratio: ratio >= RISK_WORTH_A_WARNING,
        unit="union MM of union margin, or crossed risk rate",
    ),
    number_column("unionMm", "Union MM", 10, lambda row: row.record.union_mm, unit="USDT"),
    *(column for column in ACCOUNT_COLUMNS[2:] if column.id != "crossedRiskRate"),
)
"""The accounts' columns where one of them is in multi-assets mode: one coin's own figures say little there."""


def account_columns(rows: Iterable[ProductRow[FuturesAccount]]) -> tuple[Column[ProductRow[FuturesAccount]], ...]:
    """The columns of these accounts: other ones first where one of them is in multi-assets mode."""
    return UNION_ACCOUNT_COLUMNS if any(row.record.is_union for row in rows) else ACCOUNT_COLUMNS

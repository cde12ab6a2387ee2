"""Columns of the futures accounts."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.column import Column, text_column
from tradetui.desk.tables.columns.figure_columns import money_column, percent_column
from tradetui.desk.tables.columns.shared import PRODUCT

if TYPE_CHECKING:
    from tradetui.desk.tables.product_row import ProductRow
    from tradetui.wire.models.futures import FuturesAccount

RISK_WORTH_A_WARNING: Final = Decimal("0.5")


def _coin(row: ProductRow[FuturesAccount]) -> str:
    return row.record.margin_coin


def _usdt(_: ProductRow[FuturesAccount]) -> str:
    return "USDT"


ACCOUNT_COLUMNS: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = (
    PRODUCT,
    text_column("marginCoin", "Coin", 5, lambda row: row.record.margin_coin),
    money_column("accountEquity", "Equity", 14, lambda row: row.record.account_equity, _coin, unit="margin coin"),
    money_column(
        "unrealizedPL", "Unrealised", 13, lambda row: row.record.unrealized_pl, _coin, profit=True, unit="margin coin"
    ),
    percent_column(
        "crossedRiskRate",
        "Margin ratio %",
        14,
        lambda row: row.record.crossed_risk_rate,
        warns=lambda risk: risk >= RISK_WORTH_A_WARNING,
        unit="of the margin",
    ),
    money_column("available", "Available", 14, lambda row: row.record.available, _coin, unit="margin coin"),
    money_column("locked", "Locked", 12, lambda row: row.record.locked, _coin, unit="margin coin"),
    money_column("usdtEquity", "In USDT", 14, lambda row: row.record.usdt_equity, _usdt, unit="USDT"),
    money_column(
        "crossedMaxAvailable", "Max open", 14, lambda row: row.record.crossed_max_available, _coin, unit="margin coin"
    ),
    money_column("maxTransferOut", "Max out", 14, lambda row: row.record.max_transfer_out, _coin, unit="margin coin"),
    text_column("assetMode", "Assets", 6, lambda row: row.record.asset_mode),
)

UNION_ACCOUNT_COLUMNS: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = (
    PRODUCT,
    text_column("marginCoin", "Coin", 5, lambda row: row.record.margin_coin),
    money_column("unionTotalMargin", "Union margin", 13, lambda row: row.record.union_total_margin, _usdt, unit="USDT"),
    money_column("unionAvailable", "Union avail.", 13, lambda row: row.record.union_available, _usdt, unit="USDT"),
    percent_column(
        "marginRatio",
        "Margin ratio %",
        14,
        lambda row: row.record.margin_ratio,
        warns=lambda ratio: ratio >= RISK_WORTH_A_WARNING,
        unit="union MM of union margin, or crossed risk rate",
    ),
    money_column("unionMm", "Union MM", 10, lambda row: row.record.union_mm, _usdt, unit="USDT"),
    *(column for column in ACCOUNT_COLUMNS[2:] if column.id != "crossedRiskRate"),
)
"""The accounts' columns where one of them is in multi-assets mode: one coin's own figures say little there."""


def account_columns(rows: Iterable[ProductRow[FuturesAccount]]) -> tuple[Column[ProductRow[FuturesAccount]], ...]:
    """The columns of these accounts: other ones first where one of them is in multi-assets mode."""
    return UNION_ACCOUNT_COLUMNS if any(row.record.is_union for row in rows) else ACCOUNT_COLUMNS

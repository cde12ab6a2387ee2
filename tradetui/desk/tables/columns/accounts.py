"""The table of the futures accounts: its columns, and their totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.cell_format import CONVERTED, CellFormat, percent
from tradetui.desk.tables.cells.column import (
    Column,
    Footer,
    TableView,
    Tone,
    money,
    money_column,
    percent_column,
    ranked,
    text_column,
    tone_of,
)
from tradetui.desk.tables.columns.shared_columns import PRODUCT
from tradetui.trading.account_totals import free_margin, free_part, totals_of
from tradetui.trading.contract_math import is_dollar

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.wire.models.futures_accounts import FuturesAccount

RISK_WORTH_A_WARNING: Final = Decimal("0.5")
FREE_WORTH_A_WARNING: Final = Decimal("0.1")
_DOLLARS: Final = "USDT"


def _coin(row: ProductRow[FuturesAccount]) -> str:
    return row.record.margin_coin


def _dollars(_: ProductRow[FuturesAccount]) -> str:
    return _DOLLARS


def _free_tone(part: Decimal) -> Tone:
    return Tone.WARN if part < FREE_WORTH_A_WARNING else Tone.PLAIN


def _ratio_tone(ratio: Decimal) -> Tone:
    return Tone.WARN if ratio >= RISK_WORTH_A_WARNING else Tone.PLAIN


def _ratio_column(
    id_: str, ratio: Callable[[ProductRow[FuturesAccount]], Decimal | None], unit: str
) -> Column[ProductRow[FuturesAccount]]:
    return percent_column(id_, "Margin ratio %", 14, ratio, tone=_ratio_tone, unit=unit)


_COIN: Final[Column[ProductRow[FuturesAccount]]] = text_column("marginCoin", "Coin", 5, _coin)
_FREE: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = (
    money_column("free", "Free USDT", 12, lambda row: free_margin(row.record), _dollars, unit="USDT"),
    percent_column("freePart", "Free %", 7, lambda row: free_part(row.record), tone=_free_tone, unit="of the equity"),
)
_OTHERS: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = (
    money_column(
        "unrealizedPL", "Unrealised", 13, lambda row: row.record.unrealized_pl, _coin, profit=True, unit="margin coin"
    ),
    money_column("accountEquity", "Equity", 14, lambda row: row.record.account_equity, _coin),
    money_column("available", "Available", 14, lambda row: row.record.available, _coin),
    money_column("locked", "Locked", 12, lambda row: row.record.locked, _coin),
    money_column("crossedMaxAvailable", "Max open", 14, lambda row: row.record.crossed_max_available, _coin),
    money_column("maxTransferOut", "Max out", 14, lambda row: row.record.max_transfer_out, _coin),
    text_column("assetMode", "Assets", 6, lambda row: row.record.asset_mode),
    PRODUCT,
)
_DOLLAR_EQUITY: Final[Column[ProductRow[FuturesAccount]]] = money_column(
    "usdtEquity", "Equity USDT", 14, lambda row: row.record.usdt_equity, _dollars, unit="USDT"
)

ACCOUNT_COLUMNS: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = ranked(
    _COIN,
    _DOLLAR_EQUITY,
    *_FREE,
    _ratio_column(
        "crossedRiskRate", lambda row: row.record.crossed_risk_rate, unit="of the margin; 100 is liquidation"
    ),
    *_OTHERS,
    kept_longest="marginCoin,freePart,crossedRiskRate,free,usdtEquity,unrealizedPL,accountEquity,productType,available"
    ",locked,crossedMaxAvailable,maxTransferOut,assetMode",
)

UNION_ACCOUNT_COLUMNS: Final[tuple[Column[ProductRow[FuturesAccount]], ...]] = ranked(
    _COIN,
    money_column(
        "unionTotalMargin", "Union margin", 13, lambda row: row.record.union_total_margin, _dollars, unit="USDT"
    ),
    *_FREE,
    _ratio_column(
        "marginRatio",
        lambda row: row.record.margin_ratio,
        unit="union MM of union margin, or crossed risk rate; 100 is liquidation",
    ),
    money_column("unionMm", "Union MM", 10, lambda row: row.record.union_mm, _dollars, unit="USDT"),
    _DOLLAR_EQUITY,
    *_OTHERS,
    kept_longest="marginCoin,freePart,marginRatio,free,unionTotalMargin,usdtEquity,unrealizedPL,accountEquity"
    ",productType,unionMm,available,locked,crossedMaxAvailable,maxTransferOut,assetMode",
)
"""The accounts' columns if one account is in multi-assets mode: the figures of a single coin say little then."""


def account_columns(rows: Iterable[ProductRow[FuturesAccount]]) -> tuple[Column[ProductRow[FuturesAccount]], ...]:
    """Return the columns of these accounts, which depend on whether one is in multi-assets mode."""
    return UNION_ACCOUNT_COLUMNS if any(row.record.is_union for row in rows) else ACCOUNT_COLUMNS


def accounts_footer(rows: Iterable[ProductRow[FuturesAccount]], cell_format: CellFormat) -> Footer:
    """Count the accounts and total their equity in USDT; the note explains these totals.

    It also says why the unrealised profit differs slightly from that of the positions.
    """
    accounts = [row.record for row in rows]
    totals = totals_of(accounts)
    unrealised = money(totals.unrealised, _DOLLARS, cell_format, signed=True)
    is_converted = any(account.unrealized_pl and not is_dollar(account.margin_coin) for account in accounts)
    are_all_union = totals.has_union and not totals.has_single
    equity_id = "unionTotalMargin" if are_all_union else "usdtEquity"
    texts = {
        "marginCoin": (f"{len(accounts):,}", Tone.PLAIN),
        equity_id: (money(totals.equity, _DOLLARS, cell_format), Tone.PLAIN),
        "unrealizedPL": (f"{CONVERTED}{unrealised}" if is_converted else unrealised, tone_of(totals.unrealised)),
    }
    equity = "union margin" if are_all_union else "equity"
    counted = ", the union margin once" if totals.has_union and totals.has_single else ""
    return Footer(texts, f"{equity} as in the header{counted} · unrealised as last reported, positions are newer")


def accounts_headline(rows: Iterable[ProductRow[FuturesAccount]], _: CellFormat) -> str:
    """Return the least free margin of an account, figure first, because the end is cut if room is short."""
    parts = [(part, row.record.margin_coin) for row in rows if (part := free_part(row.record)) is not None]
    if not parts:
        return ""
    part, coin = min(parts)
    return f"{percent(part)} free {coin}"


ACCOUNTS_VIEW: Final[TableView[ProductRow[FuturesAccount]]] = TableView(
    ACCOUNT_COLUMNS, account_columns, footer=accounts_footer, headline=accounts_headline
)

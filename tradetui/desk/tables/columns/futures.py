"""Columns of the five panels, the most wanted first: what does not fit is a key to the right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.column import (
    LONGEST_DERIVED,
    Column,
    Tone,
    by_sign,
    id_column,
    number_column,
    percent_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.columns.shared import PRODUCT, fee_coin_column, fee_column, side_column
from tradetui.desk.tables.number_format import UNKNOWN, number, text_as_given
from tradetui.wire.product_types import margin_coin

if TYPE_CHECKING:
    from tradetui.desk.tables.product_row import ProductRow
    from tradetui.trading.positions import Position
    from tradetui.wire.models.futures import FuturesAccount, FuturesFill, PendingOrder, TriggerOrder

RISK_WORTH_A_WARNING: Final = Decimal("0.5")
LIQUIDATION_NEAR: Final = Decimal("0.05")


def _leg_tone(position: Position) -> Tone:
    if position.is_long is None:
        return Tone.WARN
    return Tone.LONG if position.is_long else Tone.SHORT


def _source_tone(position: Position) -> Tone:
    return Tone.WARN if str(position.source).endswith("?") else Tone.PLAIN


def _profit_column(id_: str, title: str, profit: Callable[[Position], Decimal | None]) -> Column[Position]:
    """Profit of positions of any coin: it names a coin that is no dollar, and is ordered by what it is worth."""

    def shown(position: Position, _: tzinfo) -> str:
        text = number(profit(position), signed=True, at_most=LONGEST_DERIVED)
        if text == UNKNOWN or not position.product_type.is_coin_margined:
            return text
        coin = position.margin_coin or margin_coin(position.product_type, position.symbol)
        return f"{text} {coin or 'of its coin'}"

    def worth(position: Position) -> Decimal | None:
        amount = profit(position)
        if amount is None or not position.product_type.is_coin_margined:
            return amount
        return None if position.mark is None else amount * position.mark

    return Column(id_, title, profit, shown, 11, right=True, tone=by_sign(profit), unit="margin coin", order=worth)


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


SUMMED_SINCE: Final[Column[Position]] = time_column("since", "Fills since", lambda position: position.summed_since)
"""Since when fills were summed to a position."""

POSITION_COLUMNS: Final[tuple[Column[Position], ...]] = (
    text_column("symbol", "Symbol", 9, lambda row: row.symbol),
    Column("leg", "Leg", lambda row: row.shown_leg, lambda row, _: row.shown_leg.upper(), 5, tone=_leg_tone),
    number_column("size", "Size", 8, lambda row: row.size, unit="base coin"),
    number_column("entry", "Entry", 11, lambda row: row.entry, derived=True, unit="quote coin"),
    number_column("mark", "Mark", 10, lambda row: row.mark, unit="quote coin"),
    _profit_column("unrealised", "Unrealised", lambda row: row.unrealised),
    _profit_column("realised", "Realised", lambda row: row.realised),
    percent_column(
        "liquidation",
        "Liq. dist",
        9,
        lambda row: row.liquidation_distance,
        warns=lambda distance: distance < LIQUIDATION_NEAR,
        unit="of the mark",
    ),
    Column(
        "leverage",
        "Lev",
        lambda row: row.leverage,
        lambda row, _: UNKNOWN if row.leverage is None else f"{number(row.leverage)}x",
        4,
        right=True,
    ),
    text_column("marginMode", "Margin", 8, lambda row: row.margin_mode),
    Column("source", "Source", lambda row: str(row.source), lambda row, _: str(row.source), 11, tone=_source_tone),
    number_column("takeProfit", "TP", 9, lambda row: row.take_profit, unit="quote coin"),
    number_column("stopLoss", "SL", 9, lambda row: row.stop_loss, unit="quote coin"),
    PRODUCT,
)

ORDER_COLUMNS: Final[tuple[Column[ProductRow[PendingOrder]], ...]] = (
    text_column("symbol", "Symbol", 10, lambda row: row.record.symbol),
    side_column(lambda row: row.record.side),
    text_column("tradeSide", "Trade", 11, lambda row: row.record.trade_side),
    number_column("price", "Price", 11, lambda row: row.record.price, unit="quote coin"),
    number_column("size", "Size", 10, lambda row: row.record.size, unit="base coin"),
    number_column("baseVolume", "Filled", 10, lambda row: row.record.base_volume, unit="base coin"),
    text_column("orderType", "Kind", 6, lambda row: row.record.order_type),
    text_column("status", "Status", 16, lambda row: row.record.status),
    number_column(
        "presetStopSurplusPrice", "TP", 10, lambda row: row.record.preset_stop_surplus_price, unit="quote coin"
    ),
    number_column("presetStopLossPrice", "SL", 10, lambda row: row.record.preset_stop_loss_price, unit="quote coin"),
    text_column("force", "Force", 9, lambda row: row.record.force),
    text_column("reduceOnly", "Reduce", 6, lambda row: row.record.reduce_only),
    time_column("cTime", "Created", lambda row: row.record.c_time),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
)

FILL_COLUMNS: Final[tuple[Column[ProductRow[FuturesFill]], ...]] = (
    time_column("cTime", "Time", lambda row: row.record.c_time),
    text_column("symbol", "Symbol", 10, lambda row: row.record.symbol),
    side_column(lambda row: row.record.side),
    text_column("tradeSide", "Trade", 11, lambda row: row.record.trade_side),
    number_column("price", "Price", 11, lambda row: row.record.price, unit="quote coin"),
    number_column("baseVolume", "Size", 10, lambda row: row.record.base_volume, unit="base coin"),
    number_column("profit", "Profit", 12, lambda row: row.record.profit, profit=True, unit="margin coin"),
    fee_column(lambda row: row.record.fee_detail),
    fee_coin_column(lambda row: row.record.fee_detail),
    number_column("quoteVolume", "Value", 13, lambda row: row.record.quote_volume, unit="quote coin"),
    text_column("tradeScope", "Scope", 6, lambda row: row.record.trade_scope),
    text_column("enterPointSource", "Via", 7, lambda row: row.record.enter_point_source),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
)

_STATUS_TONE: Final = {"executed": Tone.GAIN, "fail_execute": Tone.LOSS, "fail_trigger": Tone.LOSS, "live": Tone.PLAIN}

TRIGGER_COLUMNS: Final[tuple[Column[ProductRow[TriggerOrder]], ...]] = (
    time_column("uTime", "Updated", lambda row: row.record.u_time),
    text_column("symbol", "Symbol", 10, lambda row: row.record.symbol),
    text_column("planType", "Plan", 11, lambda row: row.record.plan_type),
    Column(
        "planStatus",
        "Status",
        lambda row: row.record.plan_status,
        lambda row, _: text_as_given(row.record.plan_status),
        12,
        tone=lambda row: _STATUS_TONE.get(str(row.record.plan_status).lower(), Tone.MUTED),
    ),
    side_column(lambda row: row.record.side),
    text_column("tradeSide", "Trade", 11, lambda row: row.record.trade_side),
    number_column("triggerPrice", "Trigger", 11, lambda row: row.record.trigger_price, unit="quote coin"),
    number_column("size", "Size", 10, lambda row: row.record.size, unit="base coin"),
    number_column("executePrice", "Executed", 11, lambda row: row.record.execute_price, unit="quote coin"),
    text_column("triggerType", "By", 10, lambda row: row.record.trigger_type),
    number_column("callbackRatio", "Callback", 8, lambda row: row.record.callback_ratio, unit="per cent"),
    time_column("cTime", "Created", lambda row: row.record.c_time),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
)

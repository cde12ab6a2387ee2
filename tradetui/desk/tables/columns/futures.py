"""Columns of the five panels, the most wanted first: what does not fit is a key to the right."""

from __future__ import annotations

from datetime import tzinfo
from decimal import Decimal
from typing import Any, Final

from tradetui.desk.tables.columns.column import (
    LONGEST_DERIVED,
    Column,
    Tone,
    by_sign,
    get,
    id_column,
    number_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.columns.shared import FEE, FEE_COIN, PRODUCT, side_column
from tradetui.desk.tables.number_format import UNKNOWN, number, percent, text_as_given
from tradetui.wire.product_types import margin_coin

RISK_WORTH_A_WARNING: Final = Decimal("0.5")
LIQUIDATION_NEAR: Final = Decimal("0.05")


def _risk_tone(row: Any) -> Tone:
    risk = row.crossed_risk_rate
    return Tone.WARN if risk is not None and risk >= RISK_WORTH_A_WARNING else Tone.PLAIN


def _margin_ratio_tone(row: Any) -> Tone:
    ratio = row.margin_ratio
    return Tone.WARN if ratio is not None and ratio >= RISK_WORTH_A_WARNING else Tone.PLAIN


def _liquidation_tone(row: Any) -> Tone:
    distance = row.liquidation_distance
    return Tone.WARN if distance is not None and distance < LIQUIDATION_NEAR else Tone.PLAIN


def _leg_tone(row: Any) -> Tone:
    if row.is_long is None:
        return Tone.WARN
    return Tone.LONG if row.is_long else Tone.SHORT


def _source_tone(row: Any) -> Tone:
    return Tone.WARN if str(row.source).endswith("?") else Tone.PLAIN


def _profit_column(id_: str, title: str) -> Column:
    """Profit of positions of any coin: it names a coin that is no dollar, and is ordered by what it is worth."""
    value = get(id_)

    def shown(row: Any, _: tzinfo) -> str:
        text = number(value(row), signed=True, at_most=LONGEST_DERIVED)
        if text == UNKNOWN or not row.product_type.is_coin_margined:
            return text
        coin = row.margin_coin or margin_coin(row.product_type, row.symbol)
        return f"{text} {coin or 'of its coin'}"

    def worth(row: Any) -> Decimal | None:
        amount: Decimal | None = value(row)
        if amount is None or not row.product_type.is_coin_margined:
            return amount
        return None if row.mark is None else amount * row.mark

    return Column(id_, title, value, shown, 11, right=True, tone=by_sign(value), unit="margin coin", order=worth)


ACCOUNTS: Final = (
    PRODUCT,
    text_column("marginCoin", "Coin", 5, "margin_coin"),
    number_column("accountEquity", "Equity", 14, "account_equity", unit="margin coin"),
    number_column("unrealizedPL", "Unrealised", 13, "unrealized_pl", profit=True, unit="margin coin"),
    Column(
        "crossedRiskRate",
        "Risk",
        get("crossed_risk_rate"),
        lambda row, _: percent(row.crossed_risk_rate),
        8,
        right=True,
        tone=_risk_tone,
        unit="of the margin",
    ),
    number_column("available", "Available", 14, unit="margin coin"),
    number_column("locked", "Locked", 12, unit="margin coin"),
    number_column("usdtEquity", "In USDT", 14, "usdt_equity", unit="USDT"),
    number_column("crossedMaxAvailable", "Max open", 14, "crossed_max_available", unit="margin coin"),
    number_column("maxTransferOut", "Max out", 14, "max_transfer_out", unit="margin coin"),
    text_column("assetMode", "Assets", 6, "asset_mode"),
)

UNION_ACCOUNTS: Final = (
    PRODUCT,
    text_column("marginCoin", "Coin", 5, "margin_coin"),
    number_column("unionTotalMargin", "Union margin", 13, "union_total_margin", unit="USDT"),
    number_column("unionAvailable", "Union avail.", 13, "union_available", unit="USDT"),
    Column(
        "marginRatio",
        "Ratio",
        get("margin_ratio"),
        lambda row, _: percent(row.margin_ratio),
        7,
        right=True,
        tone=_margin_ratio_tone,
        unit="union MM of union margin, or crossed risk rate",
    ),
    number_column("unionMm", "Union MM", 10, "union_mm", unit="USDT"),
    *(column for column in ACCOUNTS[2:] if column.id != "crossedRiskRate"),
)
"""The accounts' columns where one of them is in multi-assets mode: one coin's own figures say little there."""

POSITIONS: Final = (
    text_column("symbol", "Symbol", 9),
    Column("leg", "Leg", get("shown_leg"), lambda row, _: row.shown_leg.upper(), 5, tone=_leg_tone),
    number_column("size", "Size", 8, unit="base coin"),
    number_column("entry", "Entry", 11, derived=True, unit="quote coin"),
    number_column("mark", "Mark", 10, unit="quote coin"),
    _profit_column("unrealised", "Unrealised"),
    _profit_column("realised", "Realised"),
    Column(
        "liquidation",
        "Liq. dist",
        get("liquidation_distance"),
        lambda row, _: percent(row.liquidation_distance),
        9,
        right=True,
        tone=_liquidation_tone,
        unit="of the mark",
    ),
    Column(
        "leverage",
        "Lev",
        get("leverage"),
        lambda row, _: UNKNOWN if row.leverage is None else f"{number(row.leverage)}x",
        4,
        right=True,
    ),
    text_column("marginMode", "Margin", 8, "margin_mode"),
    Column("source", "Source", lambda row: str(row.source), lambda row, _: str(row.source), 11, tone=_source_tone),
    number_column("takeProfit", "TP", 9, "take_profit", unit="quote coin"),
    number_column("stopLoss", "SL", 9, "stop_loss", unit="quote coin"),
    PRODUCT,
)

ORDERS: Final = (
    text_column("symbol", "Symbol", 10),
    side_column(),
    text_column("tradeSide", "Trade", 11, "trade_side"),
    number_column("price", "Price", 11, unit="quote coin"),
    number_column("size", "Size", 10, unit="base coin"),
    number_column("baseVolume", "Filled", 10, "base_volume", unit="base coin"),
    text_column("orderType", "Kind", 6, "order_type"),
    text_column("status", "Status", 16),
    number_column("presetStopSurplusPrice", "TP", 10, "preset_stop_surplus_price", unit="quote coin"),
    number_column("presetStopLossPrice", "SL", 10, "preset_stop_loss_price", unit="quote coin"),
    text_column("force", "Force", 9),
    text_column("reduceOnly", "Reduce", 6, "reduce_only"),
    time_column("cTime", "Created", "c_time"),
    id_column("orderId", "Order", 19, "order_id"),
    PRODUCT,
)

FILLS: Final = (
    time_column("cTime", "Time", "c_time"),
    text_column("symbol", "Symbol", 10),
    side_column(),
    text_column("tradeSide", "Trade", 11, "trade_side"),
    number_column("price", "Price", 11, unit="quote coin"),
    number_column("baseVolume", "Size", 10, "base_volume", unit="base coin"),
    number_column("profit", "Profit", 12, profit=True, unit="margin coin"),
    FEE,
    FEE_COIN,
    number_column("quoteVolume", "Value", 13, "quote_volume", unit="quote coin"),
    text_column("tradeScope", "Scope", 6, "trade_scope"),
    text_column("enterPointSource", "Via", 7, "enter_point_source"),
    id_column("orderId", "Order", 19, "order_id"),
    PRODUCT,
)

_STATUS_TONE: Final = {"executed": Tone.GAIN, "fail_execute": Tone.LOSS, "fail_trigger": Tone.LOSS, "live": Tone.PLAIN}

TRIGGERS: Final = (
    time_column("uTime", "Updated", "u_time"),
    text_column("symbol", "Symbol", 10),
    text_column("planType", "Plan", 11, "plan_type"),
    Column(
        "planStatus",
        "Status",
        get("plan_status"),
        lambda row, _: text_as_given(row.plan_status),
        12,
        tone=lambda row: _STATUS_TONE.get(str(row.plan_status).lower(), Tone.MUTED),
    ),
    side_column(),
    text_column("tradeSide", "Trade", 11, "trade_side"),
    number_column("triggerPrice", "Trigger", 11, "trigger_price", unit="quote coin"),
    number_column("size", "Size", 10, unit="base coin"),
    number_column("executePrice", "Executed", 11, "execute_price", unit="quote coin"),
    text_column("triggerType", "By", 10, "trigger_type"),
    number_column("callbackRatio", "Callback", 8, "callback_ratio", unit="per cent"),
    time_column("cTime", "Created", "c_time"),
    id_column("orderId", "Order", 19, "order_id"),
    PRODUCT,
)

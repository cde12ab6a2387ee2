"""The columns of every record: title, exact text, how it sorts, and what its sign means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

UNKNOWN: Final = "—"


class Tone(StrEnum):
    """What a cell's text means; a theme gives each a colour, and the text alone says it too."""

    PLAIN = "plain"
    MUTED = "muted"
    GAIN = "gain"
    LOSS = "loss"
    LONG = "long"
    SHORT = "short"
    WARN = "warn"


Text = Callable[[Any, tzinfo], str]
Value = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `value` is what is sorted by and exported, `text` what is shown; `width` in cells."""

    id: str
    title: str
    value: Value
    text: Text
    width: int
    right: bool = False
    tone: Callable[[Any], Tone] | None = None
    unit: str = ""


def number(value: Decimal | int | None, *, signed: bool = False, places: int | None = None) -> str:
    """A number with thousands apart, its own digits or so many places; a sign always where profit is meant."""
    if value is None:
        return UNKNOWN
    if places is not None and isinstance(value, Decimal):
        value = round(value, places)
    text = f"{value:,f}" if isinstance(value, Decimal) else f"{value:,}"
    if places is None and "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in ("-0", ""):
        text = "0"
    return f"+{text}" if signed and value > 0 else text


def percent(value: Decimal | None) -> str:
    """A part as per cent with two places."""
    return UNKNOWN if value is None else f"{number(value * 100, places=2)}%"


def moment(value: datetime | None, zone: tzinfo) -> str:
    """Month, day and time to the second in a zone; another year's with the year."""
    if value is None:
        return UNKNOWN
    return value.astimezone(zone).strftime("%m-%d %H:%M:%S")


def words(value: object) -> str:
    """Text as received, or the mark of what is not given."""
    return UNKNOWN if value is None or value == "" else str(value)


def by_sign(value: Value) -> Callable[[Any], Tone]:
    """Gain above zero, loss below."""

    def tone(row: Any) -> Tone:
        amount = value(row)
        if amount is None or amount == 0:
            return Tone.PLAIN
        return Tone.GAIN if amount > 0 else Tone.LOSS

    return tone


def get(name: str) -> Value:
    """The value of an attribute."""
    return lambda row: getattr(row, name)


def text_column(id_: str, title: str, width: int, name: str | None = None, *, upper: bool = False) -> Column:
    value = get(name or id_)
    shown: Text = (lambda row, _: words(value(row)).upper()) if upper else (lambda row, _: words(value(row)))
    return Column(id_, title, value, shown, width)


def number_column(
    id_: str, title: str, width: int, name: str | None = None, *, profit: bool = False, places: int | None = None
) -> Column:
    value = get(name or id_)
    return Column(
        id_,
        title,
        value,
        lambda row, _: number(value(row), signed=profit, places=places),
        width,
        right=True,
        tone=by_sign(value) if profit else None,
    )


def time_column(id_: str, title: str, name: str | None = None) -> Column:
    value = get(name or id_)
    return Column(id_, title, value, lambda row, zone: moment(value(row), zone), 14)


def _side_tone(row: Any) -> Tone:
    return Tone.LONG if str(row.side).lower() == "buy" else Tone.SHORT


def _side_column() -> Column:
    return Column("side", "Side", get("side"), lambda row, _: words(row.side).upper(), 4, tone=_side_tone)


def _fee(row: Any) -> Decimal | None:
    fees = [fee.total_fee for fee in row.fee_detail if fee.total_fee is not None]
    return sum(fees, Decimal(0)) if fees else None


def _fee_coin(row: Any) -> str | None:
    return next((fee.fee_coin for fee in row.fee_detail if fee.fee_coin), None)


def _product(row: Any) -> str:
    return str(row.product_type).removesuffix("-FUTURES")


PRODUCT: Final = Column("productType", "Type", _product, lambda row, _: _product(row), 5)

ACCOUNTS: Final = (
    PRODUCT,
    text_column("marginCoin", "Coin", 6, "margin_coin"),
    number_column("accountEquity", "Equity", 14, "account_equity", places=4),
    number_column("unrealizedPL", "Unrealised", 13, "unrealized_pl", profit=True, places=4),
    Column(
        "crossedRiskRate",
        "Risk",
        get("crossed_risk_rate"),
        lambda row, _: percent(row.crossed_risk_rate),
        8,
        right=True,
        tone=lambda row: Tone.WARN if (row.crossed_risk_rate or 0) >= Decimal("0.5") else Tone.PLAIN,
    ),
    number_column("available", "Available", 14, places=4),
    number_column("locked", "Locked", 12, places=4),
    number_column("usdtEquity", "In USDT", 14, "usdt_equity", places=2),
    number_column("crossedMaxAvailable", "Max open", 14, "crossed_max_available", places=4),
    number_column("maxTransferOut", "Max out", 14, "max_transfer_out", places=4),
    text_column("assetMode", "Assets", 6, "asset_mode"),
)

POSITIONS: Final = (
    text_column("symbol", "Symbol", 10),
    Column(
        "leg",
        "Leg",
        get("leg"),
        lambda row, _: row.leg.upper(),
        5,
        tone=lambda row: Tone.LONG if row.is_long else Tone.SHORT,
    ),
    number_column("size", "Size", 10),
    number_column("entry", "Entry", 11, places=6),
    number_column("mark", "Mark", 11),
    number_column("unrealised", "Unrealised", 12, profit=True, places=4),
    number_column("realised", "Realised", 12, profit=True, places=4),
    Column(
        "liquidation",
        "Liq. dist",
        get("liquidation_distance"),
        lambda row, _: percent(row.liquidation_distance),
        9,
        right=True,
        tone=lambda row: Tone.WARN if (row.liquidation_distance or 1) < Decimal("0.05") else Tone.PLAIN,
    ),
    Column(
        "leverage",
        "Lev",
        get("leverage"),
        lambda row, _: UNKNOWN if row.leverage is None else f"{row.leverage}x",
        4,
        True,
    ),
    text_column("marginMode", "Margin", 8, "margin_mode"),
    number_column("takeProfit", "TP", 10, "take_profit"),
    number_column("stopLoss", "SL", 10, "stop_loss"),
    text_column("source", "Source", 11),
    PRODUCT,
)

ORDERS: Final = (
    text_column("symbol", "Symbol", 10),
    _side_column(),
    text_column("tradeSide", "Trade", 11, "trade_side"),
    number_column("price", "Price", 11),
    number_column("size", "Size", 10),
    number_column("baseVolume", "Filled", 10, "base_volume"),
    text_column("orderType", "Kind", 6, "order_type"),
    text_column("status", "Status", 16),
    number_column("presetStopSurplusPrice", "TP", 10, "preset_stop_surplus_price"),
    number_column("presetStopLossPrice", "SL", 10, "preset_stop_loss_price"),
    text_column("force", "Force", 9),
    text_column("reduceOnly", "Reduce", 6, "reduce_only"),
    time_column("cTime", "Created", "c_time"),
    text_column("orderId", "Order", 19, "order_id"),
    PRODUCT,
)

FILLS: Final = (
    time_column("cTime", "Time", "c_time"),
    text_column("symbol", "Symbol", 10),
    _side_column(),
    text_column("tradeSide", "Trade", 12, "trade_side"),
    number_column("price", "Price", 11),
    number_column("baseVolume", "Size", 10, "base_volume"),
    number_column("profit", "Profit", 12, profit=True, places=4),
    Column("fee", "Fee", _fee, lambda row, _: number(_fee(row), signed=True, places=6), 11, right=True),
    Column("feeCoin", "Coin", _fee_coin, lambda row, _: words(_fee_coin(row)), 5),
    number_column("quoteVolume", "Value", 13, "quote_volume", places=2),
    text_column("tradeScope", "Scope", 6, "trade_scope"),
    text_column("enterPointSource", "Via", 7, "enter_point_source"),
    text_column("orderId", "Order", 19, "order_id"),
    PRODUCT,
)

_STATUS_TONE: Final = {"executed": Tone.GAIN, "fail_execute": Tone.LOSS}

TRIGGERS: Final = (
    time_column("uTime", "Updated", "u_time"),
    text_column("symbol", "Symbol", 10),
    text_column("planType", "Plan", 11, "plan_type"),
    Column(
        "planStatus",
        "Status",
        get("plan_status"),
        lambda row, _: words(row.plan_status),
        12,
        tone=lambda row: _STATUS_TONE.get(str(row.plan_status).lower(), Tone.MUTED),
    ),
    _side_column(),
    text_column("tradeSide", "Trade", 11, "trade_side"),
    number_column("triggerPrice", "Trigger", 11, "trigger_price"),
    number_column("size", "Size", 10),
    number_column("executePrice", "Executed", 11, "execute_price"),
    text_column("triggerType", "By", 10, "trigger_type"),
    number_column("callbackRatio", "Callback", 8, "callback_ratio"),
    time_column("cTime", "Created", "c_time"),
    text_column("orderId", "Order", 19, "order_id"),
    PRODUCT,
)

COLUMNS: Final[Mapping[str, Sequence[Column]]] = {
    "accounts": ACCOUNTS,
    "positions": POSITIONS,
    "orders": ORDERS,
    "fills": FILLS,
    "triggers": TRIGGERS,
}

UTC_ZONE: Final[tzinfo] = UTC

"""Rows of a unified account (interface v3) in the classic interface's fields (v2), which is all that others read.

Each function takes a row of v3 as received and returns a row of v2, which also holds the row of v3 (`ORIGINAL`). What
v3 does not tell is missing, never zero.

Directions differ: `side` of v3 is the direction of the trade, and `tradeSide` of an ordinary open is `open_short`,
which v2 would read as a close by the exchange. `_HEDGE_TERMS` is the one table of these words. A word that is not in
it, or that contradicts the side, is left as it came, so that nothing is decided by it.

Sources: the fields of recorded replies, the exchange's documents of December 2025, and the types of public client
libraries of 2026. The sign of a paid fee is not documented and was recorded both ways, so `paid_signs` finds it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from tradetui.wire.enums import (
    PlanStatus,
    PlanType,
    PositionMode,
    PositionSide,
    Side,
    TradeScope,
    TradeSide,
    known,
    same,
)
from tradetui.wire.models.api_key import READ_ONLY_SUFFIX
from tradetui.wire.models.futures_accounts import UNIFIED_COIN_MODE, UNIFIED_MODE
from tradetui.wire.replies.field_types import FIGURE_PATTERN
from tradetui.wire.replies.record import ORIGINAL

_Row = Mapping[str, Any]

_LONG, _SHORT, _OPEN, _CLOSE = PositionSide.LONG, PositionSide.SHORT, TradeSide.OPEN, TradeSide.CLOSE
_LEG_SIDES: Final = {_LONG: Side.BUY, _SHORT: Side.SELL}
_HEDGE_TERMS: Final = {
    "open_long": (_LONG, _OPEN, Side.BUY),
    "open_short": (_SHORT, _OPEN, Side.SELL),
    "close_long": (_LONG, _CLOSE, Side.SELL),
    "close_short": (_SHORT, _CLOSE, Side.BUY),
}
"""Leg, effect and direction of the words of v3 that v2 does not have; its other words mean the same in both."""
_UNKNOWN_MODE: Final = "not known"
"""The position mode of a fill that may be of either: no mode is known by this word, so that nothing is decided."""
_ORDER_STATUSES: Final = {"new": "live"}
_PLAN_STATUSES: Final = {
    "pending": PlanStatus.LIVE,
    "submitting": PlanStatus.EXECUTING,
    "success": PlanStatus.EXECUTED,
    "failed": PlanStatus.FAIL_EXECUTE,
    "cancelled": PlanStatus.CANCELLED,
}
_PRICE_SOURCES: Final = {"market": "fill_price", "mark": "mark_price"}
WHOLE_ACCOUNT: Final = "USD"
"""The coin of the row for the whole account, whose figures are in dollars; no wallet is in dollars."""

_TIMES: Final = {"cTime": "createdTime", "uTime": "updatedTime"}
_OF_POSITION: Final = {
    "holdSide": "posSide",
    "marginSize": "positionBalance",
    "locked": "frozen",
    "achievedProfits": "curRealisedPnl",
    "openPriceAvg": "avgPrice",
    "posMode": "holdMode",
    "unrealizedPL": "unrealisedPnl",
    "keepMarginRate": "mmr",
    "totalFee": "totalFunding",
    "uTime": "updatedTime",
}
"""The field of v2: that of v3. `createdTime` is not among them: it is of the leg's first opening, however long ago."""
_SAME_OF_POSITION: Final = (
    *("marginCoin", "symbol", "available", "total", "leverage"),
    *("marginMode", "liquidationPrice", "markPrice", "breakEvenPrice"),
)
"""The fields that have one name in both."""
_OF_ORDER: Final = {
    "size": "qty",
    "baseVolume": "cumExecQty",
    "quoteVolume": "cumExecValue",
    "priceAvg": "avgPrice",
    "force": "timeInForce",
    "posMode": "holdMode",
    "orderSource": "delegateType",
    "presetStopSurplusPrice": "takeProfit",
    "presetStopLossPrice": "stopLoss",
    **_TIMES,
}
_SAME_OF_ORDER: Final = (
    *("symbol", "orderId", "clientOid", "price", "side"),
    *("posSide", "marginMode", "reduceOnly", "orderType"),
)
_OF_FILL: Final = {
    "tradeId": "execId",
    "price": "execPrice",
    "baseVolume": "execQty",
    "quoteVolume": "execValue",
    "profit": "execPnl",
    "cTime": "createdTime",
}
_SAME_OF_FILL: Final = ("symbol", "orderId", "side", "tradeSide", "tradeScope")
_SAME_OF_TRIGGER: Final = ("symbol", "orderId", "clientOid", "side", "posSide", "marginMode")
_OF_CLOSED_POSITION: Final = {
    "holdSide": "posSide",
    "posMode": "holdMode",
    "pnl": "cumRealisedPnl",
    "openFee": "openFeeTotal",
    "closeFee": "closeFeeTotal",
    **_TIMES,
}
_SAME_OF_CLOSED_POSITION: Final = ("marginCoin", "symbol", "marginMode", "netProfit", "totalFunding")


def classic_accounts(assets: _Row) -> list[dict[str, Any]]:
    """Return the whole account as a row in dollars, and after it each of its coins.

    The figures of the whole are of v3 in USD; equity in USDT divided by equity in USD is the rate of both. What is free
    for new positions is told by neither, nor is the profit of a coin.
    """
    coins = assets.get("assets")
    coins = [coin for coin in coins if isinstance(coin, Mapping)] if isinstance(coins, Sequence) else []
    equity, usdt_equity = _figure(assets.get("accountEquity")), assets.get("usdtEquity")
    rate = None if not equity else _divided(_figure(usdt_equity), equity)
    maintenance, effective = _figure(assets.get("mmr")), _figure(assets.get("effEquity"))
    whole = {
        "marginCoin": WHOLE_ACCOUNT,
        "accountEquity": assets.get("accountEquity"),
        "usdtEquity": usdt_equity,
        "btcEquity": assets.get("btcEquity"),
        "unrealizedPL": assets.get("unrealisedPnl"),
        "unionTotalMargin": _product(effective, rate),
        "unionMm": _product(maintenance, rate),
        "assetMode": UNIFIED_MODE,
        ORIGINAL: assets,
    }
    return [whole, *(_coin_row(coin, rate) for coin in coins)]


def _coin_row(coin: _Row, rate: Decimal | None) -> dict[str, Any]:
    return {
        "marginCoin": coin.get("coin"),
        "accountEquity": coin.get("equity"),
        "usdtEquity": _product(_figure(coin.get("usdValue")), rate),
        "available": coin.get("available"),
        "locked": coin.get("locked"),
        "assetMode": UNIFIED_COIN_MODE,
        ORIGINAL: coin,
    }


def classic_position(position: _Row) -> dict[str, Any]:
    row = _renamed(position, _OF_POSITION, _SAME_OF_POSITION)
    liquidation = _figure(position.get("liquidationPrice"))
    if liquidation is not None and liquidation <= 0:
        del row["liquidationPrice"]
    return row


def classic_order(order: _Row) -> dict[str, Any]:
    """Return a pending order; in hedge mode side and leg together say whether it opens or closes."""
    row = _renamed(order, _OF_ORDER, _SAME_OF_ORDER)
    status = order.get("orderStatus")
    row["status"] = _ORDER_STATUSES.get(str(status).lower(), status)
    if _figure(order.get("avgPrice")) == 0:
        del row["priceAvg"]
    row |= _resting_sides(order, order.get("holdMode"))
    return row


def classic_fill(fill: _Row, hold_mode: str | None, paid: int | None) -> dict[str, Any]:
    """Return a fill.

    Args:
        fill: as received.
        hold_mode: the account's position mode, which alone tells the mode of a fill that says `open` or `close`.
        paid: the sign of a paid fee (`paid_signs`); None leaves every fee out, since its sign is not known.
    """
    row = _renamed(fill, _OF_FILL, _SAME_OF_FILL)
    fees = fill.get("feeDetail")
    fees = [fees] if isinstance(fees, Mapping) else fees
    if isinstance(fees, list):
        row["feeDetail"] = [_fee(fee, paid) if isinstance(fee, Mapping) else fee for fee in fees]
    row |= _fill_sides(fill, known(PositionMode, hold_mode))
    return row


def paid_signs(fills: Iterable[_Row]) -> set[int]:
    """Return the signs (1 or -1) that paid fees have in a reply, as its taker fills show: a taker always pays.

    The sign is known if there is exactly one.
    """
    signs = set()
    for fill in fills:
        fees = fill.get("feeDetail")
        if not same(_text(fill.get("tradeScope")), TradeScope.TAKER) or not isinstance(fees, list):
            continue
        amounts = (_figure(fee.get("fee")) for fee in fees if isinstance(fee, Mapping))
        signs |= {1 if amount > 0 else -1 for amount in amounts if amount}
    return signs


def classic_triggers(trigger: _Row, strategy_type: str, hold_mode: str | None, *, waits: bool) -> list[dict[str, Any]]:
    """Return a strategy order; one that takes profit and stops a loss is two, each with an id of its own.

    Args:
        trigger: as received.
        strategy_type: the type that was asked for, tpsl or trigger, since a row does not always tell it.
        hold_mode: the account's position mode.
        waits: whether it is among those that wait, which tell no status.
    """
    row = _renamed(trigger, {"size": "qty", **_TIMES}, _SAME_OF_TRIGGER)
    status = _text(trigger.get("status"))
    row["planStatus"] = _PLAN_STATUSES.get((status or "").lower(), status or (PlanStatus.LIVE if waits else None))
    if (_text(trigger.get("type")) or strategy_type).lower() != "tpsl":
        row |= _resting_sides(trigger, hold_mode) | _plan(PlanType.NORMAL_PLAN, trigger, "trigger")
        row["stopSurplusTriggerPrice"] = trigger.get("takeProfit")
        row["stopLossTriggerPrice"] = trigger.get("stopLoss")
        return [row]
    row |= _closing_sides(trigger, hold_mode)
    halves = [
        row | _plan(plan_type, trigger, prefix)
        for plan_type, prefix, price in (
            (PlanType.PROFIT_PLAN, "tp", trigger.get("takeProfit")),
            (PlanType.LOSS_PLAN, "sl", trigger.get("stopLoss")),
        )
        if _figure(price)
    ]
    if len(halves) < 2:
        return halves or [row | {"planType": PlanType.PROFIT_LOSS}]
    fired = {"takeprofit": halves[0], "stoploss": halves[1]}.get((_text(trigger.get("triggerType")) or "").lower())
    for half, name in zip(halves, ("take-profit", "stop-loss"), strict=True):
        half["orderId"] = _half_id(_text(trigger.get("orderId")), name)
        if fired is not None and half is not fired:
            half["planStatus"] = PlanStatus.CANCELLED  # the other one fired, and both are gone
    return halves


def _half_id(order_id: str | None, half: str) -> str | None:
    """Return the id of one half of a strategy order that takes profit and stops a loss."""
    return None if order_id is None else f"{order_id} {half}"


def classic_closed_position(position: _Row) -> dict[str, Any]:
    return _renamed(position, _OF_CLOSED_POSITION, _SAME_OF_CLOSED_POSITION)


def classic_key(key: _Row) -> dict[str, Any]:
    """Return the owner of the key; one that may only read has `READ_ONLY_SUFFIX` behind each of its permissions."""
    permissions = key.get("permissions")
    permissions = (
        [permissions] if isinstance(permissions, str) else permissions if isinstance(permissions, list) else []
    )
    reads_only = (_text(key.get("permType")) or "").lower().replace("-", "_") == "read_only"
    suffix = READ_ONLY_SUFFIX if reads_only else ""
    row = _renamed(key, {}, ("userId", "parentId", "ips"))
    row["authorities"] = [f"{word}{suffix}" for word in permissions]
    return row


def _renamed(row: _Row, names: Mapping[str, str], same: Sequence[str]) -> dict[str, Any]:
    every = {**dict(zip(same, same, strict=True)), **names}
    return {name: row[original] for name, original in every.items() if original in row} | {ORIGINAL: row}


def _fill_sides(fill: _Row, hold_mode: PositionMode | None) -> dict[str, Any]:
    """Return side, trade side and position mode in the words of v2; empty if they stay as they came."""
    word, side = (_text(fill.get("tradeSide")) or "").lower(), known(Side, _text(fill.get("side")))
    if word in _HEDGE_TERMS:
        leg, effect, direction = _HEDGE_TERMS[word]
        return _hedge_sides(leg, effect) if side is direction else {}
    if word in (_OPEN, _CLOSE):
        if side is None or hold_mode is None:
            return {"posMode": _UNKNOWN_MODE}
        if hold_mode is PositionMode.ONE_WAY:
            return {"tradeSide": f"{side}_single", "posMode": PositionMode.ONE_WAY}
        return _hedge_sides(_LONG if (side is Side.BUY) is (word == _OPEN) else _SHORT, TradeSide(word))
    if known(TradeSide, word) is None:
        return {}
    if "single" in word:
        return {"posMode": PositionMode.ONE_WAY}
    leg = _LONG if word.endswith("_long") else _SHORT
    return {"side": _LEG_SIDES[leg], "posMode": PositionMode.HEDGE}


def _hedge_sides(leg: PositionSide, effect: TradeSide) -> dict[str, Any]:
    return {"side": _LEG_SIDES[leg], "tradeSide": effect, "posMode": PositionMode.HEDGE}


def _resting_sides(order: _Row, mode_word: Any) -> dict[str, Any]:
    """Return what an order does once it fills; without a trade side, which none has in v3, nothing is decided."""
    mode, side = known(PositionMode, _text(mode_word)), known(Side, _text(order.get("side")))
    leg, word = known(PositionSide, _text(order.get("posSide"))), (_text(order.get("tradeSide")) or "").lower()
    if mode is not PositionMode.HEDGE:
        return {"posMode": mode_word}
    if side is None or leg not in _LEG_SIDES:
        return {"posMode": mode}
    effect = _OPEN if _LEG_SIDES[leg] is side else _CLOSE
    contradicts = bool(word) and not word.startswith(effect)
    return {"posMode": mode} if contradicts else _hedge_sides(leg, effect)


def _closing_sides(trigger: _Row, hold_mode: str | None) -> dict[str, Any]:
    """Return the sides of a take-profit or stop-loss, which closes the leg that it names."""
    leg, mode = known(PositionSide, _text(trigger.get("posSide"))), known(PositionMode, hold_mode)
    if leg not in _LEG_SIDES or mode is None:
        return {}
    if mode is PositionMode.ONE_WAY:
        return {"side": Side.SELL if leg is _LONG else Side.BUY, "posMode": mode}
    return _hedge_sides(leg, _CLOSE)


def _plan(plan_type: PlanType, trigger: _Row, prefix: str) -> dict[str, Any]:
    """Return kind, trigger price and order price of a strategy order, or of one half of it (`tp`, `sl`)."""
    is_trigger = prefix == "trigger"
    price = {"trigger": "triggerPrice", "tp": "takeProfit", "sl": "stopLoss"}[prefix]
    by = _text(trigger.get("triggerBy" if is_trigger else f"{prefix}TriggerBy"))
    return {
        "planType": plan_type,
        "triggerPrice": trigger.get(price),
        "triggerType": _PRICE_SOURCES.get((by or "").lower(), by),
        "orderType": trigger.get(f"{prefix}OrderType"),
        "price": trigger.get("triggerOrderPrice" if is_trigger else f"{prefix}LimitPrice"),
    }


def _fee(fee: _Row, paid: int | None) -> dict[str, Any]:
    """Return a fee of v2, in which a paid one is negative; without its amount if the sign is not known."""
    amount = _figure(fee.get("fee"))
    if amount is None or (amount and paid is None):
        return {"feeCoin": fee.get("feeCoin")}
    return {"feeCoin": fee.get("feeCoin"), "totalFee": format(-amount if paid == 1 and amount else amount, "f")}


def _figure(value: Any) -> Decimal | None:
    """Return a figure of a row; None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        return None
    text = str(value)
    return Decimal(text) if re.fullmatch(FIGURE_PATTERN, text) else None


def _divided(amount: Decimal | None, by: Decimal) -> Decimal | None:
    return None if amount is None else amount / by


def _product(amount: Decimal | None, rate: Decimal | None) -> str | None:
    return None if amount is None or rate is None else format(amount * rate, "f")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

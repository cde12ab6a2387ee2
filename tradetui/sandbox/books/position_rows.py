"""A holding as the exchange's position list shows it, with the stops that wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.books.contracts import MAINTENANCE, TAKER_FEE
from tradetui.sandbox.books.futures_account import FuturesAccount, Holding
from tradetui.sandbox.books.margin import liquidation_price, position_rate
from tradetui.sandbox.books.number_format import amount, text
from tradetui.sandbox.books.order import ONE_WAY

#: Plan types that set a position's take-profit and stop, the one for the whole position first.
_TAKES_PROFIT: Final = ("pos_profit", "profit_plan")
_STOPS_LOSS: Final = ("pos_loss", "loss_plan")
_NOTHING: Final[Mapping[str, str]] = {"triggerPrice": "", "orderId": ""}


def position_row(book: FuturesAccount, held: Holding, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """One row of the position list."""
    spec, mark = held.spec, marks[held.spec.symbol]
    locked = min(held.size, book.locked(spec.symbol, held.leg))
    liquidation = liquidation_price(book, held, marks)
    take_profit, stop_loss = _next_stop(book, held, _TAKES_PROFIT), _next_stop(book, held, _STOPS_LOSS)
    return {
        "marginCoin": spec.margin_coin,
        "symbol": spec.symbol,
        "holdSide": held.leg,
        "openDelegateSize": text(book.to_open(spec.symbol, held.leg)),
        "marginSize": amount(held.margin()),
        "available": text(held.size - locked),
        "locked": text(locked),
        "total": text(held.size),
        "leverage": str(held.leverage),
        "achievedProfits": amount(held.realised),
        "openPriceAvg": text(held.entry.quantize(spec.tick / 10000)),
        "marginMode": "isolated" if held.isolated else "crossed",
        "posMode": book.mode,
        "unrealizedPL": amount(held.profit(mark)),
        "liquidationPrice": "0" if liquidation is None else amount(liquidation),
        "keepMarginRate": text(MAINTENANCE),
        "markPrice": text(mark),
        "marginRatio": amount(position_rate(book, held, marks)),
        "breakEvenPrice": _break_even(held),
        "totalFee": "",
        "deductedFee": amount(held.fees),
        "grant": "",
        "assetMode": book.asset_mode,
        "autoMargin": "off",
        "takeProfit": take_profit["triggerPrice"],
        "stopLoss": stop_loss["triggerPrice"],
        "takeProfitId": take_profit["orderId"],
        "stopLossId": stop_loss["orderId"],
        "cashDividend": "",
        "cTime": str(held.opened_ms),
        "uTime": str(held.changed_ms),
    }


def _break_even(held: Holding) -> str:
    """The price whose profit pays the fees so far and the one for closing; nothing where no price would."""
    sign = 1 if held.leg == "long" else -1
    cost, closing = held.size * held.entry, TAKER_FEE * held.size
    if held.spec.inverse:
        above, below = cost, held.size - sign * (held.fees + closing)
    else:
        above, below = cost + sign * held.fees, held.size - sign * closing
    return amount(above / below) if above > 0 and below > 0 else ""


def _next_stop(book: FuturesAccount, held: Holding, plan_types: tuple[str, ...]) -> Mapping[str, Any]:
    """The waiting trigger of the first of these types that there is for a holding; of several the first to fire."""
    for plan_type in plan_types:
        waiting = [row for row in book.live_triggers.values() if row["planType"] == plan_type and _closes(row, held)]
        if waiting:
            above = (plan_types is _TAKES_PROFIT) == (held.leg == "long")
            return (min if above else max)(waiting, key=lambda row: Decimal(row["triggerPrice"]))
    return _NOTHING


def _closes(row: Mapping[str, Any], held: Holding) -> bool:
    """Whether a take-profit or stop would close this holding."""
    if row["symbol"] != held.spec.symbol:
        return False
    if row["posMode"] == ONE_WAY:
        return bool(row["side"] == ("sell" if held.leg == "long" else "buy"))
    return bool(row["posSide"] == held.leg)

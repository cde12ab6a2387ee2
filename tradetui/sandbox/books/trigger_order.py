"""Trigger orders: the row of a waiting one, when it fires, and its row in the history."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

from tradetui.sandbox.books.market import ContractSpec
from tradetui.sandbox.books.numbers import text
from tradetui.sandbox.books.order import ONE_WAY, order_sides

ROW_PLAN_TYPES = (
    "normal_plan",
    "track_plan",
    "profit_plan",
    "loss_plan",
    "moving_plan",
    "pos_profit",
    "pos_loss",
)
PROFIT_LOSS = frozenset({"profit_plan", "loss_plan", "moving_plan", "pos_profit", "pos_loss"})
STATUSES = ("executed", "cancelled", "fail_execute")
TRAILING = frozenset({"track_plan", "moving_plan"})
WHOLE_POSITION = frozenset({"pos_profit", "pos_loss"})


def trigger_row(
    *,
    spec: ContractSpec,
    plan_type: str,
    order_id: str,
    mode: str,
    leg: str,
    size: Decimal,
    trigger_price: Decimal,
    created_ms: int,
    rng: random.Random,
    margin_mode: str = "crossed",
) -> dict[str, Any]:
    closes = plan_type in PROFIT_LOSS
    side, trade_side = order_sides(mode, leg, closes=closes)
    trailing = plan_type in TRAILING
    limit = plan_type == "normal_plan" and rng.random() < 0.5
    return {
        "planType": plan_type,
        "symbol": spec.symbol,
        "size": "0" if plan_type in WHOLE_POSITION else text(size),
        "orderId": order_id,
        "executeOrderId": "",
        "clientOid": f"plan-{order_id[-9:]}",
        "planStatus": "live",
        "price": text(trigger_price) if limit else "",
        "executePrice": "",
        "priceAvg": "",
        "baseVolume": "",
        "callbackRatio": text(Decimal(rng.randint(1, 10))) if trailing else "",
        "triggerPrice": text(trigger_price),
        "triggerType": rng.choice(("fill_price", "mark_price")),
        "side": side,
        "posSide": "net" if mode == ONE_WAY else leg,
        "marginCoin": spec.margin_coin,
        "marginMode": "" if closes and mode != ONE_WAY else margin_mode,
        "enterPointSource": rng.choice(("WEB", "API", "ANDROID", "IOS")),
        "tradeSide": trade_side,
        "posMode": mode,
        "orderType": "limit" if limit else "market",
        "cTime": str(created_ms),
        "uTime": str(created_ms),
        "stopSurplusExecutePrice": None,
        "stopSurplusTriggerPrice": None,
        "stopSurplusTriggerType": None,
        "stopLossExecutePrice": None,
        "stopLossTriggerPrice": None,
        "stopLossTriggerType": None,
    }


def ended(
    row: dict[str, Any],
    status: str,
    now_ms: int,
    *,
    execute_id: str = "",
    price: Decimal | None = None,
    size: Decimal | None = None,
) -> dict[str, Any]:
    """The row in the history: executed with its result, failed, or cancelled."""
    done = {**row, "planStatus": status, "uTime": str(now_ms)}
    if status == "executed" and price is not None:
        done |= {
            "executeOrderId": execute_id,
            "executePrice": text(price),
            "priceAvg": text(price),
            "baseVolume": text(size) if size is not None else row["size"],
        }
    return done


def fires(row: dict[str, Any], price: Decimal) -> bool:
    trigger = Decimal(row["triggerPrice"])
    return price >= trigger if waits_above(row) else price <= trigger


def waits_above(row: dict[str, Any]) -> bool:
    """Whether a trigger waits for a higher price: one that opens a long, takes its profit, or stops a short."""
    closes = row["planType"] in PROFIT_LOSS
    long: bool = row["posSide"] == "long"
    if row["posSide"] == "net":
        long = row["side"] == ("sell" if closes else "buy")
    return long if not closes else long == (row["planType"] in ("profit_plan", "pos_profit"))

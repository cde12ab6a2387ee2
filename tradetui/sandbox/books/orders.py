"""The orders of a futures account: resting, filled or cancelled ones, and those waiting for a trigger price."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tradetui.sandbox.books.market import ContractSpec
from tradetui.sandbox.books.numbers import ZERO, text

HEDGE, ONE_WAY = "hedge_mode", "one_way_mode"
ROW_PLAN_TYPES = ("normal_plan", "track_plan", "profit_plan", "loss_plan", "moving_plan", "pos_profit", "pos_loss")
PROFIT_LOSS = frozenset({"profit_plan", "loss_plan", "moving_plan", "pos_profit", "pos_loss"})
STATUSES = ("executed", "cancelled", "fail_execute")
TRAILING = frozenset({"track_plan", "moving_plan"})
WHOLE_POSITION = frozenset({"pos_profit", "pos_loss"})


@dataclass(slots=True)
class Order:
    """A futures order, resting or done; `filled` is in the base coin, `quote_filled` its value at the fills' prices."""

    spec: ContractSpec
    order_id: str
    client_oid: str
    side: str
    trade_side: str
    order_type: str
    size: Decimal
    price: Decimal | None
    mode: str
    leverage: int
    margin_mode: str
    created_ms: int
    changed_ms: int
    source: str = "normal"
    enter_point: str = "API"
    force: str = "gtc"
    reduce_only: bool = False
    filled: Decimal = ZERO
    quote_filled: Decimal = ZERO
    fee: Decimal = ZERO
    profit: Decimal = ZERO
    state: str = "live"
    preset_take_profit: Decimal | None = None
    preset_stop_loss: Decimal | None = None

    @property
    def leg(self) -> str:
        """The leg it trades; in one-way mode `net`."""
        return "net" if self.mode == ONE_WAY else hedge_leg(self.side, self.trade_side)

    @property
    def closes(self) -> bool:
        """Whether it can only reduce a position."""
        return self.reduce_only or (self.mode == HEDGE and self.trade_side != "open")

    def works_on(self, leg: str) -> bool:
        if self.mode == HEDGE:
            return self.leg == leg
        return self.buys == ((leg == "short") if self.closes else (leg == "long"))

    @property
    def buys(self) -> bool:
        """Whether it buys on the market: closing a short buys, closing a long sells."""
        if self.mode == ONE_WAY:
            return self.side == "buy"
        return (self.leg == "long") == (self.trade_side == "open")

    def row(self) -> dict[str, Any]:
        return {
            "symbol": self.spec.symbol,
            "size": text(self.size),
            "orderId": self.order_id,
            "clientOid": self.client_oid,
            "baseVolume": text(self.filled),
            "fee": text(self.fee),
            "price": text(self.price) if self.price is not None else "",
            "priceAvg": text(self.spec.price(self.quote_filled / self.filled)) if self.filled else "",
            "status": self.state,
            "side": self.side,
            "force": self.force,
            "totalProfits": text(self.profit) if self.filled else "",
            "posSide": self.leg,
            "marginCoin": self.spec.margin_coin,
            "quoteVolume": text(self.quote_filled),
            "leverage": str(self.leverage),
            "marginMode": self.margin_mode,
            "reduceOnly": "YES" if self.closes else "NO",
            "enterPointSource": self.enter_point,
            "tradeSide": self.trade_side,
            "posMode": self.mode,
            "orderType": self.order_type,
            "orderSource": self.source,
            "cTime": str(self.created_ms),
            "uTime": str(self.changed_ms),
            "presetStopSurplusPrice": text(self.preset_take_profit) if self.preset_take_profit else "",
            "presetStopLossPrice": text(self.preset_stop_loss) if self.preset_stop_loss else "",
        }

    def detail(self) -> dict[str, Any]:
        """Return the row of the order's own endpoint, where the state has another name."""
        row = self.row()
        row["state"] = row.pop("status")
        row["cancelReason"] = ""
        return row


def hedge_leg(side: str, trade_side: str) -> str:
    """Return a hedge-mode order's or fill's leg: `side` names it, even to close, unless `trade_side` ends with one."""
    named = trade_side.rpartition("_")[2]
    return named if named in ("long", "short") else ("long" if side == "buy" else "short")


def order_sides(mode: str, leg: str, *, closes: bool) -> tuple[str, str]:
    """Return side and tradeSide of an order that closes or opens a leg: in hedge mode side names the leg."""
    if mode == HEDGE:
        return ("buy" if leg == "long" else "sell"), ("close" if closes else "open")
    side = "buy" if (leg == "long") != closes else "sell"
    return side, f"{side}_single"


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
    """Return the row in the history: executed with its result, failed, or cancelled."""
    done = {**row, "planStatus": status, "uTime": str(now_ms)}
    if status == "executed" and price is not None:
        done |= {
            "executeOrderId": execute_id,
            "executePrice": text(price),
            "priceAvg": text(price),
            "baseVolume": text(size) if size is not None else row["size"],
        }
    return done


def closed_leg(row: Mapping[str, Any]) -> str:
    """Return the leg that a take-profit or stop closes; in one-way mode the side shows it."""
    if row["posSide"] == "net":
        return "long" if row["side"] == "sell" else "short"
    return str(row["posSide"])


def fires(row: dict[str, Any], price: Decimal) -> bool:
    trigger = Decimal(row["triggerPrice"])
    return price >= trigger if waits_above(row) else price <= trigger


def waits_above(row: dict[str, Any]) -> bool:
    """Whether a trigger waits for a higher price: it opens a long, takes a long's profit, or stops a short."""
    closes = row["planType"] in PROFIT_LOSS
    long: bool = row["posSide"] == "long"
    if row["posSide"] == "net":
        long = row["side"] == ("sell" if closes else "buy")
    return long if not closes else long == (row["planType"] in ("profit_plan", "pos_profit"))

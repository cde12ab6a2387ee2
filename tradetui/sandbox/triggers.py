"""Trigger orders: what one waits for, how it reads while it waits, and how it stands in the history afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.contracts import ContractSpec
from tradetui.sandbox.orders import ONE_WAY, text

PROFIT_LOSS: Final = frozenset({"profit_plan", "loss_plan", "moving_plan", "pos_profit", "pos_loss"})
PLAN_TYPES: Final = ("normal_plan", "track_plan", "profit_plan", "loss_plan", "moving_plan", "pos_profit", "pos_loss")
STATUSES: Final = ("executed", "cancelled", "fail_execute")
TRAILING: Final = frozenset({"track_plan", "moving_plan"})
WHOLE_POSITION: Final = frozenset({"pos_profit", "pos_loss"})


@dataclass(slots=True)
class Trigger:
    """A trigger order. `leg` is long or short in both modes: the leg it opens or closes.

    `above` says from which side the price must come to `trigger_price`; a trailing one follows the price from there on
    (`extreme` is the best price since) and fires when it comes back by `callback` per cent.
    """

    spec: ContractSpec
    plan_type: str
    order_id: str
    mode: str
    leg: str
    size: Decimal
    trigger_price: Decimal
    above: bool
    created_ms: int
    changed_ms: int
    leverage: int = 10
    margin_mode: str = "crossed"
    trigger_type: str = "fill_price"
    price: Decimal | None = None
    callback: Decimal | None = None
    enter_point: str = "API"
    client_oid: str = ""
    take_profit: Decimal | None = None
    stop_loss: Decimal | None = None
    extreme: Decimal | None = None

    @property
    def closes(self) -> bool:
        """Whether it makes a position smaller; the others open."""
        return self.plan_type in PROFIT_LOSS

    @property
    def side(self) -> str:
        """Hedge mode names the leg, one-way mode the direction."""
        long = self.leg == "long"
        if self.mode == ONE_WAY:
            return "sell" if long == self.closes else "buy"
        return "buy" if long else "sell"

    @property
    def trade_side(self) -> str:
        if self.mode == ONE_WAY:
            return f"{self.side}_single"
        return "close" if self.closes else "open"

    def reached(self, last: Decimal, mark: Decimal) -> bool:
        """Whether it fires at these prices; a trailing one remembers the best it has seen."""
        price = mark if self.trigger_type == "mark_price" else last
        if self.callback is None:
            return self._past(price)
        if self.extreme is None:
            if self._past(price):
                self.extreme = price
            return False
        falls = (self.leg == "long") == self.closes
        back = self.callback / 100
        if falls:
            self.extreme = max(self.extreme, price)
            return price <= self.extreme * (1 - back)
        self.extreme = min(self.extreme, price)
        return price >= self.extreme * (1 + back)

    def _past(self, price: Decimal) -> bool:
        return price >= self.trigger_price if self.above else price <= self.trigger_price

    def row(self) -> dict[str, Any]:
        """The trigger as a row while it waits."""
        row: dict[str, Any] = {
            "planType": self.plan_type,
            "symbol": self.spec.symbol,
            "size": "0" if self.plan_type in WHOLE_POSITION else text(self.size),
            "orderId": self.order_id,
            "executeOrderId": "",
            "clientOid": self.client_oid or f"plan-{self.order_id[-9:]}",
            "planStatus": "live",
            "price": text(self.price) if self.price is not None else "",
            "executePrice": text(self.price) if self.price is not None else "",
            "priceAvg": "",
            "baseVolume": "",
            "callbackRatio": text(self.callback) if self.callback is not None else "",
            "triggerPrice": text(self.trigger_price),
            "triggerType": self.trigger_type,
            "side": self.side,
            "posSide": "net" if self.mode == ONE_WAY else self.leg,
            "marginCoin": self.spec.margin_coin,
            "marginMode": "" if self.closes and self.mode != ONE_WAY else self.margin_mode,
            "enterPointSource": self.enter_point,
            "tradeSide": self.trade_side,
            "posMode": self.mode,
            "orderType": "market" if self.price is None else "limit",
            "cTime": str(self.created_ms),
            "uTime": str(self.changed_ms),
        }
        if self.plan_type == "track_plan":
            del row["price"]
        for name, price in (("stopSurplus", self.take_profit), ("stopLoss", self.stop_loss)):
            row[f"{name}ExecutePrice"] = "0" if price else None
            row[f"{name}TriggerPrice"] = text(price) if price else None
            row[f"{name}TriggerType"] = "mark_price" if price else None
        return row

    def ended(
        self,
        status: str,
        now_ms: int,
        *,
        execute_id: str = "",
        price: Decimal | None = None,
        size: Decimal | None = None,
    ) -> dict[str, Any]:
        """The row as it stands in the history: executed (with the order it made), failed, or cancelled."""
        done = self.row() | {"planStatus": status, "uTime": str(now_ms)}
        if status == "executed":
            done |= {
                "executeOrderId": execute_id,
                "executePrice": text(price) if price is not None else "",
                "priceAvg": text(price) if price is not None else "",
                "baseVolume": text(size) if size is not None else "0",
            }
        if status == "cancelled" and self.plan_type == "normal_plan":
            # As recorded from the live exchange: these keys are missing there, and one is there that nobody describes.
            for name in ("executeOrderId", "executePrice", "priceAvg"):
                del done[name]
            done["feeDetail"] = None
        return done

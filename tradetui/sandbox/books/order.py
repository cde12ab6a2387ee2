"""A futures order: its leg, its direction, and its row."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tradetui.sandbox.books.market import ContractSpec
from tradetui.sandbox.books.numbers import ZERO, text

HEDGE, ONE_WAY = "hedge_mode", "one_way_mode"


@dataclass(slots=True)
class Order:
    """A futures order, resting or done."""

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
        """The leg it trades: in hedge mode side names it, in one-way mode there is one net."""
        if self.mode == ONE_WAY:
            return "net"
        return "long" if self.side == "buy" else "short"

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
        """Whether it buys in the market's sense: closing a short buys, closing a long sells."""
        if self.mode == ONE_WAY:
            return self.side == "buy"
        return (self.side == "buy") == (self.trade_side == "open")

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
        """The row of the order's own endpoint, where the state has another name."""
        row = self.row()
        row["state"] = row.pop("status")
        row["cancelReason"] = ""
        return row


def order_sides(mode: str, leg: str, *, closes: bool) -> tuple[str, str]:
    """side and tradeSide of an order that closes or opens a leg: in hedge mode side names the leg."""
    if mode == HEDGE:
        return ("buy" if leg == "long" else "sell"), ("close" if closes else "open")
    side = "buy" if (leg == "long") != closes else "sell"
    return side, f"{side}_single"

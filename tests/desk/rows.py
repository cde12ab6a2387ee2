"""Rows as the exchange sends them, for tests of what becomes of them."""

from __future__ import annotations

from tests.desk.scripted import NOW_MS
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder


def fill(number: int, at_ms: int | None = None, **other: str) -> FuturesFill:
    """A fill whose id grows with its number; a second apart where no time is given."""
    row = {
        "tradeId": f"{10**18 + number}",
        "symbol": "BTCUSDT",
        "orderId": f"{2 * 10**18 + number}",
        "price": "100",
        "baseVolume": "1",
        "feeDetail": [{"feeCoin": "USDT", "totalFee": "-0.06"}],
        "side": "buy",
        "quoteVolume": "100",
        "profit": "0",
        "tradeSide": "open",
        "posMode": "hedge_mode",
        "tradeScope": "taker",
        "cTime": str(NOW_MS - 10_000_000 + number * 1_000 if at_ms is None else at_ms),
    }
    return FuturesFill.from_row(row | other)


def order(number: int, status: str = "live", **other: str) -> PendingOrder:
    """A pending order."""
    row = {
        "symbol": "BTCUSDT",
        "size": "2",
        "orderId": f"{10**18 + number}",
        "clientOid": f"c{number}",
        "price": "90",
        "status": status,
        "side": "buy",
        "posSide": "long",
        "tradeSide": "open",
        "posMode": "hedge_mode",
        "cTime": str(NOW_MS - 10_000_000 + number * 1_000),
        "uTime": str(NOW_MS),
    }
    return PendingOrder.from_row(row | other)


def trigger(number: int, status: str = "executed", ended_ms: int | None = None, **other: str) -> TriggerOrder:
    """A trigger order, past or waiting; it ends when it is told, else a second after it began."""
    began = NOW_MS - 10_000_000 + number * 1_000
    row = {
        "planType": "normal_plan",
        "symbol": "BTCUSDT",
        "size": "1",
        "orderId": f"{10**18 + number}",
        "clientOid": f"t{number}",
        "planStatus": status,
        "triggerPrice": "110",
        "side": "buy",
        "posSide": "long",
        "tradeSide": "open",
        "posMode": "hedge_mode",
        "cTime": str(began),
        "uTime": str(ended_ms or began + 1_000),
    }
    return TriggerOrder.from_row(row | other)

"""Fills and positions made by hand for tests."""

from __future__ import annotations

from decimal import Decimal
from itertools import count

from tradetui.trading.positions import Position, Reported
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

USDT = ProductType.USDT_FUTURES
START_MS = 1_793_000_000_000
_numbers = count(1)


def fill(
    side: str,
    trade_side: str,
    size: str,
    price: str = "100",
    *,
    mode: str = "hedge_mode",
    symbol: str = "BTCUSDT",
    at: int | None = None,
    trade_id: str | None = None,
    profit: str = "0",
) -> FuturesFill:
    """One fill; each later than the one before unless a time is given."""
    number = next(_numbers)
    return FuturesFill.from_row(
        {
            "tradeId": trade_id or f"{1_490_000_000_000_000_000 + number}",
            "symbol": symbol,
            "orderId": f"o{number}",
            "price": price,
            "baseVolume": size,
            "feeDetail": [{"deduction": "no", "feeCoin": "USDT", "totalDeductionFee": None, "totalFee": "-0.01"}],
            "side": side,
            "quoteVolume": "1",
            "profit": profit,
            "enterPointSource": "api",
            "tradeSide": trade_side,
            "posMode": mode,
            "tradeScope": "taker",
            "cTime": str(START_MS + number * 1000 if at is None else at),
        }
    )


def position(leg: str, size: str, *, mode: PositionMode = PositionMode.HEDGE, entry: str = "100") -> Position:
    """A reported position of BTCUSDT."""
    return Position(
        product_type=USDT,
        symbol="BTCUSDT",
        leg=PositionSide.LONG if leg == "long" else PositionSide.SHORT,
        size=Decimal(size),
        mode=mode,
        source=Reported(),
        entry=Decimal(entry),
        mark=Decimal(entry),
        leverage=Decimal(10),
        margin_coin="USDT",
    )

"""Futures bills as the exchange sends them, for tests of what becomes of them."""

from __future__ import annotations

from tradetui.wire.models.futures_extended import FuturesBill


def bill(number: int, at_ms: int, business_type: str, amount: str, **other: str) -> FuturesBill:
    """A bill in USDT whose id grows with its number; without a fee and a symbol where none is given."""
    row = {
        "billId": f"{10**18 + number}",
        "symbol": "",
        "amount": amount,
        "fee": "0",
        "feeByCoupon": "",
        "businessType": business_type,
        "coin": "USDT",
        "cTime": str(at_ms),
    }
    return FuturesBill.from_row(row | other)

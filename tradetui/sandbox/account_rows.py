"""A futures account as the exchange's account list shows it, one row for each margin coin."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.futures_account import PLACES, ZERO, FuturesAccount, text
from tradetui.sandbox.risk import equity, free, risk_rate

_DOLLARS: Final = ("USDT", "USDC")


def amount(value: Decimal) -> str:
    """A sum of a coin as text, to eight places."""
    return text(value.quantize(PLACES))


def account_row(book: FuturesAccount, coin: str, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """One row of the account list.

    What is held ties up `locked`; `available` is the balance without it, so that equity is both and the unrealised
    profit as long as the balance covers the margin.
    """
    balance, profit, margin = book.balances[coin], book.unrealised(coin, marks), book.margin_held(coin)
    worth, can_open = equity(book, coin, marks), free(book, coin, marks)
    available = max(ZERO, balance - margin)
    dollars = Decimal(1) if coin in _DOLLARS else marks[f"{coin}USDT"]
    return {
        "marginCoin": coin,
        "locked": amount(margin),
        "available": amount(available),
        "crossedMaxAvailable": amount(can_open),
        "isolatedMaxAvailable": amount(can_open),
        "maxTransferOut": amount(min(can_open, available)),
        "accountEquity": amount(worth),
        "usdtEquity": amount(worth * dollars),
        "btcEquity": amount(worth * dollars / marks["BTCUSDT"]),
        "crossedRiskRate": amount(risk_rate(book, coin, marks)),
        "unrealizedPL": amount(profit),
        "coupon": "0",
        "unionTotalMargin": "",
        "unionAvailable": "",
        "unionMm": "",
        "assetList": [],
        "isolatedMargin": "0",
        "crossedMargin": amount(margin),
        "crossedUnrealizedPL": amount(profit),
        "isolatedUnrealizedPL": "0",
        "assetMode": "single",
    }

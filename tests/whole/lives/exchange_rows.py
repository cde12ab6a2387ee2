"""Rows of the second exchange that are the same in every life."""

from __future__ import annotations

from typing import Any

from tests.whole.lives.books import PRICES
from tests.whole.lives.clocks import START_MS

UID = "7788990011"


def account_row() -> dict[str, Any]:
    """A row of the account list: one that nothing of a life can exhaust."""
    return {
        "marginCoin": "USDT",
        "locked": "0",
        "available": "9000000",
        "crossedMaxAvailable": "9000000",
        "isolatedMaxAvailable": "9000000",
        "maxTransferOut": "9000000",
        "accountEquity": "9000000",
        "usdtEquity": "9000000",
        "btcEquity": "150",
        "crossedRiskRate": "0.001",
        "unrealizedPL": "0",
        "coupon": "0",
        "assetMode": "single",
    }


def contract_rows(only: str | None) -> list[dict[str, Any]]:
    """Contracts, or the only one of that symbol."""
    return [
        {
            "symbol": symbol,
            "baseCoin": symbol.removesuffix("USDT"),
            "quoteCoin": "USDT",
            "makerFeeRate": "0.0002",
            "takerFeeRate": "0.0006",
            "minTradeNum": "0.001",
            "sizeMultiplier": "0.001",
            "volumePlace": "3",
            "pricePlace": "1",
            "priceEndStep": "1",
            "minTradeUSDT": "5",
            "maxMarketOrderQty": "100000",
            "maxPositionNum": "150",
            "symbolStatus": "normal",
            "symbolType": "perpetual",
        }
        for symbol in PRICES
        if not only or symbol == only.upper()
    ]


def ticker_row(symbol: str, time_ms: int) -> dict[str, Any]:
    """The price of a symbol, which stands still."""
    price = str(PRICES.get(symbol, 1))
    return {
        "symbol": symbol,
        "lastPr": price,
        "bidPr": price,
        "askPr": price,
        "markPrice": price,
        "indexPrice": price,
        "fundingRate": "0.0001",
        "ts": str(time_ms),
    }


def account_info() -> dict[str, Any]:
    """Whose account it is, and what its key may do."""
    return {
        "userId": UID,
        "inviterId": "",
        "ips": "",
        "authorities": ["coor", "coow", "cpor", "cpow"],
        "parentId": 0,
        "traderType": "not_trader",
        "channelCode": "",
        "channel": "",
        "regisTime": str(START_MS - 10_000_000),
    }

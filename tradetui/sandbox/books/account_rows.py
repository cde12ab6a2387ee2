"""An account as the exchange shows it: a futures row for each margin coin, its settings, whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.futures_account import FuturesAccount
from tradetui.sandbox.books.margin import backing, equity, free, risk_rate
from tradetui.sandbox.books.number_format import ZERO, amount

_DOLLARS: Final = ("USDT", "USDC")
_REGISTERED_DAYS: Final = 400
#: Permissions of a key in the exchange's own words.
_AUTHORITIES: Final[Mapping[str, str]] = {
    "futures-read": "coor",
    "futures-write": "coow",
    "holdings-read": "cpor",
    "spot-read": "stor",
    "subaccount-write": "chow",
    "copy-write": "ttow",
}


def account_row(book: FuturesAccount, coin: str, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """One row of the account list.

    What is held ties up `locked`; `available` is the balance without it, so that equity is both and the unrealised
    profit as long as the balance covers the margin.
    """
    balance, profit, margin = book.balances[coin], book.unrealised(coin, marks), book.margin_held(coin)
    worth, can_open = equity(book, coin, marks), free(book, coin, marks)
    available = max(ZERO, balance - margin)
    apart, apart_profit = book.margin_held(coin, isolated=True), book.unrealised(coin, marks, isolated=True)
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
        # Of one coin alone, and so of nothing where several stand behind the margin.
        "crossedRiskRate": "0" if book.assets else amount(risk_rate(book, coin, marks)),
        "unrealizedPL": amount(profit),
        "coupon": "0",
        **_union(book, coin, marks),
        "isolatedMargin": amount(apart),
        "crossedMargin": amount(margin - apart),
        "crossedUnrealizedPL": amount(profit - apart_profit),
        "isolatedUnrealizedPL": amount(apart_profit),
        "assetMode": book.asset_mode,
    }


def _union(book: FuturesAccount, coin: str, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """The figures of multi-assets mode; empty where one asset stands behind the margin."""
    if not book.assets:
        return {"unionTotalMargin": "", "unionAvailable": "", "unionMm": "", "assetList": []}
    balances = {coin: book.balances[coin], **book.assets}
    return {
        "unionTotalMargin": amount(backing(book, coin, marks)),
        "unionAvailable": amount(free(book, coin, marks)),
        "unionMm": amount(book.maintenance(coin, marks, isolated=False)),
        "assetList": [
            {"coin": asset, "balance": amount(balance), "available": amount(max(ZERO, balance))}
            for asset, balance in balances.items()
        ],
    }


def settings_row(book: FuturesAccount, symbol: str, coin: str, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """The account row of one margin coin with its position mode, margin mode and leverages for a symbol."""
    return account_row(book, coin, marks) | {
        "posMode": book.mode,
        "marginMode": book.margin_mode(symbol),
        "crossedMarginLeverage": book.leverage,
        "isolatedLongLever": book.leverage,
        "isolatedShortLever": book.leverage,
    }


def info_row(account: Account, permissions: Iterable[str], now_ms: int) -> dict[str, Any]:
    """Whose account it is and what a key of it may do."""
    return {
        "userId": account.uid,
        "inviterId": "",
        "channelCode": "",
        "channel": "",
        "ips": "127.0.0.1",
        "authorities": sorted(_AUTHORITIES[name] for name in permissions if name in _AUTHORITIES),
        "parentId": 1,
        "traderType": "trader" if account.is_copy_trader else "not_trader",
        "regisTime": str(now_ms - _REGISTERED_DAYS * 86_400_000),
    }

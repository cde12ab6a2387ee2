"""Rows of the interface: contracts, tickers, accounts with their settings, positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.margin import backing, equity, free, liquidation_price, position_rate, risk_rate
from tradetui.sandbox.books.market import (
    FUNDING_HOURS,
    FUNDING_INTERVAL_MS,
    FUNDING_RATE,
    MAINTENANCE,
    MAKER_FEE,
    TAKER_FEE,
    ContractSpec,
)
from tradetui.sandbox.books.numbers import ZERO, booked_amount, text
from tradetui.sandbox.books.orders import closed_leg
from tradetui.sandbox.books.reversal import MarketMoment
from tradetui.wire.exchange_time import DAY_MS


def contract_row(spec: ContractSpec) -> dict[str, Any]:
    """Make a row of `GET /api/v2/mix/market/contracts`."""
    return {
        "symbol": spec.symbol,
        "baseCoin": spec.base,
        "quoteCoin": spec.quote,
        "supportMarginCoins": [spec.margin_coin],
        "minTradeNum": text(spec.step),
        "sizeMultiplier": text(spec.step),
        "volumePlace": str(spec.volume_place),
        "pricePlace": str(spec.price_place),
        "priceEndStep": "1",
        "minTradeUSDT": "5",
        "maxMarketOrderQty": "",
        "maxPositionNum": "150",
        "takerFeeRate": text(TAKER_FEE),
        "makerFeeRate": text(MAKER_FEE),
        "maxLever": str(spec.max_leverage),
        "minLever": "1",
        "symbolType": "perpetual",
        "symbolStatus": "normal",
    }


def ticker_row(spec: ContractSpec, at: MarketMoment) -> dict[str, Any]:
    """Make a row of `GET /api/v2/mix/market/ticker`."""
    bid, ask = at.market.spread(spec)
    last = text(at.last(spec))
    return {
        "symbol": spec.symbol,
        "lastPr": last,
        "bidPr": text(bid),
        "askPr": text(ask),
        "markPrice": last,
        "indexPrice": last,
        "fundingRate": text(FUNDING_RATE),
        "ts": str(at.now_ms),
    }


def funding_row(spec: ContractSpec, now_ms: int) -> dict[str, Any]:
    """Make the current funding rate of a contract, paid every eight hours."""
    return {
        "symbol": spec.symbol,
        "fundingRate": text(FUNDING_RATE),
        "fundingRateInterval": str(FUNDING_HOURS),
        "nextUpdate": str((now_ms // FUNDING_INTERVAL_MS + 1) * FUNDING_INTERVAL_MS),
        "minFundingRate": "-0.003",
        "maxFundingRate": "0.003",
    }


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


def account_row(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """Make one row of the account list.

    Holdings lock `locked`, and `available` is the rest of the balance. Both plus the unrealised profit are the equity,
    as long as the balance covers the margin.
    """
    balance, profit, margin = book.balances[coin], book.unrealised(coin, marks), book.margin_held(coin)
    worth, can_open = equity(book, coin, marks), free(book, coin, marks)
    available = max(ZERO, balance - margin)
    isolated_margin = book.margin_held(coin, isolated=True)
    isolated_profit = book.unrealised(coin, marks, isolated=True)
    dollars = Decimal(1) if coin in _DOLLARS else marks[f"{coin}USDT"]
    return {
        "marginCoin": coin,
        "locked": booked_amount(margin),
        "available": booked_amount(available),
        "crossedMaxAvailable": booked_amount(can_open),
        "isolatedMaxAvailable": booked_amount(can_open),
        "maxTransferOut": booked_amount(min(can_open, available)),
        "accountEquity": booked_amount(worth),
        "usdtEquity": booked_amount(worth * dollars),
        "btcEquity": booked_amount(worth * dollars / marks["BTCUSDT"]),
        # It counts a single coin, so it is 0 if several assets back the margin.
        "crossedRiskRate": "0" if book.assets else booked_amount(risk_rate(book, coin, marks)),
        "unrealizedPL": booked_amount(profit),
        "coupon": "0",
        **_union(book, coin, marks),
        "isolatedMargin": booked_amount(isolated_margin),
        "crossedMargin": booked_amount(margin - isolated_margin),
        "crossedUnrealizedPL": booked_amount(profit - isolated_profit),
        "isolatedUnrealizedPL": booked_amount(isolated_profit),
        "assetMode": book.asset_mode,
    }


#: Fields of the account list that a main account also reads of its sub-accounts.
_OF_SUBACCOUNTS: Final = (
    *("marginCoin", "locked", "available", "crossedMaxAvailable", "isolatedMaxAvailable", "maxTransferOut"),
    *("accountEquity", "usdtEquity", "btcEquity", "unrealizedPL", "coupon"),
)


def subaccount_asset(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a row of the account list that the main account of a sub-account may read."""
    return {name: row[name] for name in _OF_SUBACCOUNTS}


def _union(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """Return the figures of multi-assets mode; empty in single-asset mode."""
    if not book.assets:
        return {"unionTotalMargin": "", "unionAvailable": "", "unionMm": "", "assetList": []}
    balances = {coin: book.balances[coin], **book.assets}
    return {
        "unionTotalMargin": booked_amount(backing(book, coin, marks)),
        "unionAvailable": booked_amount(free(book, coin, marks)),
        "unionMm": booked_amount(book.maintenance(coin, marks, isolated=False)),
        "assetList": [
            {"coin": asset, "balance": booked_amount(balance), "available": booked_amount(max(ZERO, balance))}
            for asset, balance in balances.items()
        ],
    }


def settings_row(book: FuturesBook, symbol: str, coin: str, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    return account_row(book, coin, marks) | {
        "posMode": book.mode,
        "marginMode": book.margin_mode(symbol),
        "crossedMarginLeverage": book.leverage,
        "isolatedLongLever": book.leverage,
        "isolatedShortLever": book.leverage,
    }


def info_row(account: Account, permissions: Iterable[str], ips: Iterable[str], now_ms: int) -> dict[str, Any]:
    """Make the payload of `GET /api/v2/spot/account/info`."""
    return {
        "userId": account.uid,
        "inviterId": "",
        "channelCode": "",
        "channel": "",
        "ips": ",".join(ips),
        "authorities": sorted(_AUTHORITIES[name] for name in permissions if name in _AUTHORITIES),
        "parentId": 1,
        "traderType": "trader" if account.is_copy_trader else "not_trader",
        "regisTime": str(now_ms - _REGISTERED_DAYS * DAY_MS),
    }


#: Plan types of a position's take-profit and stop; first the one for the whole position.
_TAKES_PROFIT: Final = ("pos_profit", "profit_plan")
_STOPS_LOSS: Final = ("pos_loss", "loss_plan")
_NOTHING: Final[Mapping[str, str]] = {"triggerPrice": "", "orderId": ""}


def position_row(book: FuturesBook, held: Holding, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """Make a row of `GET /api/v2/mix/position/all-position`; `marks` are mark prices by symbol."""
    spec, mark = held.spec, marks[held.spec.symbol]
    locked = min(held.size, book.resting_size(spec.symbol, held.leg, closes=True))
    liquidation, funding_paid = liquidation_price(book, held, marks), book.funding_paid(held)
    take_profit, stop_loss = _next_stop(book, held, _TAKES_PROFIT), _next_stop(book, held, _STOPS_LOSS)
    return {
        "marginCoin": spec.margin_coin,
        "symbol": spec.symbol,
        "holdSide": held.leg,
        "openDelegateSize": text(book.resting_size(spec.symbol, held.leg, closes=False)),
        "marginSize": booked_amount(held.margin()),
        "available": text(held.size - locked),
        "locked": text(locked),
        "total": text(held.size),
        "leverage": str(held.leverage),
        "achievedProfits": booked_amount(held.realised),
        "openPriceAvg": text(held.entry.quantize(spec.tick / 10000)),
        "marginMode": "isolated" if held.isolated else "crossed",
        "posMode": book.mode,
        "unrealizedPL": booked_amount(held.profit(mark)),
        "liquidationPrice": "0" if liquidation is None else booked_amount(liquidation),
        "keepMarginRate": text(MAINTENANCE),
        "markPrice": text(mark),
        "marginRatio": booked_amount(position_rate(book, held, marks)),
        "breakEvenPrice": _break_even(held),
        "totalFee": "" if funding_paid is None else text(funding_paid),
        "deductedFee": booked_amount(held.fees),
        "grant": "",
        "assetMode": book.asset_mode,
        "autoMargin": "off",
        "takeProfit": take_profit["triggerPrice"],
        "stopLoss": stop_loss["triggerPrice"],
        "takeProfitId": take_profit["orderId"],
        "stopLossId": stop_loss["orderId"],
        "cashDividend": "",
        "cTime": str(held.opened_ms),
        "uTime": str(held.changed_ms),
    }


def _break_even(held: Holding) -> str:
    """Return the price whose profit pays the fees so far and for closing; empty if there is none."""
    sign = 1 if held.leg == "long" else -1
    cost, closing = held.size * held.entry, TAKER_FEE * held.size
    if held.spec.inverse:
        above, below = cost, held.size - sign * (held.fees + closing)
    else:
        above, below = cost + sign * held.fees, held.size - sign * closing
    return booked_amount(above / below) if above > 0 and below > 0 else ""


def _next_stop(book: FuturesBook, held: Holding, plan_types: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the holding's waiting trigger of its first existing type; of several, the first to fire."""
    for plan_type in plan_types:
        waiting = [row for row in book.live_triggers.values() if row["planType"] == plan_type and _closes(row, held)]
        if waiting:
            above = (plan_types is _TAKES_PROFIT) == (held.leg == "long")
            return (min if above else max)(waiting, key=lambda row: Decimal(row["triggerPrice"]))
    return _NOTHING


def _closes(row: Mapping[str, Any], held: Holding) -> bool:
    return row["symbol"] == held.spec.symbol and closed_leg(row) == held.leg

"""Answers the reads of unified accounts (interface v3), over the same books as those of classic ones.

Each row is converted here from the books or their classic rows, apart from the program's own conversion, so that each
proves the other. In v3 `side` is the direction on the market, in hedge mode too, where the classic interface names the
leg. Trailing orders do not exist in v3. Rows are as in replies recorded in 2026; what the documents of December 2025
have otherwise is in `reply_variants`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from heapq import merge
from typing import Any, Final

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.account import HELD_PRODUCT_TYPES
from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.market import COLLATERAL_WEIGHT, CONTRACTS, TAKER_FEE
from tradetui.sandbox.books.numbers import ZERO, booked_amount, text
from tradetui.sandbox.books.orders import ONE_WAY, PROFIT_LOSS, TRAILING, closed_leg, hedge_leg
from tradetui.sandbox.books.reply_rows import info_row, position_row
from tradetui.sandbox.exchange_state import ExchangeState, Row
from tradetui.sandbox.gateway.api_keys import SandboxKey
from tradetui.sandbox.handlers.reads import PagedRows, ReadCall, RowFilter, rows_of_page
from tradetui.sandbox.handlers.rules import RULES, checked

USDT_IN_USD: Final = Decimal("0.9998")
"""The price of one USDT, apart from 1 so that figures in USD and in USDT differ."""
UNIFIED_PAGES: Final[Mapping[str, PagedRows]] = {
    "unified.orders": PagedRows("orders", "orderId", "cTime", "list", ("symbol",)),
    "unified.fills": PagedRows("fills", "tradeId", "cTime", "list", ("orderId",)),
    "unified.triggers": PagedRows("triggers", "orderId", "cTime", "list"),
    "unified.closed_positions": PagedRows("closed-positions", "positionId", "utime", "list", ("symbol",)),
}
_EMPTY_LISTS: Final = frozenset({"unified.orders", "unified.triggers"})
"""The reads whose list is empty if there is nothing; in recorded replies of the others it is null."""
_DOLLARS: Final = ("USDT", "USDC")
_RATIO_PLACES: Final = Decimal("0.0001")
_RATE_PLACES: Final = Decimal("1e-16")
_TAKES_PROFIT: Final = ("profit_plan", "pos_profit")
_STRATEGY_STATUSES: Final = {
    "live": "pending",
    "executed": "success",
    "fail_execute": "failed",
    "cancelled": "cancelled",
}
_TRIGGER_PRICES: Final = {"fill_price": "market", "mark_price": "mark"}


def read_unified(
    exchange_state: ExchangeState, key: SandboxKey | None, name: str, parameters: Mapping[str, str], now_ms: int
) -> Any:
    """Return the payload of a read; raises Refusal, with the one code that v3 has for any wrong parameter."""
    try:
        call = ReadCall(exchange_state, key, name, checked(name, parameters, live=True), now_ms)
        if {"category", "symbol"} <= call.values.keys():
            exchange_state.spec(call.values["symbol"], call.values["category"])
        return _page(call) if name in UNIFIED_PAGES else _UNPAGED[name](call)
    except Refusal:
        raise Refusal("400172", "Parameter verification failed") from None


def _page(call: ReadCall) -> dict[str, Any]:
    paged_rows, convert = UNIFIED_PAGES[call.name], _CONVERSIONS[call.name]
    filters = _strategy_filters(call) if call.name == "unified.triggers" else []
    page = rows_of_page(call, paged_rows, RULES[call.name], _all_rows(call, paged_rows), filters)
    if not page:
        return {"list": [] if call.name in _EMPTY_LISTS else None, "cursor": None}
    return {"list": [convert(call, row) for row in page], "cursor": page[-1][paged_rows.id_field]}


def _all_rows(call: ReadCall, paged_rows: PagedRows) -> Iterable[Row]:
    """Return an account's rows of one kind, newest first: those of a category, or of all if none is given."""
    category = call.values.get("category")
    product_types = [name for name in HELD_PRODUCT_TYPES if category in (None, name)]
    rows = [call.exchange_state.rows(call.uid, paged_rows.name, name) for name in product_types]
    if call.name == "unified.fills" and category in (None, "SPOT"):
        rows.append(call.exchange_state.account(call.uid).spot_history.fills)
    return merge(*rows, key=lambda row: int(row[paged_rows.id_field]), reverse=True)


def _strategy_filters(call: ReadCall) -> list[RowFilter]:
    filters: list[RowFilter] = [lambda row: row["planType"] not in TRAILING]
    if "type" in call.values:
        filters.append(lambda row: _strategy_type(row) == call.values["type"])
    return filters


def _book(call: ReadCall, row: Row) -> FuturesBook:
    return call.exchange_state.book(call.uid, CONTRACTS[row["symbol"]].product_type)


def _direction(row: Row) -> str:
    """Return `buy` or `sell` for what a classic futures row did or does on the market."""
    if row["posMode"] == ONE_WAY:
        return str(row["side"])
    return "buy" if (hedge_leg(row["side"], row["tradeSide"]) == "long") == (row["tradeSide"] == "open") else "sell"


def _order_leg(row: Row) -> str:
    """Return the leg that a pending order opens or closes, in one-way mode too."""
    if row["posMode"] != ONE_WAY:
        return str(row["posSide"])
    return "long" if (row["side"] == "buy") == (row["reduceOnly"] == "NO") else "short"


def _order(call: ReadCall, row: Row) -> dict[str, Any]:
    filled = Decimal(row["baseVolume"])
    return {
        "orderId": row["orderId"],
        "clientOid": row["clientOid"],
        "category": CONTRACTS[row["symbol"]].product_type,
        "symbol": row["symbol"],
        "orderType": row["orderType"],
        "side": _direction(row),
        "price": row["price"] or "0",
        "qty": row["size"],
        "amount": "0",
        "cumExecQty": row["baseVolume"],
        "cumExecValue": row["quoteVolume"],
        "avgPrice": row["priceAvg"] or "0",
        "timeInForce": row["force"],
        "orderStatus": "partially_filled" if filled else "new",
        "posSide": _order_leg(row),
        "holdMode": row["posMode"],
        "marginMode": row["marginMode"],
        "delegateType": row["orderSource"],
        "reduceOnly": row["reduceOnly"],
        "feeDetail": [{"feeCoin": row["marginCoin"], "fee": row["fee"]}] if filled else None,
        "createdTime": row["cTime"],
        "updatedTime": row["uTime"],
        "stpMode": "none",
        "takeProfit": row["presetStopSurplusPrice"] or None,
        "stopLoss": row["presetStopLossPrice"] or None,
        "tpTriggerBy": "market" if row["presetStopSurplusPrice"] else None,
        "slTriggerBy": "market" if row["presetStopLossPrice"] else None,
        "tpOrderType": "market" if row["presetStopSurplusPrice"] else None,
        "slOrderType": "market" if row["presetStopLossPrice"] else None,
        "tpLimitPrice": None,
        "slLimitPrice": None,
    }


def _fill(call: ReadCall, row: Row) -> dict[str, Any]:
    return _futures_fill(call, row) if "posMode" in row else _spot_fill(row)


def _futures_fill(call: ReadCall, row: Row) -> dict[str, Any]:
    book = _book(call, row)
    order = book.orders.get(row["orderId"]) or book.done[row["orderId"]]
    hedge = row["posMode"] != ONE_WAY
    leg = hedge_leg(row["side"], row["tradeSide"]) if hedge else ""
    return {
        "execId": row["tradeId"],
        "execLinkId": str(int(row["tradeId"]) + 1),
        "orderId": row["orderId"],
        "clientOid": order.client_oid,
        "category": book.product_type,
        "symbol": row["symbol"],
        "orderType": order.order_type,
        "side": _direction(row),
        "execPrice": row["price"],
        "execQty": row["baseVolume"],
        "execValue": text(Decimal(row["price"]) * Decimal(row["baseVolume"])),
        "tradeScope": row["tradeScope"],
        "tradeSide": f"{row['tradeSide']}_{leg}" if row["tradeSide"] in ("open", "close") else row["tradeSide"],
        "posSide": leg,
        "feeDetail": [{"feeCoin": fee["feeCoin"], "fee": fee["totalFee"]} for fee in row["feeDetail"]],
        "execPnl": row["profit"],
        "isRPI": "NO",
        "createdTime": row["cTime"],
        "updatedTime": row["cTime"],
    }


def _spot_fill(row: Row) -> dict[str, Any]:
    return {
        "execId": row["tradeId"],
        "execLinkId": str(int(row["tradeId"]) + 1),
        "orderId": row["orderId"],
        "clientOid": row["orderId"],
        "category": "SPOT",
        "symbol": row["symbol"],
        "orderType": row["orderType"],
        "side": row["side"],
        "execPrice": row["priceAvg"],
        "execQty": row["size"],
        "execValue": row["amount"],
        "tradeScope": row["tradeScope"],
        "posSide": "",
        "feeDetail": [{"feeCoin": row["feeDetail"]["feeCoin"], "fee": row["feeDetail"]["totalFee"]}],
        "isRPI": "NO",
        "createdTime": row["cTime"],
        "updatedTime": row["uTime"],
    }


def _strategy_type(row: Row) -> str:
    return "tpsl" if row["planType"] in PROFIT_LOSS else "trigger"


def _strategy_order(call: ReadCall, row: Row) -> dict[str, Any]:
    tpsl = _strategy_type(row) == "tpsl"
    leg = closed_leg(row) if tpsl else "long" if _direction(row) == "buy" else "short"
    status = _STRATEGY_STATUSES[row["planStatus"]]
    strategy_order = {
        "orderId": row["orderId"],
        "clientOid": row["clientOid"],
        "category": CONTRACTS[row["symbol"]].product_type,
        "symbol": row["symbol"],
        "qty": row["size"],
        "posSide": leg,
        "marginMode": _book(call, row).margin_mode(row["symbol"]),
        "type": "tpsl" if tpsl else "trigger",
        "status": status,
        "createdTime": row["cTime"],
        "updatedTime": row["uTime"],
        "ocoParams": None,
        "trailingStopParams": None,
        "icebergParams": None,
        "twapParams": None,
    }
    price, price_type = row["triggerPrice"], _TRIGGER_PRICES[row["triggerType"]]
    order_type = "market" if tpsl else None
    takes_profit = row["planType"] in _TAKES_PROFIT
    strategy_order |= {
        "takeProfit": price if tpsl and takes_profit else "",
        "stopLoss": price if tpsl and not takes_profit else "",
        "tpTriggerBy": price_type if tpsl else None,
        "slTriggerBy": price_type if tpsl else None,
        "tpOrderType": order_type,
        "slOrderType": order_type,
        "tpLimitPrice": "",
        "slLimitPrice": "",
    }
    if not tpsl:
        return strategy_order | {
            "triggerBy": price_type,
            "triggerPrice": price,
            "triggerOrderType": row["orderType"],
            "triggerOrderPrice": row["price"],
        }
    if status == "success":
        strategy_order["triggerType"] = "takeProfit" if takes_profit else "stopLoss"
    return strategy_order


def _closed_position(call: ReadCall, row: Row) -> dict[str, Any]:
    return {
        "positionId": row["positionId"],
        "category": CONTRACTS[row["symbol"]].product_type,
        "symbol": row["symbol"],
        "marginCoin": row["marginCoin"],
        "holdMode": row["posMode"],
        "posSide": row["holdSide"],
        "marginMode": _book(call, row).margin_mode(row["symbol"]),
        "openPriceAvg": row["openAvgPrice"],
        "closePriceAvg": row["closeAvgPrice"],
        "openTotalPos": row["openTotalPos"],
        "closeTotalPos": row["closeTotalPos"],
        "cumRealisedPnl": row["pnl"],
        "netProfit": row["netProfit"],
        "totalFunding": row["totalFunding"],
        "openFeeTotal": row["openFee"],
        "closeFeeTotal": row["closeFee"],
        "createdTime": row["ctime"],
        "updatedTime": row["utime"],
    }


_CONVERSIONS: Final[Mapping[str, Callable[[ReadCall, Row], dict[str, Any]]]] = {
    "unified.orders": _order,
    "unified.fills": _fill,
    "unified.triggers": _strategy_order,
    "unified.closed_positions": _closed_position,
}


def _live_triggers(call: ReadCall) -> list[dict[str, Any]]:
    """Return the waiting strategy orders, which v3 sends as a list of its own, without pages."""
    rows: Iterable[Row] = call.exchange_state.rows(call.uid, "live-triggers", call.values["category"])
    for is_kept in _strategy_filters(call):
        rows = filter(is_kept, rows)
    return [_strategy_order(call, row) for row in rows]


def _positions(call: ReadCall) -> dict[str, Any]:
    book, marks = call.exchange_state.book(call.uid, call.values["category"]), call.exchange_state.moment.marks()
    positions = [_position(book, held, marks) for held in book.holdings.values()]
    for name in ("symbol", "posSide"):
        positions = [row for row in positions if row[name] == call.values.get(name, row[name])]
    return {"list": positions or None}


def _position(book: FuturesBook, held: Holding, marks: Mapping[str, Decimal]) -> dict[str, Any]:
    """Make a row of an open position, with the margin at mark price and the fee to close it in `positionBalance`."""
    row, spec = position_row(book, held, marks), held.spec
    value = held.size if spec.inverse else held.size * marks[spec.symbol]
    margin = value / held.leverage + value * TAKER_FEE
    earlier = [past for _, past in book.closed if (past.spec.symbol, past.leg) == (spec.symbol, held.leg)]
    return {
        "category": book.product_type,
        "symbol": spec.symbol,
        "marginCoin": spec.margin_coin,
        "holdMode": book.mode,
        "posSide": held.leg,
        "marginMode": row["marginMode"],
        "positionBalance": booked_amount(margin),
        "available": row["available"],
        "frozen": row["locked"],
        "total": row["total"],
        "leverage": row["leverage"],
        "curRealisedPnl": row["achievedProfits"],
        "avgPrice": row["openPriceAvg"],
        "positionStatus": "normal",
        "unrealisedPnl": row["unrealizedPL"],
        "liquidationPrice": row["liquidationPrice"],
        "mmr": row["keepMarginRate"],
        "profitRate": text((Decimal(row["unrealizedPL"]) / margin).quantize(_RATE_PLACES)),
        "markPrice": row["markPrice"],
        "breakEvenPrice": row["breakEvenPrice"],
        "totalFunding": row["totalFee"] or "0",
        "openFeeTotal": text(held.open_fee),
        "closeFeeTotal": text(held.close_fee),
        # The live exchange tells when this leg of the symbol was first opened, which an earlier position may have done.
        "createdTime": str(min(position.opened_ms for position in (*earlier, held))),
        "updatedTime": row["uTime"],
    }


@dataclass(slots=True)
class _Coin:
    """The amounts of one coin in all books of an account, in the coin."""

    balance: Decimal = ZERO
    unrealised: Decimal = ZERO
    margin: Decimal = ZERO
    maintenance: Decimal = ZERO

    @property
    def equity(self) -> Decimal:
        return self.balance + self.unrealised


def _coins(books: Iterable[FuturesBook], marks: Mapping[str, Decimal]) -> dict[str, _Coin]:
    coins: dict[str, _Coin] = {}
    for book in books:
        for name, balance in book.balances.items():
            coin = coins.setdefault(name, _Coin())
            coin.balance += balance
            coin.unrealised += book.unrealised(name, marks)
            coin.margin += book.margin_held(name)
            coin.maintenance += book.maintenance(name, marks)
        for name, amount in book.assets.items():
            coins.setdefault(name, _Coin()).balance += amount
    return {name: coin for name, coin in coins.items() if coin.equity}


def _assets(call: ReadCall) -> dict[str, Any]:
    """Return the account's figures, in USD unless their name says otherwise, and its coins that are not zero."""
    books = call.exchange_state.account(call.uid).futures.values()
    marks = call.exchange_state.moment.marks()
    coins = _coins(books, marks)
    usd = {name: USDT_IN_USD * (1 if name in _DOLLARS else marks[f"{name}USDT"]) for name in coins}

    def total(amount: Callable[[_Coin], Decimal]) -> Decimal:
        return sum((amount(coin) * usd[name] for name, coin in coins.items()), ZERO)

    equity, unrealised = total(lambda coin: coin.equity), total(lambda coin: coin.unrealised)
    maintenance = total(lambda coin: coin.maintenance)
    effective = sum((coin.equity * usd[name] * COLLATERAL_WEIGHT.get(name, 1) for name, coin in coins.items()), ZERO)
    positions = sum((held.size * marks[held.spec.symbol] for book in books for held in book.holdings.values()), ZERO)
    ratio = text((maintenance / effective).quantize(_RATIO_PLACES, ROUND_DOWN)) if effective > 0 else "0"
    return {
        "accountEquity": booked_amount(equity),
        "usdtEquity": booked_amount(equity / USDT_IN_USD),
        "btcEquity": booked_amount(equity / USDT_IN_USD / marks["BTCUSDT"]),
        "unrealisedPnl": booked_amount(unrealised),
        "usdtUnrealisedPnl": booked_amount(unrealised / USDT_IN_USD),
        "btcUnrealizedPnl": booked_amount(unrealised / USDT_IN_USD / marks["BTCUSDT"]),
        "effEquity": booked_amount(effective),
        "mmr": booked_amount(maintenance),
        "imr": booked_amount(total(lambda coin: coin.margin)),
        "mgnRatio": ratio,
        "positionMgnRatio": ratio,
        "positionValue": booked_amount(positions),
        "leverage": text((positions / effective).quantize(_RATIO_PLACES)) if effective > 0 else "0",
        "assets": [_asset(name, coin, usd[name]) for name, coin in coins.items()],
    }


def _asset(name: str, coin: _Coin, usd: Decimal) -> dict[str, Any]:
    return {
        "coin": name,
        "equity": booked_amount(coin.equity),
        "usdValue": booked_amount(coin.equity * usd),
        "balance": booked_amount(max(ZERO, coin.balance)),
        "available": booked_amount(max(ZERO, coin.balance - coin.margin)),
        "debt": booked_amount(max(ZERO, -coin.balance)),
        "locked": booked_amount(coin.margin),
        "bonus": "0",
    }


def _settings(call: ReadCall) -> dict[str, Any]:
    account = call.exchange_state.account(call.uid)
    return {
        "uid": call.uid,
        "accountMode": call.exchange_state.account_modes[call.uid],
        "assetMode": "multi_assets",
        "accountLevel": "advanced",
        "holdMode": account.futures["USDT-FUTURES"].mode,
        "stpMode": "none",
        "symbolConfigList": [
            {
                "category": spec.product_type,
                "symbol": spec.symbol,
                "marginMode": account.futures[spec.product_type].margin_mode(spec.symbol),
                "leverage": str(account.futures[spec.product_type].leverage),
            }
            for spec in CONTRACTS.values()
        ],
        "coinConfigList": [],
    }


def _key(call: ReadCall) -> dict[str, Any]:
    assert call.key is not None
    key, exchange_state = call.key, call.exchange_state
    classic = info_row(exchange_state.account(call.uid), key.permissions, key.ips, exchange_state.now_ms)
    scopes = {"uta_mgt": "holdings-read", "uta_trade": "futures-write"}
    return {
        "userId": call.uid,
        "inviterId": None,
        "parentId": None,
        "channelCode": "",
        "channel": "",
        "ips": classic["ips"] or None,
        "permType": "read_and_write" if "futures-write" in key.permissions else "read_only",
        "permissions": [scope for scope, permission in scopes.items() if permission in key.permissions],
        "regisTime": classic["regisTime"],
    }


_UNPAGED: Final[Mapping[str, Callable[[ReadCall], Any]]] = {
    "unified.assets": _assets,
    "unified.settings": _settings,
    "unified.key": _key,
    "unified.positions": _positions,
    "unified.live_triggers": _live_triggers,
}

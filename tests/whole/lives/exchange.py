"""The second exchange: the interface's endpoints over its books, as bytes in and bytes out.

Written from the interface's documents. With `core_only` it has the thirteen endpoints' futures part alone.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl

from tests.whole.lives.books import PRICES, Books, Fill, Holding, Reversal, trade_time_ms
from tests.whole.lives.clocks import START_MS, ExchangeClock
from tests.whole.lives.exchange_rows import account_info, account_row, contract_rows, ticker_row
from tests.whole.lives.plan import IdOn, Matching, Plan

API_KEY, SECRET, PASSPHRASE = "bg_second_exchange", "second-secret", "secondpass"
STAMP_OFF_MS = 30_000
REVERSAL_PATH = "/api/v2/mix/order/click-backhand"
PUBLIC_PATHS = ("/api/v2/public/", "/api/v2/mix/market/")
"""What is offered below them is read without a key."""
VISIBLE_AFTER_S = 3.0
"""Whatever else lags, an order that was taken is known to order detail after so long."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrives."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The query's parameters."""
        text = self.target.partition("?")[2]
        if "%" in text or "+" in text:
            return dict(parse_qsl(text, keep_blank_values=True))
        return dict(pair.split("=", 1) for pair in text.split("&")) if text else {}


@dataclass(frozen=True, slots=True)
class Response:
    """A response before any weather: HTTP status and the envelope."""

    status: int
    envelope: dict[str, Any]


class Refusal(Exception):
    """The exchange says no, in its own envelope."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class SecondExchange:
    """One account with one key. Replies show what was so some time ago where the plan says that they lag."""

    def __init__(self, plan: Plan, books: Books, clock: ExchangeClock) -> None:
        self.books = books
        self.clock = clock
        self.healed = False
        self.accepts: list[Reversal] = []
        self._plan = plan
        self._reads = 0
        self._routes = {
            "/api/v2/mix/account/accounts": self._accounts,
            "/api/v2/mix/order/orders-pending": self._pending,
            "/api/v2/mix/order/fills": self._fills,
            "/api/v2/mix/order/orders-plan-history": self._no_orders,
        }
        if not plan.core_only:
            self._routes |= {
                "/api/v2/mix/position/all-position": self._positions,
                "/api/v2/mix/order/detail": self._detail,
                "/api/v2/mix/order/orders-plan-pending": self._no_orders,
                "/api/v2/mix/account/account": self._account,
                "/api/v2/mix/market/contracts": self._contracts,
                "/api/v2/mix/market/ticker": self._ticker,
                "/api/v2/mix/market/tickers": self._tickers,
                "/api/v2/mix/market/current-fund-rate": self._funding_rates,
                "/api/v2/spot/account/info": self._info,
                "/api/v2/public/time": self._time,
            }

    # Lags

    @property
    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()

    def lag_s(self, lag_s: float) -> float:
        """How old a reading is now: none once the weather is over, on and off where replicas take turns."""
        if self.healed or (self._plan.lag_flaps and self._reads % 2):
            return 0.0
        return lag_s

    # The door

    def handle(self, request: Request, *, tells_uid: bool = True) -> Response:
        """Answer a read."""
        self._reads += 1
        try:
            self._authenticate(request)
            if request.path == "/api/v2/spot/account/info" and not tells_uid:
                raise Refusal("40014", "Incorrect permissions, need spot account read permissions")
            route = self._routes.get(request.path)
            if route is None:
                raise Refusal("40404", "Request URL NOT FOUND", 404)
            return self.success(route(request.query))
        except Refusal as refusal:
            return self.refusal(refusal.code, str(refusal), refusal.status)

    def success(self, data: Any) -> Response:
        """The envelope of a success."""
        return Response(200, {"code": "00000", "msg": "success", "requestTime": self.clock.now_ms(), "data": data})

    def refusal(self, code: str, message: str, status: int = 400) -> Response:
        """The envelope of a refusal."""
        return Response(status, {"code": code, "msg": message, "requestTime": self.clock.now_ms(), "data": None})

    def _authenticate(self, request: Request) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        is_public = request.path.startswith(PUBLIC_PATHS) and request.path in self._routes
        if is_public and "access-key" not in headers:
            return
        stamp = headers.get("access-timestamp", "")
        signed = f"{stamp}{request.method}{request.target}".encode() + request.body
        signature = base64.b64encode(hmac.digest(SECRET.encode(), signed, "sha256")).decode()
        if headers.get("access-key") != API_KEY or headers.get("access-passphrase") != PASSPHRASE:
            raise Refusal("40012", "apikey/password is incorrect")
        if headers.get("access-sign") != signature:
            raise Refusal("40009", "sign signature error")
        if abs(self.clock.now_ms() - int(stamp)) > STAMP_OFF_MS:
            raise Refusal("40008", "Request timestamp expired")

    # Reversal

    def reverse(self, request: Request, matching: Matching) -> Response:
        """Judge a reversal that arrives, and take it."""
        try:
            self._authenticate(request)
            reversal = self._reversal(json.loads(request.body), matching)
        except Refusal as refusal:
            return self.refusal(refusal.code, str(refusal), refusal.status)
        self.accepts.append(reversal)
        self.books.accept(reversal)
        return self.success({"orderId": reversal.order_id, "clientOid": reversal.client_oid})

    def _reversal(self, body: Mapping[str, Any], matching: Matching) -> Reversal:
        symbol, hedge = str(body.get("symbol", "")).upper(), self.books.hedge
        if symbol not in PRICES:
            raise Refusal("40034", "Parameter does not exist")
        if str(body.get("productType", "")).upper() != "USDT-FUTURES" or body.get("marginCoin", "").upper() != "USDT":
            raise Refusal("40020", "Parameter productType or marginCoin error")
        if hedge != ("tradeSide" in body):
            raise Refusal("40774", "The order type for unilateral position must also be the unilateral position type.")
        holding = self.books.held[symbol].now
        if hedge:
            if body.get("side") not in ("buy", "sell") or "size" not in body:
                raise Refusal("40017", "Parameter verification failed side size")
            reverses_long = body["side"] == "buy"
        else:
            reverses_long = holding.net > 0
        held = holding.long if reverses_long else holding.short
        size = held
        if "size" in body and (hedge or not self._plan.ignores_one_way_size):
            try:
                size = Decimal(body["size"])
            except InvalidOperation:
                raise Refusal("40020", "Parameter size error") from None
            if size <= 0:
                raise Refusal("40020", "Parameter size error")
        if not held:
            raise Refusal("22002", "No position to close")
        reversed_size = min(size, held)
        order_id = self.books.new_order_id()
        client_oid = str(body.get("clientOid") or order_id)
        return Reversal(
            order_id=order_id,
            close_order_id=self.books.new_order_id() if self._opens_by_id(matching) else order_id,
            open_order_id=self.books.new_order_id() if matching.lies else order_id,
            client_oid=client_oid,
            symbol=symbol,
            reverses_long=reverses_long,
            hedge=hedge,
            to_close=reversed_size,
            to_open=reversed_size,
            has_size="size" in body,
            matching=matching,
            accepted_at_s=self._now_s,
        )

    def _opens_by_id(self, matching: Matching) -> bool:
        return self._plan.id_on is IdOn.OPENING_ORDER and not matching.lies

    # Reads

    def _accounts(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        return [account_row()]

    def _positions(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        at_s = self._now_s - self.lag_s(self._plan.position_lag_s)
        rows = []
        for symbol, past in self.books.held.items():
            holding = past.at(at_s)
            for word, size in (("long", holding.long), ("short", holding.short)):
                if size:
                    rows.append(self._position_row(symbol, word, size))
        return rows

    def _position_row(self, symbol: str, hold_side: str, size: Decimal) -> dict[str, Any]:
        spelling, price = self._plan.spelling, str(PRICES[symbol])
        return {
            "marginCoin": "USDT",
            "symbol": symbol,
            "holdSide": (spelling.hold_side if spelling.hold_side and not self.healed else hold_side),
            "openDelegateSize": "0",
            "marginSize": str(size * PRICES[symbol] / 20),
            "available": str(size),
            "locked": "0",
            "total": str(size),
            "leverage": "20",
            "achievedProfits": "0",
            "openPriceAvg": price,
            "marginMode": "crossed",
            "posMode": self._mode_word,
            "unrealizedPL": "0",
            "liquidationPrice": "-1",
            "keepMarginRate": "0.004",
            "markPrice": price,
            "marginRatio": "0.001",
            "breakEvenPrice": price,
            "totalFee": "",
            "deductedFee": "0",
            "grant": "",
            "assetMode": "single",
            "autoMargin": "off",
            "takeProfit": "",
            "stopLoss": "",
            "takeProfitId": "",
            "stopLossId": "",
            "cTime": str(START_MS),
            "uTime": str(START_MS),
        }

    @property
    def _mode_word(self) -> str:
        if self._plan.spelling.position_mode and not self.healed:
            return self._plan.spelling.position_mode
        return "hedge_mode" if self.books.hedge else "one_way_mode"

    def shown_state(self, reversal: Reversal) -> tuple[str, Decimal] | None:
        """Order detail's state and filled size, None while it does not know the order."""
        age_s = self._now_s - reversal.accepted_at_s
        lag_s = self.lag_s(self._plan.detail_lag_s)
        if age_s < min(lag_s, VISIBLE_AFTER_S):
            return None
        state = reversal.past.at(self._now_s - lag_s)
        word, filled = state.state, state.closed + state.opened
        if self._opens_by_id(reversal.matching):
            filled = state.opened
            if word == "partially_filled" and not filled:
                word = "live"
        if reversal.matching.lies and state.closed:
            return "filled", state.closed
        if word in ("filled", "canceled") and self._plan.spelling.end_state:
            word = self._plan.spelling.end_state
        return word, filled

    def _detail(self, query: Mapping[str, str]) -> dict[str, Any]:
        for reversal in self.books.reversals.values():
            by_client_oid = self._kept_client_oid(reversal) == query.get("clientOid")
            if not by_client_oid and query.get("orderId") not in (reversal.order_id, reversal.close_order_id):
                continue
            shown = self.shown_state(reversal)
            if shown is not None and query.get("orderId") in (None, reversal.order_id):
                return self._order_row(reversal, *shown) | {"state": shown[0]}
            if shown is not None:
                return self._closing_row(reversal)
        other = self.books.others.get(query.get("orderId", ""))
        if other is not None and self._now_s - other.at_s >= min(self.lag_s(self._plan.detail_lag_s), VISIBLE_AFTER_S):
            return self._other_row(other)
        raise Refusal("40109", "The data of the order cannot be found, please confirm the order number")

    def _order_row(self, reversal: Reversal, state: str, filled: Decimal) -> dict[str, Any]:
        price = str(PRICES[reversal.symbol])
        one_of_two = reversal.matching.lies or self._opens_by_id(reversal.matching)
        size = reversal.to_close if one_of_two else reversal.to_close + reversal.to_open
        long = reversal.reverses_long
        side = ("buy" if long else "sell") if reversal.hedge else ("sell" if long else "buy")
        return {
            "symbol": reversal.symbol,
            "size": str(size),
            "orderId": reversal.order_id,
            "clientOid": self._kept_client_oid(reversal),
            "baseVolume": str(filled),
            "fee": "0",
            "price": "",
            "priceAvg": price if filled else "",
            "status": state,
            "side": side,
            "force": "ioc",
            "totalProfits": "0",
            "posSide": ("long" if long else "short") if reversal.hedge else "net",
            "marginCoin": "USDT",
            "quoteVolume": str(filled * PRICES[reversal.symbol]),
            "leverage": "20",
            "marginMode": "crossed",
            "reduceOnly": "NO",
            "enterPointSource": "api",
            "tradeSide": "open" if reversal.hedge else f"{side}_single",
            "posMode": self._mode_word,
            "orderType": "market",
            "orderSource": "reverse",
            "cTime": str(trade_time_ms(reversal.accepted_at_s)),
            "uTime": str(trade_time_ms(reversal.past.changed_at_s)),
        }

    def _closing_row(self, reversal: Reversal) -> dict[str, Any]:
        state = reversal.past.at(self._now_s - self.lag_s(self._plan.detail_lag_s))
        word = "filled" if state.closed == reversal.to_close else state.state
        row = self._order_row(reversal, word, state.closed)
        return row | {"orderId": reversal.close_order_id, "clientOid": "", "state": word}

    def _kept_client_oid(self, reversal: Reversal) -> str:
        return "" if self._plan.id_on is IdOn.NO_ORDER else reversal.client_oid

    def _other_row(self, fill: Fill) -> dict[str, Any]:
        return self._fill_row(fill) | {
            "size": str(fill.size),
            "clientOid": f"web-{fill.order_id}",
            "state": "filled",
            "marginCoin": "USDT",
            "leverage": "20",
            "marginMode": "crossed",
            "orderType": "market",
            "orderSource": "normal",
            "uTime": str(trade_time_ms(fill.at_s)),
        }

    def shown_pending(self) -> list[tuple[Reversal, str, Decimal]]:
        """The reversals among the pending orders, with state and filled size."""
        if not self._plan.shows_pending:
            return []
        lag_s = self.lag_s(self._plan.detail_lag_s)
        rows = []
        for reversal in self.books.reversals.values():
            if self._now_s - reversal.accepted_at_s < min(lag_s, VISIBLE_AFTER_S):
                continue
            state = reversal.past.at(self._now_s - lag_s)
            if state.state in ("live", "partially_filled"):
                opens_by_id = self._opens_by_id(reversal.matching)
                filled = state.opened if opens_by_id else state.closed + state.opened
                rows.append((reversal, "partially_filled" if filled else "live", filled))
        return rows

    def _listed_though_over(self) -> list[tuple[Reversal, str, Decimal]]:
        """The reversals that are over, where the exchange lists every order as pending, whatever it is asked for."""
        if not self._plan.lists_ended:
            return []
        ended = [reversal for reversal in self.books.reversals.values() if reversal.is_over]
        states = [(reversal, reversal.past.now) for reversal in ended]
        return [(reversal, state.state, state.closed + state.opened) for reversal, state in states]

    def _pending(self, query: Mapping[str, str]) -> dict[str, Any]:
        status = query.get("status") or "live"
        rows = [
            self._order_row(*shown)
            for shown in (*self.shown_pending(), *self._listed_though_over())
            if shown[1] in (status, "filled", "canceled")
            and _matches(query, shown[0].symbol, shown[0].order_id, self._kept_client_oid(shown[0]))
        ]
        rows.sort(key=lambda row: int(row["orderId"]), reverse=True)
        return {"entrustedList": rows or None, "endId": rows[-1]["orderId"] if rows else None}

    def visible_fills(self) -> list[Fill]:
        """The fills that are told by now, newest first."""
        now_s = self._now_s
        visible = [fill for fill in self.books.fills if self.healed or fill.visible_at_s <= now_s]
        visible.sort(key=lambda fill: fill.trade_id, reverse=True)
        return visible

    def _fills(self, query: Mapping[str, str]) -> dict[str, Any]:
        first, last = int(query.get("startTime") or 0), int(query.get("endTime") or 2**62)
        older_than = int(query.get("idLessThan") or 2**62)
        fills = [
            fill
            for fill in self.visible_fills()
            if fill.trade_id < older_than
            and first <= trade_time_ms(fill.at_s) <= last
            and _matches(query, fill.symbol, fill.order_id, "")
        ][: int(query.get("limit") or 100)]
        rows = [self._fill_row(fill) for fill in fills]
        return {"fillList": rows or None, "endId": rows[-1]["tradeId"] if rows else None}

    def _fill_row(self, fill: Fill) -> dict[str, Any]:
        price = PRICES[fill.symbol]
        return {
            "tradeId": str(fill.trade_id),
            "symbol": fill.symbol,
            "orderId": fill.order_id,
            "price": str(price),
            "baseVolume": str(fill.size),
            "feeDetail": [{"deduction": "no", "feeCoin": "USDT", "totalDeductionFee": None, "totalFee": "-0.01"}],
            "side": fill.side,
            "quoteVolume": str(fill.size * price),
            "profit": "0",
            "enterPointSource": "api",
            "tradeSide": (self._plan.spelling.trade_side if fill.at_s > 0 and not self.healed else "")
            or fill.trade_side,
            "posMode": self._mode_word,
            "tradeScope": "taker",
            "cTime": str(trade_time_ms(fill.at_s)),
        }

    def _no_orders(self, query: Mapping[str, str]) -> dict[str, Any]:
        return {"entrustedList": None, "endId": None}

    def _account(self, query: Mapping[str, str]) -> dict[str, Any]:
        return {
            **account_row(),
            "posMode": self._mode_word,
            "marginMode": "crossed",
            "crossedMarginLeverage": 20,
            "isolatedLongLever": 20,
            "isolatedShortLever": 20,
        }

    def _contracts(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        return contract_rows(query.get("symbol"))

    def _ticker(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        return [ticker_row(query.get("symbol", "BTCUSDT").upper(), self.clock.now_ms())]

    def _tickers(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        return [ticker_row(symbol, self.clock.now_ms()) for symbol in PRICES]

    def _funding_rates(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        return [{"symbol": symbol, "fundingRate": "0.0001", "fundingRateInterval": "8"} for symbol in PRICES]

    def _info(self, query: Mapping[str, str]) -> dict[str, Any]:
        return account_info()

    def _time(self, query: Mapping[str, str]) -> dict[str, Any]:
        return {"serverTime": str(self.clock.now_ms())}


def _matches(query: Mapping[str, str], symbol: str, order_id: str, client_oid: str) -> bool:
    if query.get("productType", "").upper() != "USDT-FUTURES":
        return False
    if query.get("symbol") and query["symbol"].upper() != symbol:
        return False
    if query.get("orderId"):
        return query["orderId"] == order_id
    return not query.get("clientOid") or query["clientOid"] == client_oid


def holding_text(holding: Holding, *, hedge: bool) -> dict[str, str]:
    """A holding as a table of decimals, for comparison."""
    if hedge:
        return {"long": plain(holding.long), "short": plain(holding.short)}
    return {"net": plain(holding.net)}


def plain(size: Decimal) -> str:
    """A size without an exponent or zeros at its end."""
    text = f"{size:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

"""A public client that knows the live exchange reads the same from the sandbox as `tradetui show` does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.optional_packages import import_optional
from tests.whole.peers.sandbox_program import key_of, sandbox_program, show, unified_reply, unified_rows
from tradetui.trading.fill_terms import terms_of

ROOT = Path(__file__).parents[3]
SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "DOGEUSDT")


@cache
def ccxt() -> Any:
    """The client, whose import takes half a second of every process that would import it to collect its tests."""
    return import_optional("ccxt.async_support")


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, Any]]:
    with sandbox_program() as running:
        yield running


def ask(
    server: dict[str, Any], question: Callable[[Any], Awaitable[Any]], account: str = "hedge", **changed: Any
) -> Any:
    async def run() -> Any:
        key = key_of(server, account)
        client = ccxt().bitget(
            {"apiKey": key["api_key"], "secret": key["secret"], "password": key["passphrase"], **changed}
        )
        client.urls["api"] = dict.fromkeys(client.urls["api"], server["base_url"])
        client.set_markets([market for symbol in SYMBOLS for market in markets_of(symbol)])
        try:
            return await question(client)
        finally:
            await client.close()

    return asyncio.run(run())


def markets_of(symbol: str) -> list[dict[str, Any]]:
    base = symbol.removesuffix("USDT")
    common = {
        "id": symbol,
        "base": base,
        "quote": "USDT",
        "baseId": base,
        "quoteId": "USDT",
        "active": True,
        "future": False,
        "option": False,
        "precision": {"amount": 0.0001, "price": 0.01},
        "limits": {},
        "info": {},
    }
    swap = {"symbol": f"{base}/USDT:USDT", "settle": "USDT", "settleId": "USDT", "type": "swap", "spot": False}
    swap |= {"swap": True, "contract": True, "linear": True, "inverse": False, "contractSize": 1}
    spot = {"symbol": f"{base}/USDT", "type": "spot", "spot": True, "swap": False, "contract": False}
    return [{**common, **swap}, {**common, **spot}]


def same(one: object, other: object) -> bool:
    return Decimal(str(one)) == Decimal(str(other))


def test_balances(server: dict[str, Any]) -> None:
    balance = ask(server, lambda client: client.fetch_balance({"type": "swap", "productType": "USDT-FUTURES"}))
    (account,) = show(server, "hedge", "accounts", "--product-type", "USDT-FUTURES")
    assert same(balance["USDT"]["total"], account["accountEquity"])


def test_open_orders(server: dict[str, Any]) -> None:
    theirs = ask(server, lambda client: client.fetch_open_orders("BTC/USDT:USDT"))
    ours = show(server, "hedge", "orders", "--product-type", "USDT-FUTURES", "--symbol", "BTCUSDT", "--status", "live")
    assert theirs
    assert {order["id"] for order in theirs} == {row["orderId"] for row in ours}
    prices = {row["orderId"]: row["price"] for row in ours}
    assert all(same(order["price"], prices[order["id"]]) for order in theirs)


def test_futures_fills(server: dict[str, Any]) -> None:
    theirs = ask(server, lambda client: client.fetch_my_trades("BTC/USDT:USDT"))
    ours = {
        row["tradeId"]: row
        for row in show(server, "hedge", "fills", "--product-type", "USDT-FUTURES", "--symbol", "BTCUSDT")
    }
    assert len(theirs) == len(ours) == 100
    for trade in theirs:
        row = ours[trade["id"]]
        assert same(trade["amount"], row["baseVolume"]) and same(trade["price"], row["price"])


def test_spot_fills(server: dict[str, Any]) -> None:
    theirs = ask(server, lambda client: client.fetch_my_trades("BTC/USDT"))
    ours = {row["tradeId"]: row for row in show(server, "hedge", "spot-fills", "--symbol", "BTCUSDT")}
    assert theirs and {trade["id"] for trade in theirs} == set(ours)
    assert all(same(trade["amount"], ours[trade["id"]]["size"]) for trade in theirs)


def test_positions(server: dict[str, Any]) -> None:
    theirs = ask(server, lambda client: client.fetch_positions())
    ours = show(server, "hedge", "positions", "--product-type", "USDT-FUTURES")
    expected = {(row["symbol"], row["holdSide"]): row["total"] for row in ours}
    assert theirs
    for position in theirs:
        assert same(position["contracts"], expected[position["info"]["symbol"], position["side"]])


def test_converts(server: dict[str, Any]) -> None:
    theirs = ask(
        server,
        lambda client: client.fetch_convert_trade_history(None, client.milliseconds() - 80 * 86_400_000, 50),
    )
    ours = {row["id"]: row for row in show(server, "hedge", "convert", "--limit", "100")}
    assert theirs
    assert all(same(trade["fromAmount"], ours[trade["id"]]["fromCoinSize"]) for trade in theirs)


def test_the_spot_ledger(server: dict[str, Any]) -> None:
    theirs = ask(server, lambda client: client.fetch_ledger("USDT", None, 50, {"type": "spot"}))
    ours = {row["billId"]: row for row in show(server, "hedge", "spot-bills", "--coin", "USDT", "--limit", "100")}
    assert theirs
    assert all(same(abs(Decimal(ours[entry["id"]]["size"])), entry["amount"]) for entry in theirs)


def test_a_wrong_secret_is_an_authentication_error(server: dict[str, Any]) -> None:
    with pytest.raises(ccxt().AuthenticationError):
        ask(server, lambda client: client.fetch_positions(), secret="wrong")


def test_too_many_calls_are_a_rate_limit_error(server: dict[str, Any]) -> None:
    async def many(client: Any) -> None:
        client.enableRateLimit = False
        await asyncio.gather(*(client.fetch_positions() for _ in range(20)))

    # Its table of codes has 429 as DDoSProtection, the same error as for the live exchange.
    with pytest.raises((ccxt().RateLimitExceeded, ccxt().DDoSProtection)):
        ask(server, many)


# It finds out by itself that an account is unified, and then reads interface v3.


def test_a_unified_accounts_balances(server: dict[str, Any]) -> None:
    balance = ask(server, lambda client: client.fetch_balance({"type": "swap"}), "unified")
    (account,) = unified_rows(server, "assets")
    for coin in account["assets"]:
        assert same(balance[coin["coin"]]["total"], coin["equity"])
        assert same(balance[coin["coin"]]["free"], coin["available"])


def test_a_unified_accounts_orders(server: dict[str, Any]) -> None:
    theirs = ask(server, lambda client: client.fetch_open_orders("BTC/USDT:USDT"), "unified")
    ours = {row["orderId"]: row for row in unified_rows(server, "orders", category="USDT-FUTURES", symbol="BTCUSDT")}
    assert {order["id"] for order in theirs} == set(ours) != set()
    for order in theirs:
        row = ours[order["id"]]
        assert same(order["price"], row["price"]) and same(order["filled"], row["cumExecQty"])
        assert (order["side"], order["reduceOnly"]) == (row["side"], row["reduceOnly"] == "YES")


def test_a_unified_accounts_fills(server: dict[str, Any]) -> None:
    question = {"category": "USDT-FUTURES"}
    theirs = ask(server, lambda client: client.fetch_my_trades("BTC/USDT:USDT", params=question), "unified")
    ours = {row["execId"]: row for row in unified_rows(server, "fills", **question) if row["symbol"] == "BTCUSDT"}
    assert {trade["id"] for trade in theirs} == set(ours) != set()
    for trade in theirs:
        row = ours[trade["id"]]
        assert same(trade["amount"], row["execQty"]) and same(trade["cost"], row["execValue"])
        assert (trade["side"], trade["timestamp"]) == (row["side"], int(row["createdTime"]))


def test_a_unified_accounts_fills_mean_to_us_what_they_mean_to_it(server: dict[str, Any]) -> None:
    question = {"category": "USDT-FUTURES"}
    theirs = ask(server, lambda client: client.fetch_my_trades("BTC/USDT:USDT", params=question), "unified")
    reply = unified_reply(server, lambda client: client.futures.fills(product_type="USDT-FUTURES"))
    ours = {fill.trade_id: fill for fill in reply.rows}
    for trade in theirs:
        fill = ours[trade["id"]]
        terms = terms_of(fill)
        assert (trade["side"] == "buy") is terms.buys and terms.effect is not None
        assert trade["info"]["tradeSide"] == f"{'open' if terms.opens else 'close'}_{terms.leg}"
        assert same(abs(trade["fee"]["cost"]), -fill.fee_detail[0].total_fee), "a paid fee is below zero"
        assert same(trade["info"]["execPnl"], fill.profit)


def test_a_unified_accounts_positions_and_round_trips(server: dict[str, Any]) -> None:
    theirs = ask(server, lambda client: client.fetch_positions(), "unified")
    rows = unified_rows(server, "positions", category="USDT-FUTURES")
    ours = {(row["symbol"], row["posSide"]): row for row in rows}
    assert {(position["info"]["symbol"], position["side"]) for position in theirs} == set(ours) != set()
    for position in theirs:
        row = ours[position["info"]["symbol"], position["side"]]
        assert same(position["contracts"], row["total"]) and same(position["entryPrice"], row["avgPrice"])
        assert position["hedged"] and (position["liquidationPrice"] is None or float(row["liquidationPrice"]) > 0)
    past = ask(server, lambda client: client.fetch_positions_history(["BTC/USDT:USDT"]), "unified")
    closed = unified_rows(server, "closed_positions", category="USDT-FUTURES", symbol="BTCUSDT")
    realised = {row["positionId"]: row["cumRealisedPnl"] for row in closed}
    assert {position["id"] for position in past} == set(realised) != set()
    assert all(same(position["realizedPnl"], realised[position["id"]]) for position in past)


def test_a_unified_accounts_triggers(server: dict[str, Any]) -> None:
    theirs = ask(
        server,
        lambda client: client.fetch_canceled_and_closed_orders("BTC/USDT:USDT", params={"trigger": True}),
        "unified",
    )
    rows = unified_rows(server, "triggers", category="USDT-FUTURES")
    ours = {row["orderId"]: row for row in rows if row["symbol"] == "BTCUSDT"}
    assert {order["id"] for order in theirs} == set(ours) != set()
    for order in theirs:
        row = ours[order["id"]]
        assert same(order["amount"] or 0, row["qty"]), "none for a stop of the whole position"
        for price, name in (("takeProfitPrice", "takeProfit"), ("stopLossPrice", "stopLoss")):
            assert (order[price] is None) is (not row[name]) and (not row[name] or same(order[price], row[name]))

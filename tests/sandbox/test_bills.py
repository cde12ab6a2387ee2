"""Futures bills: fills, funding at 00, 08 and 16 UTC and transfers, with balances that add up."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.exchange_events import liquidate, transfer
from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import DAY_MS, NOW_MS, Caller
from tradetui.sandbox.books.reply_rows import funding_row
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.sandbox.wallet_history import past_worth

EIGHT_HOURS_MS = 8 * 3_600_000
ACCOUNTS = (
    ("hedge", "USDT-FUTURES"),
    ("one-way", "USDC-FUTURES"),
    ("coin", "COIN-FUTURES"),
    ("isolated", "USDT-FUTURES"),
)


def all_bills(caller: Caller, account: str, product_type: str) -> list[dict[str, Any]]:
    """Every bill of ninety days, newest first, in pages of pieces of thirty days."""
    rows: list[dict[str, Any]] = []
    for piece in range(3):
        end = NOW_MS - piece * 30 * DAY_MS - (1 if piece else 0)
        span = {"startTime": NOW_MS - (piece + 1) * 30 * DAY_MS, "endTime": end}
        cursor: dict[str, str] = {}
        while page := caller.get("futures.bills", account, productType=product_type, limit=100, **span, **cursor).data:
            if not page["bills"]:
                break
            rows += page["bills"]
            cursor = {"idLessThan": page["endId"]}
    return rows


@pytest.mark.parametrize(("account", "product_type"), ACCOUNTS)
def test_bills_are_the_fills_and_more_and_their_balances_end_in_the_wallet(account: str, product_type: str) -> None:
    caller = Caller()
    bills = all_bills(caller, account, product_type)
    assert len({row["billId"] for row in bills}) == len(bills)
    assert bills == sorted(bills, key=lambda row: (int(row["cTime"]), int(row["billId"])), reverse=True)
    balances: dict[str, Decimal] = {}
    for row in reversed(bills):
        change = Decimal(row["amount"]) + Decimal(row["fee"])
        if row["coin"] in balances:
            assert balances[row["coin"]] + change == Decimal(row["balance"])
        balances[row["coin"]] = Decimal(row["balance"])
    for wallet in caller.get("futures.accounts", account, productType=product_type).rows:
        worth = Decimal(wallet["accountEquity"]) - Decimal(wallet["unrealizedPL"])
        assert abs(balances[wallet["marginCoin"]] - worth) <= Decimal("0.00000002")
    fills = caller.sandbox.exchange_state.book(caller.key(account).uid, product_type).fills
    traded = [row for row in bills if not row["businessType"].startswith(("trans_", "contract_"))]
    assert [(row["cTime"], row["amount"]) for row in reversed(traded)] == [
        (row["cTime"], row["profit"]) for row in fills
    ]
    kinds = {row["businessType"] for row in bills}
    assert {"contract_settle_fee", "trans_from_exchange", "trans_to_exchange"} < kinds
    assert kinds & ({"buy", "sell"} if account == "one-way" else {"open_long", "close_short"})
    funding = [int(row["cTime"]) for row in bills if row["businessType"] == "contract_settle_fee"]
    assert {moment % EIGHT_HOURS_MS for moment in funding} == {0}
    check_books(caller.sandbox.exchange_state)


@pytest.fixture
def before_settlement() -> ExchangeState:
    """An exchange a second before a settlement, in which nobody trades by chance."""
    exchange_state = build_exchange_state(3, NOW_MS // EIGHT_HOURS_MS * EIGHT_HOURS_MS - 1_000)
    for key in exchange_state.keys:
        exchange_state.account(key.uid).lively = False
    return exchange_state


@pytest.mark.parametrize(("account", "product_type"), ACCOUNTS)
def test_a_settlement_pays_the_rate_that_the_market_named(
    before_settlement: ExchangeState, account: str, product_type: str
) -> None:
    exchange_state = before_settlement
    uid = next(key.uid for key in exchange_state.keys if key.name == account)
    rates = {spec.symbol: funding_row(spec, exchange_state.now_ms) for spec in exchange_state.specs(product_type)}
    held = {(row["symbol"], row["holdSide"]): row for row in exchange_state.positions(uid, product_type)}
    known = len(exchange_state.book(uid, product_type).bills())
    settlement_ms = exchange_state.now_ms + 1_000
    exchange_state.advance(settlement_ms)
    marks = exchange_state.moment.marks()
    expected: defaultdict[str, Decimal] = defaultdict(Decimal)
    for (symbol, side), row in held.items():
        assert rates[symbol]["nextUpdate"] == str(settlement_ms)
        value = Decimal(row["total"]) * (1 if product_type == "COIN-FUTURES" else marks[symbol])
        paid = value * Decimal(rates[symbol]["fundingRate"]) * (-1 if side == "long" else 1)
        expected[symbol] += paid.quantize(Decimal("1e-8"))
    funding: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in exchange_state.book(uid, product_type).bills()[known:]:
        if row["businessType"] == "contract_settle_fee":
            assert row["cTime"] == str(settlement_ms)
            funding[row["symbol"]] += Decimal(row["amount"])
    assert funding == expected
    for row in exchange_state.positions(uid, product_type):
        before = held.get((row["symbol"], row["holdSide"]))
        if before is not None:
            paid = Decimal(row["totalFee"]) - Decimal(before["totalFee"] or 0)
            value = Decimal(before["total"]) * (1 if product_type == "COIN-FUTURES" else marks[row["symbol"]])
            assert abs(abs(paid) - value / 10_000) <= Decimal("1e-8")
    check_books(exchange_state)


def test_what_a_position_says_of_funding_is_what_its_bills_come_to() -> None:
    caller = Caller()
    bills = all_bills(caller, "one-way", "USDT-FUTURES")
    positions = caller.get("futures.positions", "one-way", productType="USDT-FUTURES").rows
    assert positions
    for row in positions:
        of_position = [
            Decimal(bill["amount"])
            for bill in bills
            if bill["symbol"] == row["symbol"]
            and bill["businessType"] == "contract_settle_fee"
            and int(bill["cTime"]) >= int(row["cTime"])
        ]
        assert Decimal(row["totalFee"] or 0) == sum(of_position)


def test_a_transfer_moves_the_wallet_both_ways() -> None:
    caller = Caller()
    exchange_state, uid = caller.sandbox.exchange_state, caller.key("hedge").uid
    before = Decimal(caller.get("futures.accounts", productType="USDT-FUTURES").rows[0]["accountEquity"])
    transfer(exchange_state.book(uid, "USDT-FUTURES"), "USDT", Decimal("120.5"), exchange_state.now_ms)
    transfer(exchange_state.book(uid, "USDT-FUTURES"), "USDT", Decimal(-20), exchange_state.now_ms)
    bills = caller.get("futures.bills", productType="USDT-FUTURES", limit=2).rows
    assert [(row["businessType"], row["amount"]) for row in bills] == [
        ("trans_to_exchange", "-20"),
        ("trans_from_exchange", "120.5"),
    ]
    after = Decimal(caller.get("futures.accounts", productType="USDT-FUTURES").rows[0]["accountEquity"])
    assert after - before == Decimal("100.5")
    check_books(exchange_state)


def test_positions_closed_by_force_have_words_of_their_own() -> None:
    caller = Caller()
    uid = caller.hold("hedge", long="0.1")
    exchange_state = caller.sandbox.exchange_state
    book = exchange_state.book(uid, "USDT-FUTURES")
    liquidate(exchange_state, book, book.holdings["BTCUSDT", "long"])
    assert book.bills()[-1]["businessType"] == "burst_long_loss_query"


def test_only_one_kind_or_coin_and_at_most_thirty_days() -> None:
    caller = Caller()
    rows = caller.get("futures.bills", "coin", productType="COIN-FUTURES", businessType="trans_from_exchange").rows
    assert {row["coin"] for row in rows} == {"BTC", "ETH"}
    rows = caller.get(
        "futures.bills", "coin", productType="COIN-FUTURES", businessType="trans_from_exchange", coin="BTC"
    ).rows
    assert {row["coin"] for row in rows} == {"BTC"}
    assert len(caller.get("futures.bills", productType="USDT-FUTURES").rows) == 20
    too_long = caller.get("futures.bills", productType="USDT-FUTURES", startTime=NOW_MS - 31 * DAY_MS, endTime=NOW_MS)
    assert too_long.code == "00001"
    assert caller.get("futures.bills", productType="USDT-FUTURES", limit=101).code == "40058"
    assert Caller(core_only=True).get("futures.bills", productType="USDT-FUTURES").status == 404


@pytest.mark.parametrize(("account", "product_type"), ACCOUNTS)
def test_positions_that_ended_and_those_open_share_funding_and_fees_without_rest(
    account: str, product_type: str
) -> None:
    caller = Caller()
    book = caller.sandbox.exchange_state.book(caller.key(account).uid, product_type)
    parts: defaultdict[str, Decimal] = defaultdict(Decimal)
    ended: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while rows := caller.get("futures.closed_positions", account, productType=product_type, limit=100, **cursor).rows:
        ended += rows
        cursor = {"idLessThan": rows[-1]["positionId"]}
    assert len({row["positionId"] for row in ended}) == len(ended) > 0
    for row in ended:
        fees = Decimal(row["openFee"]) + Decimal(row["closeFee"])
        assert Decimal(row["netProfit"]) == Decimal(row["pnl"]) + Decimal(row["totalFunding"]) + fees
        assert int(row["ctime"]) < int(row["utime"])
        parts[row["symbol"]] += Decimal(row["totalFunding"]) + fees
    for row in caller.get("futures.positions", account, productType=product_type).rows:
        parts[row["symbol"]] += Decimal(row["totalFee"] or 0) - Decimal(row["deductedFee"])
    whole: defaultdict[str, Decimal] = defaultdict(Decimal)
    for bill in book.bills():
        if bill["symbol"]:
            funding = bill["businessType"] == "contract_settle_fee"
            whole[bill["symbol"]] += Decimal(bill["fee"]) + (Decimal(bill["amount"]) if funding else 0)
    assert {symbol: amount for symbol, amount in parts.items() if amount != whole[symbol]} == {}


@pytest.mark.parametrize("name", ["hedge", "one-way", "coin", "isolated"])
def test_the_past_worth_of_an_account_comes_to_what_it_is_worth_at_its_start(name: str) -> None:
    exchange_state = build_exchange_state(7, NOW_MS)
    uid = next(key.uid for key in exchange_state.keys if key.name == name)
    account = exchange_state.account(uid)
    moments = [NOW_MS - 91 * DAY_MS, NOW_MS - 30 * DAY_MS, NOW_MS]
    worth = dict(past_worth(account, account.futures, moments))
    at_start = [row for product_type in account.futures for row in exchange_state.futures_accounts(uid, product_type)]
    for coin, row in zip(worth[NOW_MS], at_start, strict=True):
        figures = (coin.equity, coin.unrealised, coin.in_dollars)
        expected = (row["accountEquity"], row["unrealizedPL"], row["usdtEquity"])
        assert coin.coin == row["marginCoin"]
        for figure, text in zip(figures, expected, strict=True):
            assert abs(figure - Decimal(text)) < Decimal("0.001"), coin.coin
    assert {coin.unrealised for coin in worth[moments[0]]} == {0}, "nothing was held before the first fill"
    for coin in worth[moments[1]]:
        bills = [bill for book in account.futures.values() for bill in book.bills() if bill["coin"] == coin.coin]
        before = [bill for bill in bills if int(bill["cTime"]) <= moments[1]]
        assert not before or coin.equity - coin.unrealised == Decimal(before[-1]["balance"])

"""Rows of the position list: liquidation price, fees, what is free of close orders, the stops that wait."""

from __future__ import annotations

import json
import os
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sandbox.exchange_events import cancel_order, liquidate, open_position, place_order
from tests.sandbox.signed_requests import NOW_MS, Caller
from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.margin import backing, liquidation_price, to_close_by_force
from tradetui.sandbox.books.market import CONTRACTS, MAKER_FEE, TAKER_FEE
from tradetui.sandbox.books.orders import HEDGE, ONE_WAY, trigger_row
from tradetui.sandbox.books.reply_rows import position_row
from tradetui.trading.positions import reported
from tradetui.wire.models.futures_accounts import ReportedPosition
from tradetui.wire.product_types import ProductType

USDT = "USDT-FUTURES"
PRICE = Decimal("80000")


@pytest.fixture
def caller() -> Caller:
    caller = Caller()
    caller.sandbox.exchange_state.market.set_price("BTCUSDT", PRICE)
    return caller


def rows(caller: Caller, account: str, symbol: str = "BTCUSDT") -> list[dict[str, Any]]:
    product_type = CONTRACTS[symbol].product_type
    answer = caller.get("futures.positions", account, productType=product_type)
    return [row for row in answer.rows if row["symbol"] == symbol]


def only_what_is_held(book: FuturesBook) -> None:
    """Nothing rests or waits that a moving price could bring in."""
    book.orders.clear()
    book.live_triggers.clear()


def figure(row: dict[str, Any], name: str) -> Decimal:
    return Decimal(row[name])


# Liquidation

SIZES = st.decimals("0.0001", "3", places=4)
LEGS = st.dictionaries(
    st.tuples(st.sampled_from(sorted(CONTRACTS)), st.sampled_from(["long", "short"])),
    st.tuples(SIZES, st.integers(-30, 30), st.booleans()),
    min_size=1,
    max_size=5,
)


@settings(max_examples=300, deadline=None)
@given(LEGS, st.integers(1, 400))
def test_at_the_liquidation_price_what_stands_behind_a_position_is_the_maintenance_margin(
    legs: dict[tuple[str, str], tuple[Decimal, int, bool]], parts: int
) -> None:
    account = Account("1", "any", "ordinary", HEDGE, random.Random(1))
    marks = {symbol: spec.start_price for symbol, spec in CONTRACTS.items()}
    for (symbol, leg), (size, away, isolated) in legs.items():
        spec = CONTRACTS[symbol]
        book = account.futures[spec.product_type]
        entry = spec.start_price * (1 + Decimal(away) / 1000)
        book.holdings[symbol, leg] = Holding(spec, leg, size, entry, 10, NOW_MS, NOW_MS, isolated=isolated)
        book.balances[spec.margin_coin] = Decimal(parts) / (50 if spec.inverse else Decimal("0.01"))
    for symbol, leg in legs:
        spec = CONTRACTS[symbol]
        book, coin = account.futures[spec.product_type], spec.margin_coin
        held = book.holdings[symbol, leg]
        price = liquidation_price(book, held, marks)

        def is_closed(price: Decimal, book: FuturesBook = book, held: Holding = held) -> bool:
            coin, symbol = held.spec.margin_coin, held.spec.symbol
            return held in to_close_by_force(book, coin, {**marks, symbol: price})

        if price is None or price <= 0:
            assert len({is_closed(marks[symbol] * times) for times in (1, 3, 9)}) == 1
            continue
        there = {**marks, symbol: price}
        if held.isolated:
            needed, behind = held.maintenance(price), held.margin() + held.profit(price)
        else:
            # Isolated legs of the same contract keep their own margin and profit to themselves.
            needed, behind = book.maintenance(coin, there, isolated=False), backing(book, coin, there)
        assert abs(behind - needed) <= (1 + needed) * Decimal("1e-15")
        nearby = {is_closed(price * times) for times in (Decimal("0.9999"), Decimal("1.0001"))}
        assert nearby == {True, False}, "on one side only it is liquidated"


@pytest.mark.parametrize(("account", "leg"), [("managed", "long"), ("managed", "short"), ("broker", "short")])
def test_it_is_liquidated_where_its_row_says(caller: Caller, account: str, leg: str) -> None:
    exchange_state = caller.sandbox.exchange_state
    uid = caller.hold(account, **{leg: "1"})
    book = exchange_state.book(uid, USDT)
    for held in [held for held in book.holdings.values() if held.spec.symbol != "BTCUSDT"]:
        liquidate(exchange_state, book, held)
    only_what_is_held(book)
    book.balances["USDT"] = Decimal(12_000)
    (row,) = rows(caller, account)
    price = figure(row, "liquidationPrice")
    assert (price < PRICE) is (leg == "long")
    assert Decimal("0.05") < abs(price - PRICE) / PRICE < Decimal("0.2")
    exchange_state.stands_still = False
    towards = 1 if leg == "long" else -1
    for away, left in ((Decimal("0.002"), 1), (Decimal("-0.002"), 0)):
        exchange_state.market.set_price("BTCUSDT", price * (1 + towards * away))
        exchange_state.advance(exchange_state.now_ms + exchange_state.step_ms)
        assert len(rows(caller, account)) == left, away
    assert book.fills[-1]["tradeSide"].startswith("burst_")


@pytest.mark.parametrize("legs", [{"long": "0.0001"}, {"long": "0.1", "short": "0.1"}])
def test_where_there_is_none_the_figure_is_one_nobody_takes_for_a_price(caller: Caller, legs: dict[str, str]) -> None:
    caller.hold("copy-new", **legs)
    for row in rows(caller, "copy-new"):
        price = figure(row, "liquidationPrice")
        assert price < 0 or price > PRICE * 100
        record = ReportedPosition.from_row(row)
        assert reported(ProductType.USDT_FUTURES, record).liquidation_distance is None


def test_the_ratio_is_the_accounts_risk(caller: Caller) -> None:
    caller.hold("managed", long="2")
    (account,) = caller.get("futures.accounts", "managed", productType=USDT).rows
    ratios = {row["marginRatio"] for row in caller.get("futures.positions", "managed", productType=USDT).rows}
    assert ratios == {account["crossedRiskRate"]}
    assert 0 < Decimal(ratios.pop()) < 1


# Fees


def test_fees_are_those_charged_to_the_position(caller: Caller) -> None:
    uid = caller.hold("managed", long="0.5")
    exchange_state = caller.sandbox.exchange_state
    only_what_is_held(exchange_state.book(uid, USDT))
    charged = Decimal("0.5") * PRICE * TAKER_FEE
    (row,) = rows(caller, "managed")
    assert figure(row, "deductedFee") == charged
    open_position(exchange_state, uid, "BTCUSDT", "long", Decimal("0.1"))
    charged += Decimal("0.1") * PRICE * TAKER_FEE
    place_order(exchange_state, uid, "BTCUSDT", "buy", "close", Decimal("0.2"), PRICE)
    exchange_state.stands_still = False
    exchange_state.market.set_price("BTCUSDT", PRICE + 2_000)
    while rows(caller, "managed")[0]["locked"] != "0":
        exchange_state.advance(exchange_state.now_ms + exchange_state.step_ms)
    exchange_state.stands_still = True
    charged += Decimal("0.2") * PRICE * MAKER_FEE
    (row,) = rows(caller, "managed")
    assert figure(row, "deductedFee") == charged
    assert figure(row, "total") == Decimal("0.4")


@pytest.mark.parametrize("leg", ["long", "short"])
def test_a_fill_that_turns_a_position_round_is_paid_by_both_sides(caller: Caller, leg: str) -> None:
    caller.hold("one-way", **{leg: "0.3"})
    exchange_state, uid = caller.sandbox.exchange_state, caller.key("one-way").uid
    open_position(exchange_state, uid, "BTCUSDT", "short" if leg == "long" else "long", Decimal("0.5"))
    (row,) = rows(caller, "one-way")
    assert (row["holdSide"], row["total"]) == ("short" if leg == "long" else "long", "0.2")
    assert figure(row, "deductedFee") == Decimal("0.2") * PRICE * TAKER_FEE


@pytest.mark.parametrize(("symbol", "leg"), [("BTCUSDT", "long"), ("BTCUSDT", "short"), ("BTCUSD", "short")])
def test_closing_at_the_break_even_price_gives_back_what_was_paid(caller: Caller, symbol: str, leg: str) -> None:
    exchange_state, uid = caller.sandbox.exchange_state, caller.key("coin").uid
    spec = CONTRACTS[symbol]
    book = exchange_state.book(uid, spec.product_type)
    for held in list(book.holdings.values()):
        liquidate(exchange_state, book, held)
    before = book.balances[spec.margin_coin]
    open_position(exchange_state, uid, symbol, leg, Decimal("0.5"))
    (row,) = rows(caller, "coin", symbol)
    exchange_state.market.set_price(symbol, figure(row, "breakEvenPrice"))
    liquidate(exchange_state, book, book.holdings[symbol, leg])
    # Prices come in steps of 0.1, of which half is lost in setting one.
    assert abs(book.balances[spec.margin_coin] - before) <= Decimal("0.05") * (1 if not spec.inverse else 1 / PRICE)


# What close orders hold


@pytest.mark.parametrize("leg", ["long", "short"])
def test_close_orders_lock_what_they_would_close(caller: Caller, leg: str) -> None:
    caller.hold("hedge", long="1", short="2")
    exchange_state, uid = caller.sandbox.exchange_state, caller.key("hedge").uid
    side, beyond = ("buy", PRICE * 2) if leg == "long" else ("sell", PRICE / 2)
    first = place_order(exchange_state, uid, "BTCUSDT", side, "close", Decimal("0.3"), beyond)
    place_order(exchange_state, uid, "BTCUSDT", side, "close", Decimal("0.2"), beyond)
    before = {row["holdSide"]: row["openDelegateSize"] for row in rows(caller, "hedge")}
    place_order(exchange_state, uid, "BTCUSDT", side, "open", Decimal("0.4"), PRICE / 2 if leg == "long" else PRICE * 2)
    by_leg = {row["holdSide"]: row for row in rows(caller, "hedge")}
    mine, other = by_leg.pop(leg), by_leg.popitem()[1]
    assert mine["locked"] == "0.5"
    assert figure(mine, "available") == figure(mine, "total") - Decimal("0.5")
    assert figure(mine, "openDelegateSize") == Decimal(before[leg]) + Decimal("0.4")
    assert (other["locked"], other["available"]) == ("0", other["total"])
    pending = caller.get("futures.pending_orders", productType=USDT, orderId=first).rows
    assert [row["reduceOnly"] for row in pending] == ["YES"]
    cancel_order(exchange_state, uid, "BTCUSDT", first)
    assert {row["holdSide"]: row["locked"] for row in rows(caller, "hedge")}[leg] == "0.2"


@pytest.mark.parametrize(("leg", "side"), [("long", "sell"), ("short", "buy")])
def test_in_one_way_mode_only_reduce_only_orders_lock(caller: Caller, leg: str, side: str) -> None:
    caller.hold("one-way", **{leg: "1"})
    exchange_state, uid = caller.sandbox.exchange_state, caller.key("one-way").uid
    beyond = PRICE * 2 if side == "sell" else PRICE / 2
    place_order(exchange_state, uid, "BTCUSDT", side, f"{side}_single", Decimal("0.3"), beyond)
    assert rows(caller, "one-way")[0]["available"] == "1"
    place_order(exchange_state, uid, "BTCUSDT", side, f"{side}_single", Decimal("0.6"), beyond, reduce_only=True)
    assert (rows(caller, "one-way")[0]["available"], rows(caller, "one-way")[0]["locked"]) == ("0.4", "0.6")
    place_order(exchange_state, uid, "BTCUSDT", side, f"{side}_single", Decimal("0.6"), beyond, reduce_only=True)
    assert rows(caller, "one-way")[0]["available"] == "0", "more cannot be locked than there is"


# The account's side of it


def test_margin_that_is_used_is_not_available(caller: Caller) -> None:
    def account() -> dict[str, Any]:
        return dict(caller.get("futures.accounts", "managed", productType=USDT).rows[0])

    caller.hold("managed")
    before = account()
    exchange_state, uid = caller.sandbox.exchange_state, caller.key("managed").uid
    open_position(exchange_state, uid, "BTCUSDT", "long", Decimal("0.5"))
    after = account()
    (row,) = rows(caller, "managed")
    assert figure(row, "marginSize") == Decimal("0.5") * PRICE / 10
    fee = Decimal("0.5") * PRICE * TAKER_FEE
    assert figure(before, "available") - figure(after, "available") == figure(row, "marginSize") + fee
    assert figure(after, "locked") - figure(before, "locked") == figure(row, "marginSize")
    for fill in (before, after):
        parts = sum(figure(fill, name) for name in ("available", "locked", "unrealizedPL"))
        assert abs(parts - figure(fill, "accountEquity")) <= Decimal("0.00000002")
    exchange_state.book(uid, USDT).balances["USDT"] = Decimal(1)
    assert account()["available"] == "0"


# Stops


def wait(book: FuturesBook, plan_type: str, leg: str, price: str, symbol: str = "BTCUSDT") -> str:
    row = trigger_row(
        spec=CONTRACTS[symbol],
        plan_type=plan_type,
        order_id=book.ids.at(NOW_MS),
        mode=book.mode,
        leg=leg,
        size=Decimal("0.1"),
        trigger_price=Decimal(price),
        created_ms=NOW_MS,
        rng=random.Random(1),
    )
    book.live_triggers[row["orderId"]] = row
    return str(row["orderId"])


@pytest.mark.parametrize("account", ["hedge", "one-way"])
@pytest.mark.parametrize(("leg", "profit", "loss"), [("long", "90000", "70000"), ("short", "70000", "90000")])
def test_the_stops_that_wait_stand_with_their_position(
    caller: Caller, account: str, leg: str, profit: str, loss: str
) -> None:
    uid = caller.hold(account, **{leg: "1"})
    book = caller.sandbox.exchange_state.book(uid, USDT)
    book.live_triggers.clear()

    def stops() -> tuple[str, ...]:
        (row,) = rows(caller, account)
        return tuple(row[name] for name in ("takeProfit", "takeProfitId", "stopLoss", "stopLossId"))

    assert stops() == ("", "", "", "")
    other = "short" if leg == "long" else "long"
    for plan_type in ("pos_profit", "pos_loss"):
        wait(book, plan_type, other, "80001")
        wait(book, plan_type, leg, "3000", "ETHUSDT")
    for plan_type in ("normal_plan", "track_plan", "moving_plan"):
        wait(book, plan_type, leg, "80001")
    assert stops() == ("", "", "", "")
    further = 1 if leg == "long" else -1
    near = wait(book, "profit_plan", leg, profit)
    wait(book, "profit_plan", leg, str(int(profit) + 1000 * further))
    wait(book, "loss_plan", leg, str(int(loss) - 1000 * further))
    stop = wait(book, "loss_plan", leg, loss)
    assert stops() == (profit, near, loss, stop), "the first of them to fire"
    whole = wait(book, "pos_profit", leg, str(int(profit) + 5000 * further))
    assert stops()[1] == whole, "the one for the whole position comes first"
    live = caller.get("futures.live_triggers", account, productType=USDT, planType="profit_loss", orderId=whole)
    assert live.rows[0]["triggerPrice"] == stops()[0]
    del book.live_triggers[whole]
    assert stops()[1] == near


# As recorded


def test_the_recorded_capture_follows_from_the_same_rules() -> None:
    folder = os.environ.get("TRADETUI_RECORDED")
    if folder is None:
        pytest.skip("TRADETUI_RECORDED does not say where the recorded replies are")
    recorded = json.loads((Path(folder) / "all-position__captured-oneway.json").read_text(encoding="utf-8"))["data"][0]
    account = Account("1", "any", "ordinary", ONE_WAY, random.Random(1))
    book, spec = account.futures[USDT], CONTRACTS["BTCUSDT"]
    held = Holding(spec, "long", figure(recorded, "total"), figure(recorded, "openPriceAvg"), 3, NOW_MS, NOW_MS)
    held.open_fee = -held.size * held.entry * TAKER_FEE
    book.holdings["BTCUSDT", "long"] = held
    row = position_row(book, held, {spec.symbol: figure(recorded, "markPrice")})
    assert list(row) == list(recorded)
    for name in ("available", "locked", "total", "deductedFee", "breakEvenPrice", "unrealizedPL"):
        assert abs(figure(row, name) - figure(recorded, name)) <= Decimal("0.00000001"), name
    assert figure(row, "liquidationPrice") < 0 and figure(recorded, "liquidationPrice") < 0

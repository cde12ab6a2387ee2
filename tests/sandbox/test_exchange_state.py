"""The state of the exchange: books that always balance, the same seed the same bytes, and a market that moves."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sandbox.exchange_events import heal, liquidate, open_position, place_order, set_mode
from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import NOW_MS, Caller
from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.exchange_state import ExchangeState, RowsName
from tradetui.sandbox.gateway.faults import FAULT_KINDS, ConnectionDropped, Faults, InvalidFault, parse_faults
from tradetui.sandbox.seed_accounts import build_exchange_state


def as_json(exchange_state: ExchangeState) -> str:
    uid = exchange_state.keys[0].uid
    names: tuple[RowsName, ...] = ("fills", "orders", "triggers")
    books = {name: list(exchange_state.rows(uid, name, "USDT-FUTURES")) for name in names}
    return json.dumps(
        [books, exchange_state.positions(uid, "USDT-FUTURES"), exchange_state.futures_accounts(uid, "USDT-FUTURES")]
    )


def test_the_same_seed_gives_the_same_bytes_however_time_is_cut() -> None:
    one, two, other = build_exchange_state(3, NOW_MS), build_exchange_state(3, NOW_MS), build_exchange_state(4, NOW_MS)
    for exchange_state in (one, two, other):
        for key in exchange_state.keys:
            exchange_state.account(key.uid)
    one.advance(NOW_MS + 60_000)
    for step in range(1, 61):
        two.advance(NOW_MS + step * 1000 - 7 * (step < 60))
    other.advance(NOW_MS + 60_000)
    assert as_json(one) == as_json(two) != as_json(other)


def test_rows_of_a_name_that_does_not_exist_are_a_programming_error() -> None:
    exchange_state = build_exchange_state(3, NOW_MS)
    uid = exchange_state.keys[0].uid
    unknown: Any = "live-trigger"
    for product_type in ("USDT-FUTURES", ""):
        with pytest.raises(AssertionError):
            exchange_state.rows(uid, unknown, product_type)


def test_an_account_that_does_not_exist_is_no_product_type_that_was_removed() -> None:
    exchange_state = build_exchange_state(3, NOW_MS)
    with pytest.raises(KeyError):
        exchange_state.book("4999999999", "USDT-FUTURES")
    with pytest.raises(Refusal, match="SUSDT-FUTURES has been removed"):
        exchange_state.book(exchange_state.keys[0].uid, "SUSDT-FUTURES")


def test_about_a_fill_a_second_and_books_that_balance() -> None:
    exchange_state = build_exchange_state(3, NOW_MS)
    uids = [key.uid for key in exchange_state.keys[:2]]
    before = [len(exchange_state.rows(uid, "fills", "USDT-FUTURES")) for uid in uids]
    exchange_state.advance(NOW_MS + 300_000)
    check_books(exchange_state)
    for uid, count in zip(uids, before, strict=True):
        assert 100 < len(exchange_state.rows(uid, "fills", "USDT-FUTURES")) - count < 600
        assert len(exchange_state.positions(uid, "USDT-FUTURES")) >= 3
        assert len(exchange_state.rows(uid, "orders", "USDT-FUTURES")) >= 15


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["open", "order", "move", "time", "burst"]),
        st.sampled_from(["long", "short"]),
        st.integers(1, 400),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(ACTIONS, st.sampled_from(["managed", "broker"]))
def test_books_balance_whatever_is_done(actions: list[tuple[str, str, int]], name: str) -> None:
    exchange_state = build_exchange_state(3, NOW_MS)
    uid = next(key.uid for key in exchange_state.keys if key.name == name)
    book = exchange_state.book(uid, "USDT-FUTURES")
    for action, leg, amount in actions:
        size = Decimal(amount) / 1000
        side = "buy" if leg == "long" else "sell"
        if action == "open":
            open_position(exchange_state, uid, "BTCUSDT", leg, size)
        elif action == "order":
            trade_side = "open" if book.mode == "hedge_mode" else f"{side}_single"
            price = exchange_state.market.last("BTCUSDT") + (amount if leg == "short" else -amount)
            place_order(exchange_state, uid, "BTCUSDT", side, trade_side, size, price)
        elif action == "move":
            factor = 1 + Decimal(amount if leg == "long" else -amount) / 4000
            exchange_state.market.set_price("BTCUSDT", exchange_state.market.last("BTCUSDT") * factor)
        elif action == "time":
            exchange_state.advance(exchange_state.now_ms + amount * 100)
        elif book.held("BTCUSDT", leg) is not None:
            liquidate(exchange_state, book, book.holdings["BTCUSDT", leg])
        check_books(exchange_state)


def test_the_mode_is_not_switched_with_positions(fresh: Caller) -> None:
    exchange_state = fresh.sandbox.exchange_state
    with pytest.raises(Exception, match="40920"):
        set_mode(exchange_state, fresh.key("hedge").uid, "USDT-FUTURES", "one_way_mode")


def test_faults_are_named_and_rated() -> None:
    assert parse_faults("5xx=0.5, delay=1") == {"5xx": 0.5, "delay": 1.0}
    for option in ("nosuch=1", "5xx=2", "5xx=often"):
        with pytest.raises(InvalidFault):
            parse_faults(option)
    with pytest.raises(InvalidFault):
        Faults({"nosuch": 1.0}, seed=1)


def test_planned_faults_come_once_and_heal() -> None:
    faults = Faults({}, 1)
    faults.plan("429", endpoint="futures.fills", times=2)
    assert faults.take_for_call("futures.accounts") is None
    assert [faults.take_for_call("futures.fills") for _ in range(3)] == ["429", "429", None]
    faults.plan("delay", times=9)
    heal(faults)
    assert faults.take_for_call("futures.fills") is None
    assert set(FAULT_KINDS) >= {"dropped-before", "dropped-after", "truncated", "stale-reads"}
    assert issubclass(ConnectionDropped, ConnectionError)

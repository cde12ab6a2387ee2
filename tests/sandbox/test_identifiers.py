"""Ids: none is given twice in an account, whatever the product type, the past and what happens live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.sandbox.exchange_events import cancel_order, liquidate, open_position, place_order
from tests.sandbox.signed_requests import NOW_MS, Caller
from tradetui.sandbox.books.account import HELD_PRODUCT_TYPES, Account
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.numbers import Identifiers
from tradetui.sandbox.books.orders import HEDGE
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.seed_accounts import build_exchange_state

ACCOUNTS = [key.name for key in build_exchange_state(5, NOW_MS).keys]


def issued_ids(account: Account) -> Iterator[tuple[str, str]]:
    """Every id that stands for a thing of its own, with where it stands."""
    for product_type, book in account.futures.items():
        for order in (*book.orders.values(), *book.done.values()):
            yield order.order_id, f"{product_type} order"
        for row in book.fills:
            yield row["tradeId"], f"{product_type} fill"
        for row in (*book.live_triggers.values(), *book.triggers):
            yield row["orderId"], f"{product_type} trigger"
    for row in account.spot_history.fills:
        yield row["tradeId"], "spot fill"
        yield row["orderId"], "spot order"
    for name, rows in (("billId", account.spot_history.bills), ("id", account.converts), ("txId", account.transfers)):
        for row in rows:
            yield row[name], name


def check(account: Account) -> None:
    times = Counter(identifier for identifier, _ in issued_ids(account))
    twice = {identifier for identifier, count in times.items() if count > 1}
    assert not twice, sorted(pair for pair in issued_ids(account) if pair[0] in twice)[:6]
    assert all(len(identifier) == 19 for identifier in times)


def trade(exchange_state: ExchangeState, uid: str) -> None:
    """Open, rest, cancel and close something of every contract, all in one moment."""
    for symbol, spec in CONTRACTS.items():
        book = exchange_state.book(uid, spec.product_type)
        price = exchange_state.market.last(symbol) / 2
        open_position(exchange_state, uid, symbol, "long", spec.step * 3)
        sides = ("buy", "open" if book.mode == HEDGE else "buy_single")
        resting = [place_order(exchange_state, uid, symbol, *sides, spec.step, price) for _ in range(3)]
        cancel_order(exchange_state, uid, symbol, resting[0])
        held = book.net(symbol)
        assert held is not None
        liquidate(exchange_state, book, held)


@pytest.mark.parametrize("name", ACCOUNTS)
def test_no_id_is_given_twice(name: str) -> None:
    caller = Caller()
    exchange_state, uid = caller.sandbox.exchange_state, caller.key(name).uid
    account = exchange_state.account(uid)
    check(account)
    trade(exchange_state, uid)
    check(account)
    exchange_state.stands_still = False
    exchange_state.advance(NOW_MS + 90_000)
    trade(exchange_state, uid)
    check(account)


def test_what_is_seen_over_the_wire_has_ids_of_its_own(reading: Caller) -> None:
    counts: Counter[str] = Counter()
    for product_type in HELD_PRODUCT_TYPES:
        for endpoint, field, more in (
            ("futures.fills", "tradeId", {}),
            ("futures.pending_orders", "orderId", {}),
            ("futures.pending_orders", "orderId", {"status": "partially_filled"}),
            ("futures.triggers", "orderId", {"planType": "profit_loss"}),
            ("futures.live_triggers", "orderId", {"planType": "normal_plan"}),
        ):
            counts.update(row[field] for row in reading.get(endpoint, productType=product_type, **more).rows)
    assert len(counts) > 150
    assert max(counts.values()) == 1


def test_every_fill_names_an_order_of_its_book(reading: Caller) -> None:
    account = reading.sandbox.exchange_state.account(reading.key("one-way").uid)
    for book in account.futures.values():
        orders = {**book.orders, **book.done}
        filled: dict[str, Decimal] = {}
        for row in book.fills:
            filled[row["orderId"]] = filled.get(row["orderId"], Decimal(0)) + Decimal(row["baseVolume"])
        assert filled == {order_id: orders[order_id].filled for order_id in filled}


def test_ids_grow_with_time_whatever_the_order_they_are_asked_in() -> None:
    ids = Identifiers()
    late, early = ids.at(NOW_MS), ids.at(NOW_MS - 1)
    again, before = ids.at(NOW_MS), ids.at(NOW_MS - 1)
    assert int(early) < int(before) < int(late) < int(again)

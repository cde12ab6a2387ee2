"""Trigger orders: what opens opens, what closes never makes a position larger, and goes with what it closes."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.exchange_events import cancel_order, liquidate, open_position, place_order
from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import NOW_MS, Caller
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.orders import PROFIT_LOSS, order_sides, trigger_row, waits_above

PRICE = Decimal("80000")
ACCOUNTS = {"hedge_mode": "managed", "one_way_mode": "broker"}


class Waiting:
    """A quiet account that holds what it is given, and one trigger order at the price."""

    def __init__(self, mode: str) -> None:
        self.caller = Caller()
        self.name = ACCOUNTS[mode]
        self.exchange_state = self.caller.sandbox.exchange_state
        self.exchange_state.market.set_price("BTCUSDT", PRICE)
        self.uid = self.caller.key(self.name).uid
        for held in list(self.book.holdings.values()):
            liquidate(self.exchange_state, self.book, held)
        for order in list(self.book.orders.values()):
            cancel_order(self.exchange_state, self.uid, order.spec.symbol, order.order_id)
        self.book.live_triggers.clear()

    @property
    def book(self) -> FuturesBook:
        return self.exchange_state.book(self.uid, "USDT-FUTURES")

    def hold(self, leg: str, size: str) -> None:
        open_position(self.exchange_state, self.uid, "BTCUSDT", leg, Decimal(size))

    def wait(self, plan_type: str, leg: str, size: str = "0.3") -> str:
        row = trigger_row(
            spec=CONTRACTS["BTCUSDT"],
            plan_type=plan_type,
            order_id=self.book.ids.at(NOW_MS),
            mode=self.book.mode,
            leg=leg,
            size=Decimal(size),
            trigger_price=PRICE,
            created_ms=NOW_MS,
            rng=random.Random(1),
        )
        self.book.live_triggers[row["orderId"]] = row
        # Five hundred is more than one tick moves.
        self.price = PRICE + (500 if waits_above(row) else -500)
        return str(row["orderId"])

    def come(self) -> None:
        """Let the price the trigger waits for come, for one tick."""
        self.exchange_state.market.set_price("BTCUSDT", self.price)
        self.exchange_state.stands_still = False
        self.exchange_state.advance(self.exchange_state.now_ms + self.exchange_state.step_ms)
        self.exchange_state.stands_still = True
        check_books(self.exchange_state)

    def sizes(self) -> dict[str, Decimal]:
        return {leg: held.size for (_, leg), held in self.book.holdings.items()}

    def status(self, order_id: str) -> str:
        assert order_id not in self.book.live_triggers
        return str(next(row["planStatus"] for row in self.book.triggers if row["orderId"] == order_id))


BOTH_MODES = pytest.mark.parametrize("mode", sorted(ACCOUNTS))
EITHER_LEG = pytest.mark.parametrize(("leg", "other"), [("long", "short"), ("short", "long")])


@BOTH_MODES
@EITHER_LEG
@pytest.mark.parametrize("plan_type", sorted(PROFIT_LOSS))
def test_a_closing_trigger_closes_its_own_part_and_no_more(mode: str, leg: str, other: str, plan_type: str) -> None:
    waiting = Waiting(mode)
    waiting.hold(leg, "1")
    order_id = waiting.wait(plan_type, leg)
    waiting.come()
    assert waiting.status(order_id) == "executed"
    assert waiting.sizes() == ({} if plan_type.startswith("pos_") else {leg: Decimal("0.7")})


@BOTH_MODES
@EITHER_LEG
@pytest.mark.parametrize("plan_type", sorted(PROFIT_LOSS))
@pytest.mark.parametrize("size", ["0.1", "1"])
def test_a_closing_trigger_whose_position_is_gone_or_turned_round_does_nothing(
    mode: str, leg: str, other: str, plan_type: str, size: str
) -> None:
    waiting = Waiting(mode)
    waiting.hold(other, size)
    order_id = waiting.wait(plan_type, leg)
    waiting.come()
    assert waiting.status(order_id) == "fail_execute"
    assert waiting.sizes() == {other: Decimal(size)}


@BOTH_MODES
@EITHER_LEG
@pytest.mark.parametrize("fault", [None, "orders-stay"])
def test_what_could_only_close_a_position_goes_with_it_and_nothing_else_does(
    mode: str, leg: str, other: str, fault: str | None
) -> None:
    waiting = Waiting(mode)
    waiting.hold(leg, "1")
    stops = [waiting.wait(plan_type, leg) for plan_type in sorted(PROFIT_LOSS)]
    kept = [waiting.wait(plan_type, other) for plan_type in sorted(PROFIT_LOSS)]
    kept += [waiting.wait("normal_plan", either) for either in (leg, other)]
    side, trade_side = order_sides(waiting.book.mode, leg, closes=True)
    far = PRICE * (2 if leg == "long" else Decimal("0.5"))
    closing = place_order(
        waiting.exchange_state, waiting.uid, "BTCUSDT", side, trade_side, Decimal("0.4"), far, reduce_only=True
    )
    if fault is not None:
        waiting.caller.sandbox.faults.plan(fault)
    body: dict[str, Any] = {"symbol": "BTCUSDT", "marginCoin": "USDT", "productType": "USDT-FUTURES"}
    if mode == "hedge_mode":
        body |= {"side": "buy" if leg == "long" else "sell", "tradeSide": "open", "size": "0.5"}
        assert waiting.caller.post("futures.reverse", body, waiting.name).code == "00000"
        assert {*stops, *kept} == set(waiting.book.live_triggers), "half of it is still held"
        if fault is not None:
            waiting.caller.sandbox.faults.plan(fault)
    assert waiting.caller.post("futures.reverse", body, waiting.name).code == "00000"
    assert set(waiting.sizes()) == {other}
    if fault is None:
        assert all(waiting.status(order_id) == "cancelled" for order_id in stops)
    assert set(waiting.book.live_triggers) == {*kept, *([] if fault is None else stops)}
    assert (closing in waiting.book.orders) == (fault is not None)


@BOTH_MODES
@EITHER_LEG
@pytest.mark.parametrize("plan_type", ["normal_plan", "track_plan"])
def test_an_opening_trigger_opens_what_margin_allows(mode: str, leg: str, other: str, plan_type: str) -> None:
    waiting = Waiting(mode)
    order_id = waiting.wait(plan_type, leg)
    waiting.come()
    assert (waiting.status(order_id), waiting.sizes()) == ("executed", {leg: Decimal("0.3")})
    too_large = waiting.wait(plan_type, leg, "900")
    waiting.come()
    assert (waiting.status(too_large), waiting.sizes()) == ("fail_execute", {leg: Decimal("0.3")})


@BOTH_MODES
@EITHER_LEG
def test_a_trigger_whose_price_has_not_come_waits(mode: str, leg: str, other: str) -> None:
    waiting = Waiting(mode)
    waiting.hold(leg, "1")
    order_id = waiting.wait("pos_loss", leg)
    waiting.price = 2 * PRICE - waiting.price
    waiting.come()
    assert order_id in waiting.book.live_triggers
    assert waiting.sizes() == {leg: Decimal(1)}


@BOTH_MODES
@EITHER_LEG
def test_more_than_an_order_s_rest_or_than_what_it_may_close_is_not_filled(mode: str, leg: str, other: str) -> None:
    waiting = Waiting(mode)
    waiting.hold(leg, "0.3")
    book, balances = waiting.book, dict(waiting.book.balances)
    for closes, order_size, size in ((True, "0.4", "0.4"), (True, "0.2", "0.3"), (False, "0.1", "0.2")):
        side, trade_side = order_sides(book.mode, leg, closes=closes)
        order = book.new_order(CONTRACTS["BTCUSDT"], side, trade_side, Decimal(order_size), NOW_MS)
        order.reduce_only = closes
        with pytest.raises(ValueError, match="is left"):
            book.execute(order, Decimal(size), PRICE, NOW_MS)
    assert (waiting.sizes(), book.balances) == ({leg: Decimal("0.3")}, balances)

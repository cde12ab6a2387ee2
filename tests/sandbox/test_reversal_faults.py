"""Every outcome a fault names is the one that comes out, down to the smallest sizes, or the request is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sandbox.exchange_events import cancel_order, heal, liquidate, set_mode
from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import Caller
from tests.whole.reversal.reversal_session import SYMBOL, USDT, scene
from tradetui.desk.reversal.outcome import Outcome, name_outcome
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Progress
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.reversal import ReversalFault
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.reversal import ReversalParams, ReversalPlan, plan_reversal
from tradetui.wire.enums import PositionMode, Side
from tradetui.wire.product_types import ProductType

STEP = CONTRACTS[SYMBOL].step
BODY = {"symbol": SYMBOL, "marginCoin": "USDT", "productType": "USDT-FUTURES"}
OUTCOME_OF_FAULT = {
    "reverse-smaller": Outcome.SMALLER,
    "closed-only": Outcome.CLOSED_ONLY,
    "remainder": Outcome.REMAINDER,
    "larger": Outcome.LARGER,
    "unchanged": Outcome.UNCHANGED,
    "liquidated": Outcome.LIQUIDATED,
    "mode-changed": Outcome.MODE_CHANGED,
    "other": Outcome.OTHER,
    "orders-stay": Outcome.REVERSED,
}
NEEDS_TWO_STEPS = ("reverse-smaller", "remainder")


class Stand:
    """One caller whose account is given its position anew for every case."""

    def __init__(self) -> None:
        self.caller = Caller()
        self.uid = ""

    def hold(self, mode: PositionMode, long: Decimal, short: Decimal) -> None:
        self.account = "managed" if mode is PositionMode.HEDGE else "broker"
        exchange_state, uid = self.caller.sandbox.exchange_state, self.caller.key(self.account).uid
        book = exchange_state.book(uid, "USDT-FUTURES")
        for held in list(book.holdings.values()):
            liquidate(exchange_state, book, held)
        for order in list(book.orders.values()):
            cancel_order(exchange_state, uid, order.spec.symbol, order.order_id)
        set_mode(exchange_state, uid, "USDT-FUTURES", str(mode))
        self.uid = self.caller.hold(self.account, str(long), str(short))

    def held(self) -> Holdings:
        book = self.caller.sandbox.exchange_state.book(self.uid, "USDT-FUTURES")
        long, short = (
            held.size if held else Decimal(0) for held in map(book.holdings.get, ((SYMBOL, "long"), (SYMBOL, "short")))
        )
        return Legs(long, short) if book.mode == "hedge_mode" else Net(long - short)

    def liquidated(self) -> bool:
        fills = self.caller.sandbox.exchange_state.rows(self.uid, "fills", "USDT-FUTURES")
        return any(row["tradeSide"].startswith("burst_") for row in fills[: len(fills) - self.fills])

    def reverse(self, fault: str, plan: ReversalPlan) -> Any:
        self.fills = len(self.caller.sandbox.exchange_state.rows(self.uid, "fills", "USDT-FUTURES"))
        heal(self.caller.sandbox.faults)
        self.caller.sandbox.faults.plan(fault)
        return self.caller.post("futures.reverse", dict(plan.request.values()), self.account)


STAND = Stand()
STEPS = st.integers(1, 12) | st.integers(13, 20_000)


def planned(mode: PositionMode, held: Holdings, side: Side | None, size: Decimal | None) -> ReversalPlan:
    return plan_reversal(
        ReversalParams(
            mode=mode,
            held=held,
            product_type=ProductType.USDT_FUTURES,
            symbol=SYMBOL,
            margin_coin="USDT",
            side=side,
            size=size,
        )
    )


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(ReversalFault),
    st.sampled_from([PositionMode.HEDGE, PositionMode.ONE_WAY]),
    st.booleans(),
    STEPS,
    st.integers(0, 50),
    st.none() | STEPS,
)
def test_a_fault_comes_out_as_it_is_called(
    fault: str, mode: PositionMode, long: bool, steps: int, against: int, size_in_steps: int | None
) -> None:
    amount, other = steps * STEP, (against * STEP if mode is PositionMode.HEDGE else Decimal(0))
    STAND.hold(mode, *((amount, other) if long else (other, amount)))
    side = (Side.BUY if long else Side.SELL) if mode is PositionMode.HEDGE else None
    # A size in one-way mode has two readings, and what is smaller than the one may be the other.
    size = size_in_steps * STEP if size_in_steps is not None and mode is PositionMode.HEDGE else None
    before = STAND.held()
    plan = planned(mode, before, side, size)
    answer = STAND.reverse(fault, plan)
    part = plan.results[0].closed
    if fault in NEEDS_TWO_STEPS and part < 2 * STEP:
        assert answer.code == "45111"
        assert f"for the fault {fault} at least two steps" in answer.body["msg"]
        assert STAND.held() == before
        return
    assert answer.code == "00000", answer.body
    assert name_outcome(plan, STAND.held(), liquidated=STAND.liquidated()) is OUTCOME_OF_FAULT[fault], STAND.held()
    check_books(STAND.caller.sandbox.exchange_state)


@pytest.mark.parametrize("size", ["0.0001", "0.3", "1", None])
@pytest.mark.parametrize("long", [True, False])
def test_in_one_way_mode_other_is_none_of_the_named_outcomes(size: str | None, long: bool) -> None:
    STAND.hold(PositionMode.ONE_WAY, *map(Decimal, ("1", "0") if long else ("0", "1")))
    plan = planned(PositionMode.ONE_WAY, STAND.held(), None, Decimal(size) if size else None)
    STAND.reverse("other", plan)
    after = STAND.held()
    assert name_outcome(plan, after, liquidated=STAND.liquidated()) is Outcome.OTHER
    assert isinstance(after, Net)
    assert after.net * (1 if long else -1) == 1 + Decimal(size or 1)


def test_short_margin_does_not_make_another_outcome_of_a_fault() -> None:
    for fault in ("reverse-smaller", "larger", "other"):
        STAND.hold(PositionMode.HEDGE, Decimal(1), Decimal(0))
        book = STAND.caller.sandbox.exchange_state.book(STAND.uid, "USDT-FUTURES")
        before, book.balances["USDT"] = book.balances["USDT"], Decimal(0)
        plan = planned(PositionMode.HEDGE, STAND.held(), Side.BUY, Decimal(1))
        STAND.reverse(fault, plan)
        assert name_outcome(plan, STAND.held()) is OUTCOME_OF_FAULT[fault]
        book.balances["USDT"] = before


@pytest.mark.looptime
@pytest.mark.parametrize("core_only", [False, True])
@pytest.mark.parametrize("mode", ["hedge", "one-way"])
@pytest.mark.parametrize("fault", ["other", "mode-changed"])
async def test_the_program_names_it(mode: str, fault: str, core_only: bool) -> None:
    async with scene(mode, core_only=core_only) as on:
        on.hold(long="2")
        on.sandbox.faults.plan(fault)
        progress: list[Progress] = await on.reverse(Target(SYMBOL, USDT, Side.BUY if mode == "hedge" else None))
        # Without order detail, what a second order opened may be anybody's doing.
        assert progress[-1].outcome is (None if core_only and fault == "other" else OUTCOME_OF_FAULT[fault])
        assert on.posts == 1

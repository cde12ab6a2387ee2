"""What a look amounts to: parts of a larger order, and what others traded, are not taken for what was planned."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from tests.trading.position_fills import fill
from tests.trading.test_reversal import legs, plan
from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.tracking.evidence import (
    ABSENCE_S,
    Classification,
    Standing,
    classify,
)
from tradetui.desk.reversal.tracking.own_legs import Observation, OrderAnswer
from tradetui.trading.holdings import Legs, Net
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.models.futures import FuturesFill, OrderDetail

LONG_TEN = Net(Decimal(10))
SIZED = plan(LONG_TEN, None, "0.5")
"""LONG 10 with size 0.5: LONG 9 where the size counts, SHORT 10 where the exchange ignores it."""


def detail(state: str, size: str, volume: str) -> OrderDetail:
    return OrderDetail.from_row({"orderId": "ours", "state": state, "size": size, "baseVolume": volume})


def sold(size: str, order_id: str = "ours") -> FuturesFill:
    return fill("sell", "sell_single", size, mode="one_way_mode").model_copy(update={"order_id": order_id})


def leg_fill(side: str, trade_side: str, size: str, order_id: str) -> FuturesFill:
    return fill(side, trade_side, size).model_copy(update={"order_id": order_id})


def look(
    net: str,
    *,
    order: OrderDetail | None = None,
    ours: tuple[FuturesFill, ...] = (),
    others: tuple[FuturesFill, ...] = (),
    order_size: str | None = None,
) -> Observation:
    """One look, core-only where there is no order."""
    size = order.size if order is not None else Decimal(order_size) if order_size is not None else None
    return Observation(
        answer=OrderAnswer.NOT_REPORTED if order is None else OrderAnswer.SHOWN,
        order=order,
        held=Net(Decimal(net)),
        own_fills=ours,
        other_fills=others,
        order_id="ours",
        order_size=size,
    )


def classified(observed: Observation, sent: ReversalPlan = SIZED, *, acknowledged: bool = True) -> Classification:
    return classify(sent, observed, acknowledged=acknowledged)


def test_a_part_that_is_as_much_as_the_size_may_be_less_than_the_order() -> None:
    observed = classified(look("9", ours=(sold("1"),)))
    assert observed.standing is Standing.PARTIAL
    assert not observed.settles(59)
    assert observed.settles(60)


def test_the_largest_result_is_the_whole_of_it() -> None:
    assert classified(look("-10", ours=(sold("20"),))).standing is Standing.COMPLETE


def test_an_acknowledged_order_that_the_exchange_does_not_know_yet_is_not_over_by_what_is_held() -> None:
    observed = replace(look("-10"), answer=OrderAnswer.NO_SUCH_ORDER)
    assert classified(observed).standing is Standing.PARTIAL
    assert classified(look("-10")).standing is Standing.COMPLETE, "core-only there is nothing else to go by"


@pytest.mark.parametrize("filled", ["10", "19.5", "20.5"], ids=["not all shown", "one too small", "one too large"])
def test_what_is_held_is_no_end_while_our_own_fills_come_to_something_else(filled: str) -> None:
    classification = classified(look("-10", ours=(sold(filled),)), plan(LONG_TEN))
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.REVERSED)
    assert not classification.settles(60)


@pytest.mark.parametrize("order_size", ["1", "0.5"], ids=["closes and opens", "closes"])
def test_the_size_of_the_order_says_which_result_is_meant(order_size: str) -> None:
    observed = classified(look("9", ours=(sold("1"),), order_size=order_size))
    assert observed.standing is Standing.COMPLETE
    assert [result.closed for result in observed.plan.results] == [Decimal("0.5")]


def test_an_order_cancelled_short_of_its_own_size_is_not_the_smaller_result() -> None:
    observed = classified(look("9", order=detail("canceled", "20", "1"), ours=(sold("1"),)))
    assert observed.outcome is Outcome.REMAINDER
    assert observed.standing is Standing.PARTIAL


def test_a_filled_order_of_the_smaller_size_is_over_at_once() -> None:
    observed = classified(look("9", order=detail("filled", "1", "1"), ours=(sold("1"),)))
    assert (observed.standing, observed.outcome) == (Standing.COMPLETE, Outcome.REVERSED)


@pytest.mark.parametrize("known_as_foreign", [True, False])
def test_what_a_stranger_trades_does_not_finish_one_order_that_closes_and_opens(known_as_foreign: bool) -> None:
    stranger = sold("0.5", "theirs")
    observed = look("9", order=detail("canceled", "1", "0.5"), ours=(sold("0.5"),), others=(stranger,))
    foreign = frozenset({"theirs"}) if known_as_foreign else frozenset()
    classification = classified(replace(observed, foreign_orders=foreign))
    assert classification.outcome is Outcome.OTHER
    assert classification.effect == Net(Decimal("9.5"))
    assert not classification.settles(59)


@pytest.mark.parametrize("answer", [OrderAnswer.NOT_REPORTED, OrderAnswer.NO_SUCH_ORDER])
def test_what_others_trade_is_no_end_of_an_acknowledged_order_of_which_nothing_is_shown(answer: OrderAnswer) -> None:
    observed = replace(look("9", others=(sold("1", "theirs"),)), answer=answer, waited_s=3600.0, after_window=True)
    assert not classified(observed, plan(LONG_TEN)).settles(3600)
    nameless = replace(observed, other_fills=(observed.other_fills[0].model_copy(update={"order_id": None}),))
    assert classified(nameless, plan(LONG_TEN)).settles(3600), "this fill may be ours"
    assert classified(replace(observed, held=Net(Decimal(8))), plan(LONG_TEN)).settles(3600), "ours may have moved it"


@pytest.mark.parametrize("after_window", [True, False])
def test_nothing_is_inferred_from_fills_before_the_exchanges_own_time_is_past_the_window(after_window: bool) -> None:
    observed = look("0", others=(sold("10", "theirs"),))
    observed = replace(observed, order_id=None, waited_s=ABSENCE_S, after_window=after_window)
    classification = classified(observed, plan(LONG_TEN), acknowledged=False)
    assert classification.standing is (Standing.PARTIAL if after_window else Standing.UNSEEN)
    assert classification.settles(3600) is after_window


def test_what_others_traded_as_planned_is_no_end_before_a_minute_without_change() -> None:
    observed = look("-10", others=(sold("10", "theirs"), sold("10", "more of theirs")))
    early = classified(replace(observed, order_id=None, waited_s=20.0), plan(LONG_TEN), acknowledged=False)
    late = classified(
        replace(observed, order_id=None, waited_s=ABSENCE_S, after_window=True), plan(LONG_TEN), acknowledged=False
    )
    assert early.standing is Standing.UNSEEN
    assert (late.standing, late.outcome, late.inferred) == (Standing.PARTIAL, Outcome.REVERSED, True)
    assert late.evidence == early.evidence, "the minute is counted from the last change, not from when it was inferred"
    assert not late.settles(59)
    assert late.settles(60)


def test_what_was_traded_as_planned_and_is_undone_is_not_unchanged() -> None:
    observed = look(
        "10", others=(sold("10", "a"), sold("10", "b"), fill("buy", "buy_single", "20", mode="one_way_mode"))
    )
    observed = replace(observed, order_id=None, waited_s=ABSENCE_S, after_window=True)
    classification = classified(observed, plan(LONG_TEN), acknowledged=False)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)


def test_a_reversal_of_what_somebody_else_has_turned_round_is_not_unchanged() -> None:
    """Others made LONG 10 a SHORT 10, and ours, of whose two orders one has our id, made it LONG 10 again."""
    bought = fill("buy", "buy_single", "10", mode="one_way_mode")
    ours, nameless = (bought.model_copy(update={"order_id": order_id}) for order_id in ("ours", "c"))
    observed = look(
        "10", order=detail("filled", "10", "10"), ours=(ours,), others=(nameless, sold("10", "b"), sold("10", "a"))
    )
    classification = classified(observed, plan(LONG_TEN))
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert (classification.closed, classification.opened) == (None, None)


@pytest.mark.parametrize(
    ("volume", "outcome"), [("15", Outcome.OTHER), ("20", Outcome.REVERSED), ("10", Outcome.REVERSED)]
)
def test_what_is_held_as_planned_is_no_work_of_an_order_that_ended_with_another_size(
    volume: str, outcome: Outcome
) -> None:
    observed = look("-10", order=detail("filled", volume, volume), ours=(sold(volume),))
    if volume != "15":  # one of its fills is not shown yet
        observed = replace(observed, own_fills=(sold("5"),))
    assert classified(observed, plan(LONG_TEN)).outcome is outcome


@pytest.mark.parametrize(("before_ours", "volume", "held"), [("sell", "15", "-5"), ("buy", "25", "-15")])
def test_where_others_traded_there_and_back_ours_may_have_met_another_size(
    before_ours: str, volume: str, held: str
) -> None:
    back = "buy" if before_ours == "sell" else "sell"
    others = [
        fill(side, f"{side}_single", "2.5", mode="one_way_mode", trade_id=trade_id)
        for side, trade_id in ((before_ours, "1"), (back, "3"))
    ]
    order, ours = detail("filled", volume, volume), (sold(volume),)
    by_others = classified(look(held, order=order, ours=ours, others=tuple(others)), plan(LONG_TEN))
    assert by_others.outcome is Outcome.OTHER
    assert (by_others.closed, by_others.opened, by_others.fills) == (None, None, ours)
    alone = classified(look(held, order=order, ours=ours), plan(LONG_TEN))
    assert alone.outcome is (Outcome.SMALLER if held == "-5" else Outcome.LARGER)


@pytest.mark.parametrize(
    ("made_by", "outcome", "standing"),
    [
        ("a reversal", Outcome.REMAINDER, Standing.PARTIAL),
        ("something else", Outcome.OTHER, Standing.ABSENT),
        ("not known", Outcome.OTHER, Standing.UNSEEN),
        ("not named", Outcome.OTHER, Standing.UNSEEN),
    ],
)
def test_where_the_exchange_keeps_no_client_oid_what_a_reversal_closed_in_part_is_ours(
    made_by: str, outcome: Outcome, standing: Standing
) -> None:
    theirs, close = frozenset({"theirs"}), leg_fill("buy", "close", "7", "theirs")
    observed = Observation(
        answer=OrderAnswer.NO_SUCH_ORDER,
        held=legs("13"),
        other_fills=(close.model_copy(update={"order_id": None}) if made_by == "not named" else close,),
        kindred_orders=theirs if made_by == "a reversal" else frozenset(),
        foreign_orders=theirs if made_by == "something else" else frozenset(),
        waited_s=ABSENCE_S,
        after_window=True,
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=False)
    assert (classification.outcome, classification.standing) == (outcome, standing)
    assert classification.settles(3600) is (standing is not Standing.UNSEEN), "it may be ours, and is not absent"


@pytest.mark.parametrize("mode", ["hedge", "one-way"])
@pytest.mark.parametrize(
    ("opened_by", "outcome"),
    [("a reversal", Outcome.REVERSED), ("not known", Outcome.REVERSED), ("something else", Outcome.OTHER)],
)
def test_what_something_else_opened_after_ours_closed_is_not_named_as_its_doing(
    mode: str, opened_by: str, outcome: Outcome
) -> None:
    """A trader who opens by hand what a reversal left out makes it look whole."""
    theirs = frozenset({"theirs"})
    closed, opened = (sold("10"), sold("10", "theirs"))
    if mode == "hedge":
        closed, opened = leg_fill("buy", "close", "10", "ours"), leg_fill("sell", "open", "10", "theirs")
    observed = Observation(
        answer=OrderAnswer.SHOWN,
        order=detail("filled", "10", "10"),
        held=legs("0", "10") if mode == "hedge" else Net(Decimal(-10)),
        own_fills=(closed,),
        other_fills=(opened,),
        kindred_orders=theirs if opened_by == "a reversal" else frozenset(),
        foreign_orders=theirs if opened_by == "something else" else frozenset(),
        order_id="ours",
        order_size=Decimal(10),
    )
    sent = plan(legs("10"), "buy") if mode == "hedge" else plan(LONG_TEN)
    classification = classify(sent, observed, acknowledged=True)
    assert classification.outcome is outcome
    if outcome is Outcome.OTHER:
        assert (classification.effect, classification.closed, classification.opened) == (None, Decimal(10), None)
        assert not classification.settles(59) and classification.settles(60)


@pytest.mark.parametrize("leg", ["closing", "opening"])
def test_what_a_reversal_trades_that_is_live_by_its_own_id_is_not_over(leg: str) -> None:
    closing, opening = leg_fill("buy", "close", "7", "theirs"), leg_fill("sell", "open", "7", "theirs")
    theirs = frozenset({"theirs"})
    by_size = Observation(answer=OrderAnswer.NO_SUCH_ORDER, held=legs("13"), other_fills=(closing,))
    by_id = Observation(
        answer=OrderAnswer.SHOWN,
        order=detail("filled", "20", "20"),
        held=legs("0", "7"),
        own_fills=(leg_fill("buy", "close", "20", "ours"),),
        other_fills=(opening,),
        order_id="ours",
        order_size=Decimal(20),
    )
    observed = replace(
        by_size if leg == "closing" else by_id, kindred_orders=theirs, waited_s=ABSENCE_S, after_window=True
    )
    sent = plan(legs("20"), "buy")
    assert classify(sent, observed, acknowledged=False).settles(180)
    live = classify(sent, replace(observed, live_orders=theirs), acknowledged=False)
    assert live.standing is Standing.PENDING and not live.settles(1_000)


@pytest.mark.parametrize("order", [None, detail("canceled", "20", "0")], ids=["not found", "cancelled without a fill"])
@pytest.mark.parametrize("word", [None, "swap_close"], ids=["not shown yet", "of a word nobody knows"])
def test_ours_is_not_absent_while_fills_do_not_explain_what_is_held(
    order: OrderDetail | None, word: str | None
) -> None:
    observed = Observation(
        answer=OrderAnswer.NO_SUCH_ORDER if order is None else OrderAnswer.SHOWN,
        order=order,
        held=legs("13"),
        other_fills=() if word is None else (leg_fill("buy", word, "7", "theirs"),),
        kindred_orders=frozenset({"theirs"}),
        waited_s=ABSENCE_S,
        after_window=True,
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=False)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert not classification.settles(179) and classification.settles(180)


@pytest.mark.parametrize("reaches_back", [True, False])
def test_ours_is_absent_only_where_the_fills_of_before_are_still_shown(reaches_back: bool) -> None:
    observed = replace(look("10"), answer=OrderAnswer.NO_SUCH_ORDER, waited_s=ABSENCE_S, after_window=True)
    classification = classified(replace(observed, order_id=None, reaches_back=reaches_back), acknowledged=False)
    assert classification.standing is (Standing.ABSENT if reaches_back else Standing.UNSEEN)
    assert classification.settles(3600) is reaches_back


def test_what_another_closes_of_an_inferred_reversal_is_not_named_as_its_doing() -> None:
    observed = Observation(
        answer=OrderAnswer.NO_SUCH_ORDER,
        held=legs("0", "19"),
        other_fills=(
            leg_fill("sell", "close", "1", "a stranger's"),
            leg_fill("sell", "open", "20", "b"),
            leg_fill("buy", "close", "20", "a"),
        ),
        kindred_orders=frozenset({"a"}),
        waited_s=ABSENCE_S,
        after_window=True,
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=False)
    assert classification.inferred
    assert (classification.outcome, classification.effect) == (Outcome.OTHER, legs("0", "20"))


def test_fills_that_name_no_order_may_be_ours() -> None:
    nameless = tuple(sold("10").model_copy(update={"order_id": None, "trade_id": trade_id}) for trade_id in "12")
    classification = classified(look("-10", order=detail("filled", "20", "20"), others=nameless), plan(LONG_TEN))
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.REVERSED)
    assert classification.inferred


@pytest.mark.parametrize(
    ("opened_by", "outcome"), [(None, Outcome.REVERSED), ("theirs", Outcome.OTHER)], ids=["no order", "another order"]
)
def test_fills_that_name_no_order_are_both_legs_of_one_order(opened_by: str | None, outcome: Outcome) -> None:
    close, opening = leg_fill("buy", "close", "20", ""), leg_fill("sell", "open", "20", "")
    observed = Observation(
        answer=OrderAnswer.SHOWN,
        order=detail("filled", "40", "40"),
        held=legs("0", "20"),
        other_fills=(
            opening.model_copy(update={"order_id": opened_by}),
            close.model_copy(update={"order_id": None}),
        ),
        order_id="ours",
        order_size=Decimal(40),
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=True)
    assert (classification.outcome, classification.inferred) == (outcome, True)
    assert classification.effect == (legs("0", "20") if outcome is Outcome.REVERSED else legs("0"))
    assert (classification.closed, classification.opened) == (Decimal(20), Decimal(20)), (
        "what is in fills is not counted again"
    )


@pytest.mark.parametrize(
    ("state", "volume", "opened", "effect"),
    [
        ("filled", "40", ("20", "5"), None),
        ("canceled", "20", ("20",), legs("0")),
        ("canceled", "28", ("8",), legs("0", "8")),
        ("canceled", "28", ("8", "12"), None),
    ],
)
def test_of_fills_that_name_no_order_no_more_are_ours_than_our_order_has_filled(
    state: str, volume: str, opened: tuple[str, ...], effect: Legs | None
) -> None:
    fills = [leg_fill("sell", "open", size, "") for size in opened] + [leg_fill("buy", "close", "20", "")]
    held = legs("0", str(sum(map(int, opened))))
    observed = Observation(
        answer=OrderAnswer.SHOWN,
        order=detail(state, "40", volume),
        held=held,
        other_fills=tuple(opening.model_copy(update={"order_id": None}) for opening in fills),
        order_id="ours",
        order_size=Decimal(40),
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=True)
    assert classification.effect == effect
    assert classification.outcome is (Outcome.SMALLER if effect == held else Outcome.OTHER)
    assert not classification.settles(59)


@pytest.mark.parametrize(("order_id", "outcome"), [(None, Outcome.OTHER), ("theirs", Outcome.LARGER)])
def test_more_than_was_planned_is_ours_only_as_one_order(order_id: str | None, outcome: Outcome) -> None:
    fills = [leg_fill("sell", "open", "20", ""), leg_fill("sell", "open", "5", ""), leg_fill("buy", "close", "20", "")]
    observed = Observation(
        answer=OrderAnswer.NOT_REPORTED,
        held=legs("0", "25"),
        other_fills=tuple(
            trade.model_copy(update={"order_id": order_id if trade.trade_side == "open" else None}) for trade in fills
        ),
        order_id="ours",
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=True)
    assert classification.outcome is outcome
    assert classification.effect == (None if order_id is None else legs("0", "25"))


def test_a_reply_without_an_order_id_leaves_sizes_alone_which_settle_nothing_at_once() -> None:
    observed = replace(look("-10", others=(sold("10", "a"), sold("10", "b"))), order_id=None)
    classification = classified(observed, plan(LONG_TEN), acknowledged=True)
    assert (classification.standing, classification.inferred) == (Standing.PARTIAL, True)


def test_a_plan_with_one_result_is_as_it_was_whatever_the_size_of_the_order() -> None:
    sent = plan(legs("20"), "buy", "3")
    observed = Observation(answer=OrderAnswer.NOT_REPORTED, held=legs("17", "3"), order_size=Decimal(19))
    assert classify(sent, observed, acknowledged=True).plan == sent


@pytest.mark.parametrize("core_only", [True, False])
@pytest.mark.parametrize(
    ("opened", "outcome", "standing"),
    [("20", Outcome.REVERSED, Standing.COMPLETE), ("8", Outcome.SMALLER, Standing.PARTIAL)],
)
def test_the_id_of_ours_may_be_that_of_the_opening_order(
    core_only: bool, opened: str, outcome: Outcome, standing: Standing
) -> None:
    close, opening = leg_fill("buy", "close", "20", "theirs"), leg_fill("sell", "open", opened, "ours")
    state = detail("filled" if opened == "20" else "canceled", "20", opened)
    observed = Observation(
        answer=OrderAnswer.NOT_REPORTED if core_only else OrderAnswer.SHOWN,
        order=None if core_only else state,
        held=legs("0", opened),
        own_fills=(opening,),
        other_fills=(close,),
        order_id="ours",
        order_size=None if core_only else state.size,
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=True)
    assert (classification.standing, classification.outcome) == (standing, outcome)
    assert (classification.closed, classification.opened) == (Decimal(20), Decimal(opened))
    assert classification.effect == observed.held


def test_a_close_that_something_else_ordered_is_doubtful_as_the_leg_of_ours() -> None:
    close, opening = leg_fill("buy", "close", "20", "theirs"), leg_fill("sell", "open", "20", "ours")
    observed = Observation(
        answer=OrderAnswer.SHOWN,
        order=detail("filled", "20", "20"),
        held=legs("0", "20"),
        own_fills=(opening,),
        other_fills=(close,),
        foreign_orders=frozenset({"theirs"}),
        order_id="ours",
        order_size=Decimal(20),
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=True)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.REVERSED)
    in_part = leg_fill("sell", "open", "7", "ours")
    observed = replace(observed, order=detail("canceled", "20", "7"), held=legs("0", "7"), own_fills=(in_part,))
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=True)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("state", ["canceled", "cancelled", "Rejected", "expired"])
@pytest.mark.parametrize(
    ("size", "made_by", "is_ours"),
    [
        ("20", "a reversal", True),
        ("20", "not known", True),
        ("20", "something else", False),
        ("40", "a reversal", False),
    ],
)
def test_an_opening_order_that_ends_without_a_fill_leaves_what_its_reversal_closed(
    size: str, made_by: str, is_ours: bool, state: str, acknowledged: bool
) -> None:
    theirs = frozenset({"theirs"})
    observed = Observation(
        answer=OrderAnswer.SHOWN,
        order=detail(state, size, "0"),
        held=legs("0"),
        other_fills=(leg_fill("buy", "close", "20", "theirs"),),
        kindred_orders=theirs if made_by == "a reversal" else frozenset(),
        foreign_orders=theirs if made_by == "something else" else frozenset(),
        order_id="ours",
        order_size=Decimal(size),
        waited_s=ABSENCE_S,
        after_window=True,
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=acknowledged)
    assert classification.outcome is (Outcome.CLOSED_ONLY if is_ours else Outcome.OTHER)
    assert classification.standing is (Standing.PARTIAL if is_ours else Standing.ABSENT)
    assert classification.inferred is is_ours


@pytest.mark.parametrize("made_by", ["a reversal", "something else", "not known"])
@pytest.mark.parametrize("answer", [OrderAnswer.NO_SUCH_ORDER, OrderAnswer.NOT_REPORTED])
@pytest.mark.parametrize("waited_s", [ABSENCE_S - 1, ABSENCE_S])
def test_what_others_traded_is_never_the_work_of_an_order_that_the_exchange_refused(
    made_by: str, answer: OrderAnswer, waited_s: float
) -> None:
    theirs = frozenset({"a", "b"})
    observed = Observation(
        answer=answer,
        held=legs("0", "20"),
        other_fills=(leg_fill("sell", "open", "20", "b"), leg_fill("buy", "close", "20", "a")),
        kindred_orders=theirs if made_by == "a reversal" else frozenset(),
        foreign_orders=theirs if made_by == "something else" else frozenset(),
        waited_s=waited_s,
        after_window=True,
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=False, refused=True)
    assert (classification.outcome, classification.effect) == (Outcome.NOT_DONE, legs("20"))
    assert not classification.evidence.traced_fills
    if waited_s < ABSENCE_S:
        assert classification.standing is Standing.UNSEEN
    else:
        denied = answer is OrderAnswer.NO_SUCH_ORDER
        assert classification.standing is (Standing.ABSENT if denied else Standing.PARTIAL)
        assert classification.settles(59) is denied and classification.settles(60)
    of_another_account = replace(observed, reaches_back=False)
    unknown = classify(plan(legs("20"), "buy"), of_another_account, acknowledged=False, refused=True)
    assert not unknown.settles(3600)


def test_a_refused_order_that_is_shown_all_the_same_is_judged_as_any_other() -> None:
    observed = look("-10", order=detail("filled", "20", "20"), ours=(sold("20"),))
    classification = classify(plan(LONG_TEN), observed, acknowledged=False, refused=True)
    assert (classification.standing, classification.outcome) == (Standing.COMPLETE, Outcome.REVERSED)


@pytest.mark.parametrize("kindred", [True, False])
@pytest.mark.parametrize("closed", ["2", "20"])
def test_an_opening_order_without_a_fill_in_a_state_nobody_knows_leaves_what_its_reversal_closed(
    closed: str, kindred: bool
) -> None:
    held = legs(str(20 - int(closed)))
    observed = Observation(
        answer=OrderAnswer.SHOWN,
        order=detail("done", "20", "0"),
        held=held,
        other_fills=(leg_fill("buy", "close", closed, "theirs"),),
        kindred_orders=frozenset({"theirs"}) if kindred else frozenset(),
        order_id="ours",
        order_size=Decimal(20),
        waited_s=ABSENCE_S,
        after_window=True,
    )
    classification = classify(plan(legs("20"), "buy"), observed, acknowledged=False)
    assert classification.standing is Standing.PARTIAL, "what was not known to end settles after a minute"
    if kindred:
        assert classification.outcome is (Outcome.CLOSED_ONLY if closed == "20" else Outcome.REMAINDER)
        assert classification.effect == held
    else:
        assert classification.outcome is Outcome.OTHER


@pytest.mark.parametrize(
    ("closed_by", "effect"), [("a reversal", "-22"), ("not known", None), ("something else", "-6")]
)
def test_both_orders_of_a_reversal_are_ours_where_somebody_had_added_to_what_was_held(
    closed_by: str, effect: str | None
) -> None:
    added = fill("buy", "buy_single", "6", mode="one_way_mode").model_copy(update={"order_id": "foreign"})
    close, theirs = sold("16", "theirs"), frozenset({"theirs"})
    observed = replace(
        look("-16", order=detail("filled", "16", "16"), ours=(sold("16"),), others=(close, added)),
        kindred_orders=theirs if closed_by == "a reversal" else frozenset(),
        foreign_orders=frozenset({"foreign"}) | (theirs if closed_by == "something else" else frozenset()),
    )
    classification = classified(observed, plan(LONG_TEN))
    assert classification.effect == (Net(Decimal(effect)) if effect else None)
    assert classification.outcome is Outcome.OTHER
    cancelled = replace(observed, order=detail("canceled", "16", "0"), held=Net(Decimal(0)), own_fills=())
    if closed_by == "a reversal":
        assert classified(cancelled, plan(LONG_TEN)).effect == Net(Decimal(-6)), "it closed what had been added too"


@pytest.mark.parametrize("made_by_something_else", [True, False])
def test_what_a_stranger_trades_is_no_opening_of_an_order_that_ended_without_a_fill(
    made_by_something_else: bool,
) -> None:
    observed = replace(
        look("9", order=detail("canceled", "0.5", "0"), others=(sold("0.5", "stranger"), sold("0.5", "theirs"))),
        kindred_orders=frozenset({"theirs"}),
        foreign_orders=frozenset({"stranger"}) if made_by_something_else else frozenset(),
    )
    classification = classified(observed)
    assert (classification.outcome, classification.effect) == (Outcome.OTHER, Net(Decimal("9.5")))


@pytest.mark.parametrize(("size", "outcome"), [("20", Outcome.REMAINDER), ("1", Outcome.REVERSED)])
def test_the_size_of_a_reversal_without_our_id_tells_which_result_was_the_whole_of_it(
    size: str, outcome: Outcome
) -> None:
    observed = replace(
        look("9", others=(sold("1", "theirs"),)),
        answer=OrderAnswer.NO_SUCH_ORDER,
        order_id=None,
        kindred_orders=frozenset({"theirs"}),
        kindred_sizes={"theirs": Decimal(size)},
        waited_s=ABSENCE_S,
        after_window=True,
    )
    classification = classified(observed, acknowledged=False)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, outcome)


@pytest.mark.parametrize("orders", [("stranger", "theirs"), (None, "theirs")], ids=["two orders", "one has no id"])
def test_two_orders_that_come_to_the_other_leg_only_together_prove_nothing_of_ours(
    orders: tuple[str | None, str],
) -> None:
    stranger, close = (sold(size).model_copy(update={"order_id": id_}) for size, id_ in zip("37", orders, strict=True))
    observed = look("-10", ours=(sold("10"),), others=(stranger, close), order_size="10")
    classification = classified(observed, plan(LONG_TEN))
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert classification.effect is None


def test_what_a_stranger_trades_is_no_rest_of_an_order_that_has_filled_more_than_it_was_to_close() -> None:
    observed = look("-10", ours=(sold("17"),), others=(sold("3", "stranger"),))
    classification = classified(observed, plan(LONG_TEN))
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert classification.effect is None
    larger = classified(look("-15", ours=(sold("15"),), others=(sold("10", "closes"),)), plan(LONG_TEN))
    assert larger.outcome is Outcome.LARGER
    assert classified(look("-7", ours=(sold("17"),)), plan(LONG_TEN)).outcome is Outcome.SMALLER

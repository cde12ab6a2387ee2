"""What a look amounts to: parts of a larger order, and what others traded, are not taken for what was planned."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

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
TEN, TWENTY = plan(LONG_TEN), plan(legs("20"), "buy")
THEIRS = frozenset({"theirs"})


def detail(state: str, size: str, volume: str) -> OrderDetail:
    return OrderDetail.from_row({"orderId": "ours", "state": state, "size": size, "baseVolume": volume})


def traded(side: str, word: str, size: str, order_id: str | None, mode: str = "hedge_mode") -> FuturesFill:
    return fill(side, word, size, mode=mode).model_copy(update={"order_id": order_id})


def sold(size: str, order_id: str | None = "ours") -> FuturesFill:
    """A fill in one-way mode."""
    return traded("sell", "sell_single", size, order_id, "one_way_mode")


def bought(size: str, order_id: str | None) -> FuturesFill:
    """A fill in one-way mode."""
    return traded("buy", "buy_single", size, order_id, "one_way_mode")


def closed(size: str, order_id: str | None = "theirs") -> FuturesFill:
    """A fill of the LONG that is reversed."""
    return traded("buy", "close", size, order_id)


def opened(size: str, order_id: str | None = "theirs") -> FuturesFill:
    """A fill of the SHORT that it becomes."""
    return traded("sell", "open", size, order_id)


def made_by(maker: str, *order_ids: str) -> dict[str, Any]:
    """What is known of these orders, or of the order `theirs`."""
    orders = frozenset(order_ids) or THEIRS
    return {
        "kindred_orders": orders if maker == "a reversal" else frozenset(),
        "foreign_orders": orders if maker == "something else" else frozenset(),
    }


def look(
    held: str | Legs,
    *,
    order: OrderDetail | None = None,
    ours: tuple[FuturesFill, ...] = (),
    others: tuple[FuturesFill, ...] = (),
    order_id: str | None = "ours",
    order_size: str | None = None,
    late: bool = False,
    **more: Any,
) -> Observation:
    """One look at a net or legs, core-only where there is no order; `late`: the request can no more arrive."""
    size = order.size if order is not None else Decimal(order_size) if order_size is not None else None
    answer = OrderAnswer.NOT_REPORTED if order is None else OrderAnswer.SHOWN
    if late:
        more = {"waited_s": ABSENCE_S, "after_window": True, **more}
    return Observation(
        **{
            "answer": answer,
            "order": order,
            "held": held if isinstance(held, Legs) else Net(Decimal(held)),
            "own_fills": ours,
            "other_fills": others,
            "order_id": order_id,
            "order_size": size,
            **more,
        }
    )


def classified(
    observed: Observation, sent: ReversalPlan = SIZED, *, acknowledged: bool = True, refused: bool = False
) -> Classification:
    return classify(sent, observed, acknowledged=acknowledged, refused=refused)


def judged(observed: Observation, sent: ReversalPlan = SIZED, **known: bool) -> tuple[Standing, Outcome | None]:
    classification = classified(observed, sent, **known)
    return classification.standing, classification.outcome


def test_a_part_that_is_as_much_as_the_size_may_be_less_than_the_order() -> None:
    observed = classified(look("9", ours=(sold("1"),)))
    assert observed.standing is Standing.PARTIAL
    assert not observed.settles(59)
    assert observed.settles(60)


def test_the_largest_result_is_the_whole_of_it() -> None:
    assert classified(look("-10", ours=(sold("20"),))).standing is Standing.COMPLETE


def test_an_acknowledged_order_that_the_exchange_does_not_know_yet_is_not_over_by_what_is_held() -> None:
    assert classified(look("-10", answer=OrderAnswer.NO_SUCH_ORDER)).standing is Standing.PARTIAL
    assert classified(look("-10")).standing is Standing.COMPLETE, "core-only there is nothing else to go by"


@pytest.mark.parametrize("filled", ["10", "19.5", "20.5"], ids=["not all shown", "one too small", "one too large"])
def test_what_is_held_is_no_end_while_our_own_fills_come_to_something_else(filled: str) -> None:
    classification = classified(look("-10", ours=(sold(filled),)), TEN)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.REVERSED)
    assert not classification.settles(60)


@pytest.mark.parametrize("order_size", ["1", "0.5"], ids=["closes and opens", "closes"])
def test_the_size_of_the_order_says_which_result_is_meant(order_size: str) -> None:
    observed = classified(look("9", ours=(sold("1"),), order_size=order_size))
    assert observed.standing is Standing.COMPLETE
    assert [result.closed for result in observed.plan.results] == [Decimal("0.5")]


def test_an_order_cancelled_short_of_its_own_size_is_not_the_smaller_result() -> None:
    observed = look("9", order=detail("canceled", "20", "1"), ours=(sold("1"),))
    assert judged(observed) == (Standing.PARTIAL, Outcome.REMAINDER)


def test_a_filled_order_of_the_smaller_size_is_over_at_once() -> None:
    observed = look("9", order=detail("filled", "1", "1"), ours=(sold("1"),))
    assert judged(observed) == (Standing.COMPLETE, Outcome.REVERSED)


@pytest.mark.parametrize("order_is_shown", [True, False])
def test_an_order_without_a_fill_settles_once_the_fills_of_its_other_leg_would_be_shown(order_is_shown: bool) -> None:
    order = detail("canceled", "10", "0") if order_is_shown else None
    answer = OrderAnswer.SHOWN if order_is_shown else OrderAnswer.NO_SUCH_ORDER
    classification = classified(look("10", order=order, answer=answer, late=True), TEN, acknowledged=False)
    assert (classification.standing, classification.outcome) == (Standing.ABSENT, Outcome.UNCHANGED)
    assert classification.settles(ABSENCE_S - 1) is not order_is_shown
    assert classification.settles(ABSENCE_S)


@pytest.mark.parametrize("maker", ["something else", "not known"])
def test_what_a_stranger_trades_does_not_finish_one_order_that_closes_and_opens(maker: str) -> None:
    order = detail("canceled", "1", "0.5")
    observed = look("9", order=order, ours=(sold("0.5"),), others=(sold("0.5", "theirs"),), **made_by(maker))
    classification = classified(observed)
    assert (classification.outcome, classification.effect) == (Outcome.OTHER, Net(Decimal("9.5")))
    assert not classification.settles(59)


@pytest.mark.parametrize("answer", [OrderAnswer.NOT_REPORTED, OrderAnswer.NO_SUCH_ORDER])
def test_what_others_trade_is_no_end_of_an_acknowledged_order_of_which_nothing_is_shown(answer: OrderAnswer) -> None:
    observed = look("9", others=(sold("1", "theirs"),), answer=answer, waited_s=3600.0, after_window=True)
    assert not classified(observed, TEN).settles(3600)
    assert classified(replace(observed, other_fills=(sold("1", None),)), TEN).settles(3600), "this fill may be ours"
    assert classified(replace(observed, held=Net(Decimal(8))), TEN).settles(3600), "ours may have moved it"


@pytest.mark.parametrize("after_window", [True, False])
def test_nothing_is_inferred_from_fills_before_the_exchanges_own_time_is_past_the_window(after_window: bool) -> None:
    observed = look("0", others=(sold("10", "theirs"),), order_id=None, late=True, after_window=after_window)
    classification = classified(observed, TEN, acknowledged=False)
    assert classification.standing is (Standing.PARTIAL if after_window else Standing.UNSEEN)
    assert classification.settles(3600) is after_window


def test_what_others_traded_as_planned_is_no_end_before_a_minute_without_change() -> None:
    observed = look("-10", others=(sold("10", "theirs"), sold("10", "more of theirs")), order_id=None, late=True)
    early = classified(replace(observed, waited_s=20.0, after_window=False), TEN, acknowledged=False)
    late = classified(observed, TEN, acknowledged=False)
    assert early.standing is Standing.UNSEEN
    assert (late.standing, late.outcome, late.inferred) == (Standing.PARTIAL, Outcome.REVERSED, True)
    assert late.evidence == early.evidence, "the minute is counted from the last change, not from when it was inferred"
    assert not late.settles(59)
    assert late.settles(60)


def test_what_was_traded_as_planned_and_is_undone_is_not_unchanged() -> None:
    observed = look("10", others=(sold("10", "a"), sold("10", "b"), bought("20", "c")), order_id=None, late=True)
    assert judged(observed, TEN, acknowledged=False) == (Standing.PARTIAL, Outcome.OTHER)


def test_a_reversal_of_what_somebody_else_has_turned_round_is_not_unchanged() -> None:
    """Others made LONG 10 a SHORT 10, and ours, of whose two orders one has our id, made it LONG 10 again."""
    others = (bought("10", "c"), sold("10", "b"), sold("10", "a"))
    observed = look("10", order=detail("filled", "10", "10"), ours=(bought("10", "ours"),), others=others)
    classification = classified(observed, TEN)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert (classification.closed, classification.opened) == (None, None)


@pytest.mark.parametrize(
    ("volume", "outcome"), [("15", Outcome.OTHER), ("20", Outcome.REVERSED), ("10", Outcome.REVERSED)]
)
def test_what_is_held_as_planned_is_no_work_of_an_order_that_ended_with_another_size(
    volume: str, outcome: Outcome
) -> None:
    # But for 15, one of its fills is not shown yet.
    ours = sold(volume if volume == "15" else "5")
    assert classified(look("-10", order=detail("filled", volume, volume), ours=(ours,)), TEN).outcome is outcome


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
    by_others = classified(look(held, order=order, ours=ours, others=tuple(others)), TEN)
    assert by_others.outcome is Outcome.OTHER
    assert (by_others.closed, by_others.opened, by_others.fills) == (None, None, ours)
    alone = classified(look(held, order=order, ours=ours), TEN)
    assert alone.outcome is (Outcome.SMALLER if held == "-5" else Outcome.LARGER)


@pytest.mark.parametrize(
    ("maker", "outcome", "standing"),
    [
        ("a reversal", Outcome.REMAINDER, Standing.PARTIAL),
        ("something else", Outcome.OTHER, Standing.ABSENT),
        ("not known", Outcome.OTHER, Standing.UNSEEN),
        ("not named", Outcome.OTHER, Standing.UNSEEN),
    ],
)
def test_where_the_exchange_keeps_no_client_oid_what_a_reversal_closed_in_part_is_ours(
    maker: str, outcome: Outcome, standing: Standing
) -> None:
    close = closed("7", None if maker == "not named" else "theirs")
    answer = OrderAnswer.NO_SUCH_ORDER
    observed = look(legs("13"), others=(close,), order_id=None, answer=answer, late=True, **made_by(maker))
    classification = classified(observed, TWENTY, acknowledged=False)
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
    order, known = detail("filled", "10", "10"), made_by(opened_by)
    if mode == "hedge":
        observed = look(legs("0", "10"), order=order, ours=(closed("10", "ours"),), others=(opened("10"),), **known)
    else:
        observed = look("-10", order=order, ours=(sold("10"),), others=(sold("10", "theirs"),), **known)
    classification = classified(observed, plan(legs("10"), "buy") if mode == "hedge" else TEN)
    assert classification.outcome is outcome
    if outcome is Outcome.OTHER:
        assert (classification.effect, classification.closed, classification.opened) == (None, Decimal(10), None)
        assert not classification.settles(59) and classification.settles(60)


@pytest.mark.parametrize("leg", ["closing", "opening"])
def test_what_a_reversal_trades_that_is_live_by_its_own_id_is_not_over(leg: str) -> None:
    known: dict[str, Any] = {"kindred_orders": THEIRS, "late": True}
    if leg == "closing":  # known by its size
        answer = OrderAnswer.NO_SUCH_ORDER
        observed = look(legs("13"), others=(closed("7"),), order_id=None, answer=answer, **known)
    else:
        order, ours = detail("filled", "20", "20"), (closed("20", "ours"),)
        observed = look(legs("0", "7"), order=order, ours=ours, others=(opened("7"),), **known)
    assert classified(observed, TWENTY, acknowledged=False).settles(180)
    live = classified(replace(observed, live_orders=THEIRS), TWENTY, acknowledged=False)
    assert live.standing is Standing.PENDING and not live.settles(1_000)


@pytest.mark.parametrize("order", [None, detail("canceled", "20", "0")], ids=["not found", "cancelled without a fill"])
@pytest.mark.parametrize("word", [None, "swap_close"], ids=["not shown yet", "of a word nobody knows"])
def test_ours_is_not_absent_while_fills_do_not_explain_what_is_held(
    order: OrderDetail | None, word: str | None
) -> None:
    answer = OrderAnswer.NO_SUCH_ORDER if order is None else OrderAnswer.SHOWN
    others = () if word is None else (traded("buy", word, "7", "theirs"),)
    known: dict[str, Any] = {"kindred_orders": THEIRS, "answer": answer, "order_size": None, "order_id": None}
    classification = classified(
        look(legs("13"), order=order, others=others, late=True, **known), TWENTY, acknowledged=False
    )
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert not classification.settles(179) and classification.settles(180)


@pytest.mark.parametrize("reaches_back", [True, False])
def test_ours_is_absent_only_where_the_fills_of_before_are_still_shown(reaches_back: bool) -> None:
    answer = OrderAnswer.NO_SUCH_ORDER
    observed = look("10", answer=answer, order_id=None, reaches_back=reaches_back, late=True)
    classification = classified(observed, acknowledged=False)
    assert classification.standing is (Standing.ABSENT if reaches_back else Standing.UNSEEN)
    assert classification.settles(3600) is reaches_back


def test_what_another_closes_of_an_inferred_reversal_is_not_named_as_its_doing() -> None:
    others = (traded("sell", "close", "1", "a stranger's"), opened("20", "b"), closed("20", "theirs"))
    known: dict[str, Any] = {"answer": OrderAnswer.NO_SUCH_ORDER, "kindred_orders": THEIRS, "order_id": None}
    classification = classified(look(legs("0", "19"), others=others, late=True, **known), TWENTY, acknowledged=False)
    assert classification.inferred
    assert (classification.outcome, classification.effect) == (Outcome.OTHER, legs("0", "20"))


def test_fills_that_name_no_order_may_be_ours() -> None:
    nameless = tuple(sold("10", None).model_copy(update={"trade_id": trade_id}) for trade_id in "12")
    classification = classified(look("-10", order=detail("filled", "20", "20"), others=nameless), TEN)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.REVERSED)
    assert classification.inferred


@pytest.mark.parametrize(
    ("opened_by", "outcome"), [(None, Outcome.REVERSED), ("theirs", Outcome.OTHER)], ids=["no order", "another order"]
)
def test_fills_that_name_no_order_are_both_legs_of_one_order(opened_by: str | None, outcome: Outcome) -> None:
    others = (opened("20", opened_by), closed("20", None))
    classification = classified(look(legs("0", "20"), order=detail("filled", "40", "40"), others=others), TWENTY)
    assert (classification.outcome, classification.inferred) == (outcome, True)
    assert classification.effect == (legs("0", "20") if outcome is Outcome.REVERSED else legs("0"))
    assert (classification.closed, classification.opened) == (Decimal(20), Decimal(20)), (
        "what is in fills is not counted again"
    )


@pytest.mark.parametrize(
    ("state", "volume", "sizes", "effect"),
    [
        ("filled", "40", ("20", "5"), None),
        ("canceled", "20", ("20",), legs("0")),
        ("canceled", "28", ("8",), legs("0", "8")),
        ("canceled", "28", ("8", "12"), None),
    ],
)
def test_of_fills_that_name_no_order_no_more_are_ours_than_our_order_has_filled(
    state: str, volume: str, sizes: tuple[str, ...], effect: Legs | None
) -> None:
    others = (*(opened(size, None) for size in sizes), closed("20", None))
    held = legs("0", str(sum(map(int, sizes))))
    classification = classified(look(held, order=detail(state, "40", volume), others=others), TWENTY)
    assert classification.effect == effect
    assert classification.outcome is (Outcome.SMALLER if effect == held else Outcome.OTHER)
    assert not classification.settles(59)


@pytest.mark.parametrize(("order_id", "outcome"), [(None, Outcome.OTHER), ("theirs", Outcome.LARGER)])
def test_more_than_was_planned_is_ours_only_as_one_order(order_id: str | None, outcome: Outcome) -> None:
    others = (opened("20", order_id), opened("5", order_id), closed("20", None))
    classification = classified(look(legs("0", "25"), others=others), TWENTY)
    assert classification.outcome is outcome
    assert classification.effect == (None if order_id is None else legs("0", "25"))


def test_a_reply_without_an_order_id_leaves_sizes_alone_which_settle_nothing_at_once() -> None:
    classification = classified(look("-10", others=(sold("10", "a"), sold("10", "b")), order_id=None), TEN)
    assert (classification.standing, classification.inferred) == (Standing.PARTIAL, True)


def test_a_plan_with_one_result_is_as_it_was_whatever_the_size_of_the_order() -> None:
    sent = plan(legs("20"), "buy", "3")
    assert classified(look(legs("17", "3"), order_id=None, order_size="19"), sent).plan == sent


@pytest.mark.parametrize("core_only", [True, False])
@pytest.mark.parametrize(
    ("size", "outcome", "standing"),
    [("20", Outcome.REVERSED, Standing.COMPLETE), ("8", Outcome.SMALLER, Standing.PARTIAL)],
)
def test_the_id_of_ours_may_be_that_of_the_opening_order(
    core_only: bool, size: str, outcome: Outcome, standing: Standing
) -> None:
    order = None if core_only else detail("filled" if size == "20" else "canceled", "20", size)
    observed = look(legs("0", size), order=order, ours=(opened(size, "ours"),), others=(closed("20"),))
    classification = classified(observed, TWENTY)
    assert (classification.standing, classification.outcome) == (standing, outcome)
    assert (classification.closed, classification.opened) == (Decimal(20), Decimal(size))
    assert classification.effect == observed.held


def test_a_close_that_something_else_ordered_is_doubtful_as_the_leg_of_ours() -> None:
    for state, size, outcome in (("filled", "20", Outcome.REVERSED), ("canceled", "7", Outcome.OTHER)):
        order, ours = detail(state, "20", size), (opened(size, "ours"),)
        observed = look(legs("0", size), order=order, ours=ours, others=(closed("20"),), foreign_orders=THEIRS)
        assert judged(observed, TWENTY) == (Standing.PARTIAL, outcome)


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("state", ["canceled", "cancelled", "Rejected", "expired"])
@pytest.mark.parametrize(
    ("size", "maker", "is_ours"),
    [
        ("20", "a reversal", True),
        ("20", "not known", True),
        ("20", "something else", False),
        ("40", "a reversal", False),
    ],
)
def test_an_opening_order_that_ends_without_a_fill_leaves_what_its_reversal_closed(
    size: str, maker: str, is_ours: bool, state: str, acknowledged: bool
) -> None:
    observed = look(legs("0"), order=detail(state, size, "0"), others=(closed("20"),), late=True, **made_by(maker))
    classification = classified(observed, TWENTY, acknowledged=acknowledged)
    assert classification.outcome is (Outcome.CLOSED_ONLY if is_ours else Outcome.OTHER)
    assert classification.standing is (Standing.PARTIAL if is_ours else Standing.ABSENT)
    assert classification.inferred is is_ours


@pytest.mark.parametrize("maker", ["a reversal", "something else", "not known"])
@pytest.mark.parametrize("answer", [OrderAnswer.NO_SUCH_ORDER, OrderAnswer.NOT_REPORTED])
@pytest.mark.parametrize("waited_s", [ABSENCE_S - 1, ABSENCE_S])
def test_what_others_traded_is_never_the_work_of_an_order_that_the_exchange_refused(
    maker: str, answer: OrderAnswer, waited_s: float
) -> None:
    known: dict[str, Any] = {"answer": answer, "order_id": None, "waited_s": waited_s, **made_by(maker, "a", "b")}
    observed = look(legs("0", "20"), others=(opened("20", "b"), closed("20", "a")), late=True, **known)
    classification = classified(observed, TWENTY, acknowledged=False, refused=True)
    assert (classification.outcome, classification.effect) == (Outcome.NOT_DONE, legs("20"))
    assert not classification.evidence.traced_fills
    if waited_s < ABSENCE_S:
        assert classification.standing is Standing.UNSEEN
    else:
        denied = answer is OrderAnswer.NO_SUCH_ORDER
        assert classification.standing is (Standing.ABSENT if denied else Standing.PARTIAL)
        assert classification.settles(59) is denied and classification.settles(60)
    of_another_account = replace(observed, reaches_back=False)
    assert not classified(of_another_account, TWENTY, acknowledged=False, refused=True).settles(3600)


def test_a_refused_order_that_is_shown_all_the_same_is_judged_as_any_other() -> None:
    observed = look("-10", order=detail("filled", "20", "20"), ours=(sold("20"),))
    assert judged(observed, TEN, acknowledged=False, refused=True) == (Standing.COMPLETE, Outcome.REVERSED)


@pytest.mark.parametrize("maker", ["a reversal", "not known"])
@pytest.mark.parametrize("size", ["2", "20"])
def test_an_opening_order_without_a_fill_in_a_state_nobody_knows_leaves_what_its_reversal_closed(
    size: str, maker: str
) -> None:
    held, order = legs(str(20 - int(size))), detail("done", "20", "0")
    observed = look(held, order=order, others=(closed(size),), late=True, **made_by(maker))
    classification = classified(observed, TWENTY, acknowledged=False)
    assert classification.standing is Standing.PARTIAL, "what was not known to end settles after a minute"
    if maker == "a reversal":
        assert classification.outcome is (Outcome.CLOSED_ONLY if size == "20" else Outcome.REMAINDER)
        assert classification.effect == held
    else:
        assert classification.outcome is Outcome.OTHER


@pytest.mark.parametrize(
    ("closed_by", "effect"), [("a reversal", "-22"), ("not known", None), ("something else", "-6")]
)
def test_both_orders_of_a_reversal_are_ours_where_somebody_had_added_to_what_was_held(
    closed_by: str, effect: str | None
) -> None:
    observed = look(
        "-16",
        order=detail("filled", "16", "16"),
        ours=(sold("16"),),
        others=(sold("16", "theirs"), bought("6", "foreign")),
        kindred_orders=THEIRS if closed_by == "a reversal" else frozenset(),
        foreign_orders=frozenset({"foreign"}) | (THEIRS if closed_by == "something else" else frozenset()),
    )
    classification = classified(observed, TEN)
    assert classification.effect == (Net(Decimal(effect)) if effect else None)
    assert classification.outcome is Outcome.OTHER
    cancelled = replace(observed, order=detail("canceled", "16", "0"), held=Net(Decimal(0)), own_fills=())
    if closed_by == "a reversal":
        assert classified(cancelled, TEN).effect == Net(Decimal(-6)), "it closed what had been added too"


@pytest.mark.parametrize("made_by_something_else", [True, False])
def test_what_a_stranger_trades_is_no_opening_of_an_order_that_ended_without_a_fill(
    made_by_something_else: bool,
) -> None:
    observed = look(
        "9",
        order=detail("canceled", "0.5", "0"),
        others=(sold("0.5", "stranger"), sold("0.5", "theirs")),
        kindred_orders=THEIRS,
        foreign_orders=frozenset({"stranger"}) if made_by_something_else else frozenset(),
    )
    classification = classified(observed)
    assert (classification.outcome, classification.effect) == (Outcome.OTHER, Net(Decimal("9.5")))


@pytest.mark.parametrize(("size", "outcome"), [("20", Outcome.REMAINDER), ("1", Outcome.REVERSED)])
def test_the_size_of_a_reversal_without_our_id_tells_which_result_was_the_whole_of_it(
    size: str, outcome: Outcome
) -> None:
    kindred: dict[str, Any] = {"kindred_orders": THEIRS, "kindred_sizes": {"theirs": Decimal(size)}}
    others, answer = (sold("1", "theirs"),), OrderAnswer.NO_SUCH_ORDER
    observed = look("9", others=others, answer=answer, order_id=None, late=True, **kindred)
    assert judged(observed, acknowledged=False) == (Standing.PARTIAL, outcome)


@pytest.mark.parametrize("orders", [("stranger", "theirs"), (None, "theirs")], ids=["two orders", "one has no id"])
def test_two_orders_that_come_to_the_other_leg_only_together_prove_nothing_of_ours(
    orders: tuple[str | None, str],
) -> None:
    others = tuple(sold(size, order_id) for size, order_id in zip("37", orders, strict=True))
    classification = classified(look("-10", ours=(sold("10"),), others=others, order_size="10"), TEN)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert classification.effect is None


def test_what_a_stranger_trades_is_no_rest_of_an_order_that_has_filled_more_than_it_was_to_close() -> None:
    observed = look("-10", ours=(sold("17"),), others=(sold("3", "stranger"),))
    classification = classified(observed, TEN)
    assert (classification.standing, classification.outcome) == (Standing.PARTIAL, Outcome.OTHER)
    assert classification.effect is None
    larger = classified(look("-15", ours=(sold("15"),), others=(sold("10", "closes"),)), TEN)
    assert larger.outcome is Outcome.LARGER
    assert classified(look("-7", ours=(sold("17"),)), TEN).outcome is Outcome.SMALLER

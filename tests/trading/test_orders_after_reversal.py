"""A symbol's orders and stops as they will stand after a reversal: what each will do, and which are against it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trading.test_reversal import legs, plan
from tradetui.trading.fill_terms import TradeAction, TradeEffect
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.orders_after_reversal import (
    NOT_KNOWN,
    Difference,
    Impact,
    ImpactKind,
    OrderImpact,
    RestingKind,
    RestingOrder,
    compared_with_preview,
    held_after_fill,
    held_at_turn,
    impact_on,
    resting_after,
)
from tradetui.trading.reversal import ReversalPlan
from tradetui.trading.trigger_orders import stops_of_leg
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.models.futures import PendingOrder, TriggerOrder

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT
LONG_TO_SHORT = plan(legs("10"), "buy")
SHORT_TO_LONG = plan(legs("0.1214", "0.2934"), "sell")
"""The reversal of the worked account: the LONG grows from 0.1214 to 0.4148."""


def order(
    side: str,
    trade_side: str = "",
    *,
    reduce_only: str = "NO",
    size: str = "2",
    done: str = "0",
    price: str = "100.5",
    order_id: str = "7",
) -> PendingOrder:
    row = {"symbol": "BTCUSDT", "size": size, "orderId": order_id, "side": side, "price": price}
    row["reduceOnly"] = reduce_only
    return PendingOrder.from_row({**row, "baseVolume": done, **({"tradeSide": trade_side} if trade_side else {})})


def stop(
    plan_type: str, side: str, trade_side: str = "", *, size: str = "0", price: str = "90", order_id: str = "8"
) -> TriggerOrder:
    row = {"symbol": "BTCUSDT", "orderId": order_id, "planType": plan_type, "side": side, "triggerPrice": price}
    return TriggerOrder.from_row({**row, "size": size, **({"tradeSide": trade_side} if trade_side else {})})


def only(plan: ReversalPlan, resting: PendingOrder | TriggerOrder) -> OrderImpact:
    orders = (resting,) if isinstance(resting, PendingOrder) else ()
    stops = (resting,) if isinstance(resting, TriggerOrder) else ()
    (impact,) = resting_after(plan, orders, stops)
    return impact


@pytest.mark.parametrize(
    ("plan", "side", "trade_side", "effect", "wrong"),
    [
        (LONG_TO_SHORT, "buy", "open", "OPENS A LONG against the new SHORT", True),
        (LONG_TO_SHORT, "Buy", "Open", "OPENS A LONG against the new SHORT", True),
        (LONG_TO_SHORT, "sell", "open", "adds to the new SHORT", False),
        (LONG_TO_SHORT, "buy", "close", "cancelled with the LONG (assumed)", False),
        (SHORT_TO_LONG, "sell", "open", "OPENS A SHORT against the LONG", True),
        (SHORT_TO_LONG, "buy", "open", "adds to the LONG", False),
        (SHORT_TO_LONG, "buy", "close", "stays, closes the LONG, 0.4148 of its 2", False),
        (SHORT_TO_LONG, "sell", "close", "cancelled with the SHORT (assumed)", False),
        (plan(legs("10"), "buy", "3"), "buy", "open", "ADDS TO THE LONG", True),
        (plan(legs("10"), "buy", "3"), "buy", "close", "stays, reduces the LONG", False),
    ],
)
def test_hedge_an_order_stays_with_its_leg_and_an_open_of_the_leg_given_up_is_wrong(
    plan: ReversalPlan, side: str, trade_side: str, effect: str, wrong: bool
) -> None:
    impact = only(plan, order(side, trade_side))
    assert (impact.effect, impact.wrong_way) == (effect, wrong)
    assert impact.assumed == ("assumed" in effect)


@pytest.mark.parametrize(
    ("net", "side", "reduce_only", "effect", "wrong"),
    [
        ("10", "sell", "NO", "ADDS TO THE NEW SHORT", True),
        ("10", "buy", "NO", "reduces the new SHORT", False),
        ("10", "sell", "YES", "cancelled with the LONG (assumed)", False),
        ("10", "buy", "YES", "reduces the new SHORT", False),
        ("-10", "buy", "NO", "ADDS TO THE NEW LONG", True),
        ("-10", "sell", "NO", "reduces the new LONG", False),
        ("-2", "sell", "NO", "closes the new LONG", False),
        ("-1", "sell", "NO", "closes the new LONG and opens a SHORT", False),
    ],
)
def test_one_way_orders_against_the_old_position_add_to_the_new(
    net: str, side: str, reduce_only: str, effect: str, wrong: bool
) -> None:
    impact = only(plan(Net(Decimal(net))), order(side, reduce_only=reduce_only))
    assert (impact.effect, impact.wrong_way) == (effect, wrong)


def test_a_protective_stop_of_the_old_position_is_pointed_out_in_one_way_mode() -> None:
    impact = only(plan(Net(Decimal(10))), stop("pos_loss", "sell"))
    assert impact.effect == "cancelled with the LONG (assumed), else ADDS TO THE NEW SHORT"
    assert impact.wrong_way and impact.assumed


@pytest.mark.parametrize(
    ("plan", "waiting", "action", "effect"),
    [
        (SHORT_TO_LONG, stop("pos_loss", "buy", "close"), "whole LONG", "stays, for 0.4148 instead of 0.1214"),
        (SHORT_TO_LONG, stop("pos_profit", "buy", "close"), "whole LONG", "stays, for 0.4148 instead of 0.1214"),
        (SHORT_TO_LONG, stop("pos_loss", "sell", "close"), "whole SHORT", "cancelled with the SHORT (assumed)"),
        (
            SHORT_TO_LONG,
            stop("loss_plan", "buy", "close", size="0.1"),
            "0.1 of the LONG",
            "stays, reduces the LONG",
        ),
        (SHORT_TO_LONG, stop("normal_plan", "sell", "open", size="1"), "sell 1", "OPENS A SHORT against the LONG"),
        (
            plan(legs("0", "10"), "sell", "4"),
            stop("pos_loss", "sell", "close"),
            "whole SHORT",
            "stays, for 6 instead of 10",
        ),
    ],
)
def test_a_stop_says_what_it_closes_then(plan: ReversalPlan, waiting: TriggerOrder, action: str, effect: str) -> None:
    impact = only(plan, waiting)
    assert (impact.action, impact.effect) == (action, effect)


@pytest.mark.parametrize(
    ("held", "side", "effect"),
    [
        ("4", "sell", "reduces the LONG"),
        ("4", "buy", "adds to the LONG"),
        ("-10", "sell", "ADDS TO THE NEW SHORT"),
        ("0", "sell", "opens a SHORT"),
    ],
)
def test_once_it_is_known_what_is_held_counts(held: str, side: str, effect: str) -> None:
    sized = plan(Net(Decimal(10)), size="3")
    (impact,) = resting_after(sized, [order(side)], (), Net(Decimal(held)))
    assert impact.effect == effect


def test_before_that_every_possible_result_is_told() -> None:
    impact = only(plan(Net(Decimal(10)), size="3"), order("sell"))
    assert impact.wrong_way
    assert impact.effect == "reduces the LONG or ADDS TO THE NEW SHORT"


@pytest.mark.parametrize("resting", [order("buy", "opne"), order("bye", "open"), stop("pos_loss", "sell", "clsoe")])
def test_an_order_with_a_word_that_is_not_known_is_marked(resting: PendingOrder | TriggerOrder) -> None:
    impact = only(LONG_TO_SHORT, resting)
    assert (impact.effect, impact.wrong_way) == (NOT_KNOWN, True)


def test_the_summary_names_direction_size_and_price_with_every_digit() -> None:
    assert only(LONG_TO_SHORT, order("buy", "open")).summary == "buy 2 at 100.5"
    assert only(LONG_TO_SHORT, order("buy", "close")).summary == "sell 2 at 100.5"
    assert only(LONG_TO_SHORT, stop("pos_loss", "buy", "close")).summary == "stop-loss whole LONG at 90"


def test_what_an_order_has_left_to_fill_counts_and_its_filled_part_is_told() -> None:
    impact = only(plan(legs("0", "1.5"), "sell"), order("buy", "close", size="2", done="0.5"))
    assert impact.done == Decimal("0.25")
    assert impact.effect == "closes the new LONG"


def test_the_nearest_stop_loss_of_a_leg_is_the_first_to_fire() -> None:
    waiting = [
        stop("pos_loss", "buy", "close", price="80", order_id="1"),
        stop("loss_plan", "buy", "close", price="85", size="0.1", order_id="2"),
        stop("pos_profit", "buy", "close", price="120", order_id="3"),
        stop("pos_loss", "sell", "close", price="110", order_id="4"),
        stop("loss_plan", "sell", "close", price="105", size="1", order_id="5"),
    ]
    sides = (PositionSide.LONG, PositionSide.SHORT)
    long, short = (stops_of_leg(waiting, leg, PositionMode.HEDGE).nearest for leg in sides)
    assert long is not None and (long.price, long.size) == (Decimal("85"), Decimal("0.1"))
    assert short is not None and (short.price, short.size) == (Decimal("105"), Decimal("1"))
    assert stops_of_leg(waiting[2:3], PositionSide.LONG, PositionMode.HEDGE).nearest is None


def test_a_trailing_stop_that_comes_under_two_kinds_closes_its_size_once() -> None:
    waiting = [stop("moving_plan", "buy", "close", size="0.1"), stop("moving_plan", "buy", "close", size="0.1")]
    stops = stops_of_leg(waiting, PositionSide.LONG, PositionMode.HEDGE)
    assert stops.stopped_size(Decimal(1)) == Decimal("0.1")


def test_a_stop_loss_counts_beside_other_trigger_orders_of_its_id() -> None:
    waiting = [
        stop("pos_loss", "buy", "close", price="95"),
        stop("loss_plan", "buy", "close", price="80", size="0.1"),
        stop("pos_profit", "buy", "close", price="120"),
    ]
    stops = stops_of_leg(waiting, PositionSide.LONG, PositionMode.HEDGE)
    assert stops.nearest is not None and stops.nearest.price == Decimal("95")
    assert stops.stopped_size(Decimal(1)) == Decimal("1.1")


def test_kinds_are_in_the_words_of_the_trade() -> None:
    kinds = {name: only(LONG_TO_SHORT, stop(name, "buy", "close")).kind for name in ("moving_plan", "track_plan")}
    assert kinds == {"moving_plan": RestingKind.TRAILING_STOP, "track_plan": RestingKind.TRIGGER}


# Afterwards: what became of each


def differences(
    previewed: list[PendingOrder | TriggerOrder],
    afterwards: list[PendingOrder | TriggerOrder],
    *,
    held: str = "-10",
    unread: bool = False,
) -> dict[str, tuple[str | None, str]]:
    """By id, of a one-way LONG of 10 to be reversed, with the net held then: the difference, and the effect."""
    turned, then = plan(Net(Decimal(10))), Net(Decimal(held))

    def impacts(rows: list[PendingOrder | TriggerOrder], known: Net | None) -> tuple[OrderImpact, ...]:
        orders = [row for row in rows if isinstance(row, PendingOrder)]
        return resting_after(turned, orders, [row for row in rows if isinstance(row, TriggerOrder)], known)

    compared = compared_with_preview(
        impacts(previewed, None),
        impacts(afterwards, then),
        leg_is_gone=not then.size_of(PositionSide.LONG),
        may_be_unread=lambda _: unread,
    )
    return {impact.order_id: (impact.difference, impact.effect) for impact in compared}


PROTECTS, ENTERS, REDUCES = stop("pos_loss", "sell"), order("buy", order_id="2"), order("sell", reduce_only="YES")


def test_what_was_to_go_with_the_position_and_still_waits_is_different() -> None:
    assert differences([PROTECTS, REDUCES], [PROTECTS, REDUCES]) == {
        "7": (Difference.STILL_WAITING, "has no LONG left to close"),
        "8": (Difference.STILL_WAITING, "ADDS TO THE NEW SHORT"),
    }
    assert differences([PROTECTS, REDUCES], []) == {}
    still_held = differences([PROTECTS], [PROTECTS], held="4")
    assert still_held == {"8": (None, "closes the LONG")}, "it was to go with a position that is not gone"


def test_what_was_to_stay_and_is_gone_is_different_and_so_is_what_nobody_previewed() -> None:
    assert differences([ENTERS], [ENTERS]) == {"2": (None, "reduces the new SHORT")}
    assert differences([ENTERS], []) == {"2": (Difference.GONE, "")}
    assert differences([], [ENTERS]) == {"2": (Difference.NEW, "reduces the new SHORT")}
    assert differences([ENTERS], [], unread=True) == {}
    assert differences([], [ENTERS], unread=True) == {"2": (None, "reduces the new SHORT")}


def test_what_turned_against_the_trader_since_its_preview_is_different() -> None:
    assert differences([ENTERS], [order("bye", order_id="2")]) == {"2": (Difference.WRONG_WAY, NOT_KNOWN)}


# Together: those nearer to the market fill first


def resting(side: str, size: str, price: str, trade_side: str = "", *, reduce_only: str = "NO") -> PendingOrder:
    return order(side, trade_side, size=size, price=price, order_id=price, reduce_only=reduce_only)


@pytest.mark.parametrize("reduce_only", ["YES", "NO"])
def test_one_way_orders_take_what_is_held_in_the_order_in_which_they_are_reached(reduce_only: str) -> None:
    orders = [resting("buy", "6", price, reduce_only=reduce_only) for price in ("80", "95", "90")]
    impacts = resting_after(plan(Net(Decimal(10))), orders, (), market=Decimal(100))
    effects = {impact.order_id: impact.effect for impact in impacts}
    assert effects["95"] == "reduces the new SHORT"
    if reduce_only == "YES":
        assert effects["90"] == "closes the new SHORT, 4 of its 6, once nearer ones fill"
        assert effects["80"] == "has no SHORT left to close, once nearer ones fill"
    else:
        assert effects["90"] == "closes the new SHORT and opens a LONG, once nearer ones fill"
        assert effects["80"] == "adds to the LONG, once nearer ones fill"


def test_orders_on_the_other_way_and_stops_that_end_with_the_position_take_nothing() -> None:
    orders = [resting("buy", "10", "95"), resting("buy", "10", "105")]
    ending = [stop("pos_loss", "sell", price="98")]
    below, above, ended = resting_after(plan(Net(Decimal(10))), orders, ending, market=Decimal(100))
    assert below.effect == above.effect == "closes the new SHORT"
    assert ended.effect == "cancelled with the LONG (assumed), else ADDS TO THE NEW SHORT"


def test_each_possible_result_is_gone_through_by_itself() -> None:
    orders = [resting("buy", "6", price, reduce_only="YES") for price in ("95", "90")]
    sized = resting_after(plan(Net(Decimal(10)), size="3"), orders, (), market=Decimal(100))
    assert sized[1].effect == ("has no SHORT left to close or closes the new SHORT, 4 of its 6, once nearer ones fill")


def test_hedge_closes_share_their_leg_and_an_open_is_told_what_it_adds_to() -> None:
    orders = [resting("buy", "0.3", price, "close") for price in ("110", "105")]
    opening = resting("buy", "1", "90", "open")
    protects = stop("pos_loss", "buy", "close", price="95")
    far, near, opens, _ = resting_after(SHORT_TO_LONG, [*orders, opening], [protects], market=Decimal(100))
    assert near.effect == "stays, reduces the LONG"
    assert far.effect == "stays, closes the LONG, 0.1148 of its 0.3, once nearer ones fill"
    assert opens.effect == "adds to the LONG", "though a stop would fire before it"


def test_once_it_is_known_what_is_held_they_share_that() -> None:
    orders = [resting("buy", "3", price, reduce_only="YES") for price in ("95", "90")]
    known = resting_after(plan(Net(Decimal(10))), orders, (), Net(Decimal(-4)), market=Decimal(100))
    assert [impact.effect for impact in known] == [
        "reduces the new SHORT",
        "closes the new SHORT, 1 of its 3, once nearer ones fill",
    ]


HOLDINGS = st.one_of(
    st.builds(Net, st.decimals("-20", "20", places=1)),
    st.builds(Legs, st.decimals("0", "20", places=1), st.decimals("0", "20", places=1)),
)


@given(
    held=HOLDINGS,
    sizes=st.lists(st.decimals("0.1", "9", places=1), min_size=1, max_size=6),
    leg=st.sampled_from([PositionSide.LONG, PositionSide.SHORT]),
)
def test_closes_never_take_more_than_is_held(held: Holdings, sizes: list[Decimal], leg: PositionSide) -> None:
    closes = TradeEffect(TradeAction.CLOSE, leg)
    path = [
        RestingOrder(str(index), RestingKind.ORDER, "", Decimal(90 - index), closes, size)
        for index, size in enumerate(sizes)
    ]
    turns = held_at_turn(path, Decimal(100), held)
    last = held_after_fill(closes, sizes[-1], turns[str(len(sizes) - 1)])
    if isinstance(held, Net):
        sign = 1 if leg is PositionSide.LONG else -1
        before, after = held.net * sign, last.net * sign if isinstance(last, Net) else None
        assert after == (max(before - sum(sizes), Decimal(0)) if before > 0 else before)
    elif isinstance(last, Legs):
        mine, others = ((held.long, last.long), (held.short, last.short))[:: 1 if leg is PositionSide.LONG else -1]
        assert mine[1] == max(mine[0] - sum(sizes), Decimal(0))
        assert others[0] == others[1]


BUY, SELL = TradeEffect(TradeAction.BUY), TradeEffect(TradeAction.SELL)
CLOSE_LONG, OPEN_LONG = TradeEffect(TradeAction.CLOSE, LONG), TradeEffect(TradeAction.OPEN, LONG)


@pytest.mark.parametrize(
    ("effect", "size", "held", "impact"),
    [
        (OPEN_LONG, "1", Legs(long=Decimal(2)), Impact(ImpactKind.ADDS, LONG)),
        (OPEN_LONG, "1", Legs(short=Decimal(2)), Impact(ImpactKind.OPENS_AGAINST, LONG)),
        (OPEN_LONG, "1", Legs(), Impact(ImpactKind.OPENS, LONG)),
        (CLOSE_LONG, "1", Legs(long=Decimal(2)), Impact(ImpactKind.REDUCES, LONG)),
        (CLOSE_LONG, "2", Legs(long=Decimal(2)), Impact(ImpactKind.CLOSES, LONG)),
        (CLOSE_LONG, None, Legs(long=Decimal(2)), Impact(ImpactKind.CLOSES, LONG)),
        (CLOSE_LONG, "1", Legs(short=Decimal(2)), Impact(ImpactKind.NOTHING, LONG)),
        (BUY, "1", Net(Decimal(2)), Impact(ImpactKind.ADDS, LONG)),
        (BUY, "1", Net(), Impact(ImpactKind.OPENS, LONG)),
        (BUY, "1", Net(Decimal(-2)), Impact(ImpactKind.REDUCES, SHORT)),
        (BUY, "2", Net(Decimal(-2)), Impact(ImpactKind.CLOSES, SHORT)),
        (BUY, "3", Net(Decimal(-2)), Impact(ImpactKind.TURNS, LONG)),
        (SELL, "1", Net(Decimal(-2)), Impact(ImpactKind.ADDS, SHORT)),
        (CLOSE_LONG, "3", Net(Decimal(2)), Impact(ImpactKind.CLOSES, LONG)),
        (CLOSE_LONG, "3", Net(Decimal(-2)), Impact(ImpactKind.NOTHING, LONG)),
        (BUY, "1", Legs(long=Decimal(2)), None),
        (OPEN_LONG, "1", Net(Decimal(2)), None),
    ],
)
def test_what_an_order_does_to_what_is_held(
    effect: TradeEffect, size: str | None, held: Holdings, impact: Impact | None
) -> None:
    assert impact_on(effect, None if size is None else Decimal(size), held) == impact


@pytest.mark.parametrize(
    ("impact", "new", "phrase"),
    [
        (Impact(ImpactKind.ADDS, SHORT), SHORT, "adds to the new SHORT"),
        (Impact(ImpactKind.ADDS, LONG), SHORT, "adds to the LONG"),
        (Impact(ImpactKind.OPENS_AGAINST, SHORT), LONG, "opens a SHORT against the new LONG"),
        (Impact(ImpactKind.OPENS, SHORT), None, "opens a SHORT"),
        (Impact(ImpactKind.REDUCES, LONG), LONG, "reduces the new LONG"),
        (Impact(ImpactKind.CLOSES, LONG), None, "closes the LONG"),
        (Impact(ImpactKind.TURNS, LONG), SHORT, "closes the new SHORT and opens a LONG"),
        (Impact(ImpactKind.NOTHING, LONG), SHORT, "has no LONG left to close"),
    ],
)
def test_an_impact_reads_as_a_sentence_about_the_leg(impact: Impact, new: PositionSide | None, phrase: str) -> None:
    assert impact.phrase(new) == phrase

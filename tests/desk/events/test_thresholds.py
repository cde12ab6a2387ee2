"""When a figure that crosses its level is news: margin ratio, positions and prices against levels."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.desk.fixtures.scripted_exchange import COIN, USDT
from tradetui.desk.events.rules import Condition, Direction, RuleKind
from tradetui.desk.events.thresholds import REARM_S, ThresholdDetector, ThresholdState, crossed, sentence_at_level
from tradetui.trading.positions import LONG, Position, Reported
from tradetui.wire.enums import PositionMode

MARGIN = Condition(RuleKind.MARGIN_RATIO_ABOVE, level=Decimal(80))
NEAR = Condition(RuleKind.LIQUIDATION_NEARER, level=Decimal(5))
RESULT = Condition(RuleKind.POSITION_RESULT_BELOW, "BTCUSDT", Decimal(-500))
HELD = Position(
    product_type=USDT,
    symbol="BTCUSDT",
    leg=LONG,
    size=Decimal(1),
    mode=PositionMode.HEDGE,
    source=Reported(),
    mark=Decimal(84197),
    liquidation=Decimal(80150),
    unrealised=Decimal("-512.2"),
)


def prices(watch: ThresholdDetector, *figures: str, seconds_apart: float = 1.0) -> list[str]:
    """The sentences of a run of prices."""
    runs = [watch.prices({"BTCUSDT": Decimal(f)}.get, n * seconds_apart) for n, f in enumerate(figures)]
    return [event.sentence for events in runs for event in events]


def test_the_margin_ratio_is_a_part_of_one() -> None:
    watch = ThresholdDetector([MARGIN])
    assert watch.margin_ratio(None, 0) == []
    assert watch.margin_ratio(Decimal("0.7999"), 0) == []
    (event,) = watch.margin_ratio(Decimal("0.812"), 1)
    assert event.sentence == "Margin ratio 81.20 %, above 80 %"
    assert event.condition == MARGIN and event.recurs
    assert watch.margin_ratio(Decimal("0.9"), 2) == []


def test_todays_result_is_compared_in_usdt_or_in_per_cent() -> None:
    amount = Condition(RuleKind.TODAY_RESULT_BELOW, level=Decimal(-250))
    percent = Condition(RuleKind.TODAY_RESULT_BELOW, level=Decimal(-2), is_percent=True)
    watch = ThresholdDetector([amount, percent])
    assert watch.today(Decimal(-249), Decimal("-0.0199"), 0) == []
    assert watch.today(Decimal(-249), None, 1) == [], "without a percentage it is not known whether it is below"
    (event,) = watch.today(Decimal("-262.4"), Decimal("-0.0199"), 2)
    assert event.sentence == "Today's result -262.40 USDT (-1.99 %), below -250"
    assert event.figures == {"level": "-250", "usdt": "-262.4", "percent": "-1.99"}
    (event,) = watch.today(Decimal("-270"), Decimal("-0.021"), 3)
    assert event.sentence == "Today's result -270.00 USDT (-2.10 %), below -2 %"
    assert event.condition == percent
    assert watch.today(Decimal(-300), Decimal("-0.03"), 4) == []


def test_other_levels_are_looked_at_from_now_on_and_those_that_stay_fire_no_second_time() -> None:
    watch = ThresholdDetector([MARGIN, NEAR])
    assert len(watch.margin_ratio(Decimal("0.9"), 0)) == 1
    watch.use_conditions([MARGIN._replace(level=Decimal(70)), MARGIN])
    (event,) = watch.margin_ratio(Decimal("0.9"), 1)
    assert event.condition == MARGIN._replace(level=Decimal(70))
    assert watch.positions([HELD], 2) == []


def test_each_position_has_a_level_of_its_own() -> None:
    watch = ThresholdDetector([NEAR, RESULT])
    other = replace(HELD, symbol="ETHUSDT", liquidation=Decimal(-1))
    sentences = [event.sentence for event in watch.positions([HELD, other], 0)]
    assert sentences == [
        "BTCUSDT LONG is 4.81 % from liquidation, nearer than 5 %: mark 84,197, liquidation at 80,150",
        "BTCUSDT LONG: unrealised -512.20 USDT, below -500",
    ]
    assert watch.positions([HELD, other], 1) == []


def test_the_result_of_a_coin_is_in_usdt_at_the_mark() -> None:
    coin = replace(HELD, product_type=COIN, symbol="BTCUSD", unrealised=Decimal("-0.0062"), mark=Decimal(84_000))
    (event,) = ThresholdDetector([RESULT._replace(symbol="")]).positions([coin], 0)
    assert event.sentence == "BTCUSD LONG: unrealised ~-520.80 USDT, below -500"
    assert ThresholdDetector([RESULT._replace(symbol="")]).positions([replace(coin, mark=None)], 0) == []


def test_a_position_that_was_closed_for_a_minute_begins_again() -> None:
    watch = ThresholdDetector([RESULT])
    assert len(watch.positions([HELD], 0)) == 1
    assert watch.positions([], 1) == []
    assert watch.positions([HELD], 2) == [], "one poll without it is no end"
    watch.positions([], 63)
    assert len(watch.positions([HELD], 64)) == 1


def test_a_price_crosses_either_way_from_the_side_it_begins_on() -> None:
    either = Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(90_000))
    assert prices(ThresholdDetector([either]), "89000", "90012", "89999", "90001") == [
        "BTCUSDT is at 90,012, crossed above 90,000"
    ]
    assert prices(ThresholdDetector([either]), "91000", "90001", "89990") == [
        "BTCUSDT is at 89,990, crossed below 90,000"
    ]
    down = either._replace(direction=Direction.DOWN)
    assert prices(ThresholdDetector([down]), "89000") == ["BTCUSDT is at 89,000, crossed below 90,000"]
    assert prices(ThresholdDetector([down]), "91000", "95000") == []


def test_a_price_that_was_far_back_for_a_minute_crosses_again() -> None:
    either = Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(100))
    run = ["99", "101", "90", "90", "90", "101"]
    assert len(prices(ThresholdDetector([either]), *run, seconds_apart=31)) == 2


def test_only_the_symbols_of_price_rules_are_watched() -> None:
    watch = ThresholdDetector([RESULT, Condition(RuleKind.PRICE_CROSSES, "ETHUSDT", Decimal(1))])
    assert watch.prices({"BTCUSDT": Decimal(5)}.get, 0) == []


SAFE = replace(HELD, mark=Decimal("84000.5"), liquidation=Decimal(70_000))


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        (Condition(RuleKind.MARGIN_RATIO_ABOVE, level=Decimal(80)), "Margin ratio 80.00 %, above 80 %"),
        (
            Condition(RuleKind.LIQUIDATION_NEARER, "BTCUSDT", Decimal(5)),
            "BTCUSDT LONG is 5.00 % from liquidation, nearer than 5 %: mark 73,684.2, liquidation at 70,000",
        ),
        (
            Condition(RuleKind.POSITION_RESULT_BELOW, "", Decimal(-500)),
            "BTCUSDT LONG: unrealised -500.00 USDT, below -500",
        ),
        (
            Condition(RuleKind.TODAY_RESULT_BELOW, level=Decimal(-2), is_percent=True),
            "Today's result -200.00 USDT (-2.00 %), below -2 %",
        ),
        (
            Condition(RuleKind.TODAY_RESULT_BELOW, level=Decimal(-500)),
            "Today's result -500.00 USDT (-5.00 %), below -500",
        ),
        (Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(90_000)), "BTCUSDT is at 90,000, crossed above 90,000"),
        (Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(80_000)), "BTCUSDT is at 80,000, crossed below 80,000"),
        (Condition(RuleKind.POSITION_RESULT_BELOW, "ETHUSDT", Decimal(-500)), ""),
        (Condition(RuleKind.LIQUIDATION_NEARER, "BTCUSDT", Decimal(100)), ""),
    ],
)
def test_what_a_rule_will_say_is_known_before_its_level_is_reached(condition: Condition, sentence: str) -> None:
    assert sentence_at_level(condition, [SAFE], SAFE.mark, Decimal(10_000)) == sentence


def test_a_position_that_falls_towards_its_liquidation_says_what_was_foretold() -> None:
    condition = Condition(RuleKind.LIQUIDATION_NEARER, "", Decimal(5))
    for liquidation, mark in ((70_000, "73684.2"), (90_000, "85714.3")):
        held = replace(SAFE, liquidation=Decimal(liquidation))
        (event,) = ThresholdDetector([condition]).positions([replace(held, mark=Decimal(mark))], 0.0)
        assert sentence_at_level(condition, [held], None, None) == event.sentence


FIGURES = st.decimals(-1_000, 1_000, places=2)
STEPS = st.lists(st.tuples(FIGURES, st.floats(0, 90)), max_size=60)


def fired(figures: list[tuple[float, str]], level: str, *, above: bool) -> list[float]:
    """The times at which a run of (time, figure) fires."""
    state, times = ThresholdState(), []
    for now_s, figure in figures:
        if state.fires(Decimal(figure), Decimal(level), above=above, now_s=now_s):
            times.append(now_s)
    return times


def test_it_fires_on_crossing_and_not_while_it_stays() -> None:
    assert fired([(0, "70"), (1, "81"), (2, "90"), (3, "81"), (4, "80")], "80", above=True) == [1]


def test_it_fires_at_once_where_the_first_figure_is_beyond() -> None:
    assert fired([(0, "81"), (1, "82")], "80", above=True) == [0]


@pytest.mark.parametrize(("back", "again"), [("72", True), ("72.01", False)])
def test_it_is_armed_again_a_tenth_back_for_a_minute(back: str, again: bool) -> None:
    run = [(0.0, "81"), (10.0, back), (70.0, back), (71.0, "81")]
    assert fired(run, "80", above=True) == ([0, 71] if again else [0])


def test_a_minute_back_is_one_without_a_break() -> None:
    run = [(0.0, "81"), (10.0, "70"), (60.0, "79"), (61.0, "70"), (120.0, "70"), (120.5, "81"), (122.0, "70")]
    assert fired(run, "80", above=True) == [0]
    assert fired([*run, (182.0, "70"), (183.0, "81")], "80", above=True) == [0, 183]


def test_below_a_loss_is_back_a_tenth_nearer_to_nothing() -> None:
    run = [(0.0, "-501"), (1.0, "-449"), (61.0, "-449"), (62.0, "-500")]
    assert fired(run, "-500", above=False) == [0, 62]
    assert fired([(at, "-451" if figure == "-449" else figure) for at, figure in run], "-500", above=False) == [0]


def test_a_level_of_zero_is_back_on_its_other_side() -> None:
    assert fired([(0, "-1"), (1, "1"), (61, "1"), (62, "0")], "0", above=False) == [0, 62]


@given(steps=STEPS, level=FIGURES, above=st.booleans())
def test_any_run_fires_only_beyond_its_level_and_a_minute_apart(
    steps: list[tuple[Decimal, float]], level: Decimal, above: bool
) -> None:
    state, now_s, last_s = ThresholdState(), 0.0, None
    back = level - abs(level) / 10 if above else level + abs(level) / 10
    first = True
    was_back_since: float | None = None
    for figure, pause_s in steps:
        now_s += pause_s
        fires = state.fires(figure, level, above=above, now_s=now_s)
        beyond = crossed(figure, level, above=above)
        assert not fires or beyond
        assert not first or fires == beyond, "the first figure of all fires where it is beyond"
        if fires:
            if last_s is not None:
                assert now_s - last_s >= REARM_S
                assert was_back_since is not None
            last_s, was_back_since = now_s, None
        elif not beyond and (figure <= back if above else figure >= back):
            was_back_since = now_s if was_back_since is None else was_back_since
        first = False


@given(steps=STEPS, level=FIGURES)
def test_below_is_above_turned_round(steps: list[tuple[Decimal, float]], level: Decimal) -> None:
    above, below, now_s = ThresholdState(), ThresholdState(), 0.0
    for figure, pause_s in steps:
        now_s += pause_s
        fires_above = above.fires(figure, level, above=True, now_s=now_s)
        fires_below = below.fires(-figure, -level, above=False, now_s=now_s)
        assert (above, fires_above) == (below, fires_below)

"""Each comparison with a word of the interface where reversals are planned and judged is tested with another word."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from tests.trading.position_fills import fill
from tradetui.trading.holdings import Legs
from tradetui.trading.position_book import holdings_after
from tradetui.trading.results.booking import fill_meaning
from tradetui.wire import enums

ROOT = Path(__file__).parents[2]
ROOMS = ("trading", "desk/reversal", "desk/account")
ENUMS = {name for name, kind in vars(enums).items() if inspect.isclass(kind) and issubclass(kind, StrEnum)}

POSITION = "tests/whole/reversal/test_outcome_observed.py::test_a_position_with_an_unknown_word_is_not_reversed"
FILL = "tests/whole/reversal/test_outcome_observed.py::test_a_fill_with_an_unknown_word_sums_up_to_nothing_to_reverse"
STATE = "tests/whole/reversal/test_outcome_observed.py::test_an_unknown_state_of_the_order_is_no_end_of_it"
ORDER = "tests/trading/test_trade_effect.py::test_a_word_nobody_knows_gives_no_effect"
IMPACT = "tests/trading/test_resting_orders.py::test_an_order_with_a_word_that_is_not_known_is_marked"
STOP = "tests/desk/tables/test_positions_table.py::test_a_trigger_of_a_kind_nobody_knows_is_no_stop"
ENDED = (
    "tests/desk/reversal/test_classification.py"
    "::test_an_opening_order_without_a_fill_in_a_state_nobody_knows_leaves_what_its_reversal_closed"
)
HERE = "tests/whole/test_unknown_words.py"

EXERCISED = {
    "trading/estimates/reversal_estimates.py:_result": ORDER,
    "trading/order_impact.py:nearest_stop_loss": ORDER,
    "trading/order_impact.py:_size_of": IMPACT,
    "trading/position_book.py:PositionBook._apply": FILL,
    "trading/position_book.py:leg_of": f"{HERE}::test_a_fill_nobody_can_read_leaves_unknown_what_is_held",
    "trading/position_figures.py:nearest_stop": STOP,
    "trading/positions.py:Position.margin_unclear": "tests/trading/test_reversal_estimates.py"
    "::test_a_margin_mode_that_nobody_knows_says_nothing_of_what_stands_behind_the_position",
    "trading/positions.py:holdings_of": POSITION,
    "trading/positions.py:doubt_of_held": POSITION,
    "trading/results/booking.py:fill_meaning": f"{HERE}::test_a_fill_with_another_word_is_not_understood",
    "trading/results/trips.py:RunningLeg.flat": f"{HERE}::test_a_fill_with_another_word_is_not_understood",
    "trading/results/trips.py:RunningLeg.add": f"{HERE}::test_a_fill_with_another_word_is_not_understood",
    "trading/results/trips.py:RunningLeg._closed_size": f"{HERE}::test_a_fill_with_another_word_is_not_understood",
    "trading/reversal.py:ReversalPlan.reverses_long": POSITION,
    "trading/reversal.py:ReversalPlan.side_meaning": POSITION,
    "trading/reversal.py:plan_reversal": POSITION,
    "trading/reversal.py:_hedge": POSITION,
    "trading/reversal.py:_one_way": POSITION,
    "trading/trade_effect.py:_effect": ORDER,
    "trading/trade_effect.py:_one_way": ORDER,
    "trading/trade_effect.py:_hedge": ORDER,
    "desk/reversal/execution.py:Execution.target_of": POSITION,
    "desk/reversal/market_state.py:MarketState._preview": POSITION,
    "desk/reversal/market_state.py:MarketState._params": POSITION,
    "desk/reversal/market_state.py:_names_its_leg": FILL,
    "desk/reversal/sending.py:_name_the_setting": POSITION,
    "desk/reversal/tracking/observation.py:Observation.order_volume": STATE,
    "desk/reversal/tracking/own_legs.py:": ENDED,
    "desk/reversal/tracking/own_legs.py:find_other_leg": POSITION,
    "desk/reversal/tracking/own_legs.py:_may_close": POSITION,
    "desk/reversal/tracking/own_legs.py:_opening": POSITION,
    "desk/reversal/tracking/own_legs.py:contradiction": FILL,
    "desk/reversal/tracking/own_legs.py:_moves_as_ours": FILL,
}
"""By file and function, the test in which a word that nobody knows is met there, or keeps what rests on it from going
on: the mode and the side of a plan are known words, since without them there is no plan."""


def comparisons(node: ast.AST, inside: tuple[str, ...] = ()) -> Iterator[str]:
    """The functions and methods that compare something with a member of an enum of the interface."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inside = (*inside, node.name)
    if isinstance(node, ast.Compare | ast.Match) and any(
        isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in ENUMS
        for part in ast.walk(node)
    ):
        yield ".".join(inside)
    for child in ast.iter_child_nodes(node):
        yield from comparisons(child, inside)


def test_each_comparison_is_met_by_a_word_that_nobody_knows() -> None:
    compared = {
        f"{file.relative_to(ROOT / 'tradetui').as_posix()}:{name}"
        for room in ROOMS
        for file in (ROOT / "tradetui" / room).rglob("*.py")
        for name in comparisons(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert compared == EXERCISED.keys()


@pytest.mark.parametrize("test", sorted(set(EXERCISED.values())))
def test_each_named_test_is_there(test: str) -> None:
    path, _, name = test.partition("::")
    nodes = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    assert any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name for node in nodes)


@pytest.mark.parametrize(("side", "trade_side"), [("upwards", "open"), ("buy", "sideways")])
def test_a_fill_nobody_can_read_leaves_unknown_what_is_held(side: str, trade_side: str) -> None:
    assert holdings_after(Legs(), [fill(side, trade_side, "1")]) is None


@pytest.mark.parametrize(
    ("side", "trade_side", "mode"),
    [("upwards", "open", "hedge_mode"), ("buy", "sideways", "hedge_mode"), ("buy", "open", "hybrid_mode")],
)
def test_a_fill_with_another_word_is_not_understood(side: str, trade_side: str, mode: str) -> None:
    meaning = fill_meaning(side, trade_side, mode)
    assert (meaning.known, meaning.opens) == (False, None)

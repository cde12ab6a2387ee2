"""Each comparison with a word of the interface where reversals are planned and judged is tested with another word."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from tests.trading.position_fills import USDT, fill
from tests.wire.model_rows import ROWS, one
from tradetui.desk.feeds.fills.fill_history import halves
from tradetui.desk.feeds.positions import held_sizes
from tradetui.desk.reversal.market_state import _may_fill
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.fill_terms import effect_of_trigger, terms_of
from tradetui.trading.holdings import Legs
from tradetui.trading.positions_from_fills import holdings_after
from tradetui.trading.results.booking import BillKind, bill_kind, booked_fill, fee_amount
from tradetui.trading.results.trips import RunningLeg
from tradetui.trading.trigger_orders import trigger_state
from tradetui.wire import enums
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.models.api_key import may_withdraw
from tradetui.wire.models.futures import FeeDetail

ROOT = Path(__file__).parents[2]
ROOMS = ("trading", "desk/reversal", "desk/account", "desk/feeds", "wire/models")
VOCABULARY = {
    word for kind in vars(enums).values() if inspect.isclass(kind) and issubclass(kind, StrEnum) for word in kind
}
ENUMS = {name for name, kind in vars(enums).items() if inspect.isclass(kind) and issubclass(kind, StrEnum)}

POSITION = "tests/whole/reversal/test_outcome_observed.py::test_a_position_with_an_unknown_word_is_not_reversed"
FILL = "tests/whole/reversal/test_outcome_observed.py::test_a_fill_with_an_unknown_word_sums_up_to_nothing_to_reverse"
STATE = "tests/whole/reversal/test_outcome_observed.py::test_an_unknown_state_of_the_order_is_no_end_of_it"
ORDER = "tests/trading/test_fill_terms.py::test_a_word_nobody_knows_gives_no_effect"
TERMS = "tests/trading/test_fill_terms.py::test_each_word_is_read_as_one"
IMPACT = "tests/trading/test_orders_after_reversal.py::test_an_order_with_a_word_that_is_not_known_is_marked"
STOP = "tests/desk/tables/test_positions_table.py::test_a_trigger_of_a_kind_nobody_knows_is_no_stop"
ENDED = (
    "tests/desk/reversal/test_evidence.py"
    "::test_an_opening_order_without_a_fill_in_a_state_nobody_knows_leaves_what_its_reversal_closed"
)
SOURCE = (
    "tests/whole/reversal/test_outcome_reads.py"
    "::test_ours_is_looked_up_however_many_live_orders_of_others_fill_after_it"
)
ACCOUNT = "tests/trading/test_account_totals.py::test_an_asset_mode_that_nobody_knows_decides_nothing"
MARGIN = (
    "tests/trading/test_reversal_estimates.py"
    "::test_a_margin_mode_that_nobody_knows_says_nothing_of_what_stands_behind_the_position"
)
ACTUALS = (
    "tests/trading/test_reversal_actuals.py::test_a_margin_mode_that_nobody_knows_tells_neither_free_margin_nor_ratio"
)
KIND = "tests/trading/test_trigger_orders.py::test_a_kind_is_named_as_traders_name_it_and_an_unknown_one_as_it_came"
FEED = "tests/desk/feeds/test_readers.py::test_fills_of_a_word_that_nobody_knows_are_not_taken_for_nothing_held"
HERE = "tests/whole/test_unknown_words.py"
WORDLESS = f"{HERE}::test_a_word_that_nobody_knows_decides_nothing"

EXERCISED = {
    "trading/estimates/reversal_estimates.py:_result": ORDER,
    "trading/holdings.py:Legs.size_of": IMPACT,
    "trading/holdings.py:Net.size_of": IMPACT,
    "trading/holdings.py:Net.moved": IMPACT,
    "trading/trigger_orders.py:stops_of_leg": STOP,
    "trading/positions.py:Position.margin_unclear": MARGIN,
    "trading/positions.py:holdings_of": POSITION,
    "trading/positions.py:doubt_of_held": POSITION,
    "trading/results/trips.py:RunningLeg.flat": f"{HERE}::test_a_fill_with_another_word_moves_no_leg",
    "trading/results/trips.py:RunningLeg.add": f"{HERE}::test_a_fill_with_another_word_moves_no_leg",
    "trading/results/trips.py:RunningLeg._closed_size": f"{HERE}::test_a_fill_with_another_word_moves_no_leg",
    "trading/reversal.py:ReversalPlan.reverses_long": POSITION,
    "trading/reversal.py:ReversalPlan.side_meaning": POSITION,
    "trading/reversal.py:plan_reversal": POSITION,
    "trading/reversal.py:_hedge": POSITION,
    "trading/reversal.py:_one_way": POSITION,
    "trading/fill_terms.py:_fill_terms": TERMS,
    "trading/fill_terms.py:_mode": TERMS,
    "trading/fill_terms.py:_leg": TERMS,
    "trading/fill_terms.py:_effect": ORDER,
    "desk/reversal/execution.py:Execution.target_of": POSITION,
    "desk/reversal/market_state.py:MarketState._preview": POSITION,
    "desk/reversal/market_state.py:MarketState._params": POSITION,
    "desk/reversal/market_state.py:_names_its_leg": FILL,
    "desk/reversal/sending.py:_name_the_setting": POSITION,
    "desk/reversal/tracking/own_legs.py:Observation.order_volume": STATE,
    "desk/reversal/tracking/own_legs.py:": ENDED,
    "desk/reversal/tracking/own_legs.py:find_other_leg": POSITION,
    "desk/reversal/tracking/own_legs.py:_may_close": POSITION,
    "desk/reversal/tracking/own_legs.py:_opening": POSITION,
    "desk/reversal/tracking/own_legs.py:contradiction": FILL,
    "desk/reversal/tracking/own_legs.py:_moves_as_ours": FILL,
    "desk/reversal/tracking/own_legs.py:_has_ended_unfilled": ENDED,
    "desk/reversal/tracking/own_legs.py:burst_among": FILL,
    "desk/reversal/tracking/evidence.py:_reported_standing": STATE,
    "desk/reversal/tracking/evidence.py:_ended_otherwise": STATE,
    "desk/reversal/tracking/order_reads.py:OrderReads._orders_by_source": SOURCE,
    "desk/reversal/tracking/order_reads.py:OrderReads._look_up": SOURCE,
    "desk/reversal/tracking/order_reads.py:_is_ours": SOURCE,
    "desk/reversal/market_state.py:_may_fill": WORDLESS,
    "desk/feeds/fills/fill_history.py:halves": WORDLESS,
    "desk/feeds/positions.py:PositionsReader._read_from_fills": FEED,
    "desk/feeds/positions.py:_doubted": FEED,
    "desk/feeds/positions.py:held_sizes": WORDLESS,
    "trading/account_totals.py:totals_of": ACTUALS,
    "trading/spot_totals.py:_of_transfer": WORDLESS,
    "trading/estimates/cost_estimates.py:Basis.is_isolated": MARGIN,
    "trading/estimates/reversal_actuals.py:reversal_actuals": ACTUALS,
    "trading/orders_after_reversal.py:_kind": IMPACT,
    "trading/orders_after_reversal.py:_stop": IMPACT,
    "trading/results/booking.py:bill_kind": WORDLESS,
    "trading/results/booking.py:fee_amount": WORDLESS,
    "trading/fill_terms.py:effect_of_trigger": WORDLESS,
    "trading/trigger_orders.py:trigger_kind": KIND,
    "trading/trigger_orders.py:trigger_state": WORDLESS,
    "wire/models/subaccounts.py:SubaccountTransfer.is_withdrawal": WORDLESS,
    "wire/models/futures_accounts.py:FuturesAccount.is_union": ACCOUNT,
    "wire/models/futures.py:FuturesFill.is_taker": WORDLESS,
    "wire/models/futures.py:_FillEffect.of": WORDLESS,
    "wire/models/public.py:Contract.trades": WORDLESS,
    "wire/models/futures_accounts.py:ReportedPosition.leg": POSITION,
    "wire/models/reversal.py:ReversalRequest.check_mode": POSITION,
    "wire/models/futures.py:Sided.is_buy": WORDLESS,
    "wire/models/api_key.py:AccountInfo.is_copy_trader": WORDLESS,
    "wire/models/api_key.py:may_withdraw": WORDLESS,
    "wire/models/spot.py:SpotFill.is_taker": WORDLESS,
}
"""By file and function, the test in which a word that nobody knows is met there, or keeps what rests on it from going
on: the mode and the side of a plan are known words, since without them there is no plan."""


NO_ENUM_VALUES = frozenset(
    {
        "desk/account/identity.py:_host",
        "desk/reversal/preview.py:Target.named",
        "desk/reversal/progress.py:holdings_of_json",
        "desk/reversal/progress.py:plan_of",
        "trading/account_totals.py:_profit_in_usdt",
        "trading/spot_totals.py:coins_of",
        "trading/fill_terms.py:",
    }
)
"""What looks at something else: an address, a symbol, a coin, what was typed, the journal's keys, the enum."""


def is_word(node: ast.AST) -> bool:
    """Whether it is a member of an enum of the interface."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ENUMS


def enum_constants(modules: Iterable[ast.Module]) -> frozenset[str]:
    """The names of constants that are made of members of these enums."""
    assigned = [node for module in modules for node in module.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    with_members = [node for node in assigned if node.value is not None and any(map(is_word, ast.walk(node.value)))]
    targets = [target for node in with_members for target in getattr(node, "targets", [getattr(node, "target", None)])]
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


def decides_by_word(node: ast.AST, constants: frozenset[str]) -> bool:
    """Whether it compares with a word, looks one up, looks at a part of one, or asks what follows from one."""

    def names_enum_value(part: ast.AST) -> bool:
        return is_word(part) or (isinstance(part, ast.Name) and part.id in constants)

    if isinstance(node, ast.Compare):
        left = node.left.value if isinstance(node.left, ast.Constant) else None
        is_part = isinstance(left, str) and isinstance(node.ops[0], ast.In) and any(left in word for word in VOCABULARY)
        return is_part or any(map(names_enum_value, ast.walk(node)))
    if isinstance(node, ast.Match):
        return any(map(names_enum_value, ast.walk(node)))
    if isinstance(node, ast.Subscript):
        return names_enum_value(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "is_over"
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        looks_up = node.func.attr == "get" and names_enum_value(node.func.value)
        return looks_up or node.func.attr in ("startswith", "endswith")
    compares = isinstance(node.func, ast.Name) and node.func.id == "same"
    asks = isinstance(node.func, ast.Name) and node.func.id == "system_close"
    return asks or (compares and any(isinstance(part, ast.Constant) or is_word(part) for part in node.args))


def comparisons(node: ast.AST, constants: frozenset[str], inside: tuple[str, ...] = ()) -> Iterator[str]:
    """The functions and methods that decide something by a word."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inside = (*inside, node.name)
    if decides_by_word(node, constants):
        yield ".".join(inside)
    for child in ast.iter_child_nodes(node):
        yield from comparisons(child, constants, inside)


def test_each_comparison_is_met_by_a_word_that_nobody_knows() -> None:
    modules = {
        file.relative_to(ROOT / "tradetui").as_posix(): ast.parse(file.read_text(encoding="utf-8"))
        for room in ROOMS
        for file in (ROOT / "tradetui" / room).rglob("*.py")
    }
    constants = enum_constants(modules.values())
    compared = {f"{file}:{name}" for file, module in modules.items() for name in comparisons(module, constants)}
    assert compared == EXERCISED.keys() | NO_ENUM_VALUES


@pytest.mark.parametrize("test", sorted(set(EXERCISED.values())))
def test_each_named_test_is_there(test: str) -> None:
    path, _, name = test.partition("::")
    nodes = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    assert any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name for node in nodes)


@pytest.mark.parametrize(("side", "trade_side"), [("upwards", "open"), ("buy", "sideways")])
def test_a_fill_nobody_can_read_leaves_unknown_what_is_held(side: str, trade_side: str) -> None:
    assert holdings_after(Legs(), [fill(side, trade_side, "1")]) is None


def row_of(name: str, **changes: object) -> Any:
    return one(name, {**ROWS.get(name, {}), **changes})


@pytest.mark.parametrize(
    ("decided", "as_nothing"),
    [
        (lambda: _may_fill(row_of("futures.pending_orders", status="resting")), True),  # it may still fill
        (lambda: len(halves(*([ProductRow(USDT, fill("buy", "sideways", "1"))] * 2))), 1),
        (
            lambda: held_sizes(Reply((row_of("futures.positions", symbol="BTCUSDT", holdSide="sideways", total="1"),))),
            None,
        ),
        (lambda: bill_kind("rebate_of_close"), BillKind.OTHER),
        (
            lambda: fee_amount(FeeDetail(deduction="partly", total_fee=Decimal(-1), total_deduction_fee=Decimal(-2))),
            Decimal(-1),
        ),
        (lambda: effect_of_trigger(row_of("futures.triggers", planType="pos_maybe", tradeSide=None)), None),
        (lambda: trigger_state(row_of("futures.triggers", planStatus="asleep")), None),
        (lambda: row_of("broker.transfers", type="gift").is_withdrawal, False),
        (lambda: terms_of(fill("buy", "upward_single", "1", mode="hybrid")).mode, None),
        (lambda: terms_of(fill("buy", "burst_close_upwards", "1")).unknown_word, "tradeSide 'burst_close_upwards'"),
        (lambda: terms_of(fill("buy", "sideways_long", "1")).unknown_word, "tradeSide 'sideways_long'"),
        # a word of the other mode
        (lambda: terms_of(fill("buy", "buy_single", "1")).unknown_word, "tradeSide 'buy_single'"),
        (lambda: terms_of(fill("buy", "reduce_sideways_single", "1", mode="one_way_mode")).opens, None),
        (lambda: row_of("futures.contracts", symbol="BTCUSDT", symbolStatus="dozing").trades, False),
        (lambda: row_of("spot.account_info", userId="1", traderType="apprentice").is_copy_trader, None),
        (lambda: may_withdraw(["zz"]), False),
    ],
)
def test_a_word_that_nobody_knows_decides_nothing(decided: Callable[[], object], as_nothing: object) -> None:
    assert decided() == as_nothing


@pytest.mark.parametrize(
    ("side", "trade_side", "mode"),
    [("upwards", "open", "hedge_mode"), ("buy", "sideways", "hedge_mode"), ("buy", "open", "hybrid_mode")],
)
def test_a_fill_with_another_word_moves_no_leg(side: str, trade_side: str, mode: str) -> None:
    opened, unknown = (
        booked_fill(USDT, received, 0)
        for received in (fill("buy", "open", "2"), fill(side, trade_side, "1", mode=mode))
    )
    leg = RunningLeg.flat(opened.key, proven=True)
    leg.add(opened)
    outcome = leg.add(unknown)
    assert (leg.size, leg.proven, outcome.closing, outcome.ended) == (Decimal(2), False, None, ())

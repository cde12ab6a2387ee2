"""Rules as they are typed, and what is said of those that cannot be."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tradetui.desk.events.rules import THRESHOLDS, Channel, Condition, Direction, RuleKind
from tradetui.desk.events.typed_rule import CHANNELS, RULE_KIND, SYMBOL, THRESHOLD, TypedRule, read_rule


def typed(kind: str, threshold: str = "", symbol: str = "", channels: str = "line") -> TypedRule:
    texts = {RULE_KIND: kind, SYMBOL: symbol, THRESHOLD: threshold, CHANNELS: channels}
    return read_rule(texts, has_command=False)


@pytest.mark.parametrize(
    ("typed_rule", "condition"),
    [
        (typed("fill"), Condition(RuleKind.FILL)),
        (typed(" Fill ", symbol="btcusdt"), Condition(RuleKind.FILL, "BTCUSDT")),
        (typed("margin_ratio_above", "80 %"), Condition(RuleKind.MARGIN_RATIO_ABOVE, "", Decimal(80))),
        (
            typed("liquidation_nearer", "2.5", "ETHUSDT"),
            Condition(RuleKind.LIQUIDATION_NEARER, "ETHUSDT", Decimal("2.5")),
        ),
        (typed("position_result_below", "-500"), Condition(RuleKind.POSITION_RESULT_BELOW, "", Decimal(-500))),
        (typed("today_result_below", "-500"), Condition(RuleKind.TODAY_RESULT_BELOW, "", Decimal(-500))),
        (typed("today_result_below", "-2%"), Condition(RuleKind.TODAY_RESULT_BELOW, "", Decimal(-2), is_percent=True)),
        (
            typed("price_crosses", "90000 UP", "BTCUSDT"),
            Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(90000), Direction.UP),
        ),
        (typed("price_crosses", "90000", "BTCUSDT"), Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(90000))),
    ],
)
def test_what_is_typed_is_the_rule(typed_rule: TypedRule, condition: Condition) -> None:
    assert not typed_rule.problems
    assert typed_rule.rule is not None and typed_rule.rule.condition == condition
    assert typed_rule.rule.channels == {Channel.LINE}


@pytest.mark.parametrize(
    ("typed_rule", "field"),
    [
        (typed("liquidation"), RULE_KIND),
        (typed("link_lost", symbol="BTCUSDT"), SYMBOL),
        (typed("price_crosses", "90000"), SYMBOL),
        (typed("fill", symbol="BTC USDT"), SYMBOL),
        (typed("fill", symbol="X" * 9_000), SYMBOL),
        (typed("fill", "5"), THRESHOLD),
        (typed("price_crosses", "90000 sideways", "BTCUSDT"), THRESHOLD),
        (typed("liquidation_nearer", "-5"), THRESHOLD),
        (typed("liquidation_nearer", "9" * 9_000), THRESHOLD),
        (typed("fill", channels=""), CHANNELS),
        (typed("fill", channels="line, phone"), CHANNELS),
        (typed("fill", channels="command"), CHANNELS),
    ],
)
def test_what_is_no_rule_is_said_at_its_field(typed_rule: TypedRule, field: str) -> None:
    assert typed_rule.rule is None
    assert list(typed_rule.problems) == [field]


@pytest.mark.parametrize("kind", sorted(THRESHOLDS))
def test_a_kind_that_compares_a_figure_needs_it(kind: RuleKind) -> None:
    symbol = "BTCUSDT" if kind is RuleKind.PRICE_CROSSES else ""
    assert THRESHOLD in typed(kind, symbol=symbol).problems

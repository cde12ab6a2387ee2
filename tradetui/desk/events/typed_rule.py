"""A rule typed by a person: its fields, and the check of each."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.desk.events.rules import OF_ACCOUNT, THRESHOLDS, Channel, Condition, Direction, Rule, RuleKind, rule_of
from tradetui.desk.parameter_form import FormField
from tradetui.wire.decimal_text import typed_number
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.requests.parameter import SymbolName

RULE_KIND: Final = "kind"
SYMBOL: Final = "symbol"
THRESHOLD: Final = "threshold"
CHANNELS: Final = "channels"
RULE_FIELDS: Final = (
    FormField(RULE_KIND, f"one of {', '.join(RuleKind)}", required=True, choices=tuple(RuleKind)),
    FormField(SYMBOL, "a symbol such as BTCUSDT; empty: every symbol", required=False),
    FormField(THRESHOLD, "a number, for the kinds that compare one", required=False),
    FormField(CHANNELS, f"any of {', '.join(Channel)}, with commas", required=True),
)
_THRESHOLD_RULES: Final[Mapping[RuleKind, str]] = {
    RuleKind.MARGIN_RATIO_ABOVE: "per cent above 0, such as 80; 100 is liquidation",
    RuleKind.LIQUIDATION_NEARER: "per cent of the mark above 0, such as 5",
    RuleKind.POSITION_RESULT_BELOW: "unrealised result in USDT, such as -500",
    RuleKind.TODAY_RESULT_BELOW: "USDT, such as -500, or per cent of the equity, such as -2 %",
    RuleKind.PRICE_CROSSES: "a price, such as 90000; add up or down for one direction only",
}


class TypedRule(NamedTuple):
    """The typed rule, or None and the errors by field."""

    rule: Rule | None
    problems: Mapping[str, str]


def read_rule(texts: Mapping[str, str], *, has_command: bool) -> TypedRule:
    """Read the fields; `has_command` is whether the profile has a program for alerts."""
    problems: dict[str, str] = {}
    kind = next((kind for kind in RuleKind if kind == texts[RULE_KIND].strip().lower()), None)
    if kind is None:
        problems[RULE_KIND] = RULE_FIELDS[0].rule
    symbol = _read_symbol(texts[SYMBOL].strip(), kind, problems)
    level, direction, is_percent = _read_threshold(texts[THRESHOLD].strip().lower(), kind, problems)
    names = {name for part in texts[CHANNELS].lower().split(",") if (name := part.strip())}
    if not names or not names <= set(Channel):
        problems[CHANNELS] = RULE_FIELDS[3].rule
    elif Channel.COMMAND in names and not has_command:
        problems[CHANNELS] = "command needs alert_command in the profile"
    if kind is None or problems:
        return TypedRule(None, problems)
    return TypedRule(rule_of(Condition(kind, symbol, level, direction, is_percent), set(map(Channel, names))), {})


def threshold_rule(kind_text: str) -> str:
    """Describe the threshold of a kind, or that the kind has none."""
    kind = next((kind for kind in RuleKind if kind == kind_text.strip().lower()), None)
    if kind is None:
        return RULE_FIELDS[2].rule
    return _THRESHOLD_RULES.get(kind, f"none: {kind} compares no figure")


def _read_symbol(text: str, kind: RuleKind | None, problems: dict[str, str]) -> str:
    if not text:
        if kind is RuleKind.PRICE_CROSSES:
            problems[SYMBOL] = f"needed for {kind}"
        return ""
    if kind in OF_ACCOUNT:
        problems[SYMBOL] = f"leave it out: {kind} is about the whole account"
        return ""
    try:
        return SymbolName().changed(name=SYMBOL).read(text)
    except InvalidRequest as problem:
        problems[SYMBOL] = f"{problem.rule}. {problem.remedy}"
        return ""


def _read_threshold(
    text: str, kind: RuleKind | None, problems: dict[str, str]
) -> tuple[Decimal | None, Direction, bool]:
    """Read the threshold, its direction, and whether it is per cent of the equity."""
    direction, is_percent = Direction.EITHER, False
    if kind not in THRESHOLDS:
        if text and kind is not None:
            problems[THRESHOLD] = f"leave it out: {kind} compares no figure"
        return None, direction, is_percent
    assert kind is not None
    number_text, _, way = text.partition(" ")
    if kind is RuleKind.PRICE_CROSSES and way.strip() in (Direction.UP, Direction.DOWN):
        direction, text = Direction(way.strip()), number_text
    if text.endswith("%") and kind not in (RuleKind.POSITION_RESULT_BELOW, RuleKind.PRICE_CROSSES):
        text, is_percent = text.removesuffix("%").strip(), kind is RuleKind.TODAY_RESULT_BELOW
    level = typed_number(text) if len(text) <= 40 else None
    any_sign = kind in (RuleKind.POSITION_RESULT_BELOW, RuleKind.TODAY_RESULT_BELOW)
    if level is None or (level <= 0 and not any_sign):
        problems[THRESHOLD] = _THRESHOLD_RULES[kind]
    return level, direction, is_percent

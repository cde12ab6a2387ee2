"""One entry of the list `alerts` in a profile: an event and its channels."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from pydantic import Field, TypeAdapter, ValidationError, ValidationInfo, field_validator

from tradetui.desk.events.rules import OF_ACCOUNT, Channel, Condition, Direction, Rule, RuleKind, rule_of
from tradetui.profiles.errors import BrokenEntry, first_broken
from tradetui.profiles.strict_settings import StrictSettings

_LEVEL_FIELDS: Final[Mapping[RuleKind, tuple[str, ...]]] = {
    RuleKind.MARGIN_RATIO_ABOVE: ("percent",),
    RuleKind.LIQUIDATION_NEARER: ("percent",),
    RuleKind.POSITION_RESULT_BELOW: ("amount",),
    RuleKind.TODAY_RESULT_BELOW: ("percent", "amount"),
    RuleKind.PRICE_CROSSES: ("price",),
}
"""The field that holds the threshold of each kind of alert; for a kind with two fields, one of them is given."""


class AlertRule(StrictSettings):
    """One alert; `when` decides which other fields it takes."""

    when: RuleKind = Field(description="what the alert is about: " + ", ".join(RuleKind))
    to: tuple[Channel, ...] = Field(
        default=(Channel.LINE, Channel.BELL),
        min_length=1,
        description="line (above the keys), bell, desktop (a notification by the terminal), command (alert_command)",
    )
    name: str = Field(
        default="",
        pattern=r"^[^\x00-\x1f\x7f]{0,60}$",
        title="one line of at most 60 characters",
        description="its name on the screen A; made from the other fields when not given",
    )
    symbol: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9_]{0,40}$",
        title="at most 40 letters, digits and _, such as BTCUSDT",
        validate_default=True,
        description="for this symbol only; price_crosses needs one",
    )
    percent: Decimal | None = Field(
        default=None,
        validate_default=True,
        description="margin_ratio_above: per cent, where 100 is liquidation; liquidation_nearer: per cent of the mark; "
        "today_result_below: per cent of the equity, such as -2",
    )
    amount: Decimal | None = Field(
        default=None,
        validate_default=True,
        description="position_result_below: unrealised, in USDT, such as -500; today_result_below: in USDT, as in the "
        "header, on days that began while a session ran",
    )
    price: Decimal | None = Field(
        default=None, gt=0, validate_default=True, description="price_crosses: the price that is crossed"
    )
    direction: Direction = Field(
        default=Direction.EITHER, description="price_crosses: up, down, or either from the side it begins on"
    )

    @field_validator("symbol")
    @classmethod
    def _symbol_fits(cls, symbol: str, info: ValidationInfo) -> str:
        kind = info.data.get("when")
        if kind is RuleKind.PRICE_CROSSES and not symbol:
            raise ValueError(f"must be given, since when is {kind}")
        if symbol and kind in OF_ACCOUNT:
            raise ValueError(f"must be left out, since when is {kind}, which is about the whole account")
        return symbol.upper()

    @field_validator("percent", "amount", "price")
    @classmethod
    def _level_fits(cls, level: Decimal | None, info: ValidationInfo) -> Decimal | None:
        kind = info.data.get("when")
        if kind is None:  # reported as an error of its own
            return level
        fields, field = _LEVEL_FIELDS.get(kind, ()), str(info.field_name)
        earlier_level = next((name for name in fields if info.data.get(name) is not None), None)
        if level is None:
            # If a kind has several fields, the last one reports that none was given.
            if fields and field == fields[-1] and earlier_level is None:
                raise ValueError(f"must be given{' (or percent)' * (len(fields) > 1)}, since when is {kind}")
            return None
        if field not in fields:
            raise ValueError(f"must be left out, since when is {kind}")
        if earlier_level is not None:
            raise ValueError(f"must be left out, since {earlier_level} is given")
        if field == "percent" and level <= 0 and kind is not RuleKind.TODAY_RESULT_BELOW:
            raise ValueError(f"must be greater than 0, since when is {kind}")
        return level

    @field_validator("direction")
    @classmethod
    def _direction_fits(cls, direction: Direction, info: ValidationInfo) -> Direction:
        kind = info.data.get("when")
        if direction is not Direction.EITHER and kind not in (None, RuleKind.PRICE_CROSSES):
            raise ValueError(f"must be left out, since when is {kind}")
        return direction

    @property
    def rule(self) -> Rule:
        levels: dict[str, Decimal | None] = {name: getattr(self, name) for name in _LEVEL_FIELDS.get(self.when, ())}
        field, level = next(((name, value) for name, value in levels.items() if value is not None), ("", None))
        is_percent = self.when is RuleKind.TODAY_RESULT_BELOW and field == "percent"
        return rule_of(Condition(self.when, self.symbol, level, self.direction, is_percent), self.to, self.name)


def entry_of(rule: Rule) -> dict[str, object]:
    """Return a rule as an entry of a profile's `alerts`."""
    condition = rule.condition
    fields = _LEVEL_FIELDS.get(condition.kind, ())
    field = next((name for name in fields if (name == "percent") == condition.is_percent), "".join(fields[:1]))
    entry: dict[str, object] = {"when": str(condition.kind), "to": [str(channel) for channel in sorted(rule.channels)]}
    if rule.name != condition.sentence:
        entry["name"] = rule.name
    if condition.symbol:
        entry["symbol"] = condition.symbol
    if condition.level is not None:
        entry[field] = str(condition.level)
    if condition.direction is not Direction.EITHER:
        entry["direction"] = str(condition.direction)
    return entry


def checked_rules(entries: object, *, has_command: bool) -> tuple[AlertRule, ...]:
    """Return the alerts of a profile.

    Raises BrokenEntry if an entry breaks a rule of its own; ValueError if `entries` is not a list, two alerts have one
    name, or an alert needs a command and the profile has none.
    """
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, dict | AlertRule) for entry in entries):
        raise ValueError("must be a list of tables [[profiles.NAME.alerts]]")
    try:
        rules = _RULES.validate_python(tuple(entries))
    except ValidationError as problem:
        raise BrokenEntry(first_broken(problem)) from None
    names = [rule.rule.name for rule in rules]
    repeated = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if repeated is not None:
        raise ValueError(f"two alerts are called {repeated!r}; give one of them another name")
    if not has_command and any(Channel.COMMAND in rule.to for rule in rules):
        raise ValueError("must not name command in to while alert_command is not set; set it to a program")
    return rules


_RULES: Final = TypeAdapter(tuple[AlertRule, ...])

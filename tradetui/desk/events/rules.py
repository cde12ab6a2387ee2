"""The rules of a profile's alerts, events of the account in one sentence, and the alerts that rules make from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from tradetui.desk.tables.cells.cell_format import number
from tradetui.trading.contract_math import exact_digits
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.product_types import ProductType, may_trade
from tradetui.wire.text import scrub


class RuleKind(StrEnum):
    """The event of a rule, by its name in the configuration."""

    FILL = "fill"
    ORDER_GONE = "order_gone"
    TRIGGER = "trigger"
    STOP_CANCELLED = "stop_cancelled"
    MARGIN_RATIO_ABOVE = "margin_ratio_above"
    LIQUIDATION_NEARER = "liquidation_nearer"
    POSITION_RESULT_BELOW = "position_result_below"
    TODAY_RESULT_BELOW = "today_result_below"
    PRICE_CROSSES = "price_crosses"
    LINK_LOST = "link_lost"
    OUTCOME_UNKNOWN = "outcome_unknown"


class Channel(StrEnum):
    LINE = "line"
    BELL = "bell"
    DESKTOP = "desktop"
    COMMAND = "command"


class Direction(StrEnum):
    """The direction in which a price has to cross its level."""

    UP = "up"
    DOWN = "down"
    EITHER = "either"


class DesktopSequence(StrEnum):
    """Control sequences that ask a terminal for a notification."""

    OSC_9 = "osc9"
    OSC_777 = "osc777"


THRESHOLDS: Final = frozenset(
    {
        RuleKind.MARGIN_RATIO_ABOVE,
        RuleKind.LIQUIDATION_NEARER,
        RuleKind.POSITION_RESULT_BELOW,
        RuleKind.TODAY_RESULT_BELOW,
        RuleKind.PRICE_CROSSES,
    }
)
"""Kinds that compare a figure with a level."""
OF_ACCOUNT: Final = frozenset({RuleKind.MARGIN_RATIO_ABOVE, RuleKind.TODAY_RESULT_BELOW, RuleKind.LINK_LOST})
"""Kinds about the whole account, which take no symbol."""


class Condition(NamedTuple):
    """When a rule fires, apart from its effect.

    `level` is per cent for margin ratio and liquidation, USDT for a position's result, either for today's (per cent if
    `is_percent`), and in the contract's quote coin for a price; None for other kinds. An empty `symbol` is every
    symbol.
    """

    kind: RuleKind
    symbol: str = ""
    level: Decimal | None = None
    direction: Direction = Direction.EITHER
    is_percent: bool = False

    @property
    def shown_level(self) -> str:
        """The level as people write it; empty without one."""
        return "" if self.level is None else number(Decimal(exact_digits(self.level)))

    @property
    def sentence(self) -> str:
        """The condition in words, such as "margin ratio above 80 %"."""
        level = self.shown_level
        match self.kind:
            case RuleKind.MARGIN_RATIO_ABOVE:
                return f"margin ratio above {level} %"
            case RuleKind.LIQUIDATION_NEARER:
                return f"{self.symbol or 'a position'} nearer than {level} % to liquidation"
            case RuleKind.POSITION_RESULT_BELOW:
                return f"{self.symbol or 'a position'} result below {level} USDT"
            case RuleKind.TODAY_RESULT_BELOW:
                return f"today's result below {level} {'%' if self.is_percent else 'USDT'}"
            case RuleKind.PRICE_CROSSES:
                way = "" if self.direction is Direction.EITHER else f" {self.direction}wards"
                return f"{self.symbol} price crosses {level}{way}"
        of_symbol = f" of {self.symbol}" if self.symbol else ""
        return f"{_EVENT_CONDITIONS[self.kind]}{of_symbol}"


_EVENT_CONDITIONS: Final = {
    RuleKind.FILL: "fill",
    RuleKind.ORDER_GONE: "order gone unfilled",
    RuleKind.TRIGGER: "trigger executed or failed",
    RuleKind.STOP_CANCELLED: "stop cancelled",
    RuleKind.LINK_LOST: "link lost",
    RuleKind.OUTCOME_UNKNOWN: "outcome of a reversal unknown",
}


class Rule(NamedTuple):
    """A condition, and the channels of its alerts; `name` is unique."""

    name: str
    condition: Condition
    channels: frozenset[Channel]


_LINE_AND_BELL: Final = frozenset({Channel.LINE, Channel.BELL})


def rule_of(condition: Condition, channels: Collection[Channel] = _LINE_AND_BELL, name: str = "") -> Rule:
    """Make a rule; without a name its condition's sentence is the name."""
    return Rule(name or condition.sentence, condition, frozenset(channels))


DEFAULT_RULES: Final = tuple(
    rule_of(Condition(kind))
    for kind in (RuleKind.FILL, RuleKind.TRIGGER, RuleKind.STOP_CANCELLED, RuleKind.LINK_LOST, RuleKind.OUTCOME_UNKNOWN)
)
"""Rules of every profile, unless it removes them."""


def with_defaults(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the default rules and a profile's own; an own rule replaces a default one of its name or condition."""
    replaced = {rule.name for rule in rules} | {rule.condition.sentence for rule in rules}
    return (*(rule for rule in DEFAULT_RULES if rule.name not in replaced), *rules)


def with_made(rules: Sequence[Rule], made: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return a profile's rules and those made on the screen, which replace default ones but no others."""
    written_names = {rule.name for rule in rules if rule not in DEFAULT_RULES}
    counting = {rule.name: rule for rule in made if rule.name not in written_names}
    return (*(rule for rule in rules if rule.name not in counting), *counting.values())


def impossible(
    rule: Rule,
    product_types: Sequence[ProductType],
    *,
    sends: bool,
    symbols: Collection[str] | None = None,
    no_equity_because: str = "",
) -> str:
    """Return why a rule cannot fire in a session of these product types; empty if it can.

    `sends` is whether the session can send reversals. `symbols` is every symbol of the product types, or None if the
    exchange does not list them; then the name decides. `no_equity_because` is why the equity is not known; empty if it
    is.
    """
    condition = rule.condition
    symbol = condition.symbol
    listed = any(may_trade(name, symbol) for name in product_types) if symbols is None else symbol in symbols
    if symbol and not listed:
        return f"symbol {symbol} is in none of {', '.join(product_types)}"
    if condition.kind is RuleKind.OUTCOME_UNKNOWN and not sends:
        return "monitor mode sends no reversal"
    if condition.kind is RuleKind.TODAY_RESULT_BELOW and no_equity_because:
        return f"the equity is not known, {no_equity_because}"
    if condition.level is None:
        return ""
    if condition.kind is RuleKind.MARGIN_RATIO_ABOVE and condition.level >= 100:
        return f"the exchange liquidates at 100 %, which comes before {condition.shown_level} %"
    if condition.kind is RuleKind.TODAY_RESULT_BELOW and condition.is_percent and condition.level < -100:
        return f"an account has nothing left at -100 %, which comes before {condition.shown_level} %"
    return ""


class Command(Protocol):
    """Runs the user's own program for an alert."""

    async def run(self, json_text: str) -> None:
        """Run it once to its end; raises CommandFailed."""


class AlertChoices(NamedTuple):
    """The choices made on the screen: the names of silenced rules, and the rules made there.

    `unreadable` are stored entries that this version cannot read; they stay unchanged.
    """

    silenced: frozenset[str] = frozenset()
    made: tuple[Rule, ...] = ()
    unreadable: tuple[object, ...] = ()


class AlertChoiceStore(Protocol):
    """Stores the choices of one profile; both calls block and belong on the disk thread."""

    def read(self) -> AlertChoices:
        """Return the choices; none if they cannot be read."""

    def write(self, choices: AlertChoices) -> None:
        """Store other choices; raises OSError."""


class MemoryAlertChoices:
    """Choices that end with the session."""

    def __init__(self) -> None:
        self._choices = AlertChoices()

    def read(self) -> AlertChoices:
        return self._choices

    def write(self, choices: AlertChoices) -> None:
        self._choices = choices


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """The rules of a profile, the store of choices made on the screen, and the program that receives alerts.

    `desktop_sequence` is None if it depends on the terminal. `profile` and `environment` tell a command which profile
    an alert is from.
    """

    rules: tuple[Rule, ...] = DEFAULT_RULES
    choices: AlertChoiceStore = field(default_factory=MemoryAlertChoices)
    command: Command | None = None
    commands_a_minute: int = 10
    desktop_sequence: DesktopSequence | None = None
    profile: str = ""
    environment: str = ""


LONGEST: Final = 300
"""Maximum characters of a sentence; the rest of a longer one is cut."""


def one_sentence(text: str) -> str:
    """Make text safe for a terminal, a command and a log: no control characters, and a limited length."""
    safe = scrub(" ".join(text.split()))
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 1]}…"


class AlertEvent(NamedTuple):
    """One event of the account.

    `key` is the same in every session of the account that notices it. An event that `recurs` may come again under its
    key, a minute later at the earliest. `condition` is that of a crossed level, None for other events. An event that is
    no `alarm` (the link is back) is shown without a bell; one that `stays` is shown until it was read. `figures` are
    for a command, by name.
    """

    kinds: frozenset[RuleKind]
    key: str
    sentence: str
    symbol: str = ""
    recurs: bool = False
    condition: Condition | None = None
    alarm: bool = True
    stays: bool = False
    figures: Mapping[str, str] = MappingProxyType({})

    def concerns(self, rule: Rule) -> bool:
        if self.condition is not None:
            return rule.condition == self.condition
        return rule.condition.kind in self.kinds and rule.condition.symbol in ("", self.symbol)


class Alert(NamedTuple):
    """An event as a session shows it: the channels, the rules (by name) and the wall time (Unix ms).

    `silenced` names matching rules that are silenced. A `test` was requested, without any event.
    """

    event: AlertEvent
    at_ms: int
    channels: frozenset[Channel]
    rules: tuple[str, ...] = ()
    silenced: tuple[str, ...] = ()
    test: bool = False

    @property
    def sentence(self) -> str:
        return self.event.sentence

    def as_json(self, account: str, profile: str, environment: str) -> dict[str, object]:
        """Return the standard input of a command."""
        return {
            "event": sorted(self.event.kinds),
            "sentence": self.sentence,
            "symbol": one_sentence(self.event.symbol),
            "time": utc_moment(self.at_ms).isoformat(timespec="milliseconds"),
            "account": one_sentence(account),
            "profile": profile,
            "environment": environment,
            "rules": list(self.rules),
            "figures": dict(self.event.figures),
            "test": self.test,
        }


def alert_of(event: AlertEvent, rules: Iterable[Rule], silenced: frozenset[str], at_ms: int) -> Alert | None:
    """Make the alert of an event by the rules; None if no rule matches."""
    concerned = [rule for rule in rules if event.concerns(rule)]
    if not concerned:
        return None
    sounding = [rule for rule in concerned if rule.name not in silenced]
    channels = frozenset(channel for rule in sounding for channel in rule.channels)
    if not event.alarm:
        channels -= {Channel.BELL}
    return Alert(
        event,
        at_ms,
        channels,
        tuple(rule.name for rule in concerned),
        tuple(rule.name for rule in concerned if rule.name in silenced),
    )

"""An event of the account in one sentence, and the alert that the rules make of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from tradetui.desk.alerts.rules import Channel, Condition, Rule, RuleKind
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import scrub

LONGEST: Final = 300
"""Characters of a sentence; what an exchange sends beyond that is cut."""


def one_sentence(text: str) -> str:
    """Text as it may reach a terminal, a command and a log: no control character, and of a bounded length."""
    safe = scrub(" ".join(text.split()))
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 1]}…"


class AlertEvent(NamedTuple):
    """One thing that happened to the account.

    `key` is the same in every session of the account that notices it. One that `recurs` may come again under its key,
    a minute later at the earliest. `condition` is that of the rules whose level was crossed, None for other events.
    One that is no `alarm` (the link is back) is said without a bell; one that `stays` is shown until it was read.
    `figures` are for a command, by name.
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
    """An event as a session shows it: by which channels, for which rules (by name), at which wall time (Unix ms).

    `silenced` names the rules that would have sounded. A `test` was requested, and nothing happened.
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
        """The standard input of a command."""
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
    """The alert that rules make of an event; None where no rule is about it."""
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

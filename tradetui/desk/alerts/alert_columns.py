"""Columns of the list of alerts and of their log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tradetui.desk.alerts.alert_log import LoggedAlert
from tradetui.desk.alerts.rules import Channel, Rule
from tradetui.desk.tables.cells.column import Column, Tone, ranked, text_column, time_column
from tradetui.wire.exchange_time import utc_moment


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule as it stands: silenced or not, and why it cannot fire, if it cannot."""

    rule: Rule
    silenced: bool
    impossible: str

    @property
    def row_id(self) -> str:
        """The rule's name, which no other rule of the profile has."""
        return self.rule.name

    @property
    def state(self) -> str:
        if self.impossible:
            return f"cannot fire: {self.impossible}"
        return "silenced" if self.silenced else "on"


def channel_names(rule: Rule) -> str:
    return ", ".join(channel for channel in Channel if channel in rule.channels)


def rule_columns(rows: Sequence[RuleRow]) -> tuple[Column[RuleRow], ...]:
    """The columns of the list; without the condition where it is the name of every rule already."""
    is_named = any(row.rule.name != row.rule.condition.sentence for row in rows)
    return tuple(column for column in _RULE_COLUMNS if is_named or column.id != "when")


def _state_tone(row: RuleRow) -> Tone:
    if row.impossible:
        return Tone.WARN
    return Tone.MUTED if row.silenced else Tone.PLAIN


def logged_at(row: LoggedAlert) -> datetime:
    return utc_moment(row.at_ms)


_RULE_COLUMNS: Final[tuple[Column[RuleRow], ...]] = ranked(
    text_column("name", "Alert", 34, lambda row: row.rule.name),
    Column("state", "State", 10, lambda row: row.state, lambda row, _: row.state, tone=_state_tone),
    text_column("to", "To", 30, lambda row: channel_names(row.rule)),
    text_column("when", "When", 30, lambda row: row.rule.condition.sentence),
    kept_longest="name,state,to,when",
)
LOG_COLUMNS: Final[tuple[Column[LoggedAlert], ...]] = ranked(
    time_column("at", "Time", logged_at, received=False),
    text_column("sentence", "What happened", 90, lambda row: row.sentence),
    text_column("delivery", "To", 30, lambda row: row.delivery),
    text_column("rules", "Alert", 30, lambda row: row.rules),
    kept_longest="sentence,at,delivery,rules",
)

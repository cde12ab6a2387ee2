"""Columns of the journal: one row an intent."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from tradetui.desk.intents.states import Intent, State
from tradetui.desk.tables.cells.column import Column, Tone, ranked, time_column
from tradetui.desk.tables.cells.number_format import UNKNOWN
from tradetui.wire.exchange_time import utc_moment

_TONES: Final = {
    State.SETTLED: Tone.PLAIN,
    State.WITHDRAWN: Tone.MUTED,
    State.REJECTED: Tone.MUTED,
    State.RELEASED: Tone.MUTED,
}


def at(intent: Intent) -> datetime:
    """When an intent began, in UTC."""
    return utc_moment(intent.events[0].at_ms)


def end_of_intent(intent: Intent) -> str:
    """How it ended, or why it has not, in words."""
    return intent.end or UNKNOWN


def _state_tone(intent: Intent) -> Tone:
    return _TONES.get(intent.state, Tone.WARN)


JOURNAL: Final[tuple[Column[Intent], ...]] = ranked(
    time_column("at", "Written", at, received=False),
    Column("state", "State", lambda row: str(row.state), lambda row, _: str(row.state), 12, tone=_state_tone),
    Column("title", "What", lambda row: row.title, lambda row, _: row.title, 26, sources=(("id", lambda row: row.id),)),
    Column("ended", "How it ended", end_of_intent, lambda row, _: end_of_intent(row), 20),
    kept_longest="title,at,state,ended",
)

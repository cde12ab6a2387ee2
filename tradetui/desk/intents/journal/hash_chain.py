"""The journal's hash chain: each event's hash covers every column of it, its intent, and the hash before it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple

from tradetui.desk.intents.states import ENDED, State

LOCK_EVENT: Final = "locked"
UNLOCK_EVENT: Final = "unlocked"
"""The trading lock is an event of no intent, in one of these two states."""


_ENCODED: Final = json.JSONEncoder().encode
"""As `json.dumps` does it, without asking for its options a hundred thousand times."""


class BrokenChain(Exception):
    """The file holds something that this program did not write there; `number` is the first event it concerns."""

    def __init__(self, number: int) -> None:
        super().__init__(f"event {number} is not as it was written")
        self.number = number


class ChainPoint(NamedTuple):
    """An event's number and the hash of everything up to it."""

    number: int
    chain: str


class EventRow(NamedTuple):
    """The columns that an event's hash covers. The trading lock has no intent: id empty, account to kind None."""

    number: int
    intent: str
    account: str | None
    lock_key: str | None
    kind: str | None
    state: str
    at_ms: int
    boot: str
    monotonic_s: float
    owner: str
    details: str


def genesis(journal_id: str) -> ChainPoint:
    """The point before the first event; no other journal's chain begins with it."""
    return ChainPoint(0, hashlib.blake2b(f"journal {journal_id}".encode(), digest_size=16).hexdigest())


def chained(previous: str, row: Sequence[object]) -> str:
    """The hash of an event, with the columns of an `EventRow`, that follows the one of hash `previous`."""
    return hashlib.blake2b(_ENCODED((previous, *row)).encode(), digest_size=16).hexdigest()


_EVENTS: Final = (
    "SELECT number, intent, account, lock_key, kind, event.state, at_ms, boot, monotonic_s, owner, told, chain"
    " FROM event LEFT JOIN intent ON intent.id = event.intent WHERE number > ? ORDER BY number"
)
_MISMATCH: Final = (
    "SELECT last.number, intent.state, last.state, open FROM intent LEFT JOIN event AS last ON last.number ="
    " (SELECT max(number) FROM event WHERE event.intent = intent.id)"
)


def verify(connection: sqlite3.Connection, start: ChainPoint) -> ChainPoint:
    """Follow the chain to the newest event, and hold the table of intents to it; the new point. Raises BrokenChain."""
    point = start
    touched: set[str] = set()
    try:
        for row in connection.execute(_EVENTS, (start.number,)):
            number, intent, state, chain = row[0], row[1], row[5], row[11]
            fits = state in (_STATES if intent else _LOCK_STATES)
            if not fits or chained(point.chain, row[:11]) != chain:
                raise BrokenChain(number)
            if intent:
                touched.add(intent)
            point = ChainPoint(number, chain)
    except TypeError:  # bytes where text or a number was written
        raise BrokenChain(point.number + 1) from None
    if start.number == 0:
        for mismatch in connection.execute(_MISMATCH):
            _check_intent(mismatch)
    else:
        for intent in touched:
            for mismatch in connection.execute(f"{_MISMATCH} WHERE intent.id = ?", (intent,)):
                _check_intent(mismatch)
    return point


def _check_intent(row: tuple[int | None, object, object, object]) -> None:
    number, state, last_state, is_open = row
    # Where another intent of its scope is open, that one holds it, and the corrected one does not.
    fits = is_open == (state not in _ENDED) or (state == State.CORRECTED and is_open == 0)
    if number is None or state != last_state or not fits:
        raise BrokenChain(number or 0)


_STATES: Final = frozenset(map(str, State))
_LOCK_STATES: Final = frozenset({LOCK_EVENT, UNLOCK_EVENT})
_ENDED: Final = frozenset(map(str, ENDED))

"""The journal's tables, in which each event's hash covers every column of it, its intent, and the hash before it.

An older file is led to them step by step, and its events are chained on the way.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tradetui.desk.intents.states import ENDED, State
from tradetui.storage.sqlite_file import Migration

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


def insert_event(connection: sqlite3.Connection, row: EventRow, previous: str) -> str:
    """Append an event with its chain hash, which is returned."""
    chain = chained(previous, row)
    connection.execute(
        "INSERT INTO event (number, intent, state, at_ms, boot, monotonic_s, owner, told, chain)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.number, row.intent, row.state, row.at_ms, row.boot, row.monotonic_s, row.owner, row.details, chain),
    )
    return chain


def read_details(text: object) -> Mapping[str, Any]:
    """The details of an event from their JSON text; raises sqlite3.DatabaseError where it is none."""
    try:
        details = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        details = None
    if not isinstance(details, dict):
        raise sqlite3.DatabaseError("the details of an event cannot be read")
    return details


_STATES: Final = frozenset(map(str, State))
_LOCK_STATES: Final = frozenset({LOCK_EVENT, UNLOCK_EVENT})
_ENDED: Final = frozenset(map(str, ENDED))
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


_FIRST: Final = """
    CREATE TABLE intent (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, lock_key TEXT NOT NULL, kind TEXT NOT NULL,
        state TEXT NOT NULL, open INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX one_open_intent ON intent (account, lock_key) WHERE open = 1;
    CREATE TABLE event (
        number INTEGER PRIMARY KEY AUTOINCREMENT, intent TEXT NOT NULL REFERENCES intent (id),
        state TEXT NOT NULL, at_ms INTEGER NOT NULL, told TEXT NOT NULL
    );
    CREATE INDEX event_of_intent ON event (intent);
    CREATE TRIGGER no_change_of_event BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
    CREATE TRIGGER no_loss_of_event BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
    CREATE TABLE trading_lock (account TEXT PRIMARY KEY, locked INTEGER NOT NULL, at_ms INTEGER NOT NULL)
    """

# A program of the first version that still has the file open can write nothing more: its inserts lack columns.
_TABLES: Final = """
    CREATE TABLE identity (id TEXT NOT NULL);
    ALTER TABLE event RENAME TO old_event;
    DROP TRIGGER no_change_of_event;
    DROP TRIGGER no_loss_of_event;
    DROP INDEX event_of_intent;
    CREATE TABLE event (
        number INTEGER PRIMARY KEY AUTOINCREMENT, intent TEXT NOT NULL, state TEXT NOT NULL, at_ms INTEGER NOT NULL,
        boot TEXT NOT NULL, monotonic_s REAL NOT NULL, owner TEXT NOT NULL, told TEXT NOT NULL, chain TEXT NOT NULL
    );
    CREATE INDEX event_of_intent ON event (intent);
    CREATE INDEX open_scope ON intent (lock_key) WHERE open = 1;
    CREATE INDEX corrected_scope ON intent (lock_key) WHERE state = 'corrected'
    """
_TRIGGERS: Final = (
    "CREATE TRIGGER no_change_of_event BEFORE UPDATE ON event"
    " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    "CREATE TRIGGER no_loss_of_event BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END",
)


def migrations(new_id: Callable[[], str]) -> tuple[Migration, ...]:
    """The steps from one version of a journal to the next; `new_id` gives it the id that it is known by for ever."""

    def chain_events(connection: sqlite3.Connection) -> None:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        journal_id = new_id()
        connection.execute("INSERT INTO identity VALUES (?)", (journal_id,))
        _chain_old_events(connection, genesis(journal_id).chain)
        connection.execute("DROP TABLE old_event")
        connection.execute("DROP TABLE trading_lock")
        for statement in _TRIGGERS:
            connection.execute(statement)

    return _FIRST, chain_events


def _chain_old_events(connection: sqlite3.Connection, previous: str) -> None:
    number = 0
    rows = connection.execute(
        "SELECT number, intent, account, lock_key, kind, old_event.state, at_ms, told FROM old_event"
        " LEFT JOIN intent ON intent.id = old_event.intent ORDER BY number"
    )
    for number, intent, account, lock_key, kind, state, at_ms, details in rows:
        if state not in set(State):
            raise sqlite3.DatabaseError(f"event {number} cannot be read")
        read_details(details)
        row = EventRow(number, intent, account, lock_key, kind, state, at_ms, "", 0.0, "", details)
        previous = insert_event(connection, row, previous)
    locks = connection.execute("SELECT account, locked, at_ms FROM trading_lock ORDER BY locked, at_ms").fetchall()
    for _, locked, at_ms in locks:
        number += 1
        state = LOCK_EVENT if locked else UNLOCK_EVENT
        previous = insert_event(
            connection, EventRow(number, "", None, None, None, state, at_ms, "", 0.0, "", "{}"), previous
        )

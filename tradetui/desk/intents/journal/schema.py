"""The tables of the journal, and how an older file is led to them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

from tradetui.desk.intents.journal.hash_chain import LOCK_EVENT, UNLOCK_EVENT, EventRow, chained, genesis
from tradetui.desk.intents.states import State
from tradetui.storage.sqlite_file import Migration

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

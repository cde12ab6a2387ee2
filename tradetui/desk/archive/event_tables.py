"""The tables of the event log, which `desk/events` keeps in the archive: what was noticed of the account, in order."""

from __future__ import annotations

from typing import Final

EVENT_TABLES: Final = """
    CREATE TABLE event_log (name TEXT NOT NULL, began_ms INTEGER NOT NULL);
    CREATE TABLE event_mark (subject TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE account_event (
        number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, product_type TEXT NOT NULL, id TEXT NOT NULL,
        time INTEGER NOT NULL, body TEXT
    );
    CREATE UNIQUE INDEX event_once ON account_event (kind, product_type, id) WHERE kind <> 'order';
    CREATE TABLE watched_order (
        product_type TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (product_type, id)
    ) WITHOUT ROWID
    """
"""`event_log` has a row once somebody watches. A fill's event has no body: `record` holds it."""

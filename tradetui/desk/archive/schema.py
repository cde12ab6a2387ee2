"""The tables of an archive's file, by version: each entry leads from one version to the next."""

from __future__ import annotations

from typing import Final

from tradetui.desk.archive.bills import BILL_TABLES
from tradetui.desk.archive.equity import ACCOUNTS_COLUMN, EQUITY_TABLES
from tradetui.desk.archive.ledger.ledger_tables import INCOMPLETE_FILLS, LEDGER_TABLES, ORDERS_IN_USD, SPAN_TABLES
from tradetui.desk.archive.ledger.missing_fills import LOST_FILLS_TABLE, REFUSED_HOLES_TABLE
from tradetui.desk.archive.trip_funding import CLOSED_POSITION_TABLES

_RECORD_TABLES: Final = """
    CREATE TABLE record (
        kind TEXT NOT NULL, product_type TEXT NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL,
        ordinal TEXT NOT NULL, symbol TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE UNIQUE INDEX record_by_id ON record (kind, product_type, id);
    CREATE INDEX record_by_time ON record (kind, time, ordinal, product_type);
    CREATE INDEX record_by_symbol ON record (kind, symbol, time, ordinal, product_type);
    CREATE TABLE hole (
        product_type TEXT NOT NULL, cursor TEXT NOT NULL, until INTEGER, PRIMARY KEY (product_type, cursor)
    )
    """
_ALERT_TABLES: Final = """
    CREATE TABLE alert (
        number INTEGER PRIMARY KEY, key TEXT NOT NULL, at_ms INTEGER NOT NULL, boot TEXT NOT NULL,
        monotonic REAL NOT NULL, sentence TEXT NOT NULL, rules TEXT NOT NULL, channels TEXT NOT NULL
    );
    CREATE INDEX alert_by_key ON alert (key);
    CREATE TABLE alert_claim (
        alert INTEGER NOT NULL, channel TEXT NOT NULL, owner TEXT NOT NULL, boot TEXT NOT NULL,
        monotonic REAL NOT NULL, result TEXT, PRIMARY KEY (alert, channel)
    );
    CREATE TABLE alert_session (owner TEXT PRIMARY KEY, boot TEXT NOT NULL, typed REAL NOT NULL)
    """
"""Of `desk/alerts`: the log of alerts, and which session delivers each."""
_EVENT_TABLES: Final = """
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
"""Of `desk/events`: what was noticed of the account, in order.

`event_log` has a row once somebody watches. A fill's event has no body: `record` holds it.
"""

ORDER_ID_TEXT: Final = """substr(body, instr(body, '"orderId"'), 50)"""
"""A piece of a row's text with the id of its order in it, cheaper to cut out than the id itself."""
_SEARCHED_IDS: Final = f"""
    DROP INDEX record_by_symbol;
    CREATE INDEX record_by_symbol ON record (kind, symbol, time, ordinal, product_type, {ORDER_ID_TEXT})
    """
"""A search for ids reads the index alone, a sixth of the rows themselves; in one index more each write would cost more
than a tenth more."""

ARCHIVE_VERSIONS: Final = (
    _RECORD_TABLES,
    LEDGER_TABLES,
    _ALERT_TABLES,
    EQUITY_TABLES,
    BILL_TABLES,
    ACCOUNTS_COLUMN,
    _EVENT_TABLES,
    ORDERS_IN_USD,
    SPAN_TABLES,
    CLOSED_POSITION_TABLES,
    _SEARCHED_IDS,
    INCOMPLETE_FILLS,
    LOST_FILLS_TABLE,
    REFUSED_HOLES_TABLE,
)

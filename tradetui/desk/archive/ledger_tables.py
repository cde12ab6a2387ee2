"""The ledger's tables in the archive's file."""

from __future__ import annotations

from typing import Final

LEDGER_TABLES: Final = """
    CREATE TABLE ledger_quarter (
        quarter INTEGER NOT NULL, product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL,
        coin TEXT NOT NULL, gross TEXT NOT NULL, fees TEXT NOT NULL, volume TEXT NOT NULL,
        gross_in_usd TEXT NOT NULL, fees_in_usd TEXT NOT NULL, trades INTEGER NOT NULL, wins INTEGER NOT NULL,
        losses INTEGER NOT NULL, won TEXT NOT NULL, lost TEXT NOT NULL,
        PRIMARY KEY (quarter, product_type, symbol, leg, coin)
    ) WITHOUT ROWID;
    CREATE TABLE ledger_order (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL, order_id TEXT NOT NULL,
        coin TEXT NOT NULL, first_time INTEGER NOT NULL, first_ordinal TEXT NOT NULL, last_time INTEGER NOT NULL,
        last_ordinal TEXT NOT NULL, profit TEXT NOT NULL, fees TEXT NOT NULL,
        PRIMARY KEY (product_type, symbol, leg, order_id)
    ) WITHOUT ROWID;
    CREATE INDEX ledger_order_by_time ON ledger_order (product_type, symbol, leg, last_time);
    CREATE TABLE ledger_leg (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL, state TEXT NOT NULL,
        applied_time INTEGER NOT NULL, applied_ordinal TEXT NOT NULL, behind INTEGER NOT NULL,
        PRIMARY KEY (product_type, symbol, leg)
    ) WITHOUT ROWID;
    CREATE TABLE ledger_trip (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL, closed_time INTEGER NOT NULL,
        closed_ordinal TEXT NOT NULL, number INTEGER NOT NULL, last_time INTEGER NOT NULL, body TEXT NOT NULL,
        state_after TEXT NOT NULL,
        PRIMARY KEY (product_type, symbol, leg, closed_time, closed_ordinal, number)
    ) WITHOUT ROWID;
    CREATE INDEX ledger_trip_by_time ON ledger_trip (last_time);
    CREATE TABLE ledger_mode (
        product_type TEXT NOT NULL, time INTEGER NOT NULL, ordinal TEXT NOT NULL, mode TEXT NOT NULL,
        PRIMARY KEY (product_type, time, ordinal)
    ) WITHOUT ROWID;
    CREATE TABLE ledger_read (product_type TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE ledger_start (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL, PRIMARY KEY (product_type, symbol, leg)
    ) WITHOUT ROWID;
    CREATE TABLE ledger_mark (booked_rowid INTEGER NOT NULL);
    INSERT INTO ledger_mark VALUES (0)
    """
"""Sums by quarter-hour; closing orders; each leg's state and how far its fills are taken in; ended trips, with the
state of the leg behind them; where the position mode changed; up to when fills were read; of which
legs nothing was held before the first fill; and the row of `record` up
to which fills are booked: those behind it are the ledger's tail, to be booked before it is read."""

"""All tables of an archive's file. Files of another version are not read; raise the version with any change."""

from __future__ import annotations

from typing import Final

from tradetui.trading.results.trips import trip_path

ORDER_ID_TEXT: Final = """substr(body, instr(body, '"orderId"'), 50)"""
"""The piece of a row's text that holds its order id; it is cheaper to cut out than the id itself."""
_RECORD_TABLES: Final = f"""
    CREATE TABLE record (
        kind TEXT NOT NULL, product_type TEXT NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL,
        ordinal TEXT NOT NULL, symbol TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE UNIQUE INDEX record_by_id ON record (kind, product_type, id);
    CREATE INDEX record_by_time ON record (kind, time, ordinal, product_type);
    CREATE INDEX record_by_symbol ON record (kind, symbol, time, ordinal, product_type, {ORDER_ID_TEXT});
    CREATE TABLE fill_gap (
        product_type TEXT NOT NULL, cursor TEXT NOT NULL, until INTEGER, refused_ms INTEGER NOT NULL DEFAULT 0,
        refusal TEXT NOT NULL DEFAULT '', PRIMARY KEY (product_type, cursor)
    );
    CREATE TABLE lost_fills (
        product_type TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (product_type, since)
    ) WITHOUT ROWID;
    CREATE TABLE rows_read (
        kind TEXT NOT NULL, product_type TEXT NOT NULL, since INTEGER, until INTEGER, refusal TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (kind, product_type)
    ) WITHOUT ROWID
    """
"""Fills and trigger orders as received (`body`), and what is missing of them.

`fill_gap` holds the gaps that are still to be read: fills older than the fill `cursor`, back to `until`. If a request
for a gap was refused, `refused_ms` and `refusal` say when and why. `lost_fills` holds the periods whose fills were not
read while the exchange kept them; a period since 0 is the time before the oldest fill that it still returned.
`rows_read` is the period whose fills, bills or closed positions are read, and why a read was refused. All times are
Unix ms; the end of a period of lost fills is not included.

A search for ids reads only the index by symbol, which is a sixth of the size of the rows. An index of its own would
make each write more than a tenth slower.
"""
_LEDGER_TABLES: Final = f"""
    CREATE TABLE ledger_quarter (
        quarter INTEGER NOT NULL, product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL,
        coin TEXT NOT NULL, gross TEXT NOT NULL, fees TEXT NOT NULL, volume TEXT NOT NULL,
        gross_in_usd TEXT NOT NULL, fees_in_usd TEXT NOT NULL, trades INTEGER NOT NULL, wins INTEGER NOT NULL,
        losses INTEGER NOT NULL, won TEXT NOT NULL, lost TEXT NOT NULL, won_in_usd TEXT NOT NULL,
        lost_in_usd TEXT NOT NULL, incomplete_fills INTEGER NOT NULL,
        PRIMARY KEY (quarter, product_type, symbol, leg, coin)
    ) WITHOUT ROWID;
    CREATE TABLE ledger_order (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL, order_id TEXT NOT NULL,
        coin TEXT NOT NULL, first_time INTEGER NOT NULL, first_ordinal TEXT NOT NULL, last_time INTEGER NOT NULL,
        last_ordinal TEXT NOT NULL, profit TEXT NOT NULL, fees TEXT NOT NULL, in_usd TEXT NOT NULL,
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
    CREATE INDEX ledger_trip_unproven ON ledger_trip (product_type, symbol, leg, last_time)
        WHERE NOT json_extract(body, '{trip_path("start_proven")}');
    CREATE TABLE ledger_mode (
        product_type TEXT NOT NULL, time INTEGER NOT NULL, ordinal TEXT NOT NULL, mode TEXT NOT NULL,
        PRIMARY KEY (product_type, time, ordinal)
    ) WITHOUT ROWID;
    CREATE TABLE ledger_start (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL, PRIMARY KEY (product_type, symbol, leg)
    ) WITHOUT ROWID;
    CREATE TABLE ledger_mark (booked_rowid INTEGER NOT NULL);
    INSERT INTO ledger_mark VALUES (0)
    """
"""The fills' results: sums by quarter-hour, closing orders, each leg's state with its last applied fill (`ledger_leg`),
ended trips with the leg's state after them, and the changes of position mode (`ledger_mode`).

`ledger_start` lists the legs that held nothing before the first fill. `ledger_mark` is the last row of `record` whose
fill is booked; later ones are booked before results are read. `incomplete_fills` counts fills without their fee or
profit.
"""
_EVENT_TABLES: Final = """
    CREATE TABLE event_log (name TEXT NOT NULL, began_ms INTEGER NOT NULL);
    CREATE TABLE event_mark (subject TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE account_event (
        number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, product_type TEXT NOT NULL, id TEXT NOT NULL,
        time INTEGER NOT NULL, body TEXT
    );
    CREATE UNIQUE INDEX event_once ON account_event (kind, product_type, id) WHERE kind NOT IN ('order', 'alert');
    CREATE TABLE watched_order (
        product_type TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, gone_s REAL,
        missed INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (product_type, id)
    ) WITHOUT ROWID
    """
"""Tables of `desk/events`: what was noticed about the account, in order.

`event_log` has a row once `watch` has run. A fill's event has no body: `record` holds it. An alert's `id` is its key.
`gone_s` is the time, by the exchange's clock, since which an order is no longer pending while its end is unknown.
"""
_ALERT_TABLES: Final = """
    CREATE INDEX alert_by_key ON account_event (id) WHERE kind = 'alert';
    CREATE INDEX alert_in_order ON account_event (number) WHERE kind = 'alert';
    CREATE TABLE alert_claim (
        alert INTEGER NOT NULL, channel TEXT NOT NULL, owner TEXT NOT NULL, boot TEXT NOT NULL,
        monotonic REAL NOT NULL, result TEXT, PRIMARY KEY (alert, channel)
    );
    CREATE TABLE alert_session (owner TEXT PRIMARY KEY, boot TEXT NOT NULL, typed REAL NOT NULL);
    CREATE TABLE reversal_end (intent TEXT PRIMARY KEY, shown INTEGER NOT NULL) WITHOUT ROWID
    """
"""Tables of `desk/events`: the session that delivers each alert, and the reversals whose end was shown."""
_EQUITY_TABLES: Final = """
    CREATE TABLE equity_sample (
        minute INTEGER NOT NULL, product_types TEXT NOT NULL, time INTEGER NOT NULL, equity TEXT NOT NULL,
        unrealised TEXT, accounts TEXT,
        PRIMARY KEY (minute, product_types)
    ) WITHOUT ROWID
    """
"""The accounts' equity at each sampled minute, in USDT.

`accounts` is the equity of every account in its own coin: a JSON array of the fields of `CoinEquity`, decimals as text.
"""
_BILL_TABLES: Final = """
    CREATE TABLE bill (
        product_type TEXT NOT NULL, coin TEXT NOT NULL, time INTEGER NOT NULL, ordinal TEXT NOT NULL,
        kind TEXT NOT NULL, business_type TEXT NOT NULL, symbol TEXT NOT NULL, amount TEXT NOT NULL, fee TEXT NOT NULL,
        balance TEXT, PRIMARY KEY (product_type, coin, time, ordinal)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX bill_by_id ON bill (product_type, ordinal);
    CREATE INDEX bill_by_kind ON bill (kind, time) WHERE kind <> 'trade';
    CREATE TABLE bill_funding (
        quarter INTEGER NOT NULL, product_type TEXT NOT NULL, symbol TEXT NOT NULL, coin TEXT NOT NULL,
        amount TEXT NOT NULL, PRIMARY KEY (quarter, product_type, symbol, coin)
    ) WITHOUT ROWID;
    CREATE TABLE bill_gap (
        product_type TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL,
        PRIMARY KEY (product_type, since, until)
    ) WITHOUT ROWID
    """
"""Bills; funding by quarter-hour; the gaps in the period whose bills are read."""
_SPAN_TABLES: Final = """
    CREATE TABLE ledger_span (
        by_symbol INTEGER NOT NULL, first INTEGER NOT NULL, beyond INTEGER NOT NULL, groups TEXT NOT NULL,
        PRIMARY KEY (by_symbol, first, beyond)
    ) WITHOUT ROWID
    """
"""Sums from one UTC quarter-hour to another, which is not included: days and months in the time zones that were read.

They can be made again from the ledger at any time, and are deleted when one of their quarter-hours changes.
"""
_CLOSED_POSITION_TABLES: Final = """
    CREATE TABLE closed_position (
        product_type TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL, closed INTEGER NOT NULL,
        opened INTEGER NOT NULL, funding TEXT NOT NULL, net TEXT,
        PRIMARY KEY (product_type, symbol, side, closed, opened)
    ) WITHOUT ROWID
    """
"""Closed positions by the time they ended."""

ARCHIVE_VERSION: Final = 18
ARCHIVE_SCHEMA: Final = ";".join(
    (
        _RECORD_TABLES,
        _LEDGER_TABLES,
        _EVENT_TABLES,
        _ALERT_TABLES,
        _EQUITY_TABLES,
        _BILL_TABLES,
        _SPAN_TABLES,
        _CLOSED_POSITION_TABLES,
    )
)

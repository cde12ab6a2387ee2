"""The ledger's tables in the archive's file, the columns of a quarter-hour, and when a sum of days is void."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from decimal import Decimal
from operator import attrgetter
from typing import Final

from tradetui.trading.results.periods import ResultSums

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

ORDERS_IN_USD: Final = """
    DROP TABLE ledger_quarter;
    CREATE TABLE ledger_quarter (
        quarter INTEGER NOT NULL, product_type TEXT NOT NULL, symbol TEXT NOT NULL, leg TEXT NOT NULL,
        coin TEXT NOT NULL, gross TEXT NOT NULL, fees TEXT NOT NULL, volume TEXT NOT NULL,
        gross_in_usd TEXT NOT NULL, fees_in_usd TEXT NOT NULL, trades INTEGER NOT NULL, wins INTEGER NOT NULL,
        losses INTEGER NOT NULL, won TEXT NOT NULL, lost TEXT NOT NULL, won_in_usd TEXT NOT NULL,
        lost_in_usd TEXT NOT NULL, PRIMARY KEY (quarter, product_type, symbol, leg, coin)
    ) WITHOUT ROWID;
    DELETE FROM ledger_order;
    ALTER TABLE ledger_order ADD COLUMN in_usd TEXT NOT NULL DEFAULT '0';
    DELETE FROM ledger_leg;
    DELETE FROM ledger_trip;
    DELETE FROM ledger_mode;
    UPDATE ledger_mark SET booked_rowid = 0
    """
"""Results of closing orders of coin-margined contracts in dollars; all fills are booked anew for it."""

SPAN_TABLES: Final = """
    CREATE TABLE ledger_span (
        by_symbol INTEGER NOT NULL, first INTEGER NOT NULL, beyond INTEGER NOT NULL, groups TEXT NOT NULL,
        PRIMARY KEY (by_symbol, first, beyond)
    ) WITHOUT ROWID
    """
"""Sums from one quarter-hour of UTC up to another, the latter not included: the days and months of whatever zones were
read. They can be made anew from the ledger at any time, and are deleted when a quarter-hour of theirs changes."""
INCOMPLETE_FILLS: Final = """
    ALTER TABLE ledger_quarter ADD COLUMN incomplete_fills INTEGER NOT NULL DEFAULT 0;
    UPDATE ledger_mark SET booked_rowid = 0 WHERE EXISTS (
        SELECT 1 FROM record WHERE kind = 'fill' AND (instr(body, '"totalFee":""') OR instr(body, '"profit":""')
        OR NOT instr(body, '"totalFee":"') OR NOT instr(body, '"profit":"'))
    );
    DELETE FROM ledger_span;
    DELETE FROM ledger_quarter WHERE NOT (SELECT booked_rowid FROM ledger_mark);
    DELETE FROM ledger_order WHERE NOT (SELECT booked_rowid FROM ledger_mark);
    DELETE FROM ledger_leg WHERE NOT (SELECT booked_rowid FROM ledger_mark);
    DELETE FROM ledger_trip WHERE NOT (SELECT booked_rowid FROM ledger_mark);
    DELETE FROM ledger_mode WHERE NOT (SELECT booked_rowid FROM ledger_mark)
    """
"""How many fills came without their fee or profit. Where there may be such a fill, all are booked anew for it."""
_FIGURES: Final = fields(ResultSums)
FIGURES: Final = ", ".join(figure.name for figure in _FIGURES)
"""The columns of a quarter-hour's figures; sums of days and months have them in this order, too."""
_FIGURE_TYPES: Final[Sequence[Callable[[str | int], Decimal | int]]] = [
    Decimal if isinstance(figure.default, Decimal) else int for figure in _FIGURES
]
_sums_from_figures: Final[Callable[..., ResultSums]] = ResultSums
_figures_of: Final = attrgetter(*(figure.name for figure in _FIGURES))
_QUARTERS_A_DAY: Final = 96
_LONGEST_SPAN: Final = 31 * _QUARTERS_A_DAY + 4
"""Quarter-hours of the longest span: a month in which clocks are put back."""


def forget_spans(connection: sqlite3.Connection, quarters: Iterable[int]) -> None:
    """Delete the sums that these quarter-hours are part of; called in the transaction that changes them."""
    for day in {quarter // _QUARTERS_A_DAY for quarter in quarters}:
        first, beyond = day * _QUARTERS_A_DAY, (day + 1) * _QUARTERS_A_DAY
        connection.execute(
            "DELETE FROM ledger_span WHERE by_symbol IN (0, 1) AND first > ? AND first < ? AND beyond > ?",
            (first - _LONGEST_SPAN, beyond, first),
        )


def sums_of(row: Iterable[str | int]) -> ResultSums:
    """The figures of a quarter-hour as the file has them."""
    return _sums_from_figures(*[figure_type(figure) for figure_type, figure in zip(_FIGURE_TYPES, row, strict=True)])


def ledger_figures(sums: ResultSums) -> tuple[str | int, ...]:
    """The figures as the file has them, in the order of `FIGURES`."""
    return tuple(str(figure) if isinstance(figure, Decimal) else figure for figure in _figures_of(sums))

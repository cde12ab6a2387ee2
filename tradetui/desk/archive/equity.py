"""What the account was worth, sampled once a minute and thinned with age, in the archive's file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.wire.product_types import ProductType
from tradetui.wire.time_windows import DAY_MS

SAMPLED_EVERY_MS: Final = 60_000
THINNED_EVERY_MS: Final = 3_600_000
_KEPT: Final = ((7 * DAY_MS, 90 * DAY_MS, THINNED_EVERY_MS), (90 * DAY_MS, None, DAY_MS))
"""From which age to which one sample is kept of each hour, and of each day; younger ones are a minute apart."""
EQUITY_TABLES: Final = """
    CREATE TABLE equity_sample (
        minute INTEGER NOT NULL, product_types TEXT NOT NULL, time INTEGER NOT NULL, equity TEXT NOT NULL,
        unrealised TEXT,
        PRIMARY KEY (minute, product_types)
    ) WITHOUT ROWID
    """


@dataclass(frozen=True, slots=True)
class EquitySample:
    """Equity and unrealised profit of some product types' accounts together, in USDT, at a time in Unix ms."""

    time: int
    equity: Decimal
    unrealised: Decimal | None


def add_sample(connection: sqlite3.Connection, product_types: Sequence[ProductType], sample: EquitySample) -> None:
    """Keep a sample unless its minute has one; two sessions of one account take them together."""
    connection.execute(
        "INSERT OR IGNORE INTO equity_sample VALUES (?, ?, ?, ?, ?)",
        (
            sample.time // SAMPLED_EVERY_MS,
            _scope(product_types),
            sample.time,
            str(sample.equity),
            None if sample.unrealised is None else str(sample.unrealised),
        ),
    )


def thin_samples(connection: sqlite3.Connection, now_ms: int) -> None:
    """Let go of all but the last sample of an hour after a week, and of a day (of UTC) after a quarter."""
    for youngest, oldest, step in _KEPT:
        first = 0 if oldest is None else (now_ms - oldest) // step * step // SAMPLED_EVERY_MS
        last = (now_ms - youngest) // step * step // SAMPLED_EVERY_MS
        connection.execute(
            "DELETE FROM equity_sample WHERE minute >= ? AND minute < ? AND (minute, product_types) NOT IN"
            " (SELECT max(minute), product_types FROM equity_sample WHERE minute >= ? AND minute < ?"
            " GROUP BY product_types, minute / ?)",
            (first, last, first, last, step // SAMPLED_EVERY_MS),
        )


def samples(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], since: int, until: int
) -> Iterator[EquitySample]:
    """The samples of a period (Unix ms, both included), oldest first."""
    rows = connection.execute(
        "SELECT time, equity, unrealised FROM equity_sample WHERE minute BETWEEN ? AND ? AND product_types = ?"
        " AND time BETWEEN ? AND ? ORDER BY minute",
        (since // SAMPLED_EVERY_MS, until // SAMPLED_EVERY_MS, _scope(product_types), since, until),
    )
    for time, equity, unrealised in rows:
        yield EquitySample(time, Decimal(equity), None if unrealised is None else Decimal(unrealised))


def _scope(product_types: Sequence[ProductType]) -> str:
    return ",".join(sorted(product_types))

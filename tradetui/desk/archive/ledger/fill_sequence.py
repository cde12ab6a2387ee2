"""The sequence in which archived fills are booked, cut where a product type's position mode changes.

It goes by time, then by id. Nothing can be held across a change of mode, so that whatever a leg holds ends there.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

from tradetui.desk.tables.rows.product_row import id_order
from tradetui.trading.results.booking import BookedFill, booked_fill
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError
from tradetui.wire.text.json_text import load_json

VISIBLE_AFTER_MS: Final = 5_000
"""Every read of the exchange shows a fill that is at least this old."""


class Instant(NamedTuple):
    """A point of the sequence: Unix ms, then the id as it is sorted."""

    time: int
    ordinal: str


class SequencedFill(NamedTuple):
    instant: Instant
    fill: BookedFill


BEFORE_ALL: Final = Instant(-1, "")


def sequenced_fill(product_type: ProductType, fill: FuturesFill) -> SequencedFill:
    time = unix_ms(fill.c_time)
    return SequencedFill(Instant(time, id_order(fill.trade_id)), booked_fill(product_type, fill, time))


def read_booked_fill(product_type: str, body: str, time: int) -> BookedFill | None:
    """Read a fill from the archive's text; None where this version cannot."""
    try:
        known_type = ProductType(product_type)
        return booked_fill(known_type, FuturesFill.from_row(load_json(body)), time)
    except (UndecodableRowError, ValueError):
        return None


class PositionModes:
    """Keeps in the archive from which fill of a product type on each position mode was in force."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._runs: dict[ProductType, list[tuple[Instant, str]]] = {}

    def forget(self) -> None:
        self._runs.clear()

    def changed_between(self, product_type: ProductType, after: Instant, until: Instant) -> bool:
        """Whether the position mode changed after one instant and not after another."""
        runs = self._runs_of(product_type)
        latest = bisect_right(runs, (until, "\uffff")) - 1
        return latest > 0 and runs[latest][0] > after

    def note(self, fills: Iterable[SequencedFill]) -> set[ProductType]:
        """Take in fills; the product types of which they show a change of mode that is not known yet."""
        product_types: set[ProductType] = set()
        for instant, fill in fills:
            mode = fill.meaning.mode
            if mode is None:
                continue
            runs = self._runs_of(fill.key.product_type)
            index = bisect_right(runs, (instant, "\uffff")) - 1
            if index < 0 and runs and runs[0][1] == mode:
                runs[0] = (instant, mode)  # how far back the oldest mode reaches changes nothing
            elif index < 0 or runs[index][1] != mode:
                product_types.add(fill.key.product_type)
        return product_types

    def rebuild(self, product_type: ProductType) -> Instant | None:
        """Read anew where the mode changed between two fills, and keep it; the first instant that differs."""
        rows = self._connection.execute(
            "SELECT time, ordinal, mode FROM (SELECT time, ordinal, lower(json_extract(body, '$.posMode')) AS mode,"
            " lag(lower(json_extract(body, '$.posMode'))) OVER (ORDER BY time, ordinal) AS before FROM record"
            " WHERE kind = 'fill' AND product_type = ?"
            " AND lower(json_extract(body, '$.posMode')) IN ('hedge_mode', 'one_way_mode'))"
            " WHERE mode IS NOT before ORDER BY time, ordinal",
            (product_type,),
        ).fetchall()
        runs = [(Instant(time, ordinal), str(mode)) for time, ordinal, mode in rows]
        known = self._runs_of(product_type)
        changes, known_changes = set(runs[1:]), set(known[1:])
        self._runs[product_type] = runs
        self._connection.execute("DELETE FROM ledger_mode WHERE product_type = ?", (product_type,))
        self._connection.executemany(
            "INSERT INTO ledger_mode VALUES (?, ?, ?, ?)",
            [(str(product_type), *instant, mode) for instant, mode in runs],
        )
        return min((instant for instant, _ in changes ^ known_changes), default=None)

    def _runs_of(self, product_type: ProductType) -> list[tuple[Instant, str]]:
        runs = self._runs.get(product_type)
        if runs is None:
            rows = self._connection.execute(
                "SELECT time, ordinal, mode FROM ledger_mode WHERE product_type = ? ORDER BY time, ordinal",
                (product_type,),
            )
            runs = self._runs[product_type] = [(Instant(time, ordinal), mode) for time, ordinal, mode in rows]
        return runs

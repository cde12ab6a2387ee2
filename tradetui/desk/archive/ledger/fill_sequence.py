"""The sequence in which archived fills are booked, by time and then by id, and the position modes along it.

An account can change between hedge and one-way mode only while it holds nothing. Where the fills of a product type show
such a change, whatever a leg still holds by its fills ends there.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import Final, NamedTuple

from tradetui.desk.tables.rows.product_row import id_order
from tradetui.trading.results.booking import BookedFill, booked_fill
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.json_text import load_json
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError

VISIBLE_AFTER_MS: Final = 5_000
"""Every read of the exchange shows a fill that is at least this old."""


class Instant(NamedTuple):
    """A point of the sequence: Unix ms, then the id as it is sorted."""

    time: int
    ordinal: str


BEFORE_ALL: Final = Instant(-1, "")


class SequencedFill(NamedTuple):
    """A fill as it is booked, and its place in the sequence."""

    instant: Instant
    fill: BookedFill


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


class ModeRun(NamedTuple):
    """The fill from which on a position mode was in force, until that of the next run."""

    begin: Instant
    mode: str


class PositionModes:
    """Keeps in the archive from which fill of a product type on each position mode was in force."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._runs: dict[ProductType, list[ModeRun]] = {}

    def forget(self) -> None:
        """Let go of what is in memory, as after a transaction that was undone."""
        self._runs.clear()

    def changed_between(self, product_type: ProductType, after: Instant, until: Instant) -> bool:
        """Whether the position mode changed after one instant and not after another."""
        runs = self._runs_of(product_type)
        latest = _index_at(runs, until)
        return latest > 0 and runs[latest].begin > after

    def note(self, fills: Iterable[SequencedFill]) -> set[ProductType]:
        """Take in fills; gives the product types that are to be rebuilt: a fill shows a change that is not known."""
        product_types: set[ProductType] = set()
        for instant, fill in fills:
            mode = fill.meaning.mode
            if mode is None:
                continue
            runs = self._runs_of(fill.key.product_type)
            index = _index_at(runs, instant)
            if index < 0 and runs and runs[0].mode == mode:
                runs[0] = ModeRun(instant, mode)  # how far back the oldest mode reaches changes nothing
            elif index < 0 or runs[index].mode != mode:
                product_types.add(fill.key.product_type)
        return product_types

    def rebuild(self, product_type: ProductType) -> Instant | None:
        """Read the changes of mode from the fills again and keep them; gives the first instant that differs."""
        rows = self._connection.execute(
            "SELECT time, ordinal, mode FROM (SELECT time, ordinal, lower(json_extract(body, '$.posMode')) AS mode,"
            " lag(lower(json_extract(body, '$.posMode'))) OVER (ORDER BY time, ordinal) AS before FROM record"
            " WHERE kind = 'fill' AND product_type = ?"
            " AND lower(json_extract(body, '$.posMode')) IN ('hedge_mode', 'one_way_mode'))"
            " WHERE mode IS NOT before ORDER BY time, ordinal",
            (product_type,),
        ).fetchall()
        runs = [ModeRun(Instant(time, ordinal), mode) for time, ordinal, mode in rows]
        # The first run begins with the oldest fill: no mode was in force before that could have changed there.
        changes, known_changes = set(runs[1:]), set(self._runs_of(product_type)[1:])
        self._runs[product_type] = runs
        self._connection.execute("DELETE FROM ledger_mode WHERE product_type = ?", (product_type,))
        self._connection.executemany(
            "INSERT INTO ledger_mode (product_type, time, ordinal, mode) VALUES (?, ?, ?, ?)",
            [(str(product_type), *run.begin, run.mode) for run in runs],
        )
        return min((run.begin for run in changes ^ known_changes), default=None)

    def _runs_of(self, product_type: ProductType) -> list[ModeRun]:
        runs = self._runs.get(product_type)
        if runs is None:
            rows = self._connection.execute(
                "SELECT time, ordinal, mode FROM ledger_mode WHERE product_type = ? ORDER BY time, ordinal",
                (product_type,),
            )
            runs = self._runs[product_type] = [ModeRun(Instant(time, ordinal), mode) for time, ordinal, mode in rows]
        return runs


def _index_at(runs: list[ModeRun], instant: Instant) -> int:
    """The index of the run that an instant lies in; -1 where it lies before all of them."""
    return bisect_right(runs, instant, key=attrgetter("begin")) - 1

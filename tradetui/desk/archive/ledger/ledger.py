"""The ledger of an archive's fills counts each fill once, in whatever order fills come and even if they repeat.

- Tail: the archived fills that are not booked yet. Archiving a fill writes no more than the fill. The tail is booked,
  with a mark of the last booked row, before the ledger is read.
- Sums by quarter-hour: they change with every booked fill, in any order.
- State of a leg: what depends on the order of fills (which of them close in one-way mode, round trips). The next fill
  in time is applied to it.
- Flat point: a fill after which a leg held nothing. The state there is stored with the round trip that ended.
- Rewinding: a late fill takes its leg back to the last flat point before it, and undoes what came after.
- Behind: a leg whose later fills wait to be applied again, because it was rewound.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from typing import Final, Literal

from tradetui.desk.archive.ledger.missing_fills import ends_of_lost_fills
from tradetui.desk.archive.ledger.quarter_hours import (
    BEFORE_ALL,
    VISIBLE_AFTER_MS,
    ChangedQuarters,
    ClosingOrders,
    Instant,
    PositionModes,
    QuarterKey,
    SequencedFill,
    read_booked_fill,
)
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import LegKey
from tradetui.trading.results.periods import quarter_of
from tradetui.trading.results.trips import (
    RunningLeg,
    Trip,
    leg_as_json,
    leg_from_json,
    trip_as_json,
    trip_path,
)
from tradetui.wire.enums import PositionSide
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.product_types import ProductType
from tradetui.wire.text import counted

_log = logging.getLogger(__name__)

ROWS_A_STEP: Final = 2_000
"""Fills booked in one step; the rest waits for the next step, so that no step blocks the disk for long."""
_OF_LEG: Final = "product_type = ? AND symbol = ? AND leg = ?"


@dataclass(slots=True)
class _LegState:
    """A leg's state, its last applied fill, and whether it is behind."""

    leg: RunningLeg
    applied: Instant
    behind: bool


class Ledger:
    """Keeps the ledger over the archive's connection; every call is made within a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._quarters = ChangedQuarters(connection)
        self._legs: dict[LegKey, _LegState] = {}
        self._changed_legs: set[LegKey] = set()
        self._modes = PositionModes(connection)
        self._ends_of_lost_fills = cache(partial(ends_of_lost_fills, connection))
        self._orders = ClosingOrders(connection, self._quarters)
        self._data_version: int | None = None

    def forget(self) -> None:
        """Drop everything in memory, as after a rollback."""
        self._quarters.forget()
        self._legs.clear()
        self._changed_legs.clear()
        self._modes.forget()
        self._ends_of_lost_fills.cache_clear()

    def prepare(self) -> None:
        """Drop what another process may have changed; called first in each transaction."""
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._data_version:
            self.forget()
            self._data_version = version

    def book_tail(self) -> int:
        """Book a step of the tail; return about how many fills still wait.

        A fill that this version cannot read is in no result; the log says so.
        """
        booked_rowid, last_rowid = self._connection.execute(
            "SELECT booked_rowid, (SELECT coalesce(max(rowid), 0) FROM record) FROM ledger_mark"
        ).fetchone()
        # The plus keeps SQLite off an index by kind, which all fills share.
        rows = self._connection.execute(
            "SELECT rowid, product_type, time, ordinal, body FROM record WHERE rowid > ? AND +kind = 'fill'"
            " ORDER BY rowid LIMIT ?",
            (booked_rowid, ROWS_A_STEP),
        )
        fills: list[SequencedFill] = []
        row_count, reached = 0, 0
        # One by one, here and below: two thousand bodies are a megabyte, which the process would not give back.
        for rowid, product_type, time, ordinal, body in rows:
            row_count, reached = row_count + 1, int(rowid)
            fill = read_booked_fill(product_type, body, time)
            if fill is not None:
                fills.append(SequencedFill(Instant(time, ordinal), fill))
        if len(fills) < row_count:
            unread = counted(row_count - len(fills), "fill")
            _log.warning("results lack %s that this version cannot read", unread)
        self._book_new(fills)
        is_full = row_count == ROWS_A_STEP
        booked_rowid = reached if is_full else last_rowid
        self._connection.execute("UPDATE ledger_mark SET booked_rowid = ?", (booked_rowid,))
        return int(last_rowid) - reached if is_full else 0

    def _book_new(self, fills: Sequence[SequencedFill]) -> None:
        by_leg: defaultdict[LegKey, list[SequencedFill]] = defaultdict(list)
        for sequenced in fills:
            self._book(sequenced)
            by_leg[sequenced.fill.key].append(sequenced)
        for product_type in self._modes.note(fills):
            self._rebuild_modes(product_type)
        for key, sequenced_fills in by_leg.items():
            sequenced_fills.sort(key=lambda sequenced: sequenced.instant)
            first, state = sequenced_fills[0].instant, self._state(key)
            if first <= state.applied:
                self._rewind_to_change(key, first)
            elif not state.behind:
                for sequenced in sequenced_fills:
                    self._apply(state, sequenced)
                self._changed_legs.add(key)

    def replace(self, before: SequencedFill, after: SequencedFill) -> None:
        """Replace a fill that came again with other figures, if it was booked."""
        self._book(before, -1)
        self._book(after)
        if before.fill.terms.mode is not after.fill.terms.mode:
            self._rebuild_modes(after.fill.key.product_type)
        for key in {before.fill.key, after.fill.key}:
            self._rewind_to_change(key, min(before.instant, after.instant))

    def catch_up(self, waiting: Collection[str] = ()) -> bool:
        """Apply the fills of legs that are behind, as many as one step allows; True if some legs still are behind.

        Legs of the product types in `waiting` stay as they are.
        """
        self._write_legs()
        rows_at_most = ROWS_A_STEP
        behind = [
            key
            for key in self._connection.execute("SELECT product_type, symbol, leg FROM ledger_leg WHERE behind")
            if key[0] not in waiting
        ]
        for type_name, symbol, leg in behind:
            if rows_at_most <= 0:
                return True
            key = LegKey(ProductType(type_name), symbol, PositionSide(leg))
            rows_at_most -= self._catch_up(key, rows_at_most)
            if self._state(key).behind:
                return True
        return False

    def write(self) -> None:
        self._quarters.write()
        self._write_legs()

    def _write_legs(self) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO ledger_leg"
            " (product_type, symbol, leg, state, applied_time, applied_ordinal, behind) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (*state.leg.key, dump_json(leg_as_json(state.leg)), *state.applied, state.behind)
                for state in map(self._legs.__getitem__, self._changed_legs)
            ],
        )
        self._changed_legs.clear()

    def _book(self, sequenced: SequencedFill, sign: Literal[1, -1] = 1) -> None:
        """Add a fill to the sums of its quarter-hour, or with -1 take it out."""
        quarter = quarter_of(sequenced.instant.time)
        for booking in sequenced.fill.bookings():
            self._quarters.sums(QuarterKey(quarter, *sequenced.fill.key, booking.coin)).book(booking, sign)

    def _state(self, key: LegKey) -> _LegState:
        state = self._legs.get(key)
        if state is None:
            row = self._connection.execute(
                f"SELECT state, applied_time, applied_ordinal, behind FROM ledger_leg WHERE {_OF_LEG}", key
            ).fetchone()
            if row is None:
                state = _LegState(self._first_state(key), BEFORE_ALL, behind=False)
            else:
                state = _LegState(leg_from_json(key, load_json(row[0])), Instant(row[1], row[2]), bool(row[3]))
            self._legs[key] = state
        return state

    def _rewind_to_change(self, key: LegKey, instant: Instant) -> None:
        """Rewind a leg to before a fill that came late or changed."""
        state = self._state(key)
        self._rewind(key, instant)
        if state.applied == BEFORE_ALL and state.leg.proven:
            # The proof was made with the fills known then.
            self._connection.execute(f"DELETE FROM ledger_start WHERE {_OF_LEG}", key)
            state.leg = self._first_state(key)

    def _apply(self, state: _LegState, sequenced: SequencedFill) -> None:
        leg, (instant, fill) = state.leg, sequenced
        ended: tuple[Trip, ...] = ()
        if self._modes.changed_between(leg.key.product_type, state.applied, instant):
            ended = leg.flatten()
        elif any(state.applied.time < end <= instant.time for end in self._ends_of_lost_fills(leg.key.product_type)):
            ended, leg.proven = leg.flatten(), False
        outcome = leg.add(fill)
        state.applied = instant
        if outcome.closing is not None:
            self._orders.add(sequenced, outcome.closing)
        ended += outcome.ended
        if ended:
            state_after = dump_json(leg_as_json(leg))
            self._connection.executemany(
                "INSERT INTO ledger_trip (product_type, symbol, leg, closed_time, closed_ordinal, number, last_time,"
                " body, state_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (*leg.key, *instant, number, trip.last_ms, dump_json(trip_as_json(trip)), state_after)
                    for number, trip in enumerate(ended)
                ],
            )

    def break_legs(self, product_type: ProductType, known_from: int) -> None:
        """Rewind legs to a time (Unix ms) before which fills are lost: their sizes then are unknown."""
        self._ends_of_lost_fills.cache_clear()
        self._rewind_all(product_type, Instant(known_from, ""))

    def _rewind(self, key: LegKey, instant: Instant) -> None:
        """Take a leg back to the last flat point before an instant; later results are undone."""
        state = self._state(key)
        self._changed_legs.add(key)
        state.behind = True
        if instant > state.applied:
            return
        while True:
            trip = self._connection.execute(
                f"SELECT closed_time, closed_ordinal, state_after FROM ledger_trip WHERE {_OF_LEG}"
                " AND (closed_time, closed_ordinal) < (?, ?)"
                " ORDER BY closed_time DESC, closed_ordinal DESC, number DESC LIMIT 1",
                (*key, *instant),
            ).fetchone()
            flat = BEFORE_ALL if trip is None else Instant(trip[0], trip[1])
            # An order with fills on both sides of the flat point is undone whole, so go back to an earlier point.
            earliest = min((order.first for order in self._orders.after(key, flat)), default=instant)
            if trip is None or earliest > flat:
                break
            instant = earliest
        self._orders.undo_after(key, flat)
        self._connection.execute(
            f"DELETE FROM ledger_trip WHERE {_OF_LEG} AND (closed_time, closed_ordinal) > (?, ?)", (*key, *flat)
        )
        state.leg = self._first_state(key) if trip is None else leg_from_json(key, load_json(trip[2]))
        state.applied = flat

    def _first_state(self, key: LegKey) -> RunningLeg:
        start = f"SELECT 1 FROM ledger_start WHERE {_OF_LEG}"
        return RunningLeg.flat(key, proven=self._connection.execute(start, key).fetchone() is not None)

    def prove_starts(self, product_type: ProductType, held: Mapping[tuple[str, bool], Decimal], at_ms: int) -> bool:
        """Compare the legs with the sizes the exchange reported at a time; True if a leg was rewound for it.

        `held` are sizes by symbol and by whether they are long. No fill may be missing. A leg with a fill near that
        time is not compared, because the reported size may not include that fill yet.
        """
        legs = self._connection.execute(
            "SELECT symbol, leg FROM ledger_leg WHERE product_type = ? AND NOT behind AND applied_time < ?",
            (str(product_type), at_ms - VISIBLE_AFTER_MS),
        ).fetchall()
        anew = False
        for symbol, leg_name in legs:
            key = LegKey(product_type, symbol, PositionSide(leg_name))
            long, short = held.get((symbol, True), ZERO), held.get((symbol, False), ZERO)
            reported_by_leg = {PositionSide.LONG: long, PositionSide.SHORT: -short, PositionSide.NET: long - short}
            anew = self._prove_start(key, reported_by_leg[key.leg]) or anew
        return anew

    def _prove_start(self, key: LegKey, reported: Decimal) -> bool:
        """Compare a leg with its reported size, negative if short; True if it was rewound.

        If its fills alone add up to that size, nothing was held before the first of them.
        """
        leg = self._state(key).leg
        if leg.proven or (leg.size if leg.long else -leg.size) != reported:
            return False
        if self._sum_of_fills(leg) == reported:
            change = "INSERT OR IGNORE INTO ledger_start VALUES (?, ?, ?)"
        else:  # the size held before the first fill is closed by now
            change = f"DELETE FROM ledger_start WHERE {_OF_LEG}"
        if not self._connection.execute(change, key).rowcount:
            return False
        self._rewind(key, BEFORE_ALL)
        return True

    def _sum_of_fills(self, leg: RunningLeg) -> Decimal:
        """Return the sum of a leg's fills, negative if they sold more than they bought."""
        columns = (f"json_extract(body, '{trip_path(name)}')" for name in ("long", "opened_size", "closed_size"))
        ended = self._connection.execute(f"SELECT {', '.join(columns)} FROM ledger_trip WHERE {_OF_LEG}", leg.key)
        running = [] if leg.trip is None else [(leg.trip.long, leg.trip.opened_size, leg.trip.closed_size)]
        net_sizes = ((long, Decimal(opened) - Decimal(closed)) for long, opened, closed in (*ended, *running))
        return sum((size if long else -size for long, size in net_sizes), ZERO)

    def _catch_up(self, key: LegKey, rows_at_most: int) -> int:
        """Apply the next fills of a leg that is behind; return how many rows were read."""
        state = self._state(key)
        rows = self._connection.execute(
            "SELECT product_type, time, ordinal, body FROM record WHERE kind = 'fill' AND symbol = ?"
            " AND (time, ordinal) > (?, ?) ORDER BY time, ordinal, product_type LIMIT ?",
            (key.symbol, *state.applied, rows_at_most),
        )
        count = 0
        for product_type, time, ordinal, body in rows:
            count += 1
            instant = Instant(time, ordinal)
            fill = read_booked_fill(product_type, body, time) if product_type == key.product_type else None
            if fill is not None and fill.key == key:
                self._apply(state, SequencedFill(instant, fill))
            elif instant > state.applied:
                state.applied = instant
        state.behind = count == rows_at_most
        self._changed_legs.add(key)
        return count

    def _rebuild_modes(self, product_type: ProductType) -> None:
        """Read the changes of position mode again; legs are rewound to the first change that was not known."""
        first_change = self._modes.rebuild(product_type)
        if first_change is not None:
            self._rewind_all(product_type, first_change)

    def _rewind_all(self, product_type: ProductType, instant: Instant) -> None:
        """Rewind every leg of a product type that has applied a fill at or after an instant."""
        self._write_legs()
        legs = self._connection.execute(
            "SELECT symbol, leg FROM ledger_leg WHERE product_type = ? AND (applied_time, applied_ordinal) >= (?, ?)",
            (str(product_type), *instant),
        ).fetchall()
        for symbol, leg in legs:
            self._rewind(LegKey(product_type, symbol, PositionSide(leg)), instant)

"""The calls of an address in the file that the user's processes share: one row for every second in which some end."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Final

from tradetui.exchange.rate_limit.address_quota import (
    LONGEST_RESERVATION_S,
    AddressClaim,
    AddressQuota,
    counts_until,
    feed_turn,
    frees_at,
)

ADDRESS_SCHEMA: Final = """
create table if not exists address_calls (
    address text not null,
    ends_s integer not null,
    calls integer not null,
    primary key (address, ends_s)
) without rowid;
create table if not exists addresses (address text primary key, feeds_until_s real not null) without rowid;
"""
ADDRESS_TABLES: Final = ("address_calls", "addresses")

_COUNT: Final = (
    "insert into address_calls values (?, ?, ?) "
    "on conflict (address, ends_s) do update set calls = calls + excluded.calls"
)


@dataclass(frozen=True, slots=True)
class AddressTerms:
    """Whose calls are counted, within which quota, and what kind of call it is."""

    address: str
    quota: AddressQuota
    feed: bool
    writes: bool


@dataclass(frozen=True, slots=True)
class CountedCall:
    """Where a call is counted until its end is known."""

    address: str
    counts_until: int


class AddressRows:
    """Works on an open connection, inside the transaction of whoever calls it; times are monotonic seconds.

    That calls have ended is written once a second, for all of them: until then they count a few seconds longer.
    """

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._ended: Counter[tuple[CountedCall, int]] = Counter()
        self._written_s = 0

    def claim(self, terms: AddressTerms, *, now: float, begins: float, hold_s: float) -> AddressClaim:
        """Count a call that begins at `begins` or later, unless it has to wait; see `AddressClaim`."""
        address, quota = terms.address, terms.quota
        if int(now) != self._written_s:
            self._written_s = int(now)
            self.write_ended()
            self._base.execute("delete from address_calls where ends_s <= ?", (now,))
        limit = quota.limit(feed=terms.feed, writes=terms.writes)
        counted = self._counted(address, now)
        if counted >= limit and self._ended:
            self.write_ended()
            counted = self._counted(address, now)
        if counted >= limit:
            rows = self._base.execute(
                "select ends_s, calls from address_calls where address = ? and ends_s > ? order by ends_s",
                (address, now),
            )
            return AddressClaim(None, frees_at(rows, counted, limit), counted)
        if terms.feed:
            row = self._base.execute("select feeds_until_s from addresses where address = ?", (address,)).fetchone()
            feeds_until = 0.0 if row is None else row[0]
            turn = feed_turn(quota, feeds_until, begins)
            if turn > now + LONGEST_RESERVATION_S:
                return AddressClaim(None, turn - LONGEST_RESERVATION_S, counted)
            begins = turn
            self._base.execute(
                "insert or replace into addresses values (?, ?)", (address, max(feeds_until, now) + 1 / quota.feed_rate)
            )
        until = counts_until(begins + hold_s)
        self._base.execute(_COUNT, (address, until, 1))
        return AddressClaim(until, begins, counted + 1)

    def ended(self, counted: CountedCall, at: float) -> None:
        """A call ended at `at`, by when it had arrived."""
        self._ended[counted, counts_until(at)] += 1

    def unused(self, counted: CountedCall) -> None:
        """A call was not sent."""
        self._count_less(counted, 1)

    def write_ended(self) -> None:
        for (counted, until), calls in self._ended.items():
            self._count_less(counted, calls)
            self._base.execute(_COUNT, (counted.address, until, calls))
        self._ended.clear()

    def _counted(self, address: str, now: float) -> int:
        row = self._base.execute(
            "select coalesce(sum(calls), 0) from address_calls where address = ? and ends_s > ?", (address, now)
        ).fetchone()
        return int(row[0])

    def _count_less(self, counted: CountedCall, calls: int) -> None:
        self._base.execute(
            "update address_calls set calls = calls - ? where address = ? and ends_s = ?",
            (calls, counted.address, counted.counts_until),
        )

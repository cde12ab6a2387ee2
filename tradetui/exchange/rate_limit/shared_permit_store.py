"""The file in which the processes of one user keep each other's permits: one row a call, under a lease.

All times are nanoseconds of CLOCK_MONOTONIC, which the processes of one boot share; a boot id tells boots apart. A
process that is killed gives no permit back: its rows end a second after others see that it lives no more, or else with
their leases.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random
from typing import NamedTuple

from tradetui.exchange.rate_limit.address_quota import (
    ADDRESS_SCHEMA,
    ADDRESS_TABLES,
    COOLING_S,
    LATE_S,
    LOST_S,
    AddressClaim,
    AddressRows,
    AddressTerms,
    CountedCall,
    EndpointQuota,
    reserved_for_interactive,
)
from tradetui.storage.sqlite_file import connect, migrate, transaction, use_log

NS = 1_000_000_000

_HEAD_START_S = 0.3
"""Other processes may reserve a permit as soon as its return is known; who had it last waits until this long before."""
POLL_S = 0.2
"""How often the file is read while every permit is out; well below the second for which a returning one cools."""
TURN_S = 0.3
"""Feeds of other processes let one that waits go first until so long after it was to look again."""
_LONGEST_TURN_S = 1.0
_FORGOTTEN_S = 30.0
_BUSY_S = 2.0
_ANOTHER_BOOT_NS = 600 * NS
"""No use begins so long after it was granted: where the boot cannot be told, it is of a clock that has begun anew."""

_SCHEMA = """
create table boot (id text not null);
create table uses (
    id integer primary key,
    key text not null,
    owner text not null,
    begins integer not null,
    ends integer not null,
    known integer not null default 0
);
create index uses_by_key on uses (key, ends);
create table pools (
    key text primary key,
    withheld integer not null,
    paused_until integer not null,
    halved_at integer not null,
    restore_at integer,
    grants integer not null
);
"""

# Of two accounts' pools that are one account's, the tighter terms hold. Those of the former name stay for the other
# processes of its key, which do not know the account yet.
_MERGED_POOLS = """
insert into pools
    select :after || substr(key, :length + 1), withheld, paused_until, halved_at, restore_at, grants
    from pools where substr(key, 1, :length) = :before
on conflict (key) do update set
    restore_at = case when excluded.withheld > withheld then excluded.restore_at else restore_at end,
    withheld = max(withheld, excluded.withheld),
    paused_until = max(paused_until, excluded.paused_until),
    halved_at = max(halved_at, excluded.halved_at)
"""

_TURNS_SCHEMA = """
create table turns (
    key text not null,
    owner text not null,
    since integer not null,
    until integer not null,
    primary key (key, owner)
)
"""

MIGRATIONS = (_SCHEMA, ADDRESS_SCHEMA, _TURNS_SCHEMA)


def is_held_by_others(failure: sqlite3.OperationalError) -> bool:
    """Whether it is only that others are at the file: they write, or one was killed and another one clears up."""
    return any(reason in str(failure) for reason in ("locked", "locking protocol"))


class PermitUse(NamedTuple):
    """One use of a permit: its row, under which key and limit it counts, and when it begins (s).

    Grants since, plus `explained`, are all that the exchange can have counted of ours in one second. `counted` is
    where the address counts it.
    """

    row: int
    key: str
    limit: int
    begins: float
    explained: int
    counted: CountedCall | None


class _Occupied(NamedTuple):
    """One row of `uses`: until when a permit is taken (ns), whether that end is known, and by which process."""

    ends: int
    is_end_known: int
    owner: str


class _Opening(NamedTuple):
    """When a use may begin or, where that is not certain yet, when to look again (s)."""

    at: float
    is_certain: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim came to: a use, or nothing before `look_again` (s).

    `ends` are those of all permits that are out or cooling. `address` is what the claim on the address came to, None
    where the endpoint itself had no permit.
    """

    use: PermitUse | None
    look_again: float
    ends: tuple[float, ...]
    allowed: int
    halved: bool
    paused_until: float
    address: AddressClaim | None = None


class PermitStore:
    """One connection to the file.

    What finds it held by another process raises sqlite3.OperationalError ("locked") at once and has done nothing;
    with `patience` it waits for that, which belongs in a thread.
    """

    def __init__(
        self, path: Path, *, owner: str, boot: str, random: Random, has_ended: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Open the file; `has_ended` tells whether the process of an owner certainly lives no more."""
        self._renamed: list[tuple[str, str]] = []
        self._owner = owner
        self._has_ended = has_ended
        self._random = random
        self._base = connect(path, timeout_s=_BUSY_S, any_thread=True)
        self._addresses = AddressRows(self._base)
        try:
            use_log(self._base, synchronous="off")  # nothing here outlives a boot
            migrate(self._base, MIGRATIONS, str(path))
            with transaction(self._base):
                self._forget_other_boots(boot)
            self._base.execute("pragma busy_timeout = 0")
        except BaseException:
            self._base.close()
            raise

    @contextmanager
    def patience(self) -> Iterator[None]:
        """Wait for other processes, two seconds at most."""
        self._base.execute(f"pragma busy_timeout = {_BUSY_S * 1000:.0f}")
        try:
            yield
        finally:
            self._base.execute("pragma busy_timeout = 0")

    def close(self) -> None:
        # Where others hold it just now, this process's last calls count a few seconds longer than they need to.
        with closing(self._base), suppress(sqlite3.OperationalError), transaction(self._base):
            self._addresses.write_ended()

    def claim(
        self, key: str, limit: int, *, feed: bool, now: float, hold_s: float, address: AddressTerms | None = None
    ) -> Claim:
        """Take a permit that is free, or reserve for a person one whose return is known; the address has a say too."""
        with transaction(self._base):
            moment = round(now * NS)
            self._base.execute("delete from uses where ends <= ? or begins > ?", (moment, moment + _ANOTHER_BOOT_NS))
            quota, grants = self._read_quota(key, limit)
            allowed = quota.allowed(now)
            occupied = self._occupied(key)
            opening = self._opening(occupied, quota, allowed, feed=feed, now=now)
            if not opening.is_certain and self._end_uses_of_dead(occupied, now):
                occupied = self._occupied(key)
                opening = self._opening(occupied, quota, allowed, feed=feed, now=now)
            if feed and opening.is_certain and (turn_ends := self._turn_of_another(key, now)) is not None:
                opening = _Opening(min(now + POLL_S, turn_ends), False)
            counted, address_claim = None, None
            if opening.is_certain and address is not None:
                address_claim = self._addresses.claim(address, now=now, begins=opening.at, hold_s=hold_s)
                opening = _Opening(address_claim.begins, address_claim.counts_until is not None)
                if address_claim.counts_until is not None:
                    counted = CountedCall(address.address, address_claim.counts_until)
            ends = tuple(use.ends / NS for use in occupied)
            use = None
            if opening.is_certain:
                grants += 1
                ends = (opening.at + hold_s, *ends)
                row = self._occupy(key, opening.at, ends[0])
                use = PermitUse(row, key, limit, opening.at, len(ends) - grants, counted)
            if feed:
                self._write_turn(key, now, None if use is not None else opening.at)
            self._write_quota(key, quota, grants)
            return Claim(use, opening.at, ends, allowed, quota.withheld > 0, quota.paused_until, address_claim)

    def replied(self, use: PermitUse, now: float, remaining: int | None) -> None:
        """A reply came at `now`: the permit is back when it has cooled."""
        with transaction(self._base):
            self._end(use, now + COOLING_S, arrived_by=now)
            if remaining is None:
                return
            key = self._key_now(use)
            quota, grants = self._read_quota(key, use.limit)
            if key == use.key and remaining < use.limit - (use.explained + grants):
                quota.halve(now, use.begins)
                self._write_quota(key, quota, grants)

    def refused(self, use: PermitUse, now: float, pause: float | None) -> None:
        """A 429 came: everybody's permits of this endpoint are halved."""
        with transaction(self._base):
            self._end(use, now + COOLING_S, arrived_by=now)
            key = self._key_now(use)
            quota, grants = self._read_quota(key, use.limit)
            quota.refuse(now, use.begins, pause)
            self._write_quota(key, quota, grants)

    def unanswered(self, use: PermitUse, now: float) -> None:
        with transaction(self._base):
            self._end(use, now + LOST_S, arrived_by=now + LATE_S)

    def unused(self, use: PermitUse) -> None:
        with transaction(self._base):
            self._base.execute("delete from uses where id = ?", (use.row,))
            if use.counted is not None:
                self._addresses.unused(use.counted)

    def rename_account(self, before: str, after: str) -> None:
        """Count this process's uses for another account, which its own is known to be; pauses hold for it as well."""
        self._renamed.append((f"{before}|", f"{after}|"))
        with transaction(self._base):
            self._base.execute(_MERGED_POOLS, {"before": f"{before}|", "length": len(before) + 1, "after": f"{after}|"})
            self._base.execute(
                "update uses set key = ? || substr(key, ?) where owner = ? and substr(key, 1, ?) = ?",
                (after, len(before) + 1, self._owner, len(before) + 1, f"{before}|"),
            )

    def _key_now(self, use: PermitUse) -> str:
        """The key that a use counts under, also where its account was known only while the call was under way."""
        key = use.key
        for before, after in self._renamed:
            if key.startswith(before):
                key = after + key.removeprefix(before)
        return key

    def _opening(
        self, occupied: list[_Occupied], quota: EndpointQuota, allowed: int, *, feed: bool, now: float
    ) -> _Opening:
        """When the endpoint has a permit, by those of it that are taken, which end latest first.

        How this process's own calls end it is told; how others' end only the file knows, which is read again soon.
        """
        if now < quota.paused_until:
            return _Opening(quota.paused_until, False)
        room = allowed - (reserved_for_interactive(allowed) if feed else 0)
        if len(occupied) < room:
            return _Opening(now, True)
        first_free = occupied[room - 1]
        free_at = first_free.ends / NS
        change = max(quota.next_change(now), now + 0.001)
        soon = min(now + POLL_S, change)
        if not first_free.is_end_known:
            others = any(use.owner != self._owner for use in occupied if not use.is_end_known)
            return _Opening(soon if others else min(free_at, change), False)
        if feed:
            return _Opening(min(free_at, change), False)
        if first_free.owner == self._owner and free_at - now > _HEAD_START_S:
            return _Opening(min(free_at - _HEAD_START_S, soon), False)
        return _Opening(free_at, True)

    def _turn_of_another(self, key: str, now: float) -> float | None:
        """Until when the feeds of a process that has waited for longer go first; None where there is none."""
        moment = round(now * NS)
        until: int | None = self._base.execute(
            "select max(until) from turns where key = ? and owner <> ? and until > ? and since < "
            "coalesce((select since from turns where key = ? and owner = ?), ?)",
            (key, self._owner, moment, key, self._owner, moment),
        ).fetchone()[0]
        return None if until is None else until / NS

    def _write_turn(self, key: str, now: float, look_again: float | None) -> None:
        """Keep since when the feeds of this process wait for a permit; they wait no more where `look_again` is None."""
        lapsed = round((now - _FORGOTTEN_S) * NS)
        self._base.execute("delete from turns where key = ? and until < ?", (key, lapsed))
        if look_again is None:
            self._base.execute("delete from turns where key = ? and owner = ?", (key, self._owner))
            return
        until = min(look_again, now + _LONGEST_TURN_S) + TURN_S
        self._base.execute(
            "insert into turns values (?, ?, ?, ?) on conflict (key, owner) do update set until = excluded.until",
            (key, self._owner, round(now * NS), round(until * NS)),
        )

    def _occupied(self, key: str) -> list[_Occupied]:
        rows = self._base.execute("select ends, known, owner from uses where key = ? order by ends desc", (key,))
        return list(map(_Occupied._make, rows))

    def _occupy(self, key: str, begins: float, ends: float) -> int:
        row = self._base.execute(
            "insert into uses (key, owner, begins, ends) values (?, ?, ?, ?)",
            (key, self._owner, round(begins * NS), round(ends * NS)),
        ).lastrowid
        assert row is not None
        return row

    def _end_uses_of_dead(self, occupied: list[_Occupied], now: float) -> bool:
        """Let what dead processes hold cool from now on; whether there was any."""
        owners = {use.owner for use in occupied if not use.is_end_known and use.owner != self._owner}
        dead = [owner for owner in owners if self._has_ended(owner)]
        for owner in dead:
            self._base.execute(
                "update uses set ends = min(ends, ?), known = 1 where owner = ? and known = 0",
                (round((now + COOLING_S) * NS), owner),
            )
        return bool(dead)

    def _end(self, use: PermitUse, at: float, *, arrived_by: float) -> None:
        self._base.execute("update uses set ends = ?, known = 1 where id = ?", (round(at * NS), use.row))
        if use.counted is not None:
            self._addresses.ended(use.counted, arrived_by)

    def _read_quota(self, key: str, limit: int) -> tuple[EndpointQuota, int]:
        row = self._base.execute(
            "select withheld, paused_until, halved_at, restore_at, grants from pools where key = ?", (key,)
        ).fetchone()
        if row is None:
            return EndpointQuota(limit, random=self._random), 0
        withheld, paused_until, halved_at, restore_at, grants = row
        restore = inf if restore_at is None else restore_at / NS
        return EndpointQuota(limit, withheld, paused_until / NS, halved_at / NS, restore, random=self._random), grants

    def _write_quota(self, key: str, quota: EndpointQuota, grants: int) -> None:
        halved = round(max(quota.halved_at, -1.0) * NS)
        restore = None if quota.restore_at == inf else round(quota.restore_at * NS)
        self._base.execute(
            "insert or replace into pools values (?, ?, ?, ?, ?, ?)",
            (key, quota.withheld, round(quota.paused_until * NS), halved, restore, grants),
        )

    def _forget_other_boots(self, boot: str) -> None:
        row = self._base.execute("select id from boot").fetchone()
        if row is None or row[0] != boot:  # the clock has begun anew
            for table in ("boot", "uses", "pools", "turns", *ADDRESS_TABLES):
                self._base.execute(f"delete from {table}")
            self._base.execute("insert into boot values (?)", (boot,))

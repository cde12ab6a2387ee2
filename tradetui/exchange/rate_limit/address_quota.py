"""Calls of one network address in any minute, which the exchange counts over all endpoints and accounts.

`AddressCalls` counts those of this process, `AddressRows` those of all processes of the user, in the file they share. A
call counts from its grant until a minute after its reply. It arrives in between, so that no sliding minute at the
exchange holds more calls than count here at once, whatever the network does to them. Calls that stop counting in the
same second are one number: a minute of work is some ninety numbers, not thousands of rows.

Feeds are also held to an even rate (the generic cell rate algorithm), so that many desks together slow down a little
instead of standing still for the rest of a minute.

How many permits an endpoint has: its share of the limit, paused and halved for a while after HTTP 429.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.exchange.errors import RateLimited
from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE

if TYPE_CHECKING:
    import sqlite3

    from tradetui.wire.endpoints.endpoint import Endpoint

_MINUTE_S: Final = 60.0
DEFAULT_ADDRESS_SHARE: Final = 0.8
"""Of the calls of an address, where no share is given: other people may sit behind the same address."""
_CLOCK_DRIFT_S: Final = 0.1
"""Added to a minute: this machine's clock and the exchange's may run at slightly different rates."""
_SLOWEST_ROUND_TRIP_S: Final = 3.0
"""What the feeds' even rate allows for calls in flight and for the rounding to seconds."""
_SLOWED_FOR_S: Final = 5.0
_LONGEST_RESERVATION_S: Final = 1.0
"""A feed's turn is reserved at most this long ahead."""

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


class AddressQuota(NamedTuple):
    """How many calls a minute all processes of the user may make, and how many of them feeds and reads leave."""

    per_minute: int

    @classmethod
    def of_share(cls, share: float) -> AddressQuota:
        """The quota of a share (0 to 1) of what the exchange allows an address."""
        return cls(max(1, int(ADDRESS_CALLS_PER_MINUTE * share + 1e-9)))

    @property
    def kept_for_writes(self) -> int:
        """Calls that neither feeds nor reads take: a tenth, and no more than one a second."""
        return min(60, self.per_minute // 10)

    @property
    def reserved_for_interactive(self) -> int:
        """Calls that feeds leave to reads a person waits for and to writes."""
        return min(self.per_minute // 2, max(60, self.per_minute // 10) + self.kept_for_writes)

    @property
    def feed_limit(self) -> int:
        """Calls a minute at which feeds stop."""
        return self.per_minute - self.reserved_for_interactive

    @property
    def feed_rate(self) -> float:
        """Calls a second at which feeds go on once they have used up their head start."""
        return (self.feed_limit - self._feed_burst) / (_MINUTE_S + _SLOWEST_ROUND_TRIP_S)

    @property
    def _feed_burst(self) -> int:
        """Calls by which feeds may be ahead of their even rate."""
        return self.feed_limit // 10

    def feed_turn(self, feeds_until: float, now: float) -> float:
        """When a feed's next call is due; `feeds_until` is where their calls so far end at the even rate."""
        return max(now, feeds_until - self._feed_burst / self.feed_rate)

    def limit(self, *, feed: bool, writes: bool) -> int:
        """Calls that may count at once after one more of this kind."""
        if feed:
            return self.feed_limit
        return self.per_minute - (0 if writes else self.kept_for_writes)


class AddressClaim(NamedTuple):
    """What a claim came to, times in monotonic seconds.

    Granted: the call may begin at `begins` and counts until `counts_until` for now. Refused: `counts_until` is None
    and the answer can be another one at `begins`. `counted` is how many calls count, this one included.
    """

    counts_until: int | None
    begins: float
    counted: int


class AddressUsage(NamedTuple):
    """Calls of the address that count now, how many may, and whether feeds are made to wait for that."""

    used: int = 0
    allowed: int = 0
    slowed: bool = False

    @property
    def share(self) -> float:
        """The part that is used up, 0 to 1."""
        return min(1.0, self.used / self.allowed) if self.allowed else 0.0


class AddressMeter:
    """What the header bar shows of the address, as of this process's last claim."""

    def __init__(self, quota: AddressQuota) -> None:
        self._quota = quota
        self._used = 0
        self._slowed_until = 0.0

    def note(self, claim: AddressClaim, *, feed: bool, now: float) -> None:
        """Take in what a claim at `now` came to."""
        self._used = claim.counted
        if feed and (claim.counts_until is None or claim.begins > now):
            self._slowed_until = now + _SLOWED_FOR_S

    def usage(self, now: float) -> AddressUsage:
        return AddressUsage(self._used, self._quota.per_minute, now < self._slowed_until)


class AddressCalls:
    """The calls of one address that this process alone makes."""

    def __init__(self, quota: AddressQuota) -> None:
        self.quota = quota
        self.meter = AddressMeter(quota)
        self._calls: Counter[int] = Counter()
        self._feeds_until = 0.0

    def claim(self, *, feed: bool, writes: bool, now: float, hold_s: float) -> AddressClaim:
        """Count a call that takes `hold_s` at most, unless it has to wait."""
        for second in [second for second in self._calls if second <= now]:
            del self._calls[second]
        counted, limit = sum(self._calls.values()), self.quota.limit(feed=feed, writes=writes)
        if counted >= limit:
            return AddressClaim(None, _frees_at(sorted(self._calls.items()), counted, limit), counted)
        if feed:
            turn = self.quota.feed_turn(self._feeds_until, now)
            if turn > now:
                return AddressClaim(None, turn, counted)
            self._feeds_until = max(self._feeds_until, now) + 1 / self.quota.feed_rate
        until = _expiry_second(now + hold_s)
        self._calls[until] += 1
        return AddressClaim(until, now, counted + 1)

    def ended(self, counted_until: int, at: float | None) -> None:
        """A call ended at `at`, by when it had arrived; None where it was not sent."""
        if counted_until in self._calls:
            self._calls[counted_until] -= 1
        if at is not None:
            self._calls[_expiry_second(at)] += 1


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
            return AddressClaim(None, _frees_at(rows, counted, limit), counted)
        if terms.feed:
            row = self._base.execute("select feeds_until_s from addresses where address = ?", (address,)).fetchone()
            feeds_until = 0.0 if row is None else row[0]
            turn = quota.feed_turn(feeds_until, begins)
            if turn > now + _LONGEST_RESERVATION_S:
                return AddressClaim(None, turn - _LONGEST_RESERVATION_S, counted)
            begins = turn
            self._base.execute(
                "insert or replace into addresses values (?, ?)", (address, max(feeds_until, now) + 1 / quota.feed_rate)
            )
        until = _expiry_second(begins + hold_s)
        self._base.execute(_COUNT, (address, until, 1))
        return AddressClaim(until, begins, counted + 1)

    def ended(self, call: CountedCall, at: float) -> None:
        """A call ended at `at`, by when it had arrived."""
        self._ended[call, _expiry_second(at)] += 1

    def unused(self, call: CountedCall) -> None:
        self._count_less(call, 1)

    def write_ended(self) -> None:
        for (call, until), calls in self._ended.items():
            self._count_less(call, calls)
            self._base.execute(_COUNT, (call.address, until, calls))
        self._ended.clear()

    def _counted(self, address: str, now: float) -> int:
        row = self._base.execute(
            "select coalesce(sum(calls), 0) from address_calls where address = ? and ends_s > ?", (address, now)
        ).fetchone()
        return int(row[0])

    def _count_less(self, call: CountedCall, calls: int) -> None:
        self._base.execute(
            "update address_calls set calls = calls - ? where address = ? and ends_s = ?",
            (calls, call.address, call.counts_until),
        )


def address_used_up(endpoint: Endpoint, quota: AddressQuota, seconds: float) -> RateLimited:
    """Make the error of a call that would have to wait long for the address."""
    return RateLimited(
        f"this machine has made its {quota.per_minute} calls of a minute, the next is free in {seconds:.0f} s",
        retry_after=seconds,
        endpoint=endpoint.name,
        remedy="Wait, or end other programs of yours that call this base_url. Where nobody else calls from this "
        "network address, raise address_share in the profile.",
    )


def _expiry_second(end: float) -> int:
    """The whole second at which a call that ended at `end` stops counting."""
    return int(end + _MINUTE_S + _CLOCK_DRIFT_S) + 1


def _frees_at(calls_by_second: Iterable[tuple[int, int]], counted: int, limit: int) -> float:
    """The second at which fewer than `limit` calls count, if nothing else changes; seconds in rising order."""
    for second, calls in calls_by_second:
        counted -= calls
        if counted < limit:
            return float(second)
    return inf


WINDOW_S = 1.0
"""The exchange counts calls in any second."""
MARGIN_S = 0.002
"""Added to every wait, for timers and clocks that round."""
LATE_S = 1.0
"""A call given up may still arrive; this long after giving up it is waited for."""
RESTORE_S = 1.0
"""After a refusal one permit comes back this often, and up to half as long again."""

COOLING_S = WINDOW_S + MARGIN_S
LOST_S = LATE_S + WINDOW_S + MARGIN_S


def permits(endpoint: Endpoint, share: float, account_kind: str | None) -> int:
    """This program's permits: its share of the limit, at least one.

    Copy traders may have less than others, and so has an account whose kind is unknown.
    """
    limit = endpoint.limit.per_second
    if account_kind in (None, "copy_trader"):
        limit = endpoint.limit.copy_trader or limit
    return max(1, int(limit * share + 1e-9))  # 0.29 of 100 is a little less than 29 in floating point


def reserved_for_interactive(allowed: int) -> int:
    """How many of the allowed permits feeds leave to reads a person waits for; pending orders take two calls."""
    return min(2, allowed // 2)


@dataclass(slots=True)
class EndpointQuota:
    """One endpoint's permits; all times are monotonic seconds."""

    limit: int
    withheld: int = 0
    paused_until: float = 0.0
    halved_at: float = -inf
    restore_at: float = inf
    random: Random = field(default_factory=Random, repr=False, compare=False)

    def allowed(self, now: float) -> int:
        """Permits that may be out or cooling at `now`, at least one."""
        while self.withheld and now >= self.restore_at:
            self.withheld -= 1
            self.restore_at = self.restore_at + self._restore_step() if self.withheld else inf
        return max(1, self.limit - self.withheld)

    def refuse(self, now: float, granted_at: float, retry_after: float | None) -> None:
        """Take a 429: pause (`retry_after` seconds if given) and halve, once for all calls of one burst."""
        pause = max(retry_after or 0.0, WINDOW_S) + self.random.uniform(0.0, 0.5)
        self.paused_until = max(self.paused_until, now + pause)
        self.halve(now, granted_at)

    def halve(self, now: float, granted_at: float) -> None:
        """Halve the permits at once, unless the call was already out when they were last halved."""
        if granted_at <= self.halved_at:
            return
        self.withheld = self.limit - max(1, self.allowed(now) // 2)
        self.halved_at = now
        self.restore_at = max(now, self.paused_until) + self._restore_step() if self.withheld > 0 else inf

    def next_change(self, now: float) -> float:
        """When waiting will next see another answer without anybody returning a permit; `inf` if never."""
        return min((moment for moment in (self.paused_until, self.restore_at) if moment > now), default=inf)

    def _restore_step(self) -> float:
        return RESTORE_S * (1.0 + self.random.uniform(0.0, 0.5))

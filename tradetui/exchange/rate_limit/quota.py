"""The rules of the limits: when an endpoint has a permit, and how many calls of the network address count.

A store keeps these states and passes the time with every question, in seconds of one monotonic clock. Nothing here
waits, reads a clock or accesses a disk.

An account has a share of an endpoint's limit, paused and halved for a while after HTTP 429.

The exchange counts an address's calls per minute over all endpoints and accounts. Here a call counts from its grant
until a minute after its reply. It arrives in between, so no sliding minute at the exchange has more calls than count
here at once, whatever the network does. Calls that stop counting in the same second are one number, so a minute takes
about ninety numbers, not thousands. Feeds also keep an even rate (the generic cell rate algorithm), so that many desks
together slow down a little instead of stopping for the rest of a minute.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

WINDOW_S = 1.0
"""The exchange counts calls in any second, for a few endpoints in a longer window (`RateLimit.window_s`)."""
MARGIN_S = 0.002
"""Added to every wait, because timers and clocks round."""
LATE_S = 1.0
"""A call that was given up may still arrive within this time."""
RESTORE_S = 1.0
"""After a refusal one permit comes back per this time, or up to half as long again."""

COOLING_S = WINDOW_S + MARGIN_S
LOST_S = LATE_S + WINDOW_S + MARGIN_S

_HEAD_START_S = 0.3
"""The last holder of a permit requests it again only this long before its return, so that others get their turn."""
_POLL_S = 0.2
"""How often a store is read while every permit is out; well below the cooling second of a returning permit."""
_TURN_S = 0.3
"""Other processes' feeds give way to one waiting longer until this long after its next look."""
_LONGEST_TURN_S = 1.0
_FORGOTTEN_S = 30.0
_ANOTHER_BOOT_S = 600.0
"""No use begins this long after its grant; a use that does comes from the clock of an earlier boot."""

_MINUTE_S: Final = 60.0
DEFAULT_ADDRESS_SHARE: Final = 0.8
"""Default share of an address's calls, because other people may use the same address."""
_CLOCK_DRIFT_S: Final = 0.1
"""Added to a minute: this machine's clock and the exchange's may run at slightly different rates."""
_SLOWEST_ROUND_TRIP_S: Final = 3.0
"""Allowance of the feeds' even rate for calls in flight and for rounding to seconds."""
_EVEN_BURST: Final = 6
"""Calls by which feeds that keep an even rate may be ahead of it."""
_LONGEST_RESERVATION_S: Final = 1.0
"""A feed's turn is reserved at most this long ahead."""
_LONGEST_EVEN_RESERVATION_S: Final = 8.0
"""The same for feeds that keep an even rate: hundreds of them wait, and each would otherwise ask for each turn."""


def permits(endpoint: Endpoint, share: float, account_kind: str | None) -> int:
    """Return this program's permits: its share of the limit, at least one.

    Copy traders may have fewer permits than others, and so has an account of unknown kind.
    """
    limit = endpoint.limit.calls
    if account_kind in (None, "copy_trader"):
        limit = endpoint.limit.copy_trader or limit
    return max(1, int(limit * share + 1e-9))  # 0.29 of 100 is a little less than 29 in floating point


class Opening(NamedTuple):
    """When a call may begin or, while that is uncertain, when to look again."""

    at: float
    is_certain: bool


class Use(NamedTuple):
    """One use of a permit: its process, its begin and end, and whether the end is known."""

    owner: str
    begins: float
    ends: float
    is_end_known: bool = False


@dataclass(slots=True)
class EndpointQuota:
    """The permits of one endpoint and account: those withheld after a refusal, and those out or cooling.

    `limit` is the asking process's. `grants` counts all uses ever. `turns` has for each process with waiting feeds the
    time since when they wait, and until when they go first.
    """

    limit: int
    withheld: int = 0
    paused_until: float = 0.0
    halved_at: float = -inf
    restore_at: float = inf
    grants: int = 0
    uses: dict[str, Use] = field(default_factory=dict)
    turns: dict[str, tuple[float, float]] = field(default_factory=dict)
    random: Random = field(default_factory=Random, repr=False, compare=False)

    def allowed(self, now: float) -> int:
        """Return the number of permits that may be out or cooling at `now`, at least one."""
        while self.withheld and now >= self.restore_at:
            self.withheld -= 1
            self.restore_at = self.restore_at + self._restore_step() if self.withheld else inf
        return max(1, self.limit - self.withheld)

    def refuse(self, now: float, granted_at: float, retry_after: float | None) -> None:
        """Process a 429: pause (`retry_after` seconds if given) and halve, once for all calls of one burst."""
        pause = max(retry_after or 0.0, WINDOW_S) + self.random.uniform(0.0, 0.5)
        self.paused_until = max(self.paused_until, now + pause)
        self.halve(now, granted_at)

    def halve(self, now: float, granted_at: float) -> None:
        """Halve the permits at once, unless the call was already out at the last halving."""
        if granted_at <= self.halved_at:
            return
        self.withheld = self.limit - max(1, self.allowed(now) // 2)
        self.halved_at = now
        self.restore_at = max(now, self.paused_until) + self._restore_step() if self.withheld > 0 else inf

    def drop_ended(self, now: float) -> None:
        self.uses = {
            name: use for name, use in self.uses.items() if now < use.ends and use.begins < now + _ANOTHER_BOOT_S
        }

    def opening(self, owner: str, *, feed: bool, now: float) -> Opening:
        """Return when this process gets a permit; feeds leave two to persons, and give way to feeds that wait longer.

        This process knows when its own calls end. The ends of others' calls are only in the store, which is read again
        soon.
        """
        if now < self.paused_until:
            return Opening(self.paused_until, False)
        allowed = self.allowed(now)
        room = allowed - (min(2, allowed // 2) if feed else 0)  # reading the pending orders takes two calls
        if len(self.uses) < room:
            return self._after_turns_of_others(owner, now) if feed else Opening(now, True)
        uses = sorted(self.uses.values(), key=lambda use: use.ends, reverse=True)
        first_free = uses[room - 1]
        change = max(self._next_change(now), now + 0.001)
        soon = min(now + _POLL_S, change)
        if not first_free.is_end_known:
            others = any(use.owner != owner for use in uses if not use.is_end_known)
            return Opening(soon if others else min(first_free.ends, change), False)
        if feed:
            return Opening(min(first_free.ends, change), False)
        if first_free.owner == owner and first_free.ends - now > _HEAD_START_S:
            return Opening(min(first_free.ends - _HEAD_START_S, soon), False)
        return Opening(first_free.ends, True)

    def note_turn(self, owner: str, now: float, look_again: float | None) -> None:
        """Record that the feeds of a process wait for a permit; they no longer do if `look_again` is None."""
        self.turns = {name: turn for name, turn in self.turns.items() if turn[1] >= now - _FORGOTTEN_S}
        if look_again is None:
            self.turns.pop(owner, None)
        else:
            since, _ = self.turns.get(owner, (now, now))
            self.turns[owner] = since, min(look_again, now + _LONGEST_TURN_S) + _TURN_S

    def end(self, name: str, at: float) -> None:
        """Record that a use ends at `at`."""
        if (use := self.uses.get(name)) is not None:
            self.uses[name] = use._replace(ends=at, is_end_known=True)

    def end_uses_of(self, owner: str, now: float) -> None:
        """Start the cooling of a dead process's uses."""
        for name, use in self.uses.items():
            if use.owner == owner and not use.is_end_known:
                self.end(name, min(use.ends, now + COOLING_S))

    def take_over(self, other: EndpointQuota, owner: str) -> None:
        """Count one process's uses for another account here too, because both turned out to be one account.

        The stricter terms of both apply. The other account's terms and uses stay, for processes that do not know the
        account yet.
        """
        if other.withheld > self.withheld:
            self.withheld, self.restore_at = other.withheld, other.restore_at
        self.paused_until = max(self.paused_until, other.paused_until)
        self.halved_at = max(self.halved_at, other.halved_at)
        for name in [name for name, use in other.uses.items() if use.owner == owner]:
            self.uses[name] = other.uses[name]

    def _after_turns_of_others(self, owner: str, now: float) -> Opening:
        own_since, _ = self.turns.get(owner, (now, now))
        turns = (turn for other, turn in self.turns.items() if other != owner)
        ends = max((until for since, until in turns if until > now and since < own_since), default=None)
        return Opening(now, True) if ends is None else Opening(min(now + _POLL_S, ends), False)

    def _next_change(self, now: float) -> float:
        """Return when the answer will next change without the return of a permit; `inf` if never."""
        return min((moment for moment in (self.paused_until, self.restore_at) if moment > now), default=inf)

    def _restore_step(self) -> float:
        return RESTORE_S * (1.0 + self.random.uniform(0.0, 0.5))


@dataclass(frozen=True)
class AddressQuota:
    """How many calls a minute all processes of the user may make, and how many of them feeds and reads leave.

    With `is_even`, feeds wait until all feeds together are close to their even rate: those of many accounts in one
    process would otherwise use the burst that a session's start is for.
    """

    per_minute: int
    is_even: bool = False

    @classmethod
    def of_share(cls, share: float, *, is_even: bool = False) -> AddressQuota:
        """Return the quota for a share (0 to 1) of the exchange's limit for an address."""
        return cls(max(1, int(ADDRESS_CALLS_PER_MINUTE * share + 1e-9)), is_even)

    @cached_property
    def kept_for_writes(self) -> int:
        """Calls left by feeds and reads: a tenth, but at most one a second."""
        return min(60, self.per_minute // 10)

    @cached_property
    def reserved_for_interactive(self) -> int:
        """Calls left by feeds for reads of a person and for writes."""
        return min(self.per_minute // 2, max(60, self.per_minute // 10) + self.kept_for_writes)

    @cached_property
    def feed_limit(self) -> int:
        """Calls a minute at which feeds stop."""
        return self.per_minute - self.reserved_for_interactive

    @cached_property
    def feed_rate(self) -> float:
        """Calls a second of feeds once they have used up their burst."""
        return (self.feed_limit - self._feed_burst) / (_MINUTE_S + _SLOWEST_ROUND_TRIP_S)

    @cached_property
    def _feed_burst(self) -> int:
        """Calls by which feeds may be ahead of their even rate."""
        return self.feed_limit // 10

    def feed_turn(self, feeds_until: float, now: float) -> float:
        """Return when a feed's next call is due; `feeds_until` is where their calls so far end at the even rate."""
        ahead = min(_EVEN_BURST, self._feed_burst) if self.is_even else self._feed_burst
        return max(now, feeds_until - ahead / self.feed_rate)

    def limit(self, *, feed: bool, writes: bool) -> int:
        """Return how many calls may count at once, the next call of this kind included."""
        if feed:
            return self.feed_limit
        return self.per_minute - (0 if writes else self.kept_for_writes)


class AddressUsage(NamedTuple):
    """Calls of the address that count now, the number allowed, and whether feeds have to wait for that."""

    used: int = 0
    allowed: int = 0
    slowed: bool = False

    @property
    def share(self) -> float:
        """The fraction used up, 0 to 1."""
        return min(1.0, self.used / self.allowed) if self.allowed else 0.0


@dataclass(slots=True)
class AddressCalls:
    """Calls of one address by the second at which they stop counting, and where those of feeds end at their rate."""

    by_second: Counter[int] = field(default_factory=Counter)
    feeds_until: float = 0.0
    _dropped_until: int = 0

    def count(self, now: float) -> int:
        """Return how many calls count at `now`."""
        if int(now) != self._dropped_until:
            self._dropped_until = int(now)
            for second in [second for second in self.by_second if second <= now]:
                del self.by_second[second]
        return self.by_second.total()

    def opening(
        self, quota: AddressQuota, counted: int, *, feed: bool, writes: bool, now: float, begins: float
    ) -> Opening:
        """Return when the address, with `counted` calls, allows a call that its endpoint allows at `begins`."""
        excess = counted - quota.limit(feed=feed, writes=writes)
        if excess >= 0:
            return Opening(self._frees_at(excess), False)
        if not feed:
            return Opening(begins, True)
        turn = quota.feed_turn(self.feeds_until, begins)
        longest_s = _LONGEST_EVEN_RESERVATION_S if quota.is_even else _LONGEST_RESERVATION_S
        if turn > now + longest_s:
            return Opening(turn - longest_s, False)
        self.feeds_until = max(self.feeds_until, now) + 1 / quota.feed_rate
        return Opening(turn, True)

    def add(self, arrived_by: float) -> int:
        """Count a call that arrives by `arrived_by`; return the second at which it stops counting."""
        second = int(arrived_by + _MINUTE_S + _CLOCK_DRIFT_S) + 1
        self.by_second[second] += 1
        return second

    def remove(self, second: int) -> None:
        if self.by_second[second] > 0:
            self.by_second[second] -= 1

    def _frees_at(self, excess: int) -> float:
        """Return the second at which one more call may count, if nothing else changes."""
        for second, calls in sorted(self.by_second.items()):
            excess -= calls
            if excess < 0:
                return float(second)
        return inf

"""The rules of the limits: when an endpoint has a permit, and how many calls of the network address count.

A store keeps these states and names the moment with every question, in seconds of one monotonic clock. Nothing here
waits, reads a clock or touches a disk.

Of an endpoint's limit an account has its share, paused and halved for a while after HTTP 429.

An address's calls in any minute the exchange counts over all endpoints and accounts. A call counts from its grant until
a minute after its reply. It arrives in between, so that no sliding minute at the exchange holds more calls than count
here at once, whatever the network does to them. Calls that stop counting in the same second are one number: a minute of
work is some ninety numbers, not thousands. Feeds are also held to an even rate (the generic cell rate algorithm), so
that many desks together slow down a little instead of standing still for the rest of a minute.
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
"""The exchange counts calls in any second, of a few endpoints in a longer window (`RateLimit.window_s`)."""
MARGIN_S = 0.002
"""Added to every wait, for timers and clocks that round."""
LATE_S = 1.0
"""A call given up may still arrive; this long after giving up it is waited for."""
RESTORE_S = 1.0
"""After a refusal one permit comes back this often, and up to half as long again."""

COOLING_S = WINDOW_S + MARGIN_S
LOST_S = LATE_S + WINDOW_S + MARGIN_S

_HEAD_START_S = 0.3
"""The last holder of a permit asks for it again only so long before it returns, so that others get their turn."""
_POLL_S = 0.2
"""How often a store is read while every permit is out; well below the second for which a returning one cools."""
_TURN_S = 0.3
"""The feeds of other processes let one that waits go first until so long after it was to look again."""
_LONGEST_TURN_S = 1.0
_FORGOTTEN_S = 30.0
_ANOTHER_BOOT_S = 600.0
"""No use begins so long after it was granted: where the boot cannot be told, it is of a clock that has begun anew."""

_MINUTE_S: Final = 60.0
DEFAULT_ADDRESS_SHARE: Final = 0.8
"""Of the calls of an address, where no share is given: other people may sit behind the same address."""
_CLOCK_DRIFT_S: Final = 0.1
"""Added to a minute: this machine's clock and the exchange's may run at slightly different rates."""
_SLOWEST_ROUND_TRIP_S: Final = 3.0
"""What the feeds' even rate allows for calls in flight and for the rounding to seconds."""
_LONGEST_RESERVATION_S: Final = 1.0
"""A feed's turn is reserved at most this long ahead."""


def permits(endpoint: Endpoint, share: float, account_kind: str | None) -> int:
    """This program's permits: its share of the limit, at least one.

    Copy traders may have less than others, and so has an account whose kind is unknown.
    """
    limit = endpoint.limit.calls
    if account_kind in (None, "copy_trader"):
        limit = endpoint.limit.copy_trader or limit
    return max(1, int(limit * share + 1e-9))  # 0.29 of 100 is a little less than 29 in floating point


class Opening(NamedTuple):
    """When a call may begin or, where that is not certain yet, when to look again."""

    at: float
    is_certain: bool


class Use(NamedTuple):
    """One use of a permit: by which process, from when until when it is taken, and whether that end is known."""

    owner: str
    begins: float
    ends: float
    is_end_known: bool = False


@dataclass(slots=True)
class EndpointQuota:
    """The permits of one endpoint and account: what a refusal has left of the limit, and which are out or cooling.

    `limit` is that of whoever asks. `grants` counts all uses there ever were. `turns` tells of each process whose feeds
    wait since when they do, and until when they go first.
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

    def drop_ended(self, now: float) -> None:
        self.uses = {
            name: use for name, use in self.uses.items() if now < use.ends and use.begins < now + _ANOTHER_BOOT_S
        }

    def opening(self, owner: str, *, feed: bool, now: float) -> Opening:
        """When there is a permit for this process; feeds leave two to persons, and let go first who waits for longer.

        How this process's own calls end it is told; how others' end only the store knows, which is read again soon.
        """
        if now < self.paused_until:
            return Opening(self.paused_until, False)
        allowed = self.allowed(now)
        room = allowed - (min(2, allowed // 2) if feed else 0)  # a read of pending orders takes two calls
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
        """Keep since when the feeds of a process wait for a permit; they wait no more where `look_again` is None."""
        self.turns = {name: turn for name, turn in self.turns.items() if turn[1] >= now - _FORGOTTEN_S}
        if look_again is None:
            self.turns.pop(owner, None)
        else:
            since, _ = self.turns.get(owner, (now, now))
            self.turns[owner] = since, min(look_again, now + _LONGEST_TURN_S) + _TURN_S

    def end(self, name: str, at: float) -> None:
        """A use ends at `at`, and that is known now."""
        if (use := self.uses.get(name)) is not None:
            self.uses[name] = use._replace(ends=at, is_end_known=True)

    def end_uses_of(self, owner: str, now: float) -> None:
        """Let what a dead process holds cool from now on."""
        for name, use in self.uses.items():
            if use.owner == owner and not use.is_end_known:
                self.end(name, min(use.ends, now + COOLING_S))

    def take_over(self, other: EndpointQuota, owner: str) -> None:
        """Let what one process took of another account's permits count here: both turned out to be one account's.

        The tighter terms of the two hold. The other's stay, for other processes that do not know the account yet.
        """
        if other.withheld > self.withheld:
            self.withheld, self.restore_at = other.withheld, other.restore_at
        self.paused_until = max(self.paused_until, other.paused_until)
        self.halved_at = max(self.halved_at, other.halved_at)
        for name in [name for name, use in other.uses.items() if use.owner == owner]:
            self.uses[name] = other.uses.pop(name)

    def _after_turns_of_others(self, owner: str, now: float) -> Opening:
        own_since, _ = self.turns.get(owner, (now, now))
        turns = (turn for other, turn in self.turns.items() if other != owner)
        ends = max((until for since, until in turns if until > now and since < own_since), default=None)
        return Opening(now, True) if ends is None else Opening(min(now + _POLL_S, ends), False)

    def _next_change(self, now: float) -> float:
        """When waiting will next see another answer without anybody returning a permit; `inf` if never."""
        return min((moment for moment in (self.paused_until, self.restore_at) if moment > now), default=inf)

    def _restore_step(self) -> float:
        return RESTORE_S * (1.0 + self.random.uniform(0.0, 0.5))


@dataclass(frozen=True)
class AddressQuota:
    """How many calls a minute all processes of the user may make, and how many of them feeds and reads leave."""

    per_minute: int

    @classmethod
    def of_share(cls, share: float) -> AddressQuota:
        """The quota of a share (0 to 1) of what the exchange allows an address."""
        return cls(max(1, int(ADDRESS_CALLS_PER_MINUTE * share + 1e-9)))

    @cached_property
    def kept_for_writes(self) -> int:
        """Calls that neither feeds nor reads take: a tenth, and no more than one a second."""
        return min(60, self.per_minute // 10)

    @cached_property
    def reserved_for_interactive(self) -> int:
        """Calls that feeds leave to reads a person waits for and to writes."""
        return min(self.per_minute // 2, max(60, self.per_minute // 10) + self.kept_for_writes)

    @cached_property
    def feed_limit(self) -> int:
        """Calls a minute at which feeds stop."""
        return self.per_minute - self.reserved_for_interactive

    @cached_property
    def feed_rate(self) -> float:
        """Calls a second at which feeds go on once they have used up their head start."""
        return (self.feed_limit - self._feed_burst) / (_MINUTE_S + _SLOWEST_ROUND_TRIP_S)

    @cached_property
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


class AddressUsage(NamedTuple):
    """Calls of the address that count now, how many may, and whether feeds are made to wait for that."""

    used: int = 0
    allowed: int = 0
    slowed: bool = False

    @property
    def share(self) -> float:
        """The part that is used up, 0 to 1."""
        return min(1.0, self.used / self.allowed) if self.allowed else 0.0


@dataclass(slots=True)
class AddressCalls:
    """Calls of one address by the second at which they stop counting, and where those of feeds end at their rate."""

    by_second: Counter[int] = field(default_factory=Counter)
    feeds_until: float = 0.0
    _dropped_until: int = 0

    def count(self, now: float) -> int:
        """How many calls count at `now`."""
        if int(now) != self._dropped_until:
            self._dropped_until = int(now)
            for second in [second for second in self.by_second if second <= now]:
                del self.by_second[second]
        return self.by_second.total()

    def opening(
        self, quota: AddressQuota, counted: int, *, feed: bool, writes: bool, now: float, begins: float
    ) -> Opening:
        """When the address, of which `counted` calls count, takes one that its endpoint lets begin at `begins`."""
        excess = counted - quota.limit(feed=feed, writes=writes)
        if excess >= 0:
            return Opening(self._frees_at(excess), False)
        if not feed:
            return Opening(begins, True)
        turn = quota.feed_turn(self.feeds_until, begins)
        if turn > now + _LONGEST_RESERVATION_S:
            return Opening(turn - _LONGEST_RESERVATION_S, False)
        self.feeds_until = max(self.feeds_until, now) + 1 / quota.feed_rate
        return Opening(turn, True)

    def add(self, arrived_by: float) -> int:
        """Count a call that will have arrived by then; gives the second at which it stops counting."""
        second = int(arrived_by + _MINUTE_S + _CLOCK_DRIFT_S) + 1
        self.by_second[second] += 1
        return second

    def remove(self, second: int) -> None:
        if self.by_second[second] > 0:
            self.by_second[second] -= 1

    def _frees_at(self, excess: int) -> float:
        """The second at which one more call may count, if nothing else changes."""
        for second, calls in sorted(self.by_second.items()):
            excess -= calls
            if excess < 0:
                return float(second)
        return inf

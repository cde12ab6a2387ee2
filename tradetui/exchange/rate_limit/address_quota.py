"""Calls of one network address in any minute, which the exchange counts over all endpoints and accounts.

A call counts from its grant until a minute after its reply. It arrives in between, so that no sliding minute at the
exchange holds more calls than count here at once, whatever the network does to them. Calls that stop counting in the
same second are one number: a minute of work is some ninety numbers, not thousands of rows.

Feeds are also held to an even rate (the generic cell rate algorithm), so that many desks together slow down a little
instead of standing still for the rest of a minute.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.exchange.errors import RateLimited
from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

MINUTE_S: Final = 60.0
DEFAULT_ADDRESS_SHARE: Final = 0.8
"""Of the calls of an address, where no share is given: other people may sit behind the same address."""
_CLOCK_DRIFT_S: Final = 0.1
"""Added to a minute: this machine's clock and the exchange's may run at slightly different rates."""
_SLOWEST_ROUND_TRIP_S: Final = 3.0
"""What the feeds' even rate allows for calls in flight and for the rounding to seconds."""
_SLOWED_FOR_S: Final = 5.0
LONGEST_RESERVATION_S: Final = 1.0
"""A feed's turn is reserved at most this long ahead."""


class AddressQuota(NamedTuple):
    """How many calls a minute all processes of the user may make, and how many of them feeds and reads leave."""

    per_minute: int

    @classmethod
    def of_share(cls, share: float) -> AddressQuota:
        """The quota of a share (0 to 1) of what the exchange allows an address."""
        return cls(max(1, int(ADDRESS_CALLS_PER_MINUTE * share + 1e-9)))

    @property
    def kept_for_writes(self) -> int:
        """Calls that neither feeds nor reads take."""
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
        return (self.feed_limit - self._feed_burst) / (MINUTE_S + _SLOWEST_ROUND_TRIP_S)

    @property
    def feed_head_start_s(self) -> float:
        """How far feeds may be ahead of their even rate."""
        return self._feed_burst / self.feed_rate

    @property
    def _feed_burst(self) -> int:
        return self.feed_limit // 10

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


def counts_until(end: float) -> int:
    """The whole second at which a call that ended at `end` stops counting."""
    return int(end + MINUTE_S + _CLOCK_DRIFT_S) + 1


def feed_turn(quota: AddressQuota, feeds_until: float, now: float) -> float:
    """When a feed's next call is due at the even rate; `feeds_until` is where their calls so far end at that rate."""
    return max(now, feeds_until - quota.feed_head_start_s)


def address_used_up(endpoint: Endpoint, quota: AddressQuota, seconds: float) -> RateLimited:
    """Make the error of a call that would have to wait long for the address."""
    return RateLimited(
        f"this machine has made its {quota.per_minute} calls of a minute, the next is free in {seconds:.0f} s",
        retry_after=seconds,
        endpoint=endpoint.name,
        remedy="Wait, or end other programs of yours that call this base_url. Where nobody else calls from this "
        "network address, raise address_share in the profile.",
    )


class AddressCalls:
    """The calls of one address that this process alone makes."""

    def __init__(self, quota: AddressQuota) -> None:
        self.quota = quota
        self.meter = AddressMeter(quota)
        self._calls: dict[int, int] = {}
        self._feeds_until = 0.0

    def claim(self, *, feed: bool, writes: bool, now: float, hold_s: float) -> AddressClaim:
        """Count a call that takes `hold_s` at most, unless it has to wait."""
        claim = self._claim(feed=feed, writes=writes, now=now, hold_s=hold_s)
        self.meter.note(claim, feed=feed, now=now)
        return claim

    def _claim(self, *, feed: bool, writes: bool, now: float, hold_s: float) -> AddressClaim:
        for second in [second for second in self._calls if second <= now]:
            del self._calls[second]
        counted, limit = sum(self._calls.values()), self.quota.limit(feed=feed, writes=writes)
        if counted >= limit:
            return AddressClaim(None, frees_at(sorted(self._calls.items()), counted, limit), counted)
        if feed:
            turn = feed_turn(self.quota, self._feeds_until, now)
            if turn > now:
                return AddressClaim(None, turn, counted)
            self._feeds_until = max(self._feeds_until, now) + 1 / self.quota.feed_rate
        until = counts_until(now + hold_s)
        self._calls[until] = self._calls.get(until, 0) + 1
        return AddressClaim(until, now, counted + 1)

    def ended(self, counted_until: int, at: float | None) -> None:
        """A call ended at `at`, by when it had arrived; None where it was not sent."""
        if counted_until in self._calls:
            self._calls[counted_until] -= 1
        if at is not None:
            until = counts_until(at)
            self._calls[until] = self._calls.get(until, 0) + 1


def frees_at(calls_by_second: Iterable[tuple[int, int]], counted: int, limit: int) -> float:
    """The second at which fewer than `limit` calls count, if nothing else changes; seconds in rising order."""
    for second, calls in calls_by_second:
        counted -= calls
        if counted < limit:
            return float(second)
    return inf


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
        """Calls that count, as last seen."""
        return AddressUsage(self._used, self._quota.per_minute, now < self._slowed_until)

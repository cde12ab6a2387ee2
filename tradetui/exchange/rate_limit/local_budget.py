"""The budget of one process: who waits for each endpoint, and the permits that are out or cooling."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from heapq import heappop, heappush
from math import inf
from random import Random
from typing import TYPE_CHECKING

from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.rate_limit.address_quota import (
    COOLING_S,
    DEFAULT_ADDRESS_SHARE,
    LATE_S,
    LOST_S,
    AddressCalls,
    AddressQuota,
    AddressUsage,
    EndpointQuota,
    address_used_up,
    permits,
    reserved_for_interactive,
)
from tradetui.exchange.rate_limit.budget import (
    ADDRESS_POLL_S,
    PATIENCE_S,
    Permit,
    Priority,
    Usage,
    WaitingCalls,
    closing_error,
    paused_error,
)

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

_ROUNDING_S = 1e-6
_SHORTEST_WAIT_S = 2e-4


class LocalBudget:
    """Permits of one account within this process."""

    def __init__(
        self,
        *,
        share: float = 1.0,
        address_share: float = DEFAULT_ADDRESS_SHARE,
        account_kind: str | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self.account = ""
        self._share = share
        self._account_kind = account_kind
        self._clock = clock or SystemClock()
        self._random = random or Random()
        self._pools: dict[str, _Pool] = {}
        self._address = AddressCalls(AddressQuota.of_share(address_share))

    @property
    def account_kind(self) -> str | None:
        return self._account_kind

    @account_kind.setter
    def account_kind(self, kind: str | None) -> None:
        self._account_kind = kind
        for pool in self._pools.values():
            pool.quota.limit = permits(pool.endpoint, self._share, kind)
            pool.hand_out()

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        pool = self._pools.get(endpoint.name)
        if pool is None:
            limit = permits(endpoint, self._share, self._account_kind)
            pool = _Pool(endpoint, EndpointQuota(limit, random=self._random), self._clock, self._address)
            self._pools[endpoint.name] = pool
        return await pool.acquire(priority, hold_s)

    def usage(self) -> Mapping[str, Usage]:
        return {name: pool.usage() for name, pool in self._pools.items()}

    def address_usage(self) -> AddressUsage:
        """Calls of this process in the last minute, as of the last one."""
        return self._address.meter.usage(self._clock.monotonic())

    async def aclose(self) -> None:
        for pool in self._pools.values():
            pool.close()


class _Pool:
    """One endpoint's permits: how many are out, when the others have cooled, and who waits."""

    def __init__(self, endpoint: Endpoint, quota: EndpointQuota, clock: Clock, address: AddressCalls) -> None:
        self.endpoint = endpoint
        self.quota = quota
        self.clock = clock
        self.address = address
        self.out = 0
        self.grants = 0
        self.cooling: list[float] = []
        self._waiting = WaitingCalls()
        self._timer: asyncio.TimerHandle | None = None

    async def acquire(self, priority: Priority, hold_s: float) -> Permit:
        call = self._waiting.add(priority, hold_s)
        self.hand_out()
        return await call.permit()

    def hand_out(self) -> None:
        """Give permits to those in front, persons first, and set the timer for the rest."""
        now = self.clock.monotonic()
        address_opens = inf
        for priority in (Priority.INTERACTIVE, Priority.FEED):
            while (call := self._waiting.first_of(priority)) is not None:
                if (pause := self.quota.paused_until - now) > PATIENCE_S:
                    call.future.set_exception(paused_error(self.endpoint, pause))
                    continue
                if not self._has_room(priority, now):
                    break
                granted = self._grant(priority, now, call.hold_s)
                if isinstance(granted, _LocalPermit):
                    call.future.set_result(granted)
                elif priority is Priority.INTERACTIVE and granted - now > PATIENCE_S:
                    call.future.set_exception(address_used_up(self.endpoint, self.address.quota, granted - now))
                else:
                    address_opens = min(address_opens, granted)
                    break
        self._set_timer(now, address_opens)

    def usage(self) -> Usage:
        now = self.clock.monotonic()
        self._drop_cooled(now)
        allowed = self.quota.allowed(now)
        pause = max(0.0, self.quota.paused_until - now)
        return Usage(self.out + len(self.cooling), allowed, self.quota.withheld > 0, pause)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._waiting.fail(closing_error(self.endpoint))

    def _drop_cooled(self, now: float) -> None:
        while self.cooling and self.cooling[0] <= now + _ROUNDING_S:
            heappop(self.cooling)

    def _has_room(self, priority: Priority, now: float) -> bool:
        self._drop_cooled(now)
        if now < self.quota.paused_until - _ROUNDING_S:
            return False
        allowed = self.quota.allowed(now)
        free = allowed - self.out - len(self.cooling)
        return free > (reserved_for_interactive(allowed) if priority is Priority.FEED else 0)

    def _grant(self, priority: Priority, now: float, hold_s: float) -> _LocalPermit | float:
        """Take a permit of the endpoint, which has room; or say when the address may take another call."""
        feed = priority is Priority.FEED
        claim = self.address.claim(feed=feed, writes=self.endpoint.writes, now=now, hold_s=hold_s)
        self.address.meter.note(claim, feed=feed, now=now)
        if claim.counts_until is None:
            return claim.begins
        self.out += 1
        self.grants += 1
        return _LocalPermit(self, now, claim.counts_until)

    def _set_timer(self, now: float, address_opens: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting.first() is None:
            return
        moments = [self.quota.next_change(now), *self.cooling[:1]]
        if address_opens < inf:
            moments.append(min(address_opens, now + ADDRESS_POLL_S))
        if (soonest := min(moments)) < inf:
            delay = max(soonest - now, _SHORTEST_WAIT_S)  # a timer may fire a rounding early: no spinning
            self._timer = asyncio.get_running_loop().call_later(delay, self.hand_out)


class _LocalPermit:
    __slots__ = ("_counts_until", "_explained", "_granted_at", "_pool")

    def __init__(self, pool: _Pool, now: float, counts_until: int) -> None:
        self._pool: _Pool | None = pool
        self._counts_until = counts_until
        self._granted_at = now
        # Grants since, plus these, are all that the exchange can have counted of ours in one second.
        self._explained = pool.out + len(pool.cooling) - pool.grants

    def replied(self, remaining: int | None = None) -> None:
        if (pool := self._pool) is None:
            return
        now = pool.clock.monotonic()
        if remaining is not None and remaining < pool.quota.limit - (self._explained + pool.grants):
            pool.quota.halve(now, self._granted_at)
        self._end(back_at=now + COOLING_S, arrived_by=now)

    def refused(self, retry_after: float | None = None) -> None:
        if (pool := self._pool) is None:
            return
        now = pool.clock.monotonic()
        pool.quota.refuse(now, self._granted_at, retry_after)
        self._end(back_at=now + COOLING_S, arrived_by=now)

    def unanswered(self) -> None:
        if (pool := self._pool) is not None:
            now = pool.clock.monotonic()
            self._end(back_at=now + LOST_S, arrived_by=now + LATE_S)

    def unused(self) -> None:
        self._end(back_at=None, arrived_by=None)

    def _end(self, *, back_at: float | None, arrived_by: float | None) -> None:
        """Give the permit back once; both are None where nothing was sent."""
        if (pool := self._pool) is None:
            return
        self._pool = None
        pool.out -= 1
        pool.address.ended(self._counts_until, arrived_by)
        if back_at is not None:
            heappush(pool.cooling, back_at)
        pool.hand_out()

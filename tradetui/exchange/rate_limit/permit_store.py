"""Where permits are kept: the interface of a store, and the store in this process's memory.

The rules are those of `quota`. A store keeps its states and its own clock: its inputs and outputs are seconds from now.
`permit_file` keeps the states for all processes of the user.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from math import inf
from random import Random
from typing import NamedTuple, ParamSpec, Protocol, TypeVar

from tradetui.exchange.clock import Clock
from tradetui.exchange.rate_limit.quota import (
    COOLING_S,
    LATE_S,
    LOST_S,
    WINDOW_S,
    AddressCalls,
    AddressQuota,
    EndpointQuota,
    Use,
)

P = ParamSpec("P")
Result = TypeVar("Result")


class StoreHeld(Exception):
    """Other processes have held the store longer than the allowed wait; nothing was done."""


class StoreUnusable(Exception):
    """The store cannot be read or written."""


class PermitRequest(NamedTuple):
    """The terms of a requested permit: the key and limit of its endpoint, and the network address.

    `hold_s` is the longest that the call may take, `window_s` the time over which the exchange counts this endpoint's
    calls. `whole_limit` is the exchange's limit of the endpoint, of which `limit` is a share.
    """

    key: str
    limit: int
    address: str
    address_quota: AddressQuota
    feed: bool
    writes: bool
    hold_s: float
    window_s: float = WINDOW_S
    whole_limit: int = 0

    @property
    def beyond_second_s(self) -> float:
        """Seconds by which this permit comes back later than those of other endpoints."""
        return self.window_s - WINDOW_S


class PermitUse(NamedTuple):
    """One use of a permit: its name, its request, and when it begins by the store's clock.

    `grants_before` is the number of earlier grants without those still out at that time. The address counts the call
    until `counts_until`.
    """

    name: str
    request: PermitRequest
    begins: float
    grants_before: int
    counts_until: int

    def left_by_count(self, grants: int) -> int:
        """Return how many calls the exchange must have left in one second if only our calls count."""
        return self.request.limit - (grants - self.grants_before)


class UseEnd(NamedTuple):
    """How a call ended: how long its permit cools, and by when the call has arrived, None if it was not sent.

    `remaining` is the exchange's number of calls left in this second, `pause_s` the wait that a 429 demands.
    """

    cools_s: float
    arrives_in_s: float | None
    remaining: int | None = None
    pause_s: float | None = None


class EndpointState(NamedTuple):
    """An endpoint's permits, in seconds from now: when each taken one comes back, and what a refusal withholds."""

    back_in_s: Sequence[float] = ()
    withheld: int = 0
    paused_s: float = 0.0
    restored_in_s: float = inf


class Claim(NamedTuple):
    """The result of a claim: a use that begins in `wait_s`, or None, and then another claim makes sense in `wait_s`.

    `address_calls` is the number of calls that the address counts, None if the endpoint itself had no permit.
    """

    use: PermitUse | None
    wait_s: float
    state: EndpointState
    address_calls: int | None = None


class PermitStore(Protocol):
    """Hands out permits, and takes them back by the outcome of the call.

    Each result is a future, already done if there is no wait. It fails with StoreHeld or StoreUnusable.
    """

    def claim(self, request: PermitRequest) -> asyncio.Future[Claim]:
        """Take a free permit, or reserve for a person one whose return is known; the address may forbid it."""

    def replied(self, use: PermitUse, remaining: int | None) -> asyncio.Future[EndpointState]:
        """A reply came: the permit comes back after cooling. `remaining` is the exchange's number of calls left."""

    def refused(self, use: PermitUse, retry_after: float | None) -> asyncio.Future[EndpointState]:
        """A 429 came: all processes' permits of this endpoint are halved."""

    def unanswered(self, use: PermitUse) -> asyncio.Future[EndpointState]:
        """The call was given up; it may still arrive."""

    def unused(self, use: PermitUse) -> asyncio.Future[EndpointState]:
        """Nothing was sent."""

    def rename_account(self, before: str, after: str) -> asyncio.Future[None]:
        """Count this process's uses for another account, which turned out to be its own; pauses apply to it too."""

    async def aclose(self) -> None:
        """Release the store."""


class MemoryPermits:
    """Permits of this process alone, until it ends."""

    def __init__(self, clock: Clock, random: Random) -> None:
        self._clock = clock
        self._random = random
        self.owner = ""
        self._use_numbers = count()
        self._endpoints: dict[str, EndpointQuota] = {}
        self._addresses: dict[str, AddressCalls] = {}
        self._ended: list[tuple[PermitUse, float | None]] = []
        self._renamed: list[tuple[str, str]] = []

    def claim(self, request: PermitRequest) -> asyncio.Future[Claim]:
        return self._run(self._claim, request, self._clock.monotonic())

    def replied(self, use: PermitUse, remaining: int | None) -> asyncio.Future[EndpointState]:
        return self.end_use(use, UseEnd(COOLING_S + use.request.beyond_second_s, 0.0, remaining))

    def refused(self, use: PermitUse, retry_after: float | None) -> asyncio.Future[EndpointState]:
        pause_s = retry_after or WINDOW_S
        return self.end_use(use, UseEnd(COOLING_S + use.request.beyond_second_s, 0.0, pause_s=pause_s))

    def unanswered(self, use: PermitUse) -> asyncio.Future[EndpointState]:
        return self.end_use(use, UseEnd(LOST_S + use.request.beyond_second_s, LATE_S))

    def unused(self, use: PermitUse) -> asyncio.Future[EndpointState]:
        return self.end_use(use, UseEnd(0.0, None))

    def end_use(self, use: PermitUse, end: UseEnd) -> asyncio.Future[EndpointState]:
        return self._run(self._end, use, end, self._clock.monotonic())

    def rename_account(self, before: str, after: str) -> asyncio.Future[None]:
        return self._run(self._rename, f"{before}|", f"{after}|")

    def count_at_least(self, address: str, calls: Mapping[int, int]) -> asyncio.Future[None]:
        """Count at least so many calls of an address until each second, because they were counted elsewhere."""
        return self._run(self._count_at_least, address, calls)

    async def aclose(self) -> None: ...

    def _count_at_least(self, address: str, calls: Mapping[int, int]) -> None:
        with self._changing():
            counted = self._calls(address)
            counted.by_second |= Counter(calls)
            self._keep_calls(address, counted)

    def _claim(self, request: PermitRequest, now: float) -> Claim:
        feed, calls, counted = request.feed, None, 0
        with self._changing():
            quota = self._quota(request.key, request.limit)
            quota.drop_ended(now)
            opening = quota.opening(self.owner, feed=feed, now=now)
            if not opening.is_certain and self._end_uses_of_dead(quota, now + request.beyond_second_s):
                opening = quota.opening(self.owner, feed=feed, now=now)
            if opening.is_certain:
                calls = self._calls(request.address)
                self._count_ended(request.address, calls)
                counted = calls.count(now)
                opening = calls.opening(
                    request.address_quota, counted, feed=feed, writes=request.writes, now=now, begins=opening.at
                )
            use = None
            if opening.is_certain and calls is not None:
                name, ends = f"{self.owner}/{next(self._use_numbers)}", opening.at + request.hold_s
                quota.grants += 1
                quota.uses[name] = Use(self.owner, opening.at, ends)
                use = PermitUse(name, request, opening.at, quota.grants - len(quota.uses), calls.add(ends))
            if feed:
                quota.note_turn(self.owner, now, None if use is not None else opening.at)
            self._keep_quota(request.key, quota)
            if calls is not None:
                self._keep_calls(request.address, calls)
        if calls is None:
            return Claim(None, opening.at - now, _state(quota, now))
        self._ended = [ended for ended in self._ended if ended[0].request.address != request.address]
        return Claim(use, opening.at - now, _state(quota, now), counted + (use is not None))

    def _end(self, use: PermitUse, end: UseEnd, now: float) -> EndpointState:
        keys = [use.request.key]
        for before, after in self._renamed:
            if keys[-1].startswith(before):
                keys.append(after + keys[-1].removeprefix(before))
        with self._changing():
            for key in keys:
                quota = self._quota(key, use.request.limit)
                quota.end(use.name, now + end.cools_s)
                if end.pause_s is not None:
                    quota.refuse(now, use.begins, end.pause_s)
                elif end.remaining is not None and len(keys) == 1 and end.remaining < use.left_by_count(quota.grants):
                    quota.halve(now, use.begins)
                self._keep_quota(key, quota)
        self._ended.append((use, None if end.arrives_in_s is None else now + end.arrives_in_s))
        return _state(quota, now)

    def _rename(self, before: str, after: str) -> None:
        self._renamed.append((before, after))
        with self._changing():
            for key in self._keys(before):
                quota, former = self._quota(after + key.removeprefix(before)), self._quota(key)
                quota.take_over(former, self.owner)
                self._keep_quota(after + key.removeprefix(before), quota)
                self._keep_quota(key, former)

    def _count_ended(self, address: str, calls: AddressCalls) -> None:
        """Count this process's ended calls by their time of arrival; until now they counted longer."""
        for use, arrived_by in self._ended:
            if use.request.address == address:
                calls.remove(use.counts_until)
                if arrived_by is not None:
                    calls.add(arrived_by)

    def _end_uses_of_dead(self, quota: EndpointQuota, now: float) -> bool:
        """Start the cooling of uses of dead processes; False if there were none."""
        owners = {use.owner for use in quota.uses.values() if not use.is_end_known and use.owner != self.owner}
        dead = [owner for owner in owners if self.has_ended(owner)]
        for owner in dead:
            quota.end_uses_of(owner, now)
        return bool(dead)

    def has_ended(self, owner: str) -> bool:
        """Return True if the process of `owner` has certainly ended."""
        return False

    def _quota(self, key: str, limit: int = 1) -> EndpointQuota:
        if (quota := self._endpoints.get(key)) is None:
            quota = self._endpoints[key] = EndpointQuota(limit, random=self._random)
        quota.limit = limit
        return quota

    def _calls(self, address: str) -> AddressCalls:
        if (calls := self._addresses.get(address)) is None:
            calls = self._addresses[address] = AddressCalls()
        return calls

    def _keys(self, prefix: str) -> list[str]:
        return [key for key in self._endpoints if key.startswith(prefix)]

    def _keep_quota(self, key: str, quota: EndpointQuota) -> None: ...

    def _keep_calls(self, address: str, calls: AddressCalls) -> None: ...

    def _changing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _run(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[Result]:
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        done.set_result(work(*args, **kwargs))
        return done


class WrittenPermits(MemoryPermits, ABC):
    """Permits whose states are written as text where other processes read them too."""

    @abstractmethod
    def _read(self, kind: str, key: str) -> str | None:
        """Return a written state; `kind` is endpoints or addresses."""

    @abstractmethod
    def _write(self, kind: str, key: str, state: str) -> None: ...

    def _quota(self, key: str, limit: int = 1) -> EndpointQuota:
        if key not in self._endpoints and (state := self._read("endpoints", key)) is not None:
            withheld, paused_until, halved_at, restore_at, grants, uses, turns = json.loads(state)
            uses = {name: Use(*use) for name, use in uses.items()}
            self._endpoints[key] = EndpointQuota(
                limit, withheld, paused_until, halved_at, restore_at, grants, uses, turns, self._random
            )
        return super()._quota(key, limit)

    def _calls(self, address: str) -> AddressCalls:
        if address not in self._addresses and (state := self._read("addresses", address)) is not None:
            by_second, feeds_until = json.loads(state)
            self._addresses[address] = AddressCalls(Counter(dict(by_second)), feeds_until)
        return super()._calls(address)

    def _keep_quota(self, key: str, quota: EndpointQuota) -> None:
        refusals = (quota.withheld, quota.paused_until, quota.halved_at, quota.restore_at)
        self._write("endpoints", key, json.dumps((*refusals, quota.grants, quota.uses, quota.turns)))

    def _keep_calls(self, address: str, calls: AddressCalls) -> None:
        self._write("addresses", address, json.dumps((list(calls.by_second.items()), calls.feeds_until)))

    def _forget(self) -> None:
        """Read every state again when it is next needed."""
        self._endpoints.clear()
        self._addresses.clear()


def _state(quota: EndpointQuota, now: float) -> EndpointState:
    back_in_s = [use.ends - now for use in quota.uses.values()]
    return EndpointState(back_in_s, quota.withheld, max(0.0, quota.paused_until - now), quota.restore_at - now)

"""The budget of calls: each call holds a permit, from a store for this process or for all of the user's.

A call arrives at the exchange between its sending and its reply. The next call on the same permit is sent a second
after that reply, so two uses of one permit are never within a second of each other *at the exchange*, whatever the
network does to either. N permits therefore never put more than N calls into any sliding second there. If an endpoint's
limit counts over longer than a second, its permits stay out for that long.

Each process has one reservation at a time. It is made as soon as the return of a permit is known, which is a second
ahead. So no process waits for another, none takes all permits, and a permit is used the moment it is free.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.errors import NotSent, RateLimited
from tradetui.exchange.rate_limit.permit_store import (
    Claim,
    EndpointState,
    MemoryPermits,
    PermitRequest,
    PermitStore,
    PermitUse,
    StoreHeld,
    StoreUnusable,
)
from tradetui.exchange.rate_limit.quota import (
    COOLING_S,
    DEFAULT_ADDRESS_SHARE,
    AddressQuota,
    AddressUsage,
    EndpointQuota,
    permits,
)

if TYPE_CHECKING:
    from tradetui.exchange.rate_limit.permits_in_store import PermitServer, StorePermits
    from tradetui.wire.endpoints.endpoint import Endpoint

_log = logging.getLogger(__name__)

PATIENCE_S: Final = 10.0
"""A longer pause raises an error at once instead of a wait."""
ADDRESS_POLL_S: Final = 1.0
"""How often a full address is looked at again, because replies free calls earlier than expected."""
_STORE_PATIENCE_S: Final = 1.5
"""The first call waits so long for the connection to a store; until there is one, this machine counts alone."""
_SLOWED_FOR_S: Final = 5.0
_ROUNDING_S: Final = 1e-6
"""Added to a wait, because its end may be rounded to slightly later."""


class Priority(StrEnum):
    """Who waits for the answer: a feed, which will ask again anyway, or a person."""

    FEED = "feed"
    INTERACTIVE = "interactive"


class Usage(NamedTuple):
    used: int
    """Permits that are out or cooling."""
    allowed: int
    halved: bool = False
    """Whether some are withheld because the exchange refused a call as one too many."""
    paused_s: float = 0.0
    """Seconds for which none is handed out."""


class Budget:
    """Permits of one account, for this process or shared by every process with the same directory.

    `account` names the account (base URL, environment, UID) and may be set again once it is known. `account_kind` is
    ordinary, copy_trader, broker, or None while unknown, which counts as a copy trader. `host` is the exchange's
    canonical address, whose limits by network address are shared; `address_share` (0 to 1) is the fraction of its calls
    for all the user's processes. With `is_even`, feeds keep an even rate from the start. `inline` does the file's work
    without a thread, for virtual time. If the file cannot be used, the budget logs that once and counts for this
    process alone. `beside` is the budget of this process whose permits this one takes. `shared` is the store of several
    machines; its share then takes the place of `share`, and the file, or `beside`, counts while the store is away.
    """

    def __init__(
        self,
        directory: Path | None = None,
        account: str = "",
        *,
        host: str = "",
        share: float = 1.0,
        address_share: float = DEFAULT_ADDRESS_SHARE,
        account_kind: str | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
        inline: bool = False,
        beside: Budget | None = None,
        is_even: bool = False,
        shared: PermitServer | None = None,
    ) -> None:
        self.account_kind = account_kind
        self.clock: Final = clock or SystemClock()
        self._random = random or Random()
        self._directory = directory
        self._inline = inline
        self._account = account
        self._host = host
        self._share = share
        self._address_quota = AddressQuota.of_share(address_share, is_even=is_even)
        self._address_calls = 0
        self._slowed_until = 0.0
        self._endpoints: dict[str, _Queue] = {}
        self._stores: list[PermitStore]
        self._beside = beside
        self._shared = shared
        self._in_store: StorePermits | None = None
        if beside is not None and shared is None:
            self._stores = beside._stores
        else:
            self._stores = [] if directory is not None else [MemoryPermits(self.clock, self._random)]
        self._opening: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def account(self) -> str:
        return self._account

    @account.setter
    def account(self, name: str) -> None:
        before, self._account = self._account, name
        if name != before and self._stores:
            # The exchange counts calls under way and cooling for the account that it now turns out to be.
            self.store.rename_account(before, name).add_done_callback(_log_failure)

    @property
    def store(self) -> PermitStore:
        """The store that hands out permits, the file or this process's memory; set by the first request."""
        return self._stores[-1]

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Wait for a permit, first come first served, persons before feeds; the wait can be cancelled.

        `hold_s` is the longest that the call may take. Raises RateLimited for a long pause, or for a person if the
        address is full; raises NotSent for waiting calls when it is closed.
        """
        if self._closed:
            raise _closing_error(endpoint)
        if not self._stores:
            await self._open()
        if (queue := self._endpoints.get(endpoint.name)) is None:
            queue = self._endpoints[endpoint.name] = _Queue(self, endpoint)
        return await queue.acquire(priority, hold_s)

    def usage(self) -> Mapping[str, Usage]:
        """Return the permits of every endpoint called so far, by catalogue name, as this process last saw them.

        They include those of other processes.
        """
        return {name: queue.usage() for name, queue in self._endpoints.items()}

    def address_usage(self) -> AddressUsage:
        """Return the calls of the last minute at this exchange's address, as of this process's newest permit."""
        slowed = self.clock.monotonic() < self._slowed_until
        return AddressUsage(self._address_calls, self._address_quota.per_minute, slowed)

    async def aclose(self) -> None:
        """Stop; waiting calls get `NotSent`."""
        if self._closed:
            return
        self._closed = True
        for queue in self._endpoints.values():
            await queue.aclose()
        for store in reversed(self._stores) if self._beside is None or self._shared is not None else ():
            await store.aclose()

    def request(self, endpoint: Endpoint, priority: Priority, hold_s: float) -> PermitRequest:
        whose = f"ip:{self._host}" if endpoint.limit.scope == "ip" else self._account
        return PermitRequest(
            f"{whose}|{endpoint.name}",
            self.limit(endpoint),
            self._host,
            self._address_quota,
            feed=priority is Priority.FEED,
            writes=endpoint.writes,
            hold_s=hold_s,
            window_s=endpoint.limit.window_s,
            whole_limit=permits(endpoint, 1.0, self.account_kind),
        )

    def limit(self, endpoint: Endpoint) -> int:
        """Return this process's permits of an endpoint if nothing was refused."""
        share = self._share if self._in_store is None else self._in_store.share
        return permits(endpoint, share, self.account_kind)

    def note_address(self, claim: Claim, *, feed: bool) -> None:
        """Note what a claim says about the address."""
        if claim.address_calls is not None:
            self._address_calls = claim.address_calls
            if feed and claim.wait_s > 0 and not self._address_quota.is_even:  # those wait as a matter of course
                self._slowed_until = self.clock.monotonic() + _SLOWED_FOR_S

    def address_used_up(self, endpoint: Endpoint, seconds: float) -> RateLimited:
        """Return the error of a call that would have to wait long for the address."""
        return RateLimited(
            f"this machine has made its {self._address_quota.per_minute} calls of a minute, "
            f"the next is free in {seconds:.0f} s",
            retry_after=seconds,
            endpoint=endpoint.name,
            remedy="Wait, or end other programs of yours that call this base_url. Where nobody else calls from this "
            "network address, raise address_share in the profile.",
        )

    def count_alone(self, failure: Exception) -> None:
        """Count for this process alone from now on, because the file cannot be used."""
        self._stores.append(self._memory(failure))

    def _memory(self, failure: Exception) -> MemoryPermits:
        _log.warning("the shared rate limits cannot be used (%s): other processes are not seen", failure)
        return MemoryPermits(self.clock, self._random)

    async def _open(self) -> None:
        if self._beside is not None and self._shared is None:
            await self._beside._open()
            return
        if self._opening is None:
            self._opening = asyncio.create_task(self._open_once())
        await asyncio.shield(self._opening)

    async def _open_once(self) -> None:
        if self._beside is None:
            local = await self._opened_here()
            stores: list[PermitStore] = [local]
        else:
            await self._beside._open()
            assert isinstance(self._beside.store, MemoryPermits)
            local, stores = self._beside.store, []
        if self._shared is not None:
            from tradetui.exchange.rate_limit.permits_in_store import StorePermits

            opening = asyncio.create_task(self._shared.server.open(), name="store of permits")
            await asyncio.wait({opening}, timeout=_STORE_PATIENCE_S)
            self._in_store = StorePermits(self._shared, local, self._account, self.clock, self._random)
            stores.append(self._in_store)
        self._stores.extend(stores)

    async def _opened_here(self) -> MemoryPermits:
        """Open the file of this machine's permits, or count in memory if it cannot be used."""
        assert self._directory is not None
        # imported here, because a single process needs no SQLite
        from tradetui.exchange.rate_limit.permit_file import FilePermits

        open_file = partial(FilePermits, self._directory, self.clock, self._random, inline=self._inline)
        try:
            return open_file() if self._inline else await asyncio.to_thread(open_file)
        except NotSent:  # a newer program's file; that program may be closed by the next call
            self._opening = None
            raise
        except StoreUnusable as failure:
            return self._memory(failure)


def _log_failure(renamed: asyncio.Future[None]) -> None:
    if not renamed.cancelled() and (failure := renamed.exception()) is not None:
        _log.warning("calls before the account was known are not counted for it (%s)", type(failure).__name__)


class Permit:
    """The right to one call. Exactly one of its methods must be called; later calls change nothing."""

    __slots__ = ("_queue", "_store", "_use")

    def __init__(self, queue: _Queue, store: PermitStore, use: PermitUse) -> None:
        self._queue = queue
        self._store = store
        self._use: PermitUse | None = use

    def replied(self, remaining: int | None = None) -> None:
        """A reply came; `remaining` is the exchange's number of calls left in this second."""
        if (use := self._ended()) is not None:
            self._queue.record_end(self._store.replied(use, remaining), COOLING_S + use.request.beyond_second_s)

    def refused(self, retry_after: float | None = None) -> None:
        """The exchange answered 429, perhaps with seconds to wait."""
        if (use := self._ended()) is not None:
            self._queue.record_end(self._store.refused(use, retry_after))

    def unanswered(self) -> None:
        """The call was given up; it may still arrive."""
        if (use := self._ended()) is not None:
            self._queue.record_end(self._store.unanswered(use))

    def unused(self) -> None:
        """Nothing was sent."""
        if (use := self._ended()) is not None:
            self._queue.record_end(self._store.unused(use))

    def _ended(self) -> PermitUse | None:
        use, self._use = self._use, None
        return use


class _PendingClaim(NamedTuple):
    """A permit requested from a store: its priority, the store and the result.

    One claimed beside another is used only if that is possible at once: a process has one reservation at a time.
    """

    priority: Priority
    store: PermitStore
    claim: asyncio.Future[Claim]
    is_beside: bool = False


class _Queue:
    """The waiting calls of one endpoint in this process, and the one task that claims permits for them."""

    def __init__(self, budget: Budget, endpoint: Endpoint) -> None:
        self._budget = budget
        self._endpoint = endpoint
        self._waiting = _WaitingCalls()
        self._claims: deque[_PendingClaim] = deque()
        """Those without an answer yet, in the order in which the answers come."""
        self._handing_out: asyncio.Task[None] | None = None
        self._look_now = asyncio.Event()
        self._next_look_at = inf
        self._state, self._seen_at = EndpointState(), 0.0

    async def acquire(self, priority: Priority, hold_s: float) -> Permit:
        pending = None
        if self._handing_out is None or self._handing_out.done():
            pending = self._begin_claim(priority, hold_s)
            if (permit := self._permit_now(pending)) is not None:
                return permit
        call = self._waiting.add(priority, hold_s)
        if pending is not None:
            self._claims.append(pending)
            self._handing_out = asyncio.create_task(self._hand_out(), name=f"budget {self._endpoint.name}")
        elif priority is Priority.INTERACTIVE and 0 < len(self._claims) < self._waiting.persons:
            # A store answers both claims at once.
            self._claims.append(self._begin_claim(priority, hold_s)._replace(is_beside=True))
        elif self._waiting.first() == (priority, call):  # nothing is claimed yet for a call behind others
            self._look_now.set()
        try:
            return await call.permit()
        except asyncio.CancelledError:
            self._look_now.set()
            raise

    def usage(self) -> Usage:
        state, age_s = self._state, self._budget.clock.monotonic() - self._seen_at
        used, allowed = sum(seconds > age_s for seconds in state.back_in_s), self._budget.limit(self._endpoint)
        is_halved = False
        if state.withheld:
            quota = EndpointQuota(allowed, state.withheld, restore_at=state.restored_in_s, random=Random(0))
            allowed, is_halved = quota.allowed(age_s), quota.withheld > 0
        return Usage(used, allowed, is_halved, max(0.0, state.paused_s - age_s))

    async def aclose(self) -> None:
        if self._handing_out is not None:
            self._handing_out.cancel()
            with suppress(asyncio.CancelledError):
                await self._handing_out
        self._waiting.fail(_closing_error(self._endpoint))

    def record_end(self, recorded: asyncio.Future[EndpointState], back_in_s: float = 0.0) -> None:
        """Note the end of a call once it is recorded; if recording fails, the call's lease ends it."""
        back_at = self._budget.clock.monotonic() + back_in_s
        if recorded.done():
            self._end_recorded(back_at, recorded)
        else:
            recorded.add_done_callback(partial(self._end_recorded, back_at))

    def _end_recorded(self, back_at: float, recorded: asyncio.Future[EndpointState]) -> None:
        if not recorded.cancelled():
            if (failure := recorded.exception()) is not None:
                _log.warning("a permit was not given back (%s); its lease will", type(failure).__name__)
            else:
                self._note(recorded.result())
        # Feeds that wait for an earlier permit would only get the same time again.
        if back_at < self._next_look_at:
            self._look_now.set()

    def _note(self, state: EndpointState) -> None:
        self._state, self._seen_at = state, self._budget.clock.monotonic()

    def _begin_claim(self, priority: Priority, hold_s: float) -> _PendingClaim:
        store = self._budget.store
        return _PendingClaim(priority, store, store.claim(self._budget.request(self._endpoint, priority, hold_s)))

    def _permit_now(self, pending: _PendingClaim) -> Permit | None:
        """Return the requested permit if it is there already and may be used at once."""
        if not pending.claim.done() or pending.claim.exception() is not None:
            return None
        claim = pending.claim.result()
        if claim.use is None or claim.wait_s > 0:
            return None
        self._take_in(pending.priority, claim)
        return Permit(self, pending.store, claim.use)

    def _take_in(self, priority: Priority, claim: Claim) -> None:
        self._note(claim.state)
        self._budget.note_address(claim, feed=priority is Priority.FEED)

    async def _hand_out(self) -> None:
        """Claim permits until no call waits; the first call has claimed one already."""
        while self._claims:
            await self._await_claim(self._claims[0])
            if not self._claims and (first := self._waiting.first()) is not None:
                self._look_now.clear()
                self._claims.append(self._begin_claim(first[0], first[1].hold_s))

    async def _await_claim(self, pending: _PendingClaim) -> None:
        """Hand over the requested permit, or wait as long as its store says."""
        try:
            claim = await pending.claim
        except StoreHeld:
            return  # the wait for other processes was the pause
        except StoreUnusable as failure:
            if self._budget.store is pending.store:  # another endpoint's calls may have noticed it first
                self._budget.count_alone(failure)
            return
        finally:
            self._claims.popleft()
        self._take_in(pending.priority, claim)
        if claim.use is None:
            if not self._claims:
                await self._wait_or_refuse(pending.priority, claim)
        elif pending.is_beside and claim.wait_s > 0:
            Permit(self, pending.store, claim.use).unused()
        else:
            await self._hand_over(pending.priority, Permit(self, pending.store, claim.use), claim.wait_s)

    async def _wait_or_refuse(self, priority: Priority, claim: Claim) -> None:
        """Wait until the store may have a permit; a call that would wait too long fails at once."""
        if claim.state.paused_s > PATIENCE_S:
            self._waiting.fail(_paused_error(self._endpoint, claim.state.paused_s))
        elif claim.address_calls is None:
            await self._sleep(claim.wait_s)
        elif priority is Priority.FEED or claim.wait_s <= PATIENCE_S:
            await self._sleep(min(claim.wait_s, ADDRESS_POLL_S))
        elif (refused := self._waiting.take(priority)) is not None:
            refused.future.set_exception(self._budget.address_used_up(self._endpoint, claim.wait_s))

    async def _hand_over(self, priority: Priority, permit: Permit, wait_s: float) -> None:
        """Wait until the permit may be used, and give it to the call of this priority that is first by then."""
        begins = self._budget.clock.monotonic() + wait_s
        try:
            is_first = await self._wait_for_turn(begins, priority)
        except asyncio.CancelledError:
            permit.unused()
            raise
        # A person may use a feed's permit, a feed none of those that are kept for persons.
        first = self._waiting.first() if priority is Priority.FEED else None
        if is_first and (call := self._waiting.take(first[0] if first else priority)) is not None:
            call.future.set_result(permit)
        else:
            permit.unused()

    async def _wait_for_turn(self, begins: float, priority: Priority) -> bool:
        """Wait for a permit already taken; False if a person came before a feed's permit was free."""
        clock = self._budget.clock
        while (wait_s := begins - clock.monotonic()) > 0:
            if priority is Priority.INTERACTIVE:
                await asyncio.sleep(wait_s)
                break
            self._look_now.clear()
            if (first := self._waiting.first()) is None or first[0] is Priority.INTERACTIVE:
                return False
            await self._sleep(wait_s)
        return True

    async def _sleep(self, seconds: float) -> None:
        if (first := self._waiting.first()) is not None and first[0] is Priority.FEED:
            # A person reserves a returning permit as soon as its return is known.
            self._next_look_at = self._budget.clock.monotonic() + seconds
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(seconds, 0.001) + _ROUNDING_S):
                    await self._look_now.wait()
        finally:
            self._next_look_at = inf


class _WaitingCall:
    """A call that waits for its permit, which is set as the result of `future`.

    `hold_s` is the longest that the call may take.
    """

    __slots__ = ("future", "hold_s")

    def __init__(self, hold_s: float) -> None:
        self.future: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self.hold_s = hold_s

    async def permit(self) -> Permit:
        """Wait for the permit; one that comes together with a cancellation is given back."""
        try:
            return await self.future
        except asyncio.CancelledError:
            done = self.future
            if done.done() and not done.cancelled() and done.exception() is None:
                done.result().unused()
            raise


class _WaitingCalls:
    """The waiting calls of one endpoint, by priority, in order of arrival.

    Calls that were cancelled or answered meanwhile are skipped.
    """

    def __init__(self) -> None:
        # `first` uses this order: persons before feeds.
        self._queues: dict[Priority, deque[_WaitingCall]] = {Priority.INTERACTIVE: deque(), Priority.FEED: deque()}

    def add(self, priority: Priority, hold_s: float) -> _WaitingCall:
        """Append a call to those of the same priority."""
        call = _WaitingCall(hold_s)
        self._queues[priority].append(call)
        return call

    def first_of(self, priority: Priority) -> _WaitingCall | None:
        """Return the call of this priority that waits longest; None if none waits."""
        queue = self._queues[priority]
        while queue and queue[0].future.done():
            queue.popleft()
        return queue[0] if queue else None

    @property
    def persons(self) -> int:
        """How many persons wait."""
        return sum(not call.future.done() for call in self._queues[Priority.INTERACTIVE])

    def first(self) -> tuple[Priority, _WaitingCall] | None:
        """Return the next call with its priority; None if none waits."""
        for priority in self._queues:
            if (call := self.first_of(priority)) is not None:
                return priority, call
        return None

    def take(self, priority: Priority) -> _WaitingCall | None:
        """Remove the longest-waiting call of a priority; the caller sets its future."""
        if (call := self.first_of(priority)) is not None:
            self._queues[priority].popleft()
        return call

    def fail(self, error: Exception) -> None:
        """Fail every waiting call with an error."""
        for priority in self._queues:
            while (call := self.take(priority)) is not None:
                call.future.set_exception(error)


def _paused_error(endpoint: Endpoint, seconds: float) -> RateLimited:
    """Return the error of a call that would have to wait for the end of a long pause."""
    return RateLimited(
        f"the exchange asked for a pause; {seconds:.0f} s are left",
        retry_after=seconds,
        endpoint=endpoint.name,
        remedy="Wait, and see whether another program of this account polls too fast.",
    )


def _closing_error(endpoint: Endpoint) -> NotSent:
    """Return the error of a call that is made, or still waits, while the program closes."""
    return NotSent("the program is closing", endpoint=endpoint.name, remedy="Start it again to go on.")

"""Who waits in this process for one endpoint's permits of the shared file, and the one task that claims them."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import NotSent
from tradetui.exchange.rate_limit.address_quota import AddressMeter, address_used_up
from tradetui.exchange.rate_limit.address_rows import AddressTerms
from tradetui.exchange.rate_limit.budget import (
    ADDRESS_POLL_S,
    PATIENCE_S,
    Permit,
    Priority,
    Usage,
    WaitingCalls,
    paused,
)
from tradetui.exchange.rate_limit.budget_file import BudgetFile
from tradetui.exchange.rate_limit.local_budget import LocalBudget
from tradetui.exchange.rate_limit.permit_store import Claim, PermitStore, PermitUse, passes

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

_log = logging.getLogger(__name__)


class PoolOwner(Protocol):
    """The budget that a pool belongs to: its file, its clock, and under what its calls are counted."""

    @property
    def file(self) -> BudgetFile: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def address_meter(self) -> AddressMeter: ...

    def terms(self, endpoint: Endpoint) -> tuple[str, int]: ...

    def address_terms(self, endpoint: Endpoint, priority: Priority) -> AddressTerms: ...

    def give_up(self, failure: Exception) -> LocalBudget: ...


class SharedPool:
    """Who waits in this process for one endpoint, and the one task that claims permits for them."""

    def __init__(self, owner: PoolOwner, endpoint: Endpoint) -> None:
        self.owner = owner
        self.endpoint = endpoint
        self._waiting = WaitingCalls()
        self._pump: asyncio.Task[None] | None = None
        self._nudge = asyncio.Event()
        self._seen: Claim | None = None

    async def acquire(self, priority: Priority, hold_s: float) -> Permit:
        call = self._waiting.add(priority, hold_s)
        self._nudge.set()
        if self._pump is None or self._pump.done():
            self._pump = asyncio.get_running_loop().create_task(self._hand_out(), name=f"budget {self.endpoint.name}")
        try:
            return await call.permit()
        except asyncio.CancelledError:
            self._nudge.set()
            raise

    def usage(self) -> Usage:
        now = self.owner.clock.monotonic()
        if (seen := self._seen) is None:
            return Usage(0, self.owner.terms(self.endpoint)[1])
        used = sum(1 for end in seen.ends if end > now)
        return Usage(used, seen.allowed, seen.halved, max(0.0, seen.paused_until - now))

    async def aclose(self) -> None:
        if self._pump is not None:
            self._pump.cancel()
            with suppress(asyncio.CancelledError):
                await self._pump
        closing = NotSent("the program is closing", endpoint=self.endpoint.name, remedy="Start it again to go on.")
        self._waiting.fail(closing)

    def record_end(self, work: Callable[[], None]) -> None:
        """Write down how a call ended; should that fail, its lease ends it."""
        try:
            done = self.owner.file.run(work)
        except RuntimeError:  # the file was closed meanwhile; the lease ends it
            return
        done.add_done_callback(self._end_recorded)

    def _end_recorded(self, done: asyncio.Future[None]) -> None:
        if not done.cancelled() and (failure := done.exception()) is not None:
            _log.warning("a permit was not given back (%s); its lease will", type(failure).__name__)
        self._nudge.set()

    async def _hand_out(self) -> None:
        clock = self.owner.clock
        while (first := self._waiting.first()) is not None:
            priority, call = first
            key, limit = self.owner.terms(self.endpoint)
            self._nudge.clear()
            now = clock.monotonic()
            address = self.owner.address_terms(self.endpoint, priority)
            claim_it = partial(
                self.owner.file.store.claim,
                *(key, limit),
                feed=address.feed,
                now=now,
                hold_s=call.hold_s,
                address=address,
            )
            try:
                claim = await self.owner.file.run(claim_it)
            except sqlite3.OperationalError as failure:
                if not passes(failure):
                    await self._go_local(failure)
                    return
                continue  # the wait for the lock was the pause
            except (sqlite3.Error, OSError) as failure:
                await self._go_local(failure)
                return
            self._seen = claim
            if claim.address is not None:
                self.owner.address_meter.note(claim.address, feed=address.feed, now=now)
            if claim.use is None:
                pause = claim.paused_until - clock.monotonic()
                if pause > PATIENCE_S:
                    self._waiting.fail(paused(self.endpoint, pause))
                    continue
                if claim.address is not None and not address.feed and claim.look_again - now > PATIENCE_S:
                    waiting = claim.look_again - now
                    if (refused := self._waiting.take(priority)) is not None:
                        refused.future.set_exception(address_used_up(self.endpoint, address.quota, waiting))
                    continue
                soonest = claim.look_again if claim.address is None else min(claim.look_again, now + ADDRESS_POLL_S)
                await self._sleep_until(soonest)
                continue
            taken = _SharedPermit(self, claim.use)
            try:
                await self._sleep_until_turn(claim.use.begins, priority)
            except asyncio.CancelledError:
                taken.unused()
                raise
            if priority is Priority.FEED and clock.monotonic() < claim.use.begins:
                taken.unused()  # a person came, who goes first
            elif (next_call := self._waiting.take(priority)) is None:
                taken.unused()
            else:
                next_call.future.set_result(taken)

    async def _go_local(self, failure: Exception) -> None:
        local = self.owner.give_up(failure)
        while (first := self._waiting.first()) is not None:
            priority, call = first
            self._waiting.take(priority)
            task = asyncio.ensure_future(local.acquire(self.endpoint, priority, hold_s=call.hold_s))
            task.add_done_callback(partial(_pass_on, call.future))

    async def _sleep_until_turn(self, moment: float, priority: Priority) -> None:
        """Wait for a permit that is taken already; a feed's wait ends early when a person comes."""
        clock = self.owner.clock
        if priority is Priority.INTERACTIVE:
            if (delay := moment - clock.monotonic()) > 0:
                await asyncio.sleep(delay)
            return
        while clock.monotonic() < moment:
            self._nudge.clear()
            if (first := self._waiting.first()) is None or first[0] is Priority.INTERACTIVE:
                return
            await self._sleep_until(moment)

    async def _sleep_until(self, moment: float) -> None:
        delay = max(0.0, moment - self.owner.clock.monotonic())
        with suppress(TimeoutError):
            async with asyncio.timeout(max(delay, 0.001)):
                await self._nudge.wait()


def _pass_on(waiting: asyncio.Future[Permit], done: asyncio.Future[Permit]) -> None:
    if done.cancelled():
        waiting.cancel()
    elif (failure := done.exception()) is not None:
        if not waiting.done():
            waiting.set_exception(failure)
    elif waiting.done():
        done.result().unused()
    else:
        waiting.set_result(done.result())


class _SharedPermit:
    __slots__ = ("_open", "_pool", "_use")

    def __init__(self, pool: SharedPool, use: PermitUse) -> None:
        self._pool = pool
        self._use = use
        self._open = True

    def replied(self, remaining: int | None = None) -> None:
        now = self._pool.owner.clock.monotonic()
        self._end(lambda store: store.replied(self._use, now, remaining))

    def refused(self, retry_after: float | None = None) -> None:
        now = self._pool.owner.clock.monotonic()
        self._end(lambda store: store.refused(self._use, now, retry_after))

    def unanswered(self) -> None:
        now = self._pool.owner.clock.monotonic()
        self._end(lambda store: store.unanswered(self._use, now))

    def unused(self) -> None:
        self._end(lambda store: store.unused(self._use))

    def _end(self, work: Callable[[PermitStore], None]) -> None:
        if self._open:
            self._open = False
            self._pool.record_end(partial(work, self._pool.owner.file.store))

"""One budget for all processes of the user on this machine, kept in a file.

Each process has one reservation at a time, made as soon as a permit's return is known, which is a second ahead: no
process waits for another, none takes all, and the permit is used the moment it is free. Another store (the clock then
being that store's own) would be another `Budget`.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.errors import NotSent
from tradetui.exchange.rate_limit.address_quota import (
    COOLING_S,
    DEFAULT_ADDRESS_SHARE,
    AddressMeter,
    AddressQuota,
    AddressTerms,
    AddressUsage,
    address_used_up,
    permits,
)
from tradetui.exchange.rate_limit.budget import (
    ADDRESS_POLL_S,
    PATIENCE_S,
    Permit,
    Priority,
    Usage,
    WaitingCall,
    WaitingCalls,
    closing_error,
    paused_error,
)
from tradetui.exchange.rate_limit.local_budget import LocalBudget
from tradetui.exchange.rate_limit.shared_budget_file import BudgetFile
from tradetui.exchange.rate_limit.shared_permit_store import Claim, PermitStore, PermitUse, is_held_by_others
from tradetui.storage.sqlite_file import FileUnusable

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

_log = logging.getLogger(__name__)


class SharedBudget:
    """Permits of one account, shared with every process that uses the same directory.

    `account` names the account (base URL, environment, UID) and may be set again when it is learned; `host` is the
    exchange's address, in one spelling, whose limits by network address are shared, and `address_share` (0 to 1) the
    part of all its calls that the user's processes may make together. `inline` does the file's work on the spot, for
    virtual time. When the file cannot be used the budget says so once in the log and counts for this process alone;
    `shared` then is False.
    """

    def __init__(
        self,
        directory: Path,
        account: str,
        *,
        host: str = "",
        share: float = 1.0,
        address_share: float = DEFAULT_ADDRESS_SHARE,
        account_kind: str | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
        inline: bool = False,
    ) -> None:
        self._account = account
        self.account_kind = account_kind
        self.shared = True
        self.file = BudgetFile(directory, inline=inline)
        self.host = host
        self._share = share
        self.address_quota = AddressQuota.of_share(address_share)
        self.address_meter = AddressMeter(self.address_quota)
        self.clock = clock or SystemClock()
        self._random = random or Random()
        self._opening: asyncio.Future[None] | None = None
        self._local = LocalBudget(
            share=share,
            address_share=address_share,
            account_kind=account_kind,
            clock=self.clock,
            random=self._random,
        )
        self._pools: dict[str, SharedPool] = {}
        self._closed = False

    @property
    def account(self) -> str:
        return self._account

    @account.setter
    def account(self, name: str) -> None:
        before, self._account = self._account, name
        if name != before and self.file.is_open and self.shared:
            # The exchange has counted what is under way and cooling for the account that it turns out to be.
            self.file.run(partial(self.file.store.rename_account, before, name)).add_done_callback(_log_failure)

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        if self._closed:
            raise closing_error(endpoint)
        if self.shared and not self.file.is_open:
            await self._open()
        if not self.shared:
            self._local.account_kind = self.account_kind
            return await self._local.acquire(endpoint, priority, hold_s=hold_s)
        pool = self._pools.get(endpoint.name)
        if pool is None:
            pool = self._pools[endpoint.name] = SharedPool(self, endpoint)
        return await pool.acquire(priority, hold_s)

    def usage(self) -> Mapping[str, Usage]:
        """Every endpoint's use as last seen in the file, other processes' included."""
        if not self.shared:
            return self._local.usage()
        return {name: pool.usage() for name, pool in self._pools.items()}

    def address_usage(self) -> AddressUsage:
        """Calls of the user's processes at this exchange in the last minute, as last seen in the file."""
        if not self.shared:
            return self._local.address_usage()
        return self.address_meter.usage(self.clock.monotonic())

    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        for pool in self._pools.values():
            await pool.aclose()
        await self._local.aclose()
        await self.file.aclose()

    def key_and_limit(self, endpoint: Endpoint) -> tuple[str, int]:
        """Under which key an endpoint is counted, and this process's permits of it."""
        whose = f"ip:{self.host}" if endpoint.limit.scope == "ip" else self.account
        return f"{whose}|{endpoint.name}", permits(endpoint, self._share, self.account_kind)

    def give_up_sharing(self, failure: Exception) -> LocalBudget:
        """Count for this process alone from now on."""
        if self.shared:
            _log.warning("the shared rate limits cannot be used (%s): other processes are not seen", failure)
            self.shared = False
            self._local.account_kind = self.account_kind
        return self._local

    async def _open(self) -> None:
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_once())
        await asyncio.shield(self._opening)

    async def _open_once(self) -> None:
        try:
            await self.file.open(self._random)
        except FileUnusable as newer:
            self._opening = None
            raise NotSent(
                f"{newer.file}: {newer.reason}", remedy="Update this program, or close the newer one."
            ) from None
        except (OSError, sqlite3.Error) as failure:
            self.give_up_sharing(failure)


def _log_failure(renamed: asyncio.Future[None]) -> None:
    if not renamed.cancelled() and (failure := renamed.exception()) is not None:
        _log.warning("calls before the account was known are not counted for it (%s)", type(failure).__name__)


class SharedPool:
    """Who waits in this process for one endpoint, and the one task that claims permits for them."""

    def __init__(self, budget: SharedBudget, endpoint: Endpoint) -> None:
        self.budget = budget
        self.endpoint = endpoint
        self._waiting = WaitingCalls()
        self._handing_out: asyncio.Task[None] | None = None
        self._look_now = asyncio.Event()
        self._next_look_at = inf
        self._last_claim: Claim | None = None

    async def acquire(self, priority: Priority, hold_s: float) -> Permit:
        call = self._waiting.add(priority, hold_s)
        if self._waiting.first() == (priority, call):  # for who waits behind others nothing is asked yet
            self._look_now.set()
        if self._handing_out is None or self._handing_out.done():
            self._handing_out = asyncio.create_task(self._hand_out(), name=f"budget {self.endpoint.name}")
        try:
            return await call.permit()
        except asyncio.CancelledError:
            self._look_now.set()
            raise

    def usage(self) -> Usage:
        now = self.budget.clock.monotonic()
        if (claim := self._last_claim) is None:
            return Usage(0, self.budget.key_and_limit(self.endpoint)[1])
        used = sum(1 for end in claim.ends if end > now)
        return Usage(used, claim.allowed, claim.halved, max(0.0, claim.paused_until - now))

    async def aclose(self) -> None:
        if self._handing_out is not None:
            self._handing_out.cancel()
            with suppress(asyncio.CancelledError):
                await self._handing_out
        self._waiting.fail(closing_error(self.endpoint))

    def record_end(self, work: Callable[[], None], free_from: float) -> None:
        """Write down how a call ended; should that fail, its lease ends it. Its permit is back at `free_from`."""
        try:
            done = self.budget.file.run(work)
        except RuntimeError:  # the file was closed meanwhile; the lease ends it
            return
        done.add_done_callback(partial(self._end_recorded, free_from))

    def _end_recorded(self, free_from: float, done: asyncio.Future[None]) -> None:
        if not done.cancelled() and (failure := done.exception()) is not None:
            _log.warning("a permit was not given back (%s); its lease will", type(failure).__name__)
        # Feeds that wait for a permit that is back sooner would only be told the same moment again.
        if free_from < self._next_look_at:
            self._look_now.set()

    async def _hand_out(self) -> None:
        """Claim permits until nobody waits; where the file fails, who waits goes on in this process alone."""
        while (first := self._waiting.first()) is not None:
            priority, call = first
            self._look_now.clear()
            now = self.budget.clock.monotonic()
            try:
                claim = await self._claim(priority, call, now)
            except (sqlite3.Error, OSError) as failure:
                if isinstance(failure, sqlite3.OperationalError) and is_held_by_others(failure):
                    continue  # the wait for the lock was the pause
                self._go_local(failure)
                return
            if claim.use is None:
                await self._wait_or_refuse(priority, claim, now)
            else:
                await self._hand_over(priority, claim.use)

    async def _claim(self, priority: Priority, call: WaitingCall, now: float) -> Claim:
        budget = self.budget
        key, limit = budget.key_and_limit(self.endpoint)
        feed = priority is Priority.FEED
        address = AddressTerms(budget.host, budget.address_quota, feed, self.endpoint.writes)
        claim_it = partial(budget.file.store.claim, key, limit, feed=feed, now=now, hold_s=call.hold_s, address=address)
        claim = self._last_claim = await budget.file.run(claim_it)
        if claim.address is not None:
            budget.address_meter.note(claim.address, feed=feed, now=now)
        return claim

    async def _wait_or_refuse(self, priority: Priority, claim: Claim, claimed_at: float) -> None:
        """Wait until the file may give a permit; who would wait too long is told so at once."""
        pause = claim.paused_until - self.budget.clock.monotonic()
        wait = claim.look_again - claimed_at
        if pause > PATIENCE_S:
            self._waiting.fail(paused_error(self.endpoint, pause))
        elif claim.address is None:
            await self._sleep_until(claim.look_again)
        elif priority is Priority.FEED or wait <= PATIENCE_S:
            await self._sleep_until(min(claim.look_again, claimed_at + ADDRESS_POLL_S))
        elif (refused := self._waiting.take(priority)) is not None:
            refused.future.set_exception(address_used_up(self.endpoint, self.budget.address_quota, wait))

    async def _hand_over(self, priority: Priority, use: PermitUse) -> None:
        """Wait until the permit may be used, and give it to whoever of this priority is first by then."""
        permit = _SharedPermit(self, use)
        try:
            await self._sleep_until_turn(use.begins, priority)
        except asyncio.CancelledError:
            permit.unused()
            raise
        if priority is Priority.FEED and self.budget.clock.monotonic() < use.begins:
            permit.unused()  # a person came, who goes first
        elif (call := self._waiting.take(priority)) is None:
            permit.unused()
        else:
            call.future.set_result(permit)

    def _go_local(self, failure: Exception) -> None:
        local = self.budget.give_up_sharing(failure)
        while (first := self._waiting.first()) is not None:
            priority, call = first
            self._waiting.take(priority)
            task = asyncio.ensure_future(local.acquire(self.endpoint, priority, hold_s=call.hold_s))
            task.add_done_callback(partial(_pass_on, call.future))

    async def _sleep_until_turn(self, moment: float, priority: Priority) -> None:
        """Wait for a permit that is taken already; a feed's wait ends early when a person comes."""
        clock = self.budget.clock
        if priority is Priority.INTERACTIVE:
            if (delay := moment - clock.monotonic()) > 0:
                await asyncio.sleep(delay)
            return
        while clock.monotonic() < moment:
            self._look_now.clear()
            if (first := self._waiting.first()) is None or first[0] is Priority.INTERACTIVE:
                return
            await self._sleep_until(moment)

    async def _sleep_until(self, moment: float) -> None:
        delay = max(0.0, moment - self.budget.clock.monotonic())
        if (first := self._waiting.first()) is not None and first[0] is Priority.FEED:
            self._next_look_at = moment  # a person reserves what comes back as soon as it is known
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(delay, 0.001)):
                    await self._look_now.wait()
        finally:
            self._next_look_at = inf


def _pass_on(waiting: asyncio.Future[Permit], done: asyncio.Future[Permit]) -> None:
    """Give what another budget granted to who waits for it; a permit that nobody waits for any more goes back."""
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
        now = self._pool.budget.clock.monotonic()
        self._end(lambda store: store.replied(self._use, now, remaining), now + COOLING_S)

    def refused(self, retry_after: float | None = None) -> None:
        now = self._pool.budget.clock.monotonic()
        self._end(lambda store: store.refused(self._use, now, retry_after))

    def unanswered(self) -> None:
        now = self._pool.budget.clock.monotonic()
        self._end(lambda store: store.unanswered(self._use, now))

    def unused(self) -> None:
        self._end(lambda store: store.unused(self._use))

    def _end(self, work: Callable[[PermitStore], None], free_from: float = 0.0) -> None:
        if self._open:
            self._open = False
            self._pool.record_end(partial(work, self._pool.budget.file.store), free_from)

"""One budget for all processes of the user on this machine, kept in a file.

Each process has one reservation at a time, made as soon as a permit's return is known, which is a second ahead: no
process waits for another, none takes all, and the permit is used the moment it is free. Work on the file takes a
fraction of a millisecond and is done on the spot, unless another process holds the file just then: that is waited for
in a thread, never by the event loop. Another store (the clock then being that store's own) would be another `Budget`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.errors import NotSent
from tradetui.exchange.rate_limit.address_quota import (
    DEFAULT_ADDRESS_SHARE,
    AddressMeter,
    AddressQuota,
    AddressUsage,
    address_used_up,
)
from tradetui.exchange.rate_limit.address_rows import AddressTerms, CountedCall
from tradetui.exchange.rate_limit.limiter import (
    ADDRESS_POLL_S,
    PATIENCE_S,
    LocalBudget,
    Permit,
    Priority,
    Usage,
    paused,
    permit,
)
from tradetui.exchange.rate_limit.permit_store import Claim, PermitStore, passes
from tradetui.exchange.rate_limit.quota import permits
from tradetui.storage.boot import boot_id
from tradetui.storage.disk_thread import ThreadDisk
from tradetui.storage.process_life import ALIVE_DIR, ProcessLives
from tradetui.storage.sqlite_file import FileUnusable

if TYPE_CHECKING:
    from tradetui.wire.catalogue import Endpoint

_log = logging.getLogger(__name__)
Result = TypeVar("Result")

FILE_NAME = "budget.sqlite"
OPENING_S = 5.0
"""How long a file is tried that others are just opening too."""


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
        self.account = account
        self.account_kind = account_kind
        self.shared = True
        self._directory = directory
        self._host = host
        self._share = share
        self._address_share = address_share
        self.address_quota = AddressQuota.of_share(address_share)
        self.address_meter = AddressMeter(self.address_quota)
        self._clock = clock or SystemClock()
        self._random = random or Random()
        self._inline = inline
        self._thread: ThreadDisk | None = None
        self._waiting_for_others = 0
        self._ledger: PermitStore | None = None
        self._lives: ProcessLives | None = None
        self._opening: asyncio.Future[None] | None = None
        self._local: LocalBudget | None = None
        self._pools: dict[str, _SharedPool] = {}
        self._closed = False

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Wait for a permit; see `Budget.acquire`."""
        if self._closed:
            raise NotSent("the program is closing", endpoint=endpoint.name, remedy="Start it again to go on.")
        if self._ledger is None and self._local is None:
            await self._open()
        if self._local is not None:
            self._local.account_kind = self.account_kind
            return await self._local.acquire(endpoint, priority, hold_s=hold_s)
        pool = self._pools.get(endpoint.name)
        if pool is None:
            pool = self._pools[endpoint.name] = _SharedPool(self, endpoint)
        return await pool.acquire(priority, hold_s)

    def permit(self, endpoint: Endpoint, priority: Priority) -> AbstractAsyncContextManager[Permit]:
        """Hold a permit for the length of a block."""
        return permit(self, endpoint, priority)

    def usage(self) -> Mapping[str, Usage]:
        """Every endpoint's use as last seen in the file, other processes' included."""
        if self._local is not None:
            return self._local.usage()
        return {name: pool.usage() for name, pool in self._pools.items()}

    def address_usage(self) -> AddressUsage:
        """Calls of the user's processes at this exchange in the last minute, as last seen in the file."""
        if self._local is not None:
            return self._local.address_usage()
        return self.address_meter.usage(self._clock.monotonic())

    async def aclose(self) -> None:
        """Stop handing out and let the file go."""
        if self._closed:
            return
        self._closed = True
        for pool in self._pools.values():
            await pool.aclose()
        if self._local is not None:
            await self._local.aclose()
        if self._ledger is not None:
            with suppress(Exception):
                await self.run(self._ledger.close)
        if self._lives is not None:
            self._lives.close()
        if self._thread is not None:
            self._thread.close()

    def terms(self, endpoint: Endpoint) -> tuple[str, int]:
        """Under which key an endpoint is counted, and this process's permits of it."""
        whose = f"ip:{self._host}" if endpoint.limit.scope == "ip" else self.account
        return f"{whose}|{endpoint.name}", permits(endpoint, self._share, self.account_kind)

    def address_terms(self, endpoint: Endpoint, priority: Priority) -> AddressTerms:
        """Under which address a call is counted, and as what."""
        return AddressTerms(self._host, self.address_quota, priority is Priority.FEED, endpoint.writes)

    @property
    def clock(self) -> Clock:
        """The clock all processes share."""
        return self._clock

    def ledger(self) -> PermitStore:
        """The open file."""
        assert self._ledger is not None
        return self._ledger

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Do work on the file, in the order it was requested; on the spot, unless others hold the file."""
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if (self._ledger is None and not self._inline) or self._waiting_for_others:
            return self._in_thread(work)
        try:
            done.set_result(work())
        except sqlite3.OperationalError as failure:
            if not self._inline and passes(failure):
                return self._in_thread(work)
            done.set_exception(failure)
        except Exception as failure:
            done.set_exception(failure)
        return done

    def _in_thread(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        if self._thread is None:
            self._thread = ThreadDisk("budget")
        self._waiting_for_others += 1
        done = self._thread.submit(self._patiently, work)
        done.add_done_callback(self._back_from_thread)
        return done

    def _patiently(self, work: Callable[[], Result]) -> Result:
        if self._ledger is None:
            return work()
        with self._ledger.patience():
            return work()

    def _back_from_thread(self, _: asyncio.Future[Any]) -> None:
        self._waiting_for_others -= 1

    def give_up(self, failure: Exception) -> LocalBudget:
        """Go on without the file."""
        if self._local is None:
            _log.warning("the shared rate limits cannot be used (%s): other processes are not seen", failure)
            self.shared = False
            self._local = LocalBudget(
                share=self._share,
                address_share=self._address_share,
                account_kind=self.account_kind,
                clock=self._clock,
                random=self._random,
            )
        return self._local

    async def _open(self) -> None:
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_once())
        await asyncio.shield(self._opening)

    async def _open_once(self) -> None:
        nonce = f"{self._random.getrandbits(48):x}"
        begin = partial(self._open_file, nonce, Random(self._random.getrandbits(64)))
        try:
            self._ledger = await self.run(begin)
        except FileUnusable as newer:
            self._opening = None
            raise NotSent(
                f"{newer.file}: {newer.reason}", remedy="Update this program, or close the newer one."
            ) from None
        except (OSError, sqlite3.Error) as failure:
            self.give_up(failure)

    def _open_file(self, nonce: str, random: Random) -> PermitStore:
        self._lives = lives = ProcessLives(self._directory / ALIVE_DIR, nonce)
        owner = lives.owner or f"{os.getpid()}:{nonce}"
        return _open_or_replace(
            self._directory / FILE_NAME,
            partial(PermitStore, owner=owner, boot=boot_id(), random=random, has_ended=lives.has_ended),
            random,
        )


def _open_or_replace(path: Path, ledger: Callable[[Path], PermitStore], random: Random) -> PermitStore:
    try:
        return _opened(path, ledger, random)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:  # damaged; it holds nothing that matters for longer than a second
        path.replace(path.with_name(f"{path.name}.damaged"))
        for rest in ("-wal", "-shm"):
            path.with_name(path.name + rest).unlink(missing_ok=True)
        return ledger(path)


def _opened(path: Path, ledger: Callable[[Path], PermitStore], random: Random) -> PermitStore:
    """Open it, again where others are just opening it too: SQLite does not wait while a new file gets its log."""
    give_up_at = time.monotonic() + OPENING_S
    while True:
        try:
            return ledger(path)
        except sqlite3.OperationalError as failure:
            if not passes(failure) or time.monotonic() > give_up_at:
                raise
        time.sleep(random.uniform(0.01, 0.05))


class _Waiter:
    __slots__ = ("future", "hold_s")

    def __init__(self, hold_s: float) -> None:
        self.future: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self.hold_s = hold_s


class _SharedPool:
    """Who waits in this process for one endpoint, and the one task that claims permits for them."""

    def __init__(self, budget: SharedBudget, endpoint: Endpoint) -> None:
        self.budget = budget
        self.endpoint = endpoint
        self._waiting: dict[Priority, deque[_Waiter]] = {Priority.INTERACTIVE: deque(), Priority.FEED: deque()}
        self._pump: asyncio.Task[None] | None = None
        self._nudge = asyncio.Event()
        self._seen: Claim | None = None

    async def acquire(self, priority: Priority, hold_s: float) -> Permit:
        waiter = _Waiter(hold_s)
        self._waiting[priority].append(waiter)
        self._nudge.set()
        if self._pump is None or self._pump.done():
            self._pump = asyncio.get_running_loop().create_task(self._hand_out(), name=f"budget {self.endpoint.name}")
        try:
            return await waiter.future
        except asyncio.CancelledError:
            done = waiter.future
            if done.done() and not done.cancelled() and done.exception() is None:
                done.result().unused()
            self._nudge.set()
            raise

    def usage(self) -> Usage:
        now = self.budget.clock.monotonic()
        if (seen := self._seen) is None:
            return Usage(0, self.budget.terms(self.endpoint)[1])
        used = sum(1 for end in seen.ends if end > now)
        return Usage(used, seen.allowed, seen.halved, max(0.0, seen.paused_until - now))

    async def aclose(self) -> None:
        if self._pump is not None:
            self._pump.cancel()
            with suppress(asyncio.CancelledError):
                await self._pump
        closing = NotSent("the program is closing", endpoint=self.endpoint.name, remedy="Start it again to go on.")
        self._fail(closing)

    def record_end(self, work: Callable[[], None]) -> None:
        """Write down how a call ended; should that fail, its lease ends it."""
        try:
            done = self.budget.run(work)
        except RuntimeError:  # the file was closed meanwhile; the lease ends it
            return
        done.add_done_callback(self._end_recorded)

    def _end_recorded(self, done: asyncio.Future[None]) -> None:
        if not done.cancelled() and (failure := done.exception()) is not None:
            _log.warning("a permit was not given back (%s); its lease will", type(failure).__name__)
        self._nudge.set()

    async def _hand_out(self) -> None:
        clock = self.budget.clock
        while (first := self._first()) is not None:
            priority, waiter = first
            key, limit = self.budget.terms(self.endpoint)
            self._nudge.clear()
            now = clock.monotonic()
            address = self.budget.address_terms(self.endpoint, priority)
            claim_it = partial(
                self.budget.ledger().claim,
                *(key, limit),
                feed=address.feed,
                now=now,
                hold_s=waiter.hold_s,
                address=address,
            )
            try:
                claim = await self.budget.run(claim_it)
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
                self.budget.address_meter.note(claim.address, feed=address.feed, now=now)
            if claim.use is None:
                pause = claim.paused_until - clock.monotonic()
                if pause > PATIENCE_S:
                    self._fail(paused(self.endpoint, pause))
                    continue
                if claim.address is not None and not address.feed and claim.look_again - now > PATIENCE_S:
                    waiting = claim.look_again - now
                    self._fail_first(priority, address_used_up(self.endpoint, address.quota, waiting))
                    continue
                soonest = claim.look_again if claim.address is None else min(claim.look_again, now + ADDRESS_POLL_S)
                await self._sleep_until(soonest)
                continue
            counted = None
            if claim.address is not None and claim.address.counts_until is not None:
                counted = CountedCall(address.address, claim.address.counts_until)
            taken = _SharedPermit(self, claim.use, key, limit, max(now, claim.begins), claim.explained, counted)
            try:
                await self._sleep_until_turn(claim.begins, priority)
            except asyncio.CancelledError:
                taken.unused()
                raise
            if priority is Priority.FEED and clock.monotonic() < claim.begins:
                taken.unused()  # a person came, who goes first
            elif (next_one := self._pop(priority)) is None:
                taken.unused()
            else:
                next_one.future.set_result(taken)

    async def _go_local(self, failure: Exception) -> None:
        local = self.budget.give_up(failure)
        for priority, queue in self._waiting.items():
            while queue:
                waiter = queue.popleft()
                if not waiter.future.done():
                    task = asyncio.ensure_future(local.acquire(self.endpoint, priority, hold_s=waiter.hold_s))
                    task.add_done_callback(partial(_pass_on, waiter.future))

    async def _sleep_until_turn(self, moment: float, priority: Priority) -> None:
        """Wait for a permit that is taken already; a feed's wait ends early when a person comes."""
        clock = self.budget.clock
        if priority is Priority.INTERACTIVE:
            if (delay := moment - clock.monotonic()) > 0:
                await asyncio.sleep(delay)
            return
        while clock.monotonic() < moment:
            self._nudge.clear()
            if (first := self._first()) is None or first[0] is Priority.INTERACTIVE:
                return
            await self._sleep_until(moment)

    async def _sleep_until(self, moment: float) -> None:
        delay = max(0.0, moment - self.budget.clock.monotonic())
        with suppress(TimeoutError):
            async with asyncio.timeout(max(delay, 0.001)):
                await self._nudge.wait()

    def _first(self) -> tuple[Priority, _Waiter] | None:
        for priority, queue in self._waiting.items():
            while queue and queue[0].future.done():
                queue.popleft()
            if queue:
                return priority, queue[0]
        return None

    def _pop(self, priority: Priority) -> _Waiter | None:
        queue = self._waiting[priority]
        while queue:
            waiter = queue.popleft()
            if not waiter.future.done():
                return waiter
        return None

    def _fail_first(self, priority: Priority, error: Exception) -> None:
        if (waiter := self._pop(priority)) is not None:
            waiter.future.set_exception(error)

    def _fail(self, error: Exception) -> None:
        for queue in self._waiting.values():
            while queue:
                waiter = queue.popleft()
                if not waiter.future.done():
                    waiter.future.set_exception(error)


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
    __slots__ = ("_counted", "_explained", "_granted", "_key", "_limit", "_open", "_pool", "_use")

    def __init__(
        self,
        pool: _SharedPool,
        use: int,
        key: str,
        limit: int,
        granted: float,
        explained: int,
        counted: CountedCall | None,
    ) -> None:
        self._pool = pool
        self._use = use
        self._key = key
        self._limit = limit
        self._granted = granted
        self._explained = explained
        self._counted = counted
        self._open = True

    def replied(self, remaining: int | None = None) -> None:
        if self._ends():
            ledger, now = self._ledger_now()
            self._pool.record_end(
                partial(
                    ledger.replied,
                    *(self._use, self._key, self._limit, now, self._granted, remaining, self._explained),
                    counted=self._counted,
                )
            )

    def refused(self, retry_after: float | None = None) -> None:
        if self._ends():
            ledger, now = self._ledger_now()
            self._pool.record_end(
                partial(
                    ledger.refused,
                    *(self._use, self._key, self._limit, now, self._granted, retry_after),
                    counted=self._counted,
                )
            )

    def unanswered(self) -> None:
        if self._ends():
            ledger, now = self._ledger_now()
            self._pool.record_end(partial(ledger.unanswered, self._use, now, counted=self._counted))

    def unused(self) -> None:
        if self._ends():
            self._pool.record_end(partial(self._pool.budget.ledger().unused, self._use, counted=self._counted))

    def _ends(self) -> bool:
        was, self._open = self._open, False
        return was

    def _ledger_now(self) -> tuple[PermitStore, float]:
        return self._pool.budget.ledger(), self._pool.budget.clock.monotonic()

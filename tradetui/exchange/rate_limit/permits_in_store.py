"""The permits of several machines, counted together in the store that they share.

The rules are those of `quota`. The store keeps only their states, each with a version. A machine computes with the
states that it read last and writes the new ones. If anybody else has written meanwhile, it computes again with theirs.
So no client holds a row of the store longer than one call takes there.

A machine without the store counts by itself, within its own share of the limits. The others leave that share to it once
its program has written nothing for 3 s. It begins a second later, when the permits that they had until then have
cooled; only a call that still hung on its way may be one too many. Once the store is back, it goes on by itself until
the calls that were on their way have ended. Then it waits for the end of those that it made meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import ceil, inf
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, ParamSpec, TypeVar

from pydantic import Field, TypeAdapter

from tradetui.exchange.clock import Clock
from tradetui.exchange.rate_limit.permit_store import (
    Claim,
    EndpointState,
    MemoryPermits,
    PermitRequest,
    PermitUse,
    StoreHeld,
    StoreUnusable,
    UseEnd,
    WrittenPermits,
)
from tradetui.exchange.rate_limit.quota import COOLING_S, AddressCalls, AddressQuota, EndpointQuota, Use
from tradetui.storage.boot_id import boot_id
from tradetui.storage.postgres.errors import StoreAway

if TYPE_CHECKING:
    from tradetui.storage.postgres.server import PostgresServer

P = ParamSpec("P")
Result = TypeVar("Result")

_log = logging.getLogger(__name__)

MACHINE_SHARE: Final = 0.25
"""A machine's share of the limits if its profile names none; the schema has the same number."""
_LOST_AFTER_S: Final = 3.0
"""The store keeps the share of a program that has written nothing for so long."""
_DEADLINE_S: Final = 1.2
_BEAT_S: Final = 1.0
"""A program without calls writes this often, so that it is not counted as lost."""
_FRESH_S: Final = 2.0
"""What was read longer ago is read again before it is used."""
_LOOK_S: Final = 0.2
"""How soon a call that cannot be served is tried again."""
_REFUSED_S: Final = 5.0
"""How long a refusal is believed: the account has not joined the store, or the schema is another one."""
_ENDS_WAIT_S: Final = 0.1
"""A returned permit cools for a second. Its return is written with the next claim, or so much later.

What makes all machines slower is written at once: a 429, or a reply that says that half of the limit is used up.
"""
_TICKS: Final = 3
"""Within so many turns of the loop a task that was woken has claimed its permit."""
_MOST_TRIES: Final = 30
_LONGEST_JITTER_S: Final = 0.02
_NEAR_S: Final = 0.04
_TURN_ROUND_TRIPS: Final = 3
"""From a store further away the others get their turn after each write; whoever wrote last would always be first."""
_CLOCK_DRIFT: Final = 0.001
"""The clocks of server and machine may run at rates that differ by so much."""
_COUNTED_S: Final = 62.0
"""For how long calls count for the address."""
_Whole = Annotated[int, Field(ge=0, le=10**12, strict=True)]
_STATES: Final[Mapping[str, TypeAdapter[Any]]] = {
    "endpoints": TypeAdapter(
        tuple[
            Annotated[int, Field(ge=0, le=1_000, strict=True)],
            float,
            float,
            float,
            _Whole,
            dict[str, Use],
            dict[str, tuple[float, float]],
        ]
    ),
    "addresses": TypeAdapter(tuple[list[tuple[_Whole, _Whole]], float]),
}
"""The written states by kind, because whoever has joined the account can write any text."""


class PermitServer(NamedTuple):
    """Where the permits are kept and whose they are: the connection, and the names of account, machine and address."""

    server: PostgresServer
    machine: str
    egress: str
    share: float = MACHINE_SHARE


class _Job(NamedTuple):
    """Work on the states of some keys; `unserved` is its result if the store cannot be used."""

    keys: tuple[str, ...]
    work: Callable[[], Any]
    done: asyncio.Future[Any]
    unserved: Any
    is_end: bool


class _ServerTime:
    """Bounds of the server's time, in its seconds since 1970, from this machine's monotonic clock.

    A reply was written after its call was sent and before it was received.
    """

    def __init__(self) -> None:
        self._server_s = 0.0
        self.sent = self.received = -1e9

    def note(self, server_s: float, sent: float, received: float) -> None:
        self._server_s, self.sent, self.received = server_s, sent, received

    def at_least(self, moment: float) -> float:
        elapsed = moment - self.received
        return self._server_s + elapsed - _CLOCK_DRIFT * abs(elapsed)

    def at_most(self, moment: float) -> float:
        elapsed = moment - self.sent
        return self._server_s + elapsed + _CLOCK_DRIFT * abs(elapsed)

    def latest_moment(self, server_s: float) -> float:
        """Return the moment of this machine by which it is certainly so late there."""
        left_s = server_s - self._server_s
        return self.received + left_s + _CLOCK_DRIFT * abs(left_s)


class StorePermits(WrittenPermits):
    """Permits of all machines on an account, or of this machine alone while the store cannot be used.

    `local` counts them meanwhile; whoever opened it closes it. All times inside are the server's seconds since 1970: a
    moment of this machine counts as the earliest that it may be when a permit is claimed, and as the latest when one
    ends.
    """

    def __init__(self, shared: PermitServer, local: MemoryPermits, account: str, clock: Clock, random: Random) -> None:
        super().__init__(clock, Random(random.getrandbits(64)))
        self._server = shared.server
        self._local = local
        self._account, self._machine, self._egress = account, shared.machine, shared.egress
        self._own_share = shared.share
        self._process_prefix = f"{shared.machine}:{boot_id()}:"
        # A process has one for each of its accounts, whose uses of an address's permits are told apart.
        self.owner = f"{self._process_prefix}{local.owner}#{self._random.getrandbits(48):x}"
        self._time = _ServerTime()
        self._rows: dict[str, tuple[int, str | None]] = {}
        self._changed: dict[str, str] = {}
        self._shares = (0.0, 0.0)
        self._since = 0.0
        self._is_in_store = False
        self._write_sent_at = -inf
        self._is_refused = False
        self._is_serving = False
        self._ask_again_at = 0.0
        self._local_uses: dict[str, Use] = {}
        self._back_at = inf
        self._local_arrivals: list[tuple[str, float]] = []
        self._jobs: list[_Job] = []
        self._has_jobs = asyncio.Event()
        self._now_s = 0.0
        self._writing = asyncio.create_task(self._write_on(), name="permits in store")

    @property
    def share(self) -> float:
        """The share of the limits that counts now: of all machines together, or of this one alone."""
        return self._shares[0] if self._is_in_store else self._own_share

    def claim(self, request: PermitRequest) -> asyncio.Future[Claim]:
        now = self._clock.monotonic()
        if self._can_be_reached or self._is_serving:
            if (wait_s := self._local_calls_end(now) - now) <= 0:
                return self._run(self._claim, self._in_store(request), now)
            self._back_at = min(self._back_at, now)
            if not self._goes_on_alone:
                return _done(_later(wait_s))
        else:
            self._back_at = inf
            self._note_loss()
        if (wait_s := self._write_sent_at + _pause_s(request) - now) > 0:
            return _done(_later(wait_s))
        return self._claim_alone(request)

    def end_use(self, use: PermitUse, end: UseEnd) -> asyncio.Future[EndpointState]:
        if (local_use := self._local_uses.get(use.name)) is None:
            if not use.request.key.startswith((f"{self._account}|", f"{use.request.address}|")):
                return _done(EndpointState())  # of an account that this turned out not to be
            ended = super().end_use(use, end)
            if end.pause_s is not None or (end.remaining is not None and end.remaining < use.request.limit / 2):
                self._has_jobs.set()
            return ended
        now = self._clock.monotonic()
        self._local_uses[use.name] = local_use._replace(ends=now + end.cools_s, is_end_known=True)
        if end.arrives_in_s is not None:
            arrival = (self._address(use.request.address), now + end.arrives_in_s)
            counted = (call for call in self._local_arrivals if call[1] > now - _COUNTED_S)
            self._local_arrivals = [*counted, arrival]
        return self._local.end_use(use, end)

    def rename_account(self, before: str, after: str) -> asyncio.Future[None]:
        """Count for another account from now on; only calls that were counted here are counted for it too."""
        self._account, self._is_in_store, self._is_refused = after, False, False
        self._rows.clear()
        self._jobs = [job for job in self._jobs if not job.is_end]
        return self._local.rename_account(before, after)

    async def aclose(self) -> None:
        self._writing.cancel()
        await asyncio.wait({self._writing})
        if self._is_in_store and self._can_be_reached:
            with suppress(Exception):
                await self._committed(self._jobs)
                await self._server.call(
                    "end_permit_session", self._account, self._machine, self.owner, deadline_s=_DEADLINE_S
                )
        for job in self._jobs:
            _set(job.done, job.unserved)
        await self._server.aclose()

    def has_ended(self, owner: str) -> bool:
        is_of_this_machine = owner.startswith(self._process_prefix)
        process, _, _ = owner.removeprefix(self._process_prefix).rpartition("#")
        return is_of_this_machine and self._local.has_ended(process)

    # Alone

    def _claim_alone(self, request: PermitRequest) -> asyncio.Future[Claim]:
        alone = request._replace(
            limit=_part(request.whole_limit, self._own_share),
            address_quota=_part_of_address(request.address_quota, self._own_share),
        )
        claim = self._local.claim(alone)
        if claim.done() and claim.exception() is None:
            self._note_local(claim.result())
            return claim
        return asyncio.ensure_future(self._claimed_alone(claim))

    async def _claimed_alone(self, claim: asyncio.Future[Claim]) -> Claim:
        try:
            result = await claim
        except StoreUnusable as failure:
            _log.warning("the shared rate limits cannot be used (%s): other processes are not seen", failure)
            self._local = MemoryPermits(self._clock, self._random)
            raise StoreHeld(str(failure)) from None
        self._note_local(result)
        return result

    def _note_local(self, claim: Claim) -> None:
        if (use := claim.use) is not None:
            longest_s = use.request.hold_s + use.request.beyond_second_s + COOLING_S
            begins = self._clock.monotonic() + claim.wait_s
            self._local_uses[use.name] = Use(self.owner, begins, begins + longest_s)

    @property
    def _can_be_reached(self) -> bool:
        return self._server.away_since is None and not self._is_refused

    def _local_calls_end(self, now: float) -> float:
        """Return when the last call of those that were counted here alone has ended."""
        self._local_uses = {name: use for name, use in self._local_uses.items() if use.ends > now}
        return max((use.ends for use in self._local_uses.values()), default=now)

    @property
    def _goes_on_alone(self) -> bool:
        """Whether one of its calls has been on its way since before the store was back; it may hang for long.

        Until it ends, the others leave this machine its share, if it has ever written that it is here.
        """
        on_their_way = (use.begins for use in self._local_uses.values() if not use.is_end_known)
        return self._write_sent_at > -inf and any(begins <= self._back_at for begins in on_their_way)

    def _note_loss(self) -> None:
        if not self._is_in_store:
            return
        self._is_in_store = False
        prefix = self._address("")
        for address in [key for key in self._rows if key.startswith(prefix) and "|" not in key]:
            # Of the calls of the last minute each machine counts its share, so that all do not begin with none.
            calls = Counter[int]()
            for second, count in self._calls(address).by_second.items():
                calls[int(self._time.latest_moment(second)) + 1] += ceil(count * self._own_share)
            self._local.count_at_least(address.removeprefix(prefix), calls).add_done_callback(_ignore_failure)
        self._rows.clear()

    # In the store

    def _run(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[Result]:
        """Do work on the newest states with the next call to the store, together with all other work until then."""
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        subject: Any = args[0]
        if isinstance(subject, PermitUse):
            job = _Job((subject.request.key,), partial(work, *args, **kwargs), done, EndpointState(), True)
            asyncio.get_running_loop().call_later(_ENDS_WAIT_S, self._write_ends)
        else:
            job = _Job((subject.key, subject.address), partial(work, *args, **kwargs), done, _later(_LOOK_S), False)
            self._has_jobs.set()
        self._jobs.append(job)
        return done

    def _write_ends(self) -> None:
        if self._jobs:  # no claim has taken them along
            self._has_jobs.set()

    async def _write_on(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_BEAT_S):
                    await self._has_jobs.wait()
            await self._await_other_claims()
            self._has_jobs.clear()
            now = self._clock.monotonic()
            if self._is_refused and self._server.away_since is None and now >= self._ask_again_at:
                await self._ask_again()
            jobs, self._jobs = self._jobs, []
            if not self._can_be_reached or self._local_calls_end(now) > now:
                self._fail(jobs)
            elif jobs or self._is_in_store:
                self._is_serving = True
                await self._serve(jobs)
                self._is_serving = False
                if (round_trip_s := self._time.received - self._time.sent) > _NEAR_S:
                    # Others that also wrote have just read the states, and come next.
                    await asyncio.sleep(self._random.uniform(0, _TURN_ROUND_TRIPS * round_trip_s))

    async def _await_other_claims(self) -> None:
        """Wait for the other claims of this moment: the reads of a preview begin in tasks of their own."""
        waiting = -1
        while len(self._jobs) > waiting:
            waiting = len(self._jobs)
            for _ in range(_TICKS):
                await asyncio.sleep(0)

    async def _ask_again(self) -> None:
        """See whether the store still refuses; calls are counted here until it does not."""
        self._ask_again_at = self._clock.monotonic() + _REFUSED_S
        with suppress(Exception):
            await self._call("read_quotas", self._account, self._machine, self._egress, [])
            self._is_refused = False

    async def _serve(self, jobs: list[_Job]) -> None:
        try:
            results = await self._committed(jobs)
        except StoreHeld:
            self._fail(jobs)
        except Exception as failure:  # whatever it is, the calls go on within this machine's share
            self._note_loss()
            if not isinstance(failure, StoreAway):
                _log.info("the store counts no calls for this account: %r", failure)
                self._is_refused, self._ask_again_at = True, self._clock.monotonic() + _REFUSED_S
            self._rows.clear()
            self._fail(jobs)
        else:
            self._is_in_store = True
            for job, result in zip(jobs, results, strict=True):
                _set(job.done, result)

    def _fail(self, jobs: list[_Job]) -> None:
        """Say that the store cannot be used now; the ends of calls are written when it can be used again."""
        self._jobs = [job for job in jobs if job.is_end] + self._jobs
        for job in jobs:
            _set(job.done, job.unserved)

    async def _committed(self, jobs: Sequence[_Job]) -> list[Any]:
        """Return the results of all work once its states are written; raises StoreAway, StoreRefused, StoreHeld."""
        keys = list(dict.fromkeys(key for job in jobs for key in job.keys))
        is_old = self._clock.monotonic() - self._time.received > _FRESH_S
        if is_old or not self._rows.keys() >= set(keys):
            await self._call("read_quotas", self._account, self._machine, self._egress, keys)
        ended = list(self._ended)
        for attempt in range(_MOST_TRIES):
            self._forget()
            self._changed.clear()
            self._now_s = self._time.at_least(self._clock.monotonic())
            results = [job.work() for job in jobs]
            ended_now, self._ended = self._ended, list(ended)
            if await self._write_states():
                self._ended = ended_now
                self._local_arrivals = [call for call in self._local_arrivals if call[0] not in self._changed]
                later_s = self._time.at_least(self._clock.monotonic()) - self._now_s
                return [_after(result, later_s) for result in results]
            await asyncio.sleep(self._random.uniform(0, min(_LONGEST_JITTER_S, 0.001 * attempt)))
        raise StoreHeld(f"others have written {_MOST_TRIES} times meanwhile")

    async def _write_states(self) -> bool:
        keys = sorted(self._changed)
        self._write_sent_at = self._clock.monotonic()
        return await self._call(
            "write_quotas",
            self._account,
            self._machine,
            self._egress,
            self.owner,
            self._time.at_least(self._write_sent_at),
            *self._shares,
            keys,
            [self._rows[key][0] for key in keys],
            [self._changed[key] for key in keys],
        )

    async def _call(self, function: str, *arguments: object) -> bool:
        """Call a function on the states and take in what it answers; return whether the states were written."""
        sent = self._clock.monotonic()
        rows = await self._server.call(function, *arguments, deadline_s=_DEADLINE_S)
        self._time.note(rows[0]["now_epoch_s"], sent, self._clock.monotonic())
        self._shares = rows[0]["share"], rows[0]["address_share"]
        self._since = rows[0]["since_epoch_s"]
        is_written = bool(rows[0]["is_written"])
        for row in rows:
            if (key := row["key"]) is not None:
                self._rows[key] = row["version"], self._changed[key] if is_written else row["state"] or None
        for session in rows[0]["lost"]:
            if self.has_ended(session) or self._is_of_earlier_boot(session):
                await self._server.call("end_permit_session", self._account, self._machine, session)
        return is_written

    def _is_of_earlier_boot(self, session: str) -> bool:
        """Whether a lost session of this person on this machine ran before the last boot.

        Uses of permits do not show this: another person's machine may have the same name.
        """
        boot, _, _ = session.removeprefix(f"{self._machine}:").partition(":")
        return "" not in (boot, boot_id()) and boot != boot_id()

    def _in_store(self, request: PermitRequest) -> PermitRequest:
        key = request.key.replace(f"ip:{request.address}|", f"{self._address(request.address)}|", 1)
        return request._replace(key=key, address=self._address(request.address))

    def _address(self, host: str) -> str:
        return f"ip:{self._egress}:{host}"

    def _claim(self, request: PermitRequest, now: float) -> Claim:
        free_in_s = self._since + _pause_s(request) - self._now_s
        if free_in_s > 0:  # the server has forgotten which permits are out
            return _later(free_in_s)
        share, address_share = self._shares
        self._replace_unreadable(request)
        of_address = request.key.startswith(f"{request.address}|")
        together = request._replace(
            limit=_part(request.whole_limit, address_share if of_address else share),
            address_quota=_part_of_address(request.address_quota, address_share),
        )
        return super()._claim(together, self._now_s)

    def _end(self, use: PermitUse, end: UseEnd, now: float) -> EndpointState:
        self._replace_unreadable(use.request)
        return super()._end(use, end, self._time.at_most(now))

    def _replace_unreadable(self, request: PermitRequest) -> None:
        """Begin a new state in place of one that cannot be read, paused until the permits that were out are back."""
        try:
            self._quota(request.key)
        except ValueError:
            back_at = self._now_s + _pause_s(request)
            self._endpoints[request.key] = EndpointQuota(1, paused_until=back_at, random=self._random)

    def _calls(self, address: str) -> AddressCalls:
        is_first = address not in self._addresses
        try:
            calls = super()._calls(address)
        except ValueError:
            calls = self._addresses[address] = AddressCalls()
        if is_first:  # the calls of the last minute that were counted here alone
            for of_address, arrived_by in self._local_arrivals:
                if of_address == address:
                    calls.add(self._time.at_most(arrived_by))
        return calls

    def _read(self, kind: str, key: str) -> str | None:
        if (state := self._rows[key][1]) is not None:
            _STATES[kind].validate_json(state)
        return state

    def _write(self, kind: str, key: str, state: str) -> None:
        self._changed[key] = state


def _pause_s(request: PermitRequest) -> float:
    """Return how long none is sent after the store was lost, or has lost its states, until others' permits are back."""
    return _LOST_AFTER_S + COOLING_S + request.beyond_second_s


def _part(limit: int, share: float) -> int:
    """Return a share of a limit, at least one call."""
    return max(1, int(limit * share + 1e-9))


def _part_of_address(quota: AddressQuota, share: float) -> AddressQuota:
    return replace(quota, per_minute=_part(quota.per_minute, share))


def _later(wait_s: float) -> Claim:
    return Claim(None, min(wait_s, _LOOK_S), EndpointState())


def _after(result: Any, later_s: float) -> Any:
    """Return a result as of so many seconds later."""
    return result._replace(wait_s=max(0.0, result.wait_s - later_s)) if isinstance(result, Claim) else result


def _done(result: Result) -> asyncio.Future[Result]:
    done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
    done.set_result(result)
    return done


def _ignore_failure(done: asyncio.Future[None]) -> None:
    if not done.cancelled():
        done.exception()  # the next claim fails in the same way, and says so


def _set(done: asyncio.Future[Any], result: Any) -> None:
    if not done.done():
        done.set_result(result)

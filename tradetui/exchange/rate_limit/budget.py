"""What a budget of calls is, for whoever calls and for each way of keeping one: every call holds one of its permits.

A call arrives at the exchange between its sending and its reply. The next call on the same permit is sent a second
after that reply, so two uses of one permit are never within a second of each other *at the exchange*, whatever the
network does to either. N permits therefore never put more than N calls into any sliding second there.

Calls that wait for a permit, and the errors of those that would have to wait too long.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tradetui.exchange.errors import NotSent, RateLimited
from tradetui.exchange.rate_limit.address_quota import AddressUsage

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint


class Priority(StrEnum):
    """Who waits for the answer: a feed, which will ask again anyway, or a person."""

    FEED = "feed"
    INTERACTIVE = "interactive"


class Usage(NamedTuple):
    """One endpoint's permits now."""

    used: int
    """Those that are out or cooling."""
    allowed: int
    halved: bool = False
    """Whether some are held back, since the exchange refused a call as one too many."""
    paused_s: float = 0.0
    """For how long none is handed out."""


class Permit(Protocol):
    """The right to one call. Exactly one of its methods is to be called; later calls change nothing."""

    def replied(self, remaining: int | None = None) -> None:
        """A reply came; `remaining` is what the exchange says is left of this second."""

    def refused(self, retry_after: float | None = None) -> None:
        """The exchange answered 429, perhaps naming seconds to wait."""

    def unanswered(self) -> None:
        """The call was given up; it may still arrive."""

    def unused(self) -> None:
        """Nothing was sent."""


class Budget(Protocol):
    """What hands out permits: `LocalBudget` within this process, `SharedBudget` by a file of the user's processes."""

    account: str
    """Whose limits these are; may be set again when the UID is learned."""
    account_kind: str | None
    """ordinary, copy_trader, broker, or `None` while unknown, which counts as a copy trader."""

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Wait for a permit, first come first served, persons before feeds; the waiting can be cancelled.

        `hold_s` is the longest the call may take. Raises RateLimited for a long pause, or for a person where the
        address is full, and NotSent for those who wait when it is closed.
        """

    def usage(self) -> Mapping[str, Usage]:
        """The permits of every endpoint that was called, by its name in the catalogue."""

    def address_usage(self) -> AddressUsage:
        """Calls of the last minute at this exchange's address, as of the newest permit."""

    async def aclose(self) -> None:
        """Stop; those still waiting get `NotSent`."""


class _NoPermit:
    def replied(self, remaining: int | None = None) -> None: ...
    def refused(self, retry_after: float | None = None) -> None: ...
    def unanswered(self) -> None: ...
    def unused(self) -> None: ...


class NoBudget:
    """No limit at all: for measuring against servers that have none."""

    account: str = ""
    account_kind: str | None = None
    _permit = _NoPermit()

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        return self._permit

    def usage(self) -> Mapping[str, Usage]:
        return {}

    def address_usage(self) -> AddressUsage:
        return AddressUsage()

    async def aclose(self) -> None: ...


PATIENCE_S = 10.0
"""A pause longer than this is an error at once instead of a wait."""
ADDRESS_POLL_S = 1.0
"""A full minute of the address is looked at this often, since replies end calls earlier than they were counted to."""


class WaitingCall:
    """A call that waits for its permit, which whoever hands permits out sets as the result of `future`.

    `hold_s` is the longest the call may take.
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


class WaitingCalls:
    """The calls of one endpoint that wait, by priority, in the order in which they came.

    Calls that were cancelled or answered meanwhile are passed over.
    """

    def __init__(self) -> None:
        # `first` goes through them in this order: persons before feeds.
        self._queues: dict[Priority, deque[WaitingCall]] = {Priority.INTERACTIVE: deque(), Priority.FEED: deque()}

    def add(self, priority: Priority, hold_s: float) -> WaitingCall:
        """Make a call wait behind those of the same priority."""
        call = WaitingCall(hold_s)
        self._queues[priority].append(call)
        return call

    def first_of(self, priority: Priority) -> WaitingCall | None:
        """The call of this priority that waits longest; None where none waits."""
        queue = self._queues[priority]
        while queue and queue[0].future.done():
            queue.popleft()
        return queue[0] if queue else None

    def first(self) -> tuple[Priority, WaitingCall] | None:
        """The call that is next, with its priority; None where none waits."""
        for priority in self._queues:
            if (call := self.first_of(priority)) is not None:
                return priority, call
        return None

    def take(self, priority: Priority) -> WaitingCall | None:
        """Remove the call that waits longest from the queue of its priority; the caller answers its future."""
        if (call := self.first_of(priority)) is not None:
            self._queues[priority].popleft()
        return call

    def fail(self, error: Exception) -> None:
        """End the waiting of every call with an error."""
        for priority in self._queues:
            while (call := self.take(priority)) is not None:
                call.future.set_exception(error)


def paused_error(endpoint: Endpoint, seconds: float) -> RateLimited:
    """Make the error of a call that would have to wait out a long pause."""
    return RateLimited(
        f"the exchange asked for a pause; {seconds:.0f} s are left",
        retry_after=seconds,
        endpoint=endpoint.name,
        remedy="Wait, and see whether another program of this account polls too fast.",
    )


def closing_error(endpoint: Endpoint) -> NotSent:
    """Make the error of a call that is made, or still waits, while the program ends."""
    return NotSent("the program is closing", endpoint=endpoint.name, remedy="Start it again to go on.")

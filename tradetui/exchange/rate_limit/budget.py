"""What a budget of calls is: it hands out permits, and every call holds one.

A call arrives at the exchange between its sending and its reply. The next call on the same permit is sent a second
after that reply, so two uses of one permit are never within a second of each other *at the exchange*, whatever the
network does to either. N permits therefore never put more than N calls into any sliding second there.
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

PATIENCE_S = 10.0
"""A pause longer than this is an error at once instead of a wait."""
ADDRESS_POLL_S = 1.0
"""A full minute of the address is looked at this often, since replies end calls earlier than they were counted to."""


class Priority(StrEnum):
    """Who waits for the answer: a feed, which will ask again anyway, or a person."""

    FEED = "feed"
    INTERACTIVE = "interactive"


class Usage(NamedTuple):
    """One endpoint's permits: out or cooling, allowed now, and whether a refusal holds some back."""

    used: int
    allowed: int
    halved: bool = False
    paused_s: float = 0.0


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
    """What hands out permits; in this process, in a file shared by the user's processes, or one day further away."""

    account: str
    """Whose limits these are; may be set again when the UID is learned."""
    account_kind: str | None
    """ordinary, copy_trader, broker, or `None` while unknown, which counts as a copy trader."""

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Wait for a permit, first come first served, persons before feeds; the waiting can be cancelled.

        `hold_s` is the longest the call may take. `RateLimited` when the exchange asked for a long pause.
        """

    def usage(self) -> Mapping[str, Usage]:
        """What every endpoint used so far looks like now, by catalogue name."""

    def address_usage(self) -> AddressUsage:
        """Calls a minute at this exchange's address, by whom the budget counts, as last seen."""

    async def aclose(self) -> None:
        """Stop; those still waiting get `NotSent`."""


def paused(endpoint: Endpoint, seconds: float) -> RateLimited:
    """Make the error of a call that would have to wait out a long pause."""
    return RateLimited(
        f"the exchange asked for a pause; {seconds:.0f} s are left",
        retry_after=seconds,
        endpoint=endpoint.name,
        remedy="Wait, and see whether another program of this account polls too fast.",
    )


def closing(endpoint: Endpoint) -> NotSent:
    """Make the error of a call that is made, or still waits, while the program ends."""
    return NotSent("the program is closing", endpoint=endpoint.name, remedy="Start it again to go on.")


class _NoPermit:
    __slots__ = ()

    def replied(self, remaining: int | None = None) -> None:
        pass

    def refused(self, retry_after: float | None = None) -> None:
        pass

    def unanswered(self) -> None:
        pass

    def unused(self) -> None:
        pass


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

    async def aclose(self) -> None:
        """Nothing to stop."""


class WaitingCall:
    """One call; whoever has a permit for it sets the future, which its cancellation ends."""

    __slots__ = ("future", "hold_s")

    def __init__(self, hold_s: float) -> None:
        self.future: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self.hold_s = hold_s

    async def permit(self) -> Permit:
        """Wait; a permit that comes together with a cancellation is given back."""
        try:
            return await self.future
        except asyncio.CancelledError:
            done = self.future
            if done.done() and not done.cancelled() and done.exception() is None:
                done.result().unused()
            raise


class WaitingCalls:
    """The calls of one endpoint that wait; those that were cancelled are passed over."""

    def __init__(self) -> None:
        self._queues: dict[Priority, deque[WaitingCall]] = {Priority.INTERACTIVE: deque(), Priority.FEED: deque()}

    def add(self, priority: Priority, hold_s: float) -> WaitingCall:
        """Wait behind those of the same priority."""
        call = WaitingCall(hold_s)
        self._queues[priority].append(call)
        return call

    def first_of(self, priority: Priority) -> WaitingCall | None:
        """The call of this priority that waits longest; those that ended are dropped."""
        queue = self._queues[priority]
        while queue and queue[0].future.done():
            queue.popleft()
        return queue[0] if queue else None

    def first(self) -> tuple[Priority, WaitingCall] | None:
        """The call that is next, with its priority."""
        for priority in self._queues:
            if (call := self.first_of(priority)) is not None:
                return priority, call
        return None

    def take(self, priority: Priority) -> WaitingCall | None:
        """The same as `first_of`, which waits no longer."""
        call = self.first_of(priority)
        if call is not None:
            self._queues[priority].popleft()
        return call

    def fail(self, error: Exception) -> None:
        for priority in self._queues:
            while (call := self.take(priority)) is not None:
                call.future.set_exception(error)
